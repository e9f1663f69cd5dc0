"""Listing a graph page by page: what a scope sees of it, in a stable order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from schemas.temporal import Scope
from substrate.connection.parameters import parameters
from substrate.connection.pool import Connection, Row
from substrate.cypher import listing as cypher
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.filters import UNFILTERED

PLACES_A_READ: Final = 500

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


class Place(NamedTuple):
    """Where a page begins: at a memory by its internal id; for links behind the link `behind` of it."""

    first: int = 0
    behind: str = ""


class Wanted(NamedTuple):
    """What is listed: the scope, the node type or relation type if one is asked for, at most how many.

    `filters` are the values of `substrate.store.filters`. `label` is one of theirs where who has it now is all
    that the scope may see: the others are then not looked at. `source` and `key_id`: whose it is, and the key that
    it was written with, if they are asked for.
    """

    scope: Scope
    kind: str | None
    limit: int
    filters: Mapping[str, Any] = UNFILTERED
    label: str | None = None
    source: str | None = None
    key_id: str | None = None


class Page(NamedTuple):
    """Rows, and where the next page begins; None at the end."""

    rows: list[Row]
    after: Place | None


async def memories(graph: Graph, wanted: Wanted, start: Place) -> Page:
    """Records of memories, each row in the order of `NODE_COLUMNS`."""
    query = LIST_MEMORIES if wanted.label is None else LIST_OF_LABEL
    found, more = await _collected(graph.connection, (graph.name, query), wanted, start)
    after = Place(found[-1][0] + 1) if more else None
    return Page([row[1:] for row in found], after)


async def links(graph: Graph, wanted: Wanted, start: Place) -> Page:
    """Records of links, each row the ids of its ends, then `LINK_COLUMNS`."""
    found, more = await _collected(graph.connection, (graph.name, LIST_LINKS), wanted, start)
    after = Place(found[-1][0], found[-1][3]) if more else None
    return Page([row[1:] for row in found], after)


async def _collected(
    connection: Connection, of: tuple[str, Query], wanted: Wanted, start: Place
) -> tuple[list[Row], bool]:
    """At most `limit` rows, each led by the place of its memory, and whether there may be more."""
    graph, query = of
    places = PLACES if wanted.label is None else PLACES_OF_LABEL
    only = {"kind": wanted.kind, "label": wanted.label, "source": wanted.source, "key_id": wanted.key_id}
    shared = {**wanted.scope.bounds(), **wanted.filters, **only}
    found: list[Row] = []
    while True:
        window = parameters({"first": start.first, "rows": PLACES_A_READ, "label": wanted.label})
        [[last, count]] = await connection.read(graph, places, window)
        if not count:
            return found, False
        room = wanted.limit - len(found)
        values = {**shared, **start._asdict(), "last": last, "limit": room}
        found += await connection.read(graph, query, parameters(values))
        if len(found) >= wanted.limit:
            return found, True
        start = Place(last + 1)
