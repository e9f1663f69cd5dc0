"""How much a request may hold: each list and map has a length, and a text's shape is counted as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from api.request_parsing.json_shape import measure_shape, shape_bound
from schemas.base import Request, is_deeper
from schemas.commands import Remember


def requests(kind: type[Request] = Request) -> Iterator[type[Request]]:
    """Every kind of request that there is."""
    for one in kind.__subclasses__():
        yield one
        yield from requests(one)


def unbounded(schema: Any, place: str) -> Iterator[str]:
    """The lists and maps of a schema without a length; what is kept as it came has a size instead."""
    if isinstance(schema, list):
        for one in schema:
            yield from unbounded(one, place)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "array" and "maxItems" not in schema:
        yield place
    is_map = schema.get("patternProperties") or schema.get("propertyNames") or schema.get("additionalProperties")
    if is_map and is_map is not True and "maxProperties" not in schema:
        yield place
    for name, inner in schema.items():
        yield from unbounded(inner, f"{place}.{name}")


@pytest.mark.parametrize("kind", sorted(set(requests()), key=str), ids=lambda kind: str(kind.__name__))
def test_every_list_and_map_of_a_request_has_a_length(kind: type[Request]) -> None:
    assert list(unbounded(kind.model_json_schema(), kind.__name__)) == []


def test_no_element_of_a_list_that_is_too_long_is_looked_at() -> None:
    with pytest.raises(ValidationError) as refused:
        Remember.model_validate({"citizen_id": "c", "name": "n", "tags": [1] * 65, "aliases": [1, 2]})
    places = [fault["loc"] for fault in refused.value.errors()]
    assert places == [("tags",), ("aliases", 0), ("aliases", 1)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('[]{},:"\\ab', max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('[{",\\', max_size=3), inner, max_size=4),
    max_leaves=20,
)


def measured(value: Any) -> tuple[int, int]:
    """How many values, and how deep."""
    if not isinstance(value, list | dict):
        return 1, 0
    inner = [measured(one) for one in (value.values() if isinstance(value, dict) else value)]
    return 1 + sum(values for values, _ in inner), 1 + max((depth for _, depth in inner), default=0)


@given(JSON)
def test_the_shape_of_a_json_text_is_that_of_its_value(value: Any) -> None:
    text = orjson.dumps(value)
    values, depth = measured(value)
    found = measure_shape(text)
    assert found.depth == depth
    assert values <= found.values <= shape_bound(text).values
    assert depth <= shape_bound(text).depth
    assert [is_deeper(value, most) for most in (depth - 1, depth)] == [depth > 0, False]


def test_a_text_is_looked_at_in_parts_that_fit_together() -> None:
    value = ["[,{" * 400_000, {"a": ["\\" * 700_000, '"' * 700_001, [1, 2]]}]
    assert measure_shape(orjson.dumps(value)) == (9, 4)
