"""The lines of an export, as `docs/backup.md` describes them: their form, their order, their times. Pure.

With `known_at` they tell a graph as it was known at a moment: later records are missing, records closed later are
still open. An identity carries its open record with the latest valid time; without an open record, the last of
those that were closed last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from orchestration.writing.records import tag_names
from schemas.temporal import END_OF_TIME, Instant
from substrate.store import states
from substrate.store.archive import PAST_STATE, PastRecord, StoredLink, Trace

FORMAT: Final = "substrate-export"
VERSION: Final = 1
STAMPED: Final = ("schema_version", "embedding_model", "dimension")
"""Properties that the stamp of every graph has; its other properties are exported as `meta`."""
DATA_KINDS: Final = ("node", "tag", "memory", "record", "link")

_OPTIONS: Final = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
_SHIFT: Final = 2**63


class MemoryLines(NamedTuple):
    """A memory to export: the properties of the record that it carries, its trace, its tags, its past records.

    `tags` has, by tag name, the properties of the link to the tag.
    """

    carried: Mapping[str, Any]
    trace: Trace | None
    tags: Mapping[str, Mapping[str, Any]]
    records: Sequence[PastRecord]


def encode(line: Mapping[str, Any]) -> bytes:
    """Encode a line as JSON with sorted keys and a newline."""
    return orjson.dumps(line, option=_OPTIONS)


def vector(numbers: Any) -> orjson.Fragment:
    """Encode an array of float32 as JSON; each number in the shortest form from which it can be read exactly."""
    return orjson.Fragment(orjson.dumps(numbers, option=orjson.OPT_SERIALIZE_NUMPY))


def header(*, embeddings: bool) -> dict[str, Any]:
    """Return the first line of the file."""
    return {"kind": FORMAT, "version": VERSION, "embeddings": embeddings}


def sort_key(line: Mapping[str, Any]) -> bytes:
    """Return the sort key of a data line in its graph. It has no internal id, so every store sorts the same way.

    Raises KeyError or TypeError for a line without the fields that it is sorted by.
    """
    match line["kind"]:
        case "node" if line["label"] == PAST_STATE:
            return _key(0, line["label"], *_times(line["properties"], "version"))
        case "node":
            return _key(0, line["label"])
        case "tag":
            return _key(1, line["properties"]["name"])
        case "memory":
            return _key(2, line["properties"]["id"], 0)
        case "record":
            return _key(2, line["of"], 1, *_times(line["properties"], "version"))
        case _:
            ends = (line["source_id"], line["target_id"], line["properties"]["id"])
            return _key(3, *ends, *_times(line["properties"]), int(not line["past"]))


def _times(properties: Mapping[str, Any], *first: str) -> list[int]:
    return [properties[name] for name in (*first, "created_at", "valid_at", "expired_at", "invalid_at")]


def _key(*parts: str | int) -> bytes:
    """Return bytes that sort like the parts: numbers by size, texts by their characters."""
    return b"\0".join(
        f"{part + _SHIFT:020d}".encode() if isinstance(part, int) else part.encode() for part in parts
    )


type Properties = Mapping[str, Any]

_CLOSING: Final = frozenset(("closed_reason", "closed_by", "closed_source", "closed_key", "versions"))
_OF_ALL_RECORDS: Final = ("touched", "versions")
"""Properties of a memory that summarise all its records; closed records of links may have `versions`, too."""


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
    changes: list[Instant] = []
    for record in (current, *memory.records):
        if record.properties["created_at"] <= known_at:
            then = as_known(record.properties, known_at)
            for name in _OF_ALL_RECORDS:
                then.pop(name, None)
            known.append(record._replace(properties=then))
            changes.append(then["created_at"])
            if then["expired_at"] <= known_at:
                changes.append(then["expired_at"])
    if not known:
        return None
    carried = max(known, key=lambda record: _carrying_order(record.properties))
    summary: dict[str, int] = {}  # nothing of a memory that never changed
    if len(changes) > 1:
        versions = max(record.properties["version"] for record in known)
        summary = {"touched": max(changes), "versions": versions}
    side = "Trace" if carried.properties["expired_at"] == END_OF_TIME else "PastTrace"
    tags, buckets = (orjson.loads(carried.properties.get(name) or "[]") for name in ("tags", "buckets"))
    return MemoryLines(
        {**carried.properties, **summary},
        _on_side(carried.trace, side),
        {name: {} for name in tag_names(tags, buckets)},
        [record._replace(trace=_on_side(record.trace, "PastTrace")) for record in known if record is not carried],
    )


def _on_side(trace: Trace | None, label: str) -> Trace | None:
    return None if trace is None else trace._replace(label=label)


def _carrying_order(properties: Properties) -> tuple[int, int]:
    return properties["expired_at"], properties["valid_at"]


def known_links(links: Iterable[StoredLink], known_at: Instant) -> list[tuple[StoredLink, bool]]:
    """Return the link records known by then, and whether each is past: all of a link except the carried one."""
    by_link: dict[tuple[str, str, str], list[StoredLink]] = {}
    for link in links:
        if link.properties["created_at"] <= known_at:
            records = by_link.setdefault((link.source_id, link.target_id, link.properties["id"]), [])
            records.append(link._replace(properties=as_known(link.properties, known_at)))
    known: list[tuple[StoredLink, bool]] = []
    for records in by_link.values():
        carried = max(records, key=lambda record: _carrying_order(record.properties))
        for record in records:
            known.append((record, record is not carried or record.properties["expired_at"] <= known_at))
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
