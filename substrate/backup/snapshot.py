"""One moment of the whole engine in one file, taken while it serves, with the counts of that moment.

The engine forks and the child writes what it sees: what was acknowledged before is in, nothing is half applied,
and nobody waits for the disk. A watch on the graphs proves that the counts belong to that very moment: that no
write came between them and the fork. Only where writes come too close for that they are made to wait, for some
milliseconds.

An engine must rest before its writes are made to wait: behind its loading, and behind the making of a graph, it
checks its constraints in a thread of its own and writes that to its log; it aborts when its log is paused then
(measured, 4.22.1). So whoever backs up an engine that nobody writes to never makes it wait.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from schemas.backup import HeldGraph
from schemas.errors import Fault, SubstrateError, Unavailable
from substrate.connection.errors import GraphMissing
from substrate.connection.pool import Connection
from substrate.engine.append_log import LIMIT_S, SNAPSHOT, wait_until_idle
from substrate.graphs import indexes
from substrate.graphs.graph import Graph
from substrate.graphs.registry import existing_graphs, read_stamp
from substrate.store import archive

TRIES: Final = 10
WITHOUT_WAITING: Final = 3
TURNS: Final = 5
PAUSE_MS: Final = 2000
"""The longest that writes wait, should this process be killed meanwhile."""
DRAIN_S: Final = 0.02
"""For the writes that the engine had begun."""
_ALWAYS: Final = ("substrate:keys", "substrate:erasures")


async def take(connection: Connection, directory: Path) -> tuple[Path, dict[str, HeldGraph]]:
    """The snapshot's file, which lies in the data directory, and what it holds.

    Hold `engine_log.snapshot_lock` and move the file away. Raises Unavailable when the engine cannot write it.
    """
    give_up = time.monotonic() + LIMIT_S
    for number in range(TRIES):
        await wait_until_idle(connection, give_up)
        begun = _begun if number < WITHOUT_WAITING else _begun_while_writes_wait
        held = await begun(connection)
        after = await wait_until_idle(connection, give_up)
        if after["rdb_last_bgsave_status"] != "ok":
            raise Unavailable(
                "the engine could not write its snapshot", remedy=f"Free some space on the disk of {directory}."
            )
        if held is not None:
            return directory / SNAPSHOT, held
    raise Unavailable("writes never rested long enough for a snapshot", remedy="Try again when there are fewer.")


async def drop(connection: Connection, directory: Path) -> None:
    """Remove a snapshot that nobody wants any more, once the engine has written it. Hold the lock."""
    # Without an engine nothing is being written, and what is there goes.
    with suppress(SubstrateError):
        await wait_until_idle(connection, time.monotonic() + LIMIT_S)
    await asyncio.to_thread((directory / SNAPSHOT).unlink, missing_ok=True)


async def _begun_while_writes_wait(connection: Connection) -> dict[str, HeldGraph] | None:
    """The same, while writes wait and no graph is made."""
    async with indexes.index_lock(connection):
        for name in await existing_graphs(connection):
            with suppress(GraphMissing):
                await indexes.wait_operational(Graph(connection, name))
        for _ in range(TURNS):
            # What is OPERATIONAL may be written to the log a moment later, once the engine's loop has turned.
            await asyncio.sleep(DRAIN_S)
            await connection.ping()
        await connection.command("CLIENT PAUSE", PAUSE_MS, "WRITE")
        try:
            await asyncio.sleep(DRAIN_S)
            return await _begun(connection)
        finally:
            await asyncio.shield(connection.command("CLIENT UNPAUSE"))


async def _begun(connection: Connection) -> dict[str, HeldGraph] | None:
    """Begin a snapshot, and say what it holds; None when a write came between."""
    names = await existing_graphs(connection)
    async with connection.watched([*names, *_ALWAYS]) as unchanged:
        held = {name: await _held(connection, name) for name in names}
        try:
            await connection.command("BGSAVE")
        except Fault:  # a rewrite of the log began meanwhile: one child at a time
            return None
        sure = await unchanged() and await existing_graphs(connection) == names
    return {name: graph for name, graph in held.items() if graph is not None} if sure else None


async def _held(connection: Connection, name: str) -> HeldGraph | None:
    stamp = await read_stamp(Graph(connection, name))
    if stamp is None:
        return None
    labels, types = await archive.held(Graph(connection, name))
    return HeldGraph(
        schema_version=stamp.schema_version,
        embedding_model=stamp.embedding_model,
        dimension=stamp.dimension,
        labels=labels,
        types=types,
    )


async def held_by(connection: Connection) -> dict[str, HeldGraph]:
    """What the engine holds now."""
    found = {name: await _held(connection, name) for name in await existing_graphs(connection)}
    return {name: graph for name, graph in found.items() if graph is not None}
