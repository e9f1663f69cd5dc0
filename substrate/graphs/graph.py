"""One graph of the store and the connection to it."""

from __future__ import annotations

from typing import Any, NamedTuple

from schemas.memory import Level
from substrate.connection.parameters import parameters
from substrate.connection.pool import Connection, Row
from substrate.cypher.query import Query

__all__ = ["Graph", "GraphTarget", "Query"]


class Graph(NamedTuple):
    """A graph by its name; the parameters of a query are keyword arguments.

    `read` and `read_typed` raise GraphMissing, StoreTimeout, Unavailable or Fault; `write` raises Conflict too.
    """

    connection: Connection
    name: str

    async def read(self, query: Query, /, **values: Any) -> list[Row]:
        """Rows of a read-only query, within the deadline of the connection."""
        return await self.connection.read(self.name, query, parameters(values))

    async def read_typed(self, query: Query, /, **values: Any) -> list[Row]:
        """Rows of a read-only query, each value with its stored type."""
        return await self.connection.read_typed(self.name, query, parameters(values))

    async def write(self, query: Query, /, **values: Any) -> list[Row]:
        """Rows of a query that changes the graph, once the change is on disk."""
        return await self.connection.write(self.name, query, parameters(values))


class GraphTarget(NamedTuple):
    """A graph that a question reads; with `past`, records that are not current are read too."""

    level: Level
    graph: Graph
    past: bool
