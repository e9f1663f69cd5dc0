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


CLOCK_OF_MEMORIES: Final = _clock("clock_of_memories", "ConsciousnessNode", "", _known("n"))
CLOCK_OF_VERSIONS: Final = _clock("clock_of_versions", "PastVersion", "", _known("n"))
CLOCK_OF_LINKS: Final = _clock(
    "clock_of_links", "ConsciousnessNode", "OPTIONAL MATCH (n)-[e:LINK|PAST_LINK]->() ", _known("e")
)
"""The clock of a graph is not before any moment that its records name."""
