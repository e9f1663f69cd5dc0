"""An undo reverts the last change by new records; the mistake stays visible in the past."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from orchestration.writing import atomic
from schemas.commands import ANY_COMMAND
from schemas.intention import StateBasedRetrieval
from tests.integration.store import NOW, ask, day, found, history, moment, remember, send, stored


def command(citizen: str, kind: str, **fields: Any) -> Any:
    return ANY_COMMAND.validate_python({"command": kind, "citizen_id": citizen, "id": "walk", **fields})


async def walk(deps: Deps, citizen: str, **fields: Any) -> None:
    """A memory since day 1, known since day 2."""
    since = {"valid_at": moment(1), "description": "along the canal", "tags": ["water"], **fields}
    await stored(deps, remember(citizen, "walk", **since), now=day(2))


def content(record: Any) -> tuple[Any, ...]:
    end = record.invalid_at or moment(9999)
    return (record.valid_at, end, record.description, record.tags, record.energy, record.emotion_vector,
            record.resolution_state)  # fmt: skip


async def known(deps: Deps, citizen: str) -> list[tuple[Any, ...]]:
    """What is believed of the memory, over all valid time."""
    records = await history(deps, citizen, "walk")
    assert sorted(one.version for one in records) == list(range(1, len(records) + 1))
    return sorted(content(one) for one in records if one.expired_at is None)


async def shown(deps: Deps, citizen: str, text: str, now: float, **when: Any) -> list[str]:
    stream = await ask(deps, citizen, text, now=day(now), **when)
    return [memory.description for memory in found(stream)]


CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("supersede", {"description": "up the hill", "effective_at": moment(5), "tags": ["stone"]}),
    ("supersede", {"description": "up the hill", "effective_at": moment(50)}),
    ("correct", {"description": "up the hill", "emotion_vector": {"joy": 0.4}, "energy": 0.1}),
    ("resolve", {}),
    ("retract", {"effective_at": moment(5)}),
    ("retract", {}),
]


@pytest.mark.parametrize(("kind", "fields"), CHANGES)
async def test_an_undo_brings_back_what_was_believed_and_another_the_change(
    deps: Deps, fresh_citizen: str, kind: str, fields: dict[str, Any]
) -> None:
    await walk(deps, fresh_citizen)
    before, before_text = await known(deps, fresh_citizen), await shown(deps, fresh_citizen, "canal", 3)
    await stored(deps, command(fresh_citizen, kind, **fields), now=day(10))
    changed, changed_text = await known(deps, fresh_citizen), await shown(deps, fresh_citizen, "canal", 60)
    for turn in range(3):
        await stored(deps, command(fresh_citizen, "undo"), now=day(20 + turn))
        assert await known(deps, fresh_citizen) == (changed if turn % 2 else before)
        expected = changed_text if turn % 2 else before_text
        assert await shown(deps, fresh_citizen, "canal", 60) == expected


@pytest.mark.parametrize(("kind", "fields"), CHANGES)
async def test_the_past_keeps_the_mistake(
    deps: Deps, fresh_citizen: str, kind: str, fields: dict[str, Any]
) -> None:
    await walk(deps, fresh_citizen)
    await stored(deps, command(fresh_citizen, kind, **fields), now=day(10))
    asked = [(as_of, known_at) for as_of in (3, 6, 55) for known_at in (5, 15)]

    async def answers(now: float) -> list[list[str]]:
        past = {"temporal_mode": "point_in_time"}
        return [
            await shown(deps, fresh_citizen, "the walk", now, **past, as_of_time=moment(a), known_at=moment(k))
            for a, k in asked
        ]

    told = await answers(16)
    await stored(deps, command(fresh_citizen, "undo"), now=day(20))
    assert await answers(21) == told


async def test_an_undo_names_what_came_later(deps: Deps, fresh_citizen: str) -> None:
    await walk(deps, fresh_citizen)
    await stored(deps, command(fresh_citizen, "correct", energy=0.1, command_id="first"), now=day(10))
    await stored(deps, command(fresh_citizen, "correct", energy=0.2, command_id="second"), now=day(11))
    before = await history(deps, fresh_citizen, "walk")
    receipts = await send(
        deps,
        command(fresh_citizen, "undo", undoes="first"),
        command(fresh_citizen, "undo", undoes="never sent"),
        command(fresh_citizen, "undo", expected_version=2),
        now=day(12),
    )
    assert [(receipt.problem, receipt.current_version) for receipt in receipts] == [
        ("conflict", 3), ("conflict", 3), ("conflict", 3)]  # fmt: skip
    assert "second" in receipts[0].faults[0]
    assert await history(deps, fresh_citizen, "walk") == before
    await stored(deps, command(fresh_citizen, "undo", undoes="second"), now=day(13))


async def test_a_memory_without_changes_cannot_be_undone(deps: Deps, fresh_citizen: str) -> None:
    await walk(deps, fresh_citizen)
    (receipt,) = await send(deps, command(fresh_citizen, "undo"))
    assert (receipt.problem, receipt.faults) == ("conflict", ("nothing was changed since it was written",))


async def test_an_undo_sent_again_is_done_once(deps: Deps, fresh_citizen: str) -> None:
    await walk(deps, fresh_citizen)
    await stored(deps, command(fresh_citizen, "correct", energy=0.1), now=day(10))
    undo = command(fresh_citizen, "undo", command_id="u1")
    (first,) = await stored(deps, undo, now=day(11))
    (again,) = await stored(deps, undo, now=day(12))
    assert again == first.model_copy(update={"duplicate": True})
    assert len(await history(deps, fresh_citizen, "walk")) == 3


async def test_both_ends_of_a_record_keep_their_reasons(deps: Deps, fresh_citizen: str) -> None:
    await walk(deps, fresh_citizen)
    ended = command(fresh_citizen, "retract", effective_at=moment(5), reason="reality_changed", command_id="end")
    await stored(deps, ended, command(fresh_citizen, "correct", energy=0.1, command_id="mend"), now=day(10))
    first, second, third = await history(deps, fresh_citizen, "walk")
    told = [(one.invalidation_reason, one.closed_reason) for one in (first, second, third)]
    changed, false = "reality_changed", "discovered_false"
    assert told == [(changed, changed), (changed, false), (changed, None)]
    assert [(one.command_id, one.closed_by) for one in (second, third)] == [("end", "mend"), ("mend", None)]


# --- receipts --------------------------------------------------------------------------------------------


async def test_a_command_id_is_that_of_one_command_in_a_graph(deps: Deps, fresh_citizen: str) -> None:
    await walk(deps, fresh_citizen)
    (first,) = await stored(deps, remember(fresh_citizen, "talk", command_id="c1"))
    other = [
        remember(fresh_citizen, "song", command_id="c1"),
        command(fresh_citizen, "correct", energy=0.1, command_id="c1"),
        command(fresh_citizen, "retract", command_id="c1"),
        command(fresh_citizen, "undo", command_id="c1"),
    ]
    receipts = await send(deps, *other)
    assert [receipt.problem for receipt in receipts] == ["conflict"] * len(other)
    (again,) = await stored(deps, remember(fresh_citizen, "talk", command_id="c1"))
    assert again == first.model_copy(update={"duplicate": True})
    elsewhere = f"{fresh_citizen}.other"
    (receipt,) = await stored(deps, remember(elsewhere, "song", command_id="c1"))
    assert not receipt.duplicate


async def test_a_command_that_repeats_stored_content_gets_its_own_receipt(deps: Deps, fresh_citizen: str) -> None:
    (first,) = await stored(deps, remember(fresh_citizen, "talk", command_id="c1"))
    (again,) = await stored(deps, remember(fresh_citizen, "talk", command_id="c2"))
    assert (again.duplicate, again.created_at) == (True, first.created_at)
    (other,) = await send(deps, remember(fresh_citizen, "song", command_id="c2"))
    assert other.problem == "conflict"


async def test_a_write_is_visible_at_once_though_the_clock_stands_still(deps: Deps, fresh_citizen: str) -> None:
    await walk(deps, fresh_citizen)
    for number in range(3):
        await stored(deps, command(fresh_citizen, "correct", description=f"walk {number}"), now=NOW)
        assert await shown(deps, fresh_citizen, "walk", 100) == [f"walk {number}"]


async def test_waking_sees_the_present_of_a_memory_with_a_scheduled_change(deps: Deps, fresh_citizen: str) -> None:
    await walk(deps, fresh_citizen, resolution_state="in_progress", energy=0.7)
    later = command(fresh_citizen, "supersede", description="up the hill", effective_at=moment(11))
    await stored(deps, later, now=day(9))

    async def woken(when: float) -> list[str]:
        state = {"citizen_id": fresh_citizen, "query_mode": "find_what_i_was_doing", "query_levels": ["N1"],
                 "current_energy": 0.5, "current_emotions": {}}  # fmt: skip
        asked = StateBasedRetrieval.model_validate(state)
        stream = await retrieve_consciousness_context_from_state(asked, deps, day(when))
        return [memory.description for memory in found(stream)]

    assert (await woken(10), await woken(12)) == (["along the canal"], ["up the hill"])


async def test_a_write_after_the_clock_was_set_back_is_still_known_later(deps: Deps, fresh_citizen: str) -> None:
    await walk(deps, fresh_citizen)
    moments = []
    for number, now in enumerate((day(100), day(40), day(99), day(3))):
        [receipt] = await stored(deps, command(fresh_citizen, "correct", description=f"walk {number}"), now=now)
        assert receipt.created_at is not None
        moments.append(receipt.created_at)
    assert moments == sorted(set(moments))
    spans = [(one.created_at, one.expired_at) for one in await history(deps, fresh_citizen, "walk")]
    assert all(earlier[1] == later[0] for earlier, later in pairwise(spans))


@pytest.mark.parametrize("undoes", ["first", "second"])
async def test_any_command_of_an_atomic_list_names_the_change_that_they_made_together(
    deps: Deps, fresh_citizen: str, undoes: str
) -> None:
    await walk(deps, fresh_citizen)
    before = await known(deps, fresh_citizen)
    changes = [
        command(fresh_citizen, "supersede", command_id="first", effective_at=moment(5), description="up the hill"),
        command(fresh_citizen, "correct", command_id="second", energy=0.1),
    ]
    assert [one.status for one in await atomic.apply(changes, deps, NOW)] == ["stored", "stored"]
    await stored(deps, command(fresh_citizen, "undo", undoes=undoes))
    records = await history(deps, fresh_citizen, "walk")
    assert [content(one) for one in records if one.expired_at is None] == before


async def test_a_memory_written_and_changed_by_one_atomic_list_has_no_later_change_to_undo(
    deps: Deps, fresh_citizen: str
) -> None:
    written = [
        remember(fresh_citizen, "walk", valid_at=moment(1)),
        command(fresh_citizen, "supersede", effective_at=moment(5), description="up the hill"),
    ]
    assert [one.status for one in await atomic.apply(written, deps, NOW)] == ["stored", "stored"]
    (receipt,) = await send(deps, command(fresh_citizen, "undo"))
    assert receipt.problem == "conflict"
