"""Checks that the records of one memory, link or state of an export do not contradict each other. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from schemas.temporal import Period
from substrate.store.archive import PAST_STATE, STATE_LABELS

type Line = Mapping[str, Any]

STATE: Final = "the state"
"""The identity of a citizen's state; a graph has only one."""


class LineFault(Exception):
    """A line that no export of Substrate contains; the text of the error is the reason."""


def identity_of(line: Line) -> object:
    """Return the identity of which the line is a record; None for a line without times."""
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


class RecordCheck:
    """Takes the records of one identity in the order of the file: no two may overlap on both axes."""

    def __init__(self, identity: object = None) -> None:
        self.identity = identity
        self._carried: Mapping[str, Any] | None = None
        self._carried_taken = False
        self._versions: set[int] = set()
        self._open: list[tuple[Period, Period]] = []
        self._last_known = -(2**63)

    def take(self, line: Line) -> None:
        """Check the next line of this identity. Raises LineFault."""
        kind, properties = line["kind"], line["properties"]
        if kind == "memory":
            self._carried = properties
        elif kind == "link":
            self._check_overlap(properties)
        elif kind == "record":
            if self._carried is None:
                raise LineFault(f"it is a record of {line['of']}, which does not come before it")
            past = self._versions - {self._carried["version"]}
            if "shares_trace_of" in line and line["shares_trace_of"] not in past:
                raise LineFault("it shares the trace of a record that does not come before it")
            self._take_carried_before(properties)
            self._check_version(properties)
            self._check_overlap(properties)
        elif self.identity == STATE:
            self._take_state(line["label"], properties)

    def _take_state(self, label: str, properties: Mapping[str, Any]) -> None:
        carried = self._carried
        if label != PAST_STATE:
            if carried is not None:
                raise LineFault("there are two current states")
            self._carried = properties
            return
        if carried is None or properties["version"] >= carried["version"]:
            raise LineFault("it is a past state, and there is no current state with a later version")
        self._check_version(properties)
        self._check_overlap(properties)

    def finish(self) -> None:
        """Check the carried record if it is not checked yet: the first in the file may be the last in time."""
        if not self._carried_taken and self._carried is not None:
            self._check_version(self._carried)
            self._check_overlap(self._carried)
        self._carried = None

    def _take_carried_before(self, following: Mapping[str, Any]) -> None:
        """Check the carried record before the first record with a higher version, which corrects its past."""
        if (
            not self._carried_taken
            and self._carried is not None
            and self._carried["version"] < following["version"]
        ):
            self._carried_taken = True
            self._check_version(self._carried)
            self._check_overlap(self._carried)

    def _check_version(self, properties: Mapping[str, Any]) -> None:
        if properties["version"] in self._versions:
            raise LineFault(f"version {properties['version']} of {_name(properties)} comes twice")
        self._versions.add(properties["version"])

    def _check_overlap(self, properties: Mapping[str, Any]) -> None:
        valid = Period(properties["valid_at"], properties["invalid_at"])
        known = Period(properties["created_at"], properties["expired_at"])
        if valid.end < valid.start or known.end < known.start:
            raise LineFault(f"a record of {_name(properties)} ends before it begins")
        if known.start < self._last_known:
            raise LineFault(
                f"the records of {_name(properties)} go in a circle: one corrects another before it was made"
            )
        self._last_known = known.start
        self._open = [(held, recorded) for held, recorded in self._open if recorded.end > known.start]
        if any(valid.overlaps(held) and known.overlaps(recorded) for held, recorded in self._open):
            raise LineFault(
                f"two records of {_name(properties)} hold at the same time; "
                "`substrate validate --fix` mends that in the store it came from"
            )
        self._open.append((valid, known))


def _name(properties: Mapping[str, Any]) -> str:
    return str(properties.get("id", STATE))
