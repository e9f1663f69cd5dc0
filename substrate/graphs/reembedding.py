"""Replaces the vectors of a graph by those of another model, while it is read and written.

Each function is a step that can be repeated. The texts are written for the generation that is replaced: `Other` is
the new one (`substrate.cypher.query`). An index is created while its label is empty, and dropped when it is empty
again: on a filled label the engine would rebuild what the label holds, and stop meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.temporal import END_OF_TIME
from substrate.cypher import schema as schema_cypher
from substrate.cypher.query import Query
from substrate.emotions import DIMENSION as EMOTION_DIMENSION
from substrate.graphs import indexes
from substrate.graphs.graph import Graph
from substrate.graphs.registry import Stamp

ROWS: Final = 25
"""Records of a statement: each indexed vector adds about a millisecond to the commit, which stops all graphs."""

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
"""Claims the free generation for the model. No row: it is not free."""

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
"""Adds traces of the new generation to carried records, except to those that changed since they were read."""

TRACE_PAST: Final = Query(
    "trace_past",
    f"{_STAMP} WHERE {_WANTED} WITH m UNWIND $rows AS r WITH r UNWIND r.owners AS owner "
    "MATCH (n:PastVersion {id: owner.id}) "
    f"WHERE n.version = owner.version AND n.created_at = owner.created_at AND {_UNLESS_TRACED} "
    "WITH r.number AS number, r, collect(n) AS owners "
    f"CREATE (t:OtherPastTrace {_NEW}) "
    "FOREACH (n IN owners | CREATE (n)-[:HAS_OTHER_TRACE]->(t)) RETURN count(t)",
)
"""The same for past records; those that share an old trace share a new one."""

SWITCH: Final = Query(
    "switch_generation",
    f"{_STAMP} WHERE m.other_state = 'filling' AND {_TARGET} CALL db.meta.stats() YIELD labels, relTypes "
    "WITH m, m.embedding_model AS model, m.dimension AS dimension, coalesce(m.generation, 0) AS generation, "
    "coalesce(labels.ConsciousnessNode, 0) + coalesce(labels.PastVersion, 0) "
    "- coalesce(relTypes.HAS_OTHER_TRACE, 0) AS lacking WHERE lacking <= $tolerated "
    "SET m.embedding_model = m.other_model, m.dimension = m.other_dimension, m.generation = 1 - generation, "
    "m.other_model = model, m.other_dimension = dimension, m.other_state = 'leaving' RETURN lacking",
)
"""Makes the new generation the one in use. No row: too many records have no trace yet."""

CLOSE: Final = Query(
    "close_generation",
    f"{_STAMP} WHERE m.other_state IN ['filling', 'leaving'] AND coalesce(m.generation, 0) = $generation "
    "SET m.other_state = 'clearing' RETURN m.other_state",
)
"""From now on nobody reads the other generation; `$generation` is the one in use."""

CLEAR: Final = Query("clear", "MATCH (t:OtherTrace) WITH t LIMIT $rows DELETE t RETURN count(t)")
CLEAR_PAST: Final = Query("clear_past", "MATCH (t:OtherPastTrace) WITH t LIMIT $rows DELETE t RETURN count(t)")
"""Deletes the next `$rows` traces of the other generation."""

END: Final = Query(
    "end_reembedding",
    f"{_STAMP} WHERE m.other_state = 'clearing' "
    "SET m.other_model = null, m.other_dimension = null, m.other_state = null RETURN m.generation",
)


class EmbeddingTarget(NamedTuple):
    """The model and dimension that the vectors of a graph are replaced by."""

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
"""Records that share a trace, and its vectors by column."""


async def begin(graph: Graph, target: EmbeddingTarget) -> bool:
    """Claim the free generation for the target; False when it is not free."""
    return bool(await graph.write(BEGIN, **target._asdict()))


async def create_indexes(graph: Graph, target: EmbeddingTarget) -> None:
    """Create the vector indexes of the new generation. Raises Unavailable when they do not become operational."""
    queries = schema_cypher.vector_indexes(target.dimension, EMOTION_DIMENSION, schema_cypher.OTHER_TRACES)
    async with indexes.index_lock(graph.connection):
        for query in queries:
            await indexes.create_index(graph, query)
        await indexes.wait_operational(graph)


async def untraced_records(graph: Graph, after: int, *, past: bool) -> list[UntracedRecord]:
    """The next records after the internal id `after` without a new trace; empty at the end."""
    rows = await graph.read(LACKING_PAST if past else LACKING, after=after, rows=ROWS)
    records: dict[int, UntracedRecord] = {}
    for row in rows:
        content = dict(zip(_CONTENT, row[5:], strict=True))
        records[row[0]] = UntracedRecord._make((*row[:5], content))
    return list(records.values())


async def add_traces(graph: Graph, target: EmbeddingTarget, groups: Sequence[TracedGroup]) -> int:
    """Add the new traces of carried records, one record a group; how many were unchanged since they were read."""
    rows = [{**_key(record), **vectors} for [record], vectors in groups]
    return await _write(graph, TRACE, target, rows)


async def add_past_traces(graph: Graph, target: EmbeddingTarget, groups: Sequence[TracedGroup]) -> int:
    """Add the new traces of past records, one trace a group; how many were unchanged since they were read."""
    rows = []
    for number, (records, vectors) in enumerate(groups):
        rows.append({"number": number, "owners": [_key(record) for record in records], **vectors})
    return await _write(graph, TRACE_PAST, target, rows)


def _key(record: UntracedRecord) -> dict[str, Any]:
    return {"id": record.id, "version": record.version, "created_at": record.created_at}


async def _write(graph: Graph, query: Query, target: EmbeddingTarget, rows: Sequence[Mapping[str, Any]]) -> int:
    [[count]] = await graph.write(query, rows=list(rows), open=END_OF_TIME, **target._asdict())
    return int(count)


async def switch_generation(graph: Graph, target: EmbeddingTarget, tolerated: int) -> bool:
    """Make the new generation the one in use; False when more than `tolerated` records have no trace yet."""
    return bool(await graph.write(SWITCH, **target._asdict(), tolerated=tolerated))


async def close_generation(graph: Graph, stamp: Stamp) -> None:
    """Let nobody read the generation that is not in use."""
    await graph.write(CLOSE, generation=stamp.generation)


async def clear_traces(graph: Graph, *, past: bool) -> int:
    """Delete up to `ROWS` traces of the generation that is not in use; how many."""
    return int((await graph.write(CLEAR_PAST if past else CLEAR, rows=ROWS))[0][0])


async def end(graph: Graph) -> None:
    """Drop the indexes of the empty generation that is not in use, and remove it from the stamp."""
    async with indexes.index_lock(graph.connection):
        for query in schema_cypher.DROP_OTHER_INDEXES:
            await indexes.drop_index(graph, query)
        await indexes.wait_operational(graph)
    await graph.write(END)
