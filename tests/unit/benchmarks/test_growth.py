"""A chat that grows: which turns come in first, and where the evidence of its questions went."""

from __future__ import annotations

from benchmarks.datasets import Conversation, Question, Turn
from benchmarks.growth import Piece, Step, evidence_of, format_steps, grow, merge, order_of_adding


def chat(name: str, turns: int, *evidence: int) -> Conversation:
    said = tuple(Turn(str(n), "user", f"says {n}", None, f"session {n // 10}") for n in range(turns))
    asked = tuple(Question(f"What is {n}?", "x", frozenset((str(n),))) for n in evidence)
    return Conversation(name, said, asked)


def test_evidence_comes_first_then_what_stands_near_it_in_its_session_then_the_rest() -> None:
    order = order_of_adding(chat("a", 30, 5, 19))
    assert set(order[:2]) == {5, 19}
    assert set(order[2:5]) == {4, 6, 18}  # 20 is of the next session
    assert set(order[20:]) == set(range(20, 30))
    assert order == order_of_adding(chat("a", 30, 5, 19))


def test_a_grown_chat_keeps_the_order_of_its_turns_and_all_evidence() -> None:
    [grown] = grow(chat("a", 30, 5, 19), [], 4)
    ids = [int(turn.id) for turn in grown.turns]
    assert len(ids) == 4
    assert ids == sorted(ids)
    assert evidence_of(grown) <= {turn.id for turn in grown.turns}
    assert [turn.id for turn in grow(chat("a", 30, 5, 19), [], 1)[0].turns] == ["5", "19"]


def test_a_chat_with_too_few_turns_takes_those_of_others_under_another_id() -> None:
    parts = grow(chat("a", 3, 1), [chat("b", 2, 0), chat("c", 9), chat("d", 9)], 7)
    assert [(part.id, len(part.turns), len(part.questions)) for part in parts] == [
        ("a", 3, 1),
        ("b", 2, 0),
        ("c", 2, 0),
    ]
    merged = merge(parts)
    assert [turn.id for turn in merged.turns] == ["0", "1", "2", "b:0", "b:1", "c:0", "c:1"]
    assert sum(len(part.turns) for part in grow(chat("a", 3, 1), [chat("b", 2)], 99)) == 5


def test_the_report_says_where_evidence_went_and_what_keeps_it_low() -> None:
    step = Step(questions=[Question("What?", "x", frozenset("1"))], milliseconds=[2.0], turns=[300])
    step.rankings["Substrate"].append(["1"])
    step.pieces += [
        Piece("x", 1),
        Piece("x", 20),
        Piece("y", 21, {"words": -0.5, "likeness": 0.25, "kind": 0.0}),
        Piece("y", None),
    ]
    lines = [line.split() for line in format_steps("made up", {300: step}).splitlines()]
    assert ["300", "Substrate", "1", "1.000", "1.000", "1.000", "1.000", "2.0"] in lines
    assert ["300", "overall", "4", "0.500", "0.250", "0.250"] in lines
    assert ["300", "y", "2", "0.000", "0.500", "0.500"] in lines
    assert lines[-2:] == [["300", "words", "1", "-0.500"], ["300", "likeness", "1", "+0.250"]]
