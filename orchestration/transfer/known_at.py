"""A graph as it was known at a moment: later records are missing, records closed later are still open. Pure.

An identity carries its open record with the latest valid time; without an open record, the last of those that were
closed last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from orchestration.transfer.line_format import MemoryLines
from orchestration.writing.records import tag_names
from schemas.temporal import END_OF_TIME, Instant
from substrate.store import states
from substrate.store.archive import PastRecord, StoredLink, Trace

type Properties = Mapping[str, Any]

_CLOSING: Final = frozenset(("closed_reason", "closed_by", "closed_source", "closed_key", "versions"))
_OF_ALL_RECORDS: Final = ("touched", "versions")
"""Properties of a memory that summarise all its records; closed records of links may have `versions`, too."""


class KnownLink(NamedTuple):
    """A link record; `past` is True when it is stored as a past link."""

    link: StoredLink
    past: bool


def as_known(properties: Properties, known_at: Instant) -> dict[str, Any]:
    """Return the properties of a record as they were known: open if it was closed later."""
    if properties["expired_at"] <= known_at:
        return dict(properties)
    still_open = {name: value for name, value in properties.items() if name not in _CLOSING}
    return {**still_open, "expired_at": END_OF_TIME}


def memory_as_known(memory: MemoryLines, known_at: Instant) -> MemoryLines | None:
    """Return the memory as it was known; None when none of its records was known."""
    current = PastRecord(0, dict(memory.carried), memory.trace)
    known: list[PastRecord] = []
    for record in (current, *memory.records):
        if record.properties["created_at"] <= known_at:
            then = as_known(record.properties, known_at)
            for name in _OF_ALL_RECORDS:
                then.pop(name, None)
            known.append(record._replace(properties=then))
    if not known:
        return None
    carried = max(known, key=lambda record: _carrying_order(record.properties))
    side = "Trace" if carried.properties["expired_at"] == END_OF_TIME else "PastTrace"
    tags, buckets = (orjson.loads(carried.properties.get(name) or "[]") for name in ("tags", "buckets"))
    return MemoryLines(
        {**carried.properties, **_summary([record.properties for record in known], known_at)},
        _on_side(carried.trace, side),
        {name: {} for name in tag_names(tags, buckets)},
        [record._replace(trace=_on_side(record.trace, "PastTrace")) for record in known if record is not carried],
    )


def _on_side(trace: Trace | None, label: str) -> Trace | None:
    return None if trace is None else trace._replace(label=label)


def _carrying_order(properties: Properties) -> tuple[int, int]:
    """Return the sort key of a record: the identity carries its record with the greatest one."""
    return properties["expired_at"], properties["valid_at"]


def _summary(records: Sequence[Properties], known_at: Instant) -> dict[str, int]:
    """Return the last change and the highest version of a memory; empty for one that never changed."""
    closed = [record["expired_at"] for record in records if record["expired_at"] <= known_at]
    if len(records) == 1 and not closed:
        return {}
    touched = max([*closed, *(record["created_at"] for record in records)])
    return {"touched": touched, "versions": max(record["version"] for record in records)}


def known_links(links: Iterable[StoredLink], known_at: Instant) -> list[KnownLink]:
    """Return the link records known by then; for each link all records except the carried one are past."""
    by_link: dict[tuple[str, str, str], list[StoredLink]] = {}
    for link in links:
        if link.properties["created_at"] <= known_at:
            records = by_link.setdefault((link.source_id, link.target_id, link.properties["id"]), [])
            records.append(link._replace(properties=as_known(link.properties, known_at)))
    known: list[KnownLink] = []
    for records in by_link.values():
        carried = max(records, key=lambda record: _carrying_order(record.properties))
        known += [
            KnownLink(record, past=record is not carried or record.properties["expired_at"] <= known_at)
            for record in records
        ]
    return known


class KnownState:
    """Takes the records of a state one by one: the highest version is carried, all others are past."""

    def __init__(self, known_at: Instant) -> None:
        self._known_at = known_at
        self.carried: dict[str, Any] | None = None

    def take(self, properties: Properties) -> dict[str, Any] | None:
        """Take a record. Returns the record that is past now, with its cell; None after the first record."""
        record = states.with_versions(properties)
        if record["created_at"] > self._known_at:
            return None
        newer = as_known({name: value for name, value in record.items() if name != "cell"}, self._known_at)
        older, self.carried = self.carried, newer
        if older is not None and older["version"] > newer["version"]:
            older, self.carried = newer, older
        return None if older is None else {**older, "cell": states.cell_of(states.record_of(older))}
