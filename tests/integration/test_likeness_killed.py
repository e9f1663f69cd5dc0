"""Vector sets of an engine that is killed, or whose disk is full, while it writes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random

import pytest

from api.runtime.runtime import Runtime, open_runtime
from orchestration.graph_queries import six_queries
from orchestration.upkeep.sweep import sweep
from schemas.commands import Correct
from schemas.errors import SubstrateError
from schemas.memory import Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from schemas.upkeep.findings import SweepRequest
from substrate.cypher.query import Query
from substrate.graphs import filling, registry
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.likeness import port
from substrate.likeness.elements import WHOLE, Role, Vector, join_name, set_name, split_name
from tests.engine_processes import a_small_disk, engine_home, engines_in, fill_disk
from tests.integration.store import NOW, ask, found, ids, moment, remember, send
from tests.waiting import wait_until_async

CITIZEN = "killed"
GRAPH = graph_name(Level.N1, CITIZEN)
OWNED = Query("owned", "MATCH (n)-[:HAS_TRACE]->(t) WHERE t.digest IS NOT NULL RETURN DISTINCT n.id, t.digest")


@pytest.fixture(autouse=True)
def by_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(six_queries, "EXACT_BELOW", -1)
    monkeypatch.setattr(filling, "WRITTEN_WITHIN_S", 0.0)


@pytest.fixture
def home() -> Iterator[Path]:
    with engine_home() as folder:
        yield folder


def at(directory: Path) -> Settings:
    return Settings(StoreSettings(data=directory, names="off"), EmbeddingSettings(embedding="local"))


async def told(runtime: Runtime, name: str) -> bool:
    """Tell a memory and correct it; whether both were acknowledged."""
    with contextlib.suppress(SubstrateError):
        said = remember(CITIZEN, name, name=f"number {name} of the harbour", valid_at=moment(1))
        corrected = Correct(citizen_id=CITIZEN, id=name, name=f"number {name} of the river")
        receipts = [*await send(runtime.deps, said), *await send(runtime.deps, corrected, now=NOW + 1)]
        return {receipt.status for receipt in receipts} == {"stored"}
    return False


async def names_in(runtime: Runtime) -> set[str]:
    key = set_name(GRAPH, Role.MEMORIES, 0)
    return {str(name) for name in await runtime.deps.connection.command("VRANGE", key, "-", "+")}


async def owned(runtime: Runtime) -> set[str]:
    rows = await Graph(runtime.deps.connection, GRAPH).read(OWNED)
    return {join_name(str(row[0]), str(row[1])) for row in rows} | {WHOLE}


async def check(runtime: Runtime, acknowledged: set[str]) -> None:
    """What was acknowledged is found by likeness; a sweep leaves exactly what records have."""
    assert await runtime.deps.graphs.for_reading(GRAPH)
    await until_whole(runtime)
    held = await owned(runtime)
    assert held <= await names_in(runtime)
    for name in acknowledged:
        stream = await ask(runtime.deps, CITIZEN, f"number {name} of the river", max_results_per_level=10)
        assert not stream.degraded
        assert name in ids(stream.levels["n1_personal"].vector_results)
        assert set(ids(found(stream))) <= {split_name(each)[0] for each in held}
    await sweep(SweepRequest(citizen_id=CITIZEN), runtime.deps)
    assert await names_in(runtime) == held


async def test_an_engine_killed_while_vectors_are_written_answers_with_all_that_was_acknowledged(
    home: Path,
) -> None:
    acknowledged: set[str] = set()
    chance = Random(1)
    async with open_runtime(at(home / "data")) as runtime:
        assert await told(runtime, "first")
        embedding = await runtime.deps.embedder.embed_query("number first of the river")
        for round_number in range(2):
            killed = asyncio.Event()

            async def writing(writer: int, named: int = round_number, ended: asyncio.Event = killed) -> None:
                for number in count():
                    if ended.is_set():
                        return
                    if await told(runtime, name := f"{named}.{writer}.{number}"):
                        acknowledged.add(name)

            writers = [asyncio.create_task(writing(writer)) for writer in range(3)]
            enough = len(acknowledged) + chance.randint(2, 9)
            await wait_until_async(lambda least=enough: len(acknowledged) >= least)  # type: ignore[misc]
            # A vector whose record never comes: the engine is killed between the two.
            await port.add(runtime.deps.connection, GRAPH, [Vector("nobody", "k", embedding)])
            for pid in engines_in(home):
                os.kill(pid, signal.SIGKILL)
            killed.set()
            await asyncio.gather(*writers)
            await until_it_answers(runtime)
            assert join_name("nobody", "k") in await names_in(runtime)
            await check(runtime, acknowledged)
    async with open_runtime(at(home / "data")) as again:
        await check(again, acknowledged | {"first"})


async def until_it_answers(runtime: Runtime) -> None:
    """Return when the engine is there again."""
    for _ in range(6000):
        with contextlib.suppress(SubstrateError):
            if await runtime.deps.graphs.for_reading(GRAPH):
                return
        await asyncio.sleep(0.05)
    raise AssertionError("the engine did not come back")


async def until_whole(runtime: Runtime) -> None:
    """Return when the vector sets are filled."""
    for _ in range(6000):
        if await filling.are_whole(Graph(runtime.deps.connection, GRAPH)):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the vector sets were not filled")


async def test_a_fill_that_is_killed_in_the_middle_is_completed_and_misses_nothing_meanwhile(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filling, "ROWS", 2)
    monkeypatch.setattr(registry, "FILLED_AT_ONCE", 0)
    told_of = {f"m{number}" for number in range(9)}
    async with open_runtime(at(home / "data")) as runtime:
        for name in sorted(told_of):
            assert await told(runtime, name)
        held = await owned(runtime)
        await runtime.deps.connection.command("DEL", set_name(GRAPH, Role.MEMORIES, 0))
        adding, pages = filling._add_missing, count()
        is_half = asyncio.Event()

        async def stopping(*given: object) -> int:
            if next(pages) == 2:
                is_half.set()
                await asyncio.Event().wait()
            return await adding(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(filling, "_add_missing", stopping)
        runtime.deps.graphs.forget()
        assert await runtime.deps.graphs.for_reading(GRAPH)
        await is_half.wait()
        assert 0 < len(await names_in(runtime)) < len(held)
        stream = await ask(runtime.deps, CITIZEN, "number m8 of the river")
        assert told_of <= set(ids(stream.levels["n1_personal"].vector_results))
        for pid in engines_in(home):
            os.kill(pid, signal.SIGKILL)
    monkeypatch.setattr(filling, "_add_missing", adding)
    async with open_runtime(at(home / "data")) as again:
        await check(again, told_of)
        await until_whole(again)
        assert await names_in(again) == held


async def test_a_disk_that_fills_between_vectors_and_records_loses_nothing(home: Path) -> None:
    with a_small_disk(home) as disk:
        directory = (disk or home) / "data"
        acknowledged: set[str] = set()
        async with open_runtime(at(directory)) as runtime:
            runtime.deps.connection.room = lambda: None  # so the engine itself meets the end of the disk
            assert await told(runtime, "first")
            if disk is None:
                pytest.skip("mounting is not permitted here")
            fill_disk(disk)
            for number in range(10_000):
                if not await told(runtime, f"{number}"):
                    break
                acknowledged.add(f"{number}")
            (disk / "filler").unlink()
            await until_it_answers(runtime)
            assert await told(runtime, "after")
            await check(runtime, acknowledged | {"first", "after"})


@pytest.mark.parametrize("is_killed", [False, True])
async def test_a_text_that_holds_again_is_found_by_likeness_after_the_next_start(
    home: Path, is_killed: bool
) -> None:
    old = "the colour of the old door"
    async with open_runtime(at(home / "data")) as runtime:
        said = (remember(CITIZEN, f"m{n}", name=f"{old} {n}", valid_at=moment(1)) for n in range(3))
        await send(runtime.deps, *said)
        for n, name in enumerate(("a wall", f"{old} 1")):
            await send(runtime.deps, Correct(citizen_id=CITIZEN, id="m1", name=name), now=NOW + 10 + n)
        marks = await marks_in(runtime)
        if is_killed:
            for pid in engines_in(home):
                os.kill(pid, signal.SIGKILL)
    async with open_runtime(at(home / "data")) as runtime:
        assert await marks_in(runtime) == marks
        assert sum(mark is not None for mark in marks.values()) == 3


async def marks_in(runtime: Runtime) -> dict[str, str | None]:
    command, key = runtime.deps.connection.command, set_name(GRAPH, Role.MEMORIES, 0)
    return {name: await command("VGETATTR", key, name) for name in sorted(await names_in(runtime) - {WHOLE})}
