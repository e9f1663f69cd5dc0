"""The lines of an export: their bytes, and an order that any store would give."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.transfer.line_format import Origin, encode, sort_key, vector
from schemas.memory import Level

numbers = st.integers(-(2**63), 2**63 - 1)


def tag(name: str) -> dict[str, Any]:
    return {"kind": "tag", "properties": {"name": name}}


def record(version: int, created_at: int = 0, of: str = "a") -> dict[str, Any]:
    times = {"created_at": created_at, "valid_at": 0, "expired_at": 1, "invalid_at": 1}
    return {"kind": "record", "of": of, "properties": {"version": version, **times}}


@given(st.text(), st.text())
def test_tags_sort_by_the_characters_of_their_names(one: str, other: str) -> None:
    assert (sort_key(tag(one)) < sort_key(tag(other))) is (one.encode() < other.encode())


@given(numbers, numbers)
def test_numbers_sort_by_their_size_negative_ones_too(one: int, other: int) -> None:
    assert (sort_key(record(one)) < sort_key(record(other))) is (one < other)


def test_a_graph_has_nodes_then_tags_then_each_memory_with_its_records_then_links() -> None:
    memory = {"kind": "memory", "properties": {"id": "a"}}
    times = {"created_at": 0, "valid_at": 0, "expired_at": 1, "invalid_at": 1}
    link = {"kind": "link", "source_id": "a", "target_id": "b", "past": True, "properties": {"id": "l", **times}}
    lines: list[dict[str, Any]] = [
        {"kind": "node", "label": "CitizenState"},
        {"kind": "node", "label": "PastState", "properties": {"version": 1, **times}},
        {"kind": "node", "label": "Receipt"},
        tag("#x"),
        memory,
        record(1),
        record(2),
        {"kind": "memory", "properties": {"id": "b"}},
        link,
        {**link, "past": False},
    ]
    shuffled = [*lines[5:], *lines[:5]]
    assert sorted(shuffled, key=sort_key) == lines


def test_a_line_without_what_it_is_sorted_by_has_no_place() -> None:
    with pytest.raises(KeyError):
        sort_key({"kind": "tag", "properties": {}})


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False)))
def test_a_vector_comes_back_exactly(values: list[float]) -> None:
    array = np.array(values, np.float32)
    line = encode({"vector": vector(array)})
    assert np.array_equal(np.array(orjson.loads(line)["vector"], np.float32), array)


def test_equal_lines_have_equal_bytes() -> None:
    assert encode({"b": 1, "a": 2}) == encode({"a": 2, "b": 1}) == b'{"a":2,"b":1}\n'


def test_an_origin_names_its_graph() -> None:
    names = {Origin(Level.N1, "ada").graph, Origin(Level.N1, "luca").graph, Origin(Level.N2, None).graph}
    assert len(names) == 3
