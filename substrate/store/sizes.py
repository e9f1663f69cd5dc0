"""How large the store is, asked of the engine at little cost."""

from __future__ import annotations

from typing import Any

from schemas.errors import Fault
from substrate.connection.pool import Connection
from substrate.cypher.read import COUNT_NODES
from substrate.graphs.graph import Graph


async def memory_bytes(connection: Connection) -> int:
    """Bytes of memory that the engine uses. Raises Unavailable."""
    said: Any = await connection.command("INFO", "memory")
    used = said.get("used_memory") if isinstance(said, dict) else None
    if used is None:
        raise Fault("the engine does not say how much memory it uses")
    return int(used)


async def nodes(graph: Graph) -> int:
    """Nodes of a graph; the engine keeps that number. Raises GraphMissing, StoreTimeout, Unavailable."""
    [[count]] = await graph.read(COUNT_NODES)
    return int(count)
