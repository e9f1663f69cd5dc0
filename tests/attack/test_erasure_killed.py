"""An erasure that is killed at any of its steps is finished by whoever opens the store next, files and all."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from api.runtime.runtime import Runtime, open_runtime
from orchestration.ingestion.formats import File, FileSet, parse
from orchestration.ingestion.pipeline import ingest
from orchestration.writing.erasure import erase
from schemas.commands import Erase, EraseCitizen, EraseEpisode, EraseMemory
from schemas.errors import SubstrateError
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.connection.pool import Connection
from substrate.engine import process as engine_process
from substrate.engine.unix_socket import socket_path
from substrate.store import unfinished_erasures
from tests.integration.store import NOW, carried, remember, stored
from tests.waiting import becomes_async

SECRET = "qzxvkwjpy-7391-nobody-may-read-this"
"""In every text, name, tag and id of what is erased."""
STEPS_AT_MOST = 160
COMMANDS: dict[str, Callable[[], Erase]] = {
    "memory": lambda: EraseMemory(citizen_id="ada", id=SECRET),
    "episode": lambda: EraseEpisode(citizen_id="ada", episode_id=SECRET),
    "citizen": lambda: EraseCitizen(citizen_id=SECRET),
}
EVERY: dict[str, int] = {"memory": 2, "episode": 8, "citizen": 1}
"""An episode takes many steps, which are those of its memories again."""


class Killed(BaseException):
    """This process is no more, as far as the store is concerned."""


@pytest.fixture(autouse=True)
def readable_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots are not compressed, so that they can be searched."""
    monkeypatch.setattr(engine_process, "CONFIGURATION", engine_process.CONFIGURATION + "rdbcompression no\n")


def at(directory: Path) -> Settings:
    return Settings(store=StoreSettings(data=directory), embedding=EmbeddingSettings(embedding="none"))


async def filled(runtime: Runtime, kind: str) -> None:
    """What is to be erased, and beside it what is to stay."""
    deps = runtime.deps
    await stored(deps, remember("bob", "stays", description="what stays"), remember("ada", "stays"))
    if kind == "memory":
        await stored(deps, remember("ada", SECRET, description=SECRET, tags=(SECRET,)))
    elif kind == "episode":
        turns = File("messages", f'[{{"role": "ann", "content": "{SECRET}"}}, {{"role": "bo", "content": "yes"}}]')
        await ingest(parse("messages", FileSet(SECRET, (turns,), "ada")), deps, NOW)
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
            await filled(runtime, kind)
            pid = await engine_of(runtime)
            with pytest.MonkeyPatch.context() as patch:
                killing_at(step, pid, patch)
                # The watcher would start the engine again, which a process that was killed does not.
                patch.setattr(runtime.engine, "ensure", never)
                await erased(runtime, COMMANDS[kind]())
                return False
    except Killed:
        return True


def never() -> Awaitable[bool]:
    return asyncio.get_running_loop().create_future()


@pytest.mark.parametrize("kind", COMMANDS)
async def test_the_next_process_that_opens_the_store_finishes_the_erasure(kind: str, tmp_path: Path) -> None:
    begun = False
    for step in range(0, STEPS_AT_MOST, EVERY[kind]):
        directory = tmp_path / str(step)
        if not await killed_at(step, kind, directory):
            break
        async with open_runtime(at(directory)) as runtime:
            left = await carried(runtime.deps, "ada", SECRET) if kind == "memory" else None
            graphs = await runtime.deps.graphs.existing()
            assert await carried(runtime.deps, "bob", "stays") is not None
            assert await carried(runtime.deps, "ada", "stays") is not None
        files = found_on_disk(directory)
        # Before the first mark nothing was begun; from then on all is gone at the next start.
        begun = begun or not files
        assert not (begun and files), f"killed before step {step}: {files}"
        assert left is None or not begun
        assert f"citizen_{SECRET}" not in graphs or not begun
        shutil.rmtree(directory, ignore_errors=True)  # its keeper may still write its record
    else:
        raise AssertionError("an erasure has more steps than this test expects")
    assert begun
    assert step > 5


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
        await filled(runtime, "citizen")
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
        await filled(runtime, "memory")
        reached, go_on = asyncio.Event(), asyncio.Event()
        carry_out = Connection.command

        async def held(self: Connection, *words: str | int) -> Any:
            if words[0] == "BGREWRITEAOF" and not reached.is_set():
                reached.set()
                await go_on.wait()
            return await carry_out(self, *words)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Connection, "command", held)
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
        await filled(runtime, "memory")
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
        await filled(runtime, "memory")
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
        await filled(runtime, "citizen")
        whole = line(tmp_path, "--yes", "--command-id", "of-the-test")
        # Nobody erases while another finishes what broke off: the command waits here, and is told to end.
        async with unfinished_erasures.exclusive_lock(tmp_path) as alone:
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
