"""The consciousness stream and its parts: memories, paths of thought, energy, belief changes (003, 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from json import dumps
from operator import itemgetter
from re import sub
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from schemas.base import Frozen, JsonMap, Sparse
from schemas.language_model import ModelCall
from schemas.memory import (
    Collective,
    ConsciousnessNode,
    ConsciousnessRelationship,
    InGraph,
    InvalidationReason,
    Level,
    MetadataValidationReport,
    ResolutionState,
    Severity,
)
from schemas.mind.feedback import LearnedFactors
from schemas.mind.state import CitizenState
from schemas.temporal import TemporalMode

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


GraphForm = Literal["graphml", "node-link"]
"""How a traversal graph alone is written: for Gephi and yEd, or for NetworkX."""


class GraphFigures(Frozen):
    """What a graph tells beside its nodes and edges. It covers all that was found, not only what is sent."""

    suggested_paths: tuple[TraversalPath, ...] = ()
    hub_nodes: tuple[str, ...] = ()
    central_themes: tuple[str, ...] = ()
    node_count: int = 0
    edge_count: int = 0
    path_count: int = 0
    graph_density: float = 0.0


def xml_text(value: Any) -> str:
    """A value as text that XML can hold: without control characters, escaped."""
    return escape(sub(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", str(value)))


def graphml(nodes: Sequence[Mapping[str, Any]], edges: Sequence[Mapping[str, Any]]) -> str:
    """Nodes with an `id` and edges with `source` and `target` as GraphML; all else they say is an attribute."""
    keys: dict[str, str] = {}
    body = ""
    for kind, things, own in (("node", nodes, ("id",)), ("edge", edges, ("source", "target"))):
        for thing in things:
            body += f"<{kind}"
            for name in own:
                body += f' {name}="{xml_text(thing[name])}"'
            body += ">"
            for name, value in thing.items():
                if name not in own:
                    keys[f'id="{kind}-{name}" for="{kind}" attr.name="{name}"'] = (
                        "double" if isinstance(value, int | float) else "string"
                    )
                    text = dumps(value) if isinstance(value, dict) else value
                    body += f'<data key="{kind}-{name}">{xml_text(text)}</data>'
            body += f"</{kind}>\n"
    declared = ""
    for key, kind in keys.items():
        declared += f'<key {key} attr.type="{kind}"/>\n'
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    return f'{head}\n{declared}<graph edgedefault="directed">\n{body}</graph>\n</graphml>\n'


def stream_html(rows: Sequence[tuple[bool, datetime, str, str]]) -> str:
    """The memories of a stream on a line of time, and those in focus, which `rows` says first, as a list.

    Each row goes on with when the memory began, its name and its text.
    """
    if not rows:
        return "<p>Nothing came to mind.</p>"
    _, first, *_ = min(rows, key=itemgetter(1))
    _, last, *_ = max(rows, key=itemgetter(1))
    length = (last - first).total_seconds() or 1.0
    dots = listed = ""
    for focus, began, name, text in rows:
        title = f"{xml_text(name)}, {began:%Y-%m-%d}"
        place = f'cx="{20 + 560 * (began - first).total_seconds() / length:.0f}" cy="20" r="{6 if focus else 4}"'
        dots += f'<circle {place} fill="#5b6bd0" opacity="{0.9 if focus else 0.4}"><title>{title}</title></circle>'
        listed += f"<li><b>{title}</b><br>{xml_text(text)}</li>" if focus else ""
    line = '<line x1="20" x2="580" y1="20" y2="20" stroke="#9a9a9a"/>'
    drawing = f'<svg width="600" height="40" role="img" aria-label="When they began">{line}{dots}</svg>'
    return f"<div>{drawing}<ol>{listed}</ol></div>"


class TraversalGraph(GraphFigures):
    """The memories found as a graph. `graph_density` is edges / possible edges, 0 below two nodes.

    `nodes` and `edges` are those in the stream: fewer than found with `max_tokens`. All else covers all that was
    found: a path may lead over a memory that did not fit.
    """

    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()

    def node_link(self) -> dict[str, Any]:
        """The graph in NetworkX's form: `networkx.node_link_graph(graph.node_link(), edges="edges")`."""
        nodes, edges = list[dict[str, Any]](), list[dict[str, Any]]()
        for node in self.nodes:
            nodes.append(
                {"id": f"{node.graph_key}|{node.node_id}", **node.model_dump(mode="json", exclude_none=True)}
            )
        for edge in self.edges:
            source, target = f"{edge.graph_key}|{edge.source_id}", f"{edge.graph_key}|{edge.target_id}"
            ends = {"source": source, "target": target, "key": edge.edge_id}
            edges.append({**ends, **edge.model_dump(mode="json", exclude_none=True)})
        return {"directed": True, "multigraph": True, "graph": {}, "nodes": nodes, "edges": edges}

    def graphml(self) -> str:
        """The graph as GraphML, which Gephi, yEd, Cytoscape and NetworkX read."""
        linked = self.node_link()
        return graphml(linked["nodes"], linked["edges"])

    def written(self, form: GraphForm) -> str:
        """The graph as a text: GraphML, or its node-link form as JSON."""
        return self.graphml() if form == "graphml" else dumps(self.node_link(), ensure_ascii=False)


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


