"""Notes what each stream was asked and showed, and reads these notes: the last stream of a citizen, and any other.

Notes wait in this process and are stored together, in one statement a graph. They are stored before they are read.
"""

from __future__ import annotations

from dataclasses import astuple
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Final

from orchestration.dependencies import Deps
from orchestration.graph_queries.existing_graphs import View
from orchestration.graph_queries.recall import Recall
from orchestration.mind.stream_note import Asked, StreamNote, make_note, make_stream_id, pack, unpack
from orchestration.ranking.channel_weights import ChannelWeights
from orchestration.ranking.consciousness_score import HALF_LIFE_DAYS
from orchestration.ranking.learned import NOTHING_LEARNED, Learned
from schemas.memory import ConsciousnessNode, Level
from schemas.stream import ConsciousnessStream
from schemas.temporal import END_OF_TIME, Instant
from substrate.connection.errors import GraphMissing
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.graphs.registry import read_stamp
from substrate.store import stream_notes as store
from substrate.store.stream_notes import InferredMoment, StoredNote

NOTES_A_STATEMENT: Final = 200
GIVEN_BY: Final = 2
"""An answer repeats what at most this many of the last streams gave."""
_DAY: Final = 86_400_000_000


def note_stream(
    stream: ConsciousnessStream,
    asked: Asked,
    view: View,
    deps: Deps,
    *,
    found: Recall,
    learned: Learned = NOTHING_LEARNED,
) -> ConsciousnessStream:
    """The stream with an id of its own. Its note waits in this process until it is stored; no query is sent."""
    if not deps.notes.days:
        return stream.model_copy(update={"stream_id": make_stream_id(asked, view.now)})
    weights = name_weights(deps, learned)
    stream = stream.model_copy(update={"stream_id": make_stream_id(asked, view.now)})
    note = make_note(asked, stream, view.now, found, weights=weights, model=deps.embedder.model)
    # The changes that the stream infers among the citizen's own memories and shows, both sides of each.
    tiers = stream.activation_tiers
    shown = chain(tiers.focus, tiers.peripheral, tiers.background)
    own = [node for node in shown if node.level is Level.N1]
    best: dict[str | None, ConsciousnessNode] = {node.node_id: node for node in reversed(own)}
    moments: list[InferredMoment] = []
    for node in own:
        if later := best.get(node.overtaken_by):
            moments.append(InferredMoment(node.node_id, node.version, later.node_id, later.version))
    stored = StoredNote(note.stream_id, note.at, pack(note), tuple(moments))
    deps.notes.add(graph_name(Level.N1, asked.citizen_id), stored)
    return stream


def name_weights(deps: Deps, learned: Learned = NOTHING_LEARNED) -> str:
    """A short name of all that ranks: another one where the answer to the same question may be ranked else."""
    told = tuple(lesson.told_at for lesson in learned.lessons)
    factors = tuple(sorted(learned.factors.items()))
    return _name(deps.channel_weights, (deps.far, HALF_LIFE_DAYS), factors, told)


@lru_cache(maxsize=256)
def _name(
    weights: ChannelWeights,
    reach: tuple[float, ...],
    factors: tuple[tuple[str, float], ...],
    told: tuple[Instant, ...],
) -> str:
    parts = (astuple(weights), *reach, list(factors), list(told))
    return blake2b(repr(parts).encode(), digest_size=6, person=b"weights").hexdigest()


async def store_notes(deps: Deps) -> None:
    """Store all notes that wait, in one statement a graph; those of a citizen without a graph are dropped.

    Raises Unavailable, StoreTimeout or Fault when the engine does not take them; they wait further then.
    """
    for graph in deps.notes.graphs():
        await store_notes_of(graph, deps)


async def store_notes_of(graph: str, deps: Deps) -> None:
    """The same for one graph, and remove the notes that are too old or too many."""
    async with deps.notes.storing(graph):
        taken = deps.notes.take(graph)
        if not taken:
            return
        try:
            # The engine would make a graph that does not exist.
            if await read_stamp(deps.graph(graph)) is None:
                return
            for first in range(0, len(taken), NOTES_A_STATEMENT):
                await store.keep_notes(deps.graph(graph), taken[first : first + NOTES_A_STATEMENT])
        except BaseException:
            deps.notes.give_back(graph, taken)
            raise
        await _drop_notes(deps.graph(graph), deps, taken[-1].at)


async def drop_old_notes(graph: Graph, deps: Deps, now: Instant) -> int:
    """Remove the stored notes of a graph that are too old or too many now, and return how many.

    It is for a citizen who asks nothing more. Raises what `Graph.write` raises.
    """
    return 0 if await read_stamp(graph) is None else await _drop_notes(graph, deps, now)


async def _drop_notes(graph: Graph, deps: Deps, now: Instant) -> int:
    return await store.drop_notes(graph, before=now - int(deps.notes.days * _DAY), most=deps.notes.most_stored)


async def read_stream_note(stream_id: str, citizen_id: str, deps: Deps) -> StreamNote | None:
    """The note of a stream of the citizen; None where there is none. Raises as `store_notes`."""
    name = graph_name(Level.N1, citizen_id)
    await store_notes_of(name, deps)
    try:
        note = await store.read_note(deps.graph(name), stream_id)
    except GraphMissing:
        return None
    return None if note is None else unpack(*note)


async def read_stream_notes(
    citizen_id: str, rows: int, deps: Deps, *, until: Instant = END_OF_TIME, before: str = store.LAST_ID
) -> list[StreamNote]:
    """The newest notes up to `until`, newest first; of that instant those with lower ids than `before`.

    Raises as `store_notes`.
    """
    name = graph_name(Level.N1, citizen_id)
    await store_notes_of(name, deps)
    try:
        notes = await store.read_notes(deps.graph(name), rows, until=until, before=before)
    except GraphMissing:
        return []
    return [unpack(*note) for note in notes]


async def read_last_stream(citizen_id: str, deps: Deps) -> StreamNote | None:
    """The last stream of a citizen, by when it was asked for; None without any. Raises as `store_notes`."""
    return next(iter(await read_stream_notes(citizen_id, 1, deps)), None)


async def read_given(citizen_id: str, deps: Deps) -> list[str]:
    """The texts of what the last streams of a citizen found, and what these were asked; none without streams.

    Of streams whose notes wait in this process, else of those that are stored. Raises as `Graph.read`.
    """
    name = graph_name(Level.N1, citizen_id)
    try:
        notes = deps.notes.newest(name, GIVEN_BY) or await store.read_notes(deps.graph(name), GIVEN_BY)
    except GraphMissing:
        return []
    streams = [unpack(*note) for note in notes]
    ids: dict[str, set[str]] = {}
    for shown in chain.from_iterable(stream.hits().values() for stream in streams):
        ids.setdefault(graph_name(shown.graph, citizen_id), set()).add(shown.id)
    texts = [stream.asked for stream in streams]
    for graph, wanted in ids.items():
        texts += await store.read_texts(deps.graph(graph), sorted(wanted))
    return texts
