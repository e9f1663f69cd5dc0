"""What a graph uses: its types of memories and links, the values that a filter may name, links from a memory."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
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
        nodes, relations = await asyncio.gather(graph.read(NODE_TYPES), graph.read(RELATION_TYPES))
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


COLUMNS: Final[Mapping[str, str]] = {
    "node_types": "node_type",
    "speakers": "speaker",
    "episodes": "episode_id",
    "sources": "source",
}
"""The column of a memory for each filter that takes one of several values."""
MOST_VALUES: Final = 2_000
"""At most this many different values of a column are read to find one that was meant."""
MANY: Final = 2_000
"""This many records are counted; then the values are not rare, and counting on would take longer than it saves."""


def _count_of(column: str, label: str) -> str:
    return f"MATCH (m:{label}) WHERE m.{column} IN $values RETURN m.{column} AS value LIMIT {MANY + 1}"


COUNTS: Final = {
    name: Query(
        f"count_{name}",
        f"CALL {{ {_count_of(column, 'ConsciousnessNode')} UNION ALL {_count_of(column, 'PastVersion')} }} "
        "RETURN value, count(value)",
    )
    for name, column in COLUMNS.items()
}
"""By filter: how many records have each of its values, past records too; of each kind at most `MANY` and one."""

VALUES: Final = {
    name: Query(
        f"values_of_{name}",
        f"MATCH (m:ConsciousnessNode) WHERE m.{column} IS NOT NULL WITH m.{column} AS value, count(m) AS held "
        f"RETURN value ORDER BY held DESC, value LIMIT {MOST_VALUES}",
    )
    for name, column in COLUMNS.items()
}
"""By filter: the values that memories have, the most frequent first."""

LABELS: Final = Query(
    "labels",
    "MATCH (t:Tag) WITH t.name AS name, indegree(t, 'TAGGED') AS held, indegree(t, 'MADE_TAG') AS made "
    "WHERE held > 0 OR made = 0 "
    f"RETURN name ORDER BY held DESC, name LIMIT {MOST_VALUES}",
)
"""`#tags` and `@buckets`, the most frequent first."""


async def count_values(graph: Graph, name: str, values: Sequence[str]) -> dict[str, int]:
    """How many records have each of the values of a filter; values that none has are left out. With more than
    `MANY` in all, each count is only a lower bound."""
    counts: Counter[str] = Counter()
    left = list(values)
    while left:
        rows = await graph.read(COUNTS[name], values=left)
        for value, held in rows:
            counts[str(value)] += int(held)
        if sum(int(held) for _, held in rows) <= MANY:
            break  # all were counted: who is left has no record
        left = [value for value in left if value not in counts]
    return dict(counts)


async def read_values(graph: Graph, name: str) -> list[str]:
    """The values that a filter can take here, the most frequent first, at most `MOST_VALUES`."""
    return [str(row[0]) for row in await graph.read(VALUES[name])]


async def read_labels(graph: Graph) -> list[str]:
    """The `#tags` and `@buckets` of a graph, the most frequent first, at most `MOST_VALUES`."""
    return [str(row[0]) for row in await graph.read(LABELS)]
