"""Replaces the vectors of a graph by those of another model, while the graph is read and written.

Each function is a step that can be repeated. In the queries `Other` is the generation that is not in use: the new
one until `switch_generation`, then the old one (`substrate.cypher.query`). An index is created while its label is
empty, and dropped when it is empty again: on a label with nodes the engine would rebuild the index, and would
answer nothing until that is done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.temporal import END_OF_TIME
from substrate.cypher import schema as schema_cypher
from substrate.cypher.query import Query
from substrate.graphs import indexes
from substrate.graphs.graph import Graph
from substrate.graphs.registry import Stamp
from substrate.likeness import port as likeness
from substrate.likeness.elements import Role, Vector

ROWS: Final = 25
"""Records of one statement: each indexed vector adds about 1 ms to the commit, which blocks all graphs."""

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
"""Claims the unused generation for the model. It returns no row when the generation is taken."""

_CONTENT: Final = ("name", "description", "speaker", "emotion_vector")
_CONTENT_COLUMNS: Final = f"n.id, n.version, n.created_at, {', '.join(f'n.{name}' for name in _CONTENT)}"


def _lacking(label: str) -> str:
    return (
        f"MATCH (n:{label}) WHERE id(n) > $after AND outdegree(n, 'HAS_OTHER_TRACE') = 0 WITH n LIMIT $rows "
        f"OPTIONAL MATCH (n)-[:HAS_TRACE]->(t) RETURN id(n), id(t), {_CONTENT_COLUMNS} ORDER BY id(n)"
    )


LACKING: Final = Query("lacking", _lacking("ConsciousnessNode"))
LACKING_PAST: Final = Query("lacking_past", _lacking("PastVersion"))
"""The next records without a trace of the new generation: internal id, id of the old trace, content."""

LACKING_PASSAGES: Final = Query(
    "lacking_passages",
    "MATCH (q:Passage) WHERE id(q) > $after AND outdegree(q, 'HAS_OTHER_TRACE') = 0 WITH q LIMIT $rows "
    "RETURN id(q), q.memory_id, q.handle, q.text ORDER BY id(q)",
)
"""The next passages without a trace of the new generation."""

_NEW: Final = "{embedding: vecf32(r.embedding), emotion: vecf32(r.emotion), digest: r.digest}"
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
"""Adds traces of the new generation to the records of `ConsciousnessNode`s that have not changed since they were
read."""

TRACE_PAST: Final = Query(
    "trace_past",
    f"{_STAMP} WHERE {_WANTED} WITH m UNWIND $rows AS r WITH r UNWIND r.owners AS owner "
    "MATCH (n:PastVersion {id: owner.id}) "
    f"WHERE n.version = owner.version AND n.created_at = owner.created_at AND {_UNLESS_TRACED} "
    "WITH r.number AS number, r, collect(n) AS owners "
    f"CREATE (t:OtherPastTrace {_NEW}) "
    "FOREACH (n IN owners | CREATE (n)-[:HAS_OTHER_TRACE]->(t)) RETURN count(t)",
)
"""The same for past records; those that shared an old trace share a new one."""

TRACE_PASSAGES: Final = Query(
    "trace_passages",
    f"{_STAMP} WHERE {_WANTED} WITH m UNWIND $rows AS r WITH r MATCH (n:Passage {{handle: r.handle}}) "
    f"WHERE {_UNLESS_TRACED} WITH r, n "
    "CREATE (n)-[:HAS_OTHER_TRACE]->(:OtherPassageTrace {embedding: vecf32(r.embedding)}) RETURN count(n)",
)

SWITCH: Final = Query(
    "switch_generation",
    f"{_STAMP} WHERE m.other_state = 'filling' AND {_TARGET} CALL db.meta.stats() YIELD labels, relTypes "
    "WITH m, m.embedding_model AS model, m.dimension AS dimension, coalesce(m.generation, 0) AS generation, "
    "coalesce(labels.ConsciousnessNode, 0) + coalesce(labels.PastVersion, 0) + coalesce(labels.Passage, 0) "
    "- coalesce(relTypes.HAS_OTHER_TRACE, 0) AS lacking WHERE lacking <= $tolerated "
    "SET m.embedding_model = m.other_model, m.dimension = m.other_dimension, m.generation = 1 - generation, "
    "m.other_model = model, m.other_dimension = dimension, m.other_state = 'leaving' RETURN lacking",
)
"""Makes the new generation the one in use. It returns no row when too many records have no trace yet."""

CLOSE: Final = Query(
    "close_generation",
    f"{_STAMP} WHERE m.other_state IN ['filling', 'leaving'] AND coalesce(m.generation, 0) = $generation "
    "SET m.other_state = 'clearing' RETURN m.other_state",
)
"""Ends all reading of the other generation; `$generation` is the one in use."""

CLEAR: Final = Query("clear", "MATCH (t:OtherTrace) WITH t LIMIT $rows DELETE t RETURN count(t)")
CLEAR_PAST: Final = Query("clear_past", "MATCH (t:OtherPastTrace) WITH t LIMIT $rows DELETE t RETURN count(t)")
CLEAR_PASSAGES: Final = Query(
    "clear_passages", "MATCH (t:OtherPassageTrace) WITH t LIMIT $rows DELETE t RETURN count(t)"
)
CLEARING_QUERIES: Final = (CLEAR, CLEAR_PAST, CLEAR_PASSAGES)
"""Deletes the next `$rows` traces of the other generation."""

END: Final = Query(
    "end_reembedding",
    f"{_STAMP} WHERE m.other_state = 'clearing' "
    "SET m.other_model = null, m.other_dimension = null, m.other_state = null RETURN m.generation",
)


class EmbeddingTarget(NamedTuple):
    """The new model of a graph, and the dimension of its vectors."""

    model: str
    dimension: int


class UntracedRecord(NamedTuple):
    """A record without a trace of the new generation; `trace` is the internal id of its old one, if it has one."""

    internal_id: int
    trace: int | None
    id: str
    version: int
    created_at: int
    content: Mapping[str, Any]


type TracedGroup = tuple[Sequence[UntracedRecord], Mapping[str, Any]]
"""Records that share a trace, and the trace's vectors by column."""


