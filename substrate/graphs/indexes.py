"""Making indexes and constraints, and waiting until they answer. Each is harmless when it is there already."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from uuid import uuid4

from schemas.errors import Fault, Unavailable
from substrate.connection.parameters import parameters
from substrate.connection.pool import Connection
from substrate.cypher import schema as cypher
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

NOTHING: Final = parameters({})
MAKING: Final = "substrate:making"
RESTING: Final = "substrate:resting:"
"""What the names of graphs begin with that are there for a moment, with one index and no constraint."""
_LEFT_SECONDS: Final = 60
_MAKING_MS: Final = 8_000
"""After this long without a sign of life whoever made a graph is taken to be dead."""
_SIGN_OF_LIFE_SECONDS: Final = 1.0
_WAIT_STEP_SECONDS: Final = 0.005
_WAIT_STEPS: Final = 4000


@asynccontextmanager
async def alone(connection: Connection) -> AsyncIterator[None]:
    """Wait until nobody else makes indexes, in any process: four graphs made at once crash the engine in seconds.

    Raises Unavailable after 20 seconds.
    """
    ours = uuid4().hex
    for _ in range(_WAIT_STEPS):
        if await connection.command("SET", MAKING, ours, "NX", "PX", _MAKING_MS):
            break
        await asyncio.sleep(_WAIT_STEP_SECONDS)
    else:
        raise Unavailable("other graphs are still being made", remedy="Try again in a moment.")
    alive = asyncio.create_task(_stay_alive(connection))
    try:
        yield
    finally:
        alive.cancel()
        await asyncio.wait([alive])
        if await connection.command("GET", MAKING) == ours:
            await connection.command("DEL", MAKING)


async def _stay_alive(connection: Connection) -> None:
    while True:
        await asyncio.sleep(_SIGN_OF_LIFE_SECONDS)
        await connection.command("PEXPIRE", MAKING, _MAKING_MS)


async def rest(connection: Connection) -> None:
    """Return when the engine has done all that it had to do for indexes and constraints, of removed graphs too.

    Behind its loading it checks every constraint, one after the other, and writes each to its log. Its thread
    takes what comes in turn: when an index that is made now is there, all that came before it is done.
    """
    for name in await connection.command("GRAPH.LIST"):
        if name.startswith(RESTING) and await connection.command("OBJECT", "IDLETIME", name) > _LEFT_SECONDS:
            await connection.command("GRAPH.DELETE", name)  # whoever made it was killed
    ours = f"{RESTING}{uuid4().hex}"
    await create_index(Graph(connection, ours), cypher.REST_INDEX)
    await wait_operational(Graph(connection, ours))
    await connection.command("GRAPH.DELETE", ours)


async def create_index(graph: Graph, index: Query) -> None:
    """Make an index, on a label without nodes: a build over a filled one stops the engine while others write."""
    try:
        await graph.write(index)
    except Fault as error:
        if "already indexed" not in error.detail:
            raise


async def drop_index(graph: Graph, index: Query) -> None:
    """Drop an index, of a label without nodes: of a filled one the engine builds anew what stays indexed."""
    try:
        await graph.write(index)
    except Fault as error:
        if "no such index" not in error.detail:
            raise


async def create_unique(graph: Graph, label: str, column: str) -> None:
    """Demand that a property is unique among the nodes of a label; it must have an index."""
    words = ("GRAPH.CONSTRAINT", "CREATE", graph.name, "UNIQUE", "NODE", label, "PROPERTIES", 1, column)
    try:
        await graph.connection.command(*words)
    except Fault as error:
        if "already exists" not in error.detail:
            raise


async def unready(graph: Graph) -> list[str]:
    """Labels whose index or constraint is not operational yet."""
    return [label for label, _ in await _building(graph)]


async def _building(graph: Graph) -> list[tuple[str, str]]:
    """Of each index or constraint that is not operational its label, and how far the engine says it is."""
    indexes = await graph.read(cypher.INDEX_STATUS)
    constraints = await graph.read(cypher.CONSTRAINT_STATUS)
    return [(str(row[0]), str(row[1])) for row in (*indexes, *constraints) if row[1] != "OPERATIONAL"]


async def wait_operational(graph: Graph) -> None:
    """Return when every index and constraint answers, however long the engine builds them.

    Raises Unavailable when the engine has not come on with them for 20 seconds.
    """
    before: list[tuple[str, str]] = []
    steps = 0
    while steps < _WAIT_STEPS:
        now = await _building(graph)
        if not now:
            return
        steps = steps + 1 if now == before else 0
        before = now
        await asyncio.sleep(_WAIT_STEP_SECONDS)
    raise Unavailable(f"the indexes of {graph.name} are still being built", remedy="Try again in a moment.")
