"""The engine killed while lists are written: each is there as a whole or not at all; what was acknowledged, is."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from api.runtime.runtime import Runtime, open_runtime
from orchestration.writing import atomic
from schemas.commands import ANY_COMMAND
from schemas.errors import SubstrateError
from schemas.memory import Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.connection.parameters import parameters
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from tests.integration.store import NOW, moment, relate, remember
from tests.waiting import wait_until_async

CITIZEN = "killed"
GRAPH = graph_name(Level.N1, CITIZEN)
MEMORIES = 30
HELD = Query(
    "held",
    "MATCH (n:ConsciousnessNode) RETURN n.goal, count(n), sum(outdegree(n, 'LINK')), sum(outdegree(n, 'HAD')), "
    "sum(outdegree(n, 'TAGGED'))",
)
KEPT = Query("kept", "MATCH (c:Receipt) WHERE c.command_id STARTS WITH $of RETURN count(c)")


def a_list(name: str) -> list[Any]:
    """Memories, links between them, and some memories superseded."""
    since: dict[str, Any] = {"valid_at": moment(1), "goal": name, "tags": ["x"]}
    ids = [f"{name} {place}" for place in range(MEMORIES)]
    said = [{"command": "supersede", "id": one, "description": "new"} for one in ids[:10]]
    commands = [
        *(remember(CITIZEN, one, **since) for one in ids),
        *(relate(CITIZEN, one, other) for one, other in pairwise(ids)),
        *(ANY_COMMAND.validate_python({"citizen_id": CITIZEN, **one}) for one in said),
    ]
    return [one.model_copy(update={"command_id": f"{name}:{place}"}) for place, one in enumerate(commands)]


async def until_killed(runtime: Runtime, writer: str, said: set[str], killed: asyncio.Event) -> None:
    """Write lists until the engine was killed; `said` are those whose receipts came back."""
    with contextlib.suppress(SubstrateError):
        for number in range(1000):
            if killed.is_set():
                return
            name = f"{writer}.{number}"
            receipts = await atomic.apply(a_list(name), runtime.deps, NOW)
            assert {receipt.status for receipt in receipts} == {"stored"}
            said.add(name)


async def answering(runtime: Runtime) -> None:
    """Return when the engine is there again, with every index."""
    for _ in range(6000):
        with contextlib.suppress(SubstrateError):
            await runtime.deps.connection.ping()
            await runtime.deps.graphs.wait_operational(GRAPH)
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the engine did not come back")


async def a_round(runtime: Runtime, number: int, chance: Random) -> tuple[int, int]:
    """How many lists are there after a kill, and how many of them had not been acknowledged."""
    said: set[str] = set()
    killed = asyncio.Event()
    server = await runtime.deps.connection.command("INFO", "server")
    writers = [asyncio.create_task(until_killed(runtime, f"{number}.{each}", said, killed)) for each in range(3)]
    acknowledged = chance.randint(1, 12)
    await wait_until_async(lambda: len(said) >= acknowledged)
    os.kill(int(server["process_id"]), signal.SIGKILL)
    killed.set()
    await asyncio.gather(*writers)
    await answering(runtime)
    held = await Graph(runtime.deps.connection, GRAPH).read(HELD)
    whole = [[MEMORIES, MEMORIES - 1, 10, MEMORIES]] * len(held)
    assert [list(map(int, row[1:])) for row in held] == whole
    names = {str(row[0]) for row in held if str(row[0]).startswith(f"{number}.")}
    assert said <= names
    for name in names:
        kept = await runtime.deps.connection.read(GRAPH, KEPT, parameters({"of": f"{name}:"}))
        assert int(kept[0][0]) == len(a_list(name))
    return len(names), len(names - said)


async def test_lists_are_whole_or_not_there_after_the_engine_was_killed(tmp_path: Path) -> None:
    settings = Settings(store=StoreSettings(data=tmp_path), embedding=EmbeddingSettings(embedding="none"))
    async with open_runtime(settings) as runtime:
        assert {one.status for one in await atomic.apply(a_list("first"), runtime.deps, NOW)} == {"stored"}
        counts = [await a_round(runtime, number, Random(number)) for number in range(2)]
    assert sum(there for there, _ in counts) > 0
