"""Queries for indexes and constraints, and for the stamp of a graph: its schema version and embedding."""

from __future__ import annotations

from typing import Final

from substrate.cypher.query import Query

SCHEMA_VERSION: Final = 11
"""Graphs with an older version are migrated by `substrate.graphs.migrations`."""

INDEXES: Final = (
    Query("index_node_id", "CREATE INDEX FOR (n:ConsciousnessNode) ON (n.id)"),
    Query("index_node_name", "CREATE INDEX FOR (n:ConsciousnessNode) ON (n.name_key)"),
    Query("index_node_text", "CREATE INDEX FOR (n:ConsciousnessNode) ON (n.text_key)"),
    Query("index_node_state", "CREATE INDEX FOR (n:ConsciousnessNode) ON (n.resolution_state)"),
    Query("index_past_state", "CREATE INDEX FOR (n:PastVersion) ON (n.resolution_state)"),
    Query("index_node_rule", "CREATE INDEX FOR (n:ConsciousnessNode) ON (n.rule)"),
    Query("index_past_rule", "CREATE INDEX FOR (n:PastVersion) ON (n.rule)"),
    Query("index_past_id", "CREATE INDEX FOR (n:PastVersion) ON (n.id)"),
    Query("index_past_name", "CREATE INDEX FOR (n:PastVersion) ON (n.name_key)"),
    Query("index_node_begun", "CREATE INDEX FOR (n:ConsciousnessNode) ON (n.valid_at)"),
    Query("index_past_begun", "CREATE INDEX FOR (n:PastVersion) ON (n.valid_at)"),
    Query("index_node_emotions", "CREATE INDEX FOR (n:ConsciousnessNode) ON (n.emotions)"),
    Query("index_past_emotions", "CREATE INDEX FOR (n:PastVersion) ON (n.emotions)"),
    Query("index_tag_name", "CREATE INDEX FOR (n:Tag) ON (n.name)"),
    Query("index_receipt_command", "CREATE INDEX FOR (n:Receipt) ON (n.command_id)"),
    Query("index_receipt_created", "CREATE INDEX FOR (n:Receipt) ON (n.created_at)"),
    Query("index_receipt_moved", "CREATE INDEX FOR (n:Receipt) ON (n.moved_at)"),
    Query("index_event_created", "CREATE INDEX FOR (e:Event) ON (e.created_at)"),
    Query("index_state_version", "CREATE INDEX FOR (s:PastState) ON (s.version)"),
    Query("index_state_begun", "CREATE INDEX FOR (s:PastState) ON (s.valid_at)"),
    Query("index_state_cell", "CREATE INDEX FOR (s:PastState) ON (s.cell)"),
    Query("index_passage_memory", "CREATE INDEX FOR (q:Passage) ON (q.memory_id)"),
    Query("index_passage_handle", "CREATE INDEX FOR (q:Passage) ON (q.handle)"),
    Query("index_change_page", "CREATE INDEX FOR (c:UpkeepChange) ON (c.page)"),
    Query("index_change_command", "CREATE INDEX FOR (c:UpkeepChange) ON (c.command_id)"),
    Query("index_change_target", "CREATE INDEX FOR (c:UpkeepChange) ON (c.target)"),
    Query("index_note_id", "CREATE INDEX FOR (s:StreamNote) ON (s.id)"),
    Query("index_note_at", "CREATE INDEX FOR (s:StreamNote) ON (s.at)"),
    Query("index_context_memory", "CREATE INDEX FOR (c:ContextNote) ON (c.memory_id)"),
    Query("index_context_command", "CREATE INDEX FOR (c:ContextNote) ON (c.command_id)"),
    Query("index_past_link_handle", "CREATE INDEX FOR ()-[e:PAST_LINK]-() ON (e.handle)"),
    Query("index_link_handle", "CREATE INDEX FOR ()-[e:LINK]-() ON (e.handle)"),
    Query(
        "fulltext_node",
        "CREATE FULLTEXT INDEX FOR (n:ConsciousnessNode) "
        "ON (n.name, n.description, n.search_text, n.entity_names)",
    ),
    Query(
        "fulltext_past",
        "CREATE FULLTEXT INDEX FOR (n:PastVersion) ON (n.name, n.description, n.search_text, n.entity_names)",
    ),
    Query("fulltext_passage", "CREATE FULLTEXT INDEX FOR (q:Passage) ON (q.text, q.search_text)"),
)
"""Indexes that do not depend on the embedder.

Of the times of memories only `valid_at` has a range index, for searches that name both ends of a period. The other
conditions on time hide the column from it (`fragments.visible`): with the index, they are answered more slowly.
"""

