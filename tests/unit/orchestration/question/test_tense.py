"""For when a question asks, and which texts tell of a change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.question.tense import (
    Tense,
    _own_pattern,
    _own_words,
    changing_words,
    has_own_words,
    read_tense,
    read_voice,
)
from substrate.language.languages import Language
from substrate.language.text import language_of, pattern_of

QUESTIONS = [
    ("Where do I live?", Tense.PRESENT),
    ("What's my rent these days?", Tense.PRESENT),
    ("Which phone do I use now?", Tense.PRESENT),
    ("Where did I live before the move?", Tense.FORMER),
    ("What did the rent use to be at first?", Tense.FORMER),
    ("What was my original plan?", Tense.FORMER),
    ("What did I buy for my sister?", Tense.EVENT),
    ("Who gave us the keys?", Tense.EVENT),
    ("Wo wohne ich?", Tense.PRESENT),
    ("In welchem Stellwerk arbeite ich?", Tense.PRESENT),
    ("Wo habe ich früher gewohnt?", Tense.FORMER),
    ("Was habe ich meiner Schwester gekauft?", Tense.EVENT),
    ("What should I pack?", None),
    ("Explain the rule to me", None),
    ("Rent?", Tense.PRESENT),
    ("", None),
]


@pytest.mark.parametrize(("question", "tense"), QUESTIONS)
def test_the_words_of_a_question_say_for_when_it_asks(question: str, tense: Tense | None) -> None:
    assert read_tense(question) == tense


def test_words_of_change_are_counted_in_the_language_of_the_text() -> None:
    moved = read_voice("we moved the closing day again, since Monday")
    assert (moved.verbs, moved.changes) == (1, 2)
    held = read_voice("die Proben sind ab Mai wieder am Dienstag")
    assert (held.verbs, held.changes) == (1, 1)
    closed = read_voice("we are closed on Mondays")
    assert (closed.verbs, closed.changes) == (0, 0)


@pytest.mark.parametrize(
    "text", ["If I moved to Oslo I'd ski", "he moved, haha", "Imagine we swapped it", "Scherz, ich bleib"]
)
def test_what_is_supposed_or_a_jest_is_not_meant(text: str) -> None:
    assert read_voice(text).unmeant


CHANGING = sorted(set().union(*(changing_words(language.code) for language in Language.all())))


@given(st.lists(st.sampled_from([*CHANGING, "the", "to", "no", "the old", "not  the", "ab\nMai", "x2", "_", "-"])))
def test_every_word_of_change_is_counted(parts: list[str]) -> None:
    text = " ".join(parts).lower()
    code, voice = language_of(text).code, read_voice(text)
    assert voice.changes == len(set(pattern_of(code, "change.words").findall(text)))
    assert voice.verbs == len(set(pattern_of(code, "change.verbs").findall(text)))


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    assert read_tense("x" * 10_000 + " where do I live now?") is None


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Yesterday I went", True),
        ("OUR house", True),
        ("Das war mein See", True),
        ("Sounds great, Mia! You must visit it", False),
        ("", False),
    ],
)
def test_words_of_oneself_are_whole_words_of_any_language(text: str, own: bool) -> None:
    assert has_own_words(text) is own


@given(
    st.lists(
        st.sampled_from(
            [*sorted(_own_words()), "US", "I", "x", "İch", "iſ", "é", "_me", "me2", "'", "-", " ", "."]
        )
    )
)
def test_words_of_oneself_are_found_as_by_their_pattern(parts: list[str]) -> None:
    text = "".join(parts)
    assert has_own_words(text) is (_own_pattern().search(text) is not None)
