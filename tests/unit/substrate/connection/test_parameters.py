"""Values on their way into a query and out of it: only plain ones enter, and none can end its text."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from falkordb.helpers import stringify_param_value
from hypothesis import example, given
from hypothesis import strategies as st

from schemas.errors import Fault
from substrate.connection.parameters import parameters, typed_row, value

FRACTION = re.compile(r"-?\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)")
texts = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=20)
scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts
plain = st.recursive(
    scalars | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(texts.filter(lambda name: name and "`" not in name), inner, max_size=3)
    ),
    max_leaves=6,
)


def outside_strings(header: str) -> str:
    """The header without its strings and quoted names."""
    kept, quote, escaped = [], "", False
    for char in header:
        if quote:
            closing = char == quote and not escaped
            escaped = char == "\\" and not escaped and quote == '"'
            quote = "" if closing else quote
        elif char in '"`':
            quote = char
        else:
            kept.append(char)
    assert not quote, "a string that does not end"
    return "".join(kept)


@given(st.dictionaries(st.sampled_from(["a", "b"]), plain, max_size=2))
def test_a_text_cannot_leave_its_quotes(values: dict[str, Any]) -> None:
    left = outside_strings(parameters(values))
    assert left.startswith("CYPHER ")
    assert not any(char in left for char in ";()$'\n\\")


def plainly_written(header: str) -> str:
    """The header without spaces, each fraction in one form: 0.00001 and 1e-05 are one number."""
    return FRACTION.sub(lambda number: repr(float(number[0])), header.replace(" ", ""))


@given(plain)
@example([1e-05])
def test_values_are_written_as_the_driver_writes_them(value: Any) -> None:
    due = f"CYPHER v={stringify_param_value(value)} "
    assert plainly_written(parameters({"v": value})) == plainly_written(due)


def test_values_stand_under_their_names() -> None:
    assert parameters({"id": "m1", "limit": 5, "ids": ["a"], "none": None, "on": True}) == (
        'CYPHER id="m1" limit=5 ids=["a"] none=null on=True '
    )


@pytest.mark.parametrize(
    "wrong",
    [
        object(),
        {1},
        b"x",
        np.float32(1.0),
        2**63,
        math.nan,
        math.inf,
        "a\0",
        {"`": 1},
        {"": 1},
        {1: 1},
        [2**64],
        ["a", "b\0"],
    ],
)
def test_any_other_value_is_refused(wrong: object) -> None:
    with pytest.raises(Fault, match="parameter v"):
        parameters({"v": wrong})


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ([1, None], None),
        ([2, "0.5"], "0.5"),
        ([3, 7], 7),
        ([4, "true"], True),
        ([4, "false"], False),
        ([5, "0.5"], 0.5),
    ],
)
def test_each_scalar_is_read_in_its_stored_type(typed: list[Any], expected: object) -> None:
    read = value(typed)
    assert (type(read), read) == (type(expected), expected)


def test_lists_maps_and_vectors_are_read() -> None:
    row = typed_row([[6, [[3, 1], [2, "x"]]], [10, ["a", [5, "1.5"]]], [12, ["1", "0.5"]]])
    assert row[:2] == [[1, "x"], {"a": 1.5}]
    assert row[2].dtype == np.float32
    assert row[2].tolist() == [1.0, 0.5]


def test_a_node_is_no_property() -> None:
    with pytest.raises(Fault, match="no property"):
        value([8, []])
