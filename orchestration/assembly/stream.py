"""The stream from what was found and how active it is (003, components 3 and 4). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from orchestration.algorithms import reciprocal_rank_fusion
from orchestration.assembly import budget
from orchestration.assembly.compact import compact
from orchestration.assembly.levels import Selection, select
from orchestration.assembly.options import Framing
from orchestration.assembly.summary import summarise
from orchestration.metadata_enrichment import enriched, relationships
from orchestration.mind import energy
from orchestration.mind.dissonance import detect_temporal_dissonances
from orchestration.ranking import consciousness_score
from orchestration.ranking.activation import Activation
from orchestration.ranking.candidates import Candidates, Key
from orchestration.ranking.plurality import spread
from orchestration.traversal.graph import build_graph
from orchestration.validation import memory_verdicts, metadata_report
from schemas.language_model import ModelCall
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, Level
from schemas.stream import (
    LEVEL_NAMES,
    ActivationTiers,
    ConsciousnessLevelResults,
    ConsciousnessStream,
    Degradation,
    QueryTiming,
)
from schemas.stream_parts import ResolutionPattern, TraversalGraph
from schemas.unreadable import left_out

type Identity = tuple[Level, str]


@dataclass(frozen=True, slots=True)
class Account:
    """How the retrieval went: when, how long by query, what was assumed, names seen, patterns, models asked."""

    retrieved_at: datetime
    timings: Sequence[QueryTiming]
    notes: Sequence[str]
    entities: Sequence[str]
    patterns: Sequence[ResolutionPattern] = ()
    model_calls: Sequence[ModelCall] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """Memories, most active first, and links per level: all that was found, or what of it is shown."""

    order: Sequence[consciousness_score.Score]
    nodes: Mapping[Key, ConsciousnessNode]
    links: Mapping[Level, Sequence[ConsciousnessRelationship]]

    def ordered(self) -> list[ConsciousnessNode]:
        """The memories in order."""
        return [self.nodes[score.key] for score in self.order]

    def all_links(self) -> list[ConsciousnessRelationship]:
        """The links of all levels."""
        return [link for links in self.links.values() for link in links]

    def identities(self) -> set[Identity]:
        """Whose records they are."""
        return {score.key[:2] for score in self.order}

    def of(self, order: Sequence[consciousness_score.Score]) -> Part:
        """The memories of these scores alone, and the links between them."""
        if len(order) == len(self.order):
            return replace(self, order=order)
        present = {score.key[:2] for score in order}
        return Part(
            order, self.nodes, {level: _between(some, level, present) for level, some in self.links.items()}
        )


def assemble(framing: Framing, found: Candidates, activation: Activation, account: Account) -> ConsciousnessStream:
    """The whole stream. Its latency and stage times are set by the caller, who holds the clock.

    What is calculated about it is calculated of all that was found, what the budget leaves out included: how much
    of a stream is shown changes no energy, no grade, no path.
    """
    selection = select(found, activation.order, framing.levels, framing.limit)
    selected = _selected(selection, found, activation, explain=framing.explain)
    whole = _accepted(framing, selected, found)
    tiers = consciousness_score.tiers(whole.order)
    shown = _fitting(framing, selection, whole, tiers)
    nodes, links = whole.ordered(), whole.all_links()
    in_tiers = _tiers(tiers, whole)
    stream = ConsciousnessStream(
        intention_id=framing.request_id,
        citizen_id=framing.citizen_id,
        temporal_mode=framing.mode,
        retrieved_at=account.retrieved_at,
        levels=_levels(framing.levels, selection, shown),
        activation_tiers=in_tiers if shown is whole else _tiers(tiers, shown),
        traversal_graph=_graph_shown(build_graph(nodes, in_tiers, links, framing.state), whole, shown),
        energy_feedback_potential=energy.energy_feedback_potential(links),
        energy_shares=tuple(energy.energy_shares(links)) if framing.explain else (),
        temporal_dissonances=tuple(detect_temporal_dissonances(nodes, framing.mode)),
        metadata_validation=metadata_report(nodes, links),
        resolution_patterns=tuple(account.patterns),
        consciousness_summary=summarise(nodes, account.retrieved_at),
        retrieval_latency_ms=0.0,
        query_count=2 * len(framing.levels),
        timings=tuple(account.timings),
        degraded=(*_degraded(account), *_incomplete(nodes, links)),
        notes=(*account.notes, *_notes(len(selected.order) - len(whole.order))),
        entities=tuple(account.entities),
        omitted=len(whole.order) - len(shown.order),
        model_calls=tuple(account.model_calls),
    )
    if framing.form == "compact":
        of_shown = [one for one in stream.temporal_dissonances if (one.level, one.node_id) in shown.identities()]
        return stream.model_copy(update={"text": compact(stream, of_shown)})
    return stream


def _selected(selection: Selection, found: Candidates, activation: Activation, *, explain: bool) -> Part:
    keys = selection.keys()
    order = [score for score in activation.order if score.key in keys]
    nodes = enriched(order, found, activation, explain=explain)
    return Part(
        order,
        nodes,
        {level: tuple(relationships(bonds, found.known_to)) for level, bonds in selection.links.items()},
    )


def _accepted(framing: Framing, selected: Part, found: Candidates) -> Part:
    """What is valid, if that was asked for, spread over weeks, if that was."""
    accepted = selected.order
    if framing.require_valid:
        verdicts = memory_verdicts(selected.nodes.values(), selected.all_links())
        accepted = [score for score in accepted if verdicts[score.key].valid]
    if framing.plurality is not None:
        accepted = spread(accepted, found.memories, framing.plurality)
    return selected.of(accepted)


def _fitting(
    framing: Framing, selection: Selection, whole: Part, tiers: Sequence[Sequence[consciousness_score.Score]]
) -> Part:
    """What fits the budget: the whole itself where there is none."""
    ranks = reciprocal_rank_fusion((*selection.vector.values(), *selection.graph.values()))
    kept = budget.within(
        [[(score.key, whole.nodes[score.key]) for score in tier] for tier in tiers], ranks, framing.budget
    )
    return whole if kept is None else whole.of([score for score in whole.order if score.key in kept])


def _graph_shown(graph: TraversalGraph, whole: Part, shown: Part) -> TraversalGraph:
    """The graph of the whole with those of its nodes and edges that are shown."""
    if len(shown.order) == len(whole.order):
        return graph
    present = shown.identities()
    edges = tuple(
        edge
        for edge in graph.edges
        if (edge.level, edge.source_id) in present and (edge.level, edge.target_id) in present
    )
    nodes = tuple(node for node in graph.nodes if (node.level, node.node_id) in present)
    return graph.model_copy(update={"nodes": nodes, "edges": edges})


def _between(
    links: Sequence[ConsciousnessRelationship], level: Level, present: set[Identity]
) -> tuple[ConsciousnessRelationship, ...]:
    return tuple(
        link for link in links if (level, link.source_id) in present and (level, link.target_id) in present
    )


def _tiers(tiers: Sequence[Sequence[consciousness_score.Score]], part: Part) -> ActivationTiers:
    """Of each tier what the part holds."""
    there = {score.key for score in part.order}
    focus, peripheral, background = (
        tuple(part.nodes[score.key] for score in tier if score.key in there) for tier in tiers
    )
    return ActivationTiers(focus=focus, peripheral=peripheral, background=background)


def _levels(levels: Sequence[Level], selection: Selection, shown: Part) -> dict[str, ConsciousnessLevelResults]:
    there = {score.key for score in shown.order}
    return {
        LEVEL_NAMES[level]: ConsciousnessLevelResults(
            vector_results=tuple(shown.nodes[key] for key in selection.vector[level] if key in there),
            graph_results=tuple(shown.nodes[key] for key in selection.graph[level] if key in there),
            relationships=tuple(shown.links[level]),
        )
        for level in levels
    }


def _notes(invalid: int) -> list[str]:
    return [f"left out because their metadata is not fully valid: {invalid}"] if invalid else []


def _incomplete(
    nodes: Sequence[ConsciousnessNode], links: Sequence[ConsciousnessRelationship]
) -> Iterator[Degradation]:
    return (Degradation(query="fields", reason=line) for line in left_out((*nodes, *links)))


def _degraded(account: Account) -> tuple[Degradation, ...]:
    went = [(timing.query, timing.failure) for timing in account.timings]
    went += [(call.purpose, call.failure) for call in account.model_calls]
    return tuple(Degradation(query=what, reason=why) for what, why in went if why is not None)
