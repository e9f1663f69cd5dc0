"""Which standing instructions a request brings."""

from __future__ import annotations

import pytest

from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import Question, Request
from orchestration.ranking.channels import INSTRUCTIONS_KEPT, Instruction, choose_instructions, is_request
from schemas.memory import Level


def said(name: str, text: str, at: int, relevance: float = 0.0) -> Instruction:
    return Instruction((Level.N1, name, 1), text, at, relevance, is_rule=True)


def chosen(*instructions: Instruction) -> list[str]:
    return [key[1] for key in choose_instructions(instructions)]


def test_those_that_fit_best_are_chosen_and_a_general_one_before_one_with_a_condition() -> None:
    letters = said("letters", "when you write letters put the file number on top", 1, 0.1)
    short = said("short", "keep answers brief, always", 2)
    recipes = said("recipes", "in recipes give me grams", 3, 0.6)
    assert chosen(letters, short, recipes) == ["recipes", "short", "letters"]
    many = [said(str(at), f"never mention word{at} to me", at) for at in range(9)]
    assert len(chosen(*many)) == INSTRUCTIONS_KEPT


def test_a_revoked_instruction_does_not_come_and_a_later_one_of_the_same_matter_does() -> None:
    three = said("three", "so three lines tops, always", 1)
    metric = said("metric", "metric units only please", 2)
    ended = said("ended", "you can drop the three lines thing", 3)
    assert chosen(three, metric, ended) == ["metric"]
    assert chosen(three, metric, ended, said("again", "three lines again, always please", 4)) == [
        "again",
        "metric",
    ]


@pytest.mark.parametrize(
    ("held", "request_"),
    [
        ({"tall": 3, "eiffel": 0, "tower": 0}, True),
        ({"judge": 3, "called": 0}, True),
        ({"judge": 3, "called": 2, "name": 0}, False),
        ({}, True),
    ],
)
def test_a_question_of_words_that_were_never_said_is_about_the_world(held: dict[str, int], request_: bool) -> None:
    question = Question("?", request=Request.POSSIBLE)
    assert is_request(question, [Lexicon(10, frequencies=held)]) is request_
    assert is_request(Question("?", request=Request.SURE), [])
    assert not is_request(Question("?"), [Lexicon(10, frequencies=held)])
