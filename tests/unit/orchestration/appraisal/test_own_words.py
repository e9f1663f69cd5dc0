"""The writer's own words of a text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.appraisal.names import heading_spans, own_words, tokens_of


def test_long_quotations_and_citations_are_blanked_and_places_stay() -> None:
    text = 'she wrote "I am Anna and I live in Rome now" and left\n> cited'
    own = own_words(text)
    assert len(own) == len(text)
    assert "Rome" not in own
    assert "cited" not in own
    assert "and left" in own


def test_a_line_of_capitals_is_a_heading_and_a_list_of_names_is_none() -> None:
    assert heading_spans("Ten Ways To Rest\nI met Anna, Ben, Cara and Dan") == [(0, 16)]


@given(st.text(max_size=300))
def test_the_words_of_any_text_stand_where_they_say(text: str) -> None:
    assert all(text[token.start : token.end].startswith(token.word) for token in tokens_of(text))
