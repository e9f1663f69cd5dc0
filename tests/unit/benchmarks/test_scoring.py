from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.baselines import ASKER_RRF, RRF, indexed_text, rank_all, rank_bm25, rank_cosine, rrf
from benchmarks.datasets import Conversation, Question, Turn, load_beam, load_locomo, load_sets
from benchmarks.recall import (
    METHODS,
    WITHOUT_VECTORS,
    Compared,
    format_comparison,
    markdown_comparison,
    methods_for,
)
from benchmarks.scoring import (
    WITH_CATEGORY_5,
    all_at,
    ceiling,
    hit_at,
    interval,
    interval_table,
    intervals,
    print_table,
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


def locomo_sample() -> dict[str, Any]:
    first = {"speaker": "Ann", "dia_id": "D2:1", "text": "I bake bread."}
    shared = {"speaker": "Ben", "dia_id": "D2:2", "text": "Look!", "blip_caption": "a photo of a kite"}
    late = {"speaker": "Ann", "dia_id": "D10:1", "text": "Lovely."}
    evidence = [(4, ["D2:1"]), (1, ["D2:2; D10:1", "D7:7"]), (5, ["D2:1"]), (3, []), (2, ["D9:9"])]
    return {
        "sample_id": "made-up",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_10": [late],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [first, shared],
            "session_11_date_time": "1:14 pm on 25 May, 2023",
        },
        "qa": [{"question": f"Q{c}?", "category": c, "evidence": ids} for c, ids in evidence],
    }


def beam_message(turn_id: int, role: str, **more: str) -> dict[str, Any]:
    return {"id": turn_id, "role": role, "content": f"says {turn_id}", **more}


def beam_chat(chat_id: str) -> dict[str, Any]:
    dated = beam_message(1, "user", time_anchor="March-15-2024")
    return {
        "chat_id": chat_id,
        "chat": [
            {"batch_number": 1, "time_anchor": None, "turns": [[beam_message(0, "user")]]},
            {"batch_number": 2, "turns": [[dated, beam_message(2, "assistant")]]},
            {"batch_number": 3, "time_anchor": "April-05-2024", "turns": [[beam_message(3, "user")]]},
        ],
        "probing_questions": {
            "abstention": [{"question": "Unknown?"}],
            "knowledge_update": [{"question": "Now?", "source_chat_ids": {"old": [0], "new": [2, 99]}}],
            "event_ordering": [{"question": "Order?", "source_chat_ids": [3, [1, 2]]}],
            "summarization": [{"question": "Lost?", "source_chat_ids": [99]}],
        },
    }


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


def test_scoring_refuses_no_questions_and_rankings_out_of_step() -> None:
    with pytest.raises(ValueError, match="no questions"):
        score([], [])
    with pytest.raises(ValueError):
        score([question("x", "a")], [])


def test_the_table_shows_each_method_overall_and_by_category(capsys: pytest.CaptureFixture[str]) -> None:
    report = score([question("x", "a", "z")], [RANKING])
    print_table("Made up", {"one": report, "two": report})
    title, *lines = (line.split() for line in capsys.readouterr().out.splitlines())
    figures = ["1", "0.500", "0.500", "0.500", "0.000", "1.000", "1.000", "1.000"]
    assert title == ["Made", "up"]
    assert lines == [
        ["category", "method", "n", "rec@5", "rec@10", "rec@20", "all@20", "hit@5", "hit@10", "hit@20"],
        ["overall", "one", *figures],
        ["overall", "two", *figures],
        ["x", "one", *figures],
        ["x", "two", *figures],
    ]


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


def test_a_report_by_conversation_has_its_name_in_place_of_the_category() -> None:
    report = score_groups([question("x", "a"), question("y", "z")], [RANKING] * 2, ["one", "two"])
    assert {name: each.recall[5] for name, each in report.by_category.items()} == {"one": 1.0, "two": 0.0}


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


