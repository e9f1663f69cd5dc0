"""The four modes of waking as numbers (003, component 1): tables worked by hand, and laws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.graph_queries.execution import QueryRequest
from orchestration.graph_queries.existing_graphs import View
from orchestration.ranking.candidates import Candidate, CandidateLink, Candidates
from orchestration.ranking.consciousness_score import DAY, recency
from orchestration.traversal.paths import State
from orchestration.waking.ask import build_queries
from orchestration.waking.scoring import (
    Answer,
    WakingRow,
    WakingState,
    activate,
    energy_nearness,
    goal_likeness,
    is_answer,
    mode_score,
    plain_goal,
    recency_weight,
)
from orchestration.waking.told import find_resolutions, pass_scores_on, show_pattern
from schemas.intention import QueryMode, StateBasedRetrieval
from schemas.memory import GraphKey, Level
from schemas.temporal import Scope
from substrate.connection.kept import Record
from substrate.connection.pool import Connection
from substrate.graphs.graph import Graph, GraphTarget
from substrate.store.search import LINK_START, NODE_START, FoundRow
from tests.builders import a_link, a_memory, key, stored_link, stored_row

N1 = Level.N1
NOW = 400 * DAY
UNIT = st.floats(0, 1)


def waking(mode: QueryMode, **fields: Any) -> WakingState:
    whole = {"energy": 0.5, "emotions": {"joy": 0.6, "calm": 0.8}, "goal": None, "moment": NOW, **fields}
    return WakingState(mode=mode, **whole)


def row_of(memory_id: str, hop: int = 0, ends: tuple[str, str] | None = None, **columns: Any) -> WakingRow:
    emotions = columns.pop("emotions", None)
    stored = {"id": memory_id, **columns}
    if emotions is not None:
        stored["emotion_vector"] = orjson.dumps(emotions).decode()
    link = stored_link("-".join(ends)) if ends else None
    return WakingRow(
        N1, FoundRow.of(stored_row(stored, link, hop=hop, score=columns.get("score", 0.0), ends=ends))
    )


def state(**fields: Any) -> StateBasedRetrieval:
    whole = {"citizen_id": "ada", "current_energy": 0.4, "current_emotions": {"joy": 0.5}}
    return StateBasedRetrieval.model_validate({**whole, **fields})


# --- goals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stored", "current", "meant", "match"),
    [
        ("design_phase_3_architecture", "design Phase 3 architecture", 0.0, 1.0),
        ("Überbrücken", "Überbrücken", 0.0, 1.0),
        ("design", "design_phase_3_architecture", 0.0, 0.7),
        ("design phase-3 architecture", "phase 3", 0.0, 0.7),
        ("sign", "design", 0.0, 0.3),  # a part of a word is not a part of a goal
        ("design_schema_architecture", "design_retrieval_architecture", 0.0, 0.3 + 0.4 * 2 * 2 / 6),
        ("keep_the_team_whole", "keep_the_store_durable", 0.0, 0.3),  # one word of three: Dice 1/3 is too little
        ("learn to cook", "better meals", 0.5, 0.5),
        ("learn to cook", "better meals", 0.29, 0.3),
        ("design_schema_architecture", "design_retrieval_architecture", 0.9, 0.66),
        (None, "design", 0.0, 0.3),
        ("", "design", 0.0, 0.3),
        ("_", "design", 0.0, 0.3),
    ],
)
def test_goals_match_as_in_003_and_alike_ones_lie_between(
    stored: str | None, current: str, meant: float, match: float
) -> None:
    assert goal_likeness(stored, current, meant) == pytest.approx(match)


@given(st.text(max_size=30), st.text(max_size=30), st.floats(-1, 1))
def test_a_goal_match_never_leaves_its_range(stored: str, current: str, meant: float) -> None:
    assert 0.3 <= goal_likeness(stored, current, meant) <= 1.0
    assert goal_likeness(stored, stored) in (0.3, 1.0)
    assert (goal_likeness(stored, stored) == 1.0) is bool(plain_goal(stored))


# --- the scores of the modes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("days", "weight"), [(0, 1.0), (15, 2 / 3), (30, 0.5), (60, 1 / 3), (-5, 1.0)])
def test_recency_halves_in_thirty_days(days: int, weight: float) -> None:
    assert recency(days) == pytest.approx(weight)


@pytest.mark.parametrize(
    ("mode", "goal", "columns", "answer", "score"),
    [
        # energy × goal match: 0.8 × 1, 0.8 × 0.7, 0.8 × 0.3, 0.8 × (0.3 + 0.4 × 0.5)
        (QueryMode.RELATED_UNRESOLVED, "g", {"energy": "0.8", "goal": "g"}, Answer(0.9), 0.8),
        (QueryMode.RELATED_UNRESOLVED, "g h", {"energy": "0.8", "goal": "g"}, Answer(0.9), 0.56),
        (QueryMode.RELATED_UNRESOLVED, "x", {"energy": "0.8", "goal": "g"}, Answer(0.9), 0.24),
        (QueryMode.RELATED_UNRESOLVED, "x", {"energy": "0.8", "goal": "g"}, Answer(0.9, 0.5), 0.4),
        # without a goal: (cosine 0.9 + nearness of 0.8 to 0.5, 0.7) / 2
        (QueryMode.RELATED_UNRESOLVED, None, {"energy": "0.8"}, Answer(0.9), 0.8),
        (QueryMode.SIMILAR_STATE, "g", {"energy": "0.8", "goal": "g"}, Answer(0.75), 0.75),
        # energy × 1/(1 + 15/30)
        (QueryMode.WHAT_I_WAS_DOING, "g", {"energy": "0.6", "valid_at": NOW - 15 * DAY}, Answer(0.0), 0.4),
        # discovery energy × goal match
        (QueryMode.RESOLUTION_PATTERNS, "g h", {"discovery_energy": "0.9", "goal": "g"}, Answer(0.7), 0.63),
        (QueryMode.RESOLUTION_PATTERNS, None, {"discovery_energy": "0.9"}, Answer(0.7), 0.9),
        (QueryMode.RESOLUTION_PATTERNS, None, {}, Answer(0.7), 0.5),
        (QueryMode.RESOLUTION_PATTERNS, None, {"discovery_energy": "0"}, Answer(0.7), 0.0),
    ],
)
def test_each_mode_scores_as_003_says(
    mode: QueryMode, goal: str | None, columns: Mapping[str, Any], answer: Answer, score: float
) -> None:
    assert mode_score(a_memory("m", **columns), answer, waking(mode, goal=goal)) == pytest.approx(score)


@pytest.mark.parametrize(("days", "weight"), [(0, 1.0), (30, 1.0), (40, 0.5), (50, 1 / 3), (-5, 1.0)])
def test_a_memory_counts_in_full_for_thirty_days_and_then_half_for_each_half_life(
    days: int, weight: float
) -> None:
    changed = NOW - days * DAY
    assert recency_weight(changed, waking(QueryMode.RELATED_UNRESOLVED, half_life=10.0)) == pytest.approx(weight)
    assert recency_weight(changed, waking(QueryMode.RELATED_UNRESOLVED)) == 1.0
    # past activity has a recency of its own
    assert recency_weight(changed, waking(QueryMode.WHAT_I_WAS_DOING, half_life=10.0)) == 1.0


@given(st.sampled_from(QueryMode), st.sampled_from([None, "g", "g h", "other"]), UNIT, UNIT, st.integers(0, 399))
def test_a_mode_score_lies_between_0_and_1(
    mode: QueryMode, goal: str | None, energy: float, felt: float, days: int
) -> None:
    memory = a_memory("m", energy=str(energy), goal="g", valid_at=NOW - days * DAY, discovery_energy=str(felt))
    assert 0.0 <= mode_score(memory, Answer(felt, felt), waking(mode, goal=goal)) <= 1.0


@given(UNIT, UNIT)
def test_nearness_is_symmetric_and_greatest_for_equals(one: float, other: float) -> None:
    assert energy_nearness(one, other) == energy_nearness(other, one)
    assert 0.0 <= energy_nearness(one, other) <= energy_nearness(one, one) == 1.0


# --- what is accepted -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "goal", "felt", "by_emotion", "inside"),
    [
        (QueryMode.SIMILAR_STATE, None, 0.7, True, False),
        (QueryMode.SIMILAR_STATE, None, 0.71, True, True),
        (QueryMode.SIMILAR_STATE, None, 0.7, False, False),
        (QueryMode.RESOLUTION_PATTERNS, None, 0.6, False, False),
        (QueryMode.RESOLUTION_PATTERNS, None, 0.61, False, True),
        (QueryMode.RESOLUTION_PATTERNS, "other", 0.99, False, False),
        (QueryMode.RESOLUTION_PATTERNS, "other", 0.99, True, True),
        (QueryMode.RESOLUTION_PATTERNS, "g", 0.61, False, True),
        (QueryMode.RELATED_UNRESOLVED, "g", 0.0, False, True),
        (QueryMode.RELATED_UNRESOLVED, "other", 0.0, False, False),
        (QueryMode.RELATED_UNRESOLVED, None, 0.0, False, True),
        (QueryMode.RELATED_UNRESOLVED, "other", 0.61, True, True),
        (QueryMode.RELATED_UNRESOLVED, "g", 0.6, True, False),
        (QueryMode.WHAT_I_WAS_DOING, "other", 0.0, False, True),
    ],
)
def test_a_mode_accepts_only_its_answers(
    mode: QueryMode, goal: str | None, felt: float, by_emotion: bool, inside: bool
) -> None:
    assert is_answer(row_of("m", goal="g"), Answer(felt), waking(mode, goal=goal), by_emotion=by_emotion) is inside


# --- activation -----------------------------------------------------------------------------------------------


def found_of(memories: list[Candidate], bonds: list[CandidateLink]) -> Candidates:
    return Candidates(
        {memory.key: memory for memory in memories},
        {(bond.graph_key, bond.get("id"), bond.get("created_at")): bond for bond in bonds},
    )


def test_the_formula_of_003_with_the_pressure_of_the_moment() -> None:
    # 0.5 + 0.4 (0.4 × 0.8 + 0.6 × 1.0) + 0.2 × 0.5 + 0.5 × 0.6 − 0.1 (1 − 3/13)
    memory = a_memory("m", energy="0.8", confidence="0.5", emotion_vector='{"joy": 0.4}')
    now = waking(QueryMode.SIMILAR_STATE, pressure=1.0)
    (score,) = activate(found_of([memory], []), {memory.key: 0.5}, now).order
    missing = -score.terms["incompleteness"]
    assert score.terms["priority"] == pytest.approx(0.368)
    assert score.terms["emotional_resonance"] == pytest.approx(0.3)
    assert score.total == pytest.approx(0.5 + 0.368 + 0.1 + 0.3 - missing)


# --- resolutions ----------------------------------------------------------------------------------------------


def resolving(source: str, target: str, **columns: Any) -> CandidateLink:
    link = {**stored_link(f"{source}>{target}"), "relation_type": "RESOLVED_BY", "resolution_state": "resolved"}
    row = stored_row({"id": target}, {**link, **columns}, hop=1, ends=(source, target))
    return CandidateLink(N1, source, target, Record(row[LINK_START:NODE_START]))


def test_a_pattern_is_blockage_resolution_and_the_steps_within_two_hops() -> None:
    memories = [
        a_memory("blocked", name="Stuck", discovery_energy="0.9"),
        a_memory("way", name="Asked"),
        a_memory("one", node_type="Decision"),
        a_memory("person", node_type="Person"),
        a_memory("two", node_type="Learning"),
        a_memory("three", node_type="Action"),
        a_memory("elsewhere", node_type="Action"),
    ]
    bonds = [
        resolving("blocked", "way"),
        a_link("way", "one", energy=0.2),
        a_link("person", "way"),
        a_link("person", "two"),
        a_link("two", "three"),
        a_link("blocked", "elsewhere"),
    ]
    (one,) = find_resolutions(found_of(memories, bonds), [key("blocked")])
    assert [(memory.get("id"), hop) for memory, hop in one.steps] == [("one", 1), ("two", 2)]
    shown = show_pattern(one, 0.91)
    assert (shown.blockage, shown.resolution, shown.steps) == ("Stuck", "Asked", ("one", "two"))
    assert (shown.discovery_energy, shown.emotional_likeness, shown.link_id) == (0.9, 0.91, "blocked>way")
    # the blockage's score goes whole to the resolution, × 0.8 a hop to the steps, and takes nothing away
    scores = pass_scores_on({key("blocked"): 0.5, key("two"): 0.4}, [one])
    assert scores == {
        key("blocked"): 0.5,
        key("way"): 0.5,
        key("one"): pytest.approx(0.4),
        key("two"): pytest.approx(0.4),
    }


# --- the queries ----------------------------------------------------------------------------------------------

GRAPHS = {Level.N1: "citizen_ada", Level.N2: "collective_n2", Level.N3: "ecosystem_n3"}
NO_STORE = cast(Connection, None)


def seen(graphs: Mapping[Level, str], scope: Scope, *, past: bool = False) -> View:
    targets: dict[GraphKey, GraphTarget] = {
        level: GraphTarget(level, Graph(NO_STORE, name), past) for level, name in graphs.items()
    }
    return View(scope, targets, NOW)


HERE = seen(GRAPHS, Scope.current(NOW))


def asked_of(view: View, meaning: list[float] | None = None, **fields: Any) -> list[QueryRequest]:
    """The queries of a state whose memories count half after ten days."""
    request = state(**fields)
    half_life = 10.0 if request.temporal_scope == "recent" else None
    emotions = request.current_emotions or {}
    felt = {"energy": 0.4, "emotions": emotions, "goal": request.current_goal, "half_life": half_life}
    link_state = State(request.current_goal, emotions)
    return build_queries(request, waking(request.query_mode, link_state=link_state, **felt), view, meaning)


@pytest.mark.parametrize(
    ("fields", "states", "energies"),
    [
        ({}, ["in_progress", "blocked"], (0.0, 1.0)),
        ({"include_only_unresolved": False}, ["in_progress", "blocked", "resolved"], (0.0, 1.0)),
        ({"query_mode": "find_similar_state"}, [], (0.15, 0.65)),
        ({"query_mode": "find_what_i_was_doing"}, ["in_progress"], (0.0, 1.0)),
        ({"query_mode": "find_resolution_patterns"}, ["resolved"], (0.0, 1.0)),
    ],
)
def test_each_mode_asks_for_its_states_and_energies(
    fields: Mapping[str, Any], states: list[str], energies: tuple[float, float]
) -> None:
    values = asked_of(HERE, **fields)[0].values
    assert (values["states"], (values["least_energy"], values["most_energy"])) == (states, energies)
