"""The traversal graph (003, component 4): nodes, weighed edges, hubs, themes, density."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.ranking.candidates import CandidateLink
from orchestration.ranking.spreading import likelihoods
from orchestration.traversal.graph import (
    build_graph,
    central_themes,
    density,
    graph_edges,
    hub_nodes,
)
from orchestration.traversal.probability import NO_STATE, State, probability
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship
from schemas.stream import ActivationTiers
from schemas.stream_parts import TraversalGraph
from tests.builders import NOW, a_node, a_relationship, an_edge, stored_link, stored_row

units = st.floats(0.0, 1.0)
feelings = st.dictionaries(st.sampled_from(["joy", "happy", "Fear", "calm"]), units, max_size=4)
goals = st.none() | st.sampled_from(["rest", "work", "rest well"])


def a_graph(state: State = NO_STATE) -> TraversalGraph:
    """A focus of one, four memories beside it in N1, one in N2; a triangle, a parallel link, a loop."""
    nodes = [
        a_node(node_id="a", name="schema design", relevance_score=0.9, resolution_state="blocked", goal="schema"),
        a_node(node_id="b", name="asked Luca", relevance_score=0.5, tags=("luca",)),
        a_node(node_id="c", name="requirements", relevance_score=0.4, speaker="Luca", description="It is clear."),
        a_node(node_id="d", name="schema decided", description="With Luca.", relevance_score=2.0),
        a_node(node_id="e", name="far"),
        a_node(node_id="a", level="N2", name="the schema of all"),
        a_node(node_id="b", version=2, name="asked Luca again", relevance_score=0.1),
    ]
    links = [
        a_relationship(link_id="1", source_id="a", target_id="b", relation_type="RESOLVED_BY", goal="schema"),
        a_relationship(link_id="2", source_id="b", target_id="c"),
        a_relationship(link_id="3", source_id="c", target_id="d", energy=1.0),
        a_relationship(link_id="4", source_id="b", target_id="d", energy=0.0),
        a_relationship(link_id="5", source_id="b", target_id="d", energy=0.0),
        a_relationship(link_id="6", source_id="e", target_id="e"),
        a_relationship(link_id="7", source_id="e", target_id="not found"),
        a_relationship(link_id="8", source_id="a", target_id="b", level="N2"),
    ]
    tiers = ActivationTiers(focus=(nodes[0],), peripheral=(nodes[1], nodes[2]), background=(nodes[3], nodes[6]))
    return build_graph(nodes, tiers, links, state)


# --- the weight of a link --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        # 0.3 x 0.8 + 0.2 x 0.7 + 0.3 x 0.5 + 0.1 x 0.9 + 0.1 x 0.4
        ((0.8, 0.7, 0.5, 0.9, 0.4), 0.66),
        ((0.0, 0.3, 0.0, 0.0, 0.0), 0.06),
        ((1.0, 1.0, 1.0, 1.0, 1.0), 1.0),
        ((9.0, 1.0, 1.0, 1.0, 1.0), 1.0),
        ((-9.0, 1.0, 1.0, 1.0, 1.0), 0.0),
    ],
)
def test_the_five_factors_by_hand(factors: tuple[float, float, float, float, float], expected: float) -> None:
    energy, goal, resonance, confidence, transfer = factors
    weighed = probability(energy=energy, goal=goal, resonance=resonance, confidence=confidence, transfer=transfer)
    assert weighed == pytest.approx(expected)


@pytest.mark.parametrize(
    ("fields", "goal", "emotions", "expected"),
    [
        # 0.3 x 0.5 + 0.2 x 0.3 + 0 + 0.1 x 0.5 + 0.1 x 0.5
        ({}, None, None, 0.31),
        ({}, "rest", None, 0.45),
        ({}, "rest well", None, 0.39),
        # + 0.3 x 0.6
        ({"emotion_vector": {"joy": 0.6, "fear": 0.8}}, None, {"happy": 0.3}, 0.49),
        ({"emotion_vector": {"joy": 0.6}}, "rest", {"Joy": 1.0}, 0.75),
        ({"emotion_vector": {}}, None, {"joy": 1.0}, 0.31),
    ],
)
def test_a_weight_by_hand(
    fields: dict[str, Any], goal: str | None, emotions: dict[str, float] | None, expected: float
) -> None:
    (edge,) = graph_edges([a_relationship(**fields)], State(goal, emotions))
    assert edge.traversal_weight == pytest.approx(expected)


@given(units, units, units)
def test_a_link_weighs_the_same_as_a_model_and_as_a_row(energy: float, confidence: float, transfer: float) -> None:
    one = a_relationship(energy=energy, confidence=confidence, energy_transfer_coefficient=transfer)
    (edge,) = graph_edges([one], State())
    columns = {"energy": str(energy), "confidence": str(confidence), "energy_transfer_coefficient": str(transfer)}
    row = stored_row({"id": "b"}, {**stored_link("l"), **columns}, hop=1, ends=("a", "b"))
    assert edge.traversal_weight == pytest.approx(
        likelihoods([CandidateLink(one.level, "a", "b", row)])[0], abs=1e-6
    )
    assert 0.06 <= edge.traversal_weight <= 1.0


# --- the graph -------------------------------------------------------------------------------------------


def test_every_memory_stands_once_with_its_activation_and_tier() -> None:
    graph = a_graph()
    assert [(one.level, one.node_id, one.activation_score, one.activation_tier) for one in graph.nodes] == [
        ("N1", "a", 0.9, "focus"),
        ("N1", "b", 0.5, "peripheral"),
        ("N1", "c", 0.4, "peripheral"),
        ("N1", "d", 1.0, "background"),
        ("N1", "e", 0.0, "background"),
        ("N2", "a", 0.0, "background"),
    ]
    assert [one.content for one in graph.nodes[:4]] == [
        "schema design",
        "asked Luca",
        "Luca: It is clear.",
        "schema decided: With Luca.",
    ]


def test_every_link_between_memories_found_is_an_edge() -> None:
    graph = a_graph()
    assert [one.edge_id for one in graph.edges] == ["1", "2", "3", "4", "5", "6"]
    assert (graph.node_count, graph.edge_count, graph.path_count) == (6, 6, len(graph.suggested_paths))
    assert graph.graph_density == pytest.approx(6 / 30)


def test_the_newest_record_of_a_link_is_the_edge() -> None:
    nodes = [a_node(node_id="a"), a_node(node_id="b")]
    records = [
        a_relationship(resolution_state="blocked", expired_at=NOW + timedelta(1)),
        a_relationship(resolution_state="resolved", created_at=NOW + timedelta(1)),
    ]
    for links in (records, records[::-1]):
        (one,) = build_graph(nodes, ActivationTiers(), links).edges
        assert one.resolution_state == "resolved"


def test_the_edges_are_weighed_from_the_state() -> None:
    at_rest = {one.edge_id: one.traversal_weight for one in a_graph().edges}
    at_work = {one.edge_id: one.traversal_weight for one in a_graph(State(goal="schema")).edges}
    assert at_rest["1"] == pytest.approx(0.31)
    assert at_work["1"] == pytest.approx(0.45)
    assert at_work["2"] == at_rest["2"]


def test_paths_begin_in_the_focus() -> None:
    graph = a_graph(State(goal="schema"))
    assert [path.path_nodes for path in graph.suggested_paths] == [("a", "b", "c")]
    assert graph.suggested_paths[0].path_narrative.startswith("Blocked: schema design → asked Luca")


@pytest.mark.parametrize("count", [0, 1])
def test_an_empty_mind_and_one_thought_are_graphs_too(count: int) -> None:
    nodes = [a_node()] * count
    graph = build_graph(nodes, ActivationTiers(focus=tuple(nodes)), [])
    assert (graph.node_count, graph.edge_count, graph.graph_density) == (count, 0, 0.0)
    assert (graph.suggested_paths, graph.hub_nodes, graph.central_themes) == ((), (), ())


@pytest.mark.parametrize(
    ("nodes", "edges", "expected"), [(0, 0, 0.0), (1, 0, 0.0), (1, 3, 0.0), (2, 1, 0.5), (2, 2, 1.0), (4, 3, 0.25)]
)
def test_density_by_hand(nodes: int, edges: int, expected: float) -> None:
    assert density(nodes, edges) == expected


# --- hubs and themes -------------------------------------------------------------------------------------


def test_a_hub_has_three_links_to_others() -> None:
    star = [an_edge("hub", leaf, 0.5) for leaf in "abc"]
    assert hub_nodes(star) == ("hub",)
    assert hub_nodes(star[:2]) == ()
    assert hub_nodes([*star[:2], an_edge("hub", "hub", 0.5), an_edge("hub", "hub", 0.5, edge_id="2")]) == ()
    assert hub_nodes([an_edge("a", "b", 0.5, edge_id=name) for name in "xyz"]) == ("a", "b")


def test_there_are_at_most_five_hubs_the_most_linked_first_and_equal_ones_by_id() -> None:
    stars = [an_edge(f"hub{n}", f"leaf{n}{k}", 0.5) for n in range(7) for k in range(3 + (n in (2, 6)))]
    assert hub_nodes(stars) == ("hub2", "hub6", "hub0", "hub1", "hub3")
    assert hub_nodes(stars[::-1]) == hub_nodes(stars)


def test_themes_by_hand() -> None:
    memories = [
        # schema design x 3 (goal, tag, name); of its words none counts again
        a_node(name="Schema design", goal="schema_design", tags=("schema-design",), emotion_vector={"joy": 0.9}),
        a_node(name="the schema bridges", goal="schema_design", emotion_vector={"happy": 0.5}),
        a_node(name="a bridge at night", tags=("schema design",), emotion_vector={"joy": 0.4}),
    ]
    links = [
        a_relationship(goal="schema design", emotion_vector={"happiness": 1.0}),
        # nobody's goal
        a_relationship(goal="keep the order", source="ingestion"),
        a_relationship(goal="keep the order", source="ingestion"),
    ]
    # schema design: 3 memories + 1 link = 4; joy: 2 + 1 = 3; bridge: 2, named by its first form by alphabet
    assert central_themes(memories, links) == ("schema design", "joy", "bridge")


def test_a_word_of_a_single_memory_is_no_theme() -> None:
    assert central_themes([a_node(name="a lonely lamp", goal="rest", tags=("x", "lamp"))], []) == ()
    assert central_themes([], []) == ()


def test_there_are_at_most_five_themes() -> None:
    assert len(central_themes([a_node(tags=tuple("pqrstuvw"))] * 2, [])) == 5


def test_hubs_and_paths_of_a_stream_give_its_themes() -> None:
    assert "luca" in a_graph().central_themes


# --- laws ------------------------------------------------------------------------------------------------


@st.composite
def some_graph(draw: st.DrawFn) -> tuple[list[ConsciousnessNode], list[ConsciousnessRelationship], State]:
    ids = "abcdef"[: draw(st.integers(0, 6))]
    levels = st.sampled_from(["N1", "N2"])
    nodes = [
        a_node(node_id=one, name=f"name {one}", level=draw(levels), relevance_score=draw(st.floats(-1, 2)))
        for one in ids
    ]
    ends = st.sampled_from("abcdefz")
    links = [
        a_relationship(
            link_id=str(number),
            source_id=draw(ends),
            target_id=draw(ends),
            level=draw(levels),
            energy=draw(units),
            confidence=draw(units),
            emotion_vector=draw(st.none() | feelings),
        )
        for number in range(draw(st.integers(0, 12)))
    ]
    return nodes, links, State(draw(goals), draw(st.none() | feelings))


@given(some_graph(), st.integers(0, 3))
def test_every_score_of_a_graph_lies_in_its_range(
    case: tuple[list[ConsciousnessNode], list[ConsciousnessRelationship], State], focus: int
) -> None:
    nodes, links, state = case
    graph = build_graph(nodes, ActivationTiers(focus=tuple(nodes[:focus])), links, state)
    assert graph.node_count == len(graph.nodes) == len(nodes)
    assert all(0.0 <= one.activation_score <= 1.0 for one in graph.nodes)
    assert all(0.06 - 1e-6 <= one.traversal_weight <= 1.0 for one in graph.edges)
    assert graph.graph_density >= 0.0
    assert set(graph.hub_nodes) <= {node.node_id for node in nodes}
    assert len(graph.central_themes) <= 5
    starts = {node.node_id for node in nodes[:focus]}
    assert {path.path_nodes[0] for path in graph.suggested_paths} <= starts
