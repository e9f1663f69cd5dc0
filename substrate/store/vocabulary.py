"""The kinds of memories and links that a graph holds."""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from schemas.temporal import END_OF_TIME, Instant
from substrate.connection.errors import GraphMissing
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

LOOKED_AT: Final = 5_000
"""So many memories or links are looked at: a whole graph would take too long for one question."""

KINDS: Final = 40

NODE_TYPES: Final = Query(
    "node_types",
    f"MATCH (m:ConsciousnessNode) WITH m LIMIT {LOOKED_AT} "
    f"RETURN m.node_type, count(m) AS held ORDER BY held DESC, m.node_type LIMIT {KINDS}",
)
"""The commonest types of memories."""

RELATION_TYPES: Final = Query(
    "relation_types",
    f"MATCH (:ConsciousnessNode)-[e:LINK]->() WITH e LIMIT {LOOKED_AT} "
    f"RETURN e.relation_type, count(e) AS held ORDER BY held DESC, e.relation_type LIMIT {KINDS}",
)
"""The commonest types of links."""

HELD_OUT: Final = Query(
    "held_out",
    "MATCH (s:ConsciousnessNode {id: $id})-[e:LINK]->(t) WHERE e.relation_type = $kind AND e.expired_at = $open "
    "AND e.valid_at < $at AND e.invalid_at > $at RETURN e.id, t.id, e.version ORDER BY e.id",
)
"""The links of a type that begin at a memory and hold at a moment, having begun before it."""


class Vocabulary(NamedTuple):
    """Types of memories and of links, commonest first."""

    node_types: tuple[str, ...] = ()
    relation_types: tuple[str, ...] = ()


async def read_vocabulary(graph: Graph) -> Vocabulary:
    """The types in a graph, as far as the first few thousand memories and links show them."""
    try:
        nodes, relations = await asyncio.gather(
            graph.read(NODE_TYPES),
            graph.read(RELATION_TYPES),
        )
    except GraphMissing:
        return Vocabulary()
    return Vocabulary(tuple(row[0] for row in nodes), tuple(row[0] for row in relations))


def merged(vocabularies: list[Vocabulary]) -> Vocabulary:
    """The types of several graphs, each once."""
    nodes = dict.fromkeys(name for one in vocabularies for name in one.node_types)
    relations = dict.fromkeys(name for one in vocabularies for name in one.relation_types)
    return Vocabulary(tuple(nodes), tuple(relations))


class Held(NamedTuple):
    """A link that holds: its id, where it leads, the version of its record."""

    link_id: str
    target_id: str
    version: int


async def held_out(graph: Graph, of: tuple[str, str], at: Instant) -> list[Held]:
    """The links that hold at a moment and began before it; `of`: the memory they begin at, their type."""
    values = {"id": of[0], "kind": of[1], "at": at, "open": END_OF_TIME}
    return [Held(*row) for row in await graph.read(HELD_OUT, **values)]
