"""The emotion, result and relations read from a text (002, problems 4 to 6)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.appraisal.text_signals import match_by_meaning, read_emotions, read_relations, read_result
from schemas.wave_signal import Relation
from substrate.emotions import NEGATIVE, POSITIVE, VOCABULARY, kindred

TYPES = ("CRITICIZED", "PRAISED", "IS_PROUD_OF", "TALKED_TO")


@pytest.mark.parametrize("emotion", VOCABULARY)
def test_every_emotion_of_the_vocabulary_is_read_and_can_be_negated(emotion: str) -> None:
    assert read_emotions(f"This morning there was {emotion} in the room.") == {emotion: 1.0}
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


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("egor criticizes the code", ("Egor", "CRITICIZED", "the code")),
        ("The code was criticized by Egor", ("Egor", "CRITICIZED", "the code")),
        ("Egor is proud of Kai", ("Egor", "IS_PROUD_OF", "Kai")),
        ("praised!", (None, "PRAISED", None)),
    ],
)
def test_a_relation_stands_between_the_names_around_it(
    text: str, triple: tuple[str | None, str, str | None]
) -> None:
    (found,) = read_relations(text, ("Egor", "Kai", "the code"), TYPES)
    assert (found.source, found.relation_type, found.target) == triple


def test_a_negated_or_unknown_relation_is_not_read() -> None:
    assert read_relations("Egor never praised Kai", ("Egor", "Kai"), TYPES) == ()
    assert read_relations("Egor painted Kai", ("Egor", "Kai"), TYPES) == ()


def test_a_word_of_similar_meaning_names_the_relation_too() -> None:
    vectors = {"blamed": (0.8, 0.6), "criticized": (1.0, 0.0), "praised": (0.0, 1.0)}
    matches = match_by_meaning(vectors, 0.7)
    found = read_relations("Egor blamed Kai", ("Egor", "Kai"), TYPES[:2], matches)
    assert found == (Relation(relation_type="CRITICIZED", source="Egor", target="Kai"),)


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    assert read_emotions(text).keys() <= {*VOCABULARY, *NEGATIVE, "adaptation"}
    assert read_result(text) in ("positive", "negative", "complex", None)
    assert isinstance(read_relations(text, (text[:5], "a"), TYPES), tuple)


def test_valence_is_one_of_two_or_none() -> None:
    assert not POSITIVE & NEGATIVE
    assert "despair" in kindred("loneliness")
    assert "loneliness" not in kindred("loneliness")
    assert kindred("surprise") == frozenset()
