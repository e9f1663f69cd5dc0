"""One graph of the store and the connection to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.memory import GraphKey
from schemas.temporal import Instant, Scope
from substrate.connection.errors import GraphMissing
from substrate.connection.graph_columns import GraphColumns
from substrate.connection.kept import Reads
from substrate.connection.parameters import parameters
from substrate.connection.pool import Connection, Row
from substrate.cypher.query import Query, QueryPair
from substrate.likeness import port as likeness
from substrate.likeness.elements import Search, Vector

__all__ = ["Graph", "GraphTarget", "Query", "Search"]


UNKEPT: Final = Reads(None)
"""Keeps nothing that another question could find."""


class Graph(NamedTuple):
    """A graph by its name; the parameters of a query are keyword arguments.

    A `Search` among the parameters of a read is done first: the query gets rows [owner, key, distance] in its
    place. `read` and `read_typed` raise GraphMissing, StoreTimeout, Unavailable or Fault; `write` raises Conflict
    too.
    """

    connection: Connection
    name: str

    async def read(self, query: Query, /, **values: Any) -> list[Row]:
        """Rows of a read-only query, within the deadline of the connection."""
        query = query.for_values(values)
        return await self.connection.read(self.name, query, await self._header(query, values))

    async def read_existing(self, query: Query, /, **values: Any) -> list[Row]:
        """The same; none when the graph does not exist."""
        try:
            return await self.read(query, **values)
        except GraphMissing:
            return []

    async def read_typed(self, query: Query, /, **values: Any) -> list[Row]:
        """Rows of a read-only query, each value with its stored type."""
        return await self.connection.read_typed(self.name, query, await self._header(query, values))

    async def _header(self, query: Query, values: Mapping[str, Any]) -> str:
        """Only what the text names is sent: searches of a question share their parameters."""
        named = {name: values[name] for name in query.parameters() if name in values}
        return parameters(await likeness.resolve(self.connection, self.name, named))

    async def write(self, query: Query, /, **values: Any) -> list[Row]:
        """Rows of a query that changes the graph, once the change is on disk."""
        return await self.connection.write(self.name, query, parameters(values))

    async def write_after(self, vectors: Sequence[Vector], query: Query, /, **values: Any) -> list[Row]:
        """The same; the vectors of its records are kept first, in the same round trip."""
        first = likeness.additions(self.connection, self.name, vectors)
        return await self.connection.write(self.name, query, parameters(values), first=first)


class GraphTarget(NamedTuple):
    """A graph that a question reads; with `past`, records that are not current are read too.

    `reads` and `columns`: what this process keeps of it in the state in which the question found it. `feedback_at`
    and `changes_until`: as `substrate.store.reader.Situation` has them, where they were read too.
    """

    key: GraphKey
    graph: Graph
    past: bool
    reads: Reads = UNKEPT
    feedback_at: Instant | None = None
    changes_until: Instant | None = None
    columns: GraphColumns | None = None

    def choose(self, queries: QueryPair) -> Query:
        """The one of the two that reads what this question reads."""
        return queries.then if self.past else queries.now

    async def read(self, queries: QueryPair, scope: Scope, /, **values: Any) -> list[Row]:
        """The rows of the chosen query in the scope. Raises as `Graph.read`."""
        return await self.graph.read(self.choose(queries), **scope.bounds(), **values)
