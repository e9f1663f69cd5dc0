"""Identity on a real engine: 000's table, and who the citizen was before."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.features.identity.feature import read_identity
from orchestration.features.identity.values import Identity, WhoIs
from schemas.commands import Correct, Retract
from tests.features.contexts.identity_contexts import RULE, TABLE, told
from tests.integration.store import NOW, day, moment, remember, stored


@pytest.fixture(scope="module")
async def kai(deps: Deps) -> str:
    """000's citizen."""
    return await told(deps, "kai_is")


async def who(deps: Deps, citizen: str, **fields: Any) -> Identity:
    return await read_identity(WhoIs.model_validate({"citizen_id": citizen, **fields}), deps, NOW)


def counted(found: Identity) -> dict[str, int]:
    return {entity.name: entity.appearances for entity in found.entities}


async def test_the_identity_table_of_000_comes_out(deps: Deps, kai: str) -> None:
    found = await who(deps, kai, limit=5)
    assert [(e.name, (e.appearances, set(e.emotions))) for e in found.entities] == list(TABLE.items())
    assert found.entities[0].emotions["curiosity"] == 2
    assert [(rule.rule, rule.memories) for rule in found.entities[0].rules] == [(RULE, 2)]


async def test_the_past_side_gives_the_same_table_for_now(deps: Deps, kai: str) -> None:
    assert (await who(deps, kai, as_of_time=moment(100))).entities == (await who(deps, kai)).entities


async def test_a_past_identity_counts_only_the_memories_of_its_time(deps: Deps, kai: str) -> None:
    early = await who(deps, kai, as_of_time=moment(3.5))
    assert [(e.name, e.appearances) for e in early.entities] == [("Kai", 2), ("memory", 2), ("consciousness", 1)]
    assert set(early.entities[0].emotions) == {"despair", "disorientation"}
    assert (await who(deps, kai, as_of_time=moment(0.5))).entities == ()


async def test_transaction_time_is_an_axis_of_its_own(deps: Deps, fresh_citizen: str) -> None:
    citizen = await told(deps, fresh_citizen)
    await stored(deps, Retract(citizen_id=citizen, id="c9"), now=day(20))
    await stored(deps, Correct(citizen_id=citizen, id="egor", name="Igor"), now=day(20))
    assert (counted(await who(deps, citizen))["Kai"], "Igor" in counted(await who(deps, citizen))) == (6, True)
    believed = await who(deps, citizen, as_of_time=moment(15), known_at=moment(15))
    assert (counted(believed)["Kai"], counted(believed)["Egor"]) == (7, 4)
    in_hindsight = await who(deps, citizen, as_of_time=moment(15), known_at=moment(30))
    assert (counted(in_hindsight)["Kai"], counted(in_hindsight)["Igor"]) == (6, 3)


async def test_a_citizen_with_nothing_is_nobody_yet(deps: Deps, fresh_citizen: str) -> None:
    found = await who(deps, fresh_citizen)
    assert found.entities == ()
    assert any("had no memory" in note for note in found.notes)
    await stored(deps, remember(fresh_citizen, "alone"))
    assert (await who(deps, fresh_citizen)).entities == ()


async def test_an_identity_comes_in_pages_as_it_was_when_the_first_was_read(
    deps: Deps, fresh_citizen: str
) -> None:
    citizen = await told(deps, fresh_citizen)
    whole = await who(deps, citizen)
    assert (len(whole.entities) > 3, whole.next) == (True, None)
    page = await who(deps, citizen, limit=2)
    await stored(deps, Retract(citizen_id=citizen, id="c9"), now=day(120))
    await stored(deps, Correct(citizen_id=citizen, id="egor", name="Igor"), now=day(120))
    found = list(page.entities)
    while page.next is not None:
        page = await who(deps, citizen, limit=2, cursor=page.next)
        assert len(page.entities) <= 2
        found += page.entities
    assert found == list(whole.entities)
    assert "Igor" in counted(await who(deps, citizen))
