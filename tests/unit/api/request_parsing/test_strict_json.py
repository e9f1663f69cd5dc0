"""Strict JSON: what is accepted comes back as it was sent, everything else is refused."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.request_parsing.bodies import parse_strict_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text('[]{},:"\\ab', max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(':{",\\', max_size=3), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_every_value_that_json_can_hold_is_accepted_unchanged(value: Any) -> None:
    assert parse_strict_json(orjson.dumps(value)) == value


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a": [1, 2.5, null, true, "\\u00e9"]}', {"a": [1, 2.5, None, True, "é"]}),
        (b"18446744073709551615", 2**64 - 1),
        (b'"12345678901234567890123"', "12345678901234567890123"),
        (b"0.12345678901234567890123", 0.12345678901234567890123),
    ],
)
def test_json_that_can_be_stored_is_read_as_it_is(body: bytes, value: Any) -> None:
    assert parse_strict_json(body) == value


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_a_constant_of_lenient_decoders_is_named_in_the_error(constant: str) -> None:
    with pytest.raises(ValueError, match=f"{constant} is no JSON number"):
        parse_strict_json(f"[{constant}]".encode())
