"""Reads which of the values that a filter names a graph holds, how often, and which others it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

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
    """How many records have each of the values of a filter; values that none has are left out.

    With more than `MANY` in all, each count is only a lower bound.
    """
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
