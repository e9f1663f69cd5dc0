"""The stream assembled: what each level shows, its links, summary and budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.assembly.budget import budget_of
from orchestration.assembly.fitting import fit
from orchestration.assembly.stream import RetrievalReport, assemble, select, summarize
from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import Question
from orchestration.ranking.activation import Asker, activate
from orchestration.ranking.candidates import Candidates
from schemas.intention import RetrievalIntention
from schemas.memory import ConsciousnessNode, GraphKey, Level
from schemas.stream import ConsciousnessStream, ConsciousnessSummary, QueryTiming
from tests.builders import NOW, a_node, stored_link, stored_row

N1, N2, N3 = Level.N1, Level.N2, Level.N3
LEXICONS: dict[GraphKey, Lexicon] = {level: Lexicon() for level in (N1, N2, N3)}


def three_levels() -> Candidates:
    """Three by likeness in N1 (the third has a neighbour), one by traversal in N2, a link with one end only."""
    candidates = Candidates()
    candidates.add(
        N1,
        [
            stored_row({"id": "near"}, score=0.1),
            stored_row({"id": "middle"}, score=0.3),
            stored_row({"id": "far", "energy": "1"}, score=0.5),
        ],
        likeness=True,
    )
    candidates.add(
        N1,
        [
            stored_row({"id": "far", "energy": "1"}, score=2.0),
            stored_row({"id": "beside"}, stored_link("weak", energy=0.2), hop=1, ends=("far", "beside")),
            stored_row({"id": "near"}, stored_link("strong"), hop=1, ends=("beside", "near")),
            stored_row({"id": "near"}, stored_link("loose"), hop=1, ends=("elsewhere", "near")),
        ],
        likeness=False,
    )
    candidates.add(N2, [stored_row({"id": "shared"})], likeness=False, named={"shared"})
    return candidates


def corrected_candidates() -> Candidates:
    """Both records of a corrected belief, and the shed that it leads to."""
    candidates = Candidates()
    was: dict[str, Any] = {"id": "key", "description": "the key hangs in the hall", "expired_at": 20}
    now: dict[str, Any] = {"id": "key", "description": "it hangs in the shed", "created_at": 20, "version": 2}
    candidates.add(N1, [stored_row(was, score=0.1), stored_row(now, score=0.4)], likeness=True)
    candidates.add(
        N1,
        [
            stored_row({"id": "key", **now}, score=2.0),
            stored_row({"id": "shed"}, stored_link("lies"), hop=1, ends=("key", "shed")),
        ],
        likeness=False,
    )
    return candidates


def streamed(candidates: Candidates, **fields: Any) -> ConsciousnessStream:
    intention = RetrievalIntention.model_validate({"query_text": "what", "citizen_id": "ada", **fields})
    timings = [
        QueryTiming(query="N1_vector", milliseconds=1.0, rows=3),
        QueryTiming(query="N2_vector", milliseconds=9.0, failure="no answer within 1.25 s"),
    ]
    report = RetrievalReport(NOW, timings, ["a note"], ["Ada"])
    activation = activate(candidates, LEXICONS, Asker(Question("what")))
    stream = assemble(intention, candidates, activation, report)
    return fit(stream, intention.form, budget_of(intention))


# --- levels ----------------------------------------------------------------------------------------------


def test_a_level_shows_the_nearest_by_likeness_and_the_most_active_by_traversal() -> None:
    candidates = three_levels()
    order = activate(candidates, LEXICONS, Asker(Question("what"))).order
    selection = select(candidates, order, (N1, N2, N3), 20)
    active = [score.key[1] for score in order]
    assert [key[1] for key in selection.vector[N1]] == ["near", "middle", "far"]
    graph = [key[1] for key in selection.graph[N1]]
    assert sorted(graph) == ["beside", "far", "near"]
    assert graph == [name for name in active if name in graph]
    assert [key[1] for key in selection.graph[N2]] == ["shared"]
    assert (selection.vector[N3], selection.graph[N3], selection.links[N3]) == ([], [], [])


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_limit_holds_for_each_query_and_hides_links_to_what_is_hidden(limit: int) -> None:
    candidates = three_levels()
    selection = select(
        candidates, activate(candidates, LEXICONS, Asker(Question("what"))).order, (N1, N2, N3), limit
    )
    assert [key[1] for key in selection.vector[N1]] == ["near", "middle", "far"][:limit]
    assert len(selection.graph[N1]) == limit
    every = selection.keys()
    shown = {key[1] for key in every}
    for bond in selection.links[N1]:
        assert {bond.source, bond.target} <= shown


# --- summary ---------------------------------------------------------------------------------------------


def test_the_summary_by_hand() -> None:
    memories = [
        a_node(energy=0.9, confidence=0.8, emotion_vector={"excited": 0.6, "fear": 0.1}),
        a_node(energy=0.3, confidence=0.4, level="N2", emotion_vector={"Excitement": 0.3, "calm": 0.9}),
        a_node(energy=0.6, confidence=0.3, level="N2", valid_at=NOW - timedelta(days=9), invalid_at=NOW),
        a_node(energy=0.2, confidence=0.5, level="N3", expired_at=NOW - timedelta(days=1)),
    ]
    assert summarize(memories, NOW) == ConsciousnessSummary(
        dominant_energy=0.5,
        emotional_themes=("calm", "excitement", "fear"),
        confidence_average=0.5,
        earliest_memory=NOW - timedelta(days=9),
        latest_memory=NOW,
        n1_result_count=1,
        n2_result_count=2,
        n3_result_count=1,
        total_results=4,
        active_vs_historical_ratio=0.5,
    )


def test_themes_are_the_five_strongest_and_never_one_that_nobody_felt() -> None:
    feelings = {"joy": 0.1, "fear": 0.2, "calm": 0.3, "pride": 0.4, "hope": 0.5, "awe": 0.6, "envy": 0.0}
    assert summarize([a_node(emotion_vector=feelings)], NOW).emotional_themes == (
        "awe",
        "hope",
        "pride",
        "calm",
        "fear",
    )
    assert summarize([a_node(emotion_vector={"envy": 0.0})], NOW).emotional_themes == ()


# --- the whole stream ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("budget", "shown"), [(None, 5), (9000, 5), (3, 1), (1, 1)])
def test_a_token_budget_leaves_out_the_least_active_everywhere(budget: int | None, shown: int) -> None:
    candidates = three_levels()
    stream = streamed(candidates, max_tokens=budget)
    ordered = [memory.node_id for memory in stream.activation_tiers.ordered()]
    assert len(ordered) == shown
    assert stream.omitted == 5 - shown
    for level in stream.levels.values():
        assert {memory.node_id for memory in (*level.vector_results, *level.graph_results)} <= set(ordered)
        for link in level.relationships:
            assert {link.source_id, link.target_id} <= set(ordered)


def ids(memories: Sequence[ConsciousnessNode]) -> list[tuple[str, int]]:
    return [(memory.node_id, memory.version) for memory in memories]


def calculated(stream: ConsciousnessStream) -> tuple[Any, ...]:
    """Everything that is calculated from all that was selected."""
    graph = stream.traversal_graph
    return (
        stream.energy_feedback_potential,
        stream.energy_shares,
        stream.metadata_validation,
        stream.temporal_dissonances,
        stream.consciousness_summary,
        (graph.suggested_paths, graph.hub_nodes, graph.central_themes),
        (graph.node_count, graph.edge_count, graph.path_count, graph.graph_density),
    )


@given(
    candidates=st.sampled_from([three_levels, corrected_candidates]),
    budget=st.integers(1, 60),
    compact=st.booleans(),
)
def test_the_budget_changes_no_calculated_value(
    candidates: Callable[[], Candidates], budget: int, compact: bool
) -> None:
    asked: dict[str, Any] = {"temporal_mode": "full_history", "explain": True}
    whole = streamed(candidates(), **asked)
    some = streamed(candidates(), **asked, max_tokens=budget, form="compact" if compact else "full")
    assert calculated(some) == calculated(whole)
    assert whole.energy_feedback_potential > 0.0
    for tier in ("focus", "peripheral", "background"):
        assert set(ids(getattr(some.activation_tiers, tier))) <= set(ids(getattr(whole.activation_tiers, tier)))


def test_an_explained_score_is_the_sum_of_003s_terms() -> None:
    for memory in streamed(three_levels(), explain=True).activation_tiers.ordered():
        assert memory.score_terms is not None
        parts = ("likeness", "words", "spread", "sitting")
        terms = sum(value for name, value in memory.score_terms.items() if name not in parts)
        assert memory.consciousness_adjusted_score == pytest.approx(terms, abs=1e-5)
    assert all(memory.score_terms is None for memory in streamed(three_levels()).activation_tiers.ordered())