def test_a_set_of_figures_is_written_as_text_as_a_page_and_as_json() -> None:
    asked, groups = [question("x", "a"), question("y", "z")], ["one", "two"]
    rankings = {"BM25": [["b"], ["z"]], "Substrate": [RANKING] * 2}
    compared = Compared(
        {name: score(asked, ranked) for name, ranked in rankings.items()},
        ceiling(asked),
        {name: score_groups(asked, ranked, groups) for name, ranked in rankings.items()},
        intervals(asked, groups, rankings, "Substrate"),
        {},
        {"p50 ms": 2.0},
        {},
    )
    page, half = markdown_comparison("Made up", compared).splitlines(), ".500 / .500 / .500, .500"
    assert page[:3] == [
        "| Made up | n | BM25 | Substrate | ceiling |",
        "| --- | --- | --- | --- | --- |",
        f"| all questions | 2 | {half} | {half} | 1.000 / 1.000 / 1.000, 1.000 |",
    ]
    assert "| two | 1 | 1.000 / 1.000 / 1.000, 1.000 | .000 / .000 / .000, .000 |" in page
    assert "| Substrate - BM25 |" + " .000 (−1.000 to 1.000) |" * 4 in page
    assert "one           BM25" in format_comparison("Made up", compared)
    figures = orjson.loads(orjson.dumps(compared.as_dict()))
    assert figures["intervals"]["Substrate"]["rec@5"] == {"mean": 0.5, "low": 0.0, "high": 1.0}


def test_the_turns_of_the_asker_are_a_baseline_only_where_a_role_asks() -> None:
    roles = Conversation("c", (Turn("t0", "User", "Tea.", None, "s"),), ())
    assert methods_for([talk("Tea."), roles], "local") == METHODS
    assert ASKER_RRF not in methods_for([talk("Tea.")], "local")
    assert methods_for([roles], "none") == WITHOUT_VECTORS


def test_each_file_and_directory_is_a_set_by_its_name(tmp_path: Path) -> None:
    locomo, beams = tmp_path / "locomo.json", [tmp_path / name for name in ("100K", "sub/100K", "500K")]
    locomo.write_text(json.dumps([locomo_sample()]))
    for directory in beams:
        directory.mkdir(parents=True)
        (directory / "a.json").write_text(json.dumps(beam_chat("a")))
    assert list(load_sets([locomo], beams)) == ["locomo", "100K", str(beams[1]), "500K"]
    locomo.write_text(json.dumps([{**locomo_sample(), "qa": []}]))
    with pytest.raises(ValueError, match="no question"):
        load_sets([locomo], [])


def test_rrf_adds_reciprocal_ranks() -> None:
    # k = 1: a 1/2, b 1/3 + 1/3, c 1/4 + 1/2, d 1/4
    assert rrf([["a", "b", "c"], ["c", "b", "d"]], k=1) == ["c", "b", "a", "d"]


def test_rrf_with_a_large_k_prefers_what_both_rankings_have() -> None:
    # k = 60: b 1/62 + 1/62 = .0323 beats a and c, 1/61 = .0164 each
    assert rrf([["a", "b"], ["c", "b"]]) == ["b", "a", "c"]


def test_rrf_ties_stay_in_the_order_first_seen() -> None:
    assert rrf([["b", "a"], ["a", "b"]]) == ["b", "a"]


def test_bm25_ranks_every_turn_stemmed_with_ties_in_turn_order() -> None:
    said = talk("The weather.", "He runs daily in the park.", "Tea.", "Running shoes.")
    # Of the two turns that match "run", the shorter one scores more; the others score nothing.
    assert rank_bm25(said, [question("x", text="Who was running?")]) == [["t3", "t1", "t0", "t2"]]


@pytest.mark.parametrize("text", ["the of", "zebra"])
def test_bm25_keeps_turn_order_when_a_question_matches_nothing(text: str) -> None:
    assert rank_bm25(talk("Tea.", "Shoes."), [question("x", text=text)]) == [["t0", "t1"]]


def test_bm25_of_turns_without_a_word_is_turn_order() -> None:
    turns = (Turn("t0", "a", "the", None, "s"), Turn("t1", "a", "of", None, "s"))
    assert rank_bm25(Conversation("c", turns, ()), [question("x", text="tea")]) == [["t0", "t1"]]


