"""A connection cut before a statement reaches the engine, or before its answer comes back: it is applied once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cutting import Cut, Proxy, proxy
from orchestration.dependencies import Deps
from orchestration.ingestion.formats import File, FileSet, parse
from orchestration.ingestion.pipeline import ingest
from orchestration.writing import atomic
from schemas.commands import (
    Command,
    Correct,
    Resolve,
    ResolveLink,
    Retract,
    Supersede,
    SupersedeLink,
    Undo,
    UndoLink,
    Unrelate,
)
from schemas.memory import Level
from substrate.connection.pool import Connection
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.graphs.registry import Graphs
from substrate.store import reader, writer
from substrate.store.writer import WriteUnconfirmed
from tests.integration.store import NOW, history, links, relate, remember, send, stored

LINK = "a|NEXT|b"
WRITE = b"GRAPH.QUERY"
BOTH = pytest.mark.parametrize("where", list(Cut))


@pytest.fixture
async def between(deps: Deps, tmp_path: Path) -> AsyncIterator[Proxy]:
    """A proxy before the engine of the open store."""
    client = await deps.connection.servers.client("any")
    engine = Path(str(client.connection_pool.connection_kwargs["path"]))
    async with proxy(engine, tmp_path / "proxy.sock") as opened:
        yield opened


@pytest.fixture
async def proxied(deps: Deps, between: Proxy, tmp_path: Path) -> AsyncIterator[Deps]:
    """The open store, reached through the proxy."""
    connection = Connection(f"unix://{tmp_path}/proxy.sock", timeout_ms=1000)
    graphs = Graphs(connection, model=deps.embedder.model, dimension=deps.embedder.dimension)
    yield Deps(connection, graphs, deps.embedder)
    await connection.close()


@pytest.fixture
async def citizen(proxied: Deps, fresh_citizen: str) -> str:
    await begun(proxied, fresh_citizen)
    return fresh_citizen


async def begun(deps: Deps, citizen: str) -> None:
    await stored(deps, remember(citizen, "a"), remember(citizen, "b"), relate(citizen, "a", "b"))


def changes(citizen: str, command_id: str | None) -> Sequence[Command]:
    of = {"citizen_id": citizen, "command_id": command_id}
    return (
        remember(citizen, "new", command_id=command_id),
        remember(citizen, command_id=command_id),
        relate(citizen, "b", "a", command_id=command_id),
        relate(citizen, "b", "a", id="named", command_id=command_id),
        Supersede(id="a", description="changed", **of),
        Correct(id="a", description="changed", **of),
        Resolve(id="a", **of),
        Retract(id="a", **of),
        SupersedeLink(id=LINK, goal="changed", **of),
        ResolveLink(id=LINK, **of),
        Unrelate(id=LINK, **of),
    )


@BOTH
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("kind", range(11))
async def test_a_command_whose_answer_is_lost_is_answered_as_stored_and_applied_once(
    proxied: Deps, between: Proxy, citizen: str, kind: int, named: bool, where: Cut
) -> None:
    command = changes(citizen, "the-command" if named else None)[kind]
    between.cut_next(where, WRITE)
    [receipt] = await send(proxied, command, now=NOW + 100)
    assert between.cuts[where] == 1
    assert (receipt.status, receipt.duplicate) == ("stored", False)
    graph = graph_name(Level.N1, citizen)
    [kept] = (await reader.receipts(Graph(proxied.connection, graph), [receipt.command_id])).values()
    assert (kept.id, kept.version) == (receipt.id, receipt.version)
    if named:
        [again] = await send(proxied, command, now=NOW + 200)
        assert again == receipt.model_copy(update={"duplicate": True})


@BOTH
async def test_an_undo_whose_answer_is_lost_is_done_once(
    proxied: Deps, between: Proxy, citizen: str, where: Cut
) -> None:
    await stored(proxied, Supersede(citizen_id=citizen, id="a", name="changed"), now=NOW + 100)
    await stored(proxied, SupersedeLink(citizen_id=citizen, id=LINK, goal="changed"), now=NOW + 100)
    for undo in (Undo(citizen_id=citizen, id="a"), UndoLink(citizen_id=citizen, id=LINK)):
        between.cut_next(where, WRITE)
        [receipt] = await send(proxied, undo, now=NOW + 200)
        assert (receipt.status, receipt.duplicate) == ("stored", False)
    names = [record.name for record in await history(proxied, citizen, "a")]
    assert names == ["a", "a", "changed", "a"]
    assert [link.goal for link in await links(proxied, citizen)] == ["understand"]


@BOTH
async def test_a_batch_whose_answers_are_lost_is_stored_whole_and_once(
    proxied: Deps, between: Proxy, citizen: str, where: Cut
) -> None:
    between.cut_next(where, WRITE, times=3)
    batch = [remember(citizen, f"m{number}") for number in range(120)]
    receipts = await send(proxied, *batch, relate(citizen, "m0", "m1"))
    assert [(receipt.status, receipt.duplicate) for receipt in receipts] == [("stored", False)] * 121
    assert len({receipt.command_id for receipt in receipts}) == 121


@BOTH
async def test_an_atomic_list_whose_answer_is_lost_is_carried_out_once(
    proxied: Deps, between: Proxy, citizen: str, where: Cut
) -> None:
    batch = [
        remember(citizen, "new", command_id="first"),
        Supersede(citizen_id=citizen, id="a", name="changed", command_id="second"),
    ]
    between.cut_next(where, WRITE)
    receipts = await atomic.apply(batch, proxied, NOW + 1)
    assert between.cuts[where] == 1
    assert [(receipt.status, receipt.duplicate) for receipt in receipts] == [("stored", False)] * 2
    assert len(await history(proxied, citizen, "a")) == 3
    again = await atomic.apply(batch, proxied, NOW + 9)
    assert again == [receipt.model_copy(update={"duplicate": True}) for receipt in receipts]


@BOTH
async def test_an_ingestion_with_lost_answers_counts_each_thing_once(
    proxied: Deps, between: Proxy, citizen: str, where: Cut
) -> None:
    text = "\n".join(f'{{"speaker": "Ada", "text": "turn {number}"}}' for number in range(60))
    intake = parse("messages", FileSet("talk", (File("messages", text),), citizen))
    between.cut_next(where, WRITE, times=2)
    report = await ingest(intake, proxied, NOW)
    assert (report.duplicates, report.refused, report.faults) == (0, 0, ())
    again = await ingest(intake, proxied, NOW)
    assert (again.stored, again.duplicates) == (0, report.stored)


@BOTH
async def test_one_of_two_simultaneous_writers_is_first_even_when_its_answer_is_lost(
    proxied: Deps, between: Proxy, citizen: str, where: Cut
) -> None:
    change = Supersede(citizen_id=citizen, id="a", name="changed", command_id="once", expected_version=1)
    between.cut_next(where, WRITE)
    answers = await asyncio.gather(*(send(proxied, change, now=NOW + 100) for _ in range(4)))
    assert {receipt.status for [receipt] in answers} == {"stored"}
    assert len({receipt.created_at for [receipt] in answers}) == 1
    assert len(await history(proxied, citizen, "a")) == 3


async def test_a_command_is_not_refused_for_what_its_twin_has_just_changed(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begun(deps, fresh_citizen)
    change = Supersede(citizen_id=fresh_citizen, id="a", name="changed", command_id="once", expected_version=1)
    look_up, twins = reader.receipts, [change]

    async def and_then_the_twin(*asked: Any) -> Any:
        kept = await look_up(*asked)
        while twins:
            await send(deps, twins.pop(), now=NOW + 100)
        return kept

    monkeypatch.setattr(reader, "receipts", and_then_the_twin)
    [receipt] = await send(deps, change, now=NOW + 100)
    assert (receipt.status, receipt.duplicate) == ("stored", True)


async def test_without_a_new_connection_the_error_says_that_the_outcome_is_unknown(
    proxied: Deps, between: Proxy, citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "RETRY_FOR_S", 0.1)
    for command in (remember(citizen, "c", command_id="x"), Retract(citizen_id=citizen, id="a")):
        between.cut_next(Cut.AFTER, b"GRAPH.", times=1)
        armed = False

        def after_the_write(piece: bytes) -> Cut | None:
            nonlocal armed
            cut = Cut.BEFORE if armed else Cut.AFTER if WRITE in piece else None
            armed = armed or cut is not None
            return cut

        between.decide = after_the_write
        with pytest.raises(WriteUnconfirmed, match="not known") as caught:
            await send(proxied, command)
        assert "/v1/receipts/" in caught.value.remedy
        [fault] = caught.value.faults
        between.decide = lambda piece: None
        told = fault.removeprefix("command_id ").removesuffix(": not known")
        assert told == (command.command_id or told)
        assert told in await reader.receipts(Graph(proxied.connection, graph_name(Level.N1, citizen)), [told])
