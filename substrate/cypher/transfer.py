"""What carries a whole graph out of the store and into an empty one, whatever properties its records have.

Pages go by the internal id, as those of upkeep do. No order is asked for: the file is sorted outside.
"""

from __future__ import annotations

from typing import Final

from substrate.cypher.fragments import REPEATED, REPEATED_STATE_TEXTS
from substrate.cypher.query import TRACE_LABELS, TRACE_TYPES, Query

PAST_STATE: Final = "PastState"
STATE_LABELS: Final = ("CitizenState", PAST_STATE)
"""The record of a state that the citizen carries, and its past ones."""
LONE_LABELS: Final = (*STATE_LABELS, "Receipt")
"""Nodes without links of their own, each carried whole."""
KNOWN_LABELS: Final = frozenset(
    ("ConsciousnessNode", "PastVersion", "Tag", "SubstrateMeta", *TRACE_LABELS, *LONE_LABELS)
)
KNOWN_TYPES: Final = frozenset(("HAD", "TAGGED", "LINK", "PAST_LINK", *TRACE_TYPES))
VECTORS: Final = ("embedding", "emotion")

CARRIED_STAMP: Final = Query(
    "carried_stamp",
    "MATCH (m:SubstrateMeta {key: 'stamp'}) "
    "RETURN m {.*, key: null, "
    "generation: null, other_model: null, other_dimension: null, other_state: null} LIMIT 1",
)
"""What the stamp says of the memory; on which satellites the vectors lie is the store's own affair."""
HELD: Final = Query("held", "CALL db.meta.stats() YIELD labels, relTypes RETURN labels, relTypes")

PAGE: Final = Query(
    "carried_page",
    "MATCH (n) WHERE id(n) > $after WITH n LIMIT $rows "
    "RETURN id(n), labels(n), CASE WHEN any(l IN labels(n) WHERE l IN $beside) THEN null ELSE properties(n) END, "
    "outdegree(n, 'HAD'), outdegree(n, 'LINK'), outdegree(n, 'PAST_LINK') "
    "ORDER BY id(n)",
)
"""The next nodes with their properties (not of labels `beside`), and how many past records and links each has."""

_OF_PAGE: Final = "MATCH (n:ConsciousnessNode) WHERE id(n) >= $first AND id(n) < $beyond WITH n "
_WITHOUT_VECTORS: Final = "t {.*, embedding: null, emotion: null}"

TAGS: Final = Query(
    "carried_tags", f"{_OF_PAGE} MATCH (n)-[g:TAGGED]->(t:Tag) RETURN id(n), t.name, properties(g)"
)


def _traces(vectors: str) -> str:
    return f"{_OF_PAGE} MATCH (n)-[:HAS_TRACE]->(t) RETURN id(n), id(t), labels(t), {vectors}"


TRACES: Final = Query("carried_traces", _traces(_WITHOUT_VECTORS))
TRACES_WHOLE: Final = Query("carried_traces_whole", _traces("properties(t)"))


def _records(vectors: str) -> str:
    return (
        f"{_OF_PAGE} MATCH (n)-[:HAD]->(p:PastVersion) WITH n, p SKIP $skip LIMIT $rows "
        f"OPTIONAL MATCH (p)-[:HAS_TRACE]->(t) "
        f"RETURN id(n), id(p), properties(p), id(t), labels(t), {vectors}"
    )


RECORDS: Final = Query("carried_records", _records(_WITHOUT_VECTORS))
RECORDS_WHOLE: Final = Query("carried_records_whole", _records("properties(t)"))

LINKS: Final = Query(
    "carried_links",
    f"{_OF_PAGE} MATCH (n)-[e:LINK]->(m) WITH n, e, m SKIP $skip LIMIT $rows RETURN n.id, m.id, properties(e)",
)
PAST_LINKS: Final = Query(
    "carried_past_links",
    f"{_OF_PAGE} MATCH (n)-[e:PAST_LINK]->(m) WITH n, e, m SKIP $skip LIMIT $rows "
    "RETURN n.id, m.id, properties(e)",
)


def _intern(name: str) -> str:
    """One copy of each repeated text, as the writer keeps it; an absent one stays absent."""
    kept = ", ".join(f"{column}: intern(r.properties.{column})" for column in sorted(REPEATED))
    return f"SET {name} = r.properties SET {name} += {{{kept}}} "


_VECTORS_OF: Final = "{embedding: vecf32(v.embedding), emotion: vecf32(v.emotion)}"

PUT_STAMP: Final = Query(
    "put_stamp", "MATCH (m:SubstrateMeta {key: 'stamp'}) SET m += $properties RETURN count(m)"
)
_TEXTS: Final = ", ".join(f"{name}: intern(r.properties.{name})" for name in REPEATED_STATE_TEXTS)
PUT_LONE: Final = {
    label: Query(
        f"put_{label.lower()}",
        f"UNWIND $rows AS r CREATE (n:{label}) SET n = r.properties "
        f"{f'SET n += {{{_TEXTS}}} ' if label in STATE_LABELS else ''}RETURN count(n)",
    )
    for label in LONE_LABELS
}
PUT_TAGS: Final = Query("put_tags", "UNWIND $rows AS r CREATE (n:Tag) SET n = r.properties RETURN count(n)")
PUT_MEMORIES: Final = Query(
    "put_memories",
    f"UNWIND $rows AS r CREATE (n:ConsciousnessNode) {_intern('n')} "
    "FOREACH (v IN r.present | CREATE (n)-[:HAS_TRACE]->(t:Trace) "
    f"SET t = v.properties SET t += {_VECTORS_OF}) "
    "FOREACH (v IN r.past | CREATE (n)-[:HAS_TRACE]->(t:PastTrace) "
    f"SET t = v.properties SET t += {_VECTORS_OF}) "
    "FOREACH (g IN r.tags | MERGE (x:Tag {name: g.name}) CREATE (n)-[e:TAGGED]->(x) SET e = g.properties) "
    "RETURN count(n)",
)
PUT_RECORDS: Final = Query(
    "put_records",
    "UNWIND $rows AS r MATCH (n:ConsciousnessNode {id: r.of}) "
    "CREATE (p:PastVersion)<-[:HAD]-(n) "
    f"{_intern('p')} "
    "FOREACH (v IN r.past | CREATE (p)-[:HAS_TRACE]->(t:PastTrace) "
    f"SET t = v.properties SET t += {_VECTORS_OF}) "
    "RETURN count(p)",
)
"""Past records, each with the trace of its own."""
SHARE_TRACES: Final = Query(
    "share_traces",
    "UNWIND $rows AS r MATCH (n:ConsciousnessNode {id: r.of}) WITH r, n "
    "MATCH (n)-[:HAD]->(o:PastVersion)-[:HAS_TRACE]->(t:PastTrace) "
    "WHERE o.version = r.shares_trace_of WITH r, n, t "
    "CREATE (p:PastVersion)<-[:HAD]-(n) CREATE (p)-[:HAS_TRACE]->(t) "
    f"{_intern('p')} RETURN count(p)",
)
"""Past records that share the trace of another of the same memory."""


def _link(kind: str) -> str:
    return (
        "UNWIND $rows AS r MATCH (a:ConsciousnessNode {id: r.source_id}) "
        f"MATCH (b:ConsciousnessNode {{id: r.target_id}}) CREATE (a)-[e:{kind}]->(b) "
        f"{_intern('e')} RETURN count(e)"
    )


PUT_LINKS: Final = Query("put_links", _link("LINK"))
PUT_PAST_LINKS: Final = Query("put_past_links", _link("PAST_LINK"))