def test_baselines_index_the_speaker_too() -> None:
    turns = (Turn("t0", "Ann", "Tea.", None, "s"), Turn("t1", "Ben", "Tea.", None, "s"))
    assert indexed_text(turns[1]) == "Ben: Tea."
    assert rank_bm25(Conversation("c", turns, ()), [question("x", text="Ben?")]) == [["t1", "t0"]]


def test_the_turns_of_the_asker_are_ranked_alone_where_a_role_asks() -> None:
    vectors, asked = np.eye(3), [question("x", text="Tea?")]
    turns = [Turn(f"t{n}", speaker, "Tea.", None, "s") for n, speaker in enumerate(("User", "assistant", "user"))]
    ranked = rank_all(Conversation("c", tuple(turns), ()), asked, vectors, np.array([[0.0, 1.0, 0.5]]))
    assert ranked[RRF][0][0] == "t1"
    assert ranked[ASKER_RRF] == [["t0", "t2"]]  # a tie, as first seen
    people = rank_all(talk("Tea.", "Shoes.", "Bread."), asked, vectors, np.eye(3)[:1])
    assert people[ASKER_RRF] == people[RRF]


def test_cosine_ignores_length_and_keeps_ties_in_turn_order() -> None:
    turns = np.array([[0.0, 0.0], [0.0, 9.0], [1.0, 1.0], [0.0, 0.1]])
    asked = np.array([[0.0, 2.0], [3.0, 0.0]])
    assert rank_cosine(turns, asked, ["z", "up", "diagonal", "also up"]) == [
        ["up", "also up", "diagonal", "z"],
        ["diagonal", "z", "up", "also up"],
    ]


def test_cosine_refuses_vectors_out_of_step_with_ids() -> None:
    with pytest.raises(ValueError, match="2 turn vectors for 1 ids"):
        rank_cosine(np.ones((2, 3)), np.ones((1, 3)), ["a"])


def test_locomo_turns_are_in_session_order_dated_and_captioned(tmp_path: Path) -> None:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([locomo_sample(), {**locomo_sample(), "sample_id": "other"}]))
    conversation, other = load_locomo(path)
    when = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert (conversation.id, other.id) == ("made-up", "other")
    assert conversation.turns == (
        Turn("D2:1", "Ann", "I bake bread.", when, "session_2"),
        Turn("D2:2", "Ben", "Look! [shares a photo of a kite]", when, "session_2"),
        Turn("D10:1", "Ann", "Lovely.", None, "session_10"),
    )


def test_locomo_questions_keep_only_evidence_that_exists(tmp_path: Path) -> None:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([locomo_sample()]))
    assert load_locomo(path)[0].questions == (
        question("single-hop", "D2:1", text="Q4?"),
        question("multi-hop", "D2:2", "D10:1", text="Q1?"),
    )


def test_adversarial_questions_of_locomo_stand_apart_with_their_evidence(tmp_path: Path) -> None:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([locomo_sample()]))
    [conversation] = load_locomo(path)
    assert conversation.unanswerable == ("Q5?",)
    assert conversation.adversarial == (question("adversarial", "D2:1", text="Q5?"),)
    assert conversation.asked == (*conversation.questions, *conversation.adversarial)


def test_beam_turns_inherit_the_last_time_anchor(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.json").write_text(json.dumps(beam_chat(name)))
    first, second = load_beam(tmp_path)
    march, april = datetime(2024, 3, 15, tzinfo=UTC), datetime(2024, 4, 5, tzinfo=UTC)
    assert (first.id, second.id) == ("a", "b")
    assert first.turns == (
        Turn("0", "user", "says 0", None, "batch_1"),
        Turn("1", "user", "says 1", march, "batch_2"),
        Turn("2", "assistant", "says 2", march, "batch_2"),
        Turn("3", "user", "says 3", april, "batch_3"),
    )


def test_beam_evidence_is_read_from_lists_dicts_and_nested_lists(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(beam_chat("a")))
    assert load_beam(tmp_path)[0].questions == (
        question("knowledge_update", "0", "2", text="Now?"),
        question("event_ordering", "1", "2", "3", text="Order?"),
    )


def test_beam_refuses_a_directory_without_chats(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_beam(tmp_path)
