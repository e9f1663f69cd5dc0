"""Finds records that hold at the same time: two of one identity, or two memories with the same content. Pure."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from orchestration.upkeep import text_quality
from orchestration.upkeep.findings import (
    TIMES,
    SweptGraph,
    attempt,
    attempt_command,
    build_finding,
    revision_fields,
)
from schemas.commands import Retract
from schemas.temporal import END_OF_TIME, Instant, Period
from schemas.upkeep import CloseRecord, Finding, RetractLink
from substrate.store.upkeep import Content, LinkRow, RecordRow, link_identity


class Overlap(NamedTuple):
    """Two records of one identity that overlap in valid time and in transaction time."""

    older: RecordRow
    newer: RecordRow


def find_overlaps(records: Iterable[RecordRow]) -> Iterator[Overlap]:
    """Yield overlaps among the records of one identity; `older` became known first, or at the same time.

    Records known at the same time should not overlap in valid time, so each new one is compared only with its
    neighbours. Not every pair is found, but at least one if there is any.
    """
    believed: list[RecordRow] = []
    for record in sorted(records, key=lambda record: (record.known.start, record.valid.start, record.carried)):
        position = bisect_left(believed, record.valid.start, key=_valid_start)
        while position > 0 and (left := believed[position - 1]).valid.end > record.valid.start:
            position -= 1
            if left.known.end > record.known.start:
                yield Overlap(left, record)
                break
            del believed[position]
        position = bisect_left(believed, record.valid.start, key=_valid_start)
        while position < len(believed) and believed[position].valid.start < record.valid.end:
            if believed[position].known.end > record.known.start:
                yield Overlap(believed[position], record)
                break
            del believed[position]
        insort(believed, record, key=_valid_start)


def _valid_start(record: RecordRow) -> int:
    return record.valid.start


def find_in_memories(records: Iterable[RecordRow], graph: SweptGraph) -> Iterator[Finding]:
    """Yield the overlapping records of memories. `records` must have all records of each memory."""
    identities = groupby(sorted(records, key=attrgetter("identity")), key=attrgetter("identity"))
    for identity, its_records in identities:
        for older, newer in find_overlaps(its_records):
            message = f"its versions {older.version} and {newer.version} hold and are known at the same moment"
            yield build_finding("overlap", graph, identity, message, repair=_closing(older, newer, graph))


def _closing(older: RecordRow, newer: RecordRow, graph: SweptGraph) -> CloseRecord | None:
    """Build the task that closes the past record of the two, if it is open and the other holds all that time."""
    for left_open, other in ((older, newer), (newer, older)):
        both_known = left_open.known.end == other.known.end == END_OF_TIME
        within = other.valid.start <= left_open.valid.start and left_open.valid.end <= other.valid.end
        if both_known and within and not left_open.carried and isinstance(left_open.version, int):
            return attempt(
                CloseRecord,
                **graph.fields(),
                id=left_open.identity,
                version=left_open.version,
                seen=left_open.known.start,
                at=max(other.known.start, left_open.known.start + 1),
            )
    return None


def record_of(row: LinkRow) -> RecordRow | None:
    """Return a link as a record; None when it has no id or no times, which is another finding."""
    fields = row.fields
    times = [fields[name] for name in TIMES]
    if not isinstance(fields["id"], str) or not all(isinstance(time, int) for time in times):
        return None
    identity = link_identity(row.source.id, fields["id"], row.target.id)
    return RecordRow(identity, None, Period(*times[:2]), Period(*times[2:]), carried=True)


def find_in_links(records: Iterable[RecordRow], graph: SweptGraph) -> Iterator[Finding]:
    """Yield the overlapping records of links. `records` must have all records of each link, open and closed."""
    identities = groupby(sorted(records, key=attrgetter("identity")), key=attrgetter("identity"))
    for identity, its_records in identities:
        source_id, link_id, target_id = identity.split("\0")
        task = {**graph.fields(), "id": link_id, "source_id": source_id, "target_id": target_id}
        for older, newer in find_overlaps(_drop_read_twice(list(its_records))):
            both_open = older.carried and newer.carried and older.known.end == newer.known.end == END_OF_TIME
            repair = None
            if both_open and older.known.start != newer.known.start:  # the newer one should have replaced it
                repair = attempt(RetractLink, **task, seen=older.known.start)
            message = "two of its records hold at the same moment"
            yield build_finding("overlap", graph, link_id, message, repair=repair)


def _drop_read_twice(records: list[RecordRow]) -> Iterator[RecordRow]:
    """Drop closed records that were also read as open records, because another writer closed them in between."""
    read_as_open = {(record.valid, record.known.start) for record in records if record.carried}
    for record in records:
        is_open = record.carried or record.known.end == END_OF_TIME
        if is_open or (record.valid, record.known.start) not in read_as_open:
            yield record


class DatedContent(NamedTuple):
    """A memory of a group: when it holds, and a digest of its whole content."""

    id: str
    version: int
    valid: Period
    created_at: Instant
    digest: bytes


def date_contents(contents: Iterable[Content]) -> Iterator[DatedContent]:
    """Yield the memories of a group that are known now and can be duplicates."""
    for content in contents:
        if content.known.end != END_OF_TIME:
            continue
        texts = text_quality.MemoryTexts(content.name, content.description, content.speaker, content.node_type)
        key = text_quality.content_key(texts)
        if key is not None:
            digest = text_quality.long_digest(key)
            yield DatedContent(content.id, content.version, content.valid, content.known.start, digest)


def find_duplicates(group: Sequence[DatedContent], graph: SweptGraph) -> Iterator[Finding]:
    """Yield each memory that has the same content as an earlier one at the same time."""
    originals: dict[bytes, list[DatedContent]] = {}
    for content in sorted(group, key=lambda content: (content.created_at, content.id)):
        same = originals.setdefault(content.digest, [])
        original = next((earlier for earlier in same if earlier.valid.overlaps(content.valid)), None)
        if original is None:
            same.append(content)
            continue
        revision = revision_fields(graph, content.id, content.version, reason="duplicate")
        message = f"it has the same content as {original.id}, at the same time"
        yield build_finding("duplicate", graph, content.id, message, repair=attempt_command(Retract, **revision))
