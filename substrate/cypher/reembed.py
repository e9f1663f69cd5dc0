"""What gives a graph another model's vectors while it is read and written (`Query`: the two generations).

The texts are all asked from the side of the generation that is being left: `Other` is the one to come. An index
is made while its label is empty, and dropped when it is empty again: on a filled label either would build anew
what the label still holds, and stop the engine for as long.
"""

from __future__ import annotations

from typing import Final

from substrate.cypher.query import Query

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
