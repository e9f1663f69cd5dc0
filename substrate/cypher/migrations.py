"""What each migration changes, in the words of its time: a statement stands here as it was when it was written."""

from __future__ import annotations

from typing import Final

from substrate.cypher.query import Query

SET_VERSION: Final = Query(
    "set_version",
    "MATCH (m:SubstrateMeta {key: 'stamp'}) WHERE m.schema_version = $number - 1 "
    "SET m.schema_version = $number RETURN m.schema_version",
)
"""The last step of each migration. No row: another process has taken it."""

INDEX_RECEIPT: Final = Query("index_receipt", "CREATE INDEX FOR (n:Receipt) ON (n.command_id)")
INDEX_PAST_LINK: Final = Query("index_past_link", "CREATE INDEX FOR ()-[e:PAST_LINK]-() ON (e.handle)")
INDEX_TEXT: Final = Query("index_text", "CREATE INDEX FOR (n:ConsciousnessNode) ON (n.text_key)")
INDEX_STATE: Final = Query("index_state", "CREATE INDEX FOR (n:ConsciousnessNode) ON (n.resolution_state)")
INDEX_PAST_STATE: Final = Query("index_past_state", "CREATE INDEX FOR (n:PastVersion) ON (n.resolution_state)")


def _known(name: str) -> str:
    """The last moment at which the record was touched."""
    return f"CASE WHEN {name}.expired_at = $open THEN {name}.created_at ELSE {name}.expired_at END"


def _clock(name: str, label: str, links: str, latest: str) -> Query:
    return Query(
        name,
        f"MATCH (m:SubstrateMeta {{key: 'stamp'}}) WITH m MATCH (n:{label}) WHERE id(n) > $after "
        f"WITH m, n LIMIT $rows {links} WITH m, max(id(n)) AS last, max({latest}) AS latest "
        "SET m.clock = CASE WHEN coalesce(latest, 0) > coalesce(m.clock, 0) THEN latest ELSE m.clock END "
        "RETURN last",
    )


INDEX_STATE_VERSION: Final = Query("index_state_version", "CREATE INDEX FOR (s:PastState) ON (s.version)")
INDEX_STATE_BEGUN: Final = Query("index_state_begun", "CREATE INDEX FOR (s:PastState) ON (s.valid_at)")
INDEX_STATE_CELL: Final = Query("index_state_cell", "CREATE INDEX FOR (s:PastState) ON (s.cell)")
FIRST_STATE: Final = Query(
    "first_state",
    "MATCH (m:SubstrateMeta {key: 'stamp'}) WITH m "
    "MATCH (s:CitizenState) WHERE id(s) > $after AND s.version IS NULL "
    "WITH m, s, coalesce(s.updated_at, m.created_at) AS told LIMIT $rows "
    "SET s.version = 1, s.valid_at = told, s.invalid_at = $open, s.created_at = told, s.expired_at = $open, "
    "s.key = null, s.updated_at = null, "
    "m.clock = CASE WHEN told > coalesce(m.clock, 0) THEN told ELSE m.clock END RETURN id(s)",
)
"""What was kept of a state is the first record of it, known and held since it was set last."""
CLOCK_OF_MEMORIES: Final = _clock("clock_of_memories", "ConsciousnessNode", "", _known("n"))
CLOCK_OF_VERSIONS: Final = _clock("clock_of_versions", "PastVersion", "", _known("n"))
CLOCK_OF_LINKS: Final = _clock(
    "clock_of_links", "ConsciousnessNode", "OPTIONAL MATCH (n)-[e:LINK|PAST_LINK]->() ", _known("e")
)
"""The clock of a graph is not before any moment that its records name."""
