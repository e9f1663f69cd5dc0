"""Opening graphs: each is created with its indexes while it is empty, and checked against the embedder in use."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from copy import copy
from typing import Any, Final, NamedTuple

from schemas.errors import StoreMisfit
from schemas.memory import Level
from schemas.temporal import Instant
from substrate.connection.errors import GraphMissing
from substrate.connection.parameters import parameters
from substrate.connection.pool import Connection
from substrate.cypher import schema as cypher
from substrate.emotions import DIMENSION as EMOTION_DIMENSION
from substrate.graphs import indexes as indexing
from substrate.graphs import migrations
from substrate.graphs.graph import Graph
from substrate.graphs.names import CITIZEN_PREFIX, graph_name

STAMP_VALID_S: Final = 1.0
"""A stamp is read again after this time: another process may replace the graph's embeddings at any moment."""


class Stamp(NamedTuple):
    """The schema and the embeddings that a graph was written with.

    The trace nodes of `generation` (0 or 1) have the embeddings in use. When `other_state` is set, those of the
    other generation have the embeddings of another model: `filling` (being added), `leaving` (in use until now,
    and still read by processes that are configured for them) or `clearing` (being removed).
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
        """Return the generation to use with this embedding; None when the graph has no such embeddings."""
        if (self.embedding_model, self.dimension) == (model, dimension):
            return self.generation
        if self.other_state == LEAVING and (self.other_model, self.other_dimension) == (model, dimension):
            return 1 - self.generation
        return None


FILLING: Final = "filling"
LEAVING: Final = "leaving"
CLEARING: Final = "clearing"


async def read_stamp(graph: Graph) -> Stamp | None:
    """Return the stamp of a graph; None when the graph does not exist, or was not written by Substrate."""
    try:
        rows = await graph.read(cypher.READ_STAMP)
    except GraphMissing:
        return None
    return Stamp._make(rows[0]) if rows else None


async def existing_graphs(connection: Connection) -> list[str]:
    """Return the sorted names of all graphs that are named as Substrate names its graphs."""
    names: Sequence[str] = await connection.command("GRAPH.LIST")
    shared = (graph_name(Level.N2, None), graph_name(Level.N3, None))
    return sorted(name for name in names if name in shared or name.startswith(CITIZEN_PREFIX))


class Graphs:
    """Opens graphs, checks that each fits the embedder in use, and remembers which generation it uses."""

    def __init__(self, connection: Connection, *, model: str, dimension: int) -> None:
        self.connection = connection
        self.model = model
        self.dimension = dimension
        self._open_until: dict[str, float] = {}
        self._operational: set[str] = set()
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._migrating: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._creates = True
        connection.missing = self.forget

    def existing_only(self) -> Graphs:
        """The same graphs, but none is created: `for_writing` raises GraphMissing where there is none."""
        same = copy(self)
        same._creates = False
        return same

    def is_open(self, name: str) -> bool:
        """True when a check within the last second found that the graph exists and fits the embedder."""
        return self._open_until.get(name, 0.0) > _monotonic()

    async def for_reading(self, name: str) -> bool:
        """Prepare a graph for reading; False when it does not exist. Reads its stamp at most once a second.

        Migrates a graph of an older release. Raises StoreMisfit when the graph has other embeddings, or the schema
        of a newer release.
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
        self._open_until[name] = _monotonic() + STAMP_VALID_S
        return True

    async def for_writing(self, name: str, now: Instant) -> None:
        """Create the graph with every index and constraint if it does not exist. Raises as `for_reading` does."""
        if self.is_open(name):
            if await read_stamp(Graph(self.connection, name)) is not None:
                return
            self.forget(name)  # another process has erased it
        async with self._locks[name]:
            if await self.for_reading(name):
                return
            if not self._creates:
                raise GraphMissing(f"the graph {name} was erased", remedy="Write to it again to make a new one.")
            async with indexing.index_lock(self.connection):
                await self._create(name, now)
            await self.for_reading(name)

    def forget(self, name: str | None = None) -> None:
        """Forget what is known of a graph, or of all: it was erased, or the engine was restarted."""
        if name is None:
            self._open_until.clear()
            self._operational.clear()
        else:
            self._open_until.pop(name, None)
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
        """Return when every index and constraint is operational. Raises as `indexes.wait_operational` does."""
        await indexing.wait_operational(Graph(self.connection, name))

    async def unready(self, name: str) -> list[str]:
        """Return the labels with an index or constraint that is not operational yet.

        Once the answer was empty, it stays so without a query.
        """
        if name in self._operational:
            return []
        waiting = await indexing.unready(Graph(self.connection, name))
        if not waiting:
            self._operational.add(name)
        return waiting

    async def existing(self) -> list[str]:
        """Sorted names of all graphs of this store."""
        return await existing_graphs(self.connection)

    async def citizens(self) -> list[str]:
        """Sorted ids of all citizens of whom something is stored."""
        return [
            name.removeprefix(CITIZEN_PREFIX) for name in await self.existing() if name.startswith(CITIZEN_PREFIX)
        ]

    def _generation(self, name: str, stamp: Stamp) -> int:
        generation = stamp.generation_of(self.model, self.dimension)
        if generation is not None:
            return generation
        written = (
            f"graph {name} was written with the embedding {stamp.embedding_model} ({stamp.dimension} dimensions)"
        )
        configured = f"configured is {self.model} ({self.dimension})"
        if stamp.other_state == FILLING and stamp.other_model == self.model:
            raise StoreMisfit(
                f"{written} and is being re-embedded; {configured}",
                remedy="Run `substrate reembed`: it resumes, and ends when every record has its new embedding.",
            )
        raise StoreMisfit(
            f"{written}, {configured}",
            remedy="Run `substrate reembed`, or set SUBSTRATE_EMBEDDING to the former.",
        )


def _monotonic() -> float:
    return asyncio.get_running_loop().time()
