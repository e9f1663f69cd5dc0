"""The whole stream on a real engine: paths, coherence, energy, changes of belief, forms (003, components 2–6)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.features.identity.learning import learning_moments
from orchestration.mind.state import read_state
from orchestration.traversal.paths import suggested_paths
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.commands import Correct, Supersede
from schemas.intention import StateBasedRetrieval
from schemas.mind.state import CitizenState
from schemas.stream import ConsciousnessStream
from schemas.temporal import Scope, to_datetime
from substrate.graphs.names import graph_name
from substrate.store import reader
from tests.integration.store import NOW, ask, found, ids, moment, relate, remember, stored

LATER = NOW + 1000
"""A moment after everything was written."""
PRESENT = Scope.current(LATER)


async def a_life(deps: Deps, citizen: str) -> None:
    """A boat that leaked, what mended it, what was learned, and a thing that has nothing to do with it."""
    tense = {"tension": 0.8}
    await stored(
        deps,
        remember(
            citizen,
            "leak",
            name="The boat leaks",
            description="Water comes in below the mast.",
            resolution_state="blocked",
            goal="sail",
            emotion_vector=tense,
        ),
        remember(citizen, "tar", name="Tarred the hull", description="Two coats of pitch on every seam."),
        remember(citizen, "dry", name="Dry at last", description="No drop in the bilge after a week."),
        remember(citizen, "bread", name="Rye bread", description="A loaf from the oven."),
        relate(citizen, "leak", "tar", id="mends", relation_type="RESOLVED_BY", goal="sail", emotion_vector=tense),
        relate(citizen, "tar", "dry", id="ends", goal="sail", emotion_vector={"relief": 0.9}),
        relate(citizen, "bread", "dry", id="beside"),
    )


async def boat(deps: Deps, citizen: str, **fields: Any) -> ConsciousnessStream:
    return await ask(deps, citizen, "Why does the boat leak?", now=LATER, **fields)


def order(stream: ConsciousnessStream) -> list[str]:
    return ids(stream.activation_tiers.ordered())


def terms(stream: ConsciousnessStream, name: str) -> list[float]:
    """One term of each score, most active memory first."""
    return [(node.score_terms or {})[name] for node in stream.activation_tiers.ordered()]


# --- the graph -----------------------------------------------------------------------------------------------


async def test_the_graph_has_every_memory_and_link_shown(deps: Deps, fresh_citizen: str) -> None:
    await a_life(deps, fresh_citizen)
    stream = await boat(deps, fresh_citizen)
    graph = stream.traversal_graph
    assert [node.node_id for node in graph.nodes] == order(stream)
    assert sorted(order(stream)) == ["bread", "dry", "leak", "tar"]
    links = stream.levels["n1_personal"].relationships
    assert [edge.edge_id for edge in graph.edges] == [link.link_id for link in links]
    assert sorted(edge.edge_id for edge in graph.edges) == ["beside", "ends", "mends"]
    assert (graph.node_count, graph.edge_count, graph.path_count) == (4, 3, len(graph.suggested_paths))
    assert graph.graph_density == pytest.approx(3 / 12)
    tiers = {node.node_id: node.activation_tier for node in graph.nodes}
    for tier in ("focus", "peripheral", "background"):
        assert ids(getattr(stream.activation_tiers, tier)) == [name for name in tiers if tiers[name] == tier]
    assert all(0.0 <= node.activation_score <= 1.0 for node in graph.nodes)


async def test_paths_begin_in_focus_and_are_as_likely_as_the_product_of_their_links(
    deps: Deps, fresh_citizen: str
) -> None:
    await a_life(deps, fresh_citizen)
    stream = await boat(deps, fresh_citizen, current_goal="sail", current_emotions={"tense": 1.0})
    graph = stream.traversal_graph
    edges = {edge.edge_id: edge for edge in graph.edges}
    assert all(0.0 <= edge.traversal_weight <= 1.0 for edge in graph.edges)
    # 0.3 energy + 0.2 goal + 0.3 resonance + 0.1 confidence + 0.1 transfer: 0.21 + 0.2 + 0.3 + 0.09 + 0.05
    assert edges["mends"].traversal_weight == pytest.approx(0.85)
    assert edges["ends"].traversal_weight == pytest.approx(0.55)
    assert edges["beside"].traversal_weight == pytest.approx(0.41)
    assert graph.suggested_paths
    for path in graph.suggested_paths:
        assert path.path_nodes[0] in ids(stream.activation_tiers.focus)
        assert len(path.path_nodes) == len(path.path_edges) + 1
        weights = [edges[edge].traversal_weight for edge in path.path_edges]
        assert path.traversal_probability == pytest.approx(math.prod(weights))
        for place, edge in enumerate(path.path_edges):
            ends = {edges[edge].source_id, edges[edge].target_id}
            assert ends == set(path.path_nodes[place : place + 2])
    assert "Blocked: The boat leaks → Tarred the hull" in " | ".join(
        path.path_narrative for path in graph.suggested_paths
    )


async def test_coherence_is_the_mean_likeness_of_neighbours_and_no_count_of_words(
    deps: Deps, fresh_citizen: str
) -> None:
    await a_life(deps, fresh_citizen)
    stream = await boat(deps, fresh_citizen)
    nodes = {(node.graph_key, node.node_id): node for node in stream.activation_tiers.ordered()}
    starts = [(node.graph_key, node.node_id) for node in stream.activation_tiers.focus]
    by_words = suggested_paths(nodes, stream.traversal_graph.edges, starts)
    paths = stream.traversal_graph.suggested_paths
    assert [path.path_nodes for path in by_words] == [path.path_nodes for path in paths]
    assert [path.semantic_coherence for path in by_words] != [path.semantic_coherence for path in paths]
    graph = graph_name(stream.activation_tiers.focus[0].level, fresh_citizen)
    for path in paths:
        pairs = list(zip(path.path_nodes, path.path_nodes[1:], strict=False))
        cosines = await reader.read_similarities(deps.graph(graph), pairs)
        assert len(cosines) == len(pairs)
        expected = math.fsum(min(1.0, max(0.0, cosine)) for cosine in cosines.values()) / len(pairs)
        assert path.semantic_coherence == pytest.approx(expected, abs=1e-5)
        assert 0.0 <= path.semantic_coherence <= 1.0


# --- energy --------------------------------------------------------------------------------------------------


async def two_links(deps: Deps, citizen: str) -> float:
    """The potential of two links, by hand."""
    await stored(
        deps,
        *(remember(citizen, name, description="the lighthouse") for name in ("a", "b", "c")),
        relate(
            citizen,
            "a",
            "b",
            id="blocked",
            energy=0.8,
            energy_transfer_coefficient=0.5,
            resolution_state="blocked",
            emotion_vector={"fear": 0.9, "tension": 1.0, "drive": 0.6},
        ),
        relate(
            citizen,
            "b",
            "c",
            id="resolved",
            energy=0.6,
            energy_transfer_coefficient=1.0,
            resolution_state="resolved",
            emotion_vector={},
        ),
    )
    # blocked: 0.8 x 0.5 x 1.5 x 2 (2.5, at most 2) = 1.2; resolved: 0.6 x 1 x 0.3 x 1 (no emotions) = 0.18
    return 1.38 / 150


async def test_the_feedback_potential_of_two_links_by_hand(deps: Deps, fresh_citizen: str) -> None:
    potential = await two_links(deps, fresh_citizen)
    stream = await ask(deps, fresh_citizen, "the lighthouse", now=LATER, explain=True)
    assert stream.energy_feedback_potential == pytest.approx(potential)
    assert [share.link_id for share in stream.energy_shares] == ["blocked", "resolved"]
    assert [share.transfer for share in stream.energy_shares] == pytest.approx([1.2, 0.18])
    assert (await ask(deps, fresh_citizen, "the lighthouse", now=LATER)).energy_shares == ()


async def test_a_stream_changes_no_energy_unless_asked(deps: Deps, fresh_citizen: str) -> None:
    await two_links(deps, fresh_citizen)
    stream = await ask(deps, fresh_citizen, "the lighthouse", now=LATER, current_energy=0.9)
    assert stream.energy_feedback is None
    assert await read_state(fresh_citizen, deps, PRESENT) == CitizenState(citizen_id=fresh_citizen)


async def test_feedback_changes_the_stored_energy_and_reports_both_values(deps: Deps, fresh_citizen: str) -> None:
    await two_links(deps, fresh_citizen)
    # "a" is the most active memory, then "b": 1.2 + 0.18 / 2; were the resolved one blocked too, 1.2 + 0.9 / 2.
    relative = 1.29 / 1.65
    step = (relative - 0.5) * 0.3
    feedback: dict[str, Any] = {"current_energy": 0.6, "apply_feedback": True, "intention_id": "i1"}
    first = await ask(deps, fresh_citizen, "the lighthouse", now=LATER, **feedback)
    assert first.energy_feedback is not None
    assert first.relative_potential == pytest.approx(relative)
    assert first.energy_feedback.before == 0.6
    assert first.energy_feedback.after == pytest.approx(0.6 + step)
    kept = await read_state(fresh_citizen, deps, PRESENT)
    assert (kept.energy, kept.last_stream_id) == (first.energy_feedback.after, "i1")
    assert kept.updated_at == to_datetime(LATER)
    # Without an energy in the request the one that is kept counts.
    second = await ask(deps, fresh_citizen, "the lighthouse", now=LATER, apply_feedback=True)
    assert second.energy_feedback is not None
    assert second.energy_feedback.before == kept.energy
    assert second.energy_feedback.after == pytest.approx(0.6 + 2 * step)
    assert (await read_state(fresh_citizen, deps, PRESENT)).energy == second.energy_feedback.after
    # The energy is no memory, and no stream shows it.
    assert sorted(ids(found(second))) == ["a", "b", "c"]


async def test_waking_too_may_act_on_the_energy(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "stuck", resolution_state="blocked", valid_at=moment(99)))
    state = StateBasedRetrieval(
        citizen_id=fresh_citizen, current_energy=0.4, current_emotions={"joy": 0.5}, apply_feedback=True
    )
    stream = await retrieve_consciousness_context_from_state(state, deps, LATER)
    # Without links nothing wakes and nothing calms.
    assert stream.energy_feedback is not None
    assert stream.energy_feedback.before == 0.4
    assert (stream.relative_potential, stream.energy_feedback.after) == (0.5, 0.4)
    assert (await read_state(fresh_citizen, deps, PRESENT)).energy == 0.4


# --- beliefs that changed ------------------------------------------------------------------------------------


async def test_a_correction_and_a_change_of_the_world_are_learning_moments_and_a_change_of_energy_is_none(
    deps: Deps, fresh_citizen: str
) -> None:
    c = fresh_citizen
    await stored(
        deps,
        remember(c, "key", name="Key", description="The key hangs in the hall.", valid_at=moment(1)),
        remember(c, "door", name="Door", description="The door is green.", valid_at=moment(1)),
        remember(c, "cat", name="Cat", description="The cat sleeps.", valid_at=moment(1), energy=0.3),
    )
    await stored(
        deps,
        Correct(citizen_id=c, id="key", description="The key hangs in the shed.", discovery_energy=0.8),
        Supersede(citizen_id=c, id="door", description="The door is red.", effective_at=moment(50)),
        Correct(citizen_id=c, id="cat", energy=0.9),
        now=NOW + 10,
    )
    asked = "the key, the door and the cat"
    stream = await ask(deps, c, asked, temporal_mode="evolution", now=LATER)
    told = [
        (one.node_id, one.dissonance_type, one.original_belief, one.corrected_belief, one.discovery_energy)
        for one in stream.temporal_dissonances
    ]
    assert sorted(told) == [
        ("door", "reality_changed", "The door is green.", "The door is red.", 0.5),
        ("key", "discovered_false", "The key hangs in the hall.", "The key hangs in the shed.", 0.8),
    ]
    assert "cat" in ids(found(stream))
    assert (await ask(deps, c, asked, now=LATER)).temporal_dissonances == ()
    moments = await learning_moments(c, deps, LATER)
    assert {one.node_id for one in moments.dissonances} == {"door", "key"}
    assert moments.recurring == ()


# --- forms and bounds ----------------------------------------------------------------------------------------


async def test_on_request_only_valid_memories_are_in_the_answer(deps: Deps, fresh_citizen: str) -> None:
    c = fresh_citizen
    await stored(
        deps,
        remember(c, "whole", description="the harbour", goal="rest"),
        remember(c, "hollow", description="the harbour", goal=""),
        remember(c, "beside", description="the harbour"),
        relate(c, "hollow", "whole", id="gone"),
        relate(c, "whole", "beside", id="stays"),
    )
    everything = await ask(deps, c, "the harbour", now=LATER)
    assert sorted(order(everything)) == ["beside", "hollow", "whole"]
    assert everything.metadata_validation.incomplete_memory_ids == ("hollow",)
    stream = await ask(deps, c, "the harbour", now=LATER, require_valid=True)
    assert sorted(order(stream)) == sorted(ids(found(stream))) == ["beside", "whole"]
    assert [link.link_id for link in stream.levels["n1_personal"].relationships] == ["stays"]
    assert [edge.edge_id for edge in stream.traversal_graph.edges] == ["stays"]
    assert (stream.metadata_validation.memories_with_errors, stream.omitted) == (0, 0)
    assert any("not fully valid: 1" in note for note in stream.notes)


# --- the one who asks ----------------------------------------------------------------------------------------


async def test_present_emotions_raise_a_memory_with_the_same_emotions(deps: Deps, fresh_citizen: str) -> None:
    c = fresh_citizen
    await stored(
        deps,
        remember(c, "calm", name="A walk", description="by the sea", emotion_vector={"calm": 0.9}),
        remember(c, "tense", name="A walk", description="by the sea", emotion_vector={"tension": 0.9}),
    )
    for felt, first in (("tense", "tense"), ("serene", "calm")):
        asked: dict[str, Any] = {"current_emotions": {felt: 0.7}, "explain": True}
        stream = await ask(deps, c, "a walk by the sea", now=LATER, **asked)
        assert order(stream)[0] == first
        alike, other = terms(stream, "emotional_resonance")
        assert (0.0 < alike <= 0.5, other) == (True, 0.0)  # 0.5 where relevance is at most 1
    neutral = await ask(deps, c, "a walk by the sea", now=LATER, explain=True)
    assert terms(neutral, "emotional_resonance") == [0.0, 0.0]


@pytest.mark.parametrize(
    ("state", "first"),
    [
        ({"current_goal": "sail"}, "rope"),
        ({"current_goal": "sleep"}, "lamp"),
        ({"current_emotions": {"joyful": 0.9}}, "rope"),
        ({"current_emotions": {"fear": 0.9}}, "lamp"),
    ],
)
async def test_goal_and_emotions_of_the_asker_lead_the_spreading_as_they_weigh_the_links(
    deps: Deps, fresh_citizen: str, state: dict[str, Any], first: str
) -> None:
    c = fresh_citizen
    await stored(
        deps,
        remember(c, "harbour", description="the harbour"),
        remember(c, "rope", description="a thing in the shed"),
        remember(c, "lamp", description="a thing in the shed"),
        relate(c, "harbour", "rope", id="to-rope", goal="sail", emotion_vector={"joy": 0.5}),
        relate(c, "harbour", "lamp", id="to-lamp", goal="sleep", emotion_vector={"fear": 0.5}),
    )
    neutral, led = [await ask(deps, c, "harbour", now=LATER, explain=True, **asked) for asked in ({}, state)]
    lent, plain = (
        {node.node_id: (node.score_terms or {})["spread"] for node in stream.activation_tiers.ordered()}
        for stream in (led, neutral)
    )
    other = {"rope": "lamp", "lamp": "rope"}[first]
    assert plain["rope"] == plain["lamp"]
    assert lent[first] > lent[other] == plain[other]
    weights = {edge.edge_id: edge.traversal_weight for edge in led.traversal_graph.edges}
    assert lent[first] / lent[other] == pytest.approx(weights[f"to-{first}"] / weights[f"to-{other}"], abs=1e-4)


@pytest.mark.parametrize(("pressure", "expected"), [(0.0, 0.08), (0.5, 0.2), (1.0, 0.32)])
async def test_reality_pressure_moves_the_priority(
    deps: Deps, fresh_citizen: str, pressure: float, expected: float
) -> None:
    await stored(deps, remember(fresh_citizen, "m", description="the pump", energy=0.5))
    fields: dict[str, Any] = {"now": LATER, "explain": True}
    stream = await ask(deps, fresh_citizen, "the pump", reality_pressure=pressure, **fields)
    calm = await ask(deps, fresh_citizen, "the pump", reality_pressure=0.0, **fields)
    # 0.4 x (0.4 x 0.5 + 0.6 x pressure), divided as relevance is where that exceeds 1
    [term], [of_calm] = terms(stream, "priority"), terms(calm, "priority")
    assert term / of_calm == pytest.approx(expected / 0.08, abs=1e-4)
    assert 0.0 < term <= expected
