"""Recovering a damaged store: what is wrong with it, and the three ways out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from api.runtime.backup import Restored, refuse_server, restore
from api.runtime.runtime import opened_store
from schemas.backup import HeldGraph
from schemas.errors import Conflict, InvalidRequest
from schemas.settings import Settings, StoreSettings
from substrate.backup import snapshot
from substrate.engine import repair
from substrate.engine.repair import Finding
from substrate.store import revoked_keys


class Recovered(NamedTuple):
    """A store that loads again: where what was there lies now, and what each graph holds."""

    aside: Path
    graphs: dict[str, HeldGraph]


def directory_of(store: StoreSettings) -> Path:
    """The data directory. Raises InvalidRequest when a server is configured."""
    refuse_server(store)
    return store.data.expanduser().absolute()


def examined(store: StoreSettings) -> Finding:
    """What is wrong with a store that nobody uses. Raises Conflict when somebody does."""
    directory = directory_of(store)
    if not directory.is_dir():
        raise InvalidRequest(f"there is no store in {directory}", remedy="Name its directory with `--data`.")
    with repair.alone(directory):
        return repair.examine(directory)


async def cut(store: StoreSettings) -> Recovered:
    """Leave of the log what is whole, and see that it loads. Raises Conflict when cutting does not help."""

    def mend(directory: Path, finding: Finding) -> None:
        if finding.rest is None:
            raise Conflict("the log cannot be cut to a whole one", remedy="Restore a backup: `--from DIRECTORY`.")
        repair.cut(directory, finding.rest)

    return await _mended(store, mend)


async def accept(store: StoreSettings) -> Recovered:
    """Take the files as they are, and see that they load. Raises Conflict when they cannot be read to the end."""

    def mend(directory: Path, finding: Finding) -> None:
        if not finding.readable:
            raise Conflict("the files cannot be read to their end", remedy="Try `--cut`, or `--from DIRECTORY`.")
        repair.accept(directory)

    return await _mended(store, mend)


async def _mended(store: StoreSettings, mend: Callable[[Path, Finding], None]) -> Recovered:
    directory = directory_of(store)
    aside = await asyncio.to_thread(_mend_alone, directory, mend)
    async with opened_store(store) as (connection, _):
        return Recovered(aside, await snapshot.held_by(connection))


def _mend_alone(directory: Path, mend: Callable[[Path, Finding], None]) -> Path:
    with repair.alone(directory):
        finding = repair.examine(directory)
        if not finding.damages:
            raise Conflict("nothing is damaged there that is known", remedy="Look at `substrate doctor`.")
        aside = repair.keep_copy(directory)
        mend(directory, finding)
    return aside


async def back_to(source: Path, settings: Settings) -> tuple[Path, Restored]:
    """Put a backup in the place of the store, which is moved aside; keys that were revoked since stay revoked.

    Raises what `restore` raises; the store is then where it was.
    """
    directory = directory_of(settings.store)
    known = None
    with suppress(InvalidRequest):
        known = await asyncio.to_thread(revoked_keys.kept_in, directory)
    aside = await asyncio.to_thread(_moved_aside, directory)
    try:
        return aside, await restore(source, settings, known)
    except BaseException:
        await asyncio.shield(asyncio.to_thread(_moved_back, aside, directory))
        raise


def _moved_aside(directory: Path) -> Path:
    with repair.alone(directory):
        aside = repair.name_aside(directory)
        try:
            directory.rename(aside)
        except OSError as error:
            raise InvalidRequest(
                f"{directory} cannot be moved aside: {error.strerror}",
                remedy=f"Restore into a new directory: `substrate --data NEW restore … --former {directory}`.",
            ) from error
        return aside


def _moved_back(aside: Path, directory: Path) -> None:
    with suppress(FileNotFoundError):
        directory.rmdir()
    aside.rename(directory)
