"""What was open and is told as solved is closed by inference: once, marked, and never against what was given."""

from __future__ import annotations

import asyncio
from typing import Any
from unittest.mock import AsyncMock

import pytest

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.features.offers.feature import find_open
from orchestration.features.sharing import queries as sharing
from orchestration.ingestion.hearing import NewMessages, hear_messages
from orchestration.ingestion.storing import Job
from orchestration.upkeep.sweep import SweepJob
from orchestration.writing import erasure, thread_closing
from schemas.commands import ANY_COMMAND, EraseEpisode, EraseMemory
from schemas.memory import Level, MemoryRecord, ResolutionState, Source
from substrate.graphs.names import GraphOf, graph_name
from substrate.store import erasure as store
from substrate.store import reader, rows
from tests.integration.store import day, links, moment, relate, remember, stored
from tests.upkeep_runs import run_job

OPEN = "I'm blocked on the glass case, the supplier in Hamburg won't ship it."
SOLVED = "The glass case from Hamburg is standing in the room, that's finally sorted."


async def tell(deps: Deps, citizen: str, memory_id: str, text: str, on: float, **fields: Any) -> None:
    """Store what the citizen tells on a day."""
    told = remember(citizen, memory_id, description=text, valid_at=moment(on), **fields)
    await stored(deps, told, now=day(on))


async def states(deps: Deps, citizen: str, memory_id: str) -> list[tuple[ResolutionState | None, bool]]:
    """The state of each record of a memory that is still believed, by valid time, and whether it was inferred."""
    found = await reader.history(deps.graph(graph_name(Level.N1, citizen)), memory_id)
    records: list[MemoryRecord] = [rows.memory_record(row, Level.N1) for row in found]
    believed = sorted((each for each in records if each.expired_at is None), key=lambda each: each.valid_at)
    return [(each.resolution_state, "resolution_state" in each.unset) for each in believed]


async def solutions(deps: Deps, citizen: str) -> list[tuple[str, str]]:
    found = await links(deps, citizen)
    return [(link.source_id, link.target_id) for link in found if link.relation_type == "RESOLVED_BY"]


async def test_a_thread_told_as_solved_is_closed_from_then_on_and_linked(deps: Deps, fresh_citizen: str) -> None:
    await tell(deps, fresh_citizen, "open", OPEN, 1)
    await tell(deps, fresh_citizen, "other", "I'm still waiting for the tax office about my refund.", 2)
    await tell(deps, fresh_citizen, "solved", SOLVED, 20)
    assert await solutions(deps, fresh_citizen) == [("open", "solved")]
    assert await states(deps, fresh_citizen, "open") == [
        (ResolutionState.BLOCKED, True), (ResolutionState.RESOLVED, True)
    ]  # fmt: skip
    assert await states(deps, fresh_citizen, "other") == [(ResolutionState.BLOCKED, True)]


async def test_a_thread_is_solved_once_and_can_be_opened_again_by_a_new_memory(
    deps: Deps, fresh_citizen: str
) -> None:
    await tell(deps, fresh_citizen, "open", OPEN, 1)
    await tell(deps, fresh_citizen, "solved", SOLVED, 20)
    await tell(deps, fresh_citizen, "twice", "As I said, the glass case from Hamburg is sorted.", 21)
    await tell(
        deps, fresh_citizen, "again", "The glass case broke, I'm stuck again with the supplier in Hamburg.", 30
    )
    await tell(deps, fresh_citizen, "mended", "The new glass case from Hamburg is here, sorted at last.", 40)
    assert await solutions(deps, fresh_citizen) == [("again", "mended"), ("open", "solved")]


@pytest.mark.parametrize(
    "text", ["Tom says the glass case from Hamburg is sorted?", "If only the glass case were sorted."]
)
async def test_a_question_or_a_wish_solves_nothing(deps: Deps, fresh_citizen: str, text: str) -> None:
    await tell(deps, fresh_citizen, "open", OPEN, 1)
    await tell(deps, fresh_citizen, "solved", text, 20)
    assert await solutions(deps, fresh_citizen) == []


async def test_a_source_that_may_not_change_the_open_memory_leaves_it_open(deps: Deps, fresh_citizen: str) -> None:
    await tell(deps, fresh_citizen, "open", OPEN, 1)
    await tell(deps, fresh_citizen, "solved", SOLVED, 20, source=Source.INGESTION, speaker="Unknown")
    assert await states(deps, fresh_citizen, "open") == [(ResolutionState.BLOCKED, True)]


async def test_steps_on_the_way_are_linked_to_the_solution(deps: Deps, fresh_citizen: str) -> None:
    await tell(deps, fresh_citizen, "open", OPEN, 1)
    step = "I decided to call another supplier in Hamburg about the glass case."
    await tell(deps, fresh_citizen, "step", step, 5)
    await tell(deps, fresh_citizen, "solved", SOLVED, 20)
    led = [
        (link.source_id, link.target_id)
        for link in await links(deps, fresh_citizen)
        if link.relation_type == "LED_TO"
    ]
    assert led == [("step", "solved")]


