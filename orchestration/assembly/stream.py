"""The stream from what was found and how active it is (003, components 3 and 4). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from orchestration import energy
from orchestration.activation import ranking
from orchestration.activation.engine import Activation
from orchestration.activation.found import Found, Key
from orchestration.assembly import budget
from orchestration.assembly.compact import compact
from orchestration.assembly.framing import Framing
from orchestration.assembly.levels import Selection, select
from orchestration.assembly.summary import summarise
from orchestration.dissonance import detect_temporal_dissonances
from orchestration.metadata_enrichment import enriched, relationships
from orchestration.plurality import spread
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
from schemas.thought import ResolutionPattern

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
class Shown:
    """The memories that a stream shows, most active first, and its links per level."""

    order: Sequence[ranking.Score]
    nodes: Mapping[Key, ConsciousnessNode]
    links: Mapping[Level, Sequence[ConsciousnessRelationship]]
    invalid: int
    omitted: int

    def ordered(self) -> list[ConsciousnessNode]:
        """The memories in order."""
        return [self.nodes[score.key] for score in self.order]

    def all_links(self) -> list[ConsciousnessRelationship]:
        """The links of all levels."""
        return [link for links in self.links.values() for link in links]


def assemble(framing: Framing, found: Found, activation: Activation, account: Account) -> ConsciousnessStream:
    """The whole stream. Its latency and stage times are set by the caller, who holds the clock."""
    selection = select(found, activation.order, framing.levels, framing.limit)
    shown = _shown(framing, selection, found, activation)
    nodes, links = shown.ordered(), shown.all_links()
    tiers = _tiers(shown.order, shown.nodes)
    stream = ConsciousnessStream(
        intention_id=framing.request_id,
        citizen_id=framing.citizen_id,
        temporal_mode=framing.mode,
        retrieved_at=account.retrieved_at,
        levels=_levels(framing.levels, selection, shown),
        activation_tiers=tiers,
        traversal_graph=build_graph(nodes, tiers, links, framing.state),
        energy_feedback_potential=energy.energy_feedback_potential(links),
        energy_shares=tuple(energy.shares(links)) if framing.explain else (),
        temporal_dissonances=tuple(detect_temporal_dissonances(nodes, framing.mode)),
        metadata_validation=metadata_report(nodes, links),
        resolution_patterns=tuple(account.patterns),
        consciousness_summary=summarise(nodes, account.retrieved_at),
        retrieval_latency_ms=0.0,
        query_count=2 * len(framing.levels),
        timings=tuple(account.timings),
        degraded=_degraded(account),
        notes=(*account.notes, *_notes(shown)),
        entities=tuple(account.entities),
        omitted=shown.omitted,
        model_calls=tuple(account.model_calls),
    )
    if framing.form == "compact":
        return stream.model_copy(update={"text": compact(stream, stream.temporal_dissonances)})
    return stream


def _shown(framing: Framing, selection: Selection, found: Found, activation: Activation) -> Shown:
    """What of the selection is shown: what is valid, if that was asked for, and what fits the budget."""
    selected = selection.keys()
    order = [score for score in activation.order if score.key in selected]
    nodes = enriched(order, found, activation, explain=framing.explain)
    links = {level: relationships(bonds) for level, bonds in selection.links.items()}
    valid = order
    if framing.require_valid:
        verdicts = memory_verdicts(nodes.values(), [link for some in links.values() for link in some])
        valid = [score for score in order if verdicts[score.key].valid]
    if framing.plurality is not None:
        valid = spread(valid, found.memories, framing.plurality)
    ranks = budget.reciprocal_ranks((*selection.vector.values(), *selection.graph.values()))
    tiers = ranking.tiers(valid)
    kept = budget.within(
        [[(score.key, nodes[score.key]) for score in tier] for tier in tiers], ranks, framing.budget
    )
    final = valid if kept is None else [score for score in valid if score.key in kept]
    present = {score.key[:2] for score in final}
    return Shown(
        order=final,
        nodes=nodes,
        links={level: _between(some, level, present) for level, some in links.items()},
        invalid=len(order) - len(valid),
        omitted=len(valid) - len(final),
    )


def _between(
    links: Sequence[ConsciousnessRelationship], level: Level, present: set[Identity]
) -> tuple[ConsciousnessRelationship, ...]:
    return tuple(
        link for link in links if (level, link.source_id) in present and (level, link.target_id) in present
    )


def _tiers(order: Sequence[ranking.Score], nodes: Mapping[Key, ConsciousnessNode]) -> ActivationTiers:
    focus, peripheral, background = (tuple(nodes[score.key] for score in tier) for tier in ranking.tiers(order))
    return ActivationTiers(focus=focus, peripheral=peripheral, background=background)


def _levels(levels: Sequence[Level], selection: Selection, shown: Shown) -> dict[str, ConsciousnessLevelResults]:
    there = {score.key for score in shown.order}
    return {
        LEVEL_NAMES[level]: ConsciousnessLevelResults(
            vector_results=tuple(shown.nodes[key] for key in selection.vector[level] if key in there),
            graph_results=tuple(shown.nodes[key] for key in selection.graph[level] if key in there),
            relationships=tuple(shown.links[level]),
        )
        for level in levels
    }


def _notes(shown: Shown) -> list[str]:
    return [f"left out because their metadata is not fully valid: {shown.invalid}"] if shown.invalid else []


def _degraded(account: Account) -> tuple[Degradation, ...]:
    went = [(timing.query, timing.failure) for timing in account.timings]
    went += [(call.purpose, call.failure) for call in account.model_calls]
    return tuple(Degradation(query=what, reason=why) for what, why in went if why is not None)
