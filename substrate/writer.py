"""Writes: each function is one atomic statement. What was stored and what existed comes back as marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from schemas.errors import Conflict
from schemas.temporal import END_OF_TIME
from substrate.bitemporal import Change, Record
from substrate.connection import Connection, parameters
from substrate.cypher import write as cypher
from substrate.cypher.query import Query
from substrate.rows import times

NODES_PER_STATEMENT = 50
"""A commit holds a lock that stops every graph; an indexed vector costs it about 0.6 ms (ENGINE, rule 11)."""
LINKS_PER_STATEMENT = 500


class Mark(NamedTuple):
    """What a row of a write found: `new` when it was stored just now, else the marks of what existed."""

    id: str
    new: bool
    command_id: str | None
    fingerprint: int | None
    version: int | None
    valid_at: int | None
    invalid_at: int | None
    created_at: int | None
    expired_at: int | None
    has_source: bool = True
    has_target: bool = True


def _mark(row: Sequence[Any]) -> Mark:
    ends = (row[9] == "true", row[10] == "true") if len(row) > 9 else (True, True)
    return Mark(str(row[0]), row[1] == 1, *row[2:9], *ends)


async def _batch(
    connection: Connection, graph: str, query: Query, rows: Sequence[Mapping[str, Any]]
) -> list[Mark]:
    header = parameters({"rows": list(rows), "open": END_OF_TIME})
    try:
        reply = await connection.write(graph, query, header)
    except Conflict:
        # Another writer stored one of the ids between our look and our write; now the look finds it.
        reply = await connection.write(graph, query, header)
    return [_mark(row) for row in reply]


async def remember(connection: Connection, graph: str, rows: Sequence[Mapping[str, Any]]) -> list[Mark]:
    """Store new memories, at most `NODES_PER_STATEMENT`, each id once; one mark a row, in order."""
    return await _batch(connection, graph, cypher.REMEMBER, rows)


async def relate(connection: Connection, graph: str, rows: Sequence[Mapping[str, Any]]) -> list[Mark]:
    """Store new links, at most `LINKS_PER_STATEMENT`, each id once; one mark a row, in order.

    All of them either have an id of their own (a `handle`) or the one that their ends give them.
    """
    named = bool(rows) and rows[0]["handle"] is not None
    return await _batch(connection, graph, cypher.RELATE_NAMED if named else cypher.RELATE, rows)


class Revised(NamedTuple):
    """The stored form of what a revision opens."""

    latest: Mapping[str, Any]
    embedding: list[float] | None
    emotion: list[float] | None
    tag_names: list[str] | None


def _pending_until(change: Change) -> int:
    """When the kept record ends, if that lies after the change became known."""
    kept = change.kept
    return kept.valid.end if kept is not None and kept.valid.end > kept.known.start else 0


def _kept(record: Record | None, command: Mapping[str, Any]) -> list[dict[str, Any]]:
    if record is None:
        return []
    end = {"version": record.version, "invalidation_reason": record.reason}
    return [{**times(record.valid, record.known), **end, **command}]


def _closing(closed: Record, command: Mapping[str, Any]) -> dict[str, Any]:
    """Which open record is closed, as the writer saw it, when, why and by which command."""
    return {
        "id": closed.id,
        "seen": closed.version,
        "open": END_OF_TIME,
        "at": closed.known.end,
        "reason": closed.reason,
        "closed_by": command["command_id"],
        "closed_fingerprint": command["fingerprint"],
    }


async def revise(
    connection: Connection, graph: str, change: Change, revised: Revised, command: Mapping[str, Any]
) -> bool:
    """Carry out a change that opens a record. False when another writer was first: nothing was changed."""
    values = {
        **_closing(change.closed, command),
        "pending_until": _pending_until(change),
        "kept": _kept(change.kept, command),
        "latest": {**revised.latest, **command},
        "embedding": revised.embedding,
        "emotion": revised.emotion,
        "retag": revised.tag_names is not None,
        "tag_names": revised.tag_names or [],
    }
    return bool(await connection.write(graph, cypher.REVISE, parameters(values)))


async def withdraw(connection: Connection, graph: str, closed: Record, command: Mapping[str, Any]) -> bool:
    """Close the open record and open none. False when another writer was first."""
    return bool(await connection.write(graph, cypher.WITHDRAW, parameters(_closing(closed, command))))
