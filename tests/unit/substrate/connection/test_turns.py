"""Whose turn it is: the law of fair order, how many at once, and what becomes of turns whose askers leave."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.connection.turns import (
    RESERVED,
    TENANT,
    ActiveTenants,
    Pauses,
    Tenant,
    Turns,
)
from tests.waiting import wait_until_async

ADA, BOB, EVE = Tenant("k1", "ada"), Tenant("k1", "bob"), Tenant("k2", "eve")


@dataclass
class Clock:
    """Seconds that pass only when a test says so."""

    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Engine:
    """Work that ends when the test says so, in the order in which it began."""

    turns: Turns
    begun: list[Tenant] = field(default_factory=list)
    ends: list[asyncio.Event] = field(default_factory=list)

    def ask(self, asker: Tenant) -> asyncio.Task[str]:
        """One query of the asker, waiting or begun."""

        async def work() -> str:
            self.begun.append(asker)
            end = asyncio.Event()
            self.ends.append(end)
            await end.wait()
            return f"{asker.key} {asker.citizen}"

        async def asked() -> str:
            TENANT.set(asker)
            return await self.turns.run(work)

        return asyncio.create_task(asked())

    async def end_first(self) -> None:
        """The query that began first ends, and whoever is next begins."""
        self.ends.pop(0).set()
        await settled()


async def settled() -> None:
    """All that can happen without anything from outside has happened."""
    for _ in range(20):
        await asyncio.sleep(0)


def engine(at_once: int = 8, shared: int = 3, clock: Clock | None = None) -> Engine:
    return Engine(Turns(at_once, shared, ActiveTenants(clock or Clock())))


async def drained(one: Engine, tasks: Sequence[asyncio.Task[str]]) -> None:
    while one.ends:
        await one.end_first()
    await asyncio.gather(*tasks)


@given(
    asked=st.lists(st.integers(1, 6), min_size=2, max_size=6),
    at_once=st.integers(1, 9),
    shared=st.integers(1, 9),
)
def test_each_of_n_waiting_keys_gets_every_nth_turn(asked: list[int], at_once: int, shared: int) -> None:
    async def law() -> None:
        one = engine(at_once, shared)
        blockers = [one.ask(Tenant("before", str(n))) for n in range(at_once)]
        await settled()
        rounds = range(max(asked))
        tasks = [
            one.ask(Tenant(f"k{key}", "c")) for turn in rounds for key, many in enumerate(asked) if many > turn
        ]
        await settled()
        await drained(one, blockers + tasks)
        served = [asker.key for asker in one.begun if asker.key != "before"]
        left = {f"k{key}": many for key, many in enumerate(asked)}
        while any(left.values()):
            waiting = {key for key, many in left.items() if many}
            round_, served = served[: len(waiting)], served[len(waiting) :]
            assert set(round_) == waiting, "each that waits is served once before any is served twice"
            for key in waiting:
                left[key] -= 1

    asyncio.run(law())


@given(
    askers=st.lists(st.sampled_from([ADA, BOB, EVE]), min_size=1, max_size=40),
    at_once=st.integers(1, 9),
    shared=st.integers(1, 9),
)
def test_never_more_are_at_it_than_there_are_turns_and_all_come_to_an_end(
    askers: list[Tenant], at_once: int, shared: int
) -> None:
    async def law() -> None:
        one = engine(at_once, shared)
        tasks = [one.ask(asker) for asker in askers]
        await settled()
        while one.ends:
            assert len(one.ends) == one.turns.held <= at_once
            await one.end_first()
        assert [await task for task in tasks] == [f"{asker.key} {asker.citizen}" for asker in askers]
        assert (one.turns.held, one.turns.waiting) == (0, 0)

    asyncio.run(law())


async def test_a_tenant_that_is_alone_leaves_a_turn_free_for_the_next_one() -> None:
    one = engine()
    tasks = [one.ask(ADA) for _ in range(20)]
    await settled()
    assert one.begun == [ADA] * (8 - RESERVED)
    tasks.append(one.ask(EVE))
    await settled()
    assert one.begun[-1] == EVE, "she waits for nobody"
    await drained(one, tasks)


async def test_a_caller_cancelled_while_it_waits_leaves_the_queue_and_nothing_is_started() -> None:
    one = engine(1, 1)
    first, leaver, last = one.ask(ADA), one.ask(EVE), one.ask(BOB)
    await settled()
    leaver.cancel()
    await settled()
    assert (leaver.cancelled(), one.turns.waiting) == (True, 1)
    await drained(one, [first, last])
    assert one.begun == [ADA, BOB]


async def test_a_caller_cancelled_as_its_turn_comes_hands_it_on() -> None:
    one = engine(1, 1)
    first, leaver, last = one.ask(ADA), one.ask(EVE), one.ask(BOB)
    await settled()
    one.ends.pop(0).set()
    for _ in iter(lambda: one.turns.waiting, 1):
        await asyncio.sleep(0)
    leaver.cancel()
    await settled()
    await drained(one, [first, last])
    assert BOB in one.begun
    assert (one.turns.held, one.turns.waiting) == (0, 0)


async def test_work_that_has_started_holds_its_turn_to_the_end_though_its_caller_is_cancelled() -> None:
    one = engine(1, 1)
    leaver, last = one.ask(EVE), one.ask(ADA)
    await settled()
    leaver.cancel()
    await settled()
    assert (leaver.cancelled(), one.begun) == (True, [EVE])
    await drained(one, [last])
    assert one.begun == [EVE, ADA]


@pytest.mark.parametrize("settled_before", [True, False], ids=["while it works", "before it wakes"])
async def test_work_that_fails_after_its_caller_was_cancelled_is_reported_to_nobody(settled_before: bool) -> None:
    turns, fail, reported = Turns(1, 1, ActiveTenants(Clock())), asyncio.Event(), list[object]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))

    async def fails() -> None:
        await fail.wait()
        if not settled_before:
            asyncio.get_running_loop().call_soon(caller.cancel)
        raise ValueError("no")

    caller = asyncio.create_task(turns.run(fails))
    await settled()
    if settled_before:
        caller.cancel()
        await settled()
    fail.set()
    await settled()
    assert (caller.cancelled(), turns.held) == (True, 0)
    gc.collect()
    assert not reported


async def test_a_query_within_a_turn_needs_no_second_turn() -> None:
    turns = Turns(1, 1, ActiveTenants(Clock()))

    async def inner() -> str:
        return "answered"

    assert await turns.run(lambda: turns.run(inner)) == "answered"


async def test_a_failure_gives_the_turn_back() -> None:
    turns = Turns(1, 1, ActiveTenants(Clock()))

    async def fails(later: bool) -> None:
        if later:
            await asyncio.sleep(0)
        raise ValueError("no")

    for later in (False, True):
        with pytest.raises(ValueError, match="no"):
            await turns.run(partial(fails, later))
    assert turns.held == 0


async def test_beside_others_a_turn_rests_as_long_as_it_took() -> None:
    clock = Clock()
    company = ActiveTenants(clock)
    one = Engine(Turns(2, 2, company, rest_beyond_s=0.0))
    tasks = [one.ask(EVE)]
    await settled()
    await one.end_first()
    tasks += [one.ask(ADA), one.ask(ADA)]
    await settled()
    clock.seconds += 0.02
    await one.end_first()
    assert (one.begun, one.turns.held) == ([EVE, ADA], 1), "ada rests"
    await wait_until_async(lambda: not one.turns.waiting)
    await settled()
    assert one.begun == [EVE, ADA, ADA]
    await drained(one, tasks)


async def test_writes_to_a_paused_graph_wait_for_the_end_of_the_pause() -> None:
    pauses, order = Pauses(), []

    async def write(graph: str) -> None:
        await pauses.wait(graph)
        order.append(graph)

    async with pauses.pause("a", 60.0):
        waiting = asyncio.create_task(write("a"))
        await write("b")
        await asyncio.sleep(0)
        order.append("read")
    await waiting
    await write("a")
    assert order == ["b", "read", "a", "a"]


async def test_a_pause_ends_by_itself_and_pauses_of_one_graph_follow_each_other() -> None:
    pauses, order = Pauses(), []

    async def read(name: str) -> None:
        async with pauses.pause("a", 0.01):
            order.append(f"{name} begins")
            await pauses.wait("a")  # for the end that comes by itself
            order.append(f"{name} ends")

    await asyncio.gather(read("one"), read("other"))
    assert order == ["one begins", "one ends", "other begins", "other ends"]
