"""Links follow the same rules of time as memories."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.identifiers import link_name
from orchestration.writing import atomic
from schemas.commands import ANY_COMMAND, Retract
from schemas.memory import Level, LinkRecord
from substrate.graphs.names import graph_name
from substrate.store import reader, rows
from tests.integration.store import NOW, ask, day, links, moment, relate, remember, send, stored

NATURAL = "a|NEXT|b"


async def history(deps: Deps, citizen: str, link_id: str) -> list[LinkRecord]:
    found = await reader.link_history(deps.graph(graph_name(Level.N1, citizen)), link_name(link_id))
    return [rows.link_record(row, Level.N1) for row in found]


async def joined(deps: Deps, citizen: str, **fields: Any) -> str:
    """Two memories with a link between, since day 1; the id of the link."""
    since = {"valid_at": moment(1)}
    receipts = await stored(
        deps,
        remember(citizen, "a", description="the harbour at night", **since),
        remember(citizen, "b", description="a lamp", **since),
        relate(citizen, "a", "b", **since, **fields),
        now=day(2),
    )
    return str(receipts[-1].id)


def change(citizen: str, kind: str, link_id: str, **fields: Any) -> Any:
    return ANY_COMMAND.validate_python({"command": kind, "citizen_id": citizen, "id": link_id, **fields})


CHANGES: list[tuple[str, dict[str, Any], list[tuple[int, int, int | None, bool, float, str]]]] = [
    ("supersede_link", {"energy": 0.2, "effective_at": moment(5)},
     [(1, 1, None, False, 0.7, "in_progress"), (2, 1, 5, True, 0.7, "in_progress"),
      (3, 5, None, True, 0.2, "in_progress")]),
    ("supersede_link", {"energy": 0.2, "effective_at": moment(50)},
     [(1, 1, None, False, 0.7, "in_progress"), (2, 1, 50, True, 0.7, "in_progress"),
      (3, 50, None, True, 0.2, "in_progress")]),
    ("correct_link", {"energy": 0.2},
     [(1, 1, None, False, 0.7, "in_progress"), (2, 1, None, True, 0.2, "in_progress")]),
    ("resolve_link", {},
     [(1, 1, None, False, 0.7, "in_progress"), (2, 1, 10, True, 0.7, "in_progress"),
      (3, 10, None, True, 0.7, "resolved")]),
    ("resolve_link", {"effective_at": moment(1)},
     [(1, 1, None, False, 0.7, "in_progress"), (2, 1, None, True, 0.7, "resolved")]),
    ("unrelate", {"effective_at": moment(5)},
     [(1, 1, None, False, 0.7, "in_progress"), (2, 1, 5, True, 0.7, "in_progress")]),
    ("unrelate", {}, [(1, 1, None, False, 0.7, "in_progress")]),
]  # fmt: skip


@pytest.mark.parametrize("own_id", ["a link", None])
@pytest.mark.parametrize(("kind", "fields", "expected"), CHANGES)
async def test_a_change_of_a_link_closes_and_opens_records(
    deps: Deps, fresh_citizen: str, own_id: str | None, kind: str, fields: dict[str, Any], expected: Any
) -> None:
    link_id = await joined(deps, fresh_citizen, id=own_id)
    command = change(fresh_citizen, kind, link_id, command_id="c1", **fields)
    (receipt,) = await stored(deps, command, now=day(10))
    records = await history(deps, fresh_citizen, link_id)
    told = [
        (
            one.version,
            (one.valid_at - moment(1)).days + 1,
            None if one.invalid_at is None else (one.invalid_at - moment(1)).days + 1,
            one.expired_at is None,
            one.energy,
            one.resolution_state.value,
        )
        for one in records
    ]
    assert told == expected
    assert (records[0].expired_at, records[0].closed_by) == (moment(10), "c1")
    assert [one.command_id for one in records[1:]] == ["c1"] * (len(records) - 1)
    assert (receipt.version, receipt.created_at) == (expected[-1][0], moment(10))
    (again,) = await stored(deps, command, now=day(11))
    assert again == receipt.model_copy(update={"duplicate": True})
    assert await history(deps, fresh_citizen, link_id) == records


@pytest.mark.parametrize("own_id", ["a link", None])
@pytest.mark.parametrize(("kind", "fields", "expected"), CHANGES)
async def test_a_change_of_a_link_is_undone_and_done_again(
    deps: Deps, fresh_citizen: str, own_id: str | None, kind: str, fields: dict[str, Any], expected: Any
) -> None:
    link_id = await joined(deps, fresh_citizen, id=own_id)

    async def now_open() -> list[tuple[Any, ...]]:
        records = await history(deps, fresh_citizen, link_id)
        versions = [one.version for one in records]
        assert sorted(versions) == list(range(1, len(records) + 1))
        held = [one for one in records if one.expired_at is None]
        return sorted((one.valid_at, one.invalid_at or moment(9999), one.energy, one.resolution_state.value)
                      for one in held)  # fmt: skip

    before = await now_open()
    await stored(deps, change(fresh_citizen, kind, link_id, **fields), now=day(10))
    changed = await now_open()
    for turn in range(3):
        await stored(deps, change(fresh_citizen, "undo_link", link_id), now=day(11 + turn))
        assert await now_open() == (changed if turn % 2 else before)


async def test_a_link_is_found_as_it_was_at_each_moment(deps: Deps, fresh_citizen: str) -> None:
    link_id = await joined(deps, fresh_citizen)
    await stored(
        deps,
        change(fresh_citizen, "supersede_link", link_id, energy=0.2, effective_at=moment(30)),
        now=day(10),
    )

    async def energies(now: float, **when: Any) -> list[float]:
        stream = await ask(deps, fresh_citizen, "the harbour at night", now=day(now), **when)
        return [one.energy for one in stream.levels["n1_personal"].relationships]

    assert await energies(11) == [0.7]  # the change lies ahead
    assert await energies(31) == [0.2]
    past = {"temporal_mode": "point_in_time"}
    assert await energies(31, **past, as_of_time=moment(5)) == [0.7]
    assert await energies(31, **past, as_of_time=moment(29), known_at=moment(12)) == [0.7]
    assert await energies(31, **past, as_of_time=moment(40), known_at=moment(9)) == [0.7]
    assert await energies(31, **past, as_of_time=moment(40), known_at=moment(12)) == [0.2]
    await stored(deps, change(fresh_citizen, "unrelate", link_id), now=day(32))
    assert await energies(33) == []
    assert await energies(33, **past, as_of_time=moment(31)) == [0.2]


async def test_a_link_to_a_retracted_memory_is_not_shown(deps: Deps, fresh_citizen: str) -> None:
    await joined(deps, fresh_citizen)
    await stored(deps, Retract(citizen_id=fresh_citizen, id="b"), now=day(10))
    stream = await ask(deps, fresh_citizen, "the harbour at night", now=day(11))
    assert stream.levels["n1_personal"].relationships == ()
    past: dict[str, Any] = {"temporal_mode": "point_in_time", "as_of_time": moment(5)}
    stream = await ask(deps, fresh_citizen, "the harbour at night", now=day(11), **past)
    assert [one.link_id for one in stream.levels["n1_personal"].relationships] == [NATURAL]


async def test_changing_a_fixed_field_of_a_link_is_refused_and_changes_nothing(
    deps: Deps, fresh_citizen: str
) -> None:
    link_id = await joined(deps, fresh_citizen)
    before = await history(deps, fresh_citizen, link_id)
    receipts = await send(
        deps,
        change(fresh_citizen, "correct_link", link_id, energy=0.1, expected_version=4),
        change(fresh_citizen, "supersede_link", link_id, energy=0.1, effective_at=moment(0)),
        change(fresh_citizen, "correct_link", "a|NEXT|nobody", energy=0.1),
        change(fresh_citizen, "unrelate", "no such link"),
        change(fresh_citizen, "undo_link", link_id),
        now=day(10),
    )
    problems = [(receipt.problem, receipt.current_version) for receipt in receipts]
    refused, missing = ("invalid-request", 1), ("not-found", None)
    assert problems == [("conflict", 1), refused, missing, missing, ("conflict", 1)]
    assert await history(deps, fresh_citizen, link_id) == before


@pytest.mark.parametrize("own_id", ["a link", None])
async def test_a_withdrawn_link_is_no_more_corrected_and_may_hold_again(
    deps: Deps, fresh_citizen: str, own_id: str | None
) -> None:
    link_id = await joined(deps, fresh_citizen, id=own_id)
    await stored(deps, change(fresh_citizen, "unrelate", link_id), now=day(10))
    assert await links(deps, fresh_citizen) == []
    (receipt,) = await send(deps, change(fresh_citizen, "correct_link", link_id, energy=0.1), now=day(11))
    assert (receipt.problem, receipt.current_version) == ("conflict", 1)
    await stored(deps, change(fresh_citizen, "undo_link", link_id), now=day(12))
    assert [link.link_id for link in await links(deps, fresh_citizen)] == [link_id]
    await stored(deps, change(fresh_citizen, "unrelate", link_id, effective_at=moment(12)), now=day(13))
    await stored(deps, relate(fresh_citizen, "a", "b", id=own_id, energy=0.2), now=day(14))
    records = [one for one in await history(deps, fresh_citizen, link_id) if one.expired_at is None]
    held = [(one.valid_at, one.invalid_at, one.energy) for one in records]
    assert held == [(moment(1), moment(12), 0.7), (moment(14), None, 0.2)]


@pytest.mark.parametrize("own_id", [False, True])
async def test_version_numbers_that_a_list_reported_are_not_used_again(
    deps: Deps, fresh_citizen: str, own_id: bool
) -> None:
    link_id = await joined(deps, fresh_citizen, **({"id": "own"} if own_id else {}))
    listed = [
        change(fresh_citizen, "supersede_link", link_id, energy=0.1),
        change(fresh_citizen, "unrelate", link_id),
    ]
    told = [receipt.version or 0 for receipt in await atomic.apply(listed, deps, NOW)]
    for kind, fields in (("undo_link", {}), ("correct_link", {"energy": 0.2})):
        (receipt,) = await stored(deps, change(fresh_citizen, kind, link_id, **fields), now=NOW + len(told))
        assert (receipt.version or 0) > max(told)
        told.append(receipt.version or 0)
    assert [one.version for one in await history(deps, fresh_citizen, link_id)] == [1, 2, *told[2:]]
