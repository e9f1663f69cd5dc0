"""Which tags ingestion makes of a text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.appraisal.key_phrases import LONGEST, MOST, chosen, phrases, to_look_up
from substrate.text import words

TEXTS = st.lists(st.text("abcdehinorst EINORST.,", max_size=60) | st.text(max_size=30), max_size=8)


def tags(*texts: str, known: dict[str, int] | None = None, size: int = 0) -> list[tuple[str, ...]]:
    return chosen([phrases(text) for text in texts], known or {}, size)


def test_what_is_a_tag_already_comes_first_in_the_form_that_it_has() -> None:
    ((first, *_),) = tags("Unbelievable fireworks over the lanterns", known={"lantern": 3, "lanterns": 1})
    assert first == "lantern"


def test_then_what_several_say_then_names_then_long_words() -> None:
    one, other = tags("Marta Weber bought extraordinary apples at noon", "An apple a day")
    assert one == ("apple", "marta weber", "extraordinary", "bought")
    assert other == ("apple",)


def test_what_many_have_is_no_tag() -> None:
    assert tags("great lantern", known={"great": 50}, size=100) == [("lantern",)]
    assert tags("great lantern", known={"great": 50}, size=1000) == [("great", "lantern")]


def test_stop_words_numbers_short_and_endless_words_are_no_tags() -> None:
    assert tags("What should they have been? 12345 ab " + "x" * (LONGEST + 1)) == [()]


@given(TEXTS, st.dictionaries(st.sampled_from(["hero", "north", "stone", "there"]), st.integers(1, 9)))
def test_tags_are_few_are_said_by_the_text_and_the_same_each_time(texts: list[str], known: dict[str, int]) -> None:
    made = tags(*texts, known=known, size=20)
    assert made == tags(*texts, known=known, size=20)
    assert len(made) == len(texts)
    looked_up = set(to_look_up([phrases(text) for text in texts]))
    for text, own in zip(texts, made, strict=True):
        assert len(own) == len(set(own)) <= MOST
        assert set(own) <= looked_up
        said = {root for phrase in phrases(text).items() for root in phrase} | set(words(" ".join(texts)))
        assert all(set(tag.split()) <= said or tag in said for tag in own)
        assert all(tag == tag.strip() and 0 < len(tag) <= LONGEST for tag in own)