async def begin(graph: Graph, target: EmbeddingTarget) -> bool:
    """Claim the unused generation for the target; False when it is taken."""
    if not await graph.write(BEGIN, **target._asdict()):
        return False
    await likeness.begin_other(graph.connection, graph.name, target.dimension)
    return True


async def create_indexes(graph: Graph, target: EmbeddingTarget) -> None:
    """Create the vector indexes of the new generation, if the graph uses indexes. Raises Unavailable when they do
    not become operational."""
    if not graph.connection.vectors.of(graph.name).indexed:
        return
    async with indexes.index_lock(graph.connection):
        for query in schema_cypher.vector_indexes(target.dimension, schema_cypher.OTHER_TRACES):
            await indexes.create_index(graph, query)
        await indexes.wait_operational(graph)


async def untraced_records(graph: Graph, after: int, *, past: bool) -> list[UntracedRecord]:
    """Return the next records after the internal id `after` that have no new trace; empty at the end."""
    rows = await graph.read(LACKING_PAST if past else LACKING, after=after, rows=ROWS)
    records: dict[int, UntracedRecord] = {}
    for row in rows:
        content = dict(zip(_CONTENT, row[5:], strict=True))
        records[row[0]] = UntracedRecord._make((*row[:5], content))
    return list(records.values())


async def add_traces(graph: Graph, target: EmbeddingTarget, groups: Sequence[TracedGroup]) -> int:
    """Add new traces to records of `ConsciousnessNode`s, one record per group; returns how many were added. A
    record that changed since it was read gets none."""
    rows = likeness.with_digests({**_key(record), **vectors} for [record], vectors in groups)
    await likeness.add(graph.connection, graph.name, likeness.vectors_of(rows), other=True)
    return await _write(graph, TRACE, target, rows)


async def add_past_traces(graph: Graph, target: EmbeddingTarget, groups: Sequence[TracedGroup]) -> int:
    """Add new traces to past records, one trace per group; returns how many were added. A record that changed
    since it was read gets none."""
    rows = []
    for number, (records, vectors) in enumerate(groups):
        rows.append({"number": number, "owners": list(map(_key, records)), **vectors})
    rows = likeness.with_digests(rows)
    owned = [{**row, "id": records[0].id} for row, (records, _) in zip(rows, groups, strict=True)]
    await likeness.add_missing(graph.connection, graph.name, likeness.vectors_of(owned, is_open=False), other=True)
    return await _write(graph, TRACE_PAST, target, rows)


def _key(record: UntracedRecord) -> dict[str, Any]:
    return {"id": record.id, "version": record.version, "created_at": record.created_at}


class UntracedPassage(NamedTuple):
    """A passage without a trace of the new generation."""

    internal_id: int
    memory_id: str
    handle: str
    text: str


async def untraced_passages(graph: Graph, after: int) -> list[UntracedPassage]:
    """Return the next passages after the internal id `after` that have no new trace; empty at the end."""
    return [UntracedPassage(*row) for row in await graph.read(LACKING_PASSAGES, after=after, rows=ROWS)]


async def add_passage_traces(graph: Graph, target: EmbeddingTarget, rows: Sequence[Mapping[str, Any]]) -> int:
    """Add new traces to passages, by `handle` and `embedding`; returns how many were added."""
    vectors = [Vector(row["memory_id"], row["handle"], row["embedding"]) for row in rows if row["embedding"]]
    await likeness.add(graph.connection, graph.name, vectors, Role.PASSAGES, other=True)
    return await _write(graph, TRACE_PASSAGES, target, rows)


async def _write(graph: Graph, query: Query, target: EmbeddingTarget, rows: Sequence[Mapping[str, Any]]) -> int:
    [[count]] = await graph.write(query, rows=list(rows), open=END_OF_TIME, **target._asdict())
    return int(count)


async def switch_generation(graph: Graph, target: EmbeddingTarget, tolerated: int) -> bool:
    """Make the new generation the one in use; False when more than `tolerated` records have no trace yet."""
    return bool(await graph.write(SWITCH, **target._asdict(), tolerated=tolerated))


async def close_generation(graph: Graph, stamp: Stamp) -> None:
    """Mark the generation that is not in use as no longer read by any process."""
    await graph.write(CLOSE, generation=stamp.generation)


async def clear_traces(graph: Graph, query: Query) -> int:
    """Delete up to `ROWS` traces of the generation that is not in use, by one of `CLEARING_QUERIES`; returns how
    many were deleted."""
    return int((await graph.write(query, rows=ROWS))[0][0])


async def end(graph: Graph) -> None:
    """Drop the sets and indexes of the empty generation that is not in use, and remove it from the stamp."""
    await likeness.drop_other(graph.connection, graph.name)
    async with indexes.index_lock(graph.connection):
        for query in schema_cypher.DROP_OTHER_INDEXES:
            await indexes.drop_index(graph, query)
        await indexes.wait_operational(graph)
    await graph.write(END)
