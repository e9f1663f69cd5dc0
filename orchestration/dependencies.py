"""One value with what every flow needs: the open store, the models, options from the settings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sized
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from orchestration.feature import Features
from orchestration.ranking.channel_weights import CHANNEL_WEIGHTS, ChannelWeights
from orchestration.ranking.learned import Learned
from schemas.bounded_cache import BoundedCache
from schemas.collectives import owner_of
from schemas.errors import NotFound
from schemas.memory import HALF_LIVES, GraphKey, HalfLives
from schemas.settings import AppraisalMode
from schemas.temporal import Instant
from substrate.connection.pool import Connection
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.graphs.registry import Graphs
from substrate.inference.embeddings import Embedder
from substrate.inference.language import LanguageModel
from substrate.inference.rerankers import Reranker
from substrate.store.stream_notes import NoteBuffer

type AfterErasure = Callable[[Deps, str | None, Path], Awaitable[None]]
"""Called with the graph from which something was erased, None for one that is gone, and a directory of mirrors."""

type Rest = Callable[[], Awaitable[None]]
"""Returns when no request waits."""

FAR: Final = 3
"""Default of `Deps.far`."""
MOST_TURNS: Final = 100_000
"""This many conversations and turns are kept in memory, about half a kilobyte each."""
LESSONS_BYTES: Final = 16 << 20
"""Lessons take about two kilobytes each."""


async def no_rest() -> None:
    """The rest of work that keeps nobody waiting."""


class Conversations:
    """The conversations and folders that this process stores: what is sent for one is taken one after another.

    What is stored of the latest ones is kept, so that a message costs as much in a long conversation as in a short
    one: reading a conversation takes 25 µs for each of its turns.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self._kept: dict[tuple[str, str], Sized] = {}

    @asynccontextmanager
    async def turn(self, graph: str, episode_id: str) -> AsyncIterator[None]:
        """Wait until nobody else stores messages of the episode, and keep others waiting meanwhile."""
        lock = self._locks.setdefault((graph, episode_id), asyncio.Lock())
        async with lock:
            yield

    def take(self, graph: str, episode_id: str) -> Sized | None:
        """What was kept of the episode, which is kept no longer."""
        return self._kept.pop((graph, episode_id), None)

    def keep(self, graph: str, episode_id: str, transcript: Sized) -> None:
        """Keep what is stored of the episode; the oldest others are dropped when there are too many turns."""
        self._kept[graph, episode_id] = transcript
        turns = sum(1 + len(kept) for kept in self._kept.values())
        while turns > MOST_TURNS and len(self._kept) > 1:
            turns -= 1 + len(self._kept.pop(next(iter(self._kept))))


class LearnedCache:
    """What the feedback of the latest citizens teaches, by graph, as it was when feedback last changed.

    So a question reads only when that was. In this process feedback of one citizen is kept one after another.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._kept = BoundedCache[tuple[Instant, Learned]](LESSONS_BYTES)

    @asynccontextmanager
    async def turn(self, graph: str) -> AsyncIterator[None]:
        """Wait until nobody else keeps feedback in the graph, and keep others waiting meanwhile."""
        lock = self._locks.setdefault(graph, asyncio.Lock())
        async with lock:
            yield

    def take(self, graph: str, changed_at: Instant) -> Learned | None:
        """What was kept of the feedback that last changed then."""
        at, learned = self._kept.get(graph, (None, None))
        return learned if at == changed_at else None

    def keep(self, graph: str, changed_at: Instant, learned: Learned) -> None:
        """Keep it; others are dropped when there are too many lessons."""
        self._kept.keep(graph, (changed_at, learned))


@dataclass(frozen=True, slots=True)
class Deps:
    """The dependencies of a flow, made once when the service starts.

    `language_model` and `reranker` are None when none is configured. `appraisal`: how a text is appraised at
    writing. `names`: new texts make memories of the names in them. `far`: a query follows links for a second hop
    only from this many of its first memories.  `half_lives`: of energy, as answers show it. `conversations`: whose
    turn it is to store messages of one. `directory`: that of the embedded engine, None for a server. `mirror`: the
    directory in which mirrors are kept in step, and `erased`: what takes erased memories out of any.
    `private_webhooks`: they may go to private addresses. `most_memories` and `most_bytes`: quotas of each citizen.
    `learned`: what feedback teaches, as it was last read. `notes`: of streams, until they are stored. `features`:
    what they add.
    """

    connection: Connection
    graphs: Graphs
    embedder: Embedder
    channel_weights: ChannelWeights = CHANNEL_WEIGHTS
    language_model: LanguageModel | None = None
    appraisal: AppraisalMode = "words"
    reranker: Reranker | None = None
    names: bool = False
    far: int = FAR
    directory: Path | None = None
    half_lives: HalfLives = HALF_LIVES
    mirror: Path | None = None
    most_memories: int | None = None
    most_bytes: int | None = None
    private_webhooks: bool = False
    erased: AfterErasure | None = None
    conversations: Conversations = field(default_factory=Conversations)
    learned: LearnedCache = field(default_factory=LearnedCache)
    notes: NoteBuffer = field(default_factory=NoteBuffer)
    features: Features = field(default_factory=Features)

    def graph(self, name: str) -> Graph:
        """A handle for the graph; the graph itself need not exist."""
        return Graph(self.connection, name)

    async def existing_graph(self, key: GraphKey, citizen_id: str | None) -> Graph:
        """The graph. Raises NotFound where nothing was remembered."""
        graph = await self.graph_if_any(key, citizen_id)
        if graph is None:
            raise NotFound(f"nothing was remembered for {owner_of(key, citizen_id)} yet")
        return graph

    async def graph_if_any(self, key: GraphKey, citizen_id: str | None) -> Graph | None:
        """The graph; None where nothing was remembered."""
        name = graph_name(key, citizen_id)
        return self.graph(name) if await self.graphs.for_reading(name) else None