OfferKind = Literal["resolve", "unblock", "close", "erase"]


class Offer(Frozen):
    """Something that could be done. `command` does it when it is sent as it is.

    `resolve`: a problem whose solution is known or done. `unblock`: what waits for nothing any more. `close`: a
    resolved problem that left links of work open. `erase`: what somebody asked to forget; `memory_id` is what
    asks, and the command names what goes for good when the offer is taken by its id. `id` stays the same as long
    as the offer is about the same.
    """

    id: str
    kind: OfferKind
    level: Level
    collective: Collective = None
    memory_id: str
    name: str
    reason: str
    command: JsonMap


class RecurringCorrection(Frozen):
    """How often one pattern corrected beliefs (003, component 2: repeated dissonances reveal systematic errors).

    `count` is the number of dissonances; `node_ids` names each memory once.
    """

    correction_pattern_id: str
    count: int
    node_ids: tuple[str, ...]


LEVEL_NAMES: dict[Level, str] = {
    Level.N1: "n1_personal",
    Level.N2: "n2_collective",
    Level.N3: "n3_ecosystem",
}
LISTS: Final = ("vector_results", "graph_results", "relationships")
"""The lists of a level."""


class ConsciousnessLevelResults(Frozen):
    """The memories found on one level.

    `vector_results` are nearest to the query, nearest first; `graph_results` were reached by name, by word or over
    links, most active first. `relationships` connect memories in the stream, strongest first.
    `omitted`: how many more entries each of the three lists has, where the stream is too large to show all.
    """

    vector_results: tuple[ConsciousnessNode, ...] = ()
    graph_results: tuple[ConsciousnessNode, ...] = ()
    relationships: tuple[ConsciousnessRelationship, ...] = ()
    omitted: dict[str, int] | None = None


class ActivationTiers(Frozen):
    """Memories by activation: up to 5 in focus, 20 peripheral, 50 in the background.

    Where nothing fits a question, at most standing instructions for its answer are in focus, and the periphery
    begins with what is nearest to it.
    A memory that does not fit leaves its place empty; others keep their tier.
    """

    focus: tuple[ConsciousnessNode, ...] = ()
    peripheral: tuple[ConsciousnessNode, ...] = ()
    background: tuple[ConsciousnessNode, ...] = ()

    def ordered(self) -> tuple[ConsciousnessNode, ...]:
        """All nodes, most active first."""
        return self.focus + self.peripheral + self.background


class ConsciousnessSummary(Frozen):
    """A few numbers about all memories found. An empty stream has zeros and no times."""

    dominant_energy: float = 0.0
    emotional_themes: tuple[str, ...] = ()
    confidence_average: float = 0.0
    earliest_memory: datetime | None = None
    latest_memory: datetime | None = None
    n1_result_count: int = 0
    n2_result_count: int = 0
    n3_result_count: int = 0
    total_results: int = 0
    active_vs_historical_ratio: float = 0.0


class QueryTiming(Frozen):
    """The course of one of the six queries. `milliseconds` is wall time in the service."""

    query: str
    milliseconds: float
    rows: int = 0
    asked_again: bool = False
    failure: str | None = None


class Degradation(Frozen):
    """A missing part of the stream, and why."""

    query: str
    reason: str


class EnergyFeedback(Frozen):
    """A citizen's energy before and after a stream, and the ordinary one to which it returns, all in [0, 1].

    (003, component 5c)
    """

    before: float
    after: float
    baseline: float


class TokenCounts(Frozen):
    """What a stream costs a language model: as it was `sent`, and in each form that carries its memories.

    `counter`: `estimate` is one token for every 3.3 bytes; another name is that of the vocabulary that counted
    what was `sent`. A form that was not sent is always estimated. The compact form has `sent` and `text`, which is
    that of its text, always counted by the vocabulary.
    """

    sent: int
    text: int | None = None
    full: int | None = None
    references: int | None = None
    counter: str = "estimate"


