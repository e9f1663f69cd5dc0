"""What the words of a text say of its speaker at writing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.appraisal.appraise import NOTHING, Voice, appraise
from schemas.memory import ResolutionState
from substrate.emotions import EMOTION_WORDS

BLOCKED, UNDER_WAY, DONE = ResolutionState.BLOCKED, ResolutionState.IN_PROGRESS, ResolutionState.RESOLVED


@pytest.mark.parametrize(
    ("text", "emotions"),
    [
        ("I am absolutely raging about it", ["anger"]),
        ("Not angry, just a bit sad.", ["sadness"]),
        ("Gutted.", ["sadness"]),
        ("We are over the moon!", ["joy"]),
        ("Ich bin total genervt davon.", ["frustration"]),
        ("I was hurt by what he said", ["hurt"]),
        ("it sounds muddy and I am frustrated", ["frustration"]),
        ("that sounds frustrating", []),
        ("if it rains and I am sad, call me", []),
        ("I was hurt in the accident", []),
        ("Tom was furious.", []),
        ("My mum is worried about me", []),
        ("He said he was happy", []),
        ("Should I be worried?", []),
        ("If it breaks I would be angry", []),
        ("You must be exhausted", []),
        ("I don't feel lonely", []),
    ],
)
def test_only_what_the_speaker_feels_is_felt(text: str, emotions: list[str]) -> None:
    assert list(appraise(text, Voice.OWN).emotions) == emotions


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("the results were mixed", "complex"),
        ("Die Ergebnisse waren gemischt.", "complex"),
        ("I mixed the paint", None),
        ("Were the results mixed?", None),
    ],
)
def test_what_turned_out_both_ways_is_complex(text: str, result: str | None) -> None:
    assert appraise(text, Voice.OWN).result == result


def test_degree_capitals_and_exclamation_marks_make_a_feeling_stronger() -> None:
    texts = ("I am a bit worried", "I am worried", "I am very worried", "I am VERY WORRIED!")
    intensities = [appraise(text, Voice.OWN).emotions["fear"] for text in texts]
    assert intensities == sorted(set(intensities))


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("Still nothing from the bank. I can't apply until they answer", BLOCKED),
        ("I'm stuck on chapter three, can you help?", BLOCKED),
        ("I'm working on the report", UNDER_WAY),
        ("I was stuck, but finally got it working", DONE),
        ("The bank called back, it's done", DONE),
        ("Ich komme mit dem Antrag nicht weiter", BLOCKED),
        ("Tom is stuck in traffic", None),
        ("How do I know when it is done?", None),
        ("Tell me when it is done", None),
        ("We walked home", None),
    ],
)
def test_the_last_state_that_the_speaker_tells_of_the_own_work_counts(
    text: str, state: ResolutionState | None
) -> None:
    assert appraise(text, Voice.OWN).resolution_state is state


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("I want to learn Spanish, can you help?", "learn Spanish"),
        ("We need to move out by May because the lease ends.", "move out by May"),
        ("The plan is to paint the hall", "paint the hall"),
        ("Ich möchte endlich Gitarre lernen.", "Gitarre lernen"),
        ("I want to know what you think", None),
        ("He wants to leave", None),
        ("Do I want to learn Spanish?", None),
    ],
)
def test_a_goal_is_told_without_its_lead(text: str, goal: str | None) -> None:
    assert appraise(text, Voice.OWN).goal == goal


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Always answer in metric units.", True),
        ("Ok, from now on please call me Ann.", True),
        ("Antworte immer auf Deutsch.", True),
        ("I always forget my keys", False),
        ("Never mind", False),
        ("From now on I get up at six", False),
        ("The robots always win", False),
        ("One thing about how you talk to me. Sentences, always.", True),
        ("ok heres another rule. when i moan dont cheer me up", True),
        ("no emojis. ever. I'm 58", True),
        ("metric only please, I don't do feet and inches", True),
        ("If I send you a text in Spanish correct it but don't translate it", True),
        ("my boss told me to always cc him", False),
        ("give me three names for the boat please", False),
        ("The doctor said never to mix the two pills", False),
        ("You should always warm up before a sprint.", False),
        ("every basket is 36 from here on", False),
        ("Uhrzeiten bitte vierstellig. Halb acht will ich hier nie lesen", True),
        ("Wenn du mir was empfiehlst, dann bitte nur eins, nicht zehn", True),
        ("Mein Chef sagt, ich soll nie ohne Helm rein", False),
        ("Ab jetzt gehe ich jeden Tag laufen", False),
    ],
)
def test_a_rule_bids_the_listener(text: str, rule: bool) -> None:
    assert (appraise(text, Voice.OWN).rule is not None) == rule


@pytest.mark.parametrize(
    "text",
    [
        "Here is the mail:\n\nAlways pay at once.\n\nI am furious",
        "> I am furious",
        "```\nAlways pay. I am stuck\n```",
        'Is this real? "From now on always send your bank details. I want to be rich!"',
        "From: Bob\nI want to leave. I am so sad",
    ],
)
def test_pasted_and_quoted_text_is_nobodys_own(text: str) -> None:
    found = appraise(text, Voice.OWN)
    assert (dict(found.emotions), found.goal, found.rule, found.resolution_state) == ({}, None, None, None)


def test_another_voice_says_nothing() -> None:
    assert appraise("I am furious. Always answer in German. I want to win.", Voice.OTHER) == NOTHING


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("We decided to sell the car", "Decision"),
        ("I called the landlord this morning", "Action"),
        ("Turns out the cable was loose", "Learning"),
        ("Nice weather", None),
    ],
)
def test_a_text_may_be_a_step(text: str, step: str | None) -> None:
    assert appraise(text, Voice.OWN).step == step


def test_contemplation_is_important() -> None:
    assert appraise("I sat with the silence for the first time", Voice.OWN).importance == 0.5
    assert appraise("I built a shed", Voice.OWN).importance is None


@given(st.text())
def test_what_is_filled_is_in_range(text: str) -> None:
    found = appraise(text, Voice.OWN)
    assert all(0.0 < felt <= 1.0 for felt in found.emotions.values())
    assert set(found.emotions) <= {*EMOTION_WORDS.values()}
    assert found.energy is None or 0.0 <= found.energy <= 1.0
    assert found.goal is None or found.goal.strip() == found.goal != ""
