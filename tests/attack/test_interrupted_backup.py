"""A backup right after the start of the engine does not end it; a cancelled or killed one leaves no files."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Final

import pytest

from api.runtime.runtime import Runtime, open_runtime, open_store
from orchestration.transfer.backup import back_up
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.backup import snapshot
from substrate.backup.files import read_backup
from substrate.connection.parameters import parameters
from substrate.connection.pool import Connection
from substrate.cypher.query import Query
from substrate.engine.append_log import read_persistence
from tests.integration.store import remember, stored

MESSAGES: Final = 2000
AT_ONCE: Final = 100
"""The engine ends a statement after a second, also on a busy machine."""
TRIES: Final = 8
"""Of a start and a backup; two of three ended the engine when writes were paused at once."""
FILL: Final = Query(
    "fill", "UNWIND $rows AS row CREATE (:ConsciousnessNode {id: row.id, name: row.id, description: row.text})"
)


def at(directory: Path) -> Settings:
    return Settings(store=StoreSettings(data=directory), embedding=EmbeddingSettings(embedding="none"))


async def filled(runtime: Runtime, citizens: int = 2) -> None:
    """As many messages as a long conversation has, written straight into the graphs."""
    for number in range(citizens):
        await stored(runtime.deps, remember(f"c{number}", "m"))
        for first in range(0, MESSAGES // citizens, AT_ONCE):
            rows = [{"id": f"n{first + row}", "text": f"message {row} " * 20} for row in range(AT_ONCE)]
            await runtime.deps.connection.write(f"citizen_c{number}", FILL, parameters({"rows": rows}))


async def test_a_backup_without_a_service_does_not_end_the_engine(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with open_runtime(at(data)) as runtime:
        await filled(runtime)
    for number in range(TRIES):
        target = tmp_path / f"backup{number}"
        async with open_store(at(data).store) as (connection, _):
            manifest = await back_up(connection, data, target, await connection.now())
        assert sum(graph.labels["ConsciousnessNode"] for graph in manifest.graphs.values()) == MESSAGES + 2
        assert read_backup(target) == manifest
    assert "ASSERTION" not in (data / "engine.log").read_text("utf-8", "replace")


async def test_the_engine_rests_before_a_backup_that_makes_writes_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "TRIES_WITHOUT_PAUSE", 0)
    data = tmp_path / "data"
    async with open_runtime(at(data)) as runtime:
        await filled(runtime)
    for number in range(TRIES // 2):
        async with open_store(at(data).store) as (connection, _):
            await back_up(connection, data, tmp_path / f"backup{number}", await connection.now())
            await connection.ping()
    assert "ASSERTION" not in (data / "engine.log").read_text("utf-8", "replace")


@pytest.mark.parametrize("moment", ["while the engine writes", "while it is moved"])
async def test_a_backup_that_is_stopped_is_whole_or_not_there(
    tmp_path: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, target = tmp_path / "data", tmp_path / "backup"
    async with open_runtime(at(data)) as runtime:
        connection = runtime.deps.connection
        await stored(runtime.deps, *(remember(f"c{number}", "m") for number in range(3)))
        if moment == "while the engine writes":
            await connection.command("CONFIG SET", "rdb-key-save-delay", 200_000)
        task = asyncio.create_task(back_up(connection, data, target, await runtime.moment()))
        if moment == "while the engine writes":
            await _until_it_writes(connection, task)
        else:
            await _until_it_is_moved(task, monkeypatch)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await connection.command("CONFIG SET", "rdb-key-save-delay", 0)
        assert litter(tmp_path) == []
        assert not target.exists() or read_backup(target)
        await stored(runtime.deps, remember("c1", "after"))
        await back_up(connection, data, tmp_path / "another", await runtime.moment())


def litter(home: Path) -> list[Path]:
    return [*home.glob("data/*.rdb"), *home.glob("*.part")]


async def _until_it_writes(connection: Connection, task: asyncio.Task[object]) -> None:
    while not (await read_persistence(connection))["rdb_bgsave_in_progress"]:
        assert not task.done()
        await asyncio.sleep(0.005)


async def _until_it_is_moved(task: asyncio.Task[object], patch: pytest.MonkeyPatch) -> None:
    reached = asyncio.Event()
    loop = asyncio.get_running_loop()
    sync = os.fsync

    def told(handle: int) -> None:
        loop.call_soon_threadsafe(reached.set)
        sync(handle)

    patch.setattr(os, "fsync", told)
    await asyncio.wait([task, asyncio.create_task(reached.wait())], return_when=asyncio.FIRST_COMPLETED)


async def test_a_backup_whose_engine_is_killed_fails_and_leaves_no_files(tmp_path: Path) -> None:
    data, target = tmp_path / "data", tmp_path / "backup"
    async with open_runtime(at(data)) as runtime:
        connection = runtime.deps.connection
        await stored(runtime.deps, *(remember(f"c{number}", "m") for number in range(3)))
        await connection.command("CONFIG SET", "rdb-key-save-delay", 200_000)
        task = asyncio.create_task(back_up(connection, data, target, await runtime.moment()))
        await _until_it_writes(connection, task)
        os.kill(int((await connection.command("INFO", "server"))["process_id"]), signal.SIGKILL)
        [said] = await asyncio.gather(task, return_exceptions=True)
        assert isinstance(said, Exception)
        assert not target.exists()
    async with open_runtime(at(data)) as runtime:
        await back_up(runtime.deps.connection, data, target, await runtime.moment())
    assert read_backup(target).graphs.keys() == {"citizen_c0", "citizen_c1", "citizen_c2"}


async def test_what_a_killed_backup_left_is_named_and_the_next_backup_removes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    async with open_runtime(at(data)) as runtime:
        await stored(runtime.deps, remember("c", "m"))
    assert (await command(data, "backup", tmp_path / "far" / "monday"))[0] == -signal.SIGKILL
    [part] = (tmp_path / "far").iterdir()
    code, said = await command(data, "doctor")
    assert (code, part.name in said) == (1, True)
    async with open_store(at(data).store) as (connection, _):
        await back_up(connection, data, tmp_path / "tuesday", await connection.now())
    assert not part.exists()
    assert read_backup(tmp_path / "tuesday").graphs.keys() == {"citizen_c"}
    assert "ispartofabackup" not in (await command(data, "doctor"))[1]


async def command(data: Path, *words: str | Path) -> tuple[int, str]:
    """The exit code of a command that is killed when it moves a snapshot, and its words without white space."""
    line = [sys.executable, "-c", KILLED_WHILE_IT_MOVES, "--data", data, *words]
    process = await asyncio.create_subprocess_exec(*map(str, line), stdout=asyncio.subprocess.PIPE)
    printed, _ = await process.communicate()
    return process.returncode or 0, "".join(printed.decode().split())


KILLED_WHILE_IT_MOVES: Final = """
import os, signal, shutil, sys
from api.cli import program
shutil.move = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
program.main(sys.argv[1:])
"""
