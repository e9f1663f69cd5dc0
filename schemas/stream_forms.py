"""The forms in which a stream is sent, and its sections: each memory and each link once (`references`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, RootModel

from schemas.base import Frozen
from schemas.intention import Part
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, GraphKey
from schemas.stream import (
    ActivationTiers,
    ConsciousnessLevelResults,
    ConsciousnessStream,
    GraphEdge,
    GraphFigures,
    GraphNode,
    StreamFrame,
    Tier,
    TraversalGraph,
    activation_score,
    graph_content,
)

PART_FIELDS: Final[Mapping[Part, tuple[str, ...]]] = {
    "levels": ("levels",),
    "activation_tiers": ("activation_tiers",),
    "traversal_graph": ("traversal_graph",),
    "energy": (
        "energy_feedback_potential",
        "relative_potential",
        "energy_shares",
        "energy_feedback",
        "citizen_energy",
    ),
    "temporal_dissonances": ("temporal_dissonances",),
    "resolution_patterns": ("resolution_patterns",),
    "offers": ("offers",),
    "rules": ("rules",),
    "state": ("state",),
    "consciousness_summary": ("consciousness_summary",),
    "metadata_validation": ("metadata_validation",),
    "timings": ("timings", "stage_ms", "retrieval_latency_ms", "query_count", "model_calls"),
}
"""The fields of each section. All other fields are always sent."""
_SECTIONS: Final = ("levels", "activation_tiers", "traversal_graph")
type Reference = str
"""Names one record of a stream: its graph, its id and its version, as in `N1|tea|2`."""
type _Record = ConsciousnessNode | ConsciousnessRelationship


def reference(record: _Record) -> Reference:
    """The name of a record. It is unique in a stream: the same id may stand in two graphs, and in two versions."""
    own = record.node_id if isinstance(record, ConsciousnessNode) else record.link_id
    return f"{record.graph_key}|{own}|{record.version}"


class LevelReferences(Frozen):
    """What was found on one level, by reference; in the order of `ConsciousnessLevelResults`."""

    vector_results: tuple[Reference, ...] = ()
    graph_results: tuple[Reference, ...] = ()
    relationships: tuple[Reference, ...] = ()
    omitted: dict[str, int] | None = None


class TierReferences(Frozen):
    """Memories by activation, by reference."""

    focus: tuple[Reference, ...] = ()
    peripheral: tuple[Reference, ...] = ()
    background: tuple[Reference, ...] = ()


class GraphReferences(GraphFigures):
    """The traversal graph by reference: its memories, and the weight of each link in [0, 1] (003, 5b)."""

    nodes: tuple[Reference, ...] = ()
    edges: dict[Reference, float] = Field(default_factory=dict)


class ReferencedStream(StreamFrame):
    """A `ConsciousnessStream` in which each memory and each link stands once; all else refers to them.

    A reference is `graph|id|version`, such as `N1|tea|2`: an id may stand in several graphs and versions. With the
    form `compact` it has a `text`, which stands for all sections but those that `parts` names.
    """

    form: Literal["references", "compact"] = "references"
    memories: dict[Reference, ConsciousnessNode] = Field(default_factory=dict)
    links: dict[Reference, ConsciousnessRelationship] = Field(default_factory=dict)
    levels: dict[str, LevelReferences] = Field(default_factory=dict)
    activation_tiers: TierReferences = TierReferences.model_construct()
    traversal_graph: GraphReferences = GraphReferences.model_construct()

    def expanded(self) -> ConsciousnessStream:
        """The stream with each memory and link wherever it belongs. `model_fields_set` names what was sent."""
        frame = {name: getattr(self, name) for name in StreamFrame.model_fields if name in self.model_fields_set}
        tiers = ActivationTiers(
            focus=self._memories(self.activation_tiers.focus),
            peripheral=self._memories(self.activation_tiers.peripheral),
            background=self._memories(self.activation_tiers.background),
        )
        levels = {name: self._level(level) for name, level in self.levels.items()}
        places = {"levels": levels, "activation_tiers": tiers, "traversal_graph": self._graph(tiers)}
        sent = {name: each for name, each in places.items() if name in self.model_fields_set}
        return ConsciousnessStream(**frame, **sent)

    def _memories(self, references: Iterable[Reference]) -> tuple[ConsciousnessNode, ...]:
        return tuple(self.memories[each] for each in references)

    def _level(self, level: LevelReferences) -> ConsciousnessLevelResults:
        return ConsciousnessLevelResults(
            vector_results=self._memories(level.vector_results),
            graph_results=self._memories(level.graph_results),
            relationships=tuple(self.links[each] for each in level.relationships),
            omitted=level.omitted,
        )

    def _graph(self, tiers: ActivationTiers) -> TraversalGraph:
        tier_of: dict[tuple[GraphKey, str], Tier] = {}
        for node in tiers.focus:
            tier_of.setdefault((node.graph_key, node.node_id), "focus")
        for node in tiers.peripheral:
            tier_of.setdefault((node.graph_key, node.node_id), "peripheral")
        graph = self.traversal_graph
        nodes = tuple(
            graph_node(node, tier_of.get((node.graph_key, node.node_id), "background"))
            for node in self._memories(graph.nodes)
        )
        edges = tuple(_graph_edge(self.links[name], weight) for name, weight in graph.edges.items())
        figures = {name: getattr(graph, name) for name in GraphFigures.model_fields}
        return TraversalGraph(nodes=nodes, edges=edges, **figures)


SentStream = Annotated[ConsciousnessStream | ReferencedStream, Field(discriminator="form")]
"""A stream as it is sent, in any form."""


class StreamAnswer(RootModel[Any]):
    """A stream in any form, as an answer."""

    model_config = ConfigDict(defer_build=True)  # `RootModel[SentStream]` would be built at once

    root: SentStream


def as_stream(sent: ConsciousnessStream | ReferencedStream) -> ConsciousnessStream:
    """The usual stream, whichever form was sent."""
    return sent.expanded() if isinstance(sent, ReferencedStream) else sent


def stream_of(answer: StreamAnswer) -> ConsciousnessStream:
    """The usual stream of an answer."""
    return as_stream(answer.root)


NODE_FIELDS: Final = tuple(name for name in GraphNode.model_fields if name in ConsciousnessNode.model_fields)
EDGE_FIELDS: Final = tuple(
    name for name in GraphEdge.model_fields if name in ConsciousnessRelationship.model_fields
)
"""What a node and an edge of the graph copy from the record."""


def graph_node(node: ConsciousnessNode, tier: Tier) -> GraphNode:
    """The memory as a node of the graph."""
    values: dict[str, Any] = {name: getattr(node, name) for name in NODE_FIELDS}
    own = {"content": graph_content(node), "activation_score": activation_score(node), "activation_tier": tier}
    return GraphNode.unchecked({**values, **own})


def _graph_edge(link: ConsciousnessRelationship, weight: float) -> GraphEdge:
    values: dict[str, Any] = {name: getattr(link, name) for name in EDGE_FIELDS}
    return GraphEdge.unchecked({**values, "edge_id": link.link_id, "traversal_weight": weight})


# --- by reference -------------------------------------------------------------------------------------------


def moments_of(node: ConsciousnessNode | GraphNode) -> tuple[Any, ...]:
    """What tells a record from every other one of the stream: its graph, its id, and its times."""
    return node.graph_key, node.node_id, node.valid_at, node.created_at, node.invalid_at, node.expired_at


def all_memories(stream: ConsciousnessStream) -> Iterator[ConsciousnessNode]:
    """Each memory of the tiers and the levels, as often as it stands there."""
    levels = stream.levels.values()
    found = (chain(level.vector_results, level.graph_results) for level in levels)
    return chain(stream.activation_tiers.ordered(), chain.from_iterable(found))


def all_links(stream: ConsciousnessStream) -> Iterator[ConsciousnessRelationship]:
    """Each link of the levels."""
    return chain.from_iterable(level.relationships for level in stream.levels.values())


def edge_links(stream: ConsciousnessStream) -> Iterator[tuple[ConsciousnessRelationship, float]]:
    """The link of each edge of the traversal graph, its newest version, with its weight."""
    newest: dict[tuple[GraphKey, str], ConsciousnessRelationship] = {}
    for link in all_links(stream):
        other = newest.get((link.graph_key, link.link_id))
        if other is None or link.created_at > other.created_at:
            newest[link.graph_key, link.link_id] = link
    for edge in stream.traversal_graph.edges:
        yield newest[edge.graph_key, edge.edge_id], edge.traversal_weight


def referenced(stream: ConsciousnessStream, sections: Collection[str] = _SECTIONS) -> ReferencedStream:
    """The stream with each memory and each link once. `referenced(stream).expanded()` is the stream.

    `sections`: which of levels, activation_tiers and traversal_graph are wanted; the others are empty.
    """
    active = vars(stream.activation_tiers).items() if "activation_tiers" in sections else ()
    memories: dict[Reference, ConsciousnessNode] = {}
    links: dict[Reference, ConsciousnessRelationship] = {}

    def refer(nodes: Iterable[ConsciousnessNode]) -> tuple[Reference, ...]:
        return _put_all(memories, nodes)

    found = stream.levels.items() if "levels" in sections else ()
    values: dict[str, Any] = {"memories": memories, "links": links}
    values["activation_tiers"] = TierReferences(**{name: refer(nodes) for name, nodes in active})
    values["levels"] = {
        name: LevelReferences(
            vector_results=refer(level.vector_results),
            graph_results=refer(level.graph_results),
            relationships=_put_all(links, level.relationships),
            omitted=level.omitted,
        )
        for name, level in found
    }
    if "traversal_graph" in sections:
        figures = {name: getattr(stream.traversal_graph, name) for name in GraphFigures.model_fields}
        records = {moments_of(node): node for node in all_memories(stream)}
        nodes = refer(map(records.__getitem__, map(moments_of, stream.traversal_graph.nodes)))
        edges = {_put(links, link): weight for link, weight in edge_links(stream)}
        values["traversal_graph"] = GraphReferences.unchecked({**figures, "nodes": nodes, "edges": edges})
    frame = {name: getattr(stream, name) for name in StreamFrame.model_fields}
    return ReferencedStream.unchecked({**frame, **values})


def _put_all[T: _Record](records: dict[Reference, T], some: Iterable[T]) -> tuple[Reference, ...]:
    return tuple(_put(records, record) for record in some)


def _put[T: _Record](records: dict[Reference, T], record: T) -> Reference:
    name = reference(record)
    records.setdefault(name, record)
    return name
