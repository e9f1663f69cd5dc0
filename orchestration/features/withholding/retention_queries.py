"""Keeps the policies of retention in the graph they concern, and reads what they ask of each memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from schemas.temporal import END_OF_TIME, Instant
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

LABEL: Final = "RetentionPolicy"
ROWS_A_PAGE: Final = 200

POLICIES: Final = Query("policies", f"MATCH (p:{LABEL}) RETURN p.id, p.data ORDER BY p.id")
SET_POLICY: Final = Query(
    "set_policy", f"MERGE (p:{LABEL} {{id: $id}}) SET p.data = $data, p.created_at = $at RETURN p.id"
)
REMOVE_POLICY: Final = Query(
    "remove_policy",
    f"MATCH (p:{LABEL} {{id: $id}}) WITH collect(p) AS gone FOREACH (p IN gone | DELETE p) RETURN size(gone)",
)
KEPT_PAGE: Final = Query(
    "kept_page",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after WITH n LIMIT $rows "
    "RETURN id(n), n.expired_at = $open, n.id, n.name, n.source, n.node_type, n.tags, n.resolution_state, "
    "n.created_at, n.valid_at ORDER BY id(n)",
)


class KeptRow(NamedTuple):
    """A memory that holds, in stored form."""

    id: str
    name: str
    source: str | None
    node_type: str
    tags: tuple[str, ...]
    state: str | None
    written: Instant
    happened: Instant


class KeptPage(NamedTuple):
    """The memories of a page that hold, and the internal id after which there may be more; None at the end."""

    rows: tuple[KeptRow, ...]
    seen: int
    next: int | None


async def read_policies(graph: Graph) -> dict[str, Mapping[str, Any]]:
    """The policies of the graph, by name. Raises as `Graph.read`."""
    return {row[0]: orjson.loads(row[1]) for row in await graph.read(POLICIES)}


async def set_policy(graph: Graph, name: str, data: Mapping[str, Any], now: Instant) -> None:
    """Store a policy, in place of one with the same name."""
    await graph.write(SET_POLICY, id=name, data=orjson.dumps(data).decode(), at=now)


async def remove_policy(graph: Graph, name: str) -> bool:
    """Remove a policy; False when there is none with this name."""
    rows = await graph.write(REMOVE_POLICY, id=name)
    return bool(rows and int(rows[0][0]))


async def read_kept(graph: Graph, after: int, limit: int = ROWS_A_PAGE) -> KeptPage:
    """The next memories after an internal id, as far as a record of them is believed. Raises as `Graph.read`."""
    page = await graph.read(KEPT_PAGE, after=after, rows=limit, open=END_OF_TIME)
    held = tuple(_row(row[2:]) for row in page if row[1] in (True, "true"))
    return KeptPage(held, len(page), page[-1][0] if len(page) == limit else None)


def _row(row: Sequence[Any]) -> KeptRow:
    id_, name, source, node_type, tags, state, written, happened = row
    return KeptRow(
        id_, name, source, node_type, tuple(orjson.loads(tags or "[]")), state, int(written), int(happened)
    )
