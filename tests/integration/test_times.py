"""Questions that name a time, on the real engine."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.dependencies import Deps
from schemas.intention import RetrievalIntention
from schemas.stream import ConsciousnessStream
from tests.integration.store import ask, moment, remember, stored

DECOYS = 70
"""More memories than likeness and words find."""


async def life(deps: Deps, citizen: str) -> None:
    decoys = [
        remember(citizen, f"d{number}", description="yesterday I did what I do", valid_at=moment(number / 2))
        for number in range(2, DECOYS)
    ]
    bark = remember(citizen, "bark", description="forty bags hauled", valid_at=moment(98.9))
    cake = remember(
        citizen, "cake", description="45 today, a chart of the bay", valid_at=moment(60), speaker="user"
    )
    await stored(deps, *decoys, bark, cake)


def first(stream: ConsciousnessStream) -> str:
    return stream.activation_tiers.focus[0].node_id


@pytest.mark.parametrize("past", [False, True])
async def test_what_was_said_yesterday_is_found_whatever_its_words(
    deps: Deps, fresh_citizen: str, past: bool
) -> None:
    await life(deps, fresh_citizen)
    times: dict[str, Any] = {"as_of_time": moment(100), "known_at": moment(100.1)} if past else {}
    stream = await ask(deps, fresh_citizen, "What did I do yesterday?", **times)
    assert first(stream) == "bark"
    assert "N1_period" in {timing.query for timing in stream.timings}


async def test_a_question_about_a_moment_means_the_day_before_that_moment(deps: Deps, fresh_citizen: str) -> None:
    await life(deps, fresh_citizen)
    times: dict[str, Any] = {"as_of_time": moment(61), "known_at": moment(100.1)}
    assert first(await ask(deps, fresh_citizen, "What did I do yesterday?", **times)) == "cake"


async def test_my_birthday_is_the_day_on_which_i_said_so(deps: Deps, fresh_citizen: str) -> None:
    await life(deps, fresh_citizen)
    stream = await ask(deps, fresh_citizen, "What did I do on my birthday?")
    assert first(stream) == "cake"
    assert not stream.degraded


async def test_yesterday_ends_at_midnight_of_the_asker(deps: Deps, fresh_citizen: str) -> None:
    """At noon of day 100 in UTC it is day 101 in Kiritimati: there day 99 is the day before yesterday."""
    await life(deps, fresh_citizen)
    await stored(deps, remember(fresh_citizen, "late", description="a call", valid_at=moment(100).replace(hour=3)))
    assert first(await ask(deps, fresh_citizen, "What did I do yesterday?")) == "bark"
    assert (
        first(await ask(deps, fresh_citizen, "What did I do yesterday?", time_zone="Pacific/Kiritimati")) == "late"
    )


@pytest.mark.parametrize("zone", ["Nowhere/Land", "../etc/passwd", "", "x" * 300, "\0"])
def test_a_zone_that_nobody_knows_is_refused(zone: str) -> None:
    with pytest.raises(ValueError, match="time_zone"):
        RetrievalIntention.model_validate({"query_text": "x", "citizen_id": "c", "time_zone": zone})
