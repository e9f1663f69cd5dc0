"""Which key phrases of a text become its tags."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.appraisal.key_phrases import (
    MAX_LENGTH,
    MAX_TAGS,
    choose_tags,
    extract_phrases,
    possible_tags,
    subject_words,
)
from substrate.text import words

TEXTS = st.lists(st.text("abcdehinorst EINORST.,", max_size=60) | st.text(max_size=30), max_size=8)


def tags(*texts: str, known: dict[str, int] | None = None, size: int = 0) -> list[tuple[str, ...]]:
    return choose_tags([extract_phrases(text) for text in texts], known or {}, size)


def test_an_existing_tag_comes_first_in_its_stored_form() -> None:
    ((first, *_),) = tags("Unbelievable fireworks over the lanterns", known={"lantern": 3, "lanterns": 1})
    assert first == "lantern"


def test_shared_phrases_come_before_names_and_names_before_long_words() -> None:
    one, other = tags("Marta Weber bought extraordinary apples at noon", "An apple a day")
    assert one == ("apple", "marta weber", "extraordinary", "bought")
    assert other == ("apple",)


def test_a_phrase_of_many_memories_is_no_tag() -> None:
    assert tags("great lantern", known={"great": 50}, size=100) == [("lantern",)]
    assert tags("great lantern", known={"great": 50}, size=1000) == [("great", "lantern")]


def test_stop_words_numbers_short_and_overlong_words_are_no_tags() -> None:
    assert tags("What should they have been? 12345 ab " + "x" * (MAX_LENGTH + 1)) == [()]


@given(TEXTS, st.dictionaries(st.sampled_from(["hero", "north", "stone", "there"]), st.integers(1, 9)))
def test_tags_are_few_stand_in_the_text_and_are_the_same_each_time(
    texts: list[str], known: dict[str, int]
) -> None:
    made = tags(*texts, known=known, size=20)
    assert made == tags(*texts, known=known, size=20)
    assert len(made) == len(texts)
    looked_up = set(possible_tags([extract_phrases(text) for text in texts]))
    for text, own in zip(texts, made, strict=True):
        assert len(own) == len(set(own)) <= MAX_TAGS
        assert set(own) <= looked_up
        phrases = extract_phrases(text)
        allowed = {*phrases.keys(), *phrases.values(), *words(" ".join(texts))}
        assert all(set(tag.split()) <= allowed or tag in allowed for tag in own)
        assert all(tag == tag.strip() and 0 < len(tag) <= MAX_LENGTH for tag in own)


def test_texts_are_named_by_what_most_of_them_speak_of() -> None:
    said = [
        "The greenhouse needs glass.",
        "Thanks! The greenhouse is great.",
        "Tom Berg brings the glass tomorrow.",
    ]
    assert subject_words(said) == ("greenhouse", "glass", "tom berg")
    assert subject_words(["Ok!", ""]) == ()
