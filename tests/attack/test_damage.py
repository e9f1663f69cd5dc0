"""Files of the store that were cut or changed are seen before anything is served, and what is whole comes back."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest

from api.runtime.backup import accept_files, cut_log, examine_store, replace_with_backup
from api.runtime.runtime import Runtime, open_runtime
from orchestration.transfer.backup import back_up
from schemas.errors import Conflict, InvalidRequest, StoreDamaged
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.backup.files import noted_backups
from substrate.engine import checksums, keeper
from substrate.engine.checksums import Unreadable, commands, readable_bytes
from substrate.engine.embedded import EmbeddedEngine
from tests.acceptance.conftest import Service
from tests.engine_processes import engines_in, is_keeper
from tests.integration.store import carried, remember, stored
from tests.waiting import becomes_async, wait_until

ROOT = Path(__file__).parents[2]


def at(directory: Path) -> Settings:
    return Settings(store=StoreSettings(data=directory), embedding=EmbeddingSettings(embedding="none"))


def copied(directory: Path, to: Path) -> Path:
    return Path(shutil.copytree(directory, to, ignore=lambda *_: ["engine.sock"]))


def log_of(directory: Path) -> Path:
    return sorted((directory / "engine-aof").glob("*.incr.aof"))[-1]


def base_of(directory: Path) -> Path:
    return sorted((directory / "engine-aof").glob("*.base.rdb"))[-1]


async def lived(directory: Path, memories: int = 30) -> None:
    """A store that was closed in order, its log seen in two parts."""
    async with open_runtime(at(directory)) as runtime:
        await told(runtime, 0, memories // 2)
        await seen(directory)
        await told(runtime, memories // 2, memories)


async def told(runtime: Runtime, first: int, end: int) -> None:
    await stored(
        runtime.deps, *(remember("ada", f"m{n}", description=f"thing {n} " * 5) for n in range(first, end))
    )


async def seen(directory: Path) -> None:
    """Return when the keeper of the engine has seen all that is in the log now."""
    size = log_of(directory).stat().st_size

    def so_far() -> int:
        record = checksums.read_record(directory) or {}
        return record.get(log_of(directory).name, [checksums.Prefix()])[-1].bytes

    assert await becomes_async(lambda: so_far() >= size)


def held(data: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (data / "engine-aof").glob("*")}


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 4
    path.write_bytes(data)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut": lambda data: os.truncate(log_of(data), log_of(data).stat().st_size - 3000),
    "cut by a byte": lambda data: os.truncate(log_of(data), log_of(data).stat().st_size - 1),
    "emptied": lambda data: os.truncate(log_of(data), 0),
    "a bit of a text": lambda data: flip(log_of(data), log_of(data).read_bytes().rindex(b"thing 20") + 3),
    "a bit of the snapshot": lambda data: flip(base_of(data), base_of(data).stat().st_size // 2),
    "the log removed": lambda data: os.unlink(log_of(data)),
    "all removed": lambda data: shutil.rmtree(data / "engine-aof"),
    "a bit of the record": lambda data: flip(data / "engine.sums", 30),
    "an older state": lambda data: os.truncate(log_of(data), readable_bytes(log_of(data).read_bytes()[:20_000])),
}  # fmt: skip


@pytest.fixture(scope="module")
async def well(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("well") / "data"
    await lived(directory)
    return directory


@pytest.fixture
def data(well: Path, tmp_path: Path) -> Path:
    return copied(well, tmp_path / "data")


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_store_is_not_opened_and_says_what_to_do(data: Path, damage: str) -> None:
    DAMAGES[damage](data)
    before = held(data)
    with pytest.raises(StoreDamaged, match="damaged") as refused:
        async with open_runtime(at(data)):
            pass
    assert "substrate recover" in refused.value.remedy
    assert held(data) == before
    assert examine_store(at(data).store).damages


async def test_a_turned_bit_anywhere_is_seen(data: Path) -> None:
    dice = random.Random(11)
    path, whole = log_of(data), log_of(data).read_bytes()
    for _ in range(50):
        path.write_bytes(whole)
        flip(path, dice.randrange(len(whole)))
        assert checksums.compare(data)
    path.write_bytes(whole)
    assert checksums.compare(data) == []


async def test_without_a_record_an_engine_that_crashes_on_its_data_says_what_to_do(data: Path) -> None:
    (data / "engine.sums").unlink()
    flip(base_of(data), base_of(data).stat().st_size // 2)
    with pytest.raises(StoreDamaged) as refused:
        async with open_runtime(at(data)):
            pass
    assert "substrate recover" in refused.value.remedy


async def test_cutting_leaves_what_is_whole(data: Path) -> None:
    DAMAGES["cut"](data)
    finding = examine_store(at(data).store)
    assert finding.cut is not None
    assert finding.cut.until > 0
    mended = await cut_log(at(data).store)
    left = mended.graphs["citizen_ada"].labels["ConsciousnessNode"]
    assert 15 <= left < 30
    assert (mended.aside / "engine-aof").is_dir()
    assert mended.aside.parent == data.parent
    async with open_runtime(at(data)) as runtime:
        assert await carried(runtime.deps, "ada", "m14") is not None
        await told(runtime, 40, 41)
    async with open_runtime(at(data)) as runtime:
        assert await carried(runtime.deps, "ada", "m40") is not None


async def test_a_turned_bit_is_cut_off_or_accepted(data: Path, tmp_path: Path) -> None:
    DAMAGES["a bit of a text"](data)
    copied(data, tmp_path / "other")
    mended = await cut_log(at(data).store)
    assert mended.graphs["citizen_ada"].labels["ConsciousnessNode"] == 15
    other = await accept_files(at(tmp_path / "other").store)
    assert other.graphs["citizen_ada"].labels["ConsciousnessNode"] == 30
    with pytest.raises(Conflict, match="no damage is known"):
        await accept_files(at(tmp_path / "other").store)


async def test_a_damaged_store_goes_back_to_a_backup_it_knows(data: Path, tmp_path: Path) -> None:
    async with open_runtime(at(data)) as runtime:
        await back_up(runtime.deps.connection, data, tmp_path / "monday", await runtime.moment())
        await told(runtime, 50, 51)
    DAMAGES["a bit of the snapshot"](data)
    [(path, manifest)] = noted_backups(data)
    assert (path, manifest.graphs["citizen_ada"].labels["ConsciousnessNode"]) == (tmp_path / "monday", 30)
    assert examine_store(at(data).store).cut is None
    with pytest.raises(InvalidRequest, match="no backup"):
        await replace_with_backup(tmp_path / "nowhere", at(data))
    assert log_of(data).exists(), "the store is where it was"
    aside, restored = await replace_with_backup(path, at(data))
    assert restored.manifest == manifest
    assert log_of(aside).exists()
    async with open_runtime(at(data)) as runtime:
        assert await carried(runtime.deps, "ada", "m29") is not None
        with pytest.raises(Conflict, match="in use"):
            examine_store(at(data).store)


async def test_the_command_line_says_what_is_lost_and_serves_nothing(data: Path) -> None:
    DAMAGES["cut"](data)

    def line(*words: str) -> subprocess.CompletedProcess[str]:
        asked = [sys.executable, "-m", "api.cli", "--data", str(data), *words]
        return subprocess.run(asked, capture_output=True, text=True, cwd=ROOT, check=False)

    served = await asyncio.to_thread(line, "serve", "--port", "1")
    assert served.returncode != 0
    looked = await asyncio.to_thread(line, "doctor")
    assert (looked.returncode, "shorter than it was" in looked.stdout) == (1, True)
    assert "substrate recover" in looked.stdout
    said = await asyncio.to_thread(line, "recover")
    assert said.returncode == 1
    assert "substrate recover --cut" in said.stdout
    mended = await asyncio.to_thread(line, "recover", "--cut")
    assert (mended.returncode, "It loads: 1 graph" in mended.stdout) == (0, True), mended.stderr
    assert (await asyncio.to_thread(line, "recover")).returncode == 0


def checked_bytes(home: Path) -> int:
    """How much of the log the record of checksums covers."""
    marks = (checksums.read_record(home) or {}).get(log_of(home).name)
    return marks[-1][0] if marks else 0


def test_a_service_whose_log_is_cut_under_it_is_not_ready(tmp_path: Path) -> None:
    service = Service(tmp_path, "none")
    try:
        service.remember("ada", id="m", name="A thing")
        size = log_of(tmp_path).stat().st_size
        wait_until(lambda: checked_bytes(tmp_path) >= size)
        # Much more than the service may append in between: for whom the request came is noted soon after it.
        os.truncate(log_of(tmp_path), size // 2)
        answer = service.http.get("/health/ready")
        assert (answer.status_code, answer.json()["type"]) == (500, "/problems/store-damaged")
        assert "bytes shorter" in answer.json()["detail"]
        nobody = httpx.get(f"{service.url}/health/ready")
        assert (nobody.status_code, "engine.aof" in nobody.text) == (500, False)
        os.kill(service.engine_pid(), signal.SIGKILL)
        wait_until(lambda: "damaged: engine.aof" in service.http.get("/health/ready").text)
        assert service.http.get("/health/ready").status_code == 500
    finally:
        service.stop()


WRITER = """
import asyncio, sys
from pathlib import Path
from substrate.connection.pool import (Connection)
from substrate.engine.embedded import (EmbeddedEngine)

