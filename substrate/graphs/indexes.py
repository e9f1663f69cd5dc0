"""Creating indexes and constraints, and waiting until they are operational. Creating one twice does nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Final
from uuid import uuid4

from schemas.errors import Fault, Unavailable
from substrate.connection.pool import Connection
from substrate.cypher import schema as cypher
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

INDEX_LOCK: Final = "substrate:making"
PROBE_PREFIX: Final = "substrate:resting:"
"""Prefix of the names of short-lived graphs that have one index and no constraint."""
_STALE_AFTER_S: Final = 60
_LOCK_WAIT_S: Final = 20.0
_FIRST_POLL_S, _LONGEST_POLL_S = 0.005, 0.1
_WITHOUT_PROGRESS_S: Final = 20.0


def index_lock(connection: Connection) -> AbstractAsyncContextManager[None]:
    """Hold the lock for creating indexes: four graphs that are created at once crash the engine within seconds.
    All processes that use the engine share it. Raises Unavailable after 20 seconds."""
    return connection.lock(INDEX_LOCK, wait_s=_LOCK_WAIT_S, refusal="other graphs are still being created")


async def wait_for_pending_work(connection: Connection) -> None:
    """Return when the engine has no pending work on indexes and constraints, those of deleted graphs included.

    After loading, the engine checks every constraint, one after the other, and appends each result to its log. It
    does this work in order: once an index created now is operational, everything before it is finished. Raises
    Unavailable as `wait_operational` does.
    """
    for name in await connection.graph_names():
        idle = await connection.command("OBJECT", "IDLETIME", name) if name.startswith(PROBE_PREFIX) else None
        if idle is not None and idle > _STALE_AFTER_S:
            await connection.command("GRAPH.DELETE", name)  # its process was killed
    for server in await connection.all_servers():
        name = f"{PROBE_PREFIX}{uuid4().hex}"
        while not await connection.servers.holds(server, name):
            name = f"{PROBE_PREFIX}{uuid4().hex}"
        probe = Graph(connection, name)
        await create_index(probe, cypher.REST_INDEX)
        await wait_operational(probe)
        await connection.command("GRAPH.DELETE", probe.name)


@contextmanager
def _unless(told: str) -> Iterator[None]:
    """What the engine refuses with these words is as it should be already."""
    try:
        yield
    except Fault as error:
        if told not in error.detail:
            raise


async def create_index(graph: Graph, index: Query) -> None:
    """Create an index, if it does not exist. The label should have no nodes yet. Building over existing nodes
    stops the engine while others write. Raises Fault when the engine refuses the index, Unavailable when it does
    not answer."""
    with _unless("already indexed"):
        await graph.write(index)


async def drop_index(graph: Graph, index: Query) -> None:
    """Drop an index, if it exists. The label should have no nodes left. Otherwise the engine rebuilds what stays
    indexed on the label. Raises as `create_index` does."""
    with _unless("no such index"):
        await graph.write(index)


async def create_unique(graph: Graph, label: str, column: str) -> None:
    """Create a unique constraint on a property that has an index, if it does not exist. Returns before the engine
    has checked existing nodes. Raises as `create_index` does."""
    words = ("GRAPH.CONSTRAINT", "CREATE", graph.name, "UNIQUE", "NODE", label, "PROPERTIES", 1, column)
    with _unless("already exists"):
        await graph.connection.command(*words)


async def unready(graph: Graph) -> list[str]:
    """Return the labels with an index or constraint that is not operational yet. Raises as `Graph.read` does."""
    return [label for label, _ in await _building(graph)]


async def _building(graph: Graph) -> list[tuple[str, str]]:
    """Return label and status of each index and constraint that is not operational."""
    return [(str(label), str(status)) for label, status in await graph.read(cypher.UNREADY)]


async def wait_operational(graph: Graph) -> None:
    """Return when every index and constraint is operational, however long that takes. Raises Unavailable when the
    engine has made no progress for 20 seconds."""
    before: list[tuple[str, str]] = []
    waited, pause = 0.0, _FIRST_POLL_S
    while waited < _WITHOUT_PROGRESS_S:
        now = await _building(graph)
        if not now:
            return
        waited = waited + pause if now == before else 0.0
        before = now
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_POLL_S)
    raise Unavailable(f"the indexes of {graph.name} are still being built", remedy="Try again in a moment.")
