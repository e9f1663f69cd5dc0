"""The records of one memory or link of an export: whether all of them can be true. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from schemas.temporal import Period
from substrate.cypher.transfer import PAST_STATE, STATE_LABELS

type Line = Mapping[str, Any]

STATE: Final = "the state"
"""What the records of a citizen's state are called."""


class LineFault(Exception):
    """What is wrong with a line."""


def name_of(line: Line) -> object:
    """What the line is a record of; None when it has no times."""
    match line["kind"]:
        case "memory":
            return line["properties"]["id"]
        case "record":
            return line["of"]
        case "link":
            return line["source_id"], line["target_id"], line["properties"]["id"]
        case "node" if line["label"] in STATE_LABELS:
            return STATE
        case _:
            return None


class Identity:
    """The records of the memory or link that is being read: none may overlap another on both axes."""

    def __init__(self, name: object = None) -> None:
        self.name = name
        self._carried: Mapping[str, Any] | None = None
        self._placed = False
        self._versions: set[int] = set()
        self._open: list[tuple[Period, Period]] = []
        self._begun = -(2**63)

    def take(self, line: Line) -> None:
        """One line of this identity, in the order of the file. Raises LineFault."""
        kind, properties = line["kind"], line["properties"]
        if kind == "memory":
            self._carried = properties
        elif kind == "link":
            self._add(properties)
        elif kind == "record":
            if self._carried is None:
                raise LineFault(f"it is a record of {line['of']}, which does not stand before it")
            if "shares_trace_of" in line and line["shares_trace_of"] not in self._past_versions():
                raise LineFault("it shares the trace of a record that does not stand before it")
            self._place_carried(properties)
            self._version(properties)
            self._add(properties)
        elif self.name == STATE:
            self._state(line["label"], properties)

    def _state(self, label: str, properties: Mapping[str, Any]) -> None:
        carried = self._carried
        if label != PAST_STATE:
            if carried is not None:
                raise LineFault("the state is carried twice")
            self._carried = properties
            return
        if carried is None or properties["version"] >= carried["version"]:
            raise LineFault("it is a past state, and none with a later version is carried")
        self._version(properties)
        self._add(properties)

    def finish(self) -> None:
        """The record that the memory carries comes first in the file; in time it may be the last."""
        if not self._placed and self._carried is not None:
            self._version(self._carried)
            self._add(self._carried)
        self._carried = None

    def _past_versions(self) -> set[int]:
        return self._versions - ({self._carried["version"]} if self._carried is not None else set())

    def _place_carried(self, following: Mapping[str, Any]) -> None:
        """Take the record that is carried in its turn: a change of an earlier stretch of time comes after it."""
        if not self._placed and self._carried is not None and self._carried["version"] < following["version"]:
            self._placed = True
            self._version(self._carried)
            self._add(self._carried)

    def _version(self, properties: Mapping[str, Any]) -> None:
        if properties["version"] in self._versions:
            raise LineFault(f"version {properties['version']} of {_name(properties)} comes twice")
        self._versions.add(properties["version"])

    def _add(self, properties: Mapping[str, Any]) -> None:
        valid, known = (
            Period(properties["valid_at"], properties["invalid_at"]),
            Period(properties["created_at"], properties["expired_at"]),
        )
        if valid.end < valid.start or known.end < known.start:
            raise LineFault(f"a record of {_name(properties)} ends before it begins")
        if known.start < self._begun:
            raise LineFault(
                f"the records of {_name(properties)} go in a circle: one corrects another before it was made"
            )
        self._begun = known.start
        self._open = [each for each in self._open if each[1].end > known.start]
        if any(valid.overlaps(other[0]) and known.overlaps(other[1]) for other in self._open):
            raise LineFault(
                f"two records of {_name(properties)} hold at the same time; "
                "`substrate validate --fix` mends that in the store it came from"
            )
        self._open.append((valid, known))


def _name(properties: Mapping[str, Any]) -> str:
    return str(properties.get("id", STATE))
