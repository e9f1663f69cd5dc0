"""Reads and writes what is kept of a written context beside its records: a `ContextNote` in the citizen's graph.

It has the receipt, the agents' notes, and the ids of the edges with their ends. It has no versions, and goes when
the memory of the context is erased.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from schemas.temporal import Instant
from substrate.connection.pool import Row
from substrate.cypher.fragments import columns_of
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.derived import change_count

_COLUMNS: Final = ("memory_id", "created_at", "digest", "receipt", "log", "edges", "ends")
OF_COMMAND: Final = Query(
    "context_note_of_command",
    f"MATCH (c:ContextNote) WHERE c.command_id = $command RETURN {columns_of('c', _COLUMNS)} LIMIT 1",
)
OF_MEMORIES: Final = Query(
    "context_notes_of", f"MATCH (c:ContextNote) WHERE c.memory_id IN $ids RETURN {columns_of('c', _COLUMNS)}"
)
LOGS: Final = Query(
    "agent_logs",
    "MATCH (c:ContextNote) WHERE c.notes > 0 AND ($id IS NULL OR c.memory_id = $id) "
    "AND (c.created_at < $before OR (c.created_at = $before AND c.memory_id > $behind)) "
    f"WITH c ORDER BY c.created_at DESC, c.memory_id LIMIT $limit RETURN {columns_of('c', _COLUMNS)}",
)
NOTE_CONTEXT: Final = Query(
    "note_context",
    "MATCH (n:ConsciousnessNode {id: $record.memory_id}) WITH n LIMIT 1 "
    "MERGE (c:ContextNote {memory_id: $record.memory_id}) ON CREATE SET c = $record RETURN c.memory_id",
)
FORGET_NOTES: Final = Query(
    "forget_context_notes",
    "MATCH (c:ContextNote) WHERE c.memory_id IN $ids "
    "WITH collect(c) AS gone FOREACH (c IN gone | DELETE c) RETURN size(gone)",
)


class ContextNote(NamedTuple):
    """What is kept of one context. `receipt` and `log` as values of JSON; `digest` tells two requests apart."""

    memory_id: str
    created_at: Instant
    digest: str
    receipt: Mapping[str, Any]
    log: Sequence[Mapping[str, Any]]
    edges: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()


def note_of(properties: Mapping[str, Any]) -> ContextNote:
    """A note from its stored properties. Raises KeyError, TypeError or ValueError for other properties."""
    return _note(list(map(properties.get, _COLUMNS)))


def _note(row: Row) -> ContextNote:
    memory_id, created_at, digest, receipt, log, edges, ends = row
    told = orjson.loads(log)
    return ContextNote(memory_id, int(created_at), digest, orjson.loads(receipt), told, tuple(edges), tuple(ends))


async def read_note_of_command(graph: Graph, command_id: str) -> ContextNote | None:
    """What is kept of the context that this command wrote; None without one."""
    rows = await graph.read_typed(OF_COMMAND, command=command_id)
    return _note(rows[0]) if rows else None


async def read_notes(graph: Graph, ids: Sequence[str]) -> list[ContextNote]:
    """What is kept of those memories that are contexts."""
    return list(map(_note, await graph.read_typed(OF_MEMORIES, ids=list(ids))))


class LogPosition(NamedTuple):
    """Contexts written before this moment, or at it with a later id."""

    before: Instant
    behind: str


async def read_logs(graph: Graph, context_id: str | None, after: LogPosition, limit: int) -> list[ContextNote]:
    """Contexts with notes of agents, the newest first, at most `limit`."""
    rows = await graph.read_typed(LOGS, id=context_id, limit=limit, **after._asdict())
    return list(map(_note, rows))


async def write_note(graph: Graph, note: ContextNote) -> None:
    """Keep the note of a context whose memory is stored; a note that is there stays."""
    record = {
        "memory_id": note.memory_id,
        "command_id": note.receipt["command_id"],
        "created_at": note.created_at,
        "digest": note.digest,
        "receipt": orjson.dumps(note.receipt).decode(),
        "log": orjson.dumps(note.log).decode(),
        "notes": len(note.log),
        "edges": list(note.edges),
        "ends": list(note.ends),
    }
    await graph.write(NOTE_CONTEXT, record=record)


async def forget_notes(graph: Graph, ids: Sequence[str]) -> int:
    """Remove the notes of these contexts; returns how many were there."""
    return await change_count(graph, FORGET_NOTES, ids=list(ids))
