"""An erasure that is killed at any of its steps is finished by whoever opens the store next, files and all."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from redis import Redis

from api.runtime.runtime import Runtime, open_runtime, open_store
from benchmarks.erasure_killed import (
    DEATHS,
    GONE,
    KINDS,
    SECRET,
    Killed,
    Killer,
    carry_out,
    fill,
    never,
    one_round,
    search,
    settings,
)
from orchestration.writing.erasure import erase
from schemas.commands import Erase, EraseCitizen, EraseMemory
from schemas.errors import SubstrateError
from schemas.memory import Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.connection.pool import Connection
from substrate.connection.topology import Server
from substrate.engine import process as engine_process
from substrate.engine.unix_socket import socket_path
from substrate.graphs.names import graph_name
from substrate.store import erasure
from substrate.store.erasure import ErasureTarget
from tests.integration.store import carried, remember, stored
from tests.waiting import becomes_async

STEPS_AT_MOST = 240
COMMANDS: dict[str, Callable[[], Erase]] = {
    "memory": lambda: EraseMemory(citizen_id="ada", id=SECRET),
    "citizen": lambda: EraseCitizen(citizen_id=SECRET),
}
EVERY = {"memory": 12, "episode": 24, "citizen": 1, "collective": 3, "copies": 28, "policy": 14, "also": 13}


@pytest.fixture(autouse=True)
def readable_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots are not compressed, so that they can be searched."""
    monkeypatch.setattr(engine_process, "CONFIGURATION", engine_process.CONFIGURATION + "rdbcompression no\n")


def at(directory: Path) -> Settings:
    return Settings(store=StoreSettings(data=directory), embedding=EmbeddingSettings(embedding="none"))


async def stored_secret(runtime: Runtime, kind: str) -> None:
    """What is to be erased, and beside it what is to stay."""
    deps = runtime.deps
    await stored(deps, remember("bob", "stays", description="what stays"), remember("ada", "stays"))
    if kind == "memory":
        await stored(deps, remember("ada", SECRET, description=SECRET, tags=(SECRET,)))
    else:
        await stored(deps, remember(SECRET, "m", description=SECRET))


async def erased(runtime: Runtime, command: Erase) -> None:
    assert runtime.engine is not None
    await erase(command, runtime.deps, await runtime.moment(), runtime.engine.directory)


def killing_at(step: int, pid: int, patch: pytest.MonkeyPatch) -> list[str]:
    """Kill the engine before the command of this number, counted from 0, and let none through from then on."""
    carry_out = Connection._run
    sent: list[str] = []

    async def counted(self: Connection, name: str, words: Sequence[Any], send: Any = None) -> Any:
        if len(sent) == step and pid:
            os.kill(pid, signal.SIGKILL)
        if len(sent) >= step:
            raise Killed
        sent.append(name)
        return await carry_out(self, name, words, send)

    patch.setattr(Connection, "_run", counted)
    return sent


async def engine_of(runtime: Runtime) -> int:
    return int((await runtime.deps.connection.command("INFO", "server"))["process_id"])


def found_on_disk(directory: Path) -> list[str]:
    """The files of the data directory that hold a byte of the erased, with what stands around it."""
    needle = SECRET.encode()
    held = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    at = {path: data.find(needle) for path, data in held.items()}
    return [
        f"{path.name}: {held[path][max(0, at[path] - 90) : at[path] + 60]!r}" for path in held if at[path] >= 0
    ]


async def killed_at(step: int, kind: str, directory: Path) -> bool:
    """Fill a store, erase, and be killed with the engine before the step; False when there are fewer steps."""
    try:
        async with open_runtime(at(directory)) as runtime:
            await stored_secret(runtime, kind)
            pid = await engine_of(runtime)
            with pytest.MonkeyPatch.context() as patch:
                killing_at(step, pid, patch)
                # The watcher would start the engine again, which a process that was killed does not.
                patch.setattr(runtime.engine, "ensure", never)
                await erased(runtime, COMMANDS[kind]())
                return False
    except Killed:
        return True


@pytest.mark.parametrize("kind", KINDS)
async def test_an_erasure_that_is_killed_before_any_write_leaves_nothing_anywhere(
    kind: str, tmp_path: Path
) -> None:
    begun = 0
    for turn, step in enumerate(range(0, STEPS_AT_MOST, EVERY[kind])):
        found = await one_round(kind, step, DEATHS[turn % len(DEATHS)], tmp_path / str(step))
        if not found.reached:
            break
        # Before the first mark nothing was begun; from then on all is gone before anybody asks again.
        assert not (found.begun and found.late), f"killed before write {step}: {found.late}"
        assert found.again == (), f"killed before write {step}"
        begun += found.begun
        shutil.rmtree(tmp_path / str(step), ignore_errors=True)  # its keeper may still write its record
    else:
        raise AssertionError("an erasure has more writes than this test expects")
    assert begun > 2