UNIQUE: Final = (("ConsciousnessNode", "id"), ("Tag", "name"), ("Receipt", "command_id"))
"""Constraints: label and property."""


_TRACES: Final = ("Trace", "PastTrace", "PassageTrace")
OTHER_TRACES: Final = ("OtherTrace", "OtherPastTrace", "OtherPassageTrace")


def vector_indexes(dimension: int, labels: tuple[str, ...] = _TRACES) -> tuple[Query, ...]:
    """The vector indexes of the labels, for a graph that has no vector sets; none for `dimension` 0."""
    return tuple(
        Query(
            f"vector_{label.lower()}_embedding",
            f"CREATE VECTOR INDEX FOR (n:{label}) ON (n.embedding) OPTIONS "
            f"{{dimension: {int(dimension)}, similarityFunction: 'cosine', "
            "M: 16, efConstruction: 200, efRuntime: 100}",
        )
        for label in labels
        if dimension
    )


DROP_OTHER_INDEXES: Final = tuple(
    Query(f"drop_{label.lower()}_{column}", f"DROP VECTOR INDEX FOR (n:{label}) ON (n.{column})")
    for label in OTHER_TRACES
    for column in (("embedding",) if label == "OtherPassageTrace" else ("embedding", "emotion"))
)
"""Drop the vector indexes of the generation that is not in use."""

UNREADY: Final = Query(
    "unready",
    "CALL db.indexes() YIELD label, status WITH label, status WHERE status <> 'OPERATIONAL' "
    "RETURN label, status UNION ALL "
    "CALL db.constraints() YIELD label, status WITH label, status WHERE status <> 'OPERATIONAL' "
    "RETURN label, status",
)

REST_INDEX: Final = Query("rest_index", "CREATE INDEX FOR (n:Rest) ON (n.id)")
READ_STAMP: Final = Query(
    "read_stamp",
    "MATCH (m:SubstrateMeta) RETURN m.schema_version, m.embedding_model, m.dimension, m.created_at, "
    "coalesce(m.generation, 0), m.other_model, m.other_dimension, m.other_state, "
    "coalesce(m.likeness, 'index'), coalesce(m.pending_until, 0), coalesce(m.feedback_at, 0), "
    "coalesce(m.clock, 0), coalesce(m.shifts, 0), m.changes_until LIMIT 1",
)
WRITE_STAMP: Final = Query(
    "write_stamp",
    "MERGE (m:SubstrateMeta {key: 'stamp'}) "
    "ON CREATE SET m.schema_version = $schema_version, m.embedding_model = $embedding_model, "
    "m.dimension = $dimension, m.created_at = $now, m.likeness = $likeness, m.changes_until = 0, "
    "m.shifts = timestamp()",
)
"""One that was erased and is told again as it happened is made at the same `$now`: its `shifts` tell it apart."""
COUNTS: Final = Query(
    "counts",
    "CALL db.meta.stats() YIELD labels, relTypes RETURN labels.ConsciousnessNode, labels.PastVersion, "
    "labels.Trace, labels.PastTrace, relTypes.LINK, relTypes.PAST_LINK",
)
