"""The engine's files on disk: rewriting the append-only log, so that nothing removed is left in it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

from schemas.errors import Unavailable
from substrate.connection.errors import GraphMissing
from substrate.connection.pool import Connection
from substrate.engine.locks import try_lock
from substrate.graphs.indexes import rest

LIMIT_S: Final = 600.0
STEP_S: Final = 0.01
DELETIONS: Final = "substrate:deletions"
"""How many graphs were removed since the log was rewritten last; gone when none was."""
LEFT_SNAPSHOT: Final = "dump.rdb"
"""What a backup that was killed leaves in the data directory."""


async def delete_graph(connection: Connection, graph: str) -> None:
    """Remove a whole graph, if it is there. The log must be rewritten before the store is opened twice again.

    While the engine loads such a log, the constraints of the graph are checked once more behind its removal, and
    that is written to the end of the log; from then on the engine ends when it loads it (measured, 4.22.1). So the
    removal is noted first, and whoever opens the store rewrites what is noted.
    """
    await connection.command("INCR", DELETIONS)
    with suppress(GraphMissing):
        await connection.command("GRAPH.DELETE", graph)


async def rewrite_after_deletions(connection: Connection) -> None:
    """Rewrite the log if a graph was removed since it was last. Raises what `rewrite` raises."""
    if await connection.command("EXISTS", DELETIONS):
        await rewrite(connection)


async def rewrite(connection: Connection) -> bool:
    """Rewrite the log and wait until the old files are gone; False when the server keeps none.

    Raises Unavailable when the engine cannot write it, or takes longer than ten minutes.
    """
    deletions = await connection.command("GET", DELETIONS)
    if deletions is not None:
        # What the engine writes to its log of a removed graph must not come behind the rewriting.
        await rest(connection)
    rewritten = await _rewritten(connection)
    if deletions is not None and await connection.command("GET", DELETIONS) == deletions:
        await connection.command("DEL", DELETIONS)
    return rewritten


async def _rewritten(connection: Connection) -> bool:
    before = await state(connection)
    if not before["aof_enabled"]:
        return False
    give_up = time.monotonic() + LIMIT_S
    # A rewrite that had begun before may hold what was removed since: that one is waited for, and another made.
    await idle(connection, give_up)
    count = (await state(connection))["aof_rewrites"]
    await connection.command("BGREWRITEAOF")
    while (now := await idle(connection, give_up))["aof_rewrites"] == count:
        if now["aof_last_bgrewrite_status"] != "ok":
            break
        await _wait(give_up)
    if now["aof_last_bgrewrite_status"] != "ok":
        raise Unavailable(
            "the engine could not rewrite its log",
            remedy="Free some space on its disk and send the command again.",
        )
    await _old_files_gone(connection, give_up)
    return True


async def state(connection: Connection) -> dict[str, Any]:
    """What the engine says of its files (`INFO persistence`)."""
    found: dict[str, Any] = await connection.command("INFO", "persistence")
    return found


async def idle(connection: Connection, give_up: float) -> dict[str, Any]:
    """Wait until the engine writes neither log nor snapshot in the background; its state then."""
    while True:
        now = await state(connection)
        if not any(
            now[name] for name in ("aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress")
        ):
            return now
        await _wait(give_up)


async def _wait(give_up: float) -> None:
    if time.monotonic() > give_up:
        raise Unavailable("the engine is still writing its files", remedy="Send the same command again later.")
    await asyncio.sleep(STEP_S)


async def _old_files_gone(connection: Connection, give_up: float) -> None:
    """Wait until the directory of the log holds what its manifest names, and no more."""
    said = await connection.command("CONFIG GET", "dir", "appenddirname", "appendfilename")
    home = Path(said["dir"], said["appenddirname"])
    while await asyncio.to_thread(_has_old_files, home, f"{said['appendfilename']}.manifest"):
        await _wait(give_up)


def _has_old_files(home: Path, manifest: str) -> bool:
    """Whether the manifest is here and names less than there is; the engine of another machine has none here."""
    try:
        named = {line.split()[1] for line in (home / manifest).read_text("utf-8").splitlines()}
        return not {file.name for file in home.iterdir()} <= named | {manifest}
    except FileNotFoundError:
        return False


@asynccontextmanager
async def snapshot_lock(directory: Path) -> AsyncIterator[None]:
    """Hold the lock of the one snapshot that a data directory can have at a time."""
    give_up = time.monotonic() + LIMIT_S
    while (lock := try_lock(directory / "engine.snapshot")) is None:
        await _wait(give_up)
    try:
        yield
    finally:
        os.close(lock)


async def remove_left_snapshot(directory: Path) -> None:
    """Remove what a killed backup left behind."""
    async with snapshot_lock(directory):
        await asyncio.to_thread(_remove_snapshots, directory)


def _remove_snapshots(directory: Path) -> None:
    for left in (directory / LEFT_SNAPSHOT, *directory.glob("temp-*.rdb")):
        left.unlink(missing_ok=True)
