"""Whose a phrase is, and whether it is denied, supposed or asked."""

from __future__ import annotations

import pytest

from orchestration.appraisal.speech import Owner, Sentence, SpeechHit, sentences
from substrate.language.languages import Language

ENGLISH = Language.of("en")


def only(text: str, kind: str) -> tuple[Sentence, SpeechHit]:
    [sentence] = sentences(text, ENGLISH)
    [hit] = [hit for hit in sentence.hits if hit.entry.kind == kind]
    return sentence, hit


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("I am really furious", Owner.OWN),
        ("It makes me furious", Owner.OWN),
        ("my wife and I were furious", Owner.OWN),
        ("Tom was furious", Owner.OTHER),
        ("I heard Tom was furious", Owner.OTHER),
        ("she came home furious", Owner.OTHER),
        ("The parrot was furious", Owner.THING),
        ("Furious", Owner.NOBODY),
    ],
)
def test_the_nearest_person_before_a_phrase_owns_it(text: str, owner: Owner) -> None:
    sentence, hit = only(text, "felt")
    assert sentence.owner_of(hit) is owner


@pytest.mark.parametrize(
    ("text", "negated"),
    [("I am not furious", True), ("I am not only furious", False), ("No, I am furious", False)],
)
def test_a_negation_reaches_within_its_clause(text: str, negated: bool) -> None:
    sentence, hit = only(text, "felt")
    assert sentence.is_negated(hit) == negated


@pytest.mark.parametrize(
    ("text", "asked"),
    [("I am furious, can you help?", False), ("Am I furious?", True), ("Can you say if I am furious", True)],
)
def test_what_comes_before_a_question_is_told(text: str, asked: bool) -> None:
    sentence, hit = only(text, "felt")
    assert (hit.start >= sentence.asked_from()) == asked


@pytest.mark.parametrize(
    ("text", "degree"), [("I am extremely sad", 2), ("very sad", 1), ("sad", 0), ("a bit sad", -1)]
)
def test_degree_words_right_before_a_phrase_count(text: str, degree: int) -> None:
    sentence, hit = only(text, "felt")
    assert sentence.degree(hit) == degree
