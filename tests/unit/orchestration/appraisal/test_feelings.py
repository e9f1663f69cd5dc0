"""The emotions and the result that a text names (002, problems 4 and 5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.appraisal.feelings import read_emotions, read_reply, read_result
from substrate.emotions import NEGATIVE, POSITIVE, VOCABULARY, kindred


@pytest.mark.parametrize("emotion", VOCABULARY)
def test_every_emotion_of_the_vocabulary_is_read_and_can_be_negated(emotion: str) -> None:
    assert read_emotions(f"This morning there was {emotion} in the room.") == {emotion: 0.6}
    assert read_emotions(f"This morning there was no {emotion} in the room.") == {}


@pytest.mark.parametrize(
    ("text", "emotions"),
    [
        ("I was so frustrated", ["frustration"]),
        ("It frustrates me", ["frustration"]),
        ("I'm not happy, I'm LONELY", ["loneliness"]),
        ("I don't feel lonely", []),
        ("Why was I not angry any more, but only sad?", ["sadness"]),
        ("joy, then fear, then fear", ["fear", "joy"]),
        ("fear, then joy", ["joy", "fear"]),
        ("What made me so excited, and (afraid)?", ["fear", "excitement"]),
        ("I was happy; joy was all around.", ["joy"]),
        ("When did we meet?", []),
        ("the of and", []),
        ("", []),
        ("🙂 .org '\"(", []),
    ],
)
def test_the_most_frequent_emotion_comes_first_and_a_negated_one_never(text: str, emotions: list[str]) -> None:
    assert list(read_emotions(text)) == emotions


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("We fixed it and everyone was praised", "positive"),
        ("The build failed again", "negative"),
        ("It failed, then it was solved", "complex"),
        ("It was not solved", "negative"),
        ("There were no errors", "positive"),
        ("We walked home", None),
    ],
)
def test_a_negation_reverses_a_result(text: str, result: str | None) -> None:
    assert read_result(text) == result


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    assert read_emotions(text).keys() <= {*VOCABULARY, *NEGATIVE, "adaptation"}
    assert read_result(text) in ("positive", "negative", "complex", None)


@pytest.mark.parametrize(
    ("reply", "came"),
    [
        ("Thanks!", "positive"),
        ("It worked, cheers", "positive"),
        ("Great, that fixed it.", "positive"),
        ("Thanks, but it is still broken", "negative"),
        ("That's not right", "negative"),
        ("It helped, but now it fails again. No luck with the rest.", "complex"),
        ("Danke, hat geklappt", "positive"),
        ("Geht immer noch nicht", "negative"),
        ("Did it work?", None),
        ("That would be great", None),
        ("No thanks", None),
        ("A great many boats came in today", None),
        ("What time is it?", None),
    ],
)
def test_a_reply_tells_what_came_of_what_the_other_side_did(reply: str, came: str | None) -> None:
    assert read_reply(reply) == came


def test_valence_is_one_of_two_or_none() -> None:
    assert not POSITIVE & NEGATIVE
    assert "despair" in kindred("loneliness")
    assert "loneliness" not in kindred("loneliness")
    assert kindred("surprise") == frozenset()
