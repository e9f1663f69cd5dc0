"""Cursors: a text that says where the next page begins."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.errors import InvalidRequest
from schemas.paging import MOST, Paged, decode_cursor, encode_cursor

parts = st.lists(
    st.integers(-(2**53) + 1, 2**53) | st.text(st.characters(codec="utf-8", exclude_characters="\x00"))
)


@given(parts)
def test_a_cursor_is_read_as_it_was_made(drawn: list[Any]) -> None:
    assert decode_cursor(encode_cursor(*drawn), *map(type, drawn)) == tuple(drawn)


@given(parts)
def test_a_cursor_is_safe_in_an_address(drawn: list[Any]) -> None:
    assert encode_cursor(*drawn).replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize(
    ("cursor", "kinds"),
    [
        ("", (int,)),
        ("not a cursor", (int,)),
        ("é", (int,)),
        (encode_cursor(1), (str,)),
        (encode_cursor(1), (int, int)),
        (encode_cursor(1, "a"), (int,)),
        (encode_cursor("a\x00b"), (str,)),
        (encode_cursor(2**53 + 1), (int,)),
        (encode_cursor(True), (int,)),
    ],
)
def test_a_text_that_is_no_such_cursor_is_refused(cursor: str, kinds: tuple[type, ...]) -> None:
    with pytest.raises(InvalidRequest, match="is not the `next` of a page"):
        decode_cursor(cursor, *kinds)


@pytest.mark.parametrize(("limit", "valid"), [(0, False), (1, True), (MOST, True), (MOST + 1, False)])
def test_a_page_has_between_1_and_500_items(limit: int, valid: bool) -> None:
    if valid:
        assert Paged(limit=limit).limit == limit
    else:
        with pytest.raises(ValidationError):
            Paged(limit=limit)
