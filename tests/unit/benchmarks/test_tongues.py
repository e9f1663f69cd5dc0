"""The facts in other languages are whole, and their places are counted rightly."""

from __future__ import annotations

import pytest

from benchmarks.chat import find_faults
from benchmarks.tongues import Figures, Tongue, load_tongues, place_of, to_chat
from substrate.language.text import word_language

TONGUES = load_tongues()


@pytest.mark.parametrize("tongue", TONGUES, ids=lambda tongue: tongue.language)
def test_a_file_has_a_hundred_facts_with_a_question_each(tongue: Tongue) -> None:
    assert [fact.id for fact in tongue.facts] == [f"fact-{number:03}" for number in range(1, 101)]
    assert len({fact.text for fact in tongue.facts}) == len({fact.question for fact in tongue.facts}) == 100
    assert sum(fact.is_held_back for fact in tongue.facts) == 25
    assert find_faults(to_chat(tongue, "somebody")) == []


@pytest.mark.parametrize("tongue", TONGUES, ids=lambda tongue: tongue.language)
def test_most_questions_are_read_in_their_language(tongue: Tongue) -> None:
    read = [word_language(fact.question) for fact in tongue.facts]
    assert read.count(tongue.language) >= 80


def test_a_fact_that_was_not_found_counts_nothing() -> None:
    places = (place_of("a", "abc"), place_of("c", "abc"), place_of("d", "abc"))
    assert places == (1, 3, None)
    figures = Figures(places)
    assert (figures.within(1), figures.within(5)) == (1 / 3, 2 / 3)
    assert figures.reciprocal == pytest.approx((1 + 1 / 3) / 3)