ALWAYS_SENT: Final = ("stream_id", "nothing_fits", "degraded", "omitted", "form")
"""Fields with a default that every stream has, whatever sections and however few tokens it was asked for."""


def _require_always_sent(schema: dict[str, Any]) -> None:
    required = (*schema.get("required", ()), *(name for name in ALWAYS_SENT if name in schema["properties"]))
    schema["required"] = list(dict.fromkeys(required))


class StreamFrame(Frozen):
    """What every form of a stream has beside its memories and links."""

    model_config = ConfigDict(
        json_schema_serialization_defaults_required=False, json_schema_extra=_require_always_sent
    )

    stream_id: str = ""
    intention_id: str
    citizen_id: str
    temporal_mode: TemporalMode
    retrieved_at: datetime
    answer_confidence: float | None = None
    nothing_fits: bool = False
    energy_feedback_potential: float = 0.0
    relative_potential: float = 0.5
    energy_shares: tuple[EnergyShare, ...] = ()
    energy_feedback: EnergyFeedback | None = None
    citizen_energy: float | None = None
    temporal_dissonances: tuple[TemporalDissonance, ...] = ()
    metadata_validation: MetadataValidationReport = MetadataValidationReport.model_construct()
    resolution_patterns: tuple[ResolutionPattern, ...] = ()
    offers: tuple[Offer, ...] = ()
    rules: tuple[StreamRule, ...] = ()
    consciousness_summary: ConsciousnessSummary = ConsciousnessSummary.model_construct()
    text: str | None = None
    retrieval_latency_ms: float = 0.0
    behind_ms: float | None = None
    query_count: int = 0
    timings: tuple[QueryTiming, ...] = ()
    stage_ms: dict[str, float] = Field(default_factory=dict)
    degraded: tuple[Degradation, ...] = ()
    notes: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    omitted: int = 0
    model_calls: tuple[ModelCall, ...] = ()
    state: CitizenState | None = None
    learned: LearnedFactors | None = None
    token_counts: TokenCounts | None = None


class ConsciousnessStream(StreamFrame):
    """The answer to a citizen (003, component 4).

    A field that is null is left out, and of a memory, a link, a node or an edge each optional field that has its
    default. A section that `parts` does not name is left out.

    `stream_id` is the service's own: under it the stream can be asked again; `intention_id` is the asker's.

    `answer_confidence` is the probability, in [0, 1], that the memories found answer the question; a waking, which
    asks nothing, has none. `nothing_fits`: it is so low that the focus holds at most standing instructions.

    `energy_feedback_potential` in [0, 1] says how much energy the links might re-activate; with `explain`,
    `energy_shares` gives the part of each link. `relative_potential` is the share, in [0, 1], of the most that
    these very links could give: above 0.5 they wake, below they calm; 0.5 without links that tell of work.
    `energy_feedback` is what it did to the citizen's own energy, if requested. `citizen_energy`, that energy, and
    `rules`, those in force, are read for the compact form, and where `parts` names `energy` or `rules`.

    `text` is the compact form, which is sent as a `ReferencedStream`.

    `degraded` names queries that failed or were late, whose results are missing, and as `fields` the fields that
    cannot be shown. `notes` says what was assumed or left out. `omitted` counts memories that stand nowhere: they
    did not fit; energy, dissonances, metadata report, summary, paths, hubs, themes and density include them.
    `model_calls` lists the calls of a language model. `state` is the state that a waking began with, with the
    memories from which what was neither given nor kept was derived; a question has none. With `explain`, `learned`
    is what the feedback of the citizen did to its question. `offers`: a few open offers of upkeep, in the waking
    of a citizen now. `token_counts`: what the stream costs. `behind_ms`: how old at most what it tells may be,
    where replicas are asked as well; 0 when the primary alone answered.
    """

    form: Literal["full"] = "full"
    levels: dict[str, ConsciousnessLevelResults] = Field(default_factory=dict)
    activation_tiers: ActivationTiers = ActivationTiers.model_construct()
    traversal_graph: TraversalGraph = TraversalGraph.model_construct()

    def _repr_html_(self) -> str:
        """The stream as a notebook shows it."""
        tiers = self.activation_tiers
        rows = list[tuple[bool, datetime, str, str]]()
        for tier in (tiers.focus, tiers.peripheral, tiers.background):
            for node in tier:
                rows.append((tier is tiers.focus, node.valid_at, node.name, node.description))
        return stream_html(rows)
