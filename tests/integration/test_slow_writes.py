"""Writes that run past the engine's deadline, as on a busy machine: sent again in smaller parts, each once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from math import inf
from uuid import uuid4

import pytest
from redis.exceptions import ResponseError

from orchestration.dependencies import Deps
from orchestration.ingestion.pipeline import ingest
from orchestration.transfer.exporter import export
from orchestration.transfer.importer import import_lines
from schemas.errors import StoreTimeout
from schemas.memory import Level
from substrate.connection import pool
from substrate.connection.errors import LOAD_PATIENCE_S, ConnectionLost, patient
from substrate.connection.lines import Command
from substrate.connection.pool import BatchSizes, Row
from substrate.cypher.query import Query
from substrate.graphs.names import GraphOf, graph_name
from substrate.store import reader
from substrate.store.writer import NODES_PER_STATEMENT
from tests.integration.store import NOW, relate, remember, send, stored
from tests.integration.test_ingest import chat, figures, holdings
from tests.waiting import wait_until_async

TIMED_OUT = "Query timed out"


@pytest.fixture
async def citizen(deps: Deps, fresh_citizen: str) -> str:
    """A citizen whose graph is there: its indexes are not made under a short deadline."""
    await stored(deps, remember(fresh_citizen, "first"))
    return fresh_citizen


@asynccontextmanager
async def deadline(deps: Deps, milliseconds: int) -> AsyncIterator[list[str]]:
    """The engine stops each write after so long; the names of the statements that it stopped."""
    stopped: list[str] = []

    @contextmanager
    def watched(name: str) -> Iterator[None]:
        try:
            yield
        except ResponseError as error:
            if TIMED_OUT in str(error):
                stopped.append(name)
            raise

    usual = await deps.connection.command("GRAPH.CONFIG", "GET", "TIMEOUT_DEFAULT")
    deps.connection.batch_sizes = BatchSizes()
    before, deps.connection.around = deps.connection.around, watched
    await deps.connection.command("GRAPH.CONFIG", "SET", "TIMEOUT_DEFAULT", milliseconds)
    try:
        yield stopped
    finally:
        await deps.connection.command("GRAPH.CONFIG", "SET", "TIMEOUT_DEFAULT", usual[1])
        deps.connection.around = before
        deps.connection.batch_sizes = BatchSizes()


async def test_an_ingest_survives_a_deadline_that_its_batches_do_not_meet(deps: Deps) -> None:
    """Which deadline a batch runs past and a single row meets is the machine's to say: all are tried."""
    milliseconds = 1
    while milliseconds < 1500:
        citizen = f"t{uuid4().hex}"
        await stored(deps, remember(citizen, "first"))
        intake = chat(citizen, 3 * NODES_PER_STATEMENT)
        async with deadline(deps, milliseconds) as stopped:
            try:
                report = await ingest(intake, deps, NOW)
            except StoreTimeout:
                report = None  # not even one row meets this deadline
        if stopped and report is not None:
            assert figures(report) == (sum(item.size for item in intake.items), 0, 0)
            again = await ingest(intake, deps, NOW)
            assert (again.stored, again.refused) == (0, 0)
            return
        milliseconds *= 2
    raise AssertionError("no deadline was met by halves where the whole batch ran past it")


class Died(BaseException):
    """The process is gone in the middle of its work."""


class Busy:
    """The open engine, as a busy one: a statement with more than `most` rows runs past its deadline.

    After `left` statements were carried out the process dies.
    """

    def __init__(self, deps: Deps, most: int, left: int = 1_000) -> None:
        self.sizes: list[int] = []
        self._most, self._left = most, left
        self._write = deps.connection.write

    async def write(self, graph: str, query: Query, header: str, *, first: Sequence[Command] = ()) -> list[Row]:
        rows = max(header.count("`fingerprint`:"), header.count("`present`:"))
        self.sizes.append(rows)
        if rows > self._most:
            raise StoreTimeout(f"the query {query.name} ran past its deadline")
        if self._left == 0:
            raise Died
        self._left -= 1
        return await self._write(graph, query, header, first=first)


def busy(deps: Deps, patch: pytest.MonkeyPatch, most: int, left: int = 1_000) -> Busy:
    engine = Busy(deps, most, left)
    patch.setattr(deps.connection, "batch_sizes", BatchSizes())
    patch.setattr(deps.connection, "write", engine.write)
    return engine


