"""The shape of a JSON text, counted without parsing it, is that of its value."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from api.request_parsing.json_shape import count_pairs, measure_shape, shape_bound
from schemas.base import is_deeper

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('[]{},:"\\ab', max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('[{",\\', max_size=3), inner, max_size=4),
    max_leaves=20,
)


def shape_of_value(value: Any) -> tuple[int, int]:
    """How many values, and how deep."""
    if not isinstance(value, list | dict):
        return 1, 0
    inner = [shape_of_value(element) for element in (value.values() if isinstance(value, dict) else value)]
    return 1 + sum(values for values, _ in inner), 1 + max((depth for _, depth in inner), default=0)


@given(JSON)
def test_the_shape_of_a_json_text_is_that_of_its_value(value: Any) -> None:
    text = orjson.dumps(value)
    values, depth = shape_of_value(value)
    shape = measure_shape(text)
    assert shape.depth == depth
    assert values <= shape.values <= shape_bound(text).values
    assert depth <= shape_bound(text).depth
    assert [is_deeper(value, most) for most in (depth - 1, depth)] == [depth > 0, False]


def test_the_chunks_of_a_long_text_are_counted_as_one_text() -> None:
    value = ["[,{" * 400_000, {"a": ["\\" * 700_000, '"' * 700_001, [1, 2]]}]
    assert measure_shape(orjson.dumps(value)) == (9, 4)


def pairs_in(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(pairs_in, value.values()))
    return sum(map(pairs_in, value)) if isinstance(value, list) else 0


@given(JSON)
def test_the_pairs_of_a_json_text_are_those_of_its_value(value: Any) -> None:
    assert count_pairs(orjson.dumps(value)) == pairs_in(value)


def test_a_name_that_stands_twice_is_counted_twice() -> None:
    assert count_pairs(b'{"a": 1, "a": 2}') == 2
