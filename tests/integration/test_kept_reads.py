"""A service that keeps what it read answers as one that has read nothing, whatever others write behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.insertion import apply
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.writing.erasure import erase
from schemas.commands import Command, Correct, EraseMemory, Retract, Supersede
from schemas.intention import RetrievalIntention
from schemas.memory import Level
from schemas.temporal import to_datetime
from substrate.connection.pool import Connection
from substrate.graphs.registry import Graphs
from tests.integration.store import ASKED, NOW, relate, remember

OWN_TIMES = {"intention_id", "stream_id", "retrieved_at", "retrieval_latency_ms", "stage_ms", "timings"}


def another_service(deps: Deps) -> Deps:
    """A service on the same engine that keeps its own."""
    assert deps.directory is not None
    connection = Connection(f"unix://{deps.directory / 'engine.sock'}", timeout_ms=deps.connection.timeout_ms)
    graphs = Graphs(connection, model=deps.embedder.model, dimension=deps.embedder.dimension)
    return replace(deps, connection=connection, graphs=graphs)


@pytest.fixture
async def other(deps: Deps) -> AsyncIterator[Deps]:
    service = another_service(deps)
    yield service
    await service.graphs.close()
    await service.connection.close()


async def answer(deps: Deps, citizen: str, text: str = "Where does the blue boat sleep?") -> dict[str, Any]:
    asked = RetrievalIntention(citizen_id=citizen, query_text=text, query_levels=(Level.N1,))
    stream = await retrieve_consciousness_context(asked, deps, ASKED + 5000)
    assert not stream.degraded
    return stream.model_dump(mode="json", exclude=OWN_TIMES)


async def answer_of_nobody(deps: Deps, citizen: str) -> dict[str, Any]:
    """As of a service that has kept nothing."""
    fresh = another_service(deps)
    try:
        return await answer(fresh, citizen)
    finally:
        await fresh.graphs.close()
        await fresh.connection.close()


def ids(found: dict[str, Any]) -> set[str]:
    return {node["node_id"] for node in found["levels"]["n1_personal"]["graph_results"]}


async def tell(deps: Deps, *commands: Command, at: int = NOW) -> None:
    receipts = await apply(list(commands), deps, at)
    assert {receipt.status for receipt in receipts} == {"stored"}


async def harbour(deps: Deps, citizen: str) -> None:
    """A boat, what is around it two links away, and a hub."""
    names = ("boat", "harbour", "lamp", "keeper", "dog")
    texts = ("The blue boat sleeps in the harbour", "Water and stone", "It burns at night", "Tom", "It barks")
    memories = [remember(citizen, name, description=text) for name, text in zip(names, texts, strict=True)]
    crew = [remember(citizen, f"crew-{number}", description=f"Sailor {number}") for number in range(70)]
    await tell(deps, *memories, remember(citizen, "hub", description="The guild"), *crew)
    links = [relate(citizen, *pair) for pair in pairwise(names)]
    guild = [relate(citizen, "hub", f"crew-{number}") for number in range(70)]
    await tell(deps, *links, relate(citizen, "boat", "hub", energy=1.0, confidence=1.0), *guild, at=NOW + 10)


type Change = Callable[[Deps, str], Awaitable[object]]


async def add(deps: Deps, citizen: str) -> None:
    await tell(deps, remember(citizen, "mast", description="It is tall"), at=NOW + 200)
    await tell(deps, relate(citizen, "boat", "mast", energy=0.9), at=NOW + 210)


async def change(deps: Deps, citizen: str) -> None:
    await tell(deps, Supersede(citizen_id=citizen, id="lamp", description="It burns no more"), at=NOW + 300)
    await tell(deps, Correct(citizen_id=citizen, id="keeper", name="Tim"), at=NOW + 310)


async def withdraw(deps: Deps, citizen: str) -> None:
    await tell(deps, Retract(citizen_id=citizen, id="harbour"), at=NOW + 400)


async def begin_later(deps: Deps, citizen: str) -> None:
    """What holds only from a later moment on."""
    later = to_datetime(ASKED + 4000)
    await tell(deps, remember(citizen, "sail", description="White", valid_at=later), at=NOW + 500)
    await tell(deps, relate(citizen, "boat", "sail", energy=0.8, valid_at=later), at=NOW + 510)


async def remove(deps: Deps, citizen: str) -> None:
    await erase(EraseMemory(citizen_id=citizen, level=Level.N1, id="dog"), deps, NOW + 600, deps.directory)
    await erase(EraseMemory(citizen_id=citizen, level=Level.N1, id="boat"), deps, NOW + 610, deps.directory)


async def remember_again(deps: Deps, citizen: str) -> None:
    await remove(deps, citizen)
    again = remember(citizen, "boat", description="The blue boat sleeps on land")
    await tell(deps, again, at=NOW + 700)


@pytest.mark.parametrize("change", [add, change, withdraw, begin_later, remove, remember_again])
async def test_a_warm_service_answers_as_a_cold_one_after_another_has_written(
    deps: Deps, other: Deps, fresh_citizen: str, change: Change
) -> None:
    await harbour(deps, fresh_citizen)
    before = await answer(deps, fresh_citizen)
    assert await answer(deps, fresh_citizen) == before
    assert deps.connection.columns.hits + deps.connection.kept.hits > 0
    await change(other, fresh_citizen)
    after = await answer(deps, fresh_citizen)
    assert after == await answer_of_nobody(deps, fresh_citizen)
    assert after != before


async def add_between(deps: Deps, citizen: str) -> None:
    """What a question must see at once: new words, a new vector, a link that makes a hub of a memory."""
    await add(deps, citizen)
    await tell(deps, remember(citizen, "berth", description="The blue boat sleeps at berth nine"), at=NOW + 220)
    await tell(deps, *[remember(citizen, f"gull-{number}") for number in range(64)], at=NOW + 230)
    await tell(deps, *[relate(citizen, "harbour", f"gull-{number}") for number in range(64)], at=NOW + 240)


@pytest.mark.parametrize("change", [add, add_between, change, withdraw, begin_later, remove, remember_again])
async def test_a_service_answers_as_a_cold_one_after_it_has_written_itself(
    deps: Deps, fresh_citizen: str, change: Change
) -> None:
    await harbour(deps, fresh_citizen)
    before = await answer(deps, fresh_citizen)
    await change(deps, fresh_citizen)
    after = await answer(deps, fresh_citizen)
    assert after == await answer_of_nobody(deps, fresh_citizen)
    assert after != before


async def test_a_write_of_another_service_between_two_own_ones_is_seen(
    deps: Deps, other: Deps, fresh_citizen: str
) -> None:
    await harbour(deps, fresh_citizen)
    await answer(deps, fresh_citizen)
    await tell(deps, remember(fresh_citizen, "rope"), at=NOW + 200)
    await tell(other, relate(fresh_citizen, "boat", "rope", energy=0.9), at=NOW + 210)
    await tell(deps, remember(fresh_citizen, "sail"), at=NOW + 220)
    found = await answer(deps, fresh_citizen)
    assert found == await answer_of_nobody(deps, fresh_citizen)
    assert "rope" in ids(found)


async def test_the_links_of_others_are_not_read_again_after_a_memory_was_added(
    deps: Deps, fresh_citizen: str
) -> None:
    await harbour(deps, fresh_citizen)
    await answer(deps, fresh_citizen)
    await tell(deps, remember(fresh_citizen, "mast", description="It is tall"), at=NOW + 200)
    assert not await sent_by(deps, fresh_citizen) & {"links_around", "strongest_links_around", "likeness"}


async def test_nothing_erased_by_another_service_is_served(deps: Deps, other: Deps, fresh_citizen: str) -> None:
    await harbour(deps, fresh_citizen)
    assert {"boat", "harbour", "lamp"} <= ids(await answer(deps, fresh_citizen))
    await remove(other, fresh_citizen)
    found = await answer(deps, fresh_citizen)
    assert ids(found).isdisjoint({"boat", "dog"})
    assert "sleeps in the harbour" not in str(found)


async def test_nothing_is_kept_of_another_start_of_the_engine(deps: Deps, fresh_citizen: str) -> None:
    await harbour(deps, fresh_citizen)
    service = another_service(deps)
    await answer(service, fresh_citizen)
    kept = len(service.connection.columns.graphs)
    service.connection._engines = dict.fromkeys(service.connection._engines, "an earlier start")
    await service.graphs.close()
    await service.connection.close()
    await service.connection.ping()
    assert (kept > 0, len(service.connection.columns.graphs), service.connection.kept.bytes) == (True, 0, 0)
    await service.graphs.close()
    await service.connection.close()


async def sent_by(deps: Deps, citizen: str) -> set[str]:
    """The queries that an answer takes."""
    sent: set[str] = set()

    @contextmanager
    def noted(name: str) -> Iterator[None]:
        sent.add(name)
        yield

    around, deps.connection.around = deps.connection.around, noted
    await answer(deps, citizen)
    deps.connection.around = around
    return sent


async def test_an_unchanged_graph_is_hardly_read_again(deps: Deps, fresh_citizen: str) -> None:
    await harbour(deps, fresh_citizen)
    await answer(deps, fresh_citizen)
    assert await sent_by(deps, fresh_citizen) <= {
        "situation",
        "scan_now",
        "graph_now",
        "instructed_now",
        "read_stamp",
    }


async def test_links_are_read_once_though_the_process_itself_writes_between(
    deps: Deps, fresh_citizen: str
) -> None:
    await harbour(deps, fresh_citizen)
    await answer(deps, fresh_citizen)
    await tell(deps, remember(fresh_citizen, "gull", description="A gull"), at=NOW + 500)
    sent = await sent_by(deps, fresh_citizen)
    assert sent & {"situation", "read_stamp"}  # the state of the graph, with its stamp where that is a second old
    assert sent.isdisjoint({"links_around", "memories_around", "found_links"})
