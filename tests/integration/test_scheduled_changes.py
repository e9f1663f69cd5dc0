"""A scheduled change: until then every way of asking sees what holds today, and after it what holds then."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.features.association.flow import associate
from orchestration.features.association.values import TagWalk
from orchestration.features.identity.feature import read_identity
from orchestration.features.identity.values import WhoIs
from orchestration.resonance.ask import resonate
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.commands import ANY_COMMAND
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.stream import ConsciousnessStream
from schemas.temporal import Instant
from schemas.wave_signal import Resonate
from tests.integration.store import day, moment, relate, remember, stored

TODAY, LATER = day(50), day(300)
FELT: dict[str, Any] = {"emotion_vector": {"joy": 0.8}, "resolution_state": "in_progress", "goal": "sail"}


def change(citizen: str, command: str, of: str, **fields: Any) -> Any:
    return ANY_COMMAND.validate_python({"citizen_id": citizen, "command": command, "id": of, **fields})


async def plan(deps: Deps, citizen: str, *, link: bool = False) -> None:
    """A harbour and a boat in it, told yesterday; the boat, or its link, is another from a day to come on."""
    await stored(
        deps,
        remember(citizen, "m", name="My boat", description="the boat is blue", valid_at=moment(1), **FELT),
        remember(citizen, "p", name="Harbour", node_type="Place", valid_at=moment(1), **FELT),
        relate(citizen, "m", "p", relation_type="LIES_IN", valid_at=moment(1)),
        now=day(40),
    )
    if link:
        await stored(deps, change(citizen, "supersede_link", "m|LIES_IN|p", energy=0.1, effective_at=moment(200)))
    for of in () if link else ("m", "p"):
        await stored(deps, change(citizen, "supersede", of, confidence=0.9, effective_at=moment(200)), now=day(49))


def shown(stream: ConsciousnessStream) -> dict[str, float]:
    memories = [m for level in stream.levels.values() for m in (*level.vector_results, *level.graph_results)]
    return {memory.node_id: memory.confidence for memory in memories}


async def asked(deps: Deps, citizen: str, now: Instant) -> dict[str, float]:
    intention = RetrievalIntention(citizen_id=citizen, query_text="the blue boat in the harbour")
    return shown(await retrieve_consciousness_context(intention, deps, now))


async def woken(deps: Deps, citizen: str, now: Instant) -> dict[str, float]:
    state = StateBasedRetrieval(
        citizen_id=citizen, current_energy=0.5, current_emotions={"joy": 0.8}, temporal_scope="all_time"
    )
    return shown(await retrieve_consciousness_context_from_state(state, deps, now))


async def resonant(deps: Deps, citizen: str, now: Instant) -> dict[str, float]:
    signal = Resonate(citizen_id=citizen, focus="the blue boat in the harbour")
    found = (await resonate(signal, deps, now)).levels["n1_personal"]
    return {echo.memory.node_id: echo.memory.confidence for echo in found}


async def associated(deps: Deps, citizen: str, now: Instant) -> dict[str, float]:
    found = await associate(TagWalk(citizen_id=citizen, query_text="boat harbour"), deps, now)
    return {one.memory.node_id: one.memory.confidence for one in (*found.anchors, *found.neighbours)}


WAYS = [asked, woken, resonant, associated]


@pytest.mark.parametrize("way", WAYS)
async def test_a_memory_with_a_scheduled_change_is_seen_as_it_is_today(
    deps: Deps, fresh_citizen: str, way: Callable[[Deps, str, Instant], Awaitable[dict[str, float]]]
) -> None:
    await plan(deps, fresh_citizen)
    assert await way(deps, fresh_citizen, TODAY) == {"m": 0.5, "p": 0.5}
    assert await way(deps, fresh_citizen, LATER) == {"m": 0.9, "p": 0.9}


@pytest.mark.parametrize("link", [False, True])
async def test_an_identity_knows_what_has_a_future(deps: Deps, fresh_citizen: str, *, link: bool) -> None:
    await plan(deps, fresh_citizen, link=link)
    for now in (TODAY, LATER):
        found = await read_identity(WhoIs(citizen_id=fresh_citizen), deps, now)
        assert [entity.name for entity in found.entities] == ["Harbour"]


@pytest.mark.parametrize("link", [False, True])
async def test_a_signal_is_built_from_what_has_a_future(deps: Deps, fresh_citizen: str, *, link: bool) -> None:
    await plan(deps, fresh_citizen, link=link)
    window = [{"id": "m", "text": "What now?"}]
    for now in (TODAY, LATER):
        signal = Resonate.model_validate({"citizen_id": fresh_citizen, "window": window})
        assert (await resonate(signal, deps, now)).signal.nodes == ("Harbour",)


async def test_a_retraction_from_a_day_in_the_past_ends_what_is_scheduled_too(
    deps: Deps, fresh_citizen: str
) -> None:
    await plan(deps, fresh_citizen)
    await stored(deps, change(fresh_citizen, "retract", "m", effective_at=moment(30)), now=day(49))
    assert await asked(deps, fresh_citizen, TODAY) == {"p": 0.5}
    assert await asked(deps, fresh_citizen, LATER) == {"p": 0.9}


async def test_a_retraction_before_the_last_change_takes_what_held_before_it_too(
    deps: Deps, fresh_citizen: str
) -> None:
    await plan(deps, fresh_citizen)
    await stored(
        deps, change(fresh_citizen, "supersede", "m", confidence=0.7, effective_at=moment(45)), now=day(46)
    )
    await stored(deps, change(fresh_citizen, "retract", "m", effective_at=moment(30)), now=day(49))
    for valid in (29, 31, 46, 300):
        seen = await asked(deps, fresh_citizen, day(valid))
        assert ("m" in seen) is (valid < 30)


async def test_a_correction_of_today_leaves_what_is_scheduled(deps: Deps, fresh_citizen: str) -> None:
    await plan(deps, fresh_citizen)
    fields = {"confidence": 0.6, "expected_version": 2}
    [receipt] = await stored(deps, change(fresh_citizen, "correct", "m", **fields), now=day(49) + 100)
    assert receipt.version == 4
    assert (await asked(deps, fresh_citizen, TODAY))["m"] == 0.6
    assert (await asked(deps, fresh_citizen, LATER))["m"] == 0.9


async def test_a_supersession_of_today_reaches_over_what_is_scheduled(deps: Deps, fresh_citizen: str) -> None:
    await plan(deps, fresh_citizen)
    await stored(deps, change(fresh_citizen, "supersede", "m", confidence=0.6), now=day(49) + 100)
    assert (await asked(deps, fresh_citizen, TODAY))["m"] == 0.6
    assert (await asked(deps, fresh_citizen, LATER))["m"] == 0.6
