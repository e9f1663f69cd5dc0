"""An engine that loads is waited for and never stopped; one that nobody uses any more ends by itself."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from schemas.errors import EngineFault, Unavailable
from substrate.engine import embedded, process
from substrate.engine import unix_socket as engine_loading
from substrate.engine.data_directory import try_lock
from substrate.engine.embedded import EmbeddedEngine
from substrate.engine.keeper import Keeper
from substrate.engine.unix_socket import EngineStatus, Loading, ping
from tests.engine_processes import engine_home, engines_in, is_keeper, keepers_of
from tests.integration.test_embedded_engine import gone, remember, remembered
from tests.loading_engine import MUTE, SLOW, filled, release
from tests.waiting import becomes_async, wait_until_async

KILLED = """
import asyncio, sys
from pathlib import Path
from substrate.engine.embedded import (EmbeddedEngine)

async def main():
    await EmbeddedEngine(Path(sys.argv[1]), lease_s=float(sys.argv[2])).start()
    print("here", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
def home() -> Iterator[Path]:
    with engine_home() as folder:
        yield folder


@pytest.fixture
async def data(home: Path) -> Path:
    """A directory whose engine takes its time to load."""
    await filled(home / "data")
    return home / "data"


@pytest.fixture
async def opening(data: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddedEngine]:
    """Who has started the engine, which loads."""
    async for engine in opened_with(data, SLOW, monkeypatch):
        yield engine


@pytest.fixture
async def mute(data: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddedEngine]:
    """The same, while it loads without an answer to anybody."""
    async for engine in opened_with(data, MUTE, monkeypatch):
        yield engine


async def opened_with(data: Path, settings: str, patch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddedEngine]:
    patch.setattr(process, "CONFIGURATION", process.CONFIGURATION + settings)
    engine = EmbeddedEngine(data)
    starting = asyncio.create_task(engine.start())
    await wait_until_async(lambda: starting.done() or engine_loading.is_loading(data, engine.socket))
    assert not starting.done()
    yield engine
    starting.cancel()
    # A test may have ended the engine: whoever was starting it is then told so.
    with contextlib.suppress(asyncio.CancelledError, Unavailable, EngineFault):
        await starting
    await engine.stop()


async def ready(engine: EmbeddedEngine) -> bool:
    return await ping(engine.socket) is EngineStatus.READY


async def test_a_second_opener_waits_for_an_engine_that_loads_and_answers_nobody(mute: EmbeddedEngine) -> None:
    told: list[Loading] = []
    guest = EmbeddedEngine(mute.directory, patience_s=4.0)
    guest.waiting = told.append
    await guest.start()
    assert await ready(guest)
    assert not guest.owner
    assert guest.loading is None
    assert told
    assert "loading" in told[0].describe()
    await guest.stop()


async def test_a_waiting_process_gets_the_progress_that_the_engine_reports(opening: EmbeddedEngine) -> None:
    told: list[Loading] = []
    guest = EmbeddedEngine(opening.directory)
    guest.waiting = told.append
    starting = asyncio.create_task(guest.start())
    assert await becomes_async(lambda: any(loading.percent for loading in told))
    assert guest.loading == told[-1]
    assert told[-1].left_s is not None
    assert " left" in told[-1].describe()
    await release(opening.directory)
    await starting
    await guest.stop()


async def test_a_loading_engine_that_is_left_serves_the_next_process(
    opening: EmbeddedEngine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "LEAVE_GRACE_S", 0.0)
    [pid] = engines_in(home)
    guest = EmbeddedEngine(opening.directory)
    starting = asyncio.create_task(guest.start())
    await asyncio.sleep(0)
    await opening.stop()
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert engines_in(home) == [pid]
    next_one = EmbeddedEngine(opening.directory)
    await release(opening.directory)
    await next_one.start()
    assert engines_in(home) == [pid]
    await next_one.stop()
    assert await gone(home)


async def test_an_engine_that_ends_while_it_loads_is_a_fault_and_not_waited_for(
    opening: EmbeddedEngine, home: Path
) -> None:
    [pid] = engines_in(home)
    os.kill(pid, signal.SIGKILL)
    assert await gone(home)
    # The socket is closed with the last thread of the process, a moment after the process has gone.
    assert await becomes_async(lambda: not engine_loading.is_loading(opening.directory, opening.socket))


def starter_of(directory: Path, lease_s: float) -> subprocess.Popen[str]:
    """Another process that starts the engine."""
    words = [sys.executable, "-c", KILLED, str(directory), str(lease_s)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])


