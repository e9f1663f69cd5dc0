"""Eight who write while another process parks the citizen without pause: nothing is lost, nothing is doubled."""

from __future__ import annotations

import asyncio

from orchestration.dependencies import Deps
from orchestration.insertion import apply
from orchestration.mind.state import change_state, read_state
from orchestration.writing import atomic
from orchestration.writing.erasure import erase
from schemas.commands import Command, EraseMemory, Supersede
from schemas.errors import Conflict, Unavailable
from schemas.mind.state import StateChange
from schemas.temporal import Scope
from substrate.cypher.query import Query
from substrate.likeness.elements import WHOLE, Role, join_name
from substrate.likeness.vector_sets import VectorSets
from tests.attack.processes import program
from tests.integration.store import links, relate, remember, send

KINDS = ("single", "single", "revision", "link", "erasure", "state", "list", "list")
ROUNDS = 6
VERSIONS = {"revision": 3, "list": 2}
"""The one of a memory that was superseded: within a list it takes the place of the first."""
PARKER = """
import asyncio, sys
from contextlib import suppress
from pathlib import Path
from api.runtime.runtime import open_store
from schemas.errors import SubstrateError
from schemas.settings import StoreSettings
async def park(data, graph):
    async with open_store(StoreSettings(data=Path(data))) as (connection, _):
        while True:
            with suppress(SubstrateError):
                if await connection.parked.park(graph):
                    print("parked", flush=True)
asyncio.run(park(*sys.argv[1:]))
"""
HELD = Query("held", "MATCH (n:ConsciousnessNode) RETURN n.id, n.version")
RECEIPTS = Query("receipts", "MATCH (c:Receipt) RETURN c.command_id")
VECTORS = Query("vectors", "MATCH (n:ConsciousnessNode)-[:HAS_TRACE]->(t) RETURN n.id, t.digest")


class Writer:
    """One of those who write while the citizen is parked; `held`: the version of each memory that it was told is
    stored, `linked`: how many links."""

    def __init__(self, deps: Deps, citizen: str, kind: str, place: int) -> None:
        self.deps, self.citizen, self.kind, self.place = deps, citizen, kind, place
        self.held: dict[str, int] = {}
        self.linked: list[tuple[str, str]] = []
        self.receipts: set[str] = set()

    async def send(self, *commands: Command) -> None:
        """Until all are acknowledged, each with an id of its own."""
        commands = tuple(
            each.model_copy(update={"command_id": f"{self.place} {len(self.receipts) + place}"})
            for place, each in enumerate(commands)
        )
        send = atomic.apply if self.kind == "list" else apply
        while True:
            try:
                receipts = await send(commands, self.deps, await self.deps.connection.now())
            except Unavailable:
                continue
            break
        assert {receipt.status for receipt in receipts} <= {"stored", "duplicate"}, receipts
        self.receipts.update(str(each.command_id) for each in commands)

    async def write(self, number: int) -> None:
        """One round, and note what is held then."""
        one, other = f"{self.kind} {self.place} {number}", f"{self.kind} {self.place} {number} other"
        memories = [remember(self.citizen, name, description=f"About {name}") for name in (one, other)]
        change = Supersede(citizen_id=self.citizen, id=one, description=f"More of {one}")
        match self.kind:
            case "state":
                await self.change_state(number)
                return
            case "list":
                await self.send(*memories, relate(self.citizen, one, other), change)
                self.linked.append((one, other))
            case "link":
                await self.send(*memories)
                await self.send(relate(self.citizen, one, other))
                self.linked.append((one, other))
            case "revision":
                await self.send(*memories)
                await self.send(change)
            case _:
                await self.send(*memories)
        self.held |= {one: VERSIONS.get(self.kind, 1), other: 1}
        if self.kind == "erasure":
            await self.erase(other)
            del self.held[other]

    async def erase(self, name: str) -> None:
        command = EraseMemory(citizen_id=self.citizen, id=name, command_id=f"gone {name}")
        while True:
            try:
                await erase(command, self.deps, await self.deps.connection.now(), self.deps.directory)
            except Unavailable:
                continue
            return

    async def change_state(self, number: int) -> None:
        while True:
            change = StateChange(goal=f"goal {number}")
            try:
                await change_state(self.citizen, change, self.deps, await self.deps.connection.now())
            except (Unavailable, Conflict):
                continue
            return


async def test_nothing_that_was_written_while_a_citizen_was_parked_is_lost_or_doubled(
    deps: Deps, fresh_citizen: str
) -> None:
    await send(deps, remember(fresh_citizen, "m0"), now=await deps.connection.now())
    graph = deps.graph(f"citizen_{fresh_citizen}")
    writers = [Writer(deps, fresh_citizen, kind, place) for place, kind in enumerate(KINDS)]

    async def write_rounds(writer: Writer) -> None:
        for number in range(ROUNDS):
            await writer.write(number)

    parker = program(PARKER, deps.directory, graph.name)
    try:
        assert await asyncio.to_thread(parker.stdout.readline)  # type: ignore[union-attr]
        await asyncio.gather(*map(write_rounds, writers))
    finally:
        parker.kill()
        told, _ = parker.communicate()
    assert told.count("parked") > 3
    held = {"m0": 1}
    for writer in writers:
        held |= writer.held
    assert sorted(map(tuple, await graph.read_typed(HELD))) == sorted(held.items())
    pairs = [(link.source_id, link.target_id) for link in await links(deps, fresh_citizen)]
    assert sorted(pairs) == sorted(pair for writer in writers for pair in writer.linked)
    kept = [str(row[0]) for row in await graph.read(RECEIPTS)]
    assert len(kept) == len(set(kept))
    for writer in writers:
        assert writer.kind == "erasure" or writer.receipts <= set(kept)
    state = await read_state(fresh_citizen, deps, Scope.current(await deps.connection.now()))
    assert state.goal == f"goal {ROUNDS - 1}"
    assert await deps.graphs.open(graph.name)
    owned = {join_name(str(owner), str(key)) for owner, key in await graph.read(VECTORS)}
    sets = VectorSets(deps.connection, graph.name, 0)
    there = set(await sets.page(sets.key(Role.MEMORIES), "-", "+")) - {WHOLE}
    assert owned <= there
    assert not {name for name in there if "erasure" in name and "other" in name}
