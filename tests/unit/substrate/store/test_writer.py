"""Rows in halves: each is written once and in order, in parts that the writer can carry."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import StoreTimeout
from substrate.store.writer import in_halves


@given(weights=st.lists(st.integers(0, 9), min_size=1, max_size=60), limit=st.integers(9, 200))
async def test_every_row_is_written_once_and_in_order(weights: list[int], limit: int) -> None:
    rows = list(enumerate(weights))

    async def send(part: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        if sum(weight for _, weight in part) > limit:
            raise StoreTimeout("too slow")
        return part

    assert [row for part in await in_halves(rows, send) for row in part] == rows


@given(heavy=st.integers(0, 30))
async def test_rows_before_one_that_is_too_heavy_are_written_and_the_rest_are_not(heavy: int) -> None:
    written: list[int] = []

    async def send(part: Sequence[int]) -> None:
        if heavy in part:
            raise StoreTimeout("too slow")
        written.extend(part)

    with pytest.raises(StoreTimeout, match="a single row"):
        await in_halves(range(31), send)
    assert written == list(range(heavy))
