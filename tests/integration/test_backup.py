"""Backups: a prefix of what was acknowledged, proved when it is restored, refused when it is damaged."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from api.runtime.backup import restore_backup
from api.runtime.runtime import Runtime, open_runtime
from orchestration.mind.state import change_state, read_state, state_history
from orchestration.transfer.backup import back_up
from orchestration.transfer.following import list_changes
from schemas.commands import Supersede
from schemas.errors import Conflict, InvalidRequest, StoreMisfit
from schemas.mind.state import StateChange
from schemas.paging import Paged
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from schemas.temporal import Scope
from schemas.upkeep.applied_changes import ChangesRequest
from schemas.upkeep.backup import Manifest
from substrate.likeness.elements import Role, set_name
from substrate.store import reader
from tests.integration.store import NOW, ask, found, history, ids, relate, remember, stored


def at(directory: Path, embedding: str = "local") -> Settings:
    return Settings(StoreSettings(data=directory), EmbeddingSettings(embedding=embedding))


@pytest.fixture(scope="module")
async def own(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runtime]:
    async with open_runtime(at(tmp_path_factory.mktemp("backup") / "data")) as runtime:
        yield runtime


@pytest.fixture(scope="module")
async def taken(own: Runtime, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of some memories with a past."""
    await stored(own.deps, *(remember("ada", f"m{n}", description=f"thing {n}") for n in range(5)))
    await stored(own.deps, relate("ada", "m0", "m1"))
    await stored(own.deps, Supersede(citizen_id="ada", id="m0", description="new"), now=NOW + 1)
    await change_state("ada", StateChange(energy=0.25, goal="rest"), own.deps, NOW)
    await change_state("ada", StateChange(energy=0.75), own.deps, NOW + 2)
    target = tmp_path_factory.mktemp("taken") / "backup"
    await taken_at(own, target)
    return target


async def taken_at(own: Runtime, target: Path) -> Manifest:
    assert own.engine is not None
    return await back_up(own.deps.connection, own.engine.directory, target, NOW)


async def test_a_restored_store_answers_as_before(own: Runtime, taken: Path, tmp_path: Path) -> None:
    manifest = (await restore_backup(taken, at(tmp_path / "data"))).manifest
    assert manifest.graphs["citizen_ada"].labels["ConsciousnessNode"] == 5
    async with open_runtime(at(tmp_path / "data")) as restored:
        assert await history(restored.deps, "ada", "m0") == await history(own.deps, "ada", "m0")
        past = [await state_history("ada", Paged(), deps) for deps in (restored.deps, own.deps)]
        assert past[0] == past[1]
        then = Scope.resolve_datetimes(past[0].records[0].created_at, None, NOW)
        assert (await read_state("ada", restored.deps, then)).energy == 0.25
        key = set_name("citizen_ada", Role.MEMORIES, 0)
        sets = [await deps.connection.command("VRANGE", key, "-", "+") for deps in (restored.deps, own.deps)]
        assert sets[0] == sets[1]
        assert len(sets[0]) > 5
        answers = [ids(found(await ask(deps, "ada", "thing 3"))) for deps in (restored.deps, own.deps)]
        assert answers[0] == answers[1] != []
        everything = ChangesRequest(citizen_id="ada")
        pages = [await list_changes(everything, deps) for deps in (restored.deps, own.deps)]
        assert [one.command_id for one in pages[0].changes] == [one.command_id for one in pages[1].changes]
        assert pages[0].epoch > pages[1].epoch
        with pytest.raises(Conflict, match="another past"):
            await list_changes(ChangesRequest(citizen_id="ada", after=pages[1].next), restored.deps)
        await stored(restored.deps, remember("ada", "after"))
    async with open_runtime(at(tmp_path / "data")) as again:
        assert await history(again.deps, "ada", "after")


async def test_a_long_text_is_found_by_its_passages_in_a_restored_store(own: Runtime, tmp_path: Path) -> None:
    filler = "\n\n".join(f"On day {number} the river was high and the boat stayed in." for number in range(200))
    text = f"{filler}\n\nThe vault code is 7741.\n\n{filler}"
    await stored(own.deps, remember("reader", "doc", description=text))
    await taken_at(own, tmp_path / "backup")
    await restore_backup(tmp_path / "backup", at(tmp_path / "data"))
    async with open_runtime(at(tmp_path / "data")) as restored:
        shown = [found(await ask(deps, "reader", "the vault code"))[0] for deps in (restored.deps, own.deps)]
        assert shown[0].passage == shown[1].passage is not None
        assert "7741" in shown[0].description


