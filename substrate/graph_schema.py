"""The graphs: their names, and opening one with all its indexes made while it is empty."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from schemas.errors import Fault, StoreMisfit, Unavailable
from schemas.memory import Level
from schemas.temporal import Instant
from substrate.connection import Connection, GraphMissing, Row, parameters
from substrate.cypher import schema as cypher
from substrate.cypher.query import Query
from substrate.emotions import DIMENSION as EMOTION_DIMENSION

_WAIT_STEP_SECONDS = 0.005
_WAIT_STEPS = 4000
NOTHING = parameters({})
CITIZEN_PREFIX = "citizen_"


def graph_name(level: Level, citizen_id: str | None) -> str:
    """The graph of a level. Two citizens never share one: the id follows the prefix unchanged."""
    if level is Level.N2:
        return "collective_n2"
    if level is Level.N3:
        return "ecosystem_n3"
    if citizen_id is None:
        raise Fault("level N1 was asked for without a citizen")
    return f"{CITIZEN_PREFIX}{citizen_id}"


def origin_of(name: str) -> tuple[Level, str | None]:
    """Level and citizen of a graph by its name."""
    if name.startswith(CITIZEN_PREFIX):
        return Level.N1, name.removeprefix(CITIZEN_PREFIX)
    return (Level.N2 if name == graph_name(Level.N2, None) else Level.N3), None


class Graphs:
    """Opens each graph once and checks that it fits the embedder in use."""

    def __init__(self, connection: Connection, *, model: str, dimension: int) -> None:
        self.connection = connection
        self.model = model
        self.dimension = dimension
        self._open: set[str] = set()
        self._opening: dict[str, asyncio.Lock] = {}

    def is_open(self, name: str) -> bool:
        """Whether the graph is known to exist and to fit."""
        return name in self._open

    async def for_reading(self, name: str) -> bool:
        """Whether the graph exists; its stamp is checked the first time. Never creates it."""
        if name in self._open:
            return True
        try:
            rows = await self.connection.read(name, cypher.READ_STAMP, NOTHING)
        except GraphMissing:
            return False
        if not rows:
            return False
        self._check_stamp(name, rows[0])
        await self.wait_operational(name)
        self._open.add(name)
        return True

    async def for_writing(self, name: str, now: Instant) -> None:
        """Make sure that the graph exists with every index and constraint, and fits the embedder."""
        if name in self._open:
            return
        async with self._opening.setdefault(name, asyncio.Lock()):
            if await self.for_reading(name):
                return
            await self._create(name, now)
            self._open.add(name)

    def forget(self, name: str | None = None) -> None:
        """Ask again for the graph, or for each: it is gone, or the engine has been started anew."""
        if name is None:
            self._open.clear()
        self._open.discard(name or "")

    async def _create(self, name: str, now: Instant) -> None:
        indexes = (*cypher.INDEXES, *cypher.vector_indexes(self.dimension, EMOTION_DIMENSION))
        for index in indexes:
            await self._create_index(name, index)
        for label, column in cypher.UNIQUE:
            await self._create_unique(name, label, column)
        await self.wait_operational(name)
        stamp = {
            "schema_version": cypher.SCHEMA_VERSION,
            "embedding_model": self.model,
            "dimension": self.dimension,
            "now": now,
        }
        await self.connection.write(name, cypher.WRITE_STAMP, parameters(stamp))

    async def _create_index(self, name: str, index: Query) -> None:
        try:
            await self.connection.write(name, index, NOTHING)
        except Fault as error:
            if "already indexed" not in error.detail:
                raise

    async def _create_unique(self, name: str, label: str, column: str) -> None:
        words = ("GRAPH.CONSTRAINT", "CREATE", name, "UNIQUE", "NODE", label, "PROPERTIES", 1, column)
        try:
            await self.connection.command(*words)
        except Fault as error:
            if "already exists" not in error.detail:
                raise

    async def wait_operational(self, name: str) -> None:
        """Return when every index and constraint answers. Raises Unavailable after 20 seconds."""
        for _ in range(_WAIT_STEPS):
            if not await self.unready(name):
                return
            await asyncio.sleep(_WAIT_STEP_SECONDS)
        raise Unavailable(f"the indexes of {name} are still being built", remedy="Try again in a moment.")

    async def unready(self, name: str) -> list[str]:
        """Labels whose index or constraint is not operational yet."""
        indexes = await self.connection.read(name, cypher.INDEX_STATUS, NOTHING)
        constraints = await self.connection.read(name, cypher.CONSTRAINT_STATUS, NOTHING)
        return [str(row[0]) for row in (*indexes, *constraints) if row[1] != "OPERATIONAL"]

    async def existing(self) -> list[str]:
        """Names of all graphs of this store that carry our stamp's naming."""
        names: Sequence[str] = await self.connection.command("GRAPH.LIST")
        ours = ("collective_n2", "ecosystem_n3")
        return sorted(name for name in names if name in ours or name.startswith(CITIZEN_PREFIX))

    def _check_stamp(self, name: str, stamp: Row) -> None:
        version, model, dimension = stamp[0], stamp[1], stamp[2]
        if version != cypher.SCHEMA_VERSION:
            raise StoreMisfit(
                f"graph {name} has schema version {version}, this Substrate has {cypher.SCHEMA_VERSION}",
                remedy="Use the release of Substrate that wrote it.",
            )
        if (model, dimension) != (self.model, self.dimension):
            raise StoreMisfit(
                f"graph {name} was written with the embedding {model} ({dimension} dimensions), "
                f"configured is {self.model} ({self.dimension})",
                remedy="Set SUBSTRATE_EMBEDDING to the former, or use another SUBSTRATE_DATA.",
            )
