"""One graph on its way from one model's vectors to another's: each function is a step that can be repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.temporal import END_OF_TIME
from substrate.cypher import schema as schema_cypher
from substrate.cypher.query import Query
from substrate.emotions import DIMENSION as EMOTION_DIMENSION
from substrate.graphs import indexes as indexing
from substrate.graphs.graph import Graph
from substrate.graphs.registry import Stamp

ROWS: Final = 25
"""Records of a statement: an indexed vector costs a commit, which stops all graphs, about a millisecond."""

_STAMP: Final = "MATCH (m:SubstrateMeta {key: 'stamp'}) "
_TARGET: Final = "m.other_model = $model AND m.other_dimension = $dimension"
_WANTED: Final = (
    f"(m.other_state = 'filling' AND {_TARGET}) OR (m.embedding_model = $model AND m.dimension = $dimension)"
)

BEGIN: Final = Query(
    "begin_reembedding",
    f"{_STAMP} WHERE m.other_state IS NULL SET m.other_model = $model, m.other_dimension = $dimension, "
    "m.other_state = 'filling' RETURN m.other_state",
)
"""The other generation belongs to the model from here on. No row: it is not free."""

_TOLD: Final = "n.id, n.version, n.created_at, n.name, n.description, n.speaker, n.emotion_vector"


def _lacking(label: str) -> str:
    return (
        f"MATCH (n:{label}) WHERE id(n) > $after AND outdegree(n, 'HAS_OTHER_TRACE') = 0 WITH n LIMIT $rows "
        f"OPTIONAL MATCH (n)-[:HAS_TRACE]->(t) RETURN id(n), id(t), {_TOLD} ORDER BY id(n)"
    )


LACKING: Final = Query("lacking", _lacking("ConsciousnessNode"))
LACKING_PAST: Final = Query("lacking_past", _lacking("PastVersion"))
"""The next records without a trace of the generation to come, each with what it says and the trace it has."""

_NEW: Final = "{embedding: vecf32(r.embedding), emotion: vecf32(r.emotion)}"
_UNLESS_TRACED: Final = "outdegree(n, 'HAS_OTHER_TRACE') = 0 "

TRACE: Final = Query(
    "trace",
    f"{_STAMP} WHERE {_WANTED} WITH m UNWIND $rows AS r WITH r MATCH (n:ConsciousnessNode {{id: r.id}}) "
    f"WHERE n.version = r.version AND n.created_at = r.created_at AND {_UNLESS_TRACED} WITH r, n "
    "FOREACH (_ IN CASE WHEN n.expired_at = $open THEN [1] ELSE [] END | "
    f"CREATE (n)-[:HAS_OTHER_TRACE]->(:OtherTrace {_NEW})) "
    "FOREACH (_ IN CASE WHEN n.expired_at = $open THEN [] ELSE [1] END | "
    f"CREATE (n)-[:HAS_OTHER_TRACE]->(:OtherPastTrace {_NEW})) "
    "RETURN count(n)",
)
"""Give carried records their traces to come. What changed since it was read is passed over, and comes again."""

TRACE_PAST: Final = Query(
    "trace_past",
    f"{_STAMP} WHERE {_WANTED} WITH m UNWIND $rows AS r WITH r UNWIND r.owners AS owner "
    "MATCH (n:PastVersion {id: owner.id}) "
    f"WHERE n.version = owner.version AND n.created_at = owner.created_at AND {_UNLESS_TRACED} "
    "WITH r.number AS number, r, collect(n) AS owners "
    f"CREATE (t:OtherPastTrace {_NEW}) "
    "FOREACH (n IN owners | CREATE (n)-[:HAS_OTHER_TRACE]->(t)) RETURN count(t)",
)
"""The same for past records; those that share a trace share the one to come."""

SWITCH: Final = Query(
    "switch_generation",
    f"{_STAMP} WHERE m.other_state = 'filling' AND {_TARGET} CALL db.meta.stats() YIELD labels, relTypes "
    "WITH m, m.embedding_model AS model, m.dimension AS dimension, coalesce(m.generation, 0) AS generation, "
    "coalesce(labels.ConsciousnessNode, 0) + coalesce(labels.PastVersion, 0) "
    "- coalesce(relTypes.HAS_OTHER_TRACE, 0) AS lacking WHERE lacking <= $tolerated "
    "SET m.embedding_model = m.other_model, m.dimension = m.other_dimension, m.generation = 1 - generation, "
    "m.other_model = model, m.other_dimension = dimension, m.other_state = 'leaving' RETURN lacking",
)
"""Let the generation to come be the one in use. No row: more records lack their trace than are tolerated."""

CLOSE: Final = Query(
    "close_generation",
    f"{_STAMP} WHERE m.other_state IN ['filling', 'leaving'] AND coalesce(m.generation, 0) = $generation "
    "SET m.other_state = 'clearing' RETURN m.other_state",
)
"""Nobody reads the other generation from here on; `generation` is the one in use."""

CLEAR: Final = Query("clear", "MATCH (t:OtherTrace) WITH t LIMIT $rows DELETE t RETURN count(t)")
CLEAR_PAST: Final = Query("clear_past", "MATCH (t:OtherPastTrace) WITH t LIMIT $rows DELETE t RETURN count(t)")
"""Remove traces of the other generation, so many at a time."""

END: Final = Query(
    "end_reembedding",
    f"{_STAMP} WHERE m.other_state = 'clearing' "
    "SET m.other_model = null, m.other_dimension = null, m.other_state = null RETURN m.generation",
)


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
    return bool(await graph.write(BEGIN, **target._asdict()))


async def make_indexes(graph: Graph, target: Target) -> None:
    """The indexes of the generation to come; its labels are still empty, or have them already."""
    indexes = schema_cypher.vector_indexes(target.dimension, EMOTION_DIMENSION, schema_cypher.OTHER_TRACES)
    async with indexing.index_lock(graph.connection):
        for index in indexes:
            await indexing.create_index(graph, index)
        await indexing.wait_operational(graph)


async def lacking(graph: Graph, after: int, *, past: bool) -> list[Bare]:
    """The next records behind the internal id `after` that the generation to come lacks; empty at the end."""
    query = LACKING_PAST if past else LACKING
    rows = await graph.read(query, after=after, rows=ROWS)
    told = ("name", "description", "speaker", "emotion_vector")
    found = {row[0]: Bare._make((*row[:5], dict(zip(told, row[5:], strict=True)))) for row in rows}
    return list(found.values())


async def trace(graph: Graph, target: Target, traced: Sequence[tuple[Sequence[Bare], Mapping[str, Any]]]) -> int:
    """Give carried records their traces: one record and its vectors each. How many were as they had been read."""
    rows = [{**_named(bare), **vectors} for [bare], vectors in traced]
    return await _write(graph, (TRACE, target), rows)


async def trace_past(
    graph: Graph, target: Target, traced: Sequence[tuple[Sequence[Bare], Mapping[str, Any]]]
) -> int:
    """Give past records their traces: all that share one, and its vectors. How many were as they had been read."""
    rows = [
        {"number": number, "owners": [_named(bare) for bare in owners], **vectors}
        for number, (owners, vectors) in enumerate(traced)
    ]
    return await _write(graph, (TRACE_PAST, target), rows)


def _named(bare: Bare) -> dict[str, Any]:
    return {"id": bare.id, "version": bare.version, "created_at": bare.created_at}


async def _write(graph: Graph, asked: tuple[Query, Target], rows: Sequence[Mapping[str, Any]]) -> int:
    query, target = asked
    values = {"rows": list(rows), "open": END_OF_TIME, **target._asdict()}
    return int((await graph.write(query, **values))[0][0])


async def switch(graph: Graph, target: Target, tolerated: int) -> bool:
    """Let the generation to come be the one in use, unless more than `tolerated` records lack their trace."""
    values = {**target._asdict(), "tolerated": tolerated}
    return bool(await graph.write(SWITCH, **values))


async def close(graph: Graph, stamp: Stamp) -> None:
    """Let nobody read the generation that is not in use."""
    await graph.write(CLOSE, generation=stamp.generation)


async def clear(graph: Graph, *, past: bool) -> int:
    """Remove a few traces of the generation that is not in use; how many."""
    query = CLEAR_PAST if past else CLEAR
    return int((await graph.write(query, rows=ROWS))[0][0])


async def end(graph: Graph) -> None:
    """The generation that is not in use is empty: its indexes go, and the stamp says no more of it."""
    async with indexing.index_lock(graph.connection):
        for index in schema_cypher.DROP_OTHER_INDEXES:
            await indexing.drop_index(graph, index)
        await indexing.wait_operational(graph)
    await graph.write(END)
