"""The directory of a mirror: a folder for each citizen, each with our marker. No path ever leaves it.

Every file is opened from the folder above it and no symlink is followed, so that nothing outside can be read,
written or removed, whatever names a memory has and whatever somebody put into the directory. A file is written
beside its place and renamed. A directory without our marker is refused.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Final, NamedTuple, Self
from uuid import uuid4

from orchestration.features.mirror.layout import INDEX
from schemas.errors import InvalidRequest, NotFound, Unavailable

MARKER: Final = ".substrate-mirror.json"
JOURNAL: Final = ".substrate-mirror.log"
"""Beside the marker: what was written since the marker was, a line each."""
_OURS: Final = (MARKER, INDEX, JOURNAL)
LOCK: Final = ".substrate-mirror.lock"
ROOT_MARK: Final = b'{"substrate": "mirror"}\n'
MOST_BYTES: Final = 64_000_000
"""The longest file that is read: a memory of the greatest length takes 24 MB."""
_BESIDE: Final = (".git", ".obsidian")
"""What may lie in a directory before it becomes a mirror."""
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_DRAFT: Final = ".draft-"
_REPLACING: Final = re.compile(r"\.(.+)\.(?:new|old)-[0-9a-f]{32}")
_DEEPEST: Final = 4
_LINKS: Final = (errno.ELOOP, errno.EMLINK)
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


class MirrorBusy(Unavailable):
    """Another process writes to the directory."""


@contextmanager
def _explained(where: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        named = where if error.filename is None else where / str(error.filename)
        if error.errno in _LINKS or (error.errno == errno.ENOTDIR and where.is_dir()):
            raise InvalidRequest(
                f"{named} is a symlink or no directory; a mirror holds neither",
                remedy="Remove it, or name another directory.",
            ) from error
        remedy = "Free some space, then mirror again." if error.errno in _FULL else "Check its rights."
        raise InvalidRequest(f"{named}: {error.strerror}", remedy=remedy) from error


class Entry(NamedTuple):
    """A file of a folder; `regular` is False for symlinks, devices and the like."""

    path: str
    regular: bool


class Folder:
    """An open folder. Paths are relative to it, with `/` between their parts."""

    def __init__(self, handle: int, where: Path) -> None:
        self._handle = handle
        self.where = where

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    def open(self, name: str, *, create: bool = False) -> Folder:
        """The folder of this name. Raises InvalidRequest for a symlink, FileNotFoundError for none."""
        return Folder(self._open([name], create=create), self.where / name)

    def read(self, path: str) -> bytes | None:
        """The content of a file; None when there is none. Raises InvalidRequest for a symlink or a huge file."""
        with _explained(self.where), self._above(path) as (handle, name):
            if handle is None:
                return None
            try:
                file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=handle)
            except FileNotFoundError:
                return None
            with open(file, "rb") as opened:
                status = os.fstat(file)
                if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
                    raise InvalidRequest(f"{self.where / path} is no file of a mirror", remedy="Remove it.")
                return opened.read()

    def write(self, path: str, content: bytes) -> None:
        """Replace a file as a whole. Raises InvalidRequest when that fails; the former file then stays."""
        draft = f"{_DRAFT}{uuid4().hex}"
        with _explained(self.where), self._above(path, create=True) as (handle, name):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            file = os.open(draft, flags, 0o666, dir_fd=handle)
            try:
                with open(file, "wb") as opened:
                    opened.write(content)
                os.rename(draft, name, src_dir_fd=handle, dst_dir_fd=handle)
            except BaseException:
                with suppress(OSError):
                    os.unlink(draft, dir_fd=handle)
                raise

    def append(self, path: str, content: bytes) -> None:
        """Append to a file at the top of the folder. Raises InvalidRequest."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        with _explained(self.where), open(os.open(path, flags, 0o666, dir_fd=self._handle), "ab") as opened:
            opened.write(content)

    def remove(self, path: str) -> None:
        """Remove a file, and the folders that it leaves empty. Raises InvalidRequest."""
        with _explained(self.where):
            with self._above(path) as (handle, name):
                if handle is None:
                    return
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=handle)
            parts = path.split("/")[:-1]
            while parts:
                with self._above("/".join(parts)) as (handle, name):
                    if handle is None:
                        return
                    try:
                        os.rmdir(name, dir_fd=handle)
                    except OSError as error:
                        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                            return
                        raise
                parts.pop()

    def names(self) -> Iterator[str]:
        """The names in the folder, in any order."""
        with _explained(self.where), os.scandir(self._handle) as entries:
            for entry in entries:
                yield entry.name

    def is_folder(self, name: str) -> bool:
        """True for a folder, False for a file or a symlink. Raises InvalidRequest when there is none."""
        with _explained(self.where):
            return stat.S_ISDIR(os.stat(name, dir_fd=self._handle, follow_symlinks=False).st_mode)

    def files(self) -> Iterator[Entry]:
        """The index, and all that lies in the folders of buckets."""
        for name in sorted(self.names()):
            if name == INDEX:
                yield Entry(name, regular=True)
            elif name.startswith("@"):
                yield from self._files_below([name])

    def _files_below(self, parts: list[str]) -> Iterator[Entry]:
        with _explained(self.where):
            try:
                handle = self._open(parts, create=False)
            except OSError as error:
                if error.errno not in (*_LINKS, errno.ENOTDIR):
                    raise
                yield Entry("/".join(parts), regular=False)
                return
        try:
            with os.scandir(handle) as entries:
                found = []
                for entry in entries:  # a symlink is neither a folder nor a file
                    kinds = entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False)
                    found.append((entry.name, *kinds))
        finally:
            os.close(handle)
        for name, is_folder, is_file in sorted(found):
            if is_folder and len(parts) < _DEEPEST:
                yield from self._files_below([*parts, name])
            elif not name.startswith(_DRAFT):
                yield Entry("/".join((*parts, name)), regular=is_file)

    def rename(self, old: str, new: str) -> None:
        """Rename an entry of the folder. Raises InvalidRequest."""
        with _explained(self.where):
            os.rename(old, new, src_dir_fd=self._handle, dst_dir_fd=self._handle)

    def move_to(self, other: Folder, names: Iterable[str]) -> None:
        """Move entries to another folder, except those of which that has the name. Raises InvalidRequest."""
        held = set(other.names())
        with _explained(self.where):
            for name in names:
                if name not in held:
                    os.rename(name, name, src_dir_fd=self._handle, dst_dir_fd=other._handle)

    def remove_tree(self, name: str) -> None:
        """Remove a folder with all that is in it; symlinks in it are removed, not followed."""
        with _explained(self.where):
            shutil.rmtree(name, dir_fd=self._handle)

    @contextmanager
    def _above(self, path: str, *, create: bool = False) -> Iterator[tuple[int | None, str]]:
        """The open folder in which the last part of the path lies; None when it does not exist."""
        *folders, name = path.split("/")
        if not all((*folders, name)) or {".", ".."} & {*folders, name} or "\0" in path:
            raise InvalidRequest(f"{path!r} leads out of the mirror")
        try:
            handle = self._open(folders, create=create)
        except FileNotFoundError:
            yield None, name
            return
        try:
            yield handle, name
        finally:
            os.close(handle)

    def _open(self, names: list[str], *, create: bool) -> int:
        handle = os.dup(self._handle)
        for name in names:
            try:
                try:
                    below = os.open(name, _DIRECTORY, dir_fd=handle)
                except FileNotFoundError:
                    if not create:
                        raise
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=handle)
                    below = os.open(name, _DIRECTORY, dir_fd=handle)
            finally:
                os.close(handle)
            handle = below
        return handle


