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
    query = cypher.LIST_MEMORIES if wanted.label is None else cypher.LIST_OF_LABEL
    found, more = await _collected(graph.connection, (graph.name, query), wanted, start)
    after = Place(found[-1][0] + 1) if more else None
    return Page([row[1:] for row in found], after)


async def links(graph: Graph, wanted: Wanted, start: Place) -> Page:
    """Records of links, each row the ids of its ends, then `LINK_COLUMNS`."""
    found, more = await _collected(graph.connection, (graph.name, cypher.LIST_LINKS), wanted, start)
    after = Place(found[-1][0], found[-1][3]) if more else None
    return Page([row[1:] for row in found], after)


async def _collected(
    connection: Connection, of: tuple[str, Query], wanted: Wanted, start: Place
) -> tuple[list[Row], bool]:
    """At most `limit` rows, each led by the place of its memory, and whether there may be more."""
    graph, query = of
    places = cypher.PLACES if wanted.label is None else cypher.PLACES_OF_LABEL
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
