"""The state that a waking begins with: given, kept, or derived from memories; and waking in the past."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.mind.state import change_state
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.commands import Command, Resolve
from schemas.intention import QueryMode, StateBasedRetrieval
from schemas.mind.state import StateChange
from schemas.stream import ConsciousnessStream
from tests.integration.store import NOW, day, ids, moment, stored, work

LATER = NOW + 1000
"""A moment after everything was written: of two writes at one instant the second is put a microsecond later."""


async def woken_alone(deps: Deps, citizen: str, **fields: Any) -> ConsciousnessStream:
    """The stream of a waking that is told nothing but the citizen."""
    state = StateBasedRetrieval.model_validate({"citizen_id": citizen, **fields})
    return await retrieve_consciousness_context_from_state(state, deps, LATER)


def order(stream: ConsciousnessStream) -> list[str]:
    return ids(stream.activation_tiers.ordered())


async def test_waking_needs_no_state_and_tells_which_one_it_derived(deps: Deps, fresh_citizen: str) -> None:
    c = fresh_citizen
    await stored(
        deps,
        work(c, "stuck", "blocked", 1, goal="sail home", energy=0.8, emotion_vector={"frustration": 0.8}),
        work(c, "said", None, 0, speaker="assistant", emotion_vector={"joy": 1.0}, energy=1.0),
        work(c, "once", None, 40, emotion_vector={"joy": 1.0}, energy=0.1),
    )
    stream = await woken_alone(deps, c)
    assert order(stream)[0] == "stuck"
    state = stream.state
    assert state is not None
    assert (state.derived, state.energy, state.emotion_vector) == (True, 0.8, {"frustration": 0.8})
    assert state.goal == "sail home"
    assert [(one.field, one.memory_ids) for one in state.sources] == [
        ("emotion_vector", ("stuck",)), ("energy", ("stuck",)), ("goal", ("stuck",))
    ]  # fmt: skip


async def test_a_derived_goal_does_not_hide_other_open_work(deps: Deps, fresh_citizen: str) -> None:
    c = fresh_citizen
    await stored(
        deps,
        work(c, "mast", "blocked", 1, goal="sail home", energy=0.8),
        work(c, "bread", "blocked", 2, goal="bake", energy=0.7),
    )
    assert set(order(await woken_alone(deps, c))) == {"mast", "bread"}
    kept = StateChange.model_validate({"goal": "bake", "valid_at": moment(99.5)})
    await change_state(c, kept, deps, NOW)
    assert order(await woken_alone(deps, c)) == ["bread"]
    assert set(order(await woken_alone(deps, c, as_of_time=moment(99.2), known_at=moment(101)))) == {
        "mast",
        "bread",
    }


async def test_given_comes_before_kept_and_kept_before_derived(deps: Deps, fresh_citizen: str) -> None:
    c = fresh_citizen
    await stored(deps, work(c, "glad", "blocked", energy=0.9, emotion_vector={"joy": 0.6}))
    await change_state(c, StateChange.model_validate({"energy": 0.3, "valid_at": moment(99)}), deps, NOW)

    async def state(**fields: Any) -> tuple[float, dict[str, float], bool]:
        felt = (await woken_alone(deps, c, **fields)).state
        assert felt is not None
        return felt.energy, felt.emotion_vector, felt.derived

    assert await state() == (0.3, {"joy": 0.6}, True)
    assert await state(current_energy=0.7) == (0.7, {"joy": 0.6}, True)
    assert await state(current_emotions={"fear": 0.2}) == (0.3, {"fear": 0.2}, False)
    assert await state(current_emotions={}) == (0.3, {}, False)


@pytest.mark.parametrize("mode", ["find_similar_state", "find_resolution_patterns"])
async def test_modes_of_feeling_without_a_feeling_say_so(deps: Deps, fresh_citizen: str, mode: str) -> None:
    await stored(deps, work(fresh_citizen, "numb", "resolved"))
    stream = await woken_alone(deps, fresh_citizen, query_mode=mode)
    assert stream.degraded == ()
    assert any(f"{mode} looks for it" in note for note in stream.notes)


async def test_an_old_blockage_wakes_and_one_blocked_again_today_is_of_today(
    deps: Deps, fresh_citizen: str
) -> None:
    c = fresh_citizen
    await stored(
        deps,
        work(c, "old", "blocked", 40, energy=0.5),
        work(c, "again", "resolved", 60, energy=0.5),
        work(c, "doing", "resolved", 60, energy=0.5),
    )
    await stored(
        deps,
        Resolve(id="again", citizen_id=c, effective_at=moment(99), resolution_state="blocked"),
        Resolve(id="doing", citizen_id=c, effective_at=moment(99), resolution_state="in_progress"),
    )
    assert order(await woken_alone(deps, c)) == ["again", "doing", "old"]
    assert order(await woken_alone(deps, c, query_mode="find_what_i_was_doing")) == ["doing"]


async def test_waking_in_the_past_is_waking_in_a_store_that_ends_there(deps: Deps, fresh_citizen: str) -> None:
    """Derived state and answers alike, whatever came later on either axis."""
    whole, short = fresh_citizen, f"{fresh_citizen}.short"

    def early(citizen: str) -> list[Command]:
        return [
            work(citizen, "stuck", "blocked", 20, goal="sail", energy=0.8, emotion_vector={"tension": 0.8}),
            work(citizen, "bread", "in_progress", 18, goal="bake", energy=0.6, emotion_vector={"joy": 0.5}),
        ]

    await stored(deps, *early(short), now=day(85))
    await stored(deps, *early(whole), now=day(85))
    await stored(
        deps,
        Resolve(id="stuck", citizen_id=whole, effective_at=moment(90)),
        work(whole, "late", "blocked", 5, energy=1.0, emotion_vector={"fear": 1.0}, goal="bake"),
        work(whole, "told late", "blocked", 19, energy=1.0, emotion_vector={"fear": 1.0}, goal="sail"),
        now=day(95),
    )
    then = {"as_of_time": moment(86), "known_at": moment(86)}
    for mode in QueryMode:
        past = await woken_alone(deps, whole, query_mode=mode, **then)
        ended = await woken_alone(deps, short, query_mode=mode, **then)
        assert past.state is not None
        assert ended.state is not None
        assert past.state.model_dump(exclude={"citizen_id"}) == ended.state.model_dump(exclude={"citizen_id"})
        assert order(past) == order(ended)
        assert past.state.emotion_vector != {}
