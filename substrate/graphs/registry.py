"""Opening graphs: each is created with its indexes while it is empty, and checked against the embedder in use."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextvars import copy_context
from copy import copy
from typing import Any, Final, Literal, NamedTuple
from weakref import WeakValueDictionary

from schemas.errors import Fault, StoreMisfit, SubstrateError
from schemas.memory import Level
from schemas.temporal import Instant
from substrate.connection.errors import GraphMissing
from substrate.connection.graph_columns import GraphColumns
from substrate.connection.parameters import parameters
from substrate.connection.pool import Connection
from substrate.connection.together import together
from substrate.connection.topology import stay_with_primary
from substrate.connection.turns import TENANT, UPKEEP
from substrate.cypher import schema as cypher
from substrate.graphs import filling, migrations
from substrate.graphs import indexes as indexing
from substrate.graphs.graph import Graph
from substrate.graphs.names import CITIZEN_PREFIX, COLLECTIVE_PREFIX, DEFAULT_COLLECTIVE, graph_name
from substrate.graphs.parking import Parking
from substrate.likeness import vector_sets
from substrate.likeness.port import Role, sets_of
from substrate.likeness.vector_sets import read_states

SETS: Final = "sets"
INDEX: Final = "index"
"""The names of the two adapters of likeness in a stamp."""
_logger = logging.getLogger(__name__)
type Adapter = Literal["auto", "sets", "index"]
type LoadColumns = Callable[[Graph, GraphColumns, int], Awaitable[None]]
"""Holds a graph in its columns as far as that takes no more than so many bytes."""
STAMP_VALID_S: Final = 1.0
"""A stamp is read again after this time: another process may replace the graph's embeddings at any moment."""


LOADED_AFTER: Final = 3
"""The columns of a graph are filled as a whole when it was asked so often in a row of its states."""
FILLED_AT_ONCE: Final = 2_000
"""The sets of a graph with this many vectors are filled while it is opened, in about two seconds."""
MOST_OPERATIONAL: Final = 100_000
"""Of this many graphs it is remembered that their indexes are operational; then they are asked again."""
MOST_ABSENT: Final = 10_000
"""Of this many names it is remembered that no graph has them: a citizen often has only a graph of its own."""


class Stamp(NamedTuple):
    """The schema and the embeddings that a graph was written with.

    The trace nodes of `generation` (0 or 1) have the embeddings in use. When `other_state` is set, those of the
    other generation have the embeddings of another model: `filling` (being added), `leaving` (in use until now,
    and still read by processes that are configured for them) or `clearing` (being removed). `likeness`: what finds
    the nearest vectors, vector sets or an index of the graph (`substrate.likeness`). The rest is what a question
    has to know first, as `substrate.store.reader.Situation` has it.
    """

    schema_version: int
    embedding_model: str
    dimension: int
    created_at: Instant
    generation: int
    other_model: str | None
    other_dimension: int | None
    other_state: str | None
    likeness: str = INDEX
    pending_until: Instant = 0
    feedback_at: Instant = 0
    clock: int = 0
    shifts: int = 0
    changes_until: Instant | None = None

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


class GraphReport(NamedTuple):
    """What a graph told of itself when it was looked at; what it did not tell has to be asked. `is_ready`: its
    indexes are operational. `is_whole`: its vector sets, where they were thought to be, lack nothing."""

    stamp: Stamp | None
    is_ready: bool = False
    is_whole: bool = False


async def _look_at(graph: Graph, dimension: int, *, is_first: bool) -> GraphReport:
    """Ask in one round trip for what is usually needed to open a graph. `is_first`: more on the first look."""
    queries = (cypher.READ_STAMP, cypher.UNREADY, filling.MOST_VECTORS) if is_first else (cypher.READ_STAMP,)
    sets = sets_of(graph.connection, graph.name) if dimension else None
    commands = [graph.connection.reading(graph.name, query) for query in queries]
    commands += sets.inquiries() if sets is not None else []
    stamps, *told = await graph.connection.read_together("read_stamp", commands)
    if isinstance(stamps, Exception):
        return GraphReport(None if isinstance(stamps, GraphMissing) else await read_stamp(graph))
    stamp = Stamp._make(stamps[1][0]) if stamps[1] else None
    if any(isinstance(reply, Exception) for reply in told):
        return GraphReport(stamp)
    states = read_states(told[-3 * len(Role) :]) if sets is not None else []
    if not is_first:
        return GraphReport(stamp, is_whole=all(state.is_whole for state in states))
    building, counts = told[:2]
    return GraphReport(stamp, not building[1], sets is None or filling.have_all(states, counts, dimension))


def note_adapter(connection: Connection, name: str, stamp: Stamp) -> None:
    """Remember by the stamp which adapter of likeness a graph uses."""
    connection.vectors.use(name, indexed=stamp.likeness == INDEX)


