"""What lists a graph page by page, in the order in which its memories lie.

Pages go by the internal id, as those of upkeep do: a page costs the same wherever it lies.
"""

from __future__ import annotations

from typing import Final

from substrate.cypher.fragments import fits, link_columns, node_columns, visible
from substrate.cypher.query import Query

PLACES: Final = Query(
    "places",
    "MATCH (i:ConsciousnessNode) WHERE id(i) >= $first WITH i LIMIT $rows RETURN max(id(i)), count(i)",
)
"""Where the next so many memories end, and how many they are."""

_MEMBERS: Final = "MATCH (t:Tag {name: $label}) WITH t MATCH (i:ConsciousnessNode)-[:TAGGED]->(t) "

PLACES_OF_LABEL: Final = Query(
    "places_of_label",
    f"{_MEMBERS} WHERE id(i) >= $first WITH i ORDER BY id(i) LIMIT $rows RETURN max(id(i)), count(i)",
)
"""The same of the memories that have a label now."""

_OF_PAGE: Final = "MATCH (i:ConsciousnessNode) WHERE id(i) >= $first AND id(i) <= $last WITH i "


def _of(name: str, kind: str) -> str:
    """Whether the record is of the type, the source and the key that are asked for, if they are."""
    return (
        f"($kind IS NULL OR {name}.{kind} = $kind) AND ($source IS NULL OR {name}.source = $source) "
        f"AND ($key_id IS NULL OR {name}.key_id = $key_id) "
    )


_RECORDS: Final = (
    f"OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion) WHERE {visible('p')} WITH i, collect(p) AS past "
    f"UNWIND (past + CASE WHEN {visible('i')} THEN [i] ELSE [] END) AS m "
    f"WITH i, m WHERE {_of('m', 'node_type')}AND {fits('m')} "
    f"RETURN id(i), {node_columns('m')} ORDER BY id(i), m.version LIMIT $limit"
)

LIST_MEMORIES: Final = Query("list_memories", f"{_OF_PAGE} {_RECORDS}")
"""The records of a range of memories that a scope sees."""

LIST_OF_LABEL: Final = Query(
    "list_of_label", f"{_MEMBERS} WHERE id(i) >= $first AND id(i) <= $last WITH i {_RECORDS}"
)
"""The same of the memories that have a label now."""

LIST_LINKS: Final = Query(
    "list_links",
    f"{_OF_PAGE} MATCH (i)-[e:LINK|PAST_LINK]->(j) WHERE {visible('e')} "
    f"AND (id(i) > $first OR e.id > $behind) AND {_of('e', 'relation_type')}"
    f"RETURN id(i), i.id, j.id, {link_columns('e')} ORDER BY id(i), e.id LIMIT $limit",
)
"""The link records that begin at a range of memories and that a scope sees; of the first, those behind an id."""