async def test_an_engine_whose_starter_was_killed_ends_by_itself_and_nothing_is_lost(home: Path) -> None:
    starter = starter_of(home / "data", lease_s=0.2)
    assert starter.stdout is not None
    assert await asyncio.to_thread(starter.stdout.readline) == "here\n"
    guest = EmbeddedEngine(home / "data")
    await guest.start()
    await remember(guest, 1)
    guest._leave()  # as if this process were killed too
    starter.kill()
    starter.wait()
    starter.stdout.close()
    assert await gone(home)
    again = EmbeddedEngine(home / "data")
    await again.start()
    assert await remembered(again) == {1}
    await again.stop()


class Enough(Exception):
    """The keeper has looked often enough."""


async def kept(engine: EmbeddedEngine, home: Path, times: int) -> None:
    """What a keeper without any patience does in so many looks, without the pauses between them."""
    rounds = iter(range(times))
    held = os.open(home / "held", os.O_RDWR | os.O_CREAT)

    def sleep(_: float) -> None:
        if next(rounds, None) is None:
            raise Enough

    with contextlib.suppress(Enough):
        await asyncio.to_thread(Keeper(str(engine.directory), 0.0, held).keep, sleep)


async def test_an_engine_in_use_goes_on_when_its_starter_has_left(home: Path) -> None:
    starter, guest = EmbeddedEngine(home / "data"), EmbeddedEngine(home / "data")
    await starter.start()
    await guest.start()
    starter._leave()
    await kept(guest, home, 50)
    assert await ready(guest)
    guest._leave()
    await kept(guest, home, 50)
    assert await gone(home)


async def test_an_engine_that_loads_goes_on_though_nobody_uses_it(
    opening: EmbeddedEngine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "LEAVE_GRACE_S", 0.0)
    await opening.stop()
    await kept(opening, home, 3)
    assert len(engines_in(home)) == 1
    await release(opening.directory)
    await EmbeddedEngine(opening.directory)._connect_or_launch()
    await kept(opening, home, 3)
    assert await gone(home)


async def test_without_a_python_for_its_keeper_no_engine_is_left_behind(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(EngineFault, match="keeper"):
        await EmbeddedEngine(home / "data").start()
    assert await gone(home)


async def test_the_keeper_ends_with_its_engine(home: Path) -> None:
    engine = EmbeddedEngine(home / "data")
    await engine.start()
    [keeper] = keepers_of(home)
    await engine.stop()
    assert await becomes_async(lambda: not is_keeper(keeper, home))


async def test_opening_a_directory_whose_keeper_was_killed_starts_another_keeper(home: Path) -> None:
    engine, guest = EmbeddedEngine(home / "data"), EmbeddedEngine(home / "data", lease_s=0.2)
    await engine.start()
    [keeper] = keepers_of(home)
    os.kill(keeper, signal.SIGKILL)
    assert await becomes_async(lambda: is_free(home / "data" / "engine.keeper"))
    await guest.start()
    # A process that was just started has no command line yet.
    assert await becomes_async(lambda: len(keepers_of(home)) == 1)
    engine._leave()
    guest._leave()
    assert await gone(home)


def is_free(path: Path) -> bool:
    lock = try_lock(path)
    if lock is not None:
        os.close(lock)
    return lock is not None
