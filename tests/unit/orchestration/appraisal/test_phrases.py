"""The data of the languages, and how a phrase of them is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.appraisal.phrases import _PART, FEELINGS, Entry, _alternatives, all_phrases
from schemas.memory import ResolutionState
from substrate.emotions import EMOTION_WORDS
from substrate.language.languages import Language
from substrate.language.text import language_of


@pytest.mark.parametrize("language", Language.all(), ids=lambda language: language.code)
def test_the_data_of_a_language_name_known_emotions_and_states(language: Language) -> None:
    entries = [entry for found in all_phrases(language.code).values() for entry in found]
    assert all(entry.pattern for entry in entries if entry.phrase is not None)
    assert {entry.value for entry in entries if entry.kind in FEELINGS} <= set(EMOTION_WORDS.values())
    assert {entry.value for entry in entries if entry.kind == "states"} == {
        state.value for state in ResolutionState
    }
    assert {entry.value for entry in entries if entry.kind == "steps"} == {"Decision", "Action", "Learning"}


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


PHRASES = [
    entry
    for language in Language.all()
    for found in all_phrases(language.code).values()
    for entry in found
    if entry.pattern is not None
]
SPOKEN = {"..": ("", "a b"), "#": ("7", "1,000"), "%ing": ("going",)}


@st.composite
def told(draw: st.DrawFn, phrase: str) -> str:
    """The words of one of the texts that a phrase stands for."""
    spoken = []
    for part in _PART.findall(phrase):
        bare = part.removesuffix("?")
        if bare != part and draw(st.booleans()):
            continue
        if bare.startswith("("):
            spoken.append(draw(told(draw(st.sampled_from(_alternatives(bare))))))
        else:
            spoken.append(draw(st.sampled_from(SPOKEN.get(bare, (bare,)))))
    return " ".join(filter(None, spoken))


@given(entry=st.sampled_from(PHRASES), data=st.data())
def test_every_text_with_a_phrase_has_one_of_the_words_that_it_needs(entry: Entry, data: st.DataObject) -> None:
    assert entry.phrase is not None
    assert entry.pattern is not None
    text = data.draw(told(entry.phrase))
    assert entry.pattern.match(f"{text} ")
    assert not entry.needed.isdisjoint(text.split())
