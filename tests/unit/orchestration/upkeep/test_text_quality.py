"""Texts that say nothing, essays in place of emotions, digests that repeat."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.upkeep import text_quality
from orchestration.upkeep.text_quality import MemoryTexts


@given(st.dictionaries(st.text(max_size=60), st.floats(0, 1), max_size=5))
def test_shortened_emotions_have_no_essays(felt: dict[str, float]) -> None:
    short = text_quality.shorten_emotions(felt)
    if short is None:
        assert not any(text_quality.is_essay(name) for name in felt)
    else:
        assert not any(text_quality.is_essay(name) for name in short.emotions)
        assert set(felt) == {name for name in felt if name in short.emotions} | set(short.essays)


@pytest.mark.parametrize(
    ("texts", "linked", "reason"),
    [
        (MemoryTexts("Tea", "Ada drinks tea", None, "Memory"), False, None),
        (MemoryTexts("None", "", None, "Memory"), False, text_quality.EMPTY),
        (MemoryTexts("Plan", "null", None, "Memory"), False, text_quality.EMPTY_BESIDE_NAME),
        (MemoryTexts("tea", "", None, "Memory"), True, text_quality.ONE_WORD),
        (MemoryTexts("tea", "", None, "Drink"), True, None),
        (MemoryTexts("Ada", "", None, "Person"), False, None),
        (MemoryTexts("D1:1", "\u200b", "Ada", "Turn"), False, text_quality.EMPTY),
    ],
)
def test_junk_says_nothing(texts: MemoryTexts, linked: bool, reason: str | None) -> None:
    assert text_quality.junk_reason(texts, linked=linked) == reason


@given(st.text(), st.text())
def test_a_content_is_the_same_with_other_spaces_around_it(name: str, description: str) -> None:
    key = text_quality.content_key(MemoryTexts(name, description, None, "Memory"))
    assert key == text_quality.content_key(MemoryTexts(f" {name}\n", f"\t{description} ", None, "Memory"))
