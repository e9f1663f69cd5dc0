"""The traversal graph (003, component 4): nodes, weighed edges, hubs, themes, density."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.ranking.candidates import CandidateLink
from orchestration.ranking.spreading import likelihoods
from orchestration.traversal.graph import (
    build_graph,
    density,
    graph_edges,
)
from orchestration.traversal.paths import State
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship
from schemas.stream import ActivationTiers
from substrate.connection.kept import Record
from substrate.store.search import LINK_START, NODE_START
from tests.builders import a_node, a_relationship, stored_link, stored_row

units = st.floats(0.0, 1.0)
feelings = st.dictionaries(st.sampled_from(["joy", "happy", "Fear", "calm"]), units, max_size=4)
goals = st.none() | st.sampled_from(["rest", "work", "rest well"])


# --- the weight of a link --------------------------------------------------------------------------------


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
        likelihoods([CandidateLink(one.level, "a", "b", Record(row[LINK_START:NODE_START]))])[0], abs=1e-6
    )
    assert 0.06 <= edge.traversal_weight <= 1.0


# --- the graph -------------------------------------------------------------------------------------------


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
