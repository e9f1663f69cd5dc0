"""What a stream was asked and showed is noted beside the records, and found again."""

from __future__ import annotations

import asyncio

from orchestration.dependencies import Deps
from orchestration.mind.stream_note import ShownRecord
from orchestration.mind.stream_notes import read_last_stream, read_stream_note, store_notes
from orchestration.upkeep.job import JobContext
from orchestration.upkeep.sweep import SweepJob
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.intention import StateBasedRetrieval
from schemas.memory import Level
from substrate.graphs.names import graph_name
from substrate.store import stream_notes
from substrate.store.archive import read_stamp
from tests.integration.store import ASKED, NOW, ask, remember, stored

DAY = 86_400_000_000


async def test_the_note_of_a_stream_is_found_and_moves_no_clock(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "boat", description="The boat lies at the lake."))
    graph = deps.graph(graph_name(Level.N1, fresh_citizen))
    before = (await read_stamp(graph))["clock"]
    stream = await ask(deps, fresh_citizen, "Where is the boat?", current_goal="sail")
    await store_notes(deps)
    note = await read_stream_note(stream.stream_id, fresh_citizen, deps)
    assert note is not None
    assert note.tiers[0] == (ShownRecord(Level.N1, "boat", 1),)
    assert (note.way, note.request["query_text"]) == ("retrieve", "Where is the boat?")
    assert (await read_stamp(graph))["clock"] == before
    last = await read_last_stream(fresh_citizen, deps)
    assert last is not None
    assert (last.stream_id, last.goal) == (stream.stream_id, "sail")


async def test_waking_is_noted_too_and_the_last_stream_is_the_latest(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "boat"))
    assert await read_last_stream(fresh_citizen, deps) is None
    await ask(deps, fresh_citizen, "boat")
    state = StateBasedRetrieval(citizen_id=fresh_citizen, query_levels=(Level.N1,), current_goal="sail")
    woken = await retrieve_consciousness_context_from_state(state, deps, ASKED + 5)
    last = await read_last_stream(fresh_citizen, deps)
    assert last is not None
    assert (last.stream_id, last.at, last.goal, last.levels) == (woken.stream_id, ASKED + 5, "sail", (Level.N1,))


async def test_no_graph_is_made_for_notes_and_old_ones_stay_out(deps: Deps, fresh_citizen: str) -> None:
    unknown = await ask(deps, fresh_citizen, "boat")
    assert await read_last_stream(fresh_citizen, deps) is None
    assert graph_name(Level.N1, fresh_citizen) not in await deps.graphs.existing()
    deps.notes.add(graph_name(Level.N1, fresh_citizen), stream_notes.StoredNote(unknown.stream_id, NOW - 1, "x"))
    await stored(deps, remember(fresh_citizen, "boat"))
    assert await read_last_stream(fresh_citizen, deps) is None


async def test_the_sweep_drops_the_old_notes_of_who_asks_nothing_more(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "boat"))
    for at in (ASKED, ASKED + 60 * DAY):
        await ask(deps, fresh_citizen, "boat", now=at)
    await store_notes(deps)
    graph = deps.graph(graph_name(Level.N1, fresh_citizen))
    for now, left in ((ASKED + 80 * DAY, 2), (ASKED + 100 * DAY, 1)):
        run = JobContext(deps, Level.N1, fresh_citizen, f"run-{now}", now)
        job = SweepJob()
        page = await job.plan(run, None)
        while page.next is not None:
            page = await job.plan(run, page.next)
        assert await job.keep(run, page) == 1
        assert len(await stream_notes.read_notes(graph, 9)) == left


async def test_all_who_read_a_note_at_once_find_it_though_one_of_them_stores_it(
    deps: Deps, fresh_citizen: str
) -> None:
    await stored(deps, remember(fresh_citizen, "boat"))
    stream = await ask(deps, fresh_citizen, "boat")
    notes = await asyncio.gather(*(read_stream_note(stream.stream_id, fresh_citizen, deps) for _ in range(6)))
    assert all(note is not None for note in notes)
