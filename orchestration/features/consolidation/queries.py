"""Reads what a cluster of memories is found by: the memories of a page, who else has their nodes, what was made.

Pages follow the internal id, as in `substrate.store.upkeep`. Every read is bounded, however large the graph is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import batched
from typing import Any, Final, NamedTuple

import orjson

from schemas.memory import GENERALISATION, ConsciousnessNode, GraphKey
from schemas.temporal import END_OF_TIME, Instant
from substrate.connection.pool import Row
from substrate.cypher.fragments import degree_now, found_columns, found_now, tells
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph, Search
from substrate.store import rows
from substrate.store.derived import LINKED

MEMORIES_A_PAGE: Final = 100
AT_ONCE: Final = 50
"""Memories whose contents or vectors one read returns."""
MOST_LINKS: Final = 2000
"""Links that one read returns."""
NEAREST: Final = 64
"""This many traces are asked for a generalisation that says the same: its own members are the nearest of all."""

_OPEN: Final = f"expired_at = {END_OF_TIME}"
_IS_NODE: Final = "o.name_key IS NOT NULL AND toLower(o.node_type) IN $kinds"

PAGE: Final = Query(
    "consolidation_page",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after WITH n LIMIT $rows "
    f"RETURN id(n), n.id, n.{_OPEN}, toLower(n.node_type) IN $kinds, {degree_now('n')} ORDER BY id(n)",
)
"""The next memories: whether each is open, whether it is a node that memories are about, and its links."""

HOLDERS: Final = Query(
    "consolidation_holders",
    "MATCH (o:ConsciousnessNode) WHERE o.id IN $ids WITH o MATCH (n:ConsciousnessNode)-[e:LINK]-(o) "
    f"WHERE e.{_OPEN} AND n.{_OPEN} WITH DISTINCT n LIMIT {MOST_LINKS} RETURN n.id",
)
"""The memories that are linked with some nodes."""

NODES: Final = Query(
    "consolidation_nodes",
    "MATCH (n:ConsciousnessNode) WHERE n.id IN $ids WITH n MATCH (n)-[e:LINK]-(o:ConsciousnessNode) "
    f"WHERE e.{_OPEN} AND o.{_OPEN} AND {_IS_NODE} "
    f"WITH DISTINCT n.id AS id, o.id AS node LIMIT {MOST_LINKS} RETURN id, node",
)
"""The nodes that some memories are about."""

NODE_NAMES: Final = Query(
    "consolidation_node_names",
    f"MATCH (o:ConsciousnessNode) WHERE o.id IN $ids RETURN o.id, o.name, o.name_key, {degree_now('o')}",
)

CONTENTS: Final = Query(
    "consolidation_contents",
    f"MATCH (n:ConsciousnessNode) WHERE n.id IN $ids WITH n WHERE n.{_OPEN} AND {tells('n')} "
    f"RETURN {found_columns('n')}",
)

MADE: Final = Query(
    "consolidation_made",
    "MATCH (g:ConsciousnessNode) WHERE g.id IN $ids WITH g MATCH (g)-[e:LINK|PAST_LINK]->(n) "
    f"WHERE e.relation_type = '{LINKED}' RETURN g.id, g.{_OPEN}, g.version, g.invalid_at, g.created_at, "
    f"g.extra, n.id, n.{_OPEN}, type(e) = 'LINK' AND e.{_OPEN}",
)
"""Each member, also of the past, of some generalisations, with whether the member and its link are open."""

SAME_WORDS: Final = Query(
    "consolidation_same_words",
    found_now(f"s.node_type = '{GENERALISATION}' AND s.{_OPEN} AND s.abstraction = $abstraction")
    + "RETURN 1.0 - score ORDER BY score LIMIT 1",
)
"""The cosine of the nearest generalisation."""


class PageRow(NamedTuple):
    """A memory of a page. `is_node`: it is somebody or something that memories are about."""

    place: int
    id: str
    is_open: bool
    is_node: bool
    links: int


class NodeName(NamedTuple):
    """A node: its name, as it is and in the form in which names are compared, and the number of its links."""

    name: str
    key: str
    links: int


class StoredGeneralisation(NamedTuple):
    """A generalisation with its members. `linked`: those to which it has an open link; `visible`: those of them
    that hold still; `left`: those that it had once."""

    id: str
    live: bool
    version: int
    invalid_at: Instant
    created_at: Instant
    extra: Mapping[str, Any]
    linked: frozenset[str]
    visible: frozenset[str]
    left: frozenset[str]


async def read_page(graph: Graph, after: int, kinds: Collection[str]) -> list[PageRow]:
    """The next memories after the internal id `after`; empty at the end, and for a graph that does not exist.

    `kinds`: the types, in lower case, of nodes that memories are about.
    """
    found = await graph.read_existing(PAGE, after=after, rows=MEMORIES_A_PAGE, kinds=sorted(kinds))
    return [
        PageRow(place, id_, _true(is_open), _true(is_node), links) for place, id_, is_open, is_node, links in found
    ]


async def read_holders(graph: Graph, nodes: Sequence[str]) -> list[str]:
    """The ids of the memories that are linked with the nodes, at most `MOST_LINKS`."""
    return [row[0] for row in await graph.read_existing(HOLDERS, ids=list(nodes))] if nodes else []


async def read_nodes(graph: Graph, ids: Sequence[str], kinds: Collection[str]) -> dict[str, set[str]]:
    """The ids of the nodes that each memory is about."""
    nodes: dict[str, set[str]] = {}
    for some in batched(ids, AT_ONCE):
        for memory, node in await graph.read_existing(NODES, ids=list(some), kinds=sorted(kinds)):
            nodes.setdefault(memory, set()).add(node)
    return nodes


async def read_names(graph: Graph, nodes: Collection[str]) -> dict[str, NodeName]:
    """The names of nodes, by id."""
    found = await graph.read_existing(NODE_NAMES, ids=sorted(nodes)) if nodes else []
    return {node: NodeName(name, key or "", links) for node, name, key, links in found}


async def read_contents(graph: Graph, ids: Sequence[str], key: GraphKey) -> list[ConsciousnessNode]:
    """The open records of some memories that say something; of a long text the beginning."""
    found: list[ConsciousnessNode] = []
    for some in batched(ids, AT_ONCE):
        found += [rows.node(row, key) for row in await graph.read_existing(CONTENTS, ids=list(some))]
    return found


async def read_made(graph: Graph, ids: Iterable[str]) -> list[StoredGeneralisation]:
    """The generalisations with these ids, with their members; one without any member is left out."""
    found: dict[str, list[Row]] = {}
    for some in batched(sorted(ids), AT_ONCE):
        for row in await graph.read_existing(MADE, ids=list(some)):
            found.setdefault(row[0], []).append(row)
    made: list[StoredGeneralisation] = []
    for id_, members in sorted(found.items()):
        _, live, version, invalid_at, created_at, extra, *_ = members[0]
        linked = frozenset(row[6] for row in members if _true(row[8]))
        visible = frozenset(row[6] for row in members if row[6] in linked and _true(row[7]))
        left = frozenset(row[6] for row in members) - linked
        known = orjson.loads(extra) if extra else {}
        made.append(
            StoredGeneralisation(id_, _true(live), version, invalid_at, created_at, known, linked, visible, left)
        )
    return made


async def nearest_generalisation(graph: Graph, embedding: Sequence[float], abstraction: str) -> float:
    """The greatest cosine of an open generalisation of this abstraction with a vector; −1 where none is near."""
    near = Search(embedding, NEAREST, open_only=True)
    found = await graph.read_existing(SAME_WORDS, near=near, abstraction=abstraction)
    return float(found[0][0]) if found else -1.0


def _true(stored: Any) -> bool:
    return stored in (True, "true")
