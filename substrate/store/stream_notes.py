"""The notes of streams and the changes that they infer, in the own graph of who asked, and those not stored yet.

A `StreamNote` or `LearningMoment` is no record: it moves no clock, has no version, and is not found by a question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, starmap
from typing import Any, Final, NamedTuple
from weakref import WeakValueDictionary

from schemas.temporal import END_OF_TIME, Instant
from substrate.connection.errors import GraphMissing
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

KEEP_NOTES: Final = Query(
    "keep_stream_notes",
    "MATCH (m:SubstrateMeta {key: 'stamp'}) WITH m LIMIT 1 UNWIND $notes AS note "
    "WITH m, note WHERE note.at >= m.created_at MERGE (s:StreamNote {id: note.id}) "
    "ON CREATE SET s.at = note.at, s.data = note.data WITH m, count(s) AS kept "
    "OPTIONAL MATCH (o:LearningMoment) WITH m, kept, o ORDER BY o.created_at DESC "
    "WITH m, kept, collect(o) AS held "
    "WITH m, kept, [o IN held | [o.earlier, o.earlier_version, o.later, o.later_version]] AS known, "
    "held[$most..] AS gone FOREACH (o IN gone | DELETE o) "
    "WITH m, kept, [y IN $moments WHERE y.at >= m.created_at AND y.at > coalesce(m.erased_at, 0) "
    "AND NOT [y.earlier, y.earlier_version, y.later, y.later_version] IN known] AS fresh "
    "SET m.events = coalesce(m.events, 0) + size(fresh) FOREACH (i IN range(0, size(fresh) - 1) | "
    "CREATE (:LearningMoment {earlier: fresh[i].earlier, earlier_version: fresh[i].earlier_version, "
    "later: fresh[i].later, later_version: fresh[i].later_version, created_at: fresh[i].at}) "
    "CREATE (:Event {command: 'learn', id: fresh[i].later, version: fresh[i].later_version, of: fresh[i].earlier, "
    "told_at: fresh[i].at, created_at: coalesce(m.clock, 0), nth: m.events - i})) RETURN kept",
)
"""A note from before the graph was made is not kept: it is of a citizen who was erased since. What was inferred
before the last erasure is not: it may name what was erased."""
STREAM_NOTE: Final = Query(
    "stream_note", "MATCH (s:StreamNote) WHERE s.id = $id RETURN s.id, s.at, s.data LIMIT 1"
)
STREAM_NOTES: Final = Query(
    "stream_notes",
    "MATCH (s:StreamNote) WHERE s.at <= $until AND (s.at + 0 < $until OR s.id + '' < $before) "
    "WITH s ORDER BY s.at DESC, s.id DESC LIMIT $rows RETURN s.id, s.at, s.data",
)
"""The sums hide the columns of the second condition from the indexes: with them the engine returns other rows."""
COUNT_NOTES: Final = Query("count_stream_notes", "MATCH (s:StreamNote) RETURN count(s)")
DROP_NOTES_BEFORE: Final = Query(
    "drop_stream_notes_before",
    "MATCH (s:StreamNote) WHERE s.at < $before WITH s LIMIT $rows DELETE s RETURN count(s)",
)
DROP_OLDEST_NOTES: Final = Query(
    "drop_oldest_stream_notes", "MATCH (s:StreamNote) WITH s ORDER BY s.at LIMIT $rows DELETE s RETURN count(s)"
)
MOMENTS: Final = Query(
    "moments",
    "MATCH (k:LearningMoment) WHERE k.created_at < $before "
    "RETURN k.earlier, k.earlier_version, k.later, k.later_version ORDER BY k.earlier, k.later",
)
FORGET_MOMENTS: Final = Query(
    "forget_moments",
    "MATCH (k:LearningMoment) WHERE k.earlier IN $ids OR k.later IN $ids DELETE k RETURN count(k)",
)
RECORDS_NOW: Final = Query(
    "records_now",
    "UNWIND $shown AS one MATCH (i:ConsciousnessNode {id: one[0]}) WITH one, i "
    "OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion) WHERE p.version = one[1] WITH one, i, collect(p) AS past "
    "UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s "
    "RETURN s.id, s.version, s.name, s.created_at, s.expired_at, "
    "coalesce(s.closed_reason, s.invalidation_reason), s.known_as_happened, "
    "i.version, i.name, left(coalesce(i.description, ''), $characters), i.expired_at, i.invalid_at",
)
"""Some records as they are now, each with what its memory says now. What was erased has no row."""
TEXTS_OF: Final = Query(
    "texts_of",
    "MATCH (n:ConsciousnessNode) WHERE n.id IN $ids RETURN left(coalesce(n.description, ''), $characters)",
)
ERASED_AT: Final = Query("erased_at", "MATCH (m:SubstrateMeta {key: 'stamp'}) RETURN coalesce(m.erased_at, 0)")
STAMP_ERASED: Final = Query(
    "stamp_erased",
    "MATCH (m:SubstrateMeta {key: 'stamp'}) "
    "SET m.erased_at = CASE WHEN $at > coalesce(m.erased_at, 0) THEN $at ELSE m.erased_at END RETURN m.erased_at",
)
"""When something was last erased from a graph: what remains may rank otherwise since."""
SHOWN_CHARACTERS: Final = 200
GIVEN_CHARACTERS: Final = 2_000
DROPPED_AT_ONCE: Final = 1_000
MOST_MOMENTS: Final = 500
"""This many inferred changes of a citizen are kept, the latest, and those of the last notes."""
LAST_ID: Final = "\U0010ffff"
"""Stands behind every id."""


class InferredMoment(NamedTuple):
    """Two memories, and the versions in which the later one seemed to tell what holds instead."""

    earlier: str
    earlier_version: int
    later: str
    later_version: int


class StoredNote(NamedTuple):
    """The note of a stream that was asked for at `at`; `data` is packed text. `moments`: what it inferred."""

    id: str
    at: Instant
    data: str
    moments: tuple[InferredMoment, ...] = ()


class RecordNow(NamedTuple):
    """A record as it is now: `expired_at` when it was closed, for `reason`. `imported`: its time of becoming known
    was declared. `newest_…`: what its memory says now, shortened."""

    id: str
    version: int
    name: str
    created_at: Instant
    expired_at: Instant
    reason: str | None
    imported: bool
    newest_version: int
    newest_name: str
    newest_description: str
    newest_expired_at: Instant
    newest_invalid_at: Instant


def stored_note_of(properties: Mapping[str, Any]) -> StoredNote:
    """A note from its stored properties. Raises KeyError, TypeError or ValueError for other properties."""
    note_id, at, data = (properties[name] for name in ("id", "at", "data"))
    return StoredNote(str(note_id), int(at), str(data))


async def keep_notes(graph: Graph, notes: Sequence[StoredNote]) -> int:
    """Store notes in one statement; returns how many are stored now. Storing one again changes nothing. The graph
    must exist. Those from before it was made are left out."""
    first: dict[InferredMoment, Instant] = {}
    for note in reversed(notes):
        first |= dict.fromkeys(note.moments, note.at)
    moments = [{**moment._asdict(), "at": at} for moment, at in first.items()]
    values = [{"id": note.id, "at": note.at, "data": note.data} for note in notes]
    rows = await graph.write(KEEP_NOTES, notes=values, moments=moments, most=MOST_MOMENTS)
    return int(rows[0][0]) if rows else 0


async def read_note(graph: Graph, note_id: str) -> StoredNote | None:
    """The note of this id; None where there is none."""
    rows = await graph.read(STREAM_NOTE, id=note_id)
    return StoredNote(*rows[0]) if rows else None


async def read_notes(
    graph: Graph, rows: int, *, until: Instant = END_OF_TIME, before: str = LAST_ID
) -> list[StoredNote]:
    """The newest notes of streams asked for up to `until`, newest first; of that instant those with lower ids."""
    return list(starmap(StoredNote, await graph.read(STREAM_NOTES, until=until, before=before, rows=rows)))


async def drop_notes(graph: Graph, *, before: Instant, most: int) -> int:
    """Remove the notes from earlier than `before`, and the oldest above `most`; returns how many."""
    dropped = 0
    while taken := int((await graph.write(DROP_NOTES_BEFORE, before=before, rows=DROPPED_AT_ONCE))[0][0]):
        dropped += taken
    [[count]] = await graph.read(COUNT_NOTES)
    above = int(count) - most
    while above > 0:
        rows = await graph.write(DROP_OLDEST_NOTES, rows=min(above, DROPPED_AT_ONCE))
        dropped, above = dropped + int(rows[0][0]), above - DROPPED_AT_ONCE
    return dropped


async def read_moments(graph: Graph, before: Instant) -> list[InferredMoment]:
    """What streams before this moment inferred, as far as it is kept."""
    return list(starmap(InferredMoment, await graph.read(MOMENTS, before=before)))


async def forget_moments(graph: Graph, ids: Sequence[str]) -> None:
    """Remove what was inferred of these memories."""
    await graph.write(FORGET_MOMENTS, ids=list(ids))


async def read_records_now(graph: Graph, shown: Sequence[tuple[str, int]]) -> list[RecordNow]:
    """Some records, by id and version, as they are now, without those that were erased. Raises GraphMissing."""
    values = {"shown": list(map(list, shown)), "characters": SHOWN_CHARACTERS}
    rows = await graph.read_typed(RECORDS_NOW, **values) if shown else []
    records: list[RecordNow] = []
    for row in rows:
        record = RecordNow(*row)
        records.append(record._replace(imported=bool(record.imported)))
    return records


async def read_texts(graph: Graph, ids: Sequence[str]) -> list[str]:
    """The beginnings of what some memories say now. Raises GraphMissing."""
    return [text for [text] in await graph.read(TEXTS_OF, ids=list(ids), characters=GIVEN_CHARACTERS)]


async def read_erased_at(graph: Graph) -> Instant:
    """When something was last erased from the graph; 0 where nothing was, and where there is no graph."""
    try:
        rows = await graph.read(ERASED_AT)
    except GraphMissing:
        return 0
    return int(rows[0][0]) if rows else 0


async def stamp_erased(graph: Graph, at: Instant) -> None:
    """Keep that something is erased from the graph now. Nothing for a graph without a stamp."""
    await graph.write(STAMP_ERASED, at=at)


DAYS: Final = 90.0
MOST_STORED: Final = 10_000
MOST_NOTES: Final = 10_000
MOST_BYTES: Final = 16_000_000


class NoteBuffer:
    """Notes by graph, oldest first. Above its bounds the oldest of all are dropped and counted in `dropped`.
    `days` and `most_stored`: how long stored notes are kept, and how many a citizen; with 0 days none is made."""

    def __init__(
        self,
        *,
        days: float = DAYS,
        most_stored: int = MOST_STORED,
        most: int = MOST_NOTES,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.days, self.most_stored = days, most_stored
        self._most, self._most_bytes = most, most_bytes
        self._notes: dict[tuple[str, str], StoredNote] = {}
        self._bytes = 0
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._notes)

    def add(self, graph: str, note: StoredNote) -> None:
        """Keep a note until it is taken. One that is there already stays as it is."""
        if (graph, note.id) in self._notes:
            return
        self._notes[graph, note.id] = note
        self._bytes += _size(note)
        while len(self._notes) > self._most or self._bytes > self._most_bytes:
            oldest = next(iter(self._notes))
            self._bytes -= _size(self._notes.pop(oldest))
            self.dropped += 1

    def storing(self, graph: str) -> asyncio.Lock:
        """Held while notes of a graph are stored, so that whoever reads them meanwhile waits for them."""
        return self._locks.setdefault(graph, asyncio.Lock())

    def graphs(self) -> list[str]:
        """The graphs that notes wait for."""
        return list(dict.fromkeys(graph for graph, _ in self._notes))

    def newest(self, graph: str, most: int) -> list[StoredNote]:
        """At most this many of the notes that wait for a graph, the newest first."""
        waiting = (note for (name, _), note in reversed(self._notes.items()) if name == graph)
        return list(islice(waiting, most))

    def take(self, graph: str) -> list[StoredNote]:
        """The notes of a graph, which are kept here no longer."""
        keys = [key for key in self._notes if key[0] == graph]
        taken = list(map(self._notes.pop, keys))
        self._bytes -= sum(map(_size, taken))
        return taken

    def give_back(self, graph: str, notes: Iterable[StoredNote]) -> None:
        """Keep notes again that could not be stored."""
        for note in notes:
            self.add(graph, note)


def _size(note: StoredNote) -> int:
    return len(note.id) + len(note.data)
