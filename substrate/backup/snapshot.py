"""A snapshot of the whole engine in one file, taken while the engine serves, and the counts of the same moment.

The engine forks, and the child writes what it sees: it has every acknowledged write and no half applied one, and
no request waits for the disk. A watch on the graphs proves that no write came between the counts and the fork.
Writes are paused, for some milliseconds, only when they come too often for that.

Before writes are paused, the engine must have finished its pending work: after loading, and after a graph was
created, it checks constraints in a thread of its own and appends the results to its log, and it aborts when the
log is paused meanwhile (measured, 4.22.1). The backup of an engine that nobody writes to never pauses it.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from schemas.base import without_nulls
from schemas.errors import Fault, SubstrateError, Unavailable
from schemas.upkeep.backup import HeldGraph
from substrate.connection.errors import GraphMissing
from substrate.connection.pool import Connection
from substrate.cypher.query import Query
from substrate.engine.append_log import LIMIT_S, SNAPSHOT, wait_until_idle
from substrate.graphs import indexes
from substrate.graphs.graph import Graph
from substrate.graphs.registry import existing_graphs, read_stamp
from substrate.store import archive

TRIES: Final = 10
TRIES_WITHOUT_PAUSE: Final = 3
EVENT_LOOP_ROUNDS: Final = 5
PAUSE_MS: Final = 2000
"""How long writes stay paused if this process is killed meanwhile."""
DRAIN_S: Final = 0.02
"""Time in which writes under way can finish."""
BEGIN_EPOCH: Final = Query(
    "begin_epoch", "MATCH (m:SubstrateMeta {key: 'stamp'}) SET m.epoch = 1000 * timestamp() RETURN m.epoch"
)
_WATCHED_KEYS: Final = ("substrate:keys", "substrate:erasures")


class Snapshot(NamedTuple):
    """The snapshot's file, which is in the data directory, and what each graph holds in it."""

    file: Path
    graphs: dict[str, HeldGraph]


async def take_snapshot(connection: Connection, directory: Path) -> Snapshot:
    """Write a snapshot. Call it while holding `append_log.snapshot_lock`, and move the file away. Raises
    Unavailable when the engine cannot write it, or when writes come too often."""
    give_up = time.monotonic() + LIMIT_S
    for number in range(TRIES):
        await wait_until_idle(connection, give_up)
        begin = _begin if number < TRIES_WITHOUT_PAUSE else _begin_with_writes_paused
        graphs = await begin(connection)
        after = await wait_until_idle(connection, give_up)
        if after["rdb_last_bgsave_status"] != "ok":
            raise Unavailable(
                "the engine could not write its snapshot", remedy=f"Free some space on the disk of {directory}."
            )
        if graphs is not None:
            return Snapshot(directory / SNAPSHOT, graphs)
    raise Unavailable("writes came too often for a snapshot", remedy="Try again when there are fewer.")


async def remove_snapshot(connection: Connection, directory: Path) -> None:
    """Remove a snapshot that is not needed any more, once the engine has written it. Call it holding the lock."""
    # Without an engine nothing is being written, so the file can go at once.
    with suppress(SubstrateError):
        await wait_until_idle(connection, time.monotonic() + LIMIT_S)
    await asyncio.to_thread((directory / SNAPSHOT).unlink, missing_ok=True)


async def _begin_with_writes_paused(connection: Connection) -> dict[str, HeldGraph] | None:
    """Like `_begin`, while writes are paused and no graph is created."""
    async with indexes.index_lock(connection):
        for name in await existing_graphs(connection):
            with suppress(GraphMissing):
                await indexes.wait_operational(Graph(connection, name))
        for _ in range(EVENT_LOOP_ROUNDS):
            # The engine may append to its log a moment after an index is OPERATIONAL, in a later round of its
            # loop.
            await asyncio.sleep(DRAIN_S)
            await connection.ping()
        await connection.command("CLIENT PAUSE", PAUSE_MS, "WRITE")
        try:
            await asyncio.sleep(DRAIN_S)
            return await _begin(connection)
        finally:
            await asyncio.shield(connection.command("CLIENT UNPAUSE"))


async def _begin(connection: Connection) -> dict[str, HeldGraph] | None:
    """Begin a snapshot and return the counts of each graph; None when a write came between counts and fork."""
    names = await existing_graphs(connection)
    async with connection.watched([*names, *_WATCHED_KEYS]) as unchanged:
        graphs = {name: await _count_graph(connection, name) for name in names}
        try:
            await connection.command("BGSAVE")
        except Fault:  # a rewrite of the log began meanwhile: one child at a time
            return None
        consistent = await unchanged() and await existing_graphs(connection) == names
    return without_nulls(graphs) if consistent else None


async def _count_graph(connection: Connection, name: str) -> HeldGraph | None:
    stamp = await read_stamp(Graph(connection, name))
    if stamp is None:
        return None
    labels, types = await archive.count_stored(Graph(connection, name))
    return HeldGraph(
        schema_version=stamp.schema_version,
        embedding_model=stamp.embedding_model,
        dimension=stamp.dimension,
        labels=labels,
        types=types,
    )


async def count_graphs(connection: Connection) -> dict[str, HeldGraph]:
    """Schema, embedding and counts of each graph now."""
    graphs = {name: await _count_graph(connection, name) for name in await existing_graphs(connection)}
    return without_nulls(graphs)


async def begin_epochs(connection: Connection) -> None:
    """Note in every graph that it may have another past: who follows its changes is told, as after a restore."""
    for name in await existing_graphs(connection):
        await Graph(connection, name).write(BEGIN_EPOCH)
