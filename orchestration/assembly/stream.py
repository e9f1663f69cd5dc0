"""The stream from what was found and how active it is (003, component 3). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from orchestration.activation import ranking
from orchestration.activation.engine import Activation
from orchestration.activation.found import Found, Key
from orchestration.assembly import budget
from orchestration.assembly.levels import Selection, select
from orchestration.assembly.summary import summarise
from orchestration.metadata_enrichment import enriched, relationships
from schemas.intention import RetrievalIntention
from schemas.memory import ConsciousnessNode, Level
from schemas.stream import (
    LEVEL_NAMES,
    ActivationTiers,
    ConsciousnessLevelResults,
    ConsciousnessStream,
    Degradation,
    QueryTiming,
)


@dataclass(frozen=True, slots=True)
class Account:
    """How the retrieval went: when, how long by stage, what was assumed, which names were seen."""

    retrieved_at: datetime
    timings: Sequence[QueryTiming]
    notes: Sequence[str]
    entities: Sequence[str]


def assemble(
    intention: RetrievalIntention, found: Found, activation: Activation, account: Account
) -> ConsciousnessStream:
    """The whole stream. Its latency and stage times are set by the caller, who holds the clock."""
    selection = select(found, activation.order, intention.query_levels, intention.max_results_per_level)
    shown = selection.keys()
    order = [score for score in activation.order if score.key in shown]
    nodes = enriched(order, found, activation, explain=intention.explain)
    ordered = [nodes[score.key] for score in order]
    places = budget.within(ordered, intention.max_tokens)
    kept = [score for place, score in enumerate(order) if place in places]
    kept_nodes = [nodes[score.key] for score in kept]
    return ConsciousnessStream(
        intention_id=intention.intention_id,
        citizen_id=intention.citizen_id,
        temporal_mode=intention.temporal_mode,
        retrieved_at=account.retrieved_at,
        levels=_levels(intention.query_levels, selection, {score.key: nodes[score.key] for score in kept}),
        activation_tiers=_tiers(kept, nodes),
        consciousness_summary=summarise(kept_nodes, account.retrieved_at),
        retrieval_latency_ms=0.0,
        query_count=len(account.timings),
        timings=tuple(account.timings),
        degraded=tuple(
            Degradation(query=timing.query, reason=timing.failure)
            for timing in account.timings
            if timing.failure is not None
        ),
        notes=tuple(account.notes),
        entities=tuple(account.entities),
        omitted=len(order) - len(kept),
    )


def _tiers(order: Sequence[ranking.Score], nodes: Mapping[Key, ConsciousnessNode]) -> ActivationTiers:
    focus, peripheral, background = (tuple(nodes[score.key] for score in tier) for tier in ranking.tiers(order))
    return ActivationTiers(focus=focus, peripheral=peripheral, background=background)


def _levels(
    levels: Sequence[Level], selection: Selection, nodes: Mapping[Key, ConsciousnessNode]
) -> dict[str, ConsciousnessLevelResults]:
    present = {(key[0], key[1]) for key in nodes}
    return {
        LEVEL_NAMES[level]: ConsciousnessLevelResults(
            vector_results=tuple(nodes[key] for key in selection.vector[level] if key in nodes),
            graph_results=tuple(nodes[key] for key in selection.graph[level] if key in nodes),
            relationships=tuple(
                relationships(
                    bond
                    for bond in selection.links[level]
                    if (level, bond.source) in present and (level, bond.target) in present
                )
            ),
        )
        for level in levels
    }
