"""Which tags a memory gets from its own text and from the memories most like it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.tagging.queries import MadeTag
from orchestration.features.tagging.rules import (
    LEAST_LIKENESS,
    MOST_TAGS,
    NEIGHBOURS,
    Neighbour,
    Statistics,
    TextWithTags,
    choose_tags,
    find_candidates,
    name_tag,
    possible_given,
    words_to_count,
)

TEXTS = st.text("abcdehinorst EINORST.,/", max_size=60) | st.text(max_size=30)


def near(*texts: str, likeness: float = 0.6, tags: tuple[str, ...] = ()) -> list[Neighbour]:
    return [Neighbour(likeness, TextWithTags(text, tags)) for text in texts]


def chosen(text: str, neighbours: list[Neighbour], counts: dict[str, int], size: int = 100) -> list[str]:
    return choose_tags(find_candidates(text, neighbours), Statistics(counts, size))


def test_a_phrase_of_two_neighbours_is_a_tag_and_one_neighbour_alone_may_be_chance() -> None:
    neighbours = near("We sail at noon, lantern in hand", "They sail tomorrow")
    assert chosen("The boat waits", neighbours, {"sail": 4, "lantern": 4}) == ["sail"]


def test_neighbours_that_are_not_like_enough_or_too_many_have_no_say() -> None:
    assert find_candidates("", near("sail", "sail", likeness=LEAST_LIKENESS)) == {}
    crowd = near(*["pear"] * NEIGHBOURS, likeness=0.9) + near("sail", "sail")
    assert list(find_candidates("", crowd)) == ["pear"]


def test_a_tag_leads_neither_everywhere_nor_nowhere() -> None:
    counts = {"lantern": 1, "sail": 5, "harbour": 6}
    assert chosen("lantern sail harbour", [], counts) == ["sail"]
    assert chosen("lantern sail harbour", [], counts, size=200) == ["sail", "harbour"]


def test_a_phrase_of_more_than_half_the_memories_is_no_tag_however_few_there_are() -> None:
    assert chosen("sail", near("sail", "sail"), {"sail": 3}, size=4) == []
    assert chosen("sail", near("sail"), {"sail": 2}, size=4) == ["sail"]
    assert chosen("sail", [], {"sail": 1}, size=1) == []


def test_support_times_rarity_orders_the_tags() -> None:
    """By hand: `sail` has 1 + .6 + .6, `lantern` 1; both are equally rare."""
    assert chosen("lantern sail", near("sail", "sail"), {"sail": 4, "lantern": 4}) == ["sail", "lantern"]
    assert chosen("lantern sail", near("sail"), {"sail": 50, "lantern": 2}, size=2000) == ["lantern", "sail"]


def test_a_given_tag_comes_before_an_equal_phrase_and_in_the_form_that_most_memories_have() -> None:
    neighbours = near("a", "b", tags=("Boats & Co",)) + near("anchors", "anchors")
    candidates = find_candidates("", neighbours)
    keys = choose_tags(candidates, Statistics({"boat co": 3, "anchor": 3}, 100))
    assert keys[0] == "boat co"
    names = possible_given(keys, candidates)
    assert {"#Boats & Co", "#anchors"} <= names
    assert name_tag("boat co", candidates["boat co"], {"#Boats & Co": 2}) == MadeTag("#Boats & Co", "#Boats & Co")
    assert name_tag("anchor", candidates["anchor"], {}) == MadeTag("~anchor", "~anchors")


def test_given_tags_that_differ_in_case_are_one_and_the_more_common_form_stays() -> None:
    candidates = find_candidates("", near("a", tags=("Work",)) + near("b", tags=("work",)))
    assert list(candidates) == ["work"]
    assert name_tag("work", candidates["work"], {"#Work": 5, "#work": 2}).name == "#Work"


def test_tags_of_any_spelling_pass_as_they_are() -> None:
    odd = ("a/b.c", "two\nlines", "\U0001f389", "x" * 300, "~tilde")
    candidates = find_candidates("", near("one", "two", tags=odd))
    counts = dict.fromkeys(candidates, 2)
    names = {name_tag(key, candidates[key], {f"#{tag}": 2 for tag in odd}).name for key in candidates}
    assert names == {f"#{tag}" for tag in odd}
    assert set(choose_tags(candidates, Statistics(counts, 100))) == set(candidates)


def test_what_has_no_words_is_not_counted_in_the_index() -> None:
    candidates = find_candidates("", near("one", "two", tags=("\u2026", "tide tables of the sea coast")))
    assert words_to_count(candidates, "en") == {"tide tabl of the sea coast": "tide tables of"}


@given(TEXTS, st.lists(st.builds(Neighbour, st.floats(-1, 1), st.builds(TextWithTags, TEXTS)), max_size=10))
def test_tags_are_few_and_the_same_each_time_whatever_the_order_of_the_neighbours(
    text: str, neighbours: list[Neighbour]
) -> None:
    distinct = [one._replace(likeness=0.9 - place / 20) for place, one in enumerate(neighbours)]
    tags = chosen(text, distinct, {}, size=50)
    assert tags == chosen(text, distinct[::-1], {}, size=50)
    assert len(tags) == len(set(tags)) <= MOST_TAGS
