"""The graphs: their names, and opening one with all its indexes made while it is empty."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from schemas.errors import StoreMisfit
from schemas.temporal import Instant
from substrate.connection.errors import GraphMissing
from substrate.connection.parameters import parameters
from substrate.connection.pool import Connection
from substrate.cypher import schema as cypher
from substrate.emotions import DIMENSION as EMOTION_DIMENSION
from substrate.graphs import indexes as indexing
from substrate.graphs import migrations
from substrate.graphs.graph import Graph
from substrate.graphs.names import CITIZEN_PREFIX

BELIEVED_SECONDS: Final = 1.0
"""So long a stamp is not read again: another process may give the graph other embeddings at any time."""


class Stamp(NamedTuple):
    """With what a graph was written.

    `generation` (0 or 1) says which satellites carry the embeddings in use. On the other ones, when `other_state`
    is set, lie those of another model: `filling` (being made), `leaving` (they were in use until now, and whoever
    is configured for them still reads them), `clearing` (being removed).
    """

    schema_version: int
    embedding_model: str
    dimension: int
    created_at: Instant
    generation: int
    other_model: str | None
    other_dimension: int | None
    other_state: str | None

    def generation_of(self, model: str, dimension: int) -> int | None:
        """The generation that a process configured for this embedding uses; None when there is none for it."""
        if (self.embedding_model, self.dimension) == (model, dimension):
            return self.generation
        if self.other_state == LEAVING and (self.other_model, self.other_dimension) == (model, dimension):
            return 1 - self.generation
        return None


FILLING: Final = "filling"
LEAVING: Final = "leaving"
CLEARING: Final = "clearing"


async def read_stamp(graph: Graph) -> Stamp | None:
    """The stamp of a graph; None when the graph does not exist or is not ours."""
    try:
        rows = await graph.read(cypher.READ_STAMP)
    except GraphMissing:
        return None
    return Stamp._make(rows[0]) if rows else None


async def existing_graphs(connection: Connection) -> list[str]:
    """Names of all graphs of this store that carry our stamp's naming."""
    names: Sequence[str] = await connection.command("GRAPH.LIST")
    ours = ("collective_n2", "ecosystem_n3")
    return sorted(name for name in names if name in ours or name.startswith(CITIZEN_PREFIX))


class Graphs:
    """Opens each graph, checks that it fits the embedder in use, and keeps in mind which generation that is."""

    def __init__(self, connection: Connection, *, model: str, dimension: int) -> None:
        self.connection = connection
        self.model = model
        self.dimension = dimension
        self._believed: dict[str, float] = {}
        self._operational: set[str] = set()
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._migrating: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        connection.missing = self.forget

    def is_open(self, name: str) -> bool:
        """Whether the graph is known to exist and to fit, as of the last second."""
        return self._believed.get(name, 0.0) > _monotonic()

    async def for_reading(self, name: str) -> bool:
        """Whether the graph exists; its stamp is checked once a second. Never creates it.

        A graph of an older Substrate is migrated. Raises StoreMisfit when it has other embeddings, or the
        schema of a newer Substrate.
        """
        if self.is_open(name):
            return True
        stamp = await read_stamp(Graph(self.connection, name))
        if stamp is None:
            return False
        if stamp.schema_version != cypher.SCHEMA_VERSION:
            async with self._migrating[name]:
                await migrations.migrate(Graph(self.connection, name), stamp.schema_version)
        self.connection.generations[name] = self._generation(name, stamp)
        if name not in self._operational:
            await self.wait_operational(name)
            self._operational.add(name)
        self._believed[name] = _monotonic() + BELIEVED_SECONDS
        return True

    async def for_writing(self, name: str, now: Instant) -> None:
        """Make sure that the graph exists with every index and constraint, and fits the embedder."""
        if self.is_open(name):
            if await read_stamp(Graph(self.connection, name)) is not None:
                return
            self.forget(name)  # another process has erased it since
        async with self._locks[name]:
            if await self.for_reading(name):
                return
            async with indexing.index_lock(self.connection):
                await self._create(name, now)
            await self.for_reading(name)

    def forget(self, name: str | None = None) -> None:
        """Ask again for the graph, or for each: it is gone, or the engine has been started anew."""
        if name is None:
            self._believed.clear()
            self._operational.clear()
        else:
            self._believed.pop(name, None)
            self._operational.discard(name)

    async def _create(self, name: str, now: Instant) -> None:
        self.connection.generations.pop(name, None)
        indexes = (*cypher.INDEXES, *cypher.vector_indexes(self.dimension, EMOTION_DIMENSION))
        for index in indexes:
            await indexing.create_index(Graph(self.connection, name), index)
        for label, column in cypher.UNIQUE:
            await indexing.create_unique(Graph(self.connection, name), label, column)
        await self.wait_operational(name)
        stamp: dict[str, Any] = {
            "schema_version": cypher.SCHEMA_VERSION,
            "embedding_model": self.model,
            "dimension": self.dimension,
            "now": now,
        }
        await self.connection.write(name, cypher.WRITE_STAMP, parameters(stamp))

    async def wait_operational(self, name: str) -> None:
        """Return when every index and constraint answers. Raises what `indexing.wait_operational` does."""
        await indexing.wait_operational(Graph(self.connection, name))

    async def unready(self, name: str) -> list[str]:
        """Labels whose index or constraint is not operational yet; a graph that was ready is not asked again."""
        if name in self._operational:
            return []
        waiting = await indexing.unready(Graph(self.connection, name))
        if not waiting:
            self._operational.add(name)
        return waiting

    async def existing(self) -> list[str]:
        """Names of all graphs of this store that carry our stamp's naming."""
        return await existing_graphs(self.connection)

    def _generation(self, name: str, stamp: Stamp) -> int:
        generation = stamp.generation_of(self.model, self.dimension)
        if generation is not None:
            return generation
        said = (
            f"graph {name} was written with the embedding {stamp.embedding_model} ({stamp.dimension} dimensions)"
        )
        configured = f"configured is {self.model} ({self.dimension})"
        if stamp.other_state == FILLING and stamp.other_model == self.model:
            raise StoreMisfit(
                f"{said} and is being re-embedded; {configured}",
                remedy="Run `substrate reembed`: it goes on where it was, and ends when all embeddings are there.",
            )
        raise StoreMisfit(
            f"{said}, {configured}",
            remedy="Run `substrate reembed`, or set SUBSTRATE_EMBEDDING to the former.",
        )


def _monotonic() -> float:
    return asyncio.get_running_loop().time()