async def main():
    engine = EmbeddedEngine(Path(sys.argv[1]))
    await engine.start()
    connection = Connection(f"unix://{engine.socket}", timeout_ms=1000)
    number = 0
    while True:
        await connection.command("SET", f"k{number % 50}", "x" * (number * 37 % 9000))
        if number % 40 == 39:
            await connection.transaction(("SET", "a", number), ("SET", "b", number))
        if number % 300 == 299:
            await connection.command("BGREWRITEAOF")
        print(number, flush=True)
        number += 1

asyncio.run(main())
"""


def kill_all(directory: Path, *others: int) -> None:
    """The engine, its keeper and others, in one moment, as when the power goes."""
    keepers = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if is_keeper(pid, directory)]
    for pid in (*engines_in(directory), *keepers, *others):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("keeper_too", [False, True])
async def test_a_kill_at_any_moment_is_never_taken_for_damage(tmp_path: Path, *, keeper_too: bool) -> None:
    dice = random.Random(f"{keeper_too}")
    for number in range(8):
        words = [sys.executable, "-c", WRITER, str(tmp_path / "data")]
        writer = await asyncio.to_thread(subprocess.Popen, words, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert writer.stdout is not None
        for _ in range(dice.randrange(1, 700)):
            assert await asyncio.to_thread(writer.stdout.readline), f"the store did not open in round {number}"
        if keeper_too:
            kill_all(tmp_path / "data", writer.pid)
        else:
            for pid in (*engines_in(tmp_path / "data"), writer.pid):
                os.kill(pid, signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        assert await becomes_async(lambda: not engines_in(tmp_path / "data"))
        assert checksums.compare(tmp_path / "data") == []
    assert checksums.read_record(tmp_path / "data")
    engine = EmbeddedEngine(tmp_path / "data")
    await engine.start()
    await engine.stop()
    assert keeper.CHECK_EVERY_S <= 1.0, "what a crash leaves unseen is what was written in a look or two"
    assert [
        mark.bytes for mark in (checksums.read_record(tmp_path / "data") or {})[log_of(tmp_path / "data").name]
    ][-1] == log_of(tmp_path / "data").stat().st_size


def test_commands_are_read_as_far_as_they_are_whole() -> None:
    one, two = b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n", b"#TS:1\r\n*1\r\n$4\r\nPING\r\n"
    assert [command.name for command in commands(one + two)] == [b"GET", b"PING"]
    for cut_at in range(1, len(one)):
        assert readable_bytes(one + one[:cut_at]) == len(one)
    multi, done = b"*1\r\n$5\r\nMULTI\r\n", b"*1\r\n$4\r\nEXEC\r\n"
    assert readable_bytes(one + multi + one) == len(one)
    assert readable_bytes(one + multi + one + done) == len(one + multi + one + done)
    for garbage in (b"\0" * 40, b"*x\r\n" + b" " * 40, b"*1\r\n+OK\r\n" + b" " * 40, one[:-2] + b"xx" + one):
        with pytest.raises(Unreadable) as error:
            readable_bytes(one + garbage)
        assert error.value.readable_bytes == len(one)


def test_a_command_that_the_engine_takes_back_at_once_is_never_in_the_checksum(tmp_path: Path) -> None:
    one = b"*1\r\n$4\r\nPING\r\n"
    log = tmp_path / "engine-aof" / "engine.aof.1.incr.aof"
    log.parent.mkdir()
    (log.parent / "engine.aof.manifest").write_text("file engine.aof.1.incr.aof seq 1 type i\n")
    sums = checksums.ChecksumRecorder(tmp_path)
    log.write_bytes(one)
    sums.update()
    log.write_bytes(one + one)  # and taken back before the next look
    sums.update()
    log.write_bytes(one)
    assert checksums.compare(tmp_path) == []
    sums.update()
    log.write_bytes(one + one[:5])
    sums.update(final=True)
    os.truncate(log, len(one))  # as the engine does with a last command that is not whole
    assert checksums.compare(tmp_path) == []
    log.write_bytes(one * 500)
    for _ in range(300):
        log.write_bytes(log.read_bytes() + one)
        sums.update()
    [marks] = (checksums.read_record(tmp_path) or {}).values()
    assert len(marks) <= checksums.MAX_PREFIXES + 1
    flip(log, len(one) * 650 + 5)
    [damage] = checksums.compare(tmp_path)
    assert len(one) * 500 < damage.intact.bytes <= len(one) * 650


def test_the_keeper_does_not_write_into_the_record_of_a_process_that_stops_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = b"*1\r\n$4\r\nPING\r\n"
    log = tmp_path / "engine-aof" / "engine.aof.1.incr.aof"
    log.parent.mkdir()
    (log.parent / "engine.aof.manifest").write_text("file engine.aof.1.incr.aof seq 1 type i\n")
    log.write_bytes(one)
    keeper, stopping = checksums.ChecksumRecorder(tmp_path), checksums.ChecksumRecorder(tmp_path)
    keeper.update()
    log.write_bytes(one * 500)
    form = checksums.format_record

    def stopped_meanwhile(prefixes: dict[str, list[checksums.Prefix]]) -> bytes:
        monkeypatch.undo()
        stopping.update(final=True)
        return form(prefixes)

    monkeypatch.setattr(checksums, "format_record", stopped_meanwhile)
    keeper.update()
    assert checksums.compare(tmp_path) == []
    keeper.update(final=True)
    [marks] = (checksums.read_record(tmp_path) or {}).values()
    assert marks[-1].bytes == len(one) * 500


@pytest.fixture(autouse=True)
async def none_left(tmp_path: Path) -> AsyncIterator[None]:
    """Whatever fails, no engine of a test goes on."""
    yield
    for pid in engines_in(tmp_path):
        os.kill(pid, signal.SIGKILL)
