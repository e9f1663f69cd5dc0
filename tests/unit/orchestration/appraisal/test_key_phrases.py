"""Which phrases of a text tell what it is about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.appraisal.key_phrases import (
    MAX_LENGTH,
    MIN_LENGTH,
    extract_phrases,
    phrase_key,
    subject_words,
    tag_key,
)


def test_phrases_are_names_of_several_words_and_single_words() -> None:
    phrases = extract_phrases("Marta Weber bought extraordinary apples")
    assert set(phrases.values()) == {"marta weber", "marta", "weber", "bought", "extraordinary", "apples"}


def test_stop_words_numbers_short_and_overlong_words_are_no_phrases() -> None:
    assert extract_phrases("What should they have been? 12345 ab " + "x" * (MAX_LENGTH + 1)) == {}


@given(st.text("abcdehinorst EINORST.,", max_size=60) | st.text(max_size=30))
def test_all_forms_of_a_phrase_share_its_key(text: str) -> None:
    for key, phrase in extract_phrases(text).items():
        assert phrase_key(phrase) == key
        assert phrase == phrase.strip()
        assert MIN_LENGTH <= len(phrase) <= MAX_LENGTH


@pytest.mark.parametrize(
    ("tag", "key"), [("Sea/Salt", "sea salt"), ("tide-tables", "tide tabl"), (" Work\n", "work"), ("🎉", "🎉")]
)
def test_a_tag_is_known_by_the_stems_of_its_words_else_by_itself(tag: str, key: str) -> None:
    assert tag_key(tag) == key


def test_texts_are_named_by_what_most_of_them_speak_of() -> None:
    said = [
        "The greenhouse needs glass.",
        "Thanks! The greenhouse is great.",
        "Tom Berg brings the glass tomorrow.",
    ]
    assert subject_words(said) == ("greenhouse", "glass", "tom berg")
    assert subject_words(["Ok!", ""]) == ()