async def test_receipts_of_halves_come_in_the_order_of_the_commands(
    deps: Deps, citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stored(deps, remember(citizen, "m07", name="known"))
    batch = [remember(citizen, f"m{n:02}", command_id=f"of {n}") for n in range(NODES_PER_STATEMENT)]
    chain = [relate(citizen, f"m{n:02}", f"m{n + 1:02}") for n in range(NODES_PER_STATEMENT - 1)]
    chain.append(relate(citizen, "m00", "nobody"))
    with monkeypatch.context() as patch:
        engine = busy(deps, patch, 7)
        receipts = await send(deps, *batch, *chain)
        assert max(engine.sizes) == NODES_PER_STATEMENT
    assert [receipt.id for receipt in receipts[:50]] == [command.id for command in batch]
    assert [n for n, receipt in enumerate(receipts) if receipt.status == "refused"] == [7, 99]
    assert [receipt.problem for receipt in receipts if receipt.status == "refused"] == ["conflict", "not-found"]
    moments = [receipt.created_at for receipt in receipts[:50] if receipt.created_at is not None]
    assert moments == sorted(moments)
    again = await send(deps, *batch)
    assert [receipt.duplicate for receipt in again] == [n != 7 for n in range(50)]
    assert [receipt for receipt in again if receipt.duplicate] == [
        receipt.model_copy(update={"duplicate": True}) for n, receipt in enumerate(receipts[:50]) if n != 7
    ]


async def test_a_row_that_alone_runs_past_the_deadline_is_a_clear_fault_and_the_rest_can_be_sent_again(
    deps: Deps, citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = [remember(citizen, f"m{n}") for n in range(8)]
    with monkeypatch.context() as patch:
        engine = busy(deps, patch, 0)
        with pytest.raises(StoreTimeout, match="a single row") as caught:
            await send(deps, *batch)
        assert engine.sizes == [8, 4, 2, 1]
    assert "again" in caught.value.remedy
    assert await holdings(deps, citizen) == (1, 0)
    assert [receipt.status for receipt in await send(deps, *batch)] == ["stored"] * 8


@pytest.mark.parametrize("left", range(1, 6))
async def test_an_episode_whose_process_dies_between_two_halves_is_completed_when_it_is_sent_again(
    deps: Deps, citizen: str, monkeypatch: pytest.MonkeyPatch, left: int
) -> None:
    intake = chat(citizen, 20)
    total = sum(item.size for item in intake.items)
    with monkeypatch.context() as patch:
        busy(deps, patch, 8, left)
        with pytest.raises(Died):
            await ingest(intake, deps, NOW)
    before = sum(await holdings(deps, citizen)) - 1
    assert 0 < before < total
    graph = graph_name(Level.N1, citizen)
    command_id = intake.items[0].command_id
    assert command_id is not None
    assert await reader.receipts(deps.graph(graph), [command_id])
    report = await ingest(intake, deps, NOW)
    assert figures(report) == (total - before, before, 0)
    assert sum(await holdings(deps, citizen)) - 1 == total
    assert figures(await ingest(intake, deps, NOW)) == (0, total, 0)


async def test_a_batch_with_a_lost_answer_and_then_a_timeout_is_reported_as_stored_once(
    deps: Deps, citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = deps.connection.write
    sent: list[int] = []

    async def lossy(graph: str, query: Query, header: str, *, first: Sequence[Command] = ()) -> list[Row]:
        sent.append(header.count("`fingerprint`:"))
        if len(sent) == 2:
            raise StoreTimeout(f"the query {query.name} ran past its deadline")
        reply = await write(graph, query, header, first=first)
        if len(sent) == 1:
            raise ConnectionLost("the engine did not answer")
        return reply

    with monkeypatch.context() as patch:
        patch.setattr(deps.connection, "batch_sizes", BatchSizes())
        patch.setattr(deps.connection, "write", lossy)
        receipts = await send(deps, *(remember(citizen, f"m{n}") for n in range(4)))
    assert sent == [4, 4, 2, 2]
    assert [(receipt.status, receipt.duplicate) for receipt in receipts] == [("stored", False)] * 4
    assert await holdings(deps, citizen) == (5, 0)


async def test_a_late_size_is_not_tried_again_at_once_and_grows_back(
    deps: Deps, citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        engine = busy(deps, patch, 30)
        patch.setattr(pool, "SLOW_S", inf)  # however busy this machine is
        largest = []
        for batch in range(3):
            await stored(deps, *(remember(citizen, f"b{batch}m{n}") for n in range(NODES_PER_STATEMENT)))
            largest.append(max(engine.sizes))
            engine.sizes.clear()
    assert largest[0] == NODES_PER_STATEMENT
    assert NODES_PER_STATEMENT // 2 < largest[1] < largest[2] <= 30
    assert await holdings(deps, citizen) == (1 + 3 * NODES_PER_STATEMENT, 0)


async def test_a_load_waits_for_an_engine_that_writes_not_even_a_single_row(deps: Deps, citizen: str) -> None:
    intake = chat(citizen, 2 * NODES_PER_STATEMENT)
    async with deadline(deps, 1) as stopped:
        with patient(LOAD_PATIENCE_S):
            load = asyncio.create_task(ingest(intake, deps, NOW))
        await wait_until_async(lambda: len(stopped) > 3 or load.done())
    assert figures(await load) == (sum(item.size for item in intake.items), 0, 0)


async def test_an_import_survives_what_its_batches_do_not(
    deps: Deps, citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ingest(chat(citizen, 20), deps, NOW)
    lines = list(await export([GraphOf(Level.N1, citizen)], deps, embeddings=True))
    with monkeypatch.context() as patch:
        engine = busy(deps, patch, 3)
        await import_lines(lambda: iter(lines), deps, NOW, citizen_id=f"{citizen}2", progress=lambda *_: None)
        assert max(engine.sizes) > 3
    assert await holdings(deps, f"{citizen}2") == await holdings(deps, citizen)
