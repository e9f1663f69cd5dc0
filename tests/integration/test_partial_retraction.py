"""A memory or link whose later part was retracted: the rest of it is read and changed as usual."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.features.identity.learning import learning_page
from orchestration.features.identity.values import LearningPage
from orchestration.writing import atomic
from schemas.commands import ANY_COMMAND, Command
from tests.integration.store import NOW, day, moment, relate, remember, send, stored


def change(citizen: str, kind: str, name: str, **fields: Any) -> Command:
    return ANY_COMMAND.validate_python({"command": kind, "citizen_id": citizen, "id": name, **fields})


async def held_until_50(deps: Deps, citizen: str) -> None:
    """A memory that was to change on day 50, and then was not to hold from there on."""
    await stored(
        deps, remember(citizen, "a", valid_at=moment(1)), remember(citizen, "b", valid_at=moment(1)), now=day(2)
    )
    await stored(deps, change(citizen, "supersede", "a", effective_at=moment(50), description="later"), now=day(3))
    await stored(deps, change(citizen, "retract", "a", effective_at=moment(50)), now=day(4))


async def test_a_correction_is_of_what_held_last(deps: Deps, fresh_citizen: str) -> None:
    await held_until_50(deps, fresh_citizen)
    (receipt,) = await send(deps, change(fresh_citizen, "correct", "a", description="x", expected_version=2))
    assert (receipt.status, receipt.valid_at, receipt.invalid_at) == ("stored", moment(1), moment(50))


@pytest.mark.parametrize("kind", ["supersede", "resolve"])
async def test_a_change_from_now_on_is_no_request(deps: Deps, fresh_citizen: str, kind: str) -> None:
    await held_until_50(deps, fresh_citizen)
    said = {"description": "x"} if kind == "supersede" else {}
    (receipt,) = await send(deps, change(fresh_citizen, kind, "a", **said))
    assert (receipt.problem, receipt.current_version) == ("invalid-request", 2)


async def test_a_link_may_end_in_it(deps: Deps, fresh_citizen: str) -> None:
    await held_until_50(deps, fresh_citizen)
    (receipt,) = await send(deps, relate(fresh_citizen, "b", "a", valid_at=moment(1)))
    assert receipt.faults == ()
    (receipt,) = await atomic.apply([relate(fresh_citizen, "a", "b", valid_at=moment(1))], deps, NOW)
    assert receipt.faults == ()


@pytest.mark.parametrize("together", [False, True])
async def test_a_link_of_an_id_of_its_own_keeps_its_ends_when_it_holds_again(
    deps: Deps, fresh_citizen: str, together: bool
) -> None:
    await stored(
        deps, remember(fresh_citizen, "a", valid_at=moment(1)), remember(fresh_citizen, "b", valid_at=moment(1))
    )
    await stored(deps, relate(fresh_citizen, "a", "b", id="own", valid_at=moment(1)))
    await stored(deps, change(fresh_citizen, "unrelate", "own", effective_at=moment(5)))
    other = relate(fresh_citizen, "b", "a", id="own", valid_at=moment(20))
    (receipt,) = await atomic.apply([other], deps, NOW) if together else await send(deps, other)
    assert receipt.problem == "conflict"


async def test_a_belief_that_was_corrected_and_then_retracted_was_learnt_though_one_to_come_is_older(
    deps: Deps, fresh_citizen: str
) -> None:
    await stored(deps, remember(fresh_citizen, "a", valid_at=moment(1), description="one"), now=day(2))
    await stored(
        deps, change(fresh_citizen, "supersede", "a", effective_at=moment(200), description="x"), now=day(3)
    )
    await stored(deps, change(fresh_citizen, "correct", "a", description="two"), now=day(4))
    await stored(deps, change(fresh_citizen, "retract", "a"), now=day(5))
    told = await learning_page(fresh_citizen, LearningPage(), deps, day(6))
    beliefs = [(one.original_belief, one.corrected_belief) for one in told.dissonances]
    assert ("one", "two") in beliefs
