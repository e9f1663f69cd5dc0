"""Parts of a stream besides its memories: paths of thought, energy, belief changes, patterns (003, 4)."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from schemas.base import Frozen, Sparse
from schemas.memory import (
    Collective,
    ConsciousnessNode,
    InGraph,
    InvalidationReason,
    Level,
    ResolutionState,
    Severity,
)

Tier = Literal["focus", "peripheral", "background"]


class GraphNode(InGraph, Sparse):
    """A memory in the traversal graph. `activation_score` in [0, 1]; `node_id` is unique within its graph."""

    node_id: str
    level: Level
    collective: Collective = None
    node_type: str
    content: str
    activation_score: float
    activation_tier: Tier
    energy: float
    confidence: float
    emotion_vector: dict[str, float] | None = None
    valid_at: datetime
    invalid_at: datetime | None = None
    created_at: datetime
    expired_at: datetime | None = None


class GraphEdge(InGraph, Sparse):
    """A link in the traversal graph. `traversal_weight` in [0, 1] (003, 5b)."""

    edge_id: str
    level: Level
    collective: Collective = None
    source_id: str
    target_id: str
    relation_type: str
    goal: str
    mindstate: str
    energy: float
    confidence: float
    emotion_vector: dict[str, float] | None = None
    energy_transfer_coefficient: float
    resolution_state: ResolutionState
    traversal_weight: float


def graph_content(node: ConsciousnessNode) -> str:
    """What a memory says in the graph: its speaker or name, and its text."""
    if node.speaker:
        return f"{node.speaker}: {node.description}"
    return f"{node.name}: {node.description}" if node.description else node.name


def activation_score(node: ConsciousnessNode) -> float:
    """Relevance after spreading, in [0, 1]."""
    return max(0.0, min(1.0, node.relevance_score))


class TraversalPath(Frozen):
    """A likely progression of thought. All scores but `total_activation` are in [0, 1].

    `path_nodes` has one more entry than `path_edges`. `traversal_probability` is the product of the edges'
    weights.
    """

    path_id: str
    path_nodes: tuple[str, ...]
    path_edges: tuple[str, ...]
    total_activation: float
    semantic_coherence: float
    emotional_consistency: float
    path_narrative: str
    traversal_probability: float


class GraphFigures(Frozen):
    """What a graph tells beside its nodes and edges. It covers all that was found, not only what is sent."""

    suggested_paths: tuple[TraversalPath, ...] = ()
    hub_nodes: tuple[str, ...] = ()
    central_themes: tuple[str, ...] = ()
    node_count: int = 0
    edge_count: int = 0
    path_count: int = 0
    graph_density: float = 0.0


class TraversalGraph(GraphFigures):
    """The memories found as a graph. `graph_density` is edges / possible edges, 0 below two nodes.

    `nodes` and `edges` are those in the stream: fewer than found with `max_tokens`. All else covers all that was
    found: a path may lead over a memory that did not fit.
    """

    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()


class StreamRule(InGraph, Frozen):
    """A rule in force, and the newest memory that holds it. `severity`: what breaking it leads to."""

    rule: str
    severity: Severity
    memory_id: str
    level: Level
    collective: Collective = None


class EnergyShare(Frozen):
    """The part of one link in the energy feedback potential, before the sum is normalised."""

    link_id: str
    transfer: float


class TemporalDissonance(InGraph, Frozen):
    """A learning moment: a belief that changed, why, and how it felt (003, component 2)."""

    node_id: str
    level: Level
    collective: Collective = None
    node_name: str
    original_belief: str
    corrected_belief: str
    dissonance_type: InvalidationReason
    correction_trigger: str
    correction_pattern_id: str | None = None
    discovery_energy: float
    discovery_emotions: dict[str, float] | None = None
    belief_held_from: datetime
    belief_held_until: datetime
    corrected_at: datetime
    held_seconds: float
    inferred: bool = Field(
        default=False,
        description="Nobody superseded it: a later memory, `corrected_by`, seems to tell what holds instead.",
    )
    corrected_by: str | None = Field(
        default=None, description="The id of the later memory, where the change was inferred."
    )


class ResolutionPattern(InGraph, Frozen):
    """How a similar blockage was resolved: the blockage, its resolution, the steps beside it."""

    level: Level
    collective: Collective = None
    blockage_id: str
    blockage: str
    resolution_id: str
    resolution: str
    steps: tuple[str, ...] = ()
    step_ids: tuple[str, ...] = ()
    link_id: str
    emotional_likeness: float
    discovery_energy: float


class RecurringCorrection(Frozen):
    """How often one pattern corrected beliefs (003, component 2: repeated dissonances reveal systematic errors).

    `count` is the number of dissonances; `node_ids` names each memory once.
    """

    correction_pattern_id: str
    count: int
    node_ids: tuple[str, ...]
