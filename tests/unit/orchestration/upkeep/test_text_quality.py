"""Texts that say nothing, essays in place of emotions, digests that repeat."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.upkeep import text_quality
from orchestration.upkeep.text_quality import MemoryTexts


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


def test_an_essay_gives_way_to_the_emotions_that_it_names() -> None:
    essay = "the kind of joy that one only has on the first warm day"
    short = text_quality.shorten_emotions({essay: 0.7, "joy": 0.2, "calm": 0.1})
    assert short is not None
    assert (short.emotions, short.essays) == ({"joy": 0.7, "calm": 0.1}, (essay,))
    assert text_quality.shorten_emotions({"joy": 0.2}) is None
    assert text_quality.shorten_emotions("joy") is None


def test_essays_are_kept_behind_the_text() -> None:
    assert text_quality.append_essays(None, ("one", "two"), 100) == "one; two"
    assert text_quality.append_essays("warm", ("one",), 100) == "warm; one"
    assert text_quality.append_essays("warm", ("one",), 6) == "warm; "


@given(st.text(), st.text())
def test_a_content_is_the_same_with_other_spaces_around_it(name: str, description: str) -> None:
    key = text_quality.content_key(MemoryTexts(name, description, None, "Memory"))
    assert key == text_quality.content_key(MemoryTexts(f" {name}\n", f"\t{description} ", None, "Memory"))


def test_the_same_repair_of_the_same_record_has_the_same_id() -> None:
    first = text_quality.repair_command_id("junk", "a", 1)
    assert first == text_quality.repair_command_id("junk", "a", 1)
    others = {
        text_quality.repair_command_id(*key) for key in (("essay", "a", 1), ("junk", "b", 1), ("junk", "a", 2))
    }
    assert first not in others
