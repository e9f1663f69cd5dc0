"""One graph on its way from one model's vectors to another's: each function is a step that can be repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.temporal import END_OF_TIME
from substrate.connection.parameters import parameters
from substrate.connection.pool import Connection
from substrate.cypher import reembed as cypher
from substrate.cypher import schema as schema_cypher
from substrate.cypher.query import Query
from substrate.emotions import DIMENSION as EMOTION_DIMENSION
from substrate.graphs import indexes as indexing
from substrate.graphs.indexes import NOTHING
from substrate.graphs.registry import Stamp

ROWS: Final = 25
"""Records of a statement: an indexed vector costs a commit, which stops all graphs, about a millisecond."""


class Target(NamedTuple):
    """The embedding that a graph is to have."""

    model: str
    dimension: int


class Bare(NamedTuple):
    """A record without a trace of the generation to come; `trace` names the one it has, which it may share."""

    place: int
    trace: int | None
    id: str
    version: int
    created_at: int
    content: Mapping[str, Any]


async def begin(connection: Connection, graph: str, target: Target) -> bool:
    """Take the free generation for the target. False when it is not free."""
    return bool(await connection.write(graph, cypher.BEGIN, parameters(target._asdict())))


async def make_indexes(connection: Connection, graph: str, target: Target) -> None:
    """The indexes of the generation to come; its labels are still empty, or have them already."""
    indexes = schema_cypher.vector_indexes(target.dimension, EMOTION_DIMENSION, schema_cypher.OTHER_TRACES)
    async with indexing.alone(connection):
        for index in indexes:
            await indexing.create_index(connection, graph, index)
        await indexing.wait_operational(connection, graph)


async def lacking(connection: Connection, graph: str, after: int, *, past: bool) -> list[Bare]:
    """The next records behind the internal id `after` that the generation to come lacks; empty at the end."""
    query = cypher.LACKING_PAST if past else cypher.LACKING
    rows = await connection.read(graph, query, parameters({"after": after, "rows": ROWS}))
    told = ("name", "description", "speaker", "emotion_vector")
    found = {row[0]: Bare._make((*row[:5], dict(zip(told, row[5:], strict=True)))) for row in rows}
    return list(found.values())


async def trace(
    connection: Connection, graph: str, target: Target, traced: Sequence[tuple[Sequence[Bare], Mapping[str, Any]]]
) -> int:
    """Give carried records their traces: one record and its vectors each. How many were as they had been read."""
    rows = [{**_named(bare), **vectors} for [bare], vectors in traced]
    return await _write(connection, graph, (cypher.TRACE, target), rows)


async def trace_past(
    connection: Connection, graph: str, target: Target, traced: Sequence[tuple[Sequence[Bare], Mapping[str, Any]]]
) -> int:
    """Give past records their traces: all that share one, and its vectors. How many were as they had been read."""
    rows = [
        {"number": number, "owners": [_named(bare) for bare in owners], **vectors}
        for number, (owners, vectors) in enumerate(traced)
    ]
    return await _write(connection, graph, (cypher.TRACE_PAST, target), rows)


def _named(bare: Bare) -> dict[str, Any]:
    return {"id": bare.id, "version": bare.version, "created_at": bare.created_at}


async def _write(
    connection: Connection, graph: str, asked: tuple[Query, Target], rows: Sequence[Mapping[str, Any]]
) -> int:
    query, target = asked
    values = {"rows": list(rows), "open": END_OF_TIME, **target._asdict()}
    return int((await connection.write(graph, query, parameters(values)))[0][0])


async def switch(connection: Connection, graph: str, target: Target, tolerated: int) -> bool:
    """Let the generation to come be the one in use, unless more than `tolerated` records lack their trace."""
    values = {**target._asdict(), "tolerated": tolerated}
    return bool(await connection.write(graph, cypher.SWITCH, parameters(values)))


async def close(connection: Connection, graph: str, stamp: Stamp) -> None:
    """Let nobody read the generation that is not in use."""
    await connection.write(graph, cypher.CLOSE, parameters({"generation": stamp.generation}))


async def clear(connection: Connection, graph: str, *, past: bool) -> int:
    """Remove a few traces of the generation that is not in use; how many."""
    query = cypher.CLEAR_PAST if past else cypher.CLEAR
    return int((await connection.write(graph, query, parameters({"rows": ROWS})))[0][0])


async def end(connection: Connection, graph: str) -> None:
    """The generation that is not in use is empty: its indexes go, and the stamp says no more of it."""
    async with indexing.alone(connection):
        for index in schema_cypher.DROP_OTHER_INDEXES:
            await indexing.drop_index(connection, graph, index)
        await indexing.wait_operational(connection, graph)
    await connection.write(graph, cypher.END, NOTHING)
