"""A life by weeks on a real engine: what is counted in which week, and as known when."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from orchestration.dependencies import Deps
from orchestration.features.life.feature import read_life
from orchestration.features.life.values import Life
from schemas.commands import Retract
from schemas.intention import AsOf
from tests.integration.store import NOW, day, moment, remember, stored


async def lived(deps: Deps, citizen: str, **fields: Any) -> Life:
    return await read_life(citizen, AsOf.model_validate(fields), deps, NOW)


def monday(at: datetime) -> datetime:
    return (at - timedelta(days=at.weekday())).replace(hour=0, minute=0, second=0, microsecond=0)


async def test_memories_count_in_the_week_in_which_they_began(deps: Deps, fresh_citizen: str) -> None:
    told = {"energy": 0.5, "emotion_vector": {"joy": 0.5, "calm": 0.2}}
    for name, at, energy in (("a", 0, 0.2), ("b", 0, 0.6), ("c", 14, 1.0)):
        command = remember(fresh_citizen, name, valid_at=moment(at), **{**told, "energy": energy})
        await stored(deps, command, now=day(15))
    life = await lived(deps, fresh_citizen)
    first, second = life.weeks
    assert (first.start, second.start) == (monday(moment(0)), monday(moment(14)))
    assert (first.memories, first.energy, first.emotions) == (2, 0.4, {"calm": 2, "joy": 2})
    assert (second.memories, second.energy, life.memories) == (1, 1.0, 3)
    assert life.known_from is not None


async def test_a_life_is_as_known_then_and_has_no_future(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "a", valid_at=moment(0)), now=day(1))
    await stored(deps, remember(fresh_citizen, "later", valid_at=moment(0)), now=day(9))
    await stored(deps, remember(fresh_citizen, "plan", valid_at=moment(400)), now=day(9))
    assert (await lived(deps, fresh_citizen)).memories == 2
    assert (await lived(deps, fresh_citizen, as_of_time=moment(5))).memories == 1
    await stored(deps, Retract(citizen_id=fresh_citizen, id="a"), now=day(20))
    assert (await lived(deps, fresh_citizen, as_of_time=moment(30))).memories == 1
    assert (await lived(deps, fresh_citizen, as_of_time=moment(15))).memories == 2


async def test_a_citizen_of_whom_nothing_is_remembered_has_no_weeks(deps: Deps, fresh_citizen: str) -> None:
    assert await lived(deps, fresh_citizen) == Life(citizen_id=fresh_citizen)