async def test_a_resolution_that_is_given_later_is_no_longer_marked(deps: Deps, fresh_citizen: str) -> None:
    await tell(deps, fresh_citizen, "open", OPEN, 1)
    given = {"command": "resolve", "citizen_id": fresh_citizen, "id": "open", "resolution_state": "in_progress"}
    await stored(deps, ANY_COMMAND.validate_python({**given, "effective_at": moment(3)}), now=day(4))
    await tell(deps, fresh_citizen, "solved", SOLVED, 20)
    assert await states(deps, fresh_citizen, "open") == [
        (ResolutionState.BLOCKED, True), (ResolutionState.IN_PROGRESS, False)
    ]  # fmt: skip


async def test_in_a_shared_graph_nothing_is_closed(deps: Deps, fresh_citizen: str) -> None:
    marked = {"level": "N2", "valid_at": moment(1), "energy": 0.5}
    opened, solved = f"{fresh_citizen}-open", f"{fresh_citizen}-solved"
    await stored(deps, remember(fresh_citizen, opened, description=OPEN, **marked), now=day(1))
    told = {**marked, "valid_at": moment(20)}
    await stored(deps, remember(fresh_citizen, solved, description=SOLVED, **told), now=day(20))
    records = await reader.history(deps.graph(graph_name(Level.N2, None)), opened)
    assert [rows.memory_record(row, Level.N2).resolution_state for row in records] == [ResolutionState.BLOCKED]


async def test_what_waits_for_a_thread_that_was_told_as_solved_is_offered_to_go_on(
    deps: Deps, fresh_citizen: str
) -> None:
    await tell(deps, fresh_citizen, "open", OPEN, 1)
    await tell(deps, fresh_citizen, "trip", "The trip to the coast.", 2, resolution_state="blocked")
    waits = relate(fresh_citizen, "trip", "open", relation_type="BLOCKED_BY", valid_at=moment(2))
    await stored(deps, waits, now=day(2))
    whose = GraphOf(Level.N1, fresh_citizen)
    assert await find_open(whose, deps, day(3)) == []
    await tell(deps, fresh_citizen, "solved", SOLVED, 20)
    [found] = await find_open(whose, deps, day(21))
    assert (found.offer.kind, found.offer.memory_id, found.other_id) == ("unblock", "trip", "open")


