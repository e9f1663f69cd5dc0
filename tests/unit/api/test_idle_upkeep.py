"""Upkeep waits while requests are answered, and knows for whom they came."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from api.runtime.idle_upkeep import Traffic
from substrate.connection.turns import TENANT, UPKEEP, ActiveTenants, Tenant, Turns
from tests.waiting import wait_until_async


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
