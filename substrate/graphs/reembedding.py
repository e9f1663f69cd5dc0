"""One graph on its way from one model's vectors to another's: each function is a step that can be repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.temporal import END_OF_TIME
from substrate.cypher import reembed as cypher
from substrate.cypher import schema as schema_cypher
from substrate.cypher.query import Query
from substrate.emotions import DIMENSION as EMOTION_DIMENSION
from substrate.graphs import indexes as indexing
from substrate.graphs.graph import Graph
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


async def begin(graph: Graph, target: Target) -> bool:
    """Take the free generation for the target. False when it is not free."""
    return bool(await graph.write(cypher.BEGIN, **target._asdict()))


async def make_indexes(graph: Graph, target: Target) -> None:
    """The indexes of the generation to come; its labels are still empty, or have them already."""
    indexes = schema_cypher.vector_indexes(target.dimension, EMOTION_DIMENSION, schema_cypher.OTHER_TRACES)
    async with indexing.index_lock(graph.connection):
        for index in indexes:
            await indexing.create_index(graph, index)
        await indexing.wait_operational(graph)


async def lacking(graph: Graph, after: int, *, past: bool) -> list[Bare]:
    """The next records behind the internal id `after` that the generation to come lacks; empty at the end."""
    query = cypher.LACKING_PAST if past else cypher.LACKING
    rows = await graph.read(query, after=after, rows=ROWS)
    told = ("name", "description", "speaker", "emotion_vector")
    found = {row[0]: Bare._make((*row[:5], dict(zip(told, row[5:], strict=True)))) for row in rows}
    return list(found.values())


async def trace(graph: Graph, target: Target, traced: Sequence[tuple[Sequence[Bare], Mapping[str, Any]]]) -> int:
    """Give carried records their traces: one record and its vectors each. How many were as they had been read."""
    rows = [{**_named(bare), **vectors} for [bare], vectors in traced]
    return await _write(graph, (cypher.TRACE, target), rows)


async def trace_past(
    graph: Graph, target: Target, traced: Sequence[tuple[Sequence[Bare], Mapping[str, Any]]]
) -> int:
    """Give past records their traces: all that share one, and its vectors. How many were as they had been read."""
    rows = [
        {"number": number, "owners": [_named(bare) for bare in owners], **vectors}
        for number, (owners, vectors) in enumerate(traced)
    ]
    return await _write(graph, (cypher.TRACE_PAST, target), rows)


def _named(bare: Bare) -> dict[str, Any]:
    return {"id": bare.id, "version": bare.version, "created_at": bare.created_at}


async def _write(graph: Graph, asked: tuple[Query, Target], rows: Sequence[Mapping[str, Any]]) -> int:
    query, target = asked
    values = {"rows": list(rows), "open": END_OF_TIME, **target._asdict()}
    return int((await graph.write(query, **values))[0][0])


async def switch(graph: Graph, target: Target, tolerated: int) -> bool:
    """Let the generation to come be the one in use, unless more than `tolerated` records lack their trace."""
    values = {**target._asdict(), "tolerated": tolerated}
    return bool(await graph.write(cypher.SWITCH, **values))


async def close(graph: Graph, stamp: Stamp) -> None:
    """Let nobody read the generation that is not in use."""
    await graph.write(cypher.CLOSE, generation=stamp.generation)


async def clear(graph: Graph, *, past: bool) -> int:
    """Remove a few traces of the generation that is not in use; how many."""
    query = cypher.CLEAR_PAST if past else cypher.CLEAR
    return int((await graph.write(query, rows=ROWS))[0][0])


async def end(graph: Graph) -> None:
    """The generation that is not in use is empty: its indexes go, and the stamp says no more of it."""
    async with indexing.index_lock(graph.connection):
        for index in schema_cypher.DROP_OTHER_INDEXES:
            await indexing.drop_index(graph, index)
        await indexing.wait_operational(graph)
    await graph.write(cypher.END)
