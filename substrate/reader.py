"""Reads of single memories and of what a graph holds: one async function per named read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from substrate.connection import Connection, parameters
from substrate.cypher import read as cypher
from substrate.cypher import schema as schema_cypher
from substrate.cypher.columns import NODE_COLUMNS
from substrate.indexing import NOTHING

type NodeRow = Sequence[Any]


class Applied(NamedTuple):
    """The record that a command opened, as its receipt needs it."""

    fingerprint: int | None
    version: int
    valid_at: int
    invalid_at: int
    created_at: int


class Counts(NamedTuple):
    """How much a graph holds."""

    memories: int
    past_versions: int
    traces: int
    past_traces: int
    links: int
    past_links: int


async def memory(connection: Connection, graph: str, memory_id: str) -> NodeRow | None:
    """The record that the identity carries, in the order of `NODE_COLUMNS`; None when there is none."""
    rows = await connection.read(graph, cypher.MEMORY, parameters({"id": memory_id}))
    return rows[0][: len(NODE_COLUMNS)] if rows else None


async def history(connection: Connection, graph: str, memory_id: str) -> list[NodeRow]:
    """All records of the identity in the order in which they became known."""
    rows = await connection.read(graph, cypher.HISTORY, parameters({"id": memory_id}))
    return [row[: len(NODE_COLUMNS)] for row in rows]


async def applied(connection: Connection, graph: str, memory_id: str, command: tuple[str, int]) -> Applied | None:
    """What the command (its id and fingerprint) did to the identity before; None when nothing."""
    values = {"id": memory_id, "command_id": command[0], "fingerprint": command[1]}
    rows = await connection.read(graph, cypher.APPLIED, parameters(values))
    return Applied(*rows[0]) if rows else None


async def counts(connection: Connection, graph: str) -> Counts:
    """How many memories, past versions, traces and links the graph holds."""
    rows = await connection.read(graph, schema_cypher.COUNTS, NOTHING)
    return Counts(*(value or 0 for value in rows[0]))


async def existing(connection: Connection, graph: str, ids: Sequence[str]) -> dict[str, int | None]:
    """Which of the ids are memories of the graph, each with the fingerprint of the record that it carries."""
    rows = await connection.read(graph, cypher.EXISTING, parameters({"ids": list(ids)}))
    return {str(row[0]): row[1] for row in rows}


async def likeness(
    connection: Connection, graph: str, pairs: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], float]:
    """Cosine of the embeddings of each pair of memories; pairs without embeddings are left out."""
    rows = await connection.read(graph, cypher.LIKENESS, parameters({"pairs": [list(pair) for pair in pairs]}))
    return {(row[0], row[1]): float(row[2]) for row in rows if row[2] is not None}


async def changed(connection: Connection, graph: str, page: tuple[int, int]) -> list[NodeRow]:
    """All records of the identities that were ever revised; `page`: how many identities to skip, to take."""
    header = parameters({"skip": page[0], "limit": page[1]})
    return list(await connection.read(graph, cypher.CHANGED, header))
