"""An id with several valid times, each begun by its own command: each of these can be sent again."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.writing import atomic
from schemas.commands import Command, Correct, CorrectLink, Retract, WriteReceipt
from schemas.temporal import to_datetime
from tests.integration.store import NOW, day, moment, relate, remember, send, stored


def beginnings(citizen: str, of_link: bool) -> list[Command]:
    """Two commands that begin the same identity, at two times."""
    times: list[dict[str, Any]] = [
        {"valid_at": moment(1), "invalid_at": moment(5), "energy": 0.1},
        {"valid_at": moment(10), "energy": 0.2},
    ]
    if of_link:
        return [relate(citizen, "a", "b", **one) for one in times]
    return [remember(citizen, "a", **one) for one in times]


async def again(deps: Deps, command: Command, *, together: bool) -> WriteReceipt:
    (receipt,) = await atomic.apply([command], deps, NOW) if together else await send(deps, command)
    return receipt


@pytest.mark.parametrize("of_link", [False, True])
@pytest.mark.parametrize("together", [False, True])
async def test_each_beginning_that_is_sent_again_gets_its_own_receipt(
    deps: Deps, fresh_citizen: str, together: bool, of_link: bool
) -> None:
    if of_link:
        await stored(deps, *[remember(fresh_citizen, name, valid_at=moment(1)) for name in "ab"], now=day(1))
    first, second = beginnings(fresh_citizen, of_link)
    told = [*await stored(deps, first, now=day(2)), *await stored(deps, second, now=day(3))]
    for command, receipt in zip((first, second), told, strict=True):
        same = await again(deps, command, together=together)
        assert (same.status, same.duplicate, same.faults) == ("stored", True, ())
        assert (same.version, same.valid_at, same.created_at) == (
            receipt.version,
            receipt.valid_at,
            receipt.created_at,
        )
    other = second.model_copy(update={"energy": 0.9})
    assert (await again(deps, other, together=together)).problem == "conflict"


async def test_a_retracted_id_that_is_told_again_word_for_word_has_its_place_in_the_list(
    deps: Deps, fresh_citizen: str
) -> None:
    one = remember(fresh_citizen, "a", valid_at=moment(1))
    await stored(deps, one, Retract(citizen_id=fresh_citizen, id="a"), now=NOW)
    told = [
        remember(fresh_citizen, "b", valid_at=moment(2)),
        one,
        remember(fresh_citizen, "c", valid_at=moment(2)),
    ]
    receipts = await stored(deps, *told, now=NOW + 100)
    assert [receipt.created_at for receipt in receipts] == [to_datetime(NOW + 100 + place) for place in range(3)]


async def test_an_id_that_holds_again_gets_the_moment_of_its_place_in_a_list(
    deps: Deps, fresh_citizen: str
) -> None:
    await stored(deps, remember(fresh_citizen, "a", valid_at=moment(1), invalid_at=moment(5)))
    told = [remember(fresh_citizen, name, valid_at=moment(10), energy=0.3) for name in ("b", "a", "c")]
    receipts = await stored(deps, *told, now=NOW + 100)
    assert [receipt.created_at for receipt in receipts] == [to_datetime(NOW + 100 + place) for place in range(3)]


@pytest.mark.parametrize("changed", [False, True])
@pytest.mark.parametrize("of_link", [False, True])
@pytest.mark.parametrize("together", [False, True])
async def test_a_record_begun_before_the_clock_was_set_back_is_a_duplicate_when_it_is_sent_again(
    deps: Deps, fresh_citizen: str, together: bool, of_link: bool, changed: bool
) -> None:
    citizen = fresh_citizen
    await stored(deps, *[remember(citizen, name, valid_at=moment(1)) for name in "bc"], now=day(2))
    command = relate(citizen, "b", "c") if of_link else remember(citizen, "a")
    (told,) = await stored(deps, command, now=NOW + 1000)
    change: Any = {"citizen_id": citizen, "id": told.id, "energy": 0.3, "valid_from": moment(200)}
    if changed:
        await stored(deps, CorrectLink(**change) if of_link else Correct(**change), now=NOW + 2000)
    same = await again(deps, command, together=together)
    assert same.faults == ()
    assert same.model_dump(exclude={"command_id", "duplicate"}) == told.model_dump(
        exclude={"command_id", "duplicate"}
    )
    assert (told.duplicate, same.duplicate) == (False, True)
    other = command.model_copy(update={"energy": 0.9})
    assert (await again(deps, other, together=together)).problem == "conflict"


@pytest.mark.parametrize("together", [False, True])
async def test_a_future_record_is_no_earlier_sending_however_far_the_clock_was_set_back(
    deps: Deps, fresh_citizen: str, together: bool
) -> None:
    change: Any = {"citizen_id": fresh_citizen, "id": "a"}
    await stored(deps, remember(fresh_citizen, "a"), now=NOW + 1000)
    await stored(deps, Retract(**change, valid_from=to_datetime(NOW + 1000), valid_to=moment(200)), now=NOW + 2000)
    refused = await again(deps, remember(fresh_citizen, "a"), together=together)
    assert refused.problem == "conflict"
