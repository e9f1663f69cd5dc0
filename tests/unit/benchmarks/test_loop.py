"""The plan of a life in the loop: what is heard when, and what stays unheard."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from random import Random

import pytest

from benchmarks.chat import load_chats
from benchmarks.datasets import Conversation, Question, Turn
from benchmarks.loop_plan import (
    LOOKS,
    MOST_TIMES,
    Asked,
    Look,
    Step,
    Told,
    as_conversation,
    plan,
    shorten,
    split,
    told_after,
)

QUESTIONS = 6


def undated(turns: int) -> Conversation:
    """A conversation that names no time, with a question for every third turn."""
    said = tuple(Turn(f"t{n}", "Ada", f"I have {n} hens.", None, "s") for n in range(turns))
    questions = tuple(Question(f"Which is number {n}?", "x", frozenset([f"t{n}"])) for n in range(0, turns, 3))
    return Conversation("undated", said, questions, ("Who has geese?", "Who has ducks?"))


CONVERSATIONS = [as_conversation(load_chats()[0]), undated(50), undated(5)]


def live(conversation: Conversation, seed: int = 1) -> list[Step]:
    chance = Random(seed)
    return plan(conversation, split(conversation, QUESTIONS, chance), chance)


def moment(step: Step) -> list[datetime | None]:
    return [turn.time for turn in step.turns] if isinstance(step, Told) else [step.at]


@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_every_turn_is_told_once_in_order_and_time_goes_forward(conversation: Conversation) -> None:
    steps = live(conversation)
    told = [turn.id for step in steps if isinstance(step, Told) for turn in step.turns]
    assert told == [turn.id for turn in conversation.turns]
    moments = [time for step in steps for time in moment(step)]
    assert all(earlier < later for earlier, later in pairwise(moments) if earlier and later)
    assert None not in moments


@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_a_question_is_heard_only_when_its_evidence_was_told_and_three_times_at_most(
    conversation: Conversation,
) -> None:
    places, told, times = told_after(conversation), 0, dict[str, int]()
    for step in live(conversation):
        if isinstance(step, Told):
            told += len(step.turns)
        elif isinstance(step, Asked):
            assert all(places[each] <= told for each in step.question.evidence)
            times[step.question.text] = times.get(step.question.text, 0) + 1
            assert step.time == times[step.question.text] <= MOST_TIMES
        else:
            assert step.told == told


def test_what_is_kept_for_looking_back_is_never_heard() -> None:
    chance = Random(1)
    questions = split(CONVERSATIONS[0], QUESTIONS, chance)
    heard = {step.question for step in plan(CONVERSATIONS[0], questions, chance) if isinstance(step, Asked)}
    assert heard == set(questions.heard)
    assert heard.isdisjoint(questions.kept)
    assert {bool(question.evidence) for question in questions.kept} == {True, False}


def test_it_is_looked_back_three_times_the_last_time_at_the_end() -> None:
    looks = [step for step in live(CONVERSATIONS[0]) if isinstance(step, Look)]
    assert [look.part for look in looks] == list(range(1, LOOKS + 1))
    assert looks[-1].told == len(CONVERSATIONS[0].turns)


def test_the_same_seed_gives_the_same_life_and_another_seed_another() -> None:
    assert live(CONVERSATIONS[0], 5) == live(CONVERSATIONS[0], 5) != live(CONVERSATIONS[0], 6)


def test_a_shortened_conversation_is_asked_what_it_still_answers() -> None:
    short = shorten(undated(50), 7)
    assert [len(short.turns), len(short.questions)] == [7, 3]
