"""The lines of an export: their bytes, and an order that any store would give."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
from hypothesis import given
from hypothesis import strategies as st

from orchestration.transfer.line_format import encode, sort_key, vector

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


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False)))
def test_a_vector_comes_back_exactly(values: list[float]) -> None:
    array = np.array(values, np.float32)
    line = encode({"vector": vector(array)})
    assert np.array_equal(np.array(orjson.loads(line)["vector"], np.float32), array)