async def test_a_process_that_keeps_no_mirror_reaches_the_one_of_the_process_that_was_killed(
    tmp_path: Path,
) -> None:
    for step in (4, 9):
        directory = tmp_path / str(step)
        assert await killed_with_a_mirror(step, directory)
        async with open_store(StoreSettings(data=directory / "data")) as (connection, _):
            # Without models it cannot be rewritten: the next one that has them does it.
            assert len(await erasure.read_notes(connection)) == 1
        async with open_runtime(at(directory / "data")) as runtime:
            assert await erasure.read_notes(runtime.deps.connection) == {}
            assert await search(runtime, directory) == ()


async def killed_with_a_mirror(step: int, directory: Path) -> bool:
    """Erase a citizen that has a mirror, and be killed before the write; False when there are fewer."""
    killer = Killer(step, "both")
    engine = None
    try:
        with killer.watching():
            async with open_runtime(settings(directory)) as runtime:
                engine = runtime.engine
                assert engine is not None
                await fill(runtime, "citizen")
                killer.pid, killer.armed = await engine_of(runtime), True
                engine.ensure = never  # type: ignore[method-assign, assignment]
                await carry_out("citizen", runtime)
    except Killed:
        assert engine is not None
        await engine.stop()
    return killer.dead


async def test_a_mirror_of_a_citizen_who_does_not_exist_goes_and_what_is_not_ours_stays(tmp_path: Path) -> None:
    async with open_runtime(settings(tmp_path)) as runtime:
        await fill(runtime, "citizen")
    async with open_runtime(at(tmp_path / "data")) as runtime:  # it knows of no mirror
        await erased(runtime, EraseCitizen(citizen_id=SECRET))
    notes = tmp_path / "mirror" / "notes of mine"
    notes.mkdir()
    async with open_runtime(settings(tmp_path)) as runtime:
        assert runtime.keeper is not None
        assert await search(runtime, tmp_path) != ()
        await runtime.keeper.note_all()
        assert await search(runtime, tmp_path) == ()
        assert notes.is_dir()


async def test_what_a_former_version_left_unfinished_is_taken_out_of_edited_mirrors_too(tmp_path: Path) -> None:
    target = ErasureTarget("memory", graph_name(Level.N1, "ada"), GONE)
    former = {"at": 1, "digest": target.digest(), "target": None}  # it tells neither graph nor mirror
    async with open_runtime(settings(tmp_path)) as runtime:
        await fill(runtime, "memory")
    for path in (tmp_path / "mirror" / "ada").rglob("[!R]*.md"):
        path.write_text(path.read_text("utf-8") + "my own words")
    async with open_runtime(at(tmp_path / "data")) as runtime:  # it knows of no mirror
        await erased(runtime, EraseMemory(citizen_id="ada", id=GONE))
        words = ("HSET", erasure.FORMER_UNFINISHED, "a mark", orjson.dumps(former).decode())
        await runtime.deps.connection.command(*words)
    async with open_store(settings(tmp_path).store) as (connection, _):  # it has no models
        assert len(await erasure.read_notes(connection)) == 1
    async with open_runtime(settings(tmp_path)) as runtime:
        assert await erasure.read_notes(runtime.deps.connection) == {}
        assert await search(runtime, tmp_path) == ()


