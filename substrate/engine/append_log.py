"""The engine's append-only log: rewriting it, so that it holds no deleted data, and waiting until it is idle."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

from schemas.errors import Unavailable
from substrate.connection.errors import EngineBusy, GraphMissing
from substrate.connection.pool import Connection
from substrate.connection.topology import Server
from substrate.engine.data_directory import try_lock
from substrate.graphs.indexes import wait_for_pending_work
from substrate.graphs.names import DELETIONS
from substrate.likeness.elements import set_names

_BACKGROUND_WORK: Final = ("aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress")
LIMIT_S: Final = 600.0
POLL_S: Final = 0.01
SNAPSHOT: Final = "dump.rdb"
"""The file in the data directory that the engine writes a snapshot to; a killed backup leaves it there."""


async def delete_graph(connection: Connection, graph: str) -> None:
    """Delete a graph if it exists, and count the deletion: the log must then be rewritten.

    When the engine loads a log with a deleted graph, it checks the constraints of that graph after the deletion
    and appends the result to the log. The next load of that log crashes the engine (measured, 4.22.1). So the
    deletion is counted first, and the next process to open the store rewrites the log.
    """
    await connection.command("INCR", DELETIONS)
    await connection.command("DEL", *set_names(graph))
    with suppress(GraphMissing):
        await connection.command("GRAPH.DELETE", graph)


async def rewrite_after_deletions(connection: Connection) -> None:
    """Rewrite the log if a graph was deleted since the last rewrite. Raises Unavailable as `rewrite` does."""
    if await connection.command("EXISTS", DELETIONS):
        await rewrite(connection)


async def rewrite(connection: Connection) -> bool:
    """Rewrite the log and wait until the old files are gone; False when the server has no log. Raises Unavailable
    when the engine cannot write the log, or takes longer than ten minutes."""
    deletions = await connection.command("GET", DELETIONS)
    if deletions is not None:
        # The engine's checks of a deleted graph must reach the log before it is rewritten.
        await wait_for_pending_work(connection)
    rewritten = [await _rewrite_once(connection, each) for each in await connection.all_servers(replicas=True)]
    if deletions is not None and await connection.command("GET", DELETIONS) == deletions:
        await connection.command("DEL", DELETIONS)
    return all(rewritten)


async def _rewrite_once(connection: Connection, server: Server) -> bool:
    if not (await read_persistence(connection, server))["aof_enabled"]:
        return False
    give_up = time.monotonic() + LIMIT_S
    rewrites_before = await _begin_rewrite(connection, server, give_up)
    while (persistence := await wait_until_idle(connection, give_up, server))["aof_rewrites"] == rewrites_before:
        if persistence["aof_last_bgrewrite_status"] != "ok":
            break
        await _pause(give_up)
    if persistence["aof_last_bgrewrite_status"] != "ok":
        raise Unavailable(
            "the engine could not rewrite its log",
            remedy="Free some space on its disk and send the command again.",
        )
    config = await connection.command_at(server, "CONFIG GET", "dir", "appenddirname", "appendfilename")
    log = Path(config["dir"], config["appenddirname"])
    while await asyncio.to_thread(_has_old_files, log, f"{config['appendfilename']}.manifest"):
        await _pause(give_up)
    return True


async def _begin_rewrite(connection: Connection, server: Server, give_up: float) -> int:
    """Begin a rewrite; return how many there were before it."""
    while True:
        # A rewrite under way may still contain data that was deleted since it began: wait for it, start another.
        before: int = (await wait_until_idle(connection, give_up, server))["aof_rewrites"]
        try:
            await connection.command_at(server, "BGREWRITEAOF")
        except EngineBusy:  # somebody else began one in between
            await _pause(give_up)
        else:
            return before


async def read_persistence(connection: Connection, server: Server | None = None) -> dict[str, Any]:
    """The fields of `INFO persistence` of a server; None for the only one."""
    words = "INFO", "persistence"
    fields: dict[str, Any] = await (
        connection.command(*words) if server is None else connection.command_at(server, *words)
    )
    return fields


async def wait_until_idle(connection: Connection, give_up: float, server: Server | None = None) -> dict[str, Any]:
    """Wait until the engine writes neither log nor snapshot in the background; return its `INFO persistence`.
    Raises Unavailable when `time.monotonic()` passes `give_up`."""
    while True:
        persistence = await read_persistence(connection, server)
        if not any(persistence[name] for name in _BACKGROUND_WORK):
            return persistence
        await _pause(give_up)


async def _pause(give_up: float) -> None:
    if time.monotonic() > give_up:
        raise Unavailable("the engine is still writing its files", remedy="Send the same command again later.")
    await asyncio.sleep(POLL_S)


def _has_old_files(log: Path, manifest: str) -> bool:
    """True when the directory holds other files than the manifest names. False when there is no manifest here: the
    files of an engine on another machine are not visible."""
    try:
        named = {line.split()[1] for line in (log / manifest).read_text("utf-8").splitlines()}
        return not {file.name for file in log.iterdir()} <= named | {manifest}
    except FileNotFoundError:
        return False


@asynccontextmanager
async def snapshot_lock(directory: Path) -> AsyncIterator[None]:
    """Hold the lock for the one snapshot that a data directory can have. Raises Unavailable after ten minutes."""
    give_up = time.monotonic() + LIMIT_S
    while (lock := try_lock(directory / "engine.snapshot")) is None:
        await _pause(give_up)
    try:
        yield
    finally:
        os.close(lock)


async def remove_stale_snapshots(directory: Path) -> None:
    """Remove the snapshots of killed backups."""
    async with snapshot_lock(directory):
        await asyncio.to_thread(_remove_snapshots, directory)


def _remove_snapshots(directory: Path) -> None:
    for path in (directory / SNAPSHOT, *directory.glob("temp-*.rdb")):
        path.unlink(missing_ok=True)
