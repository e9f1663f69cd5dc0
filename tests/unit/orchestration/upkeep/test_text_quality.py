"""Texts that say nothing, essays in place of emotions, digests that repeat."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.upkeep import text_quality


def test_digests_give_back_the_groups_that_agree() -> None:
    digests = text_quality.Digests()
    assert list(digests.repeated()) == []
    for place, digest in enumerate([5, 9, 5, 2**62, 9, 5]):
        digests.add(digest, place)
    assert sorted(digests.repeated()) == [[0, 2, 5], [1, 4]]


@given(st.dictionaries(st.text(max_size=60), st.floats(0, 1), max_size=5))
def test_shortened_emotions_have_no_essays(felt: dict[str, float]) -> None:
    short = text_quality.shorten_emotions(felt)
    if short is None:
        assert not any(text_quality.is_essay(name) for name in felt)
    else:
        assert not any(text_quality.is_essay(name) for name in short.emotions)
        assert set(felt) == {name for name in felt if name in short.emotions} | set(short.essays)
