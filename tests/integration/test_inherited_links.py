"""Links that the service makes feel what the memories at their ends feel, whichever way they are written."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.writing import atomic
from schemas.commands import ANY_COMMAND
from schemas.memory import ConsciousnessRelationship, ResolutionState
from tests.integration.store import NOW, links, relate, remember, stored


async def with_link(deps: Deps, citizen: str, *, at_once: bool, **felt: Any) -> ConsciousnessRelationship:
    """The link that the service makes between a memory that feels and one that does not."""
    memories = [remember(citizen, "a", **felt), remember(citizen, "b")]
    link = relate(citizen, "a", "b").as_inferred()
    if at_once:
        await atomic.apply([*memories, link], deps, NOW)
    else:
        await insertion.apply([*memories, link], deps, NOW)
    return (await links(deps, citizen))[0]


@pytest.mark.parametrize("at_once", [False, True])
async def test_a_made_link_has_the_feelings_and_the_state_of_its_ends(
    deps: Deps, fresh_citizen: str, at_once: bool
) -> None:
    felt = {"emotion_vector": {"fear": 0.8}, "energy": 0.9, "resolution_state": "blocked"}
    link = await with_link(deps, fresh_citizen, at_once=at_once, **felt)
    assert (link.emotion_vector, link.energy) == ({"fear": 0.8}, 0.9)
    assert link.resolution_state is ResolutionState.BLOCKED
    assert set(link.unset) == {"emotion_vector", "energy", "resolution_state"}


@pytest.mark.parametrize("at_once", [False, True])
async def test_a_made_link_between_memories_that_feel_nothing_keeps_its_own(
    deps: Deps, fresh_citizen: str, at_once: bool
) -> None:
    link = await with_link(deps, fresh_citizen, at_once=at_once)
    assert (link.emotion_vector, link.energy, link.unset) == ({"joy": 0.5}, 0.7, ())


async def test_a_made_link_sent_again_is_a_duplicate_although_its_ends_feel_otherwise_now(
    deps: Deps, fresh_citizen: str
) -> None:
    await with_link(deps, fresh_citizen, at_once=False, emotion_vector={"fear": 0.8})
    [receipt] = await stored(deps, relate(fresh_citizen, "a", "b").as_inferred())
    assert receipt.duplicate
    assert (await links(deps, fresh_citizen))[0].emotion_vector == {"fear": 0.8}


async def test_a_given_link_takes_nothing_from_its_ends(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "a", emotion_vector={"fear": 0.8}), remember(fresh_citizen, "b"))
    await stored(deps, relate(fresh_citizen, "a", "b"))
    link = (await links(deps, fresh_citizen))[0]
    assert (link.emotion_vector, link.unset) == ({"joy": 0.5}, ())


async def test_a_state_that_is_given_later_is_no_longer_named_in_unset(deps: Deps, fresh_citizen: str) -> None:
    felt = {"energy": 0.9, "resolution_state": "blocked"}
    link = await with_link(deps, fresh_citizen, at_once=False, **felt)
    change = {"command": "resolve_link", "citizen_id": fresh_citizen, "id": link.link_id}
    await stored(deps, ANY_COMMAND.validate_python(change), now=NOW + 1000)
    assert set((await links(deps, fresh_citizen))[0].unset) == {"energy"}
