"""A parked citizen is in a file or in the store, never in neither and never in two truths."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from api.runtime.backup import restore_backup
from api.runtime.idle_upkeep import park_unused
from api.runtime.runtime import open_runtime
from orchestration.dependencies import Deps
from orchestration.insertion import apply
from orchestration.transfer.backup import back_up
from orchestration.transfer.exporter import export
from orchestration.writing.erasure import erase
from schemas.commands import EraseCitizen, EraseMemory
from schemas.errors import InvalidRequest, NotFound, StoreMisfit
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.backup.files import link_parked
from substrate.cypher.query import Query
from substrate.cypher.schema import SCHEMA_VERSION
from substrate.graphs import parking as parking_module
from substrate.graphs.names import origin_of
from substrate.graphs.parking import Parking
from substrate.inference.embeddings import Embedder
from substrate.likeness.elements import set_names
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
    return str(await deps.connection.command("TYPE", f"citizen_{citizen}")) == "graphdata"


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
    assert await parking_of(deps).names() == []


async def test_a_write_wakes(deps: Deps, fresh_citizen: str) -> None:
    await write(deps, fresh_citizen, "m1")
    await park(deps, fresh_citizen)
    await write(deps, fresh_citizen, "m2")
    assert await stored(deps, fresh_citizen) == {"m1", "m2"}


async def test_nobody_is_parked_of_whom_nothing_is_stored(deps: Deps, fresh_citizen: str) -> None:
    with pytest.raises(NotFound):
        await park(deps, fresh_citizen)


class Died(BaseException):
    """The process is killed."""


@pytest.fixture(params=["before", "after"])
def dies(deps: Deps, request: pytest.FixtureRequest) -> Callable[[int, Awaitable[object]], Awaitable[bool]]:
    """Does work until its so many-th command, before or after it is carried out; False when it has not so many."""

    async def die(step: int, work: Awaitable[object]) -> bool:
        left = step

        @contextmanager
        def around(_name: str) -> Iterator[None]:
            nonlocal left
            left -= 1
            if left == 0 and request.param == "before":
                raise Died
            yield
            if left == 0 and request.param == "after":
                raise Died

        with pytest.MonkeyPatch.context() as patch, suppress(Died):
            patch.setattr(deps.connection, "around", around)
            await work
        return left <= 0

    return die


async def test_who_dies_at_any_step_of_a_park_loses_nothing(
    deps: Deps, fresh_citizen: str, dies: Callable[[int, Awaitable[object]], Awaitable[bool]]
) -> None:
    names = ["m0"]
    await write(deps, fresh_citizen, *names)
    while await dies(len(names), park(deps, fresh_citizen)):
        assert fresh_citizen in await deps.graphs.citizens()
        names.append(f"m{len(names)}")
        await write(deps, fresh_citizen, names[-1])
        assert await stored(deps, fresh_citizen) == set(names)
    assert len(names) > 4
    assert not await is_there(deps, fresh_citizen)
    assert await stored(deps, fresh_citizen) == set(names)


async def test_who_dies_at_any_step_of_a_waking_loses_nothing(
    deps: Deps, fresh_citizen: str, dies: Callable[[int, Awaitable[object]], Awaitable[bool]]
) -> None:
    names = ["m0"]
    await write(deps, fresh_citizen, *names)
    await park(deps, fresh_citizen)
    while await dies(len(names), parking_of(deps).unpark(f"citizen_{fresh_citizen}")):
        assert fresh_citizen in await deps.graphs.citizens()
        names.append(f"m{len(names)}")
        await write(deps, fresh_citizen, names[-1])
        assert await stored(deps, fresh_citizen) == set(names)
        await park(deps, fresh_citizen)
    assert len(names) > 4
    assert await is_there(deps, fresh_citizen)
    assert await stored(deps, fresh_citizen) == set(names)


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
    assert await parking_of(deps).names() == []
    monkeypatch.undo()
    await write(deps, fresh_citizen, "m2")
    assert await park(deps, fresh_citizen)
    assert len(files(deps)) == 1
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
    assert not await deps.connection.command("EXISTS", *set_names(f"citizen_{fresh_citizen}"))


async def test_erasing_a_memory_reaches_the_old_file(deps: Deps, fresh_citizen: str) -> None:
    await write(deps, fresh_citizen, "m1", "m2")
    await park(deps, fresh_citizen)
    linked = await asyncio.to_thread(link_parked, parking_of(deps).folder)  # as a backup that was killed leaves it
    assert linked is not None
    command = EraseMemory(citizen_id=fresh_citizen, id="m1")
    await erase(command, deps, await deps.connection.now(), deps.directory)
    assert files(deps) == [linked]
    linked.rmdir()
    assert await stored(deps, fresh_citizen) == {"m2"}


async def test_a_lost_file_can_be_given_up(deps: Deps, fresh_citizen: str) -> None:
    await write(deps, fresh_citizen, "m1")
    await park(deps, fresh_citizen)
    [path] = files(deps)
    path.write_bytes(b"")
    assert await parking_of(deps).unpark(f"citizen_{fresh_citizen}", is_lost=True)
    assert not files(deps)
    await write(deps, fresh_citizen, "m2")
    assert await stored(deps, fresh_citizen) == {"m2"}


async def test_a_full_disk_parks_nobody(deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await write(deps, fresh_citizen, "m1")

    def full(_file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidRequest, match="No space left"):
        await park(deps, fresh_citizen)
    monkeypatch.undo()
    assert not files(deps)
    assert await is_there(deps, fresh_citizen)
    assert await stored(deps, fresh_citizen) == {"m1"}


async def test_a_graph_of_an_older_schema_is_migrated_when_it_wakes(deps: Deps, fresh_citizen: str) -> None:
    await write(deps, fresh_citizen, "m1")
    older = Query("older", "MATCH (m:SubstrateMeta) SET m.schema_version = $version")
    await deps.graph(f"citizen_{fresh_citizen}").write(older, version=SCHEMA_VERSION - 1)
    await park(deps, fresh_citizen)
    stamp = await deps.graphs.open(f"citizen_{fresh_citizen}")
    assert stamp is not None
    assert stamp.schema_version == SCHEMA_VERSION
    assert await stored(deps, fresh_citizen) == {"m1"}


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
    async with open_runtime(former) as runtime:
        assert await runtime.deps.graphs.citizens() == ["ada", "eve"]
        assert await stored(runtime.deps, "ada") == {"m1", "m2"}
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
