"""The types of memories and links that a graph uses, and the links that leave a memory."""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from schemas.temporal import END_OF_TIME, Instant
from substrate.connection.errors import GraphMissing
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

SAMPLE: Final = 5_000
"""How many memories or links are counted: counting a whole graph would take too long."""
MAX_TYPES: Final = 40

NODE_TYPES: Final = Query(
    "node_types",
    f"MATCH (m:ConsciousnessNode) WITH m LIMIT {SAMPLE} "
    f"RETURN m.node_type, count(m) AS held ORDER BY held DESC, m.node_type LIMIT {MAX_TYPES}",
)
"""Rows: type, count; the most frequent type first."""

RELATION_TYPES: Final = Query(
    "relation_types",
    f"MATCH (:ConsciousnessNode)-[e:LINK]->() WITH e LIMIT {SAMPLE} "
    f"RETURN e.relation_type, count(e) AS held ORDER BY held DESC, e.relation_type LIMIT {MAX_TYPES}",
)

LINKS_FROM: Final = Query(
    "held_out",
    "MATCH (s:ConsciousnessNode {id: $id})-[e:LINK]->(t) WHERE e.relation_type = $kind AND e.expired_at = $open "
    "AND e.valid_at < $at AND e.invalid_at > $at RETURN e.id, t.id, e.version ORDER BY e.id",
)
"""Links of a type from a memory that hold at a moment and began before it."""


class Vocabulary(NamedTuple):
    """Types of memories and of links, the most frequent first."""

    node_types: tuple[str, ...] = ()
    relation_types: tuple[str, ...] = ()


async def read_vocabulary(graph: Graph) -> Vocabulary:
    """Return the types of the first 5,000 memories and links of a graph; empty when the graph does not exist."""
    try:
        nodes, relations = await asyncio.gather(
            graph.read(NODE_TYPES),
            graph.read(RELATION_TYPES),
        )
    except GraphMissing:
        return Vocabulary()
    return Vocabulary(tuple(name for name, _ in nodes), tuple(name for name, _ in relations))


def merge_vocabularies(vocabularies: list[Vocabulary]) -> Vocabulary:
    """Return the types of several graphs, each once."""
    nodes: dict[str, None] = {}
    relations: dict[str, None] = {}
    for vocabulary in vocabularies:
        nodes.update(dict.fromkeys(vocabulary.node_types))
        relations.update(dict.fromkeys(vocabulary.relation_types))
    return Vocabulary(tuple(nodes), tuple(relations))


class OutgoingLink(NamedTuple):
    """A link to a memory, and the version of its record."""

    link_id: str
    target_id: str
    version: int


async def links_from(graph: Graph, memory_id: str, *, relation_type: str, at: Instant) -> list[OutgoingLink]:
    """Return the links of a type from a memory that hold at `at` and began before it, by id."""
    rows = await graph.read(LINKS_FROM, id=memory_id, kind=relation_type, at=at, open=END_OF_TIME)
    return [OutgoingLink(*row) for row in rows]
