"""Texts of any length and content fit: nothing is lost but control characters, and what a note counts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from api.adapters.fitting import MAX_QUERY, fit_query, remove_control_characters, split_text

TEXTS = st.text("ab \n\t\x00\x7f\ud800", max_size=300)


@given(TEXTS, st.integers(1, 50))
def test_the_pieces_of_a_text_hold_all_of_it_but_its_spaces(text: str, longest: int) -> None:
    pieces = list(split_text(text, longest))
    assert all(0 < len(piece) <= longest for piece in pieces)
    whole = "".join(remove_control_characters(text).split())
    assert "".join("".join(pieces).split()) == whole


@given(TEXTS)
def test_a_value_that_fits_can_be_encoded_and_stored(text: str) -> None:
    plain = remove_control_characters(text)
    assert len(plain) == len(text)
    assert not set(plain.encode().decode()) & set("\x00\x7f")


def test_a_piece_ends_between_two_words_if_it_can() -> None:
    assert list(split_text("one two three", 9)) == ["one two", "three"]
    assert list(split_text("x" * 25, 10)) == ["x" * 10, "x" * 10, "x" * 5]
    assert list(split_text(" \n ", 10)) == []


def test_only_a_question_that_was_cut_has_a_note() -> None:
    assert fit_query(" what? ") == ("what?", None)
    query = fit_query("word " * MAX_QUERY)
    assert len(query.text) <= MAX_QUERY
    assert query.note == "only the first 19,999 of 99,999 characters were used"
