"""The directory of a mirror: nothing outside is read, written or removed, and what is not ours is refused."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from orchestration.features.mirror.folder import MARKER, Folder, draft_name, open_root, replace_folder
from schemas.errors import InvalidRequest, NotFound, SubstrateError, Unavailable

PLACE = "@a/#b/c_1.md"


def make(directory: Path) -> Path:
    with open_root(directory, create=True) as root, root.open("ada", create=True) as folder:
        folder.write(MARKER, b"{}")
        folder.write(PLACE, b"text")
    return directory / "ada"


@pytest.fixture(name="outside")
def file_outside(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    secret = tmp_path / "outside" / "c_1.md"
    secret.write_bytes(b"secret")
    return secret


def test_a_file_is_written_read_and_removed_with_its_empty_folders(tmp_path: Path) -> None:
    ada = make(tmp_path / "m")
    with Folder(os.open(ada, os.O_RDONLY), ada) as folder:
        assert [entry.path for entry in folder.files()] == [PLACE]
        assert folder.read(PLACE) == b"text"
        folder.remove(PLACE)
        assert (folder.read(PLACE), sorted(folder.names())) == (None, [MARKER])


@pytest.mark.parametrize("path", ["../x.md", "@a/../../x.md", "/etc/x.md", "a//b", "", "a\0b", "."])
def test_no_path_leads_out(tmp_path: Path, path: str) -> None:
    ada = make(tmp_path / "m")
    with Folder(os.open(ada, os.O_RDONLY), ada) as folder:
        for act in (folder.read, folder.remove, lambda path: folder.write(path, b"x")):
            with pytest.raises((InvalidRequest, ValueError)):
                act(path)
    assert sorted(file.name for file in tmp_path.rglob("*.md")) == ["c_1.md"]


@pytest.mark.parametrize("link", ["@a", "@a/#b", PLACE])
def test_a_symlink_inside_is_never_followed(tmp_path: Path, outside: Path, link: str) -> None:
    ada = make(tmp_path / "m")
    place = ada / link
    os.rename(place, tmp_path / "moved")
    place.symlink_to(outside if link == PLACE else outside.parent)
    with Folder(os.open(ada, os.O_RDONLY), ada) as folder:
        with pytest.raises(InvalidRequest):
            folder.read(PLACE)
        assert [entry for entry in folder.files() if entry.regular] == []
        if link != PLACE:
            with pytest.raises(InvalidRequest):
                folder.write(PLACE, b"mine")
            with pytest.raises(InvalidRequest):
                folder.remove(PLACE)
        else:
            folder.write(PLACE, b"mine")  # it takes the place of the link
    assert outside.read_bytes() == b"secret"


def refused(directory: Path) -> SubstrateError:
    with pytest.raises(SubstrateError) as error, open_root(directory, create=True):
        pass
    return error.value


def test_a_file_a_symlink_and_a_directory_that_is_not_ours_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    (tmp_path / "link").symlink_to(tmp_path / "full")
    assert "is a file or a symlink" in refused(tmp_path / "file").detail
    assert "is a file or a symlink" in refused(tmp_path / "link").detail
    assert "it is no mirror, and nothing in it was touched" in refused(tmp_path / "full").detail
    assert os.listdir(tmp_path / "full") == ["letter.txt"]
    with pytest.raises(NotFound), open_root(tmp_path / "none"):
        pass


def test_a_repository_may_become_a_mirror(tmp_path: Path) -> None:
    (tmp_path / "m" / ".git").mkdir(parents=True)
    make(tmp_path / "m")


def test_two_writers_at_once_are_refused_and_a_reader_is_not(tmp_path: Path) -> None:
    make(tmp_path / "m")
    with open_root(tmp_path / "m"):
        with pytest.raises(Unavailable), open_root(tmp_path / "m"):
            pass
        with open_root(tmp_path / "m", write=False) as root:
            assert "ada" in set(root.names())


@pytest.mark.parametrize(
    ("number", "words"), [(errno.ENOSPC, "Free some space"), (errno.EROFS, "Check its rights")]
)
def test_a_full_or_read_only_disk_leaves_the_former_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    ada = make(tmp_path / "m")

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    with Folder(os.open(ada, os.O_RDONLY), ada) as folder:
        monkeypatch.setattr(os, "rename", fail)
        with pytest.raises(InvalidRequest) as error:
            folder.write(PLACE, b"newer")
        assert words in error.value.remedy
        assert folder.read(PLACE) == b"text"
        assert [entry.path for entry in folder.files()] == [PLACE]


def test_a_replaced_folder_keeps_what_a_person_put_beside_our_files(tmp_path: Path) -> None:
    ada = make(tmp_path / "m")
    (ada / ".git").mkdir()
    (ada / "notes.txt").write_text("mine")
    with open_root(tmp_path / "m") as root:
        new = draft_name("ada")
        with root.open(new, create=True) as folder:
            folder.write(MARKER, b"{}")
        replace_folder(root, "ada", new)
    assert sorted(os.listdir(ada)) == sorted([".git", MARKER, "notes.txt"])
    assert sorted(os.listdir(tmp_path / "m")) == sorted([MARKER, ".substrate-mirror.lock", "ada"])


@pytest.mark.parametrize("when", ["before the swap", "between both renames", "before the rest was moved"])
def test_an_interrupted_replacement_is_finished_and_loses_nothing(tmp_path: Path, when: str) -> None:
    ada = make(tmp_path / "m")
    (ada / "notes.txt").write_text("mine")
    new, old = tmp_path / "m" / draft_name("ada"), tmp_path / "m" / ".ada.old-1"
    new.mkdir()
    if when != "before the swap":
        ada.rename(old)
    if when == "before the rest was moved":
        new.rename(ada)
    with open_root(tmp_path / "m") as root:
        draft = draft_name("ada")
        with root.open(draft, create=True) as folder:
            folder.write(MARKER, b"new")
        replace_folder(root, "ada", draft)
    assert (ada / "notes.txt").read_text() == "mine"
    assert (ada / MARKER).read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path / "m")) == sorted([MARKER, ".substrate-mirror.lock", "ada"])
