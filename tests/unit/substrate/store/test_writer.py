"""Rows in batches: each is written once and in order, in statements that the engine can carry."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import StoreTimeout
from substrate.connection.pool import BatchSize
from substrate.store.writer import IN_COMPANY, in_batches


@given(weights=st.lists(st.integers(0, 9), min_size=1, max_size=60), limit=st.integers(9, 200))
async def test_every_row_is_written_once_and_in_order(weights: list[int], limit: int) -> None:
    rows = list(enumerate(weights))

    async def send(part: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        if sum(weight for _, weight in part) > limit:
            raise StoreTimeout("too slow")
        return part

    parts = await in_batches(rows, send, BatchSize(50), lambda: False)
    assert [row for part in parts for row in part] == rows


@given(heavy=st.integers(0, 30))
async def test_rows_before_one_that_is_too_heavy_are_written_and_the_rest_are_not(heavy: int) -> None:
    written: list[int] = []

    async def send(part: Sequence[int]) -> None:
        if heavy in part:
            raise StoreTimeout("too slow")
        written.extend(part)

    with pytest.raises(StoreTimeout, match="a single row"):
        await in_batches(range(31), send, BatchSize(50), lambda: False)
    assert written == list(range(heavy))


async def test_a_size_that_was_too_large_is_not_tried_again_and_again() -> None:
    size = BatchSize(50)
    sent: list[int] = []

    async def send(part: Sequence[int]) -> None:
        sent.append(len(part))
        if len(part) > 20 and len(sent) < 10:
            raise StoreTimeout("too slow")

    for _ in range(30):
        await in_batches(range(50), send, size, lambda: False)
    assert sent[:4] == [50, 25, 12, 14]
    assert sent[-1] == 50


async def test_in_company_statements_stay_small_and_say_nothing_of_larger_ones() -> None:
    size = BatchSize(50)
    size.note_late(50)
    sent: list[int] = []

    async def send(part: Sequence[int]) -> None:
        sent.append(len(part))

    await in_batches(range(50), send, size, lambda: True)
    assert max(sent) == 50 // IN_COMPANY
    assert size.size == 25
