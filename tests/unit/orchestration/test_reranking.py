"""Second orders that need no model, and the form in which a model is asked for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.reranking import (
    ModelOrder,
    reorder,
)


@given(st.lists(st.integers(), max_size=8), st.lists(st.integers(-3, 12)))
def test_a_permutation_holds_every_item_once_and_the_places_first(items: list[int], places: list[int]) -> None:
    again = reorder(items, places)
    assert sorted(again) == sorted(items)
    first = [items[place] for place in dict.fromkeys(places) if 0 <= place < len(items)]
    assert again[: len(first)] == first


@pytest.mark.parametrize("answer", ['{"order": ["2"]}', '{"order": [1], "why": "x"}', "[1]"])
def test_an_order_is_numbers_and_nothing_else(answer: str) -> None:
    with pytest.raises(ValueError, match="validation error"):
        ModelOrder.model_validate_json(answer)
