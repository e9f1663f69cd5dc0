"""Which tags a memory gets from its own text and from the memories most like it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.tagging.rules import (
    MOST_TAGS,
    Neighbour,
    Statistics,
    TextWithTags,
    choose_tags,
    find_candidates,
)

TEXTS = st.text("abcdehinorst EINORST.,/", max_size=60) | st.text(max_size=30)


def chosen(text: str, neighbours: list[Neighbour], counts: dict[str, int], size: int = 100) -> list[str]:
    return choose_tags(find_candidates(text, neighbours), Statistics(counts, size))


@given(TEXTS, st.lists(st.builds(Neighbour, st.floats(-1, 1), st.builds(TextWithTags, TEXTS)), max_size=10))
def test_tags_are_few_and_the_same_each_time_whatever_the_order_of_the_neighbours(
    text: str, neighbours: list[Neighbour]
) -> None:
    distinct = [one._replace(likeness=0.9 - place / 20) for place, one in enumerate(neighbours)]
    tags = chosen(text, distinct, {}, size=50)
    assert tags == chosen(text, distinct[::-1], {}, size=50)
    assert len(tags) == len(set(tags)) <= MOST_TAGS
