"""A graph as it was known at a moment: what came later is left out, what was closed later is open. Pure.

An identity carries the last of its open records in valid time; without any, the last of those closed last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from orchestration.writing.records import tag_names
from schemas.temporal import END_OF_TIME, Instant
from substrate.store import states
from substrate.store.archive import PastRecord, Stored, Trace

type Properties = Mapping[str, Any]

_CLOSING: Final = frozenset(("closed_reason", "closed_by", "closed_source", "closed_key", "versions"))
_OF_IDENTITY: Final = ("touched", "versions")
"""What a memory says of all its records; `versions` may stand on records of links that were closed."""


class Known(NamedTuple):
    """A memory as it was known: what it carried, with its trace and tags, and its past records."""

    carried: Properties
    trace: Trace | None
    tags: Mapping[str, Mapping[str, Any]]
    records: Sequence[PastRecord]


def as_known(properties: Properties, known_at: Instant) -> dict[str, Any]:
    """A record without what became of it later."""
    if properties["expired_at"] <= known_at:
        return dict(properties)
    kept = {name: value for name, value in properties.items() if name not in _CLOSING}
    return {**kept, "expired_at": END_OF_TIME}


def known(node: Stored, trace: Trace | None, records: Iterable[PastRecord], known_at: Instant) -> Known | None:
    """The memory as it was known; None when nothing of it was."""
    today = PastRecord(node.place, dict(node.properties or {}), trace)
    told = [
        one._replace(properties=_alone(as_known(one.properties, known_at)))
        for one in (today, *records)
        if one.properties["created_at"] <= known_at
    ]
    if not told:
        return None
    latest = max(told, key=lambda one: _last(one.properties))
    side = "Trace" if latest.properties["expired_at"] == END_OF_TIME else "PastTrace"
    own = None if latest.trace is None else latest.trace._replace(label=side)
    said = [orjson.loads(latest.properties.get(name) or "[]") for name in ("tags", "buckets")]
    tags: dict[str, Mapping[str, Any]] = {name: {} for name in tag_names(*said)}
    carried = {**latest.properties, **_of_identity([one.properties for one in told], known_at)}
    return Known(carried, own, tags, [one for one in told if one is not latest])


def _alone(properties: Properties) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if name not in _OF_IDENTITY}


def _last(properties: Properties) -> tuple[int, int]:
    return properties["expired_at"], properties["valid_at"]


def _of_identity(told: Sequence[Properties], known_at: Instant) -> dict[str, int]:
    """When the memory was changed last, and the highest version; nothing of one that never changed."""
    closed = [one["expired_at"] for one in told if one["expired_at"] <= known_at]
    if len(told) == 1 and not closed:
        return {}
    touched = max([*closed, *(one["created_at"] for one in told)])
    return {"touched": touched, "versions": max(one["version"] for one in told)}


def known_links(
    found: Iterable[tuple[str, str, Properties]], known_at: Instant
) -> list[tuple[bool, str, str, Properties]]:
    """Of link records, by source, target and properties, those known by then; first whether each was past."""
    by_link: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for source, target, properties in found:
        if properties["created_at"] <= known_at:
            records = by_link.setdefault((source, target, properties["id"]), [])
            records.append(as_known(properties, known_at))
    told: list[tuple[bool, str, str, Properties]] = []
    for (source, target, _), records in by_link.items():
        latest = max(records, key=_last)
        told += [(one is not latest or one["expired_at"] <= known_at, source, target, one) for one in records]
    return told


class KnownState:
    """The records of a state, one by one: all but the last are past, and each of these lies in its cell."""

    def __init__(self, known_at: Instant) -> None:
        self._known_at = known_at
        self.carried: dict[str, Any] | None = None

    def take(self, properties: Properties) -> dict[str, Any] | None:
        """Take a record; the one that is past by that, if one is."""
        record = states.with_versions(properties)
        if record["created_at"] > self._known_at:
            return None
        told = as_known({name: value for name, value in record.items() if name != "cell"}, self._known_at)
        before, self.carried = self.carried, told
        if before is not None and before["version"] > told["version"]:
            before, self.carried = told, before
        return None if before is None else {**before, "cell": states.cell_of(states.record_of(before))}
