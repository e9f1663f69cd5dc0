"""Reads what files and conversations were made into: documents with their sections, turns, sessions.

There is no index on the episode of a memory: every memory of the graph is looked at, about 0.2 µs for each.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from itertools import batched
from typing import Any, Final, NamedTuple

import orjson

from schemas.temporal import Instant
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

ROWS_A_PAGE: Final = 5_000
IDS_AT_ONCE: Final = 1_000

_COLUMNS: Final = (
    "id(n), n.id, n.node_type, n.name, n.description, n.tags, n.buckets, n.aliases, n.valid_at, n.invalid_at, "
    "n.expired_at, coalesce(n.version, 1), n.source, coalesce(n.episode_id, ''), n.extra, n.unset, "
    "n.resolution_state"
)
NOTES: Final = Query(
    "notes",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after AND n.node_type IN ['Document', 'Note'] "
    f"AND n.episode_id IS NOT NULL WITH n LIMIT $rows RETURN {_COLUMNS}",
)
"""The notes of a graph, in the order of their internal ids, from one of these on."""

ROWS_OF_TABLE: Final = Query(
    "rows_of_table", f"UNWIND $ids AS id MATCH (n:ConsciousnessNode {{id: id}}) RETURN {_COLUMNS}"
)

NOTE_LINKS: Final = Query(
    "note_links",
    "UNWIND $ids AS id MATCH (a:ConsciousnessNode {id: id}) WITH a MATCH (a)-[e:LINK]->(b) "
    "WHERE e.relation_type IN ['PART_OF', 'NEXT', 'MENTIONS'] AND e.source = 'ingestion' "
    "RETURN e.id, a.id, e.relation_type, b.id, e.valid_at, e.invalid_at",
)


class NoteRow(NamedTuple):
    """A note, section or row as its latest record has it. `extra` has the fields that its writer gave besides."""

    id: str
    node_type: str
    name: str
    text: str
    tags: tuple[str, ...]
    buckets: tuple[str, ...]
    aliases: tuple[str, ...]
    valid_at: Instant
    invalid_at: Instant
    expired_at: Instant
    version: int
    source: str
    episode_id: str
    extra: dict[str, Any]
    unset: tuple[str, ...]
    resolution_state: str | None = None


class NoteLink(NamedTuple):
    """A link from a note that an ingestion made."""

    id: str
    source_id: str
    relation_type: str
    target_id: str
    valid_at: Instant
    invalid_at: Instant


async def read_notes(graph: Graph) -> list[NoteRow]:
    """All notes of the graph. Raises what `Graph.read` raises."""
    found: list[NoteRow] = []
    after = -1
    while page := await graph.read(NOTES, after=after, rows=ROWS_A_PAGE):
        after = max(int(row[0]) for row in page)
        found += [_note(row[1:]) for row in page]
    return found


async def read_rows(graph: Graph, ids: Sequence[str]) -> dict[str, NoteRow]:
    """The memories with these ids, such as the rows of a table. Raises what `Graph.read` raises."""
    found: dict[str, NoteRow] = {}
    for some in batched(ids, IDS_AT_ONCE):
        found |= {str(row[1]): _note(row[1:]) for row in await graph.read(ROWS_OF_TABLE, ids=list(some))}
    return found


async def read_note_links(graph: Graph, ids: Sequence[str]) -> list[NoteLink]:
    """The links that these notes have to others and that an ingestion made. Raises what `Graph.read` raises."""
    found: list[NoteLink] = []
    for some in batched(ids, IDS_AT_ONCE):
        found += [NoteLink(*row) for row in await graph.read(NOTE_LINKS, ids=list(some))]
    return found


def _note(row: Sequence[Any]) -> NoteRow:
    stored = dict(zip(NoteRow._fields, row, strict=True))
    lists = {name: tuple(orjson.loads(stored[name] or "[]")) for name in ("tags", "buckets", "aliases")}
    extra = orjson.loads(stored["extra"]) if stored["extra"] else {}
    unset = tuple((stored["unset"] or "").split(","))
    return NoteRow(**{**stored, **lists, "text": stored["text"] or "", "extra": extra, "unset": unset})


EPISODE_TURNS: Final = Query(
    "episode_turns",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after AND n.episode_id IN $episodes WITH n LIMIT $rows "
    "RETURN id(n), n.episode_id, n.id, n.node_type, n.name, n.speaker, n.description, n.valid_at, n.invalid_at, "
    "n.expired_at, coalesce(n.version, 1), n.fingerprint, n.extra",
)
"""The memories of some episodes, in the order of their internal ids, from one of these on."""


class EpisodeRow(NamedTuple):
    """A memory of an episode as its latest record has it. `version` counts its records, `fingerprint` is that of
    the command that made the first, `extra` is JSON."""

    episode_id: str
    id: str
    node_type: str
    name: str
    speaker: str | None
    description: str | None
    valid_at: Instant
    invalid_at: Instant
    expired_at: Instant
    version: int
    fingerprint: int | None
    extra: str | None


async def read_episodes(graph: Graph, episode_ids: Sequence[str]) -> AsyncIterator[EpisodeRow]:
    """Yield the turns and sessions of some episodes, a page at a time. Raises what `Graph.read` raises."""
    after = -1
    while True:
        rows = await graph.read(EPISODE_TURNS, after=after, episodes=list(episode_ids), rows=ROWS_A_PAGE)
        for internal_id, *columns in rows:
            after = max(after, int(internal_id))
            yield EpisodeRow(*columns)
        if len(rows) < ROWS_A_PAGE:
            return
