from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.baselines import indexed_text, rank_bm25, rank_cosine, rrf
from benchmarks.datasets import Conversation, Question, Turn, load_beam, load_locomo
from benchmarks.scoring import hit_at, print_table, recall_at, score

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
    ("evidence", "k", "recall", "hit"),
    [
        ({"a"}, 1, 1.0, 1.0),
        ({"b"}, 1, 0.0, 0.0),
        ({"a", "d"}, 3, 0.5, 1.0),
        ({"a", "d"}, 4, 1.0, 1.0),
        ({"a", "b", "c", "x"}, 20, 0.75, 1.0),
        ({"x"}, 20, 0.0, 0.0),
    ],
)
def test_recall_is_the_fraction_found_and_hit_is_whether_any_is(
    evidence: set[str], k: int, recall: float, hit: float
) -> None:
    assert recall_at(RANKING, evidence, k) == recall
    assert hit_at(RANKING, evidence, k) == hit


def test_a_report_weighs_every_question_alike_overall_and_by_category() -> None:
    asked = [question("x", "a", "d"), question("x", "c"), question("y", "b")]
    report = score(asked, [RANKING] * 3, cutoffs=(2, 4)).as_dict()
    assert report["overall"] == {
        "questions": 3,
        "recall@2": 0.5,  # (1/2 + 0 + 1) / 3
        "recall@4": 1.0,
        "hit@2": pytest.approx(2 / 3),
        "hit@4": 1.0,
    }
    assert report["by_category"]["x"] == {
        "questions": 2,
        "recall@2": 0.25,
        "recall@4": 1.0,
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
    figures = ["1", "0.500", "0.500", "0.500", "1.000", "1.000", "1.000"]
    assert title == ["Made", "up"]
    assert lines == [
        ["category", "method", "n", "rec@5", "rec@10", "rec@20", "hit@5", "hit@10", "hit@20"],
        ["overall", "one", *figures],
        ["overall", "two", *figures],
        ["x", "one", *figures],
        ["x", "two", *figures],
    ]


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
