"""A backup does not know which keys were revoked or lowered after it: it says so, or keeps them so."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from api.cli import program
from api.runtime.backup import ALL_KEYS, replace_with_backup, restore_backup
from api.runtime.runtime import keep_revocations, open_runtime
from api.security import authentication
from orchestration.transfer.backup import back_up
from schemas.errors import InvalidRequest, Unauthenticated
from schemas.keys import KeyChange, KeyRequest
from schemas.memory import Source
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.store.api_keys import FILE, read_former_keys


class Lived(NamedTuple):
    """A store whose keys were revoked before and after its backup: one that counts, and two that do not."""

    data: Path
    backup: Path
    good: str
    early: str
    late: str
    lowered: str


def at(directory: Path) -> Settings:
    return Settings(store=StoreSettings(data=directory), embedding=EmbeddingSettings(embedding="none"))


@pytest.fixture(scope="module")
async def lived(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    home = tmp_path_factory.mktemp("keys")
    async with open_runtime(at(home / "data")) as runtime:
        connection, now = runtime.deps.connection, await runtime.moment()
        good, early, late, lowered = [
            (await authentication.create_key(connection, KeyRequest(name=name, scopes=("admin",)), now)).key
            for name in ("good", "early", "late", "lowered")
        ]
        await authentication.revoke_key(connection, id_of(early), now)
        await back_up(connection, home / "data", home / "backup", now)
        await authentication.revoke_key(connection, id_of(late), now)
        await authentication.change_key(connection, id_of(lowered), KeyChange(highest_source=Source.TOOL))
        await authentication.change_key(connection, id_of(good), KeyChange(highest_source=Source.CITIZEN))
        await authentication.change_key(connection, id_of(good), KeyChange(highest_source=Source.SYSTEM))
        await keep_revocations(connection, runtime.engine)
    return Lived(home / "data", home / "backup", good, early, late, lowered)


def id_of(key: str) -> str:
    return key.split("-")[1]


async def counts(directory: Path, key: str) -> bool:
    """Whether the service would let the key in."""
    async with open_runtime(at(directory)) as runtime:
        keyring = authentication.Keyring(runtime.deps.connection)
        try:
            await keyring.principal({b"x-api-key": key.encode()}, await runtime.moment())
        except Unauthenticated:
            return False
        finally:
            await keyring.close()
        return True


async def test_a_key_that_the_former_store_knows_as_revoked_stays_so(lived: Lived, tmp_path: Path) -> None:
    restored = await restore_backup(lived.backup, at(tmp_path / "data"), read_former_keys(lived.data))
    assert [key.name for key in restored.kept_revoked] == ["late"]
    assert {key.name: key.highest_source.value for key in restored.keys} == {"good": "system", "lowered": "tool"}
    assert await counts(tmp_path / "data", lived.good)
    assert not await counts(tmp_path / "data", lived.late)
    assert not await counts(tmp_path / "data", lived.early)
    assert read_former_keys(tmp_path / "data").revoked.keys() == {id_of(lived.early), id_of(lived.late)}


async def test_going_back_to_a_backup_in_place_brings_no_key_back(lived: Lived, tmp_path: Path) -> None:
    data = Path(shutil.copytree(lived.data, tmp_path / "data"))
    _, restored = await replace_with_backup(lived.backup, at(data))
    assert [key.name for key in restored.kept_revoked] == ["late"]
    assert not await counts(data, lived.late)
    assert {key.name: key.highest_source.value for key in restored.keys} == {"good": "system", "lowered": "tool"}


async def test_all_keys_of_a_backup_can_be_revoked(lived: Lived, tmp_path: Path) -> None:
    restored = await restore_backup(lived.backup, at(tmp_path / "data"), ALL_KEYS)
    assert restored.keys == ()
    assert not await counts(tmp_path / "data", lived.good)


def test_the_command_line_names_the_keys_that_count_again(
    lived: Lived, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")

    def substrate(name: str, *words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as end:
            program.main(["--data", str(tmp_path / name), "restore", str(lived.backup), *words])
        said = capsys.readouterr()
        return int(end.value.code or 0), said.out + said.err

    code, said = substrate("one")
    assert code == 0
    assert f"key {id_of(lived.late)} for late: valid now" in said
    assert f"key {id_of(lived.good)} for good: valid now (admin, at most system)" in said
    assert f"key {id_of(lived.lowered)} for lowered: valid now (admin, at most system)" in said
    assert "One whose source was lowered since claims what it could before" in said
    assert id_of(lived.early) not in said
    assert "is valid again: revoke it with `substrate keys revoke ID`" in said
    code, said = substrate("two", "--former", str(lived.data))
    assert f"key {id_of(lived.lowered)} for lowered: valid now (admin, at most tool)" in said
    assert (code, f"key {id_of(lived.late)} for late: stays revoked" in said, "again" in said) == (0, True, False)
    assert substrate("three", "--former", str(lived.data), "--revoke-keys")[0] == 2
    code, said = substrate("four", "--former", str(tmp_path))
    assert (code, "--revoke-keys" in said, (tmp_path / "four").exists()) == (2, True, False)


def test_a_store_that_says_nothing_of_revoked_keys_is_not_taken_for_one_that_has_none(tmp_path: Path) -> None:
    for text in (None, "", "[]", '{"a": 1}', '{"a": "yesterday"}'):
        if text is not None:
            (tmp_path / FILE).write_text(text)
        with pytest.raises(InvalidRequest, match="does not say which keys were revoked"):
            read_former_keys(tmp_path)
