"""The stream, assembled from the candidates and their order (003, components 3 and 4). Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Final

from orchestration.metadata_enrichment import NO_CONTESTS, Contests, enrich_links, enrich_memories
from orchestration.mind import energy
from orchestration.mind.dissonance import detect_temporal_dissonances, infer_dissonances
from orchestration.mind.energy import NO_DECAY, Decay
from orchestration.ranking import consciousness_score
from orchestration.ranking.activation import Activation
from orchestration.ranking.candidates import Candidate, CandidateLink, Candidates, Key, column_of
from orchestration.ranking.confidence import Answer
from orchestration.ranking.consciousness_score import Score, spread_over_weeks
from orchestration.traversal.graph import KeptValues, build_graph
from orchestration.traversal.paths import NO_STATE, Identity, State
from orchestration.validation import memory_verdicts, metadata_report
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.language_model import ModelCall
from schemas.memory import (
    ConsciousnessNode,
    ConsciousnessRelationship,
    GraphKey,
    Level,
    Source,
    describe_unreadable,
    level_of,
)
from schemas.mind.feedback import LearnedFactors
from schemas.stream import (
    LEVEL_NAMES,
    ActivationTiers,
    ConsciousnessLevelResults,
    ConsciousnessStream,
    ConsciousnessSummary,
    Degradation,
    Offer,
    QueryTiming,
    ResolutionPattern,
)
from schemas.temporal import TemporalMode
from substrate.emotions import normal_emotions

type StreamAsked = RetrievalIntention | StateBasedRetrieval
"""What a stream may be asked by."""

LINKS_PER_LEVEL: Final = 200
EMOTIONAL_THEMES: Final = 5


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    """How the retrieval went; the caller measured it. `answer` says how well it answers; None for a waking.

    Links are weighed from `state`. `learned`: what feedback did to it; None without feedback. `decay`: how energy
    faded until the moment asked. `on_mind`: the links of what is in focus, read where the stream acts on the
    energy. `contested`: who contests the shared memories that were found.
    """

    retrieved_at: datetime
    timings: Sequence[QueryTiming]
    notes: Sequence[str]
    entities: Sequence[str] = ()
    state: State = NO_STATE
    patterns: Sequence[ResolutionPattern] = ()
    offers: Sequence[Offer] = ()
    model_calls: Sequence[ModelCall] = ()
    answer: Answer | None = None
    learned: LearnedFactors | None = None
    decay: Decay = NO_DECAY
    on_mind: Sequence[ConsciousnessRelationship] = ()
    contested: Contests = NO_CONTESTS


@dataclass(frozen=True, slots=True)
class Selection:
    """The candidates that a stream shows, by level: the results of both queries whole, and the links.

    003, decision 4: concatenation first. `vector` is in the order of likeness, `graph` in that of the scores.
    """

    vector: Mapping[Level, Sequence[Key]]
    graph: Mapping[Level, Sequence[Key]]
    links: Mapping[Level, Sequence[CandidateLink]]

    def keys(self) -> set[Key]:
        return set(chain(*self.vector.values(), *self.graph.values()))


@dataclass(frozen=True, slots=True)
class StreamContent:
    """Memories, best first, and links per level: all that was selected, or the part that is shown."""

    order: Sequence[Score]
    nodes: Mapping[Key, ConsciousnessNode]
    links: Mapping[Level, Sequence[ConsciousnessRelationship]]

    def nodes_of(self, scores: Iterable[Score]) -> list[ConsciousnessNode]:
        return [self.nodes[score.key] for score in scores]

    def all_links(self) -> list[ConsciousnessRelationship]:
        return list(chain(*self.links.values()))

    def reduced_to(self, scores: Sequence[Score]) -> StreamContent:
        """The memories of these scores alone, and the links between them."""
        if scores is self.order:
            return self
        reduced = replace(self, order=scores)
        if len(scores) == len(self.order):
            return reduced
        present = {score.key[:2] for score in scores}
        links: dict[Level, list[ConsciousnessRelationship]] = {level: [] for level in self.links}
        for level, of_level in self.links.items():
            for link in of_level:
                if {(link.graph_key, link.source_id), (link.graph_key, link.target_id)} <= present:
                    links[level].append(link)
        return replace(reduced, links=links)


def select(candidates: Candidates, scores: Sequence[Score], levels: Sequence[Level], limit: int) -> Selection:
    """The best `limit` of each query, and up to `LINKS_PER_LEVEL` links between them, the strongest first.

    Other versions of a selected memory are shown beyond the limit, with the results of the graph query.
    """
    vector: dict[Level, list[Candidate]] = {level: [] for level in levels}
    graph: dict[Level, list[Key]] = {level: [] for level in levels}
    left = dict.fromkeys(levels, limit)
    memories = candidates.memories
    for score in scores:
        key = score.key
        level, memory = level_of(key[0]), memories[key]
        if memory.likeness is not None and len(vector[level]) < limit:
            vector[level].append(memory)
        if memory.hops is not None and left[level] > 0:
            left[level] -= 1
            graph[level].append(key)
        elif memory.is_beside:
            graph[level].append(key)
    nearest: dict[Level, list[Key]] = {}
    for level, found in vector.items():
        nearest[level] = [each.key for each in sorted(found, key=lambda each: each.likeness_rank)]
    return Selection(nearest, graph, _strongest_links(candidates, levels, Selection(nearest, graph, {}).keys()))


def selected_keys(asked: StreamAsked, candidates: Candidates, activation: Activation) -> set[Key]:
    """The memories that may be shown."""
    levels = list(dict.fromkeys(map(level_of, asked.graphs)))
    return select(candidates, activation.order, levels, asked.max_results_per_level).keys()


def shown_ids(asked: StreamAsked, candidates: Candidates, activation: Activation) -> dict[GraphKey, list[str]]:
    """Their ids, by graph."""
    ids: dict[GraphKey, list[str]] = {}
    for graph, memory_id, _ in sorted(selected_keys(asked, candidates, activation)):
        of_graph = ids.setdefault(graph, [])
        if memory_id not in of_graph[-1:]:
            of_graph.append(memory_id)
    return ids


def _strongest_links(
    candidates: Candidates, levels: Sequence[Level], keys: Collection[Key]
) -> dict[Level, list[CandidateLink]]:
    present = {key[:2] for key in keys}
    between = [
        link
        for link in candidates.links.values()
        if (link.graph_key, link.source) in present and (link.graph_key, link.target) in present
    ]
    energies, confidences, ids = (column_of(between, column) for column in ("energy", "confidence", "id"))

    def by_strength(place: int) -> tuple[float, str]:
        return -float(energies[place]) * float(confidences[place]), ids[place]

    links: dict[Level, list[CandidateLink]] = {level: [] for level in levels}
    for place in sorted(range(len(between)), key=by_strength):
        link = between[place]
        of_level = links[level_of(link.graph_key)]
        if len(of_level) < LINKS_PER_LEVEL:
            of_level.append(link)
    return links


def assemble(
    request: StreamAsked, candidates: Candidates, activation: Activation, report: RetrievalReport
) -> ConsciousnessStream:
    """The whole stream. The caller, who holds the clock, sets its latency and stage times.

    Everything about the stream is calculated from all that was selected: `fitting` leaves out what a budget does
    not hold, and changes no energy, no grade and no path.
    """
    levels = list(dict.fromkeys(map(level_of, request.graphs)))
    selection = select(candidates, activation.order, levels, request.max_results_per_level)
    kept = KeptValues()
    selected = _selected_content(selection, candidates, activation, report, explain=request.explain, kept=kept)
    whole = _accepted_content(request, selected, candidates, kept)
    bare = {key for key, node in whole.nodes.items() if is_bare(node)}
    nothing_fits = report.answer is not None and not report.answer.fits
    tiers = consciousness_score.tiers(
        whole.order,
        bare,
        nothing_fits=nothing_fits,
        whole=report.answer is not None and report.answer.wished,
        instructions=activation.instructions,
    )
    invalid = len(selected.order) - len(whole.order)
    left_out = [f"left out because their metadata is not fully valid: {invalid}"] if invalid else []
    nodes, links = whole.nodes_of(whole.order), whole.all_links()
    focus, peripheral, background = (tuple(whole.nodes_of(tier)) for tier in tiers)
    whole_tiers = ActivationTiers(focus=focus, peripheral=peripheral, background=background)
    # each memory with the later one that seems to tell what holds instead, where both were found
    overtaken = [
        (whole.nodes[earlier], whole.nodes[later])
        for earlier, later in activation.held_before.items()
        if earlier in whole.nodes and later in whole.nodes
    ]
    graph = build_graph(nodes, whole_tiers, links, report.state, kept=kept)
    places: dict[Identity, int] = {}
    for place, score in enumerate(whole.order):
        places.setdefault(score.key[:2], place)
    # of the links found, and of those that lead from what is in focus to what was not found
    weighed = {(link.graph_key, link.link_id, link.version): link for link in (*links, *report.on_mind)}
    if isinstance(request, RetrievalIntention):
        own_id, mode = request.intention_id, request.temporal_mode
    else:
        is_past = request.as_of_time is not None or request.known_at is not None
        own_id, mode = request.state_id, TemporalMode.POINT_IN_TIME if is_past else TemporalMode.CURRENT
    return ConsciousnessStream(
        intention_id=own_id,
        citizen_id=request.citizen_id,
        temporal_mode=mode,
        retrieved_at=report.retrieved_at,
        levels=_level_results(levels, selection, whole),
        notes=(*report.notes, *left_out),
        consciousness_summary=summarize(nodes, report.retrieved_at),
        degraded=tuple(_degradations(report, (*nodes, *links))),
        answer_confidence=None if report.answer is None else report.answer.confidence,
        nothing_fits=nothing_fits,
        activation_tiers=whole_tiers,
        traversal_graph=graph,
        energy_feedback_potential=energy.energy_feedback_potential(links),
        relative_potential=round(energy.relative_potential(weighed.values(), places), 6),
        energy_shares=tuple(energy.energy_shares(links)) if request.explain else (),
        temporal_dissonances=(*detect_temporal_dissonances(nodes, mode), *infer_dissonances(overtaken, mode)),
        metadata_validation=metadata_report(nodes, links, kept),
        resolution_patterns=tuple(report.patterns),
        offers=tuple(report.offers),
        retrieval_latency_ms=0.0,
        query_count=2 * len(request.graphs),
        timings=tuple(report.timings),
        entities=tuple(report.entities),
        model_calls=tuple(report.model_calls),
        learned=report.learned if request.explain else None,
    )


def is_bare(node: ConsciousnessNode) -> bool:
    """True for a memory without a text of its own: a session, a person of whom only the name is known."""
    if node.node_type == "Session":
        return True
    is_name = node.node_type == "Person" or node.source is Source.INGESTION
    return is_name and not node.speaker and not node.description.strip()


def _selected_content(
    selection: Selection,
    candidates: Candidates,
    activation: Activation,
    report: RetrievalReport,
    *,
    explain: bool,
    kept: KeptValues,
) -> StreamContent:
    keys = selection.keys()
    order = [score for score in activation.order if score.key in keys]
    decay, known_to = report.decay, candidates.known_to
    nodes = enrich_memories(
        order, candidates, activation, explain=explain, decay=decay, contested=report.contested, kept=kept
    )
    links = {level: tuple(enrich_links(links, known_to, decay, kept)) for level, links in selection.links.items()}
    return StreamContent(order, nodes, links)


def _accepted_content(
    request: StreamAsked, content: StreamContent, candidates: Candidates, kept: KeptValues
) -> StreamContent:
    """Without what is not valid, if the request demands that; spread over weeks, if it asks for plurality."""
    order = content.order
    if request.require_valid:
        verdicts = memory_verdicts(content.nodes.values(), content.all_links(), kept)
        order = [score for score in order if verdicts[score.key].valid]
    if request.plurality is not None:
        order = spread_over_weeks(order, candidates.memories, request.plurality)
    return content.reduced_to(order)


def _level_results(
    levels: Sequence[Level], selection: Selection, content: StreamContent
) -> dict[str, ConsciousnessLevelResults]:
    present = {score.key for score in content.order}

    def nodes_of(keys: Sequence[Key]) -> tuple[ConsciousnessNode, ...]:
        return tuple(content.nodes[key] for key in keys if key in present)

    return {
        LEVEL_NAMES[level]: ConsciousnessLevelResults(
            vector_results=nodes_of(selection.vector[level]),
            graph_results=nodes_of(selection.graph[level]),
            relationships=tuple(content.links[level]),
        )
        for level in levels
    }


def _degradations(
    report: RetrievalReport, records: Sequence[ConsciousnessNode | ConsciousnessRelationship]
) -> Iterator[Degradation]:
    for timing in report.timings:
        if timing.failure is not None:
            yield Degradation(query=timing.query, reason=timing.failure)
    for call in report.model_calls:
        if call.failure is not None:
            yield Degradation(query=call.purpose, reason=call.failure)
    for line in describe_unreadable(records):
        yield Degradation(query="fields", reason=line)


def summarize(nodes: Sequence[ConsciousnessNode], now: datetime) -> ConsciousnessSummary:
    """The stream in a few numbers: averages, themes, span and counts; zeros for no memory (003, component 4)."""
    if not nodes:
        return ConsciousnessSummary()
    themes: defaultdict[str, float] = defaultdict(float)
    active = 0
    for node in nodes:
        active += all(end is None or end > now for end in (node.invalid_at, node.expired_at))
        if node.emotion_vector:
            for emotion, intensity in normal_emotions(node.emotion_vector).items():
                themes[emotion] += intensity
    per_level = Counter(node.level for node in nodes)
    strongest = sorted(themes.items(), key=lambda item: (-item[1], item[0]))
    return ConsciousnessSummary(
        dominant_energy=round(sum(node.energy for node in nodes) / len(nodes), 6),
        emotional_themes=tuple(name for name, weight in strongest[:EMOTIONAL_THEMES] if weight > 0),
        confidence_average=round(sum(node.confidence for node in nodes) / len(nodes), 6),
        earliest_memory=min(node.valid_at for node in nodes),
        latest_memory=max(node.valid_at for node in nodes),
        n1_result_count=per_level[Level.N1],
        n2_result_count=per_level[Level.N2],
        n3_result_count=per_level[Level.N3],
        total_results=len(nodes),
        active_vs_historical_ratio=round(active / len(nodes), 6),
    )