@contextmanager
def open_root(directory: Path, *, create: bool = False, write: bool = True) -> Iterator[Folder]:
    """The directory of mirrors, with `write` locked against other writers.

    With `create` an empty or missing directory becomes one.

    Raises InvalidRequest for a file, a symlink, a directory that is not ours or cannot be written; NotFound
    without `create` when it does not exist; MirrorBusy when another process writes to it.
    """
    with _explained(directory):
        if create and not os.path.lexists(directory):
            directory.mkdir(parents=True)
        try:
            handle = os.open(directory, _DIRECTORY)
        except FileNotFoundError:
            raise NotFound(f"there is no mirror in {directory}") from None
        except NotADirectoryError:
            raise InvalidRequest(
                f"{directory} is a file or a symlink, and a mirror is a directory",
                remedy="Name a directory of its own.",
            ) from None
    with Folder(handle, directory) as root:
        if root.read(MARKER) is None:
            if any(name not in _BESIDE for name in root.names()) or not create:
                raise InvalidRequest(
                    f"{root.where} holds files and no {MARKER}: it is no mirror, and nothing in it was touched",
                    remedy="Name an empty directory, or one that does not exist yet.",
                )
            root.write(MARKER, ROOT_MARK)
        with _locked(root) if write else nullcontext():
            yield root


@contextmanager
def _locked(root: Folder) -> Iterator[None]:
    with _explained(root.where):
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(LOCK, flags, 0o666, dir_fd=root._handle)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise MirrorBusy(f"another process writes to {root.where}", remedy="Try again.") from error
        yield
    finally:
        os.close(handle)


def replace_folder(root: Folder, name: str, new: str) -> None:
    """Put the folder `new` in the place of `name`. What is not ours in the former folder goes along."""
    old = f".{name}.old-{uuid4().hex}"
    if name in set(root.names()):
        root.rename(name, old)
    root.rename(new, name)
    finish_replacing(root, name)


def draft_name(name: str) -> str:
    """A new name for the folder in which the files of `name` are written before they take its place."""
    return f".{name}.new-{uuid4().hex}"


def finish_replacing(root: Folder, name: str) -> None:
    """Remove what an interrupted writer left behind; a former folder that was not replaced gets its name back."""
    present = sorted(root.names())
    for left in present:
        if left.startswith(f".{name}.new-"):
            root.remove_tree(left)
    for old in present:
        if not old.startswith(f".{name}.old-"):
            continue
        if name not in set(root.names()):
            root.rename(old, name)
            continue
        with root.open(old) as former, root.open(name) as place:
            foreign = [each for each in former.names() if each not in _OURS and not each.startswith("@")]
            former.move_to(place, sorted(foreign))
        root.remove_tree(old)


def finish_all(root: Folder) -> set[str]:
    """Finish what interrupted writers left of any mirror. Returns the names of all folders that can be mirrors."""
    for entry in list(root.names()):
        if match := _REPLACING.fullmatch(entry):
            finish_replacing(root, match[1])
    return {name for name in root.names() if not name.startswith(".") and root.is_folder(name)}
