"""Sentences, tokens and phrases of what a speaker says, and the cost of reading them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.appraisal import speech
from orchestration.appraisal.speech import MOST_SENTENCES, MOST_TOKENS, own_text, sentences
from substrate.language.languages import Language
from substrate.language.text import language_of

ENGLISH = Language.of("en")


def test_a_text_is_cut_into_sentences_with_their_endings() -> None:
    found = list(sentences("It broke! Why? At 3.5 bar.\nNo idea", ENGLISH))
    assert [(sentence.text.strip(), sentence.ending) for sentence in found] == [
        ("It broke", "!"), ("Why", "?"), ("At 3.5 bar", "."), ("No idea", ""),
    ]  # fmt: skip


def test_a_contraction_is_read_in_full_at_its_place() -> None:
    [sentence] = sentences("I can’t", ENGLISH)
    assert [(token.text, token.start, token.end) for token in sentence.tokens] == [
        ("i", 0, 1), ("can", 2, 7), ("not", 2, 7),
    ]  # fmt: skip


@given(st.text(alphabet='ab >`"“”„:\n.é{}', max_size=300))
def test_what_is_left_out_keeps_the_places_of_the_rest(text: str) -> None:
    read = own_text(text, ENGLISH)
    assert len(read) == len(text)
    assert all(left in (kept, " ", "\n") for left, kept in zip(read, text, strict=True))


@given(st.text())
def test_tokens_lie_in_order_inside_the_text(text: str) -> None:
    for sentence in sentences(text, language_of(text)):
        assert all(0 <= token.start < token.end <= len(text) for token in sentence.tokens)
        assert all(left.start <= right.start for left, right in pairwise(sentence.tokens))


@pytest.mark.parametrize(
    "part",
    ["a", "I ", '"', "“", "„", "```", ">\n", "not ", "i am so very ", "always ", "!", "{", ": \n", "waiting for "],
)
def test_a_long_text_of_any_kind_is_read_only_to_a_bound(part: str) -> None:
    text = (part * 100_000)[:100_000]
    found = list(sentences(text, ENGLISH))
    assert len(found) <= MOST_SENTENCES
    assert all(len(sentence.tokens) <= MOST_TOKENS + 2 for sentence in found)
    assert all(len(sentence.hits) <= speech.MOST_TOKENS * 8 for sentence in found)
