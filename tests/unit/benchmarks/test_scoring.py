from __future__ import annotations

import json
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.baselines import rank_bm25, rank_cosine, rrf
from benchmarks.datasets import Conversation, Question, Turn
from benchmarks.scoring import (
    WITH_CATEGORY_5,
    all_at,
    ceiling,
    hit_at,
    interval,
    interval_table,
    intervals,
    recall_at,
    score,
    score_groups,
)

RANKING = ["a", "b", "c", "d"]


def question(category: str, *evidence: str, text: str = "Who?") -> Question:
    return Question(text, category, frozenset(evidence))


def talk(*texts: str) -> Conversation:
    turns = tuple(Turn(f"t{n}", "Ann", text, None, "s") for n, text in enumerate(texts))
    return Conversation("c", turns, ())


@pytest.mark.parametrize(
    ("evidence", "k", "recall", "hit", "every"),
    [
        ({"a"}, 1, 1.0, 1.0, 1.0),
        ({"b"}, 1, 0.0, 0.0, 0.0),
        ({"a", "d"}, 3, 0.5, 1.0, 0.0),
        ({"a", "d"}, 4, 1.0, 1.0, 1.0),
        ({"a", "b", "c", "x"}, 20, 0.75, 1.0, 0.0),
        ({"x"}, 20, 0.0, 0.0, 0.0),
    ],
)
def test_recall_is_the_fraction_found_and_hit_is_whether_any_is_and_all_whether_every_one_is(
    evidence: set[str], k: int, recall: float, hit: float, every: float
) -> None:
    assert recall_at(RANKING, evidence, k) == recall
    assert hit_at(RANKING, evidence, k) == hit
    assert all_at(RANKING, evidence, k) == every


def test_a_report_weighs_every_question_alike_overall_and_by_category() -> None:
    asked = [question("x", "a", "d"), question("x", "c"), question("y", "b")]
    report = score(asked, [RANKING] * 3, cutoffs=(2, 4)).as_dict()
    assert report["overall"] == {
        "questions": 3,
        "recall@2": 0.5,  # (1/2 + 0 + 1) / 3
        "recall@4": 1.0,
        "all@2": pytest.approx(1 / 3),
        "all@4": 1.0,
        "hit@2": pytest.approx(2 / 3),
        "hit@4": 1.0,
    }
    assert report["by_category"]["x"] == {
        "questions": 2,
        "recall@2": 0.25,
        "recall@4": 1.0,
        "all@2": 0.0,
        "all@4": 1.0,
        "hit@2": 0.5,
        "hit@4": 1.0,
    }
    assert json.loads(json.dumps(report)) == report


def test_the_ceiling_is_the_smaller_of_k_and_the_evidence_by_the_evidence() -> None:
    asked = [question("x", "a", "b", "c", "d"), question("y", "e")]
    report = ceiling(asked, cutoffs=(2, 4)).as_dict()
    assert (report["by_category"]["x"]["recall@2"], report["by_category"]["x"]["all@2"]) == (0.5, 0.0)
    assert (report["by_category"]["y"]["recall@2"], report["overall"]["recall@4"]) == (1.0, 1.0)


def test_category_5_counts_only_in_the_rows_that_name_it() -> None:
    asked = [question("x", "a"), question("adversarial", "z")]
    report = score(asked, [RANKING] * 2)
    assert (report.overall.questions, report.overall.recall[5]) == (1, 1.0)
    assert report.by_category["adversarial"].recall[5] == 0.0
    assert (report.by_category[WITH_CATEGORY_5].questions, report.by_category[WITH_CATEGORY_5].recall[5]) == (
        2,
        0.5,
    )
    assert score_groups(asked, [RANKING] * 2, ["one", "one"]).by_category["one"].questions == 1
    with pytest.raises(ValueError, match="no questions"):
        score(asked[1:], [RANKING])


@given(
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from("abc")), min_size=1, max_size=12),
)
def test_an_interval_holds_the_mean_of_all_questions_and_lies_within_its_conversations(
    values: list[tuple[float, str]],
) -> None:
    own, groups = [value for value, _ in values], [group for _, group in values]
    means = {name: fmean(value for value, group in values if group == name) for name in dict.fromkeys(groups)}
    found = interval(own, groups)
    assert found.mean == pytest.approx(fmean(own))
    assert min(means.values()) - 1e-9 <= found.low <= found.high <= max(means.values()) + 1e-9
    assert found == interval(own, groups)


def test_an_interval_is_of_conversations_not_of_questions() -> None:
    # A thousand questions of one conversation say no more of others than one does.
    assert interval([0.0, 1.0] * 500, ["one"] * 1000) == (0.5, 0.5, 0.5)
    assert interval([0.0, 1.0], ["one", "two"]) == (0.5, 0.0, 1.0)
    with pytest.raises(ValueError, match="no values"):
        interval([], [])


def test_the_interval_of_a_lead_is_that_of_the_differences_without_category_5() -> None:
    asked = [question("x", "a"), question("x", "d"), question("adversarial", "z")]
    rankings = {"other": [["b"], ["d"], ["z"]], "ours": [RANKING] * 3}
    rows = intervals(asked, ["one", "two", "two"], rankings, "ours")
    assert rows["ours"]["rec@5"] == (1.0, 1.0, 1.0)
    assert rows["ours - other"]["all@20"] == (0.5, 0.0, 1.0)
    title, head, ours, lead = interval_table("Made up", rows).splitlines()
    assert (title, head.split()[-4:]) == ("Made up", ["rec@5", "rec@10", "rec@20", "all@20"])
    assert ours.split()[:2] == ["ours", "1.000"]
    assert lead.split()[:4] == ["ours", "-", "other", "0.500"]


def test_rrf_adds_reciprocal_ranks() -> None:
    # k = 1: a 1/2, b 1/3 + 1/3, c 1/4 + 1/2, d 1/4
    assert rrf([["a", "b", "c"], ["c", "b", "d"]], k=1) == ["c", "b", "a", "d"]


def test_bm25_ranks_every_turn_stemmed_with_ties_in_turn_order() -> None:
    said = talk("The weather.", "He runs daily in the park.", "Tea.", "Running shoes.")
    # Of the two turns that match "run", the shorter one scores more; the others score nothing.
    assert rank_bm25(said, [question("x", text="Who was running?")]) == [["t3", "t1", "t0", "t2"]]


def test_cosine_ignores_length_and_keeps_ties_in_turn_order() -> None:
    turns = np.array([[0.0, 0.0], [0.0, 9.0], [1.0, 1.0], [0.0, 0.1]])
    asked = np.array([[0.0, 2.0], [3.0, 0.0]])
    assert rank_cosine(turns, asked, ["z", "up", "diagonal", "also up"]) == [
        ["up", "also up", "diagonal", "z"],
        ["diagonal", "z", "up", "also up"],
    ]
