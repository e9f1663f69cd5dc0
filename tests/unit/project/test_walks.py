"""How a walk is counted: alike on a slow machine and on a fast one."""

from __future__ import annotations

import asyncio
import time

from scripts.walks import Counts, Step, common, counted, standing_clock

A, B, C = (Step(f"api/{name}.py", name, (name, "now")) for name in "abc")
D = Step("api/a.py", "d", ("now",))


def test_a_walk_returns_as_often_as_it_comes_back_to_a_file() -> None:
    assert counted([A, B, D, C]) == Counts(files=3, returns=1, names=4)


def test_a_step_counts_when_every_answer_takes_it_in_the_order_that_returns_least() -> None:
    assert common([[A, B, D], [A, C, D, B], [A, B, D]]) == [A, D, B]


async def test_the_clock_stands_still_for_the_packages_alone() -> None:
    names = {"__name__": "substrate.example", "time": time, "loop": asyncio.get_running_loop()}
    read = eval("lambda: (time.monotonic(), loop.time())", names)
    with standing_clock():
        then, own = read(), time.monotonic()
        while time.monotonic() == own:
            pass
        assert read() == then
    assert read() > then