async def test_a_backup_under_load_holds_a_prefix_of_what_was_acknowledged(own: Runtime, tmp_path: Path) -> None:
    sent: dict[str, int] = {}
    acknowledged: dict[str, int] = {}
    begun, stop = asyncio.Event(), asyncio.Event()

    async def live(citizen: str) -> None:
        """A memory, and from the second on a link from it to the one before; one command after the other."""
        n = 0
        while not stop.is_set():
            for command in (remember(citizen, f"m{n}"), *([relate(citizen, f"m{n}", f"m{n - 1}")] if n else [])):
                sent[citizen] = sent.get(citizen, 0) + 1
                await stored(own.deps, command)
                acknowledged[citizen] = acknowledged.get(citizen, 0) + 1
                if len(acknowledged) == 4 and min(acknowledged.values()) > 10:
                    begun.set()
            n += 1

    writers = [asyncio.create_task(live(f"writer{number}")) for number in range(4)]
    try:
        await asyncio.wait_for(begun.wait(), 30)
        for round_ in range(3):
            before = dict(acknowledged)
            manifest = await taken_at(own, tmp_path / f"backup{round_}")
            after = dict(sent)
            for citizen in before:
                held = manifest.graphs[f"citizen_{citizen}"]
                memories, links = held.labels["ConsciousnessNode"], held.types.get("LINK", 0)
                assert memories - 1 - links in (0, 1), "a link without the memory sent before it"
                assert before[citizen] <= memories + links <= after[citizen]
    finally:
        stop.set()
        await asyncio.gather(*writers)

    await restore_backup(tmp_path / "backup2", at(tmp_path / "data"))
    async with open_runtime(at(tmp_path / "data")) as restored:
        for citizen in before:
            held = manifest.graphs[f"citizen_{citizen}"]
            count = held.labels["ConsciousnessNode"]
            wanted = [f"m{n}" for n in range(count + 50)]
            there = await reader.read_heads(restored.deps.graph(f"citizen_{citizen}"), wanted)
            assert sorted(there) == sorted(wanted[:count])


async def test_a_backup_never_overwrites(own: Runtime, taken: Path) -> None:
    with pytest.raises(Conflict, match="not empty"):
        await taken_at(own, taken)


async def test_a_target_that_cannot_be_written_leaves_no_snapshot_behind(own: Runtime, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InvalidRequest, match="cannot be written"):
        await taken_at(own, tmp_path / "file" / "backup")
    assert own.engine is not None
    assert not (own.engine.directory / "dump.rdb").exists()


def _bytes_flipped(backup: Path) -> None:
    raw = bytearray((backup / "engine.rdb").read_bytes())
    raw[len(raw) // 2] ^= 1
    (backup / "engine.rdb").write_bytes(raw)


def _manifest(change: Callable[[Any], None]) -> Callable[[Path], None]:
    def edit(backup: Path) -> None:
        said = json.loads((backup / "manifest.json").read_text())
        change(said)
        (backup / "manifest.json").write_text(json.dumps(said))

    return edit


def _resigned(backup: Path) -> None:
    """A damage that the checksum was made to fit: the engine's own check is the next."""
    _bytes_flipped(backup)
    digest = sha256((backup / "engine.rdb").read_bytes()).hexdigest()
    _manifest(lambda said: said["files"]["engine.rdb"].update(sha256=digest))(backup)


DAMAGES: dict[str, tuple[Callable[[Path], object], type[Exception], str]] = {
    "no manifest": (lambda backup: (backup / "manifest.json").unlink(), InvalidRequest, "there is no backup"),
    "half a manifest": (lambda backup: (backup / "manifest.json").write_text('{"fo'), InvalidRequest, "damaged"),
    "no snapshot": (lambda backup: (backup / "engine.rdb").unlink(), InvalidRequest, "damaged or missing"),
    "a cut snapshot": (lambda backup: (backup / "engine.rdb").write_bytes(b"REDIS"), InvalidRequest, "damaged"),
    "one bit": (_bytes_flipped, InvalidRequest, "damaged"),
    "one bit and its checksum": (_resigned, InvalidRequest, "cannot load this backup"),
    "a path out of it": (
        _manifest(lambda said: said["files"].update({"../x": said["files"]["engine.rdb"]})),
        InvalidRequest,
        "damaged",
    ),
    "a newer version": (_manifest(lambda said: said.update(version=2)), InvalidRequest, "has version 2"),
    "a newer schema": (
        _manifest(lambda said: said["graphs"]["citizen_ada"].update(schema_version=99)), StoreMisfit, "version 99"
    ),
    "another embedder": (
        _manifest(lambda said: said["graphs"]["citizen_ada"].update(embedding_model="another")),
        StoreMisfit,
        "another",
    ),
    "other counts": (
        _manifest(lambda said: said["graphs"]["citizen_ada"]["labels"].update(ConsciousnessNode=6)),
        InvalidRequest,
        "has 5 ConsciousnessNode, not 6",
    ),
    "a graph that is missing": (
        _manifest(lambda said: said["graphs"].update(citizen_x=said["graphs"]["citizen_ada"])),
        InvalidRequest,
        "graph citizen_x is missing",
    ),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_backup_is_refused_and_the_directory_stays_empty(
    taken: Path, tmp_path: Path, damage: str
) -> None:
    spoil, error, said = DAMAGES[damage]
    backup = Path(shutil.copytree(taken, tmp_path / "backup"))
    spoil(backup)
    with pytest.raises(error, match=said) as refused:
        await restore_backup(backup, at(tmp_path / "data"))
    assert getattr(refused.value, "remedy", "")
    assert not (tmp_path / "data").exists() or list((tmp_path / "data").iterdir()) == []


async def test_a_directory_in_use_is_refused(own: Runtime, taken: Path) -> None:
    with pytest.raises(Conflict, match="not empty"):
        await restore_backup(taken, own.settings)


async def test_a_server_is_backed_up_with_its_own_tools(taken: Path) -> None:
    server = Settings(StoreSettings(url="redis://127.0.0.1:1"), EmbeddingSettings(embedding="local"))
    with pytest.raises(InvalidRequest, match="whose files Substrate does not reach"):
        await restore_backup(taken, server)
