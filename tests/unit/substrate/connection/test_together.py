"""Works that run at once: their results in order, the first error, and no wait where nothing waits."""

from __future__ import annotations

import asyncio

import pytest

from substrate.connection.together import together


async def after(turns: int, result: int, done: list[int]) -> int:
    for _ in range(turns):
        await asyncio.sleep(0)
    done.append(result)
    if result < 0:
        raise ValueError(result)
    return result


async def test_results_come_in_the_order_of_the_works() -> None:
    done: list[int] = []
    assert await together(*(after(turns, turns, done) for turns in (2, 0, 1))) == [2, 0, 1]
    assert done == [0, 1, 2]


async def test_what_waits_for_nothing_is_done_at_once() -> None:
    turned: list[int] = []
    asyncio.get_running_loop().call_soon(turned.append, 1)
    done: list[int] = []
    for works in ((), (1,), (1, 2, 3)):
        assert await together(*(after(0, result, done) for result in works)) == list(works)
    assert not turned


@pytest.mark.parametrize("others", [(), (0,), (9,)], ids=["alone", "beside one at its end", "beside another"])
async def test_who_is_cancelled_cancels_what_goes_on(others: tuple[int, ...]) -> None:
    done: list[int] = []
    caller = asyncio.create_task(together(*(after(turns, turns, done) for turns in (9, *others))))
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await asyncio.sleep(0.01)
    assert 9 not in done


@pytest.mark.parametrize("turns", [0, 1])
async def test_the_first_error_is_raised_and_the_others_go_on(turns: int) -> None:
    done: list[int] = []
    with pytest.raises(ValueError, match="-1"):
        await together(after(turns, -1, done), after(turns + 1, -2, done), after(turns + 1, 3, done))
    await asyncio.sleep(0.01)
    assert done == [-1, -2, 3]
