"""A text that is counted in parts has the tokens that the vocabulary gives the whole."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from string import digits

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.inference import tokens

SIGNS = (
    '","',
    '"',
    ",",
    " ",
    "\n",
    "\r",
    "a",
    "Z",
    "7",
    "²",
    "-",
    "#",
    "é",
    "中",
    "\u0301",
    "'s",
    ".",
    "{",
    "[",
    "😀",
    "<|endoftext|>",
)


def whole(text: str) -> int:
    return len(tokens._encoding().encode(text, allowed_special="all"))


@given(st.lists(st.sampled_from(SIGNS), max_size=30).map("".join))
def test_any_text_has_the_tokens_of_the_whole(text: str) -> None:
    assert tokens.by_vocabulary(text) == whole(text)


@given(st.lists(st.text(max_size=12), max_size=12))
def test_json_has_the_tokens_of_the_whole(texts: Sequence[str]) -> None:
    body = orjson.dumps([*texts, {text: [text, 0.5] for text in texts}]).decode()
    assert tokens.by_vocabulary(body) == whole(body)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_number_of_up_to_three_digits_is_one_token(length: int) -> None:
    assert {whole("".join(number)) for number in product(digits, repeat=length)} == {1}
