"""Adds to a stream what needs I/O: other versions, then path coherence, energy feedback and times."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise, starmap
from typing import Any, Final, NamedTuple

from orchestration.assembly.budget import budget_of, stems_of
from orchestration.assembly.fitting import fit
from orchestration.assembly.stream import select, shown_ids
from orchestration.dependencies import Deps
from orchestration.graph_queries.execution import QueryRequest, QueryResult, run_all
from orchestration.graph_queries.existing_graphs import View
from orchestration.graph_queries.recall import Recall
from orchestration.graph_queries.six_queries import shared_values
from orchestration.metadata_enrichment import Contests
from orchestration.mind.dissonance import HISTORICAL
from orchestration.mind.state import felt_state, with_feedback
from orchestration.mind.stream_notes import note_stream
from orchestration.ranking import consciousness_score
from orchestration.ranking.activation import Activation, Asker
from orchestration.ranking.candidates import CandidateLink, Candidates, Key, memory_column
from orchestration.ranking.learned import NOTHING_LEARNED, Learned
from orchestration.traversal.paths import graph_of
from schemas.errors import Fault, StoreTimeout
from schemas.intention import RetrievalIntention, StateBasedRetrieval, StreamRequest
from schemas.memory import ConsciousnessRelationship, GraphKey, Level, level_of
from schemas.stream import ConsciousnessStream
from schemas.stream_parts import TraversalPath
from schemas.temporal import END_OF_TIME, Period, Scope
from substrate.connection.errors import GraphMissing
from substrate.connection.together import together
from substrate.graphs.graph import GraphTarget
from substrate.store import reader
from substrate.store.feelings import read_links_on_mind
from substrate.store.reader import RECORDS_OF, VersionRow, read_records

MAX_VERSIONS: Final = 50
"""Other versions of one memory that are added: those next in time to the selected ones, then the newest."""
MAX_VERSIONS_OF_LEVEL: Final = 500
"""Other versions that are added to one level: the first of each memory before the second of any."""
MAX_NAMED: Final = 3
"""Memories that a note names one by one."""

type Pair = tuple[str, str]
"""The ids of two neighbours on a path, the lower first."""


class StageTimer:
    """Wall time of each stage, in milliseconds."""

    def __init__(self) -> None:
        self._last = self._begun = time.perf_counter()
        self.spent: dict[str, float] = {}

    def end(self, stage: str) -> None:
        """End this stage; the next one begins."""
        now = time.perf_counter()
        self.spent[stage] = round((now - self._last) * 1000, 3)
        self._last = now

    def total(self) -> float:
        """Milliseconds from the beginning to the end of the last stage."""
        return round((self._last - self._begun) * 1000, 3)


class AddedVersions(NamedTuple):
    """The activation with other versions at its end, the results of their queries, notes on what was left out."""

    activation: Activation
    results: Sequence[QueryResult] = ()
    notes: tuple[str, ...] = ()


async def add_versions(
    intention: RetrievalIntention, asker: Asker, candidates: Candidates, activation: Activation, *, view: View
) -> AddedVersions:
    """Add every version of the memories that the stream will show; in `evolution` and `full_history` alone.

    A change has two sides, and the question finds only one of them (003, component 2). The added versions have no
    relevance and stand last; `candidates` gains them.
    """
    if intention.temporal_mode not in HISTORICAL:
        return AddedVersions(activation)
    levels, limit = list(dict.fromkeys(map(level_of, intention.graphs))), intention.max_results_per_level
    selected = select(candidates, activation.order, levels, limit).keys()
    values = shared_values(intention, view.scope)
    results = await run_all(version_requests(selected, candidates, view.targets, values))
    notes: list[str] = []
    added: list[Key] = []
    for result in results:
        records = read_records(result.rows)
        added += candidates.add_versions(result.key, [record.columns for record in records], selected)
        notes += left_out_notes(result.key, records)
    memories = [candidates.memories[key] for key in sorted(added)]
    scores = consciousness_score.consciousness_scores(
        memories, [0.0] * len(memories), asker.emotions, asker.pressure, inferred=False
    )
    parts = {**activation.parts, **{key: {} for key in added}}
    order = (*activation.order, *scores)
    return AddedVersions(replace(activation, order=order, parts=parts), results, tuple(notes))


def version_requests(
    selected: Iterable[Key],
    candidates: Candidates,
    targets: Mapping[GraphKey, GraphTarget],
    values: Mapping[str, Any],
) -> list[QueryRequest]:
    """One query a graph: the versions of the memories selected, those next in time to them first.

    `values`: the parameters of time scope and filters.
    """
    keys = sorted(selected)
    requests = []
    for graph, target in targets.items():
        memories = [candidates.memories[key] for key in keys if key[0] == graph]
        touching = {int(memory.get(name)) for memory in memories for name in ("created_at", "expired_at")}
        version_values = {
            **values,
            "ids": list(dict.fromkeys(memory.key[1] for memory in memories)),
            "touching": sorted(touching - {END_OF_TIME}),
            "most_of_one": MAX_VERSIONS,
            "most_of_all": MAX_VERSIONS_OF_LEVEL,
        }
        if memories:
            requests.append(QueryRequest("records", target, RECORDS_OF, version_values))
    return requests


def left_out_notes(graph: GraphKey, records: Sequence[VersionRow]) -> list[str]:
    """One note on the memories that have more versions than were added; none when all were."""
    stored = {record.memory_id: record.records for record in records}
    added = Counter(record.memory_id for record in records)
    cut = [memory_id for memory_id in stored if added[memory_id] < stored[memory_id]]
    if not cut:
        return []
    counts = [
        f"of {memory_id} ({graph}) {added[memory_id]} of {stored[memory_id]} records came along"
        for memory_id in cut[:MAX_NAMED]
    ]
    more = len(cut) - MAX_NAMED
    others = f", and of {more} more memories not all" if more > 0 else ""
    return [f"{'; '.join(counts)}{others}: the history of a memory has all of them"]


async def read_on_mind(
    intention: RetrievalIntention | StateBasedRetrieval, activation: Activation, view: View
) -> list[ConsciousnessRelationship]:
    """The links of the memories in focus, where the stream acts on the energy; none where they come too late."""
    if not intention.apply_feedback:
        return []
    ids: dict[GraphKey, list[str]] = {}
    for score in activation.order[: consciousness_score.FOCUS]:
        ids.setdefault(score.key[0], []).append(score.key[1])
    try:
        links = await together(
            *(read_links_on_mind(view.targets[level], view.scope, own) for level, own in ids.items())
        )
    except (StoreTimeout, Fault):
        return []
    return list(chain.from_iterable(links))


async def read_contested(
    intention: RetrievalIntention | StateBasedRetrieval,
    candidates: Candidates,
    activation: Activation,
    view: View,
    *,
    deps: Deps,
) -> Contests:
    """Who contests the shared memories that may be shown, in the scope; nobody where a graph answers too late."""
    if all(score.key[0] == Level.N1 for score in activation.order):
        return {}
    ids = shown_ids(intention, candidates, activation)
    return await deps.features.read("contested", ids, view) or {}


async def with_mind(
    stream: ConsciousnessStream, asked: StreamRequest, view: View, deps: Deps
) -> ConsciousnessStream:
    """The stream with the energy of the citizen and its rules, where a text or a section tells them.

    What is not read in time is left out.
    """
    if not tells_mind(asked):
        return stream
    parts = asked.parts or ()
    told = asked.form == "compact"
    reads: dict[str, Coroutine[Any, Any, Any]] = {}
    if "energy" in parts:
        reads["citizen_energy"] = _energy(stream, view, deps)
    if told or "rules" in parts:
        reads["rules"] = deps.features.read("rules", stream, view)
    read = dict(zip(reads, await together(*reads.values()), strict=True))
    return stream.model_copy(
        update={"citizen_energy": read.get("citizen_energy"), "rules": read.get("rules") or ()}
    )


def tells_mind(asked: StreamRequest) -> bool:
    """Whether the stream tells anything of the citizen itself."""
    return asked.form == "compact" or not {"energy", "rules"}.isdisjoint(asked.parts or ())


async def _energy(stream: ConsciousnessStream, view: View, deps: Deps) -> float | None:
    if stream.state is not None:
        return stream.state.energy
    try:
        target = view.targets.get(Level.N1)
        return (await felt_state(stream.citizen_id, deps, view.scope, view.now, target=target)).energy
    except (GraphMissing, StoreTimeout, Fault):
        return None


class Completed(NamedTuple):
    """A stream as it is answered, and as it was found: coherent, before anything else was added."""

    answer: ConsciousnessStream
    found: ConsciousnessStream


async def complete(
    stream: ConsciousnessStream,
    intention: RetrievalIntention | StateBasedRetrieval,
    view: View,
    deps: Deps,
    *,
    timer: StageTimer,
    found: Recall,
    learned: Learned = NOTHING_LEARNED,
    links: Collection[CandidateLink] = (),
) -> Completed:
    """The stream with the coherence of its paths, its id, energy feedback if asked for, and its times (003, 4).

    What was asked, `found` and shown is noted. `learned`: what ranked it beside the weights of the channels.
    Feedback starts from the energy of the intention, or from the stored energy of the citizen when it has none.
    `links`: all that were found; other questions may lead over them.
    """
    if tells_mind(intention):
        coherent, told = await together(
            add_coherence(stream, view, links), with_mind(stream, intention, view, deps)
        )
        stream = told.model_copy(update={"traversal_graph": coherent.traversal_graph})
    else:
        stream = coherent = await add_coherence(stream, view, links)
    stream = fitted(stream, intention)
    answer = await finish(stream, intention, view, deps, timer=timer, found=found, learned=learned)
    return Completed(answer, coherent)


def fitted(stream: ConsciousnessStream, asked: RetrievalIntention | StateBasedRetrieval) -> ConsciousnessStream:
    """The stream in the form and within the tokens that were asked for."""
    said = asked.query_text if isinstance(asked, RetrievalIntention) else asked.current_goal or ""
    return fit(stream, asked.form, budget_of(asked), parts=asked.parts, words=stems_of(said))


async def finish(
    stream: ConsciousnessStream,
    intention: RetrievalIntention | StateBasedRetrieval,
    view: View,
    deps: Deps,
    *,
    timer: StageTimer,
    found: Recall,
    learned: Learned = NOTHING_LEARNED,
) -> ConsciousnessStream:
    """The fitted stream with its id, energy feedback if asked for, and its times; see `complete`."""
    if view.recall is None:
        stream = note_stream(stream, intention, view, deps, found=found, learned=learned)
        if intention.apply_feedback:
            stream = await with_feedback(stream, intention.current_energy, deps, view.now)
    timer.end("completion")
    return stream.model_copy(update={"retrieval_latency_ms": timer.total(), "stage_ms": timer.spent})


def known_scope(view: View, candidates: Candidates) -> Scope:
    """What the stream saw, as of the last change that it knew: what was written meanwhile may be among it."""
    valid, known = view.scope
    known_at = max([view.now, *map(int, memory_column(candidates.memories.values(), "created_at"))])
    return Scope(valid, Period(min(known.start, known_at), min(known.end, known_at + 1)))


async def let_others_run() -> None:
    """Let other requests run: this process has one core, and a large answer holds it for long."""
    await asyncio.sleep(0)


async def add_coherence(
    stream: ConsciousnessStream, view: View, links: Collection[CandidateLink] = ()
) -> ConsciousnessStream:
    """The stream with the coherence of each path: the mean cosine of neighbours, in [0, 1].

    `links`: where a cosine has to be read, those of their ends are read with it, for the next questions. Without
    paths the stream is unchanged. A path with a memory that has no embedding, or whose cosines came too late,
    keeps the share of stems that its neighbours have in common.
    """
    wanted: dict[GraphKey, set[Pair]] = {}
    for path in stream.traversal_graph.suggested_paths:
        wanted.setdefault(graph_of(path), set()).update(_neighbours(path))
    cosines = await together(*(_cosines(view.targets[level], pairs, links) for level, pairs in wanted.items()))
    return with_coherence(stream, dict(zip(wanted, cosines, strict=True)))


def with_coherence(
    stream: ConsciousnessStream, cosines: Mapping[GraphKey, Mapping[Pair, float]]
) -> ConsciousnessStream:
    """The stream with the coherence of each path whose neighbours all have a cosine."""
    graph = stream.traversal_graph
    paths = []
    for path in graph.suggested_paths:
        pairs, of_graph = list(_neighbours(path)), cosines[graph_of(path)]
        known = [min(1.0, max(0.0, of_graph[pair])) for pair in pairs if pair in of_graph]
        if len(known) == len(pairs):
            path = path.model_copy(update={"semantic_coherence": round(sum(known) / len(known), 6)})
        paths.append(path)
    changed = graph.model_copy(update={"suggested_paths": tuple(paths)})
    return stream.model_copy(update={"traversal_graph": changed})


async def _cosines(
    target: GraphTarget, pairs: set[Pair], links: Collection[CandidateLink]
) -> Mapping[Pair, float]:
    beside = (
        _pair(link.source, link.target)
        for link in links
        if link.graph_key == target.key and link.source != link.target
    )
    try:
        return await reader.read_similarities(target.graph, sorted(pairs), target.reads, beside=beside)
    except (StoreTimeout, Fault):
        return {}


def _neighbours(path: TraversalPath) -> Iterator[Pair]:
    return starmap(_pair, pairwise(path.path_nodes))


def _pair(one: str, other: str) -> Pair:
    return (one, other) if one < other else (other, one)
