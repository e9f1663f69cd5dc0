"""How much a request may hold: each list and map has a length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.base import Request
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
