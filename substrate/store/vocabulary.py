"""The kinds of memories and links that a graph holds."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from schemas.temporal import END_OF_TIME, Instant
from substrate.connection.errors import GraphMissing
from substrate.cypher import vocabulary as cypher
from substrate.graphs.graph import Graph


class Vocabulary(NamedTuple):
    """Types of memories and of links, commonest first."""

    node_types: tuple[str, ...] = ()
    relation_types: tuple[str, ...] = ()


async def read_vocabulary(graph: Graph) -> Vocabulary:
    """The types in a graph, as far as the first few thousand memories and links show them."""
    try:
        nodes, relations = await asyncio.gather(
            graph.read(cypher.NODE_TYPES),
            graph.read(cypher.RELATION_TYPES),
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
    return [Held(*row) for row in await graph.read(cypher.HELD_OUT, **values)]