async def test_a_closing_that_a_dying_process_left_out_is_done_by_the_next_sweep(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(deps, fresh_citizen, "open", OPEN, 1)
    with monkeypatch.context() as dying:
        dying.setattr(thread_closing, "close_threads", AsyncMock(side_effect=asyncio.CancelledError))
        with pytest.raises(asyncio.CancelledError):
            await tell(deps, fresh_citizen, "solved", SOLVED, 20)
    assert await solutions(deps, fresh_citizen) == []
    for number in range(2):
        await run_job(SweepJob(), deps, fresh_citizen, day(21 + number))
        assert await solutions(deps, fresh_citizen) == [("open", "solved")]
        assert await states(deps, fresh_citizen, "open") == [
            (ResolutionState.BLOCKED, True), (ResolutionState.RESOLVED, True)
        ]  # fmt: skip


async def test_a_closing_that_was_taken_back_is_not_made_again_by_a_sweep(deps: Deps, fresh_citizen: str) -> None:
    await tell(deps, fresh_citizen, "open", OPEN, 1)
    await tell(deps, fresh_citizen, "solved", SOLVED, 20)
    undo = {"command": "undo", "citizen_id": fresh_citizen, "id": "open"}
    await stored(deps, ANY_COMMAND.validate_python(undo), now=day(21))
    await run_job(SweepJob(), deps, fresh_citizen, day(22))
    assert await states(deps, fresh_citizen, "open") == [(ResolutionState.BLOCKED, True)]


AGAIN: tuple[str, ...] = ("open is open again: what told it as solved is gone",)


@pytest.mark.parametrize(
    "way", ["retracted", "retracted in a list", "erased", "erased with its episode", "by a policy"]
)
async def test_what_told_a_thread_as_solved_goes_and_the_thread_is_open_again(
    deps: Deps, fresh_citizen: str, way: str
) -> None:
    await tell(deps, fresh_citizen, "open", OPEN, 1)
    await tell(deps, fresh_citizen, "solved", SOLVED, 20, episode_id="talk")
    graph = deps.graph(graph_name(Level.N1, fresh_citizen))
    said = AGAIN
    if way == "by a policy":
        await erasure.erase_memories(["solved"], graph, deps, day(22))
    elif way.startswith("erased"):
        command = EraseMemory(citizen_id=fresh_citizen, id="solved")
        whole = EraseEpisode(citizen_id=fresh_citizen, episode_id="talk")
        report = await erasure.erase(whole if "episode" in way else command, deps, day(22), deps.directory)
        said = report.notes[:1]
    else:
        retract = ANY_COMMAND.validate_python({"command": "retract", "citizen_id": fresh_citizen, "id": "solved"})
        send = insertion.apply_atomically if "list" in way else insertion.apply
        said = (await send([retract], deps, day(22)))[0].warnings
    assert said == AGAIN
    assert await states(deps, fresh_citizen, "open") == [(ResolutionState.BLOCKED, True)]


async def test_a_thread_that_goes_with_its_solution_is_not_told_as_open_again(
    deps: Deps, fresh_citizen: str
) -> None:
    await tell(deps, fresh_citizen, "open", OPEN, 1, episode_id="talk")
    await tell(deps, fresh_citizen, "solved", SOLVED, 20, episode_id="talk")
    whole = EraseEpisode(citizen_id=fresh_citizen, episode_id="talk")
    assert (await erasure.erase(whole, deps, day(22), deps.directory)).notes == ()


async def test_the_last_turn_of_a_long_talk_goes_and_the_thread_is_open_again(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "ROWS_A_PAGE", 2)
    monkeypatch.setattr(sharing, "MEMORIES_A_PAGE", 2)
    await tell(deps, fresh_citizen, "open", OPEN, 1)
    for number in range(5):
        await tell(deps, fresh_citizen, f"turn {number}", f"The weather {number}.", 2 + number, episode_id="talk")
    await tell(deps, fresh_citizen, "solved", SOLVED, 20, episode_id="talk")
    whole = EraseEpisode(citizen_id=fresh_citizen, episode_id="talk")
    assert (await erasure.erase(whole, deps, day(22), deps.directory)).notes == AGAIN
    assert await states(deps, fresh_citizen, "open") == [(ResolutionState.BLOCKED, True)]


async def test_a_thread_is_open_again_when_another_process_finishes_the_erasure(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(deps, fresh_citizen, "open", OPEN, 1)
    await tell(deps, fresh_citizen, "solved", SOLVED, 20)
    begin = store.begin

    async def die(*words: Any) -> None:
        await begin(*words)
        raise asyncio.CancelledError

    with monkeypatch.context() as dying:
        dying.setattr(store, "begin", die)
        with pytest.raises(asyncio.CancelledError):
            await erasure.erase(EraseMemory(citizen_id=fresh_citizen, id="solved"), deps, day(22), deps.directory)
    await erasure.finish_broken_off(erasure.ErasedStore(deps.connection, deps.directory, deps.features, deps))
    assert await states(deps, fresh_citizen, "solved") == []
    assert await states(deps, fresh_citizen, "open") == [(ResolutionState.BLOCKED, True)]


async def test_an_erased_thread_is_not_named_by_the_receipt_that_opened_it(deps: Deps, fresh_citizen: str) -> None:
    await tell(deps, fresh_citizen, "open", OPEN, 1)
    await tell(deps, fresh_citizen, "solved", SOLVED, 20)
    retract = {"command": "retract", "command_id": "back", "citizen_id": fresh_citizen, "id": "solved"}
    for moved in (22, 23):  # the first receipt is the receipt
        [said] = await stored(deps, ANY_COMMAND.validate_python(retract), now=day(moved))
        assert said.warnings == AGAIN
    await erasure.erase(EraseMemory(citizen_id=fresh_citizen, id="open"), deps, day(24), deps.directory)
    graph = deps.graph(graph_name(Level.N1, fresh_citizen))
    assert (await reader.receipts(graph, ["back"]))["back"].told is None


async def test_a_turn_that_is_deleted_solved_nothing(deps: Deps, fresh_citizen: str) -> None:
    messages: list[dict[str, Any]] = [
        {"id": str(number), "role": "user", "content": text, "timestamp": moment(number + 1).isoformat()}
        for number, text in enumerate((OPEN, SOLVED))
    ]
    await hear_messages(NewMessages(fresh_citizen, "talk", messages), Job(deps, day(20)))
    [(opened, _)] = await solutions(deps, fresh_citizen)
    taken_back = [messages[0], {**messages[1], "deleted": True}]
    await hear_messages(NewMessages(fresh_citizen, "talk", taken_back), Job(deps, day(21)))
    assert await states(deps, fresh_citizen, opened) == [(ResolutionState.BLOCKED, True)]


async def test_what_solved_a_thread_and_holds_no_more_leaves_it_solved(deps: Deps, fresh_citizen: str) -> None:
    await tell(deps, fresh_citizen, "open", OPEN, 1)
    await tell(deps, fresh_citizen, "solved", SOLVED, 20)
    ended = {"command": "retract", "citizen_id": fresh_citizen, "id": "solved", "effective_at": moment(30)}
    await stored(deps, ANY_COMMAND.validate_python(ended), now=day(40))
    assert (await states(deps, fresh_citizen, "open"))[-1] == (ResolutionState.RESOLVED, True)
