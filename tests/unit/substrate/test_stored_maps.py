"""Maps as they are stored: what is repaired can be read, and what can be read is left as it is."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.base import DEEPEST
from substrate.store import rows

leaves = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5)
maps = st.dictionaries(
    st.text(max_size=5), st.recursive(leaves, lambda inner: st.lists(inner, max_size=2)), max_size=3
)


def nested(depth: int) -> Any:
    """A list in a list, so many times."""
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@given(maps)
def test_a_map_that_can_be_read_is_left_as_it_is(fields: dict[str, Any]) -> None:
    text = orjson.dumps(fields).decode()
    assert rows.repair_map(text) == text
    assert rows.read_map(text) == fields


@given(maps, st.integers(DEEPEST, DEEPEST + 30))
def test_only_a_field_that_is_nested_too_deeply_becomes_a_text(fields: dict[str, Any], depth: int) -> None:
    deep = nested(depth)
    text = orjson.dumps({**fields, "deep field": deep}).decode()
    with pytest.raises(ValueError, match="nested deeper"):
        rows.read_map(text)
    assert rows.read_map(rows.repair_map(text)) == {**fields, "deep field": orjson.dumps(deep).decode()}


@pytest.mark.parametrize("text", ["", "no JSON", "[1]", "7", "[" * 10_000])
def test_a_value_that_is_no_map_is_kept_as_text(text: str) -> None:
    with pytest.raises(ValueError):
        rows.read_map(text)
    assert rows.read_map(rows.repair_map(text)) == {rows.WHOLE_MAP: text}


def test_content_without_a_damaged_map_is_the_same_object() -> None:
    content = {"name": "x", "extra": '{"a":1}', "sensory_details": None}
    assert rows.repair_maps(content) is content


def test_only_damaged_maps_of_a_content_are_replaced() -> None:
    repaired = rows.repair_maps({"name": "x", "extra": "broken", "sensory_details": '{"a":1}'})
    assert repaired == {"name": "x", "extra": '{"json":"broken"}', "sensory_details": '{"a":1}'}
