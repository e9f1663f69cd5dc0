"""The data of the languages, and how a phrase of them is written."""

from __future__ import annotations

import pytest

from orchestration.appraisal.languages import CODES, FEELINGS, language, language_of
from schemas.memory import ResolutionState
from substrate.emotions import EMOTION_WORDS


@pytest.mark.parametrize("code", CODES)
def test_the_data_of_a_language_name_known_emotions_and_states(code: str) -> None:
    entries = [entry for found in language(code).phrases.values() for entry in found]
    assert all(entry.pattern for entry in entries if entry.phrase is not None)
    assert {entry.value for entry in entries if entry.kind in FEELINGS} <= set(EMOTION_WORDS.values())
    assert {entry.value for entry in entries if entry.kind == "states"} == {
        state.value for state in ResolutionState
    }
    assert {entry.value for entry in entries if entry.kind == "steps"} == {"Decision", "Action", "Learning"}


def test_every_language_has_the_same_kinds_of_words() -> None:
    first, *others = map(language, CODES)
    for other in others:
        assert other.words.keys() == first.words.keys()
        assert set(other.degrees.values()) == set(first.degrees.values())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I have been to the bank with my brother", "en"),
        ("Ich war mit meinem Bruder auf der Bank", "de"),
        ("Zugspitze 2962", "en"),
        ("", "en"),
    ],
)
def test_a_text_has_the_language_of_its_function_words_english_when_undecided(text: str, code: str) -> None:
    assert language_of(text).code == code
