"""Listing a graph page by page: the records visible in a scope, in a stable order.

Pages follow the internal id, so that a page costs the same wherever it begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from schemas.temporal import Scope
from substrate.connection.pool import Row
from substrate.cypher.fragments import fits, found_columns, link_columns, records_of, visible
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.filters import GENERALISED, UNFILTERED

MEMORIES_A_READ: Final = 500

NEXT_RANGE: Final = Query(
    "places", "MATCH (i:ConsciousnessNode) WHERE id(i) >= $first WITH i LIMIT $rows RETURN max(id(i)), count(i)"
)
"""Row: the internal id of the last of the next memories, and how many there are."""

_MEMBERS: Final = "MATCH (t:Tag {name: $label}) WITH t MATCH (i:ConsciousnessNode)-[:TAGGED]->(t) "

NEXT_RANGE_OF_LABEL: Final = Query(
    "places_of_label",
    f"{_MEMBERS} WHERE id(i) >= $first WITH i ORDER BY id(i) LIMIT $rows RETURN max(id(i)), count(i)",
)
"""The same for the memories that have a label now."""

_IN_RANGE: Final = "MATCH (i:ConsciousnessNode) WHERE id(i) >= $first AND id(i) <= $last WITH i "


def _matches(name: str, kind: str) -> str:
    """Predicate: the record has the requested type, source and key; null means any."""
    return (
        f"($kind IS NULL OR {name}.{kind} = $kind) AND ($source IS NULL OR {name}.source = $source) "
        f"AND ($key_id IS NULL OR {name}.key_id = $key_id) "
    )


_RECORDS: Final = (
    f"{records_of('i', 'm')}WHERE {_matches('m', 'node_type')}AND {fits('m')} "
    f"RETURN id(i), {found_columns('m')} ORDER BY id(i), m.version LIMIT $limit"
)

LIST_MEMORIES: Final = Query("list_memories", f"{_IN_RANGE} {_RECORDS}")
"""The visible records of a range of memories."""

LIST_OF_LABEL: Final = Query(
    "list_of_label", f"{_MEMBERS} WHERE id(i) >= $first AND id(i) <= $last WITH i {_RECORDS}"
)
"""The same for the memories that have a label now."""

LIST_LINKS: Final = Query(
    "list_links",
    f"{_IN_RANGE} MATCH (i)-[e:LINK|PAST_LINK]->(j) WHERE {visible('e')} "
    f"AND (id(i) > $first OR e.id > $behind) AND {_matches('e', 'relation_type')}"
    f"RETURN id(i), i.id, j.id, {link_columns('e')} ORDER BY id(i), e.id LIMIT $limit",
)
"""The visible links from a range of memories; of its first memory only those after `$behind`."""


class ListPosition(NamedTuple):
    """Where a page begins: at the memory with the internal id `first`; for links, after its link `behind`."""

    first: int = 0
    behind: str = ""


class ListQuery(NamedTuple):
    """A request for at most `limit` records; None means any `kind` (of memory or link), `source` or `key_id`.

    `filters` are the values of `substrate.store.search`. `label` is one of their labels. It may be set only when
    every memory that the scope can return has the label now; then only the memories with the label are read.
    """

    scope: Scope
    kind: str | None
    limit: int
    filters: Mapping[str, Any] = UNFILTERED
    label: str | None = None
    source: str | None = None
    key_id: str | None = None


class ListPage(NamedTuple):
    """Rows, and where the next page begins; None at the end."""

    rows: list[Row]
    after: ListPosition | None


async def list_memories(graph: Graph, query: ListQuery, start: ListPosition) -> ListPage:
    """Rows of `NODE_COLUMNS`."""
    text = LIST_MEMORIES if query.label is None else LIST_OF_LABEL
    rows, more = await _collect(graph, text, query, start)
    return ListPage([row[1:] for row in rows], ListPosition(rows[-1][0] + 1) if more else None)


async def list_links(graph: Graph, query: ListQuery, start: ListPosition) -> ListPage:
    """Rows of the ids of both ends, then `LINK_COLUMNS`."""
    rows, more = await _collect(graph, LIST_LINKS, query, start)
    return ListPage([row[1:] for row in rows], ListPosition(rows[-1][0], rows[-1][3]) if more else None)


async def _collect(graph: Graph, text: Query, query: ListQuery, start: ListPosition) -> tuple[list[Row], bool]:
    """Return at most `limit` rows, each with the internal id of its memory first, and whether more may follow."""
    next_range = NEXT_RANGE if query.label is None else NEXT_RANGE_OF_LABEL
    only = {"kind": query.kind, "label": query.label, "source": query.source, "key_id": query.key_id}
    shared = {**query.scope.bounds(), **query.filters, **GENERALISED, **only}
    rows: list[Row] = []
    while True:
        [[last, count]] = await graph.read(next_range, first=start.first, rows=MEMORIES_A_READ, label=query.label)
        if not count:
            return rows, False
        rows += await graph.read(text, **shared, **start._asdict(), last=last, limit=query.limit - len(rows))
        if len(rows) >= query.limit:
            return rows, True
        start = ListPosition(last + 1)
