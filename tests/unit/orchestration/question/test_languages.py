"""The words in which a question is read, by language."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.question.languages import QuestionLanguage, languages, single_blanks
from substrate.language.languages import NIGHT, UNITS


@pytest.mark.parametrize("language", languages(), ids=lambda language: language.code)
def test_each_language_names_all_months_weekdays_units_and_parts(language: object) -> None:
    places = language.places  # type: ignore[attr-defined]
    assert set(places["month"].values()) == set(range(1, 13))
    assert set(places["weekday"].values()) == set(range(7))
    assert set(places["unit"].values()) == set(range(len(UNITS)))
    assert set(places["season"].values()) == set(range(4))
    assert set(places["part"].values()) == set(range(NIGHT + 1))


def test_no_phrase_lies_within_another() -> None:
    text = "the day before yesterday, last Friday night, at the start of March 2024 and three weeks ago"
    found = languages()[0].find_phrases(text)
    assert [phrase.kind for phrase in found] == ["day_before_yesterday", "last_weekday", "month", "ago"]
    assert all(first.end <= second.start for first, second in pairwise(found))


CASELESS = {each.code: re.compile(each.phrases.pattern, re.IGNORECASE) for each in languages()}


@given(st.one_of([st.tuples(st.just(each), st.from_regex(CASELESS[each.code])) for each in languages()]))
def test_a_look_at_small_letters_and_cues_hides_no_phrase(example: tuple[QuestionLanguage, str]) -> None:
    language, text = example
    assert [found.span() for found in CASELESS[language.code].finditer(text)] == [
        (phrase.start, phrase.end) for phrase in language.find_phrases(text)
    ]


@given(
    st.one_of(
        [
            st.tuples(st.just(each), st.from_regex(each.events[side]), st.just(side))
            for each in languages()
            for side in each.sides
        ]
    )
)
def test_what_stands_before_a_side_may_be_left_out(example: tuple[QuestionLanguage, str, str]) -> None:
    language, text, side = example
    assert language.sides[side].search(text)


def test_a_run_of_blanks_becomes_one_blank_or_one_line_break() -> None:
    assert single_blanks("\n Where  did\u3000\tshe \n\n live? ") == "Where did she\nlive?"
