"""A parked citizen is in a file or in the store, never in neither and never in two truths."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.runtime.backup import restore_backup
from api.runtime.idle_upkeep import park_unused
from api.runtime.runtime import open_runtime
from orchestration.dependencies import Deps
from orchestration.insertion import apply
from orchestration.transfer.backup import back_up
from orchestration.transfer.exporter import export
from orchestration.writing.erasure import erase
from schemas.commands import EraseCitizen
from schemas.errors import Conflict, InvalidRequest, NotFound, StoreMisfit
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.connection.pool import Connection
from substrate.graphs import parking as parking_module
from substrate.graphs.names import origin_of
from substrate.graphs.parking import Parking, marker_of
from substrate.inference.embeddings import Embedder
from tests.integration.store import remember

ASKERS = 20


async def write(deps: Deps, citizen: str, *names: str) -> None:
    await apply([remember(citizen, name) for name in names], deps, await deps.connection.now())


async def stored(deps: Deps, citizen: str) -> set[str]:
    """The ids in an export, which reaches whom it names."""
    lines = list(await export([origin_of(f"citizen_{citizen}")], deps, embeddings=False, known_at=None))
    text = b"".join(lines).decode()
    return {name for name in (f"m{number}" for number in range(300)) if f'"{name}"' in text}


def parking_of(deps: Deps) -> Parking:
    assert deps.graphs.parking is not None
    return deps.graphs.parking


async def park(deps: Deps, citizen: str) -> bool:
    return await parking_of(deps).park(f"citizen_{citizen}")


async def is_there(deps: Deps, citizen: str) -> bool:
    return bool(await deps.connection.command("EXISTS", f"citizen_{citizen}"))


def files(deps: Deps) -> list[Path]:
    return sorted(parking_of(deps).folder.glob("*"))


@pytest.fixture(autouse=True)
def no_files_are_left(deps: Deps) -> Iterator[None]:
    yield
    for path in files(deps):
        path.unlink()


async def test_a_sleeper_is_listed_and_awake_at_the_next_request(deps: Deps, fresh_citizen: str) -> None:
    await write(deps, fresh_citizen, "m1", "m2")
    assert await park(deps, fresh_citizen)
    assert not await park(deps, fresh_citizen)
    assert not await is_there(deps, fresh_citizen)
    assert fresh_citizen in await deps.graphs.citizens()
    assert f"citizen_{fresh_citizen}" not in await deps.graphs.existing()
    stamps = await asyncio.gather(*(deps.graphs.open(f"citizen_{fresh_citizen}") for _ in range(ASKERS)))
    assert len(set(stamps)) == 1
    assert stamps[0] is not None
    assert await stored(deps, fresh_citizen) == {"m1", "m2"}
    assert not files(deps)


async def test_a_write_wakes(deps: Deps, fresh_citizen: str) -> None:
    await write(deps, fresh_citizen, "m1")
    await park(deps, fresh_citizen)
    await write(deps, fresh_citizen, "m2")
    assert await stored(deps, fresh_citizen) == {"m1", "m2"}


async def test_nobody_is_parked_of_whom_nothing_is_stored(deps: Deps, fresh_citizen: str) -> None:
    with pytest.raises(NotFound):
        await park(deps, fresh_citizen)


async def test_nothing_written_while_a_citizen_is_parked_is_lost(deps: Deps, fresh_citizen: str) -> None:
    await write(deps, fresh_citizen, "m0")
    told: set[str] = {"m0"}
    ended = asyncio.Event()

    async def write_all(first: int) -> None:
        for number in range(first, first + 25):
            receipts = await apply([remember(fresh_citizen, f"m{number}")], deps, await deps.connection.now())
            assert receipts
            told.add(f"m{number}")
            await asyncio.sleep(0.02 * (number % 5))

    async def park_often() -> int:
        parked = 0
        while not ended.is_set():
            try:
                parked += await park(deps, fresh_citizen)
            except Conflict:
                continue
            await asyncio.sleep(0)
        return parked

    parks = asyncio.create_task(park_often())
    await asyncio.gather(*(write_all(1 + 25 * writer) for writer in range(2)))
    ended.set()
    assert await parks
    assert await stored(deps, fresh_citizen) == told


async def test_an_attempt_that_was_broken_off_counts_for_nothing(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(deps, fresh_citizen, "m1")
    written = parking_module._write

    def write_and_die(path: Path, content: bytes) -> None:
        written(path, content)
        raise SystemError

    monkeypatch.setattr(parking_module, "_write", write_and_die)
    with pytest.raises(SystemError):
        await park(deps, fresh_citizen)
    assert await is_there(deps, fresh_citizen)
    assert len(files(deps)) == 1
    assert await parking_of(deps).parked() == []
    monkeypatch.undo()
    await write(deps, fresh_citizen, "m2")
    assert await park(deps, fresh_citizen)
    assert len(files(deps)) == 1
    assert await stored(deps, fresh_citizen) == {"m1", "m2"}


async def test_a_waking_that_was_broken_off_is_finished(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(deps, fresh_citizen, "m1")
    await park(deps, fresh_citizen)
    command = Connection.command

    async def die_at_the_marker(self: Connection, *words: Any) -> Any:
        if words == ("DEL", marker_of(f"citizen_{fresh_citizen}")):
            raise SystemError
        return await command(self, *words)

    monkeypatch.setattr(Connection, "command", die_at_the_marker)
    with pytest.raises(SystemError):
        await deps.graphs.open(f"citizen_{fresh_citizen}")
    monkeypatch.undo()
    await write(deps, fresh_citizen, "m2")
    assert await stored(deps, fresh_citizen) == {"m1", "m2"}
    assert await park(deps, fresh_citizen)
    assert await stored(deps, fresh_citizen) == {"m1", "m2"}


@pytest.mark.parametrize("fault", ["cut", "gone", "swapped"])
async def test_a_file_that_is_not_the_one_is_refused(deps: Deps, fresh_citizen: str, fault: str) -> None:
    other = f"{fresh_citizen}o"
    await write(deps, fresh_citizen, "m1")
    await write(deps, other, "m2")
    await park(deps, fresh_citizen)
    [path] = files(deps)
    whole = path.read_bytes()
    await park(deps, other)
    [elses] = set(files(deps)) - {path}
    if fault == "cut":
        path.write_bytes(whole[:-10])
    elif fault == "gone":
        path.unlink()
    else:
        path.write_bytes(elses.read_bytes())
    for _ in range(2):
        with pytest.raises(StoreMisfit, match="parked"):
            await deps.graphs.open(f"citizen_{fresh_citizen}")
    with pytest.raises(StoreMisfit):
        await write(deps, fresh_citizen, "m3")
    assert not await is_there(deps, fresh_citizen)
    path.write_bytes(whole)
    assert await stored(deps, fresh_citizen) == {"m1"}


async def test_erasing_reaches_sleepers(deps: Deps, fresh_citizen: str) -> None:
    await write(deps, fresh_citizen, "m1")
    await park(deps, fresh_citizen)
    command = EraseCitizen(citizen_id=fresh_citizen)
    report = await erase(command, deps, await deps.connection.now(), deps.directory)
    assert report.removed is not None
    assert report.removed.memories == 1
    assert not files(deps)
    assert fresh_citizen not in await deps.graphs.citizens()
    assert not await deps.connection.command("EXISTS", marker_of(f"citizen_{fresh_citizen}"))


async def test_upkeep_parks_whom_nobody_used(deps: Deps, fresh_citizen: str) -> None:
    await write(deps, fresh_citizen, "m1")
    await park_unused(deps, 1.0)
    assert await is_there(deps, fresh_citizen)
    await asyncio.sleep(0.1)
    await park_unused(deps, 0.05 / 86_400)
    assert not await is_there(deps, fresh_citizen)
    assert await stored(deps, fresh_citizen) == {"m1"}


async def test_a_backup_and_a_restart_keep_sleepers(local_model: Embedder, tmp_path: Path) -> None:
    embedding = EmbeddingSettings(embedding="local")
    former = Settings(store=StoreSettings(data=tmp_path / "data", names="off"), embedding=embedding)
    async with open_runtime(former) as runtime:
        await write(runtime.deps, "ada", "m1", "m2")
        await write(runtime.deps, "eve", "m3")
        await park(runtime.deps, "ada")
    async with open_runtime(former) as runtime:
        deps = runtime.deps
        now = await deps.connection.now()
        assert deps.directory is not None
        await back_up(deps.connection, deps.directory, tmp_path / "copy", now, parked=former.store.park_folder())
        assert len(files(deps)) == 1
        assert await stored(deps, "ada") == {"m1", "m2"}
    async with open_runtime(former) as runtime:
        assert await stored(runtime.deps, "ada") == {"m1", "m2"}
    settings = Settings(store=StoreSettings(data=tmp_path / "restored", names="off"), embedding=embedding)
    await restore_backup(tmp_path / "copy", settings)
    async with open_runtime(settings) as runtime:
        assert await runtime.deps.graphs.citizens() == ["ada", "eve"]
        assert not await is_there(runtime.deps, "ada")
        assert await stored(runtime.deps, "ada") == {"m1", "m2"}
    [parked] = (tmp_path / "copy" / "parked").iterdir()
    parked.write_bytes(b"other")
    with pytest.raises(InvalidRequest, match="damaged"):
        await restore_backup(
            tmp_path / "copy", Settings(store=StoreSettings(data=tmp_path / "third"), embedding=embedding)
        )
