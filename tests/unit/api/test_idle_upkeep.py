"""Upkeep waits while requests are answered, and knows for whom they came."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import weakref
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from api.runtime import idle_upkeep
from api.runtime.idle_upkeep import MANY_YOUNG, PAUSE_S, Traffic
from substrate.connection.turns import TENANT, UPKEEP, ActiveTenants, Tenant, Turns
from tests.waiting import wait_until_async


class Cycle:
    """Garbage that only the collector finds."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def garbage() -> Iterator[weakref.ref[Cycle]]:
    """A cycle that nothing refers to, made in an answer that also left many objects in memory."""
    gc.collect()
    gc.disable()  # its threshold in a test is far below that of a service
    left: list[list[int]] = [[] for _ in range(2 * MANY_YOUNG)]  # each old object that goes counts as one less
    yield weakref.ref(Cycle())
    gc.enable()
    del left


def state_of(*graphs: str) -> dict[str, Any]:
    return {"caller": SimpleNamespace(graphs=set(graphs))}


async def test_upkeep_waits_until_no_request_is_answered() -> None:
    traffic = Traffic()
    await traffic.quiet()
    with traffic.request(state_of("a")):
        waiting = asyncio.create_task(traffic.quiet())
        await asyncio.sleep(0)
        assert not waiting.done()
    await waiting
    assert traffic.count == 0


async def test_after_the_last_answer_what_answers_left_is_collected(garbage: weakref.ref[Cycle]) -> None:
    traffic = Traffic()
    with traffic.request(state_of("a")):
        pass
    await wait_until_async(lambda: garbage() is None)


async def test_a_request_is_not_stopped_for_the_collection(garbage: weakref.ref[Cycle]) -> None:
    traffic = Traffic()
    with traffic.request(state_of("a")):
        pass
    with traffic.request(state_of("b")):
        await asyncio.sleep(2 * PAUSE_S)
        assert garbage() is not None
    await wait_until_async(lambda: garbage() is None)


async def test_it_does_not_wait_for_ever() -> None:
    traffic = Traffic()
    with traffic.request(state_of("a")):
        await traffic.quiet()
        assert traffic.count == 1


def test_requests_are_named_while_they_last_and_once_after_they_ended() -> None:
    traffic, growing = Traffic(), state_of("a")
    with traffic.request(growing), traffic.request({"caller": None}):
        assert traffic.take_named() == {"a"}
        growing["caller"].graphs.add("b")
        assert traffic.take_named() == {"a", "b"}
    assert traffic.take_named() == {"a", "b"}
    assert traffic.take_named() == set()


async def test_upkeep_holds_one_turn_and_takes_no_share_from_a_tenant_that_is_alone() -> None:
    turns, ends = Turns(8, 2, ActiveTenants()), asyncio.Event()
    tenant = Tenant("key", "ada")

    async def hold(whose: Tenant) -> None:
        TENANT.set(whose)
        async with turns.turn():
            await ends.wait()

    upkeep = [asyncio.create_task(hold(UPKEEP)) for _ in range(3)]
    await wait_until_async(lambda: turns.held == 1 and turns.waiting == 2)
    asking = [asyncio.create_task(hold(tenant)) for _ in range(6)]
    await wait_until_async(lambda: turns.held == 7)  # as many as without upkeep: all but two of eight
    ends.set()
    await asyncio.gather(*upkeep, *asking)
    assert turns.held == 0


async def test_free_memory_is_given_back_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    monkeypatch.setattr(idle_upkeep, "GIVEN_BACK_EVERY_S", 0.0)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace(malloc_trim=given.append))
    giving = asyncio.create_task(idle_upkeep.give_memory_back())
    await wait_until_async(lambda: len(given) >= 3)
    giving.cancel()
    assert set(given) == {0}


async def test_where_the_allocator_cannot_give_back_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace())
    await idle_upkeep.give_memory_back()