async def existing_graphs(connection: Connection) -> list[str]:
    """Return the sorted names of all graphs that are named as Substrate names its graphs."""
    names = await connection.graph_names()
    ecosystem = graph_name(Level.N3, None)
    return sorted(name for name in names if name == ecosystem or name.startswith(_PREFIXES))


async def every_graph(connection: Connection) -> list[str]:
    """The same, with those that are parked."""
    return sorted({*await existing_graphs(connection), *await connection.parked.names()})


_PREFIXES: Final = (CITIZEN_PREFIX, COLLECTIVE_PREFIX)


class Graphs:
    """Opens graphs, checks that each fits the embedder in use, and remembers which generation it uses."""

    def __init__(self, connection: Connection, *, model: str, dimension: int, likeness: Adapter = "auto") -> None:
        """`likeness`: what new graphs use; `auto`: vector sets where the server has them, else an index."""
        self.connection = connection
        self._likeness = likeness
        self.model = model
        self.dimension = dimension
        self._open_until: dict[str, float] = {}
        self._operational: set[tuple[str, int]] = set()
        self._filling: dict[str, asyncio.Task[None]] = {}
        self._loading: dict[str, asyncio.Task[None]] = {}
        self._absent: set[str] = set()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._migrating: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._creates = True
        self.parking: Parking | None = None
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
        """Prepare a graph for reading; False when it does not exist. Reads its stamp at most once a second. Raises
        as `open` does."""
        return self.is_open(name) or await self.open(name) is not None

    async def open_existing(self, names: Sequence[str]) -> dict[str, Stamp]:
        """The stamps, as they are now, of those of the graphs that exist. Raises as `open` does. Those that did
        not exist when they were opened before are first looked for by name, all at once."""
        before = [name for name in names if name in self._absent]
        others = [name for name in names if name not in self._absent]
        appeared, opened = await together(self._open_appeared(before), self._open_each(others))
        return appeared | opened

    async def _open_appeared(self, names: Sequence[str]) -> dict[str, Stamp]:
        if not names or not await self._count_existing(names):
            return {}
        self._absent.difference_update(names)
        return await self._open_each(names)  # it finds out which of them

    async def _open_each(self, names: Sequence[str]) -> dict[str, Stamp]:
        stamps = await together(*map(self.open, names))
        return {name: stamp for name, stamp in zip(names, stamps, strict=True) if stamp is not None}

    async def _count_existing(self, names: Sequence[str]) -> int:
        try:
            return int(await self.connection.command("EXISTS", *names))
        except Fault:  # a cluster refuses names that do not lie together
            return sum(map(int, [await self.connection.command("EXISTS", name) for name in names]))

    async def open(self, name: str) -> Stamp | None:
        """Prepare a graph for reading; its stamp as it is now, or None when it does not exist. Migrates a graph of
        an older release. Raises StoreMisfit when the graph has other embeddings, or the schema of a newer
        release."""
        graph, place = Graph(self.connection, name), self.connection.vectors.of(name)
        is_first = (name, place.generation) not in self._operational
        if is_first:
            stay_with_primary(name)
        told = await _look_at(graph, self.dimension, is_first=is_first)
        stamp = told.stamp
        if stamp is None:
            if not name.startswith(CITIZEN_PREFIX):  # nothing names a citizen who was erased or never was
                if len(self._absent) >= MOST_ABSENT:
                    self._absent.clear()
                self._absent.add(name)
            return None
        if stamp.schema_version != cypher.SCHEMA_VERSION:
            migrating = self._migrating.setdefault(name, asyncio.Lock())
            async with migrating:
                await migrations.migrate(graph, stamp.schema_version)
            stamp = await read_stamp(graph) or stamp
            told = GraphReport(stamp)
        generation = self._generation(name, stamp)
        self.connection.vectors.use(name, generation=generation)
        note_adapter(self.connection, name, stamp)
        is_first = (name, generation) not in self._operational
        if is_first and not told.is_ready:
            await self.wait_operational(name)
        is_whole = told.is_whole and self.connection.vectors.of(name) == place
        await self._see_to_sets(graph, is_first=is_first, is_whole=is_whole)
        self._note_operational(name)
        moment = _monotonic()
        self._open_until.pop(name, None)
        self._open_until[name] = moment + STAMP_VALID_S
        while (oldest := next(iter(self._open_until.items())))[1] <= moment:
            del self._open_until[oldest[0]]  # out of date
        return stamp

    async def _see_to_sets(self, graph: Graph, *, is_first: bool, is_whole: bool) -> None:
        """Have the vector sets of a graph filled if they lack vectors: small ones at once, else in the background.
        Until then all its vectors are compared. `is_whole`: it is known already that they lack none."""
        if not self.dimension or graph.name in self._filling:
            return
        if not is_whole and is_first:
            is_whole = await filling.are_complete(graph, self.dimension)
        elif not is_whole:
            stay_with_primary(graph.name)
            is_whole = await filling.are_whole(graph)
        partial = not is_whole
        self.connection.vectors.use(graph.name, partial=partial)
        if not partial:
            return
        if await filling.count_present(graph) <= FILLED_AT_ONCE:
            await self._fill(graph)
            return
        _logger.info("the vector sets of %s are filled; all vectors are compared meanwhile", graph.name)
        task = self._filling[graph.name] = asyncio.create_task(self._fill(graph))
        task.add_done_callback(lambda _: self._filling.pop(graph.name))

    async def _fill(self, graph: Graph) -> None:
        """A failure is logged: all vectors are compared, and the next look at the graph tries anew."""
        try:
            await filling.complete(graph, self.dimension)
        except SubstrateError as error:
            _logger.warning("the vector sets of %s could not be filled: %s", graph.name, error.detail)
            return
        self.connection.vectors.use(graph.name, partial=False)
        _logger.info("the vector sets of %s are whole", graph.name)

    def see_to_columns(self, graph: Graph, columns: GraphColumns, load: LoadColumns) -> None:
        """Have the columns of a graph that is asked again and again filled by `load`, in the background."""
        columns.questions += 1
        if columns.questions % LOADED_AFTER or columns.is_filled or graph.name in self._loading:
            return
        context = copy_context()
        context.run(TENANT.set, UPKEEP)
        task = asyncio.create_task(self._load(graph, columns, load), context=context)
        self._loading[graph.name] = task
        task.add_done_callback(lambda _: self._loading.pop(graph.name))

    async def _load(self, graph: Graph, columns: GraphColumns, load: LoadColumns) -> None:
        """A failure is logged: what a question lacks is read for it, and later questions try anew."""
        try:
            await load(graph, columns, self.connection.columns.room_for(columns))
        except GraphMissing:
            return  # it was erased meanwhile, and no log names it
        except SubstrateError as error:
            _logger.warning("the columns of %s could not be filled: %s", graph.name, error.detail)

    async def close(self) -> None:
        """End what is done in the background; the next process to open a graph goes on with it."""
        tasks = [*self._filling.values(), *self._loading.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _note_operational(self, name: str) -> None:
        if len(self._operational) >= MOST_OPERATIONAL:
            self._operational.clear()
        self._operational.add((name, self.connection.vectors.of(name).generation))

    async def for_writing(self, name: str, now: Instant) -> None:
        """Create the graph with every index and constraint if it does not exist. Raises as `for_reading` does."""
        if self.is_open(name):
            if await read_stamp(Graph(self.connection, name)) is not None:
                return
            self.forget(name)  # another process has erased it
        creating = self._locks.setdefault(name, asyncio.Lock())
        async with creating:
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
            self._operational -= {(name, 0), (name, 1)}

    async def _create(self, name: str, now: Instant) -> None:
        self.connection.vectors.forget(name)
        likeness: str = self._likeness
        if likeness == "auto":
            likeness = SETS if await vector_sets.are_supported(self.connection) else INDEX
        indexes = cypher.INDEXES if likeness == SETS else (*cypher.INDEXES, *cypher.vector_indexes(self.dimension))
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
            "likeness": likeness,
        }
        if likeness == SETS:
            await filling.note_new(Graph(self.connection, name), self.dimension)
        await self.connection.write(name, cypher.WRITE_STAMP, parameters(stamp))

    async def wait_operational(self, name: str) -> None:
        """Return when every index and constraint is operational. Raises as `indexes.wait_operational` does."""
        await indexing.wait_operational(Graph(self.connection, name))

    async def unready(self, name: str) -> list[str]:
        """Return the labels with an index or constraint that is not operational yet. Once the answer was empty, it
        stays so without a query."""
        if (name, self.connection.vectors.of(name).generation) in self._operational:
            return []
        waiting = await indexing.unready(Graph(self.connection, name))
        if not waiting:
            self._note_operational(name)
        return waiting

    async def existing(self) -> list[str]:
        """Sorted names of all graphs of this store that are awake."""
        return await existing_graphs(self.connection)

    async def existing_or_parked(self) -> list[str]:
        """Sorted names of all graphs of this store."""
        return await every_graph(self.connection)

    async def citizens(self) -> list[str]:
        """Sorted ids of all citizens of whom something is stored."""
        return [
            name.removeprefix(CITIZEN_PREFIX)
            for name in await self.existing_or_parked()
            if name.startswith(CITIZEN_PREFIX)
        ]

    async def collectives(self) -> list[str]:
        """Sorted ids of all collectives beside the default one in which something is stored."""
        names = [name for name in await self.existing() if name.startswith(COLLECTIVE_PREFIX)]
        return [name.removeprefix(COLLECTIVE_PREFIX) for name in names if name != DEFAULT_COLLECTIVE]

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
            f"{written}, {configured}", remedy="Run `substrate reembed`, or set SUBSTRATE_EMBEDDING to the former."
        )


def _monotonic() -> float:
    return asyncio.get_running_loop().time()
