"""A service that keeps what it read for a waking and a walk answers as one that has read nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.features.association.flow import associate
from orchestration.features.association.values import TagWalk
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from orchestration.writing.erasure import erase
from schemas.commands import EraseMemory, Resolve, Retract, Supersede
from schemas.intention import StateBasedRetrieval
from schemas.memory import Level
from schemas.temporal import to_datetime
from tests.integration.store import ASKED, NOW, relate, remember, work
from tests.integration.test_kept_reads import OWN_TIMES, another_service, tell

type Asked = Callable[[Deps, str], Awaitable[Any]]
type Change = Callable[[Deps, str], Awaitable[object]]
SOLVED = {"relation_type": "RESOLVED_BY", "resolution_state": "resolved"}


@pytest.fixture
async def other(deps: Deps) -> AsyncIterator[Deps]:
    service = another_service(deps)
    yield service
    await service.graphs.close()
    await service.connection.close()


async def wake(deps: Deps, citizen: str, mode: str = "find_related_unresolved") -> dict[str, Any]:
    state = {"current_emotions": {"fear": 0.7}, "current_goal": "mend the boat", "current_energy": 0.5}
    asked = StateBasedRetrieval.model_validate(
        {"citizen_id": citizen, "query_levels": ["N1"], "query_mode": mode, **state}
    )
    stream = await retrieve_consciousness_context_from_state(asked, deps, ASKED + 5000)
    assert not stream.degraded
    return stream.model_dump(mode="json", exclude=OWN_TIMES)


async def wake_from_what_is_derived(deps: Deps, citizen: str) -> dict[str, Any]:
    asked = StateBasedRetrieval.model_validate({"citizen_id": citizen, "query_levels": ["N1"]})
    stream = await retrieve_consciousness_context_from_state(asked, deps, ASKED + 5000)
    return stream.model_dump(mode="json", exclude=OWN_TIMES)


async def find_ways_out(deps: Deps, citizen: str) -> dict[str, Any]:
    return await wake(deps, citizen, "find_resolution_patterns")


async def walk(deps: Deps, citizen: str) -> dict[str, Any]:
    asked = TagWalk.model_validate({"citizen_id": citizen, "query_text": "boat leaks", "query_levels": ["N1"]})
    return (await associate(asked, deps, ASKED + 5000)).model_dump(mode="json")


async def boatyard(deps: Deps, citizen: str) -> None:
    """What was told of a leak and how it was mended, and work whose state a writer gave."""
    texts = (
        "The boat leaks and I am stuck with it, I cannot mend it",
        "I am afraid that the boat sinks",
        "I found the hole in the boat and closed it with tar",
    )
    told = [remember(citizen, f"said-{nth}", description=text, speaker="user") for nth, text in enumerate(texts)]
    given = [
        work(citizen, "mast", "blocked", 3, goal="mend the boat", emotion_vector={"fear": 0.8}),
        work(citizen, "rope", "resolved", 2, goal="mend the boat", emotion_vector={"fear": 0.6}),
    ]
    await tell(deps, *told, *given, remember(citizen, "tar", description="It is black"))
    await tell(deps, relate(citizen, "mast", "tar"), relate(citizen, "rope", "tar", **SOLVED), at=NOW + 10)


async def add(deps: Deps, citizen: str) -> None:
    await tell(deps, work(citizen, "sail", "blocked", 1, goal="mend the boat", description="Torn"), at=NOW + 200)
    await tell(deps, relate(citizen, "mast", "sail", energy=0.9), at=NOW + 210)


async def change(deps: Deps, citizen: str) -> None:
    text = "The boat leaks no more, it was mended"
    await tell(deps, Supersede(citizen_id=citizen, id="said-0", description=text), at=NOW + 300)
    await tell(deps, Resolve(citizen_id=citizen, id="mast"), at=NOW + 310)


async def withdraw(deps: Deps, citizen: str) -> None:
    await tell(deps, *(Retract(citizen_id=citizen, id=each) for each in ("mast", "said-1")), at=NOW + 400)


async def begin_later(deps: Deps, citizen: str) -> None:
    """What holds only from a later moment on."""
    later = {"resolution_state": "blocked", "goal": "mend the boat", "valid_at": to_datetime(ASKED + 4000)}
    await tell(deps, remember(citizen, "keel", description="The boat leaks there too", **later), at=NOW + 500)


async def remove(deps: Deps, citizen: str) -> None:
    for nth, each in enumerate(("mast", "said-0")):
        command = EraseMemory(citizen_id=citizen, level=Level.N1, id=each)
        await erase(command, deps, NOW + 600 + nth, deps.directory)


@pytest.mark.parametrize("ask", [wake, wake_from_what_is_derived, find_ways_out, walk])
@pytest.mark.parametrize("alter", [add, change, withdraw, begin_later, remove])
async def test_a_warm_service_answers_as_a_cold_one_after_another_has_written(
    deps: Deps, other: Deps, fresh_citizen: str, ask: Asked, alter: Change
) -> None:
    await boatyard(deps, fresh_citizen)
    before = await ask(deps, fresh_citizen)
    assert await ask(deps, fresh_citizen) == before
    await alter(other, fresh_citizen)
    after = await ask(deps, fresh_citizen)
    fresh = another_service(deps)
    cold = await ask(fresh, fresh_citizen)
    await fresh.graphs.close()
    await fresh.connection.close()
    assert after == cold
    assert after != before or ask is find_ways_out


async def test_a_second_waking_reads_only_what_its_state_makes_different(deps: Deps, fresh_citizen: str) -> None:
    await boatyard(deps, fresh_citizen)
    await wake(deps, fresh_citizen)
    sent: set[str] = set()

    @contextmanager
    def noted(name: str) -> Iterator[None]:
        sent.add(name)
        yield

    around, deps.connection.around = deps.connection.around, noted
    await wake(deps, fresh_citizen)
    deps.connection.around = around
    told, offers = {"scan_now", "graph_now"}, {"declined_offers"}
    assert sent <= {"situation", "read_stamp", "VSIM", "felt_now", "unresolved_now", *told, *offers}


async def test_a_waking_sees_what_began_and_ended_by_itself_since_it_was_read(
    deps: Deps, other: Deps, fresh_citizen: str
) -> None:
    ends, begins = (to_datetime(ASKED + after) for after in (10_000, 20_000))
    await tell(
        deps,
        work(fresh_citizen, "sail", "blocked", 1, goal="mend the boat", description="Torn", invalid_at=ends),
        work(fresh_citizen, "keel", "blocked", 1, goal="mend the boat", description="Bent", valid_at=begins),
    )
    told = [
        {node["node_id"] for node in await woken_later(service, fresh_citizen, after)}
        for after in (5_000, 15_000, 25_000, 5_000)
        for service in (other, other, deps)
    ]
    assert told == [{"sail"}] * 3 + [set()] * 3 + [{"keel"}] * 3 + [{"sail"}] * 3


async def woken_later(deps: Deps, citizen: str, after: int) -> list[dict[str, Any]]:
    """The memories of a waking at a later moment."""
    asked = StateBasedRetrieval.model_validate(
        {"citizen_id": citizen, "query_levels": ["N1"], "current_goal": "mend the boat"}
    )
    stream = await retrieve_consciousness_context_from_state(asked, deps, ASKED + after)
    return [node.model_dump(mode="json") for node in stream.activation_tiers.ordered()]
