"""What reads one memory or one link: the record that a moment sees, and all of them a page at a time.

Of the moment only one record can be: none of an identity overlaps another on both axes. Therefore the past is
walked only where the record that the identity carries is not the one.
"""

from __future__ import annotations

from typing import Final

from substrate.cypher.fragments import PROVENANCE, columns_of, link_columns, node_columns, visible
from substrate.cypher.query import Query


def _node(name: str) -> str:
    return f"{node_columns(name)}, {columns_of(name, PROVENANCE)}"


def _link(name: str) -> str:
    return f"{link_columns(name)}, {columns_of(name, PROVENANCE)}"


MEMORY_SEEN: Final = Query(
    "memory_seen",
    f"MATCH (i:ConsciousnessNode {{id: $id}}) WITH i, {visible('i')} AS carried "
    "UNWIND [CASE WHEN carried THEN null ELSE i END] AS j "
    f"OPTIONAL MATCH (j)-[:HAD]->(p:PastVersion) WHERE {visible('p')} "
    "WITH i, carried, p ORDER BY p.created_at DESC, p.valid_at DESC LIMIT 1 "
    f"WITH CASE WHEN carried THEN i ELSE p END AS n RETURN {_node('n')}",
)
"""The record of a memory that a scope of one moment sees; a row of nulls for one that is not there then."""

_OF_LINK: Final = (
    f"WITH now, known, count(p) AS gone, collect(CASE WHEN {visible('p')} THEN p ELSE null END) AS past "
    "WITH known + gone AS known, now + past AS seen "
    "WITH known, CASE WHEN size(seen) > 0 THEN seen[0] ELSE null END AS e "
    f"RETURN known, startNode(e).id, endNode(e).id, {_link('e')}"
)

LINK_SEEN: Final = Query(
    "link_seen",
    "MATCH (a:ConsciousnessNode {id: $source_id}) MATCH (b:ConsciousnessNode {id: $target_id}) "
    "WITH a, b LIMIT 1 OPTIONAL MATCH (a)-[e:LINK]->(b) WHERE e.id = $id WITH a, b, collect(e) AS held "
    f"WITH a, b, [e IN held WHERE {visible('e')}] AS now, size(held) AS known "
    "UNWIND [CASE WHEN size(now) > 0 THEN null ELSE a END] AS s "
    f"OPTIONAL MATCH (s)-[p:PAST_LINK]->(b) WHERE p.id = $id {_OF_LINK}",
)
"""How many records of a link were looked at, and the one that a scope of one moment sees, led by its ends."""

NAMED_LINK_SEEN: Final = Query(
    "named_link_seen",
    "OPTIONAL MATCH ()-[e:LINK {handle: $handle}]->() WHERE e.id = $id WITH collect(e) AS held "
    f"WITH [e IN held WHERE {visible('e')}] AS now, size(held) AS known "
    "UNWIND [CASE WHEN size(now) > 0 THEN null ELSE $handle END] AS handle "
    f"OPTIONAL MATCH ()-[p:PAST_LINK {{handle: handle}}]->() WHERE p.id = $id {_OF_LINK}",
)
"""The same of a link with an id of its own."""


def _behind(name: str) -> str:
    """Known before `$known_to`, and behind the place where the page before ended."""
    return (
        f"{name}.created_at < $known_to AND ({name}.created_at > $known_at "
        f"OR ({name}.created_at = $known_at AND {name}.valid_at > $held_at))"
    )


def _first(name: str, carried: str) -> str:
    return f"WITH {carried} ORDER BY {name}.created_at, {name}.valid_at LIMIT $limit "


HISTORY_PAGE: Final = Query(
    "history_page",
    "MATCH (i:ConsciousnessNode {id: $id}) "
    f"OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion) WHERE {_behind('p')} WITH i, collect(p) AS past "
    f"UNWIND past + CASE WHEN {_behind('i')} THEN [i] ELSE [] END AS n {_first('n', 'n')} RETURN {_node('n')}",
)
"""The next records of a memory, in the order in which they became known."""

_LINK_PAGE: Final = (
    f"WHERE e.id = $id AND {_behind('e')} {_first('e', 'a, e, b')} "
    f"RETURN a.id, b.id, {_link('e')}, e.created_at AS known, e.valid_at AS held "
)

LINK_HISTORY_PAGE: Final = Query(
    "link_history_page",
    "MATCH (a:ConsciousnessNode {id: $source_id}) MATCH (b:ConsciousnessNode {id: $target_id}) "
    f"WITH a, b LIMIT 1 MATCH (a)-[e:LINK|PAST_LINK]->(b) {_LINK_PAGE}",
)
"""The next records of a link that is found through its ends; last its place."""

NAMED_LINK_HISTORY_PAGE: Final = Query(
    "named_link_history_page",
    f"MATCH (a)-[e:LINK {{handle: $handle}}]->(b) {_LINK_PAGE} "
    f"UNION ALL MATCH (a)-[e:PAST_LINK {{handle: $handle}}]->(b) {_LINK_PAGE}",
)
"""The same of a link with an id of its own, of either side as many."""

CLOCK: Final = Query("clock", "MATCH (m:SubstrateMeta {key: 'stamp'}) RETURN m.clock LIMIT 1")
"""The last transaction time of a graph."""
