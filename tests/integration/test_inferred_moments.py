"""Changes that streams inferred are learning moments, until a memory changes or the citizen says they are none."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.features.feedback.feature import list_feedback, take_back, tell
from orchestration.features.identity.learning import learning_page
from orchestration.features.identity.values import LearningPage
from orchestration.features.replay.flow import replay
from orchestration.mind.stream_notes import store_notes
from orchestration.transfer.exporter import export
from orchestration.transfer.importer import import_lines
from orchestration.writing.erasure import erase
from schemas.commands import Correct, EraseMemory, Supersede
from schemas.errors import Conflict, InvalidRequest
from schemas.memory import Level
from schemas.mind.feedback import Feedback, NotChanged
from schemas.paging import Paged
from schemas.stream import ConsciousnessStream
from schemas.temporal import Instant, to_datetime
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.graphs.names import GraphOf, graph_name
from substrate.store import stream_notes
from substrate.store.stream_notes import InferredMoment, StoredNote
from tests.integration.store import ask, day, moment, remember, stored

WHERE = "Where do I live?"
HOME = "I live in Bergen, in a flat by the harbour."
NEXT = "Since June I live in Oslo now, my flat in Bergen is let."
TOLD, ASKED, LATER = day(200), day(210), day(300)
NONE = Feedback(not_changed=(NotChanged(earlier="bergen", later="oslo"),), feedback_id="none")
KEPT = Query("moments_kept", "MATCH (k:LearningMoment) RETURN k.earlier, k.later, k.created_at ORDER BY k.earlier")


@pytest.fixture
async def mover(deps: Deps, fresh_citizen: str) -> str:
    """A citizen who lived in Bergen and told later that it lives in Oslo; nothing was superseded."""
    homes = (("bergen", HOME, 1), ("oslo", NEXT, 150))
    said = [
        remember(fresh_citizen, name, description=text, speaker="user", node_type="Turn", valid_at=moment(at))
        for name, text, at in homes
    ]
    await stored(deps, *said, now=TOLD)
    return fresh_citizen


async def listed(deps: Deps, citizen: str, *, now: Instant = LATER, **asked: Any) -> list[tuple[str, str]]:
    """What was believed before and after, page by page, oldest first."""
    page = LearningPage(**asked)
    found: list[tuple[str, str]] = []
    while True:
        moments = await learning_page(citizen, page, deps, now)
        assert len(moments.dissonances) <= page.limit
        found += [(each.original_belief, each.corrected_belief) for each in moments.dissonances]
        if moments.next is None:
            return found
        page = LearningPage(limit=page.limit, cursor=moments.next)


def own_graph(deps: Deps, citizen: str) -> Graph:
    return deps.graph(graph_name(Level.N1, citizen))


async def kept(deps: Deps, citizen: str) -> list[list[Any]]:
    await store_notes(deps)
    return [list(row) for row in await own_graph(deps, citizen).read(KEPT)]


def shown(stream: ConsciousnessStream) -> list[tuple[str, str | None]]:
    return [(memory.node_id, memory.overtaken_by) for memory in stream.activation_tiers.ordered()]


async def test_a_change_that_a_question_of_the_present_inferred_is_a_learning_moment_from_then_on(
    deps: Deps, mover: str
) -> None:
    assert await listed(deps, mover) == []
    assert shown(await ask(deps, mover, WHERE, now=ASKED)) == [("oslo", None), ("bergen", "oslo")]
    [change] = (await learning_page(mover, LearningPage(), deps, LATER)).dissonances
    assert (change.dissonance_type, change.inferred, change.corrected_by) == ("reality_changed", True, "oslo")
    assert (change.belief_held_from, change.belief_held_until) == (moment(1), moment(150))
    assert await listed(deps, mover, known_at=to_datetime(ASKED - 1)) == []
    assert await listed(deps, mover, known_at=to_datetime(ASKED)) == [(HOME, NEXT)]


async def test_it_is_kept_once_and_since_it_was_first_inferred_and_a_replay_keeps_none(
    deps: Deps, mover: str
) -> None:
    stream = await ask(deps, mover, WHERE, now=ASKED)
    await store_notes(deps)
    await ask(deps, mover, WHERE, now=ASKED + 5, temporal_mode="evolution")
    await ask(deps, mover, WHERE, now=ASKED + 6, form="compact")
    assert await kept(deps, mover) == [["bergen", "oslo", ASKED]]
    await tell(mover, NONE, deps, ASKED + 7)
    await own_graph(deps, mover).write(stream_notes.FORGET_MOMENTS, ids=["oslo"])
    assert (await replay(stream.stream_id, deps, LATER)).same
    assert await kept(deps, mover) == []


async def test_inferred_and_recorded_changes_stand_in_one_order_on_any_pages(deps: Deps, mover: str) -> None:
    for number, at in enumerate((20, 120, 180, 190)):
        name = f"shelf {number}"
        await stored(deps, remember(mover, name, description=f"{name} red"), now=TOLD + 10 * number)
        change = Correct(citizen_id=mover, id=name, description=f"{name} green", command_id=name)
        await stored(deps, change, now=TOLD + day(at) - day(0))
    told = [(f"shelf {number} red", f"shelf {number} green") for number in range(4)]
    now = TOLD + day(290) - day(0)
    await ask(deps, mover, WHERE, now=now)
    every = await listed(deps, mover, now=now)
    assert every == [(HOME, NEXT), *told]
    for limit in range(1, 6):
        assert await listed(deps, mover, now=now, limit=limit) == every


async def test_a_memory_that_changed_since_takes_the_moment_away_now_and_not_then(deps: Deps, mover: str) -> None:
    await ask(deps, mover, WHERE, now=ASKED)
    corrected = Correct(citizen_id=mover, id="oslo", description="We saw Oslo from the ferry.")
    await stored(deps, corrected, now=day(220))
    then = to_datetime(day(219))
    assert (HOME, NEXT) in await listed(deps, mover, known_at=then)
    assert await listed(deps, mover) == [(NEXT, "We saw Oslo from the ferry.")]
    gone = Supersede(citizen_id=mover, id="bergen", description="Bergen is far.", effective_at=moment(225))
    await stored(deps, gone, now=day(226))
    assert (HOME, NEXT) in await listed(deps, mover, known_at=then)


async def test_what_the_citizen_says_is_no_change_is_none_until_that_is_taken_back(deps: Deps, mover: str) -> None:
    before = await ask(deps, mover, WHERE, now=ASKED)
    told = await tell(mover, NONE, deps, day(220))
    assert (told.query_text, told.not_changed) == (None, NONE.not_changed)
    assert await tell(mover, NONE, deps, day(221)) == told
    with pytest.raises(Conflict):
        await tell(mover, NONE.model_copy(update={"not_changed": ()}), deps, day(221))
    assert shown(await ask(deps, mover, WHERE, now=day(222))) == [("bergen", None), ("oslo", None)]
    evolved = await ask(deps, mover, WHERE, now=day(222), temporal_mode="evolution")
    assert evolved.temporal_dissonances == ()
    assert await listed(deps, mover) == []
    assert await listed(deps, mover, known_at=to_datetime(day(219))) == [(HOME, NEXT)]
    [record] = (await list_feedback(mover, Paged(), deps)).feedback
    assert record == told
    await take_back(mover, ["none"], deps, day(223))
    assert shown(await ask(deps, mover, WHERE, now=day(224))) == shown(before)
    assert await listed(deps, mover) == [(HOME, NEXT)]


async def test_that_nothing_changed_teaches_nothing_else(deps: Deps, mover: str) -> None:
    used = Feedback(query_text=WHERE, used=("oslo",), feedback_id="used")
    await tell(mover, used, deps, day(220))
    alone = (await list_feedback(mover, Paged(), deps)).learned
    await tell(mover, NONE, deps, day(221))
    both = (await list_feedback(mover, Paged(), deps)).learned
    assert (both.told, both.factors) == (2, alone.factors)


@pytest.mark.parametrize(("pair", "fault"), [(("bergen", "x"), "0.later"), (("x", "oslo"), "0.earlier")])
async def test_a_pair_of_unknown_memories_is_refused(
    deps: Deps, mover: str, pair: tuple[str, str], fault: str
) -> None:
    said = Feedback(not_changed=(NotChanged(earlier=pair[0], later=pair[1]),))
    with pytest.raises(InvalidRequest, match=f"not_changed.{fault}: there is no memory x"):
        await tell(mover, said, deps, day(220))
    assert (await list_feedback(mover, Paged(), deps)).feedback == ()


@pytest.mark.parametrize("memory_id", ["bergen", "oslo"])
async def test_an_erased_memory_takes_along_what_was_inferred_of_it_and_what_was_said_of_that(
    deps: Deps, mover: str, memory_id: str
) -> None:
    await ask(deps, mover, WHERE, now=ASKED)
    await store_notes(deps)
    await tell(mover, NONE, deps, day(219))
    waiting = StoredNote(f"{mover}~waiting", day(219), "x", (InferredMoment("bergen", 1, "oslo", 1),))
    deps.notes.add(graph_name(Level.N1, mover), waiting)
    erased = EraseMemory(citizen_id=mover, id=memory_id)
    report = await erase(erased, deps, day(220), deps.directory)
    assert report.removed.feedback == 1
    assert await kept(deps, mover) == []
    for name, text in (("bergen", HOME), ("oslo", NEXT)):
        if name == memory_id:
            await stored(deps, remember(mover, name, description=text, valid_at=moment(2)), now=day(221))
    assert await listed(deps, mover) == []


async def test_the_latest_five_hundred_are_kept(deps: Deps, mover: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("substrate.store.stream_notes.MOST_MOMENTS", 3)
    for number in range(6):
        note = StoredNote(f"n{number}", LATER + number, "x", (InferredMoment(f"m{number}", 1, "oslo", 1),))
        await stream_notes.keep_notes(own_graph(deps, mover), [note])
    assert [row[0] for row in await kept(deps, mover)] == ["m2", "m3", "m4", "m5"]


async def test_moments_go_along_with_an_export_and_not_with_one_of_what_was_known_before(
    deps: Deps, mover: str
) -> None:
    await ask(deps, mover, WHERE, now=ASKED)
    assert await listed(deps, mover) == [(HOME, NEXT)]
    for known_at, due in ((None, [(HOME, NEXT)]), (ASKED, [(HOME, NEXT)]), (ASKED - 1, [])):
        copy = f"{mover}.{known_at}"
        lines = list(await export([GraphOf(Level.N1, mover)], deps, embeddings=False, known_at=known_at))
        await import_lines(lines.copy, deps, LATER, citizen_id=copy, progress=lambda *_: None)
        assert await listed(deps, copy) == due
