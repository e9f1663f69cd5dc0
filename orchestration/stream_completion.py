"""The stages that question and waking share: what is asked, and what follows the order of what was found.

The stream is shown, with what only other reads tell; then its paths get their coherence, it is fitted and noted.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise, starmap
from typing import Any, Final, NamedTuple

from orchestration.assembly.budget import budget_of, key_of, stems_of
from orchestration.assembly.fitting import fit
from orchestration.assembly.stream import RetrievalReport, StreamAsked, assemble, selected_keys, shown_ids
from orchestration.dependencies import Deps
from orchestration.graph_queries.execution import QueryRequest, QueryResult, run_all
from orchestration.graph_queries.existing_graphs import View
from orchestration.graph_queries.recall import Recall
from orchestration.metadata_enrichment import Contests
from orchestration.mind.dissonance import HISTORICAL
from orchestration.mind.state import felt_state, with_feedback
from orchestration.mind.stream_notes import note_stream
from orchestration.ranking import consciousness_score
from orchestration.ranking.activation import Activation, Asker
from orchestration.ranking.candidates import CandidateLink, Candidates, Key
from orchestration.ranking.learned import NOTHING_LEARNED, Learned
from orchestration.traversal.paths import graph_of
from schemas.errors import Fault, StoreTimeout
from schemas.intention import RetrievalIntention, StreamRequest
from schemas.memory import ConsciousnessRelationship, GraphKey, Level
from schemas.stream import ConsciousnessStream, TraversalPath
from schemas.temporal import END_OF_TIME, Period, Scope
from substrate.connection.errors import GraphMissing
from substrate.connection.together import together
from substrate.connection.topology import behind_ms
from substrate.graphs.graph import GraphTarget
from substrate.store import reader
from substrate.store.feelings import read_links_on_mind
from substrate.store.filters import felt_values
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
    """Wall time of each stage, and from the beginning to the end of the last one, in milliseconds."""

    def __init__(self) -> None:
        self._last = self._begun = time.perf_counter()
        self.spent: dict[str, float] = {}
        self.total = 0.0

    def end(self, stage: str) -> None:
        """End this stage; the next one begins."""
        now = time.perf_counter()
        self.spent[stage] = round((now - self._last) * 1000, 3)
        self.total = round((now - self._begun) * 1000, 3)
        self._last = now


@dataclass(frozen=True, slots=True)
class Asking[Request: StreamAsked]:
    """What is asked of which graphs, and when. `learned`: what the feedback of the citizen teaches."""

    request: Request
    view: View
    deps: Deps
    timer: StageTimer
    learned: Learned = NOTHING_LEARNED


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered:
    """What was found, in its order, and what is told beside it. `found`: what it takes to ask the same again.

    `scores`: those of the memories that fit a waking, by which it sorts the graph results of each level.
    """

    candidates: Candidates
    activation: Activation
    report: RetrievalReport
    found: Recall
    scores: Mapping[Key, float] | None = None


class AddedVersions(NamedTuple):
    """The activation with other versions at its end, the results of their queries, notes on what was left out."""

    activation: Activation
    results: Sequence[QueryResult] = ()
    notes: tuple[str, ...] = ()


async def add_versions(
    asking: Asking[RetrievalIntention], asker: Asker, candidates: Candidates, activation: Activation
) -> AddedVersions:
    """Add every version of the memories that the stream will show; in `evolution` and `full_history` alone.

    A change has two sides, and the question finds only one of them (003, component 2). The added versions have no
    relevance and stand last; `candidates` gains them.
    """
    intention, view = asking.request, asking.view
    if intention.temporal_mode not in HISTORICAL:
        return AddedVersions(activation)
    selected = selected_keys(intention, candidates, activation)
    values = {**view.scope.bounds(), **felt_values(intention)}
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


async def show(asking: Asking[StreamAsked], ordered: Ordered) -> ConsciousnessStream:
    """The stream of what was found, whole, with who contests what it shows, and the links that are on the mind.

    Those are read where the stream acts on the energy. What comes too late is left out.
    """
    candidates, activation = ordered.candidates, ordered.activation
    on_mind: list[ConsciousnessRelationship] = []
    if asking.request.apply_feedback:
        on_mind = await _read_on_mind(activation, asking.view)
    contested = await read_contested(asking, candidates, activation)
    report = replace(ordered.report, on_mind=on_mind, contested=contested)
    stream = assemble(asking.request, candidates, activation, report)
    scores = ordered.scores
    if scores is None:
        return stream
    levels = dict(stream.levels)
    for name, level in levels.items():
        nodes = sorted(level.graph_results, key=lambda node: -scores.get(key_of(node), -1.0))
        levels[name] = level.model_copy(update={"graph_results": tuple(nodes)})
    return stream.model_copy(update={"levels": levels, "state": ordered.found.state})


async def _read_on_mind(activation: Activation, view: View) -> list[ConsciousnessRelationship]:
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


async def read_contested(asking: Asking[StreamAsked], candidates: Candidates, activation: Activation) -> Contests:
    """Who contests the shared memories that may be shown, in the scope; nobody where a graph answers too late."""
    if all(score.key[0] == Level.N1 for score in activation.order):
        return {}
    ids = shown_ids(asking.request, candidates, activation)
    return await asking.deps.features.read("contested", ids, asking.view) or {}


async def with_mind(stream: ConsciousnessStream, asking: Asking[StreamAsked]) -> ConsciousnessStream:
    """The stream with the energy of the citizen and its rules, where a text or a section tells them.

    What is not read in time is left out.
    """
    parts, view, deps = asking.request.parts or (), asking.view, asking.deps
    reads: dict[str, Coroutine[Any, Any, Any]] = {}
    if "energy" in parts:
        reads["citizen_energy"] = _energy(stream, view, deps)
    if asking.request.form == "compact" or "rules" in parts:
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


async def complete(asking: Asking[StreamAsked], ordered: Ordered, stream: ConsciousnessStream) -> Completed:
    """The stream with the coherence of its paths, its id, energy feedback if asked for, and its times (003, 4).

    What was asked, found and shown is noted. Feedback starts from the energy of the request, or from the stored
    energy of the citizen when it has none.
    """
    await let_others_run()
    asking.timer.end("assembly")
    links = ordered.candidates.links.values()
    if tells_mind(asking.request):
        coherent, told = await together(add_coherence(stream, asking.view, links), with_mind(stream, asking))
        stream = told.model_copy(update={"traversal_graph": coherent.traversal_graph})
    else:
        stream = coherent = await add_coherence(stream, asking.view, links)
    answer = await finish(fitted(stream, asking.request), asking, ordered.found)
    return Completed(answer, coherent)


def fitted(stream: ConsciousnessStream, asked: StreamAsked) -> ConsciousnessStream:
    """The stream in the form and within the tokens that were asked for."""
    said = asked.query_text if isinstance(asked, RetrievalIntention) else asked.current_goal or ""
    return fit(stream, asked.form, budget_of(asked), parts=asked.parts, words=stems_of(said))


async def finish(stream: ConsciousnessStream, asking: Asking[StreamAsked], found: Recall) -> ConsciousnessStream:
    """The fitted stream with its id, energy feedback if asked for, and its times; see `complete`."""
    view, deps, timer = asking.view, asking.deps, asking.timer
    if view.recall is None:
        stream = note_stream(stream, asking.request, view, deps, found=found, learned=asking.learned)
        if asking.request.apply_feedback:
            stream = await with_feedback(stream, asking.request.current_energy, deps, view.now)
    timer.end("completion")
    own: dict[str, Any] = {"retrieval_latency_ms": timer.total, "stage_ms": timer.spent}
    if deps.connection.servers.reads_replicas and (behind := behind_ms()) is not None:
        own["behind_ms"] = behind
    return stream.model_copy(update=own)


def known_scope(view: View, candidates: Candidates) -> Scope:
    """What the stream saw, as of the last change that it knew: what was written meanwhile may be among it."""
    valid, known = view.scope
    known_at = view.now
    for memory in candidates.memories.values():
        known_at = max(known_at, int(memory.get("created_at")))
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