async def test_a_mirror_that_cannot_be_written_keeps_no_service_from_its_work(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_runtime(settings(tmp_path)) as runtime:
        await fill(runtime, "memory")
    lock = tmp_path / "mirror" / ".substrate-mirror.lock"
    lock.unlink()
    lock.symlink_to(tmp_path)
    async with open_runtime(settings(tmp_path)) as runtime:
        assert runtime.keeper is not None
        await runtime.keeper.note_all()
    assert "mirrors of what is gone may be left" in caplog.text


async def test_an_erasure_that_broke_off_is_no_riddle_when_it_is_sent_again(tmp_path: Path) -> None:
    for step in (6, 10):
        directory = tmp_path / str(step)
        assert await killed_at(step, "citizen", directory)
        async with open_runtime(at(directory)) as runtime:
            assert runtime.engine is not None
            command = EraseCitizen(citizen_id=SECRET)
            said = await erase(command, runtime.deps, await runtime.moment(), runtime.engine.directory)
            assert (said.erased, said.log_rewritten) == ("citizen", True)
        assert found_on_disk(directory) == []


async def test_an_erasure_whose_engine_died_is_finished_by_the_service_that_lives_on(tmp_path: Path) -> None:
    async with open_runtime(at(tmp_path)) as runtime:
        await stored_secret(runtime, "citizen")
        pid = await engine_of(runtime)
        with pytest.MonkeyPatch.context() as patch:
            killing_at(9, pid, patch)
            with pytest.raises(Killed):
                await erased(runtime, EraseCitizen(citizen_id=SECRET))
        assert await becomes_async(lambda: not found_on_disk(tmp_path))
    for _ in range(2):
        async with open_runtime(at(tmp_path)) as runtime:
            assert await carried(runtime.deps, "bob", "stays") is not None


async def test_an_erasure_that_another_process_works_on_is_left_to_it(tmp_path: Path) -> None:
    async with open_runtime(at(tmp_path)) as runtime:
        await stored_secret(runtime, "memory")
        reached, go_on = asyncio.Event(), asyncio.Event()
        carry_out = Connection.command_at

        async def held(self: Connection, server: Server, *words: str | int) -> Any:
            if words[0] == "BGREWRITEAOF" and not reached.is_set():
                reached.set()
                await go_on.wait()
            return await carry_out(self, server, *words)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Connection, "command_at", held)
            erasing = asyncio.create_task(erased(runtime, COMMANDS["memory"]()))
            await reached.wait()
            async with asyncio.timeout(120), open_runtime(at(tmp_path)) as other:
                assert await carried(other.deps, "ada", "stays") is not None
            assert found_on_disk(tmp_path) != [], "the log was rewritten by another"
            go_on.set()
            await erasing
    assert found_on_disk(tmp_path) == []


async def test_an_erasure_that_finds_no_engine_says_so_and_changes_nothing(tmp_path: Path) -> None:
    async with open_runtime(at(tmp_path)) as runtime:
        await stored_secret(runtime, "memory")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(runtime.engine, "ensure", never)
            os.kill(await engine_of(runtime), signal.SIGKILL)
            with pytest.raises(SubstrateError):
                await erased(runtime, COMMANDS["memory"]())
    async with open_runtime(at(tmp_path)) as runtime:
        assert await carried(runtime.deps, "ada", SECRET) is not None


async def test_the_next_start_removes_the_files_of_an_engine_that_was_killed_while_it_wrote_them(
    tmp_path: Path,
) -> None:
    left = [tmp_path / name for name in ("temp-rewriteaof-bg-99.aof", "temp-rewriteaof-99.aof", "temp-99.rdb")]
    for path in left:
        path.write_bytes(SECRET.encode())
    async with open_runtime(at(tmp_path)) as runtime:
        await stored_secret(runtime, "memory")
        await erased(runtime, COMMANDS["memory"]())
    assert found_on_disk(tmp_path) == []


def clients(directory: Path) -> int:
    """How many connections the engine has, but for this one."""
    with Redis(unix_socket_path=str(socket_path(directory)), decode_responses=True) as engine:
        return len(engine.client_list()) - 1


def line(directory: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "api.cli", "--data", str(directory), "erase", "--citizen", SECRET, *words]


async def test_the_command_line_says_under_which_id_and_goes_on_after_a_signal(tmp_path: Path) -> None:
    async with open_runtime(at(tmp_path)) as runtime:
        await stored_secret(runtime, "citizen")
        whole = line(tmp_path, "--yes", "--command-id", "of-the-test")
        # Nobody erases while another finishes what broke off: the command waits here, and is told to end.
        async with erasure.exclusive_lock(tmp_path) as alone:
            assert alone
            before = clients(tmp_path)
            process = await asyncio.to_thread(subprocess.Popen, whole, stderr=subprocess.PIPE, text=True)
            assert await becomes_async(lambda: clients(tmp_path) > before or process.poll() is not None)
            process.send_signal(signal.SIGTERM)
            _, said = await asyncio.to_thread(process.communicate)
        assert process.returncode == 130, said
        assert "opens the store will finish" in said
        done = await asyncio.to_thread(subprocess.run, whole, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        again = await asyncio.to_thread(subprocess.run, whole, capture_output=True, text=True)
        assert (again.returncode, "nothing more" in again.stdout) == (0, True), again.stderr
    assert found_on_disk(tmp_path) == []
