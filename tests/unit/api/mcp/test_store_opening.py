"""A store that opens in the background: who waits for it, how long, and with which errors."""

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
    """A store that opens when `may_open` is set, and fails `faults` times before."""

    def __init__(self, faults: int = 0) -> None:
        self.may_open = asyncio.Event()
        self.was_reported = asyncio.Event()
        self.faults = faults
        self.closed = False
        self.failures: list[SubstrateError] = []
        self.reported: list[tuple[float, str]] = []
        self.client = AsyncSubstrate("http://localhost")

    @asynccontextmanager
    async def open(self, set_status: SetStatus) -> AsyncIterator[AsyncSubstrate]:
        set_status("it loads")
        await self.may_open.wait()
        if self.faults:
            self.faults -= 1
            raise EngineFault("the disk is full")
        try:
            yield self.client
        finally:
            self.closed = True

    async def report(self, seconds: float, status: str) -> None:
        self.reported.append((seconds, status))
        self.was_reported.set()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_opening, "REPORT_INTERVAL_S", 0.001)


async def test_the_status_is_reported_until_the_store_is_open() -> None:
    store = Store()
    background = BackgroundStore(store.open, store.failures.append)
    async with background.open_in_background():
        client = asyncio.create_task(background.client(store.report))
        await store.was_reported.wait()
        store.may_open.set()
        assert await client is store.client
        assert not store.closed
    assert store.closed
    assert store.reported[-1][1] == "it loads"
    assert background.fault is None


async def test_a_wait_ends_with_the_status_after_its_limit_and_the_opening_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store_opening, "MAX_WAIT_S", 0.003)
    store = Store()
    background = BackgroundStore(store.open, store.failures.append)
    async with background.open_in_background():
        with pytest.raises(Unavailable, match="it loads"):
            await background.client(store.report)
        store.may_open.set()
        monkeypatch.undo()
        assert await background.client(store.report) is store.client


async def test_a_failed_opening_is_reported_and_tried_again_by_the_next_call() -> None:
    store = Store(faults=1)
    store.may_open.set()
    background = BackgroundStore(store.open, store.failures.append)
    async with background.open_in_background():
        with pytest.raises(EngineFault, match="disk is full"):
            await background.client(store.report)
        assert background.fault is store.failures[0]
        assert await background.client(store.report) is store.client
    assert background.fault is None
    assert len(store.failures) == 1


async def test_a_server_that_ends_early_does_not_wait_for_the_store() -> None:
    store = Store()
    async with BackgroundStore(store.open, store.failures.append).open_in_background():
        await asyncio.sleep(0)
    assert not store.closed
    assert not store.failures
