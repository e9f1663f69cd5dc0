"""A store that is opened while its server speaks already: who waits, for how long, and what it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from api.client import AsyncSubstrate
from api.mcp import store_opening
from api.mcp.store_opening import BackgroundStore, SetStatus
from schemas.errors import EngineFault, SubstrateError, Unavailable


class Store:
    """A store that opens when it is let, and fails as often as it is told to."""

    def __init__(self, faults: int = 0) -> None:
        self.may_open = asyncio.Event()
        self.was_reported = asyncio.Event()
        self.faults = faults
        self.closed = False
        self.told: list[SubstrateError] = []
        self.reported: list[tuple[float, str]] = []
        self.client = AsyncSubstrate("http://localhost")

    @asynccontextmanager
    async def opened(self, say: SetStatus) -> AsyncIterator[AsyncSubstrate]:
        say("it loads")
        await self.may_open.wait()
        if self.faults:
            self.faults -= 1
            raise EngineFault("the disk is full")
        try:
            yield self.client
        finally:
            self.closed = True

    async def report(self, seconds: float, said: str) -> None:
        self.reported.append((seconds, said))
        self.was_reported.set()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_opening, "REPORT_INTERVAL_S", 0.001)


async def test_who_waits_is_told_for_what_until_the_store_is_open() -> None:
    store = Store()
    beside = BackgroundStore(store.opened, store.told.append)
    async with beside.open_in_background():
        waiting = asyncio.create_task(beside.client(store.report))
        await store.was_reported.wait()
        store.may_open.set()
        assert await waiting is store.client
        assert not store.closed
    assert store.closed
    assert store.reported[-1][1] == "it loads"
    assert beside.fault is None


async def test_who_waited_long_enough_is_told_what_for_and_the_opening_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store_opening, "MAX_WAIT_S", 0.003)
    store = Store()
    beside = BackgroundStore(store.opened, store.told.append)
    async with beside.open_in_background():
        with pytest.raises(Unavailable, match="it loads"):
            await beside.client(store.report)
        store.may_open.set()
        monkeypatch.undo()
        assert await beside.client(store.report) is store.client


async def test_a_store_that_cannot_be_opened_is_told_and_tried_again_by_who_asks_next() -> None:
    store = Store(faults=1)
    store.may_open.set()
    beside = BackgroundStore(store.opened, store.told.append)
    async with beside.open_in_background():
        with pytest.raises(EngineFault, match="disk is full"):
            await beside.client(store.report)
        assert beside.fault is store.told[0]
        assert await beside.client(store.report) is store.client
    assert beside.fault is None
    assert len(store.told) == 1


async def test_a_server_that_ends_first_waits_for_no_store() -> None:
    store = Store()
    async with BackgroundStore(store.opened, store.told.append).open_in_background():
        await asyncio.sleep(0)
    assert not store.closed
    assert not store.told
