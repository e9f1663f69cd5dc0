"""What is no command is in the feed too: states, learning, runs, quarantines; and an erasure takes it out."""

from __future__ import annotations

from uuid import uuid4

import pytest

from orchestration.dependencies import Deps
from orchestration.features.sharing.feature import contest, share
from orchestration.features.sharing.values import ContestRequest, Share, Shared
from orchestration.features.withholding.quarantine import quarantine, release
from orchestration.features.withholding.values import QuarantineChange, QuarantineRequest
from orchestration.mind.state import change_state, with_feedback
from orchestration.transfer.following import list_changes
from orchestration.upkeep.job import JobContext
from orchestration.upkeep.ordered_runs import undo_run
from orchestration.upkeep.runner import Watch, run_job
from orchestration.writing.erasure import erase
from schemas.commands import EraseMemory, Resolve, Writer
from schemas.errors import Conflict, InvalidRequest
from schemas.memory import Level, Source
from schemas.mind.state import StateChange
from schemas.paging import decode_cursor, encode_cursor
from schemas.upkeep.applied_changes import AppliedChange, ChangesRequest
from substrate.cypher.query import Query
from substrate.graphs.names import GraphOf, graph_name
from substrate.store import stream_notes
from substrate.store.stream_notes import InferredMoment, StoredNote
from tests.integration.store import NOW, ask, remember, stored
from tests.upkeep_jobs import PagedJob

EVENTS = Query("all_events", "MATCH (e:Event) RETURN properties(e)")


async def follow(deps: Deps, citizen: str, after: str | None = None, **asked: object) -> list[AppliedChange]:
    request = ChangesRequest.model_validate({"citizen_id": citizen, "after": after, **asked})
    return list((await list_changes(request, deps)).changes)


async def learn(deps: Deps, citizen: str, earlier: str, later: str) -> None:
    """What a question does that finds a changed belief."""
    note = StoredNote(uuid4().hex, NOW + 10, "x", (InferredMoment(earlier, 1, later, 1),))
    await stream_notes.keep_notes(deps.graph(graph_name(Level.N1, citizen)), [note])


async def test_a_state_by_hand_by_feedback_and_at_the_end_of_a_cycle(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "a"))
    after = (await follow(deps, fresh_citizen))[-1].cursor
    await change_state(fresh_citizen, StateChange(energy=0.4), deps, NOW + 1)
    stream = await ask(deps, fresh_citizen, "nothing of the kind", now=NOW + 2)
    await with_feedback(stream.model_copy(update={"relative_potential": 0.3}), None, deps, NOW + 2)
    await change_state(fresh_citizen, StateChange.model_validate({"window": ("a",)}), deps, NOW + 3)
    told = await follow(deps, fresh_citizen, after)
    assert [(one.command, one.type, one.version) for one in told] == [
        ("state", "set", 1), ("state", "feedback", 3), ("state", "cycle", 5),
    ]  # fmt: skip


async def test_a_learning_moment_names_both_memories_once(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "bergen"), remember(fresh_citizen, "oslo", name="Oslo"))
    for _ in range(2):  # the second question finds nothing new
        await learn(deps, fresh_citizen, "bergen", "oslo")
    [told] = await follow(deps, fresh_citizen, commands=("learn",))
    assert (told.subject, told.id, told.version, told.name, told.of) == ("memory", "oslo", 1, "Oslo", "bergen")


async def test_events_stand_behind_the_last_command_and_none_is_missed(deps: Deps, fresh_citizen: str) -> None:
    """They move no clock: who has read up to it, by pages or by `now`, must see what comes at that very place."""
    await stored(deps, remember(fresh_citizen, "a"), remember(fresh_citizen, "b"))
    first = await list_changes(ChangesRequest(citizen_id=fresh_citizen), deps)
    cursors, seen = [first.next, first.changes[-1].cursor], list[str]()
    now = (await list_changes(ChangesRequest(citizen_id=fresh_citizen, after="now"), deps)).next
    for number, (earlier, later) in enumerate((("a", "b"), ("b", "a"))):
        await learn(deps, fresh_citizen, earlier, later)
        for after in (*cursors, now):
            assert [one.command_id for one in await follow(deps, fresh_citizen, after)][
                number
            ] == f"event-{number + 1}"
        [one] = await follow(deps, fresh_citizen, first.next if not seen else seen[-1])
        seen.append(one.cursor)
    await stored(deps, remember(fresh_citizen, "c"))
    told = await follow(deps, fresh_citizen, limit=500)
    assert [one.command for one in told] == ["remember", "remember", "learn", "learn", "remember"]
    waiting = ChangesRequest(citizen_id=fresh_citizen, after=told[-1].cursor, wait=20)
    assert not (await list_changes(waiting.model_copy(update={"wait": 0.0}), deps)).changes
    await learn(deps, fresh_citizen, "a", "c")
    assert [one.of for one in (await list_changes(waiting, deps)).changes] == ["a"]


async def test_a_run_of_upkeep_that_changed_something_its_undoing_and_its_failure(
    deps: Deps, fresh_citizen: str
) -> None:
    await stored(deps, remember(fresh_citizen, "a"))
    place = GraphOf(Level.N1, fresh_citizen)
    job = PagedJob([lambda context: [remember(fresh_citizen, "made", source=Source.UPKEEP)]])
    done = await run_job(job, place, deps, Watch(1))
    assert done is not None
    await run_job(PagedJob([lambda context: []]), place, deps, Watch(1))  # changed nothing: not told
    context = JobContext(deps, *place, run_id=done.id, now=NOW)
    await undo_run(job, done, context, Watch(1))
    await run_job(PagedJob([lambda context: []], fails_at={0}), place, deps, Watch(1))
    told = await follow(deps, fresh_citizen, commands=("run",))
    assert [(one.type, one.of) for one in told] == [("tags", "done"), ("tags", "undone"), ("tags", "failed")]
    assert told[0].id == done.id


async def test_a_quarantine_and_its_release(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "a", source=Source.TOOL), remember(fresh_citizen, "b"))
    asked = QuarantineRequest(citizen_id=fresh_citizen, source="tool")
    hidden = await quarantine(asked, deps, NOW + 1)
    await release(str(hidden.id), QuarantineChange(citizen_id=fresh_citizen), deps, NOW + 2)
    told = await follow(deps, fresh_citizen)
    assert [(one.command, one.type) for one in told if one.id == hidden.id] == [
        ("quarantine", "hidden"), ("quarantine", "released"),
    ]  # fmt: skip
    assert [one.command for one in told] == ["remember", "remember", "retract", "quarantine", "undo", "quarantine"]


async def test_a_contested_belief_and_a_resolved_one_are_commands(deps: Deps, fresh_citizen: str) -> None:
    whose, where = Writer(author=fresh_citizen, steward=False), f"of-{fresh_citizen}"
    await stored(deps, remember(fresh_citizen, "pot", description="The pot is blue."))
    shared = await share(
        Share(citizen_id=fresh_citizen, id="pot", level=Level.N2, collective=where), whose, deps, NOW
    )
    assert isinstance(shared, Shared)
    against = ContestRequest(
        citizen_id="bo", level=Level.N2, collective=where, id=shared.id, reason="It is not so."
    )
    await contest(against, Writer(author="bo", steward=False), deps, NOW + 1)
    await stored(deps, Resolve(citizen_id=fresh_citizen, id="pot", source=Source.CITIZEN))
    assert [one.command for one in await follow(deps, fresh_citizen)][-1] == "resolve"
    asked = ChangesRequest(level=Level.N2, collective=where, types=("CONTESTS",))
    assert [one.author for one in (await list_changes(asked, deps)).changes] == ["bo"]


@pytest.mark.parametrize("gone", ["bergen", "oslo"])
async def test_an_erased_memory_leaves_the_events(deps: Deps, fresh_citizen: str, gone: str) -> None:
    await stored(
        deps, *(remember(fresh_citizen, each, name=f"{each} town") for each in ("bergen", "oslo", "rome"))
    )
    await learn(deps, fresh_citizen, "bergen", "oslo")
    await learn(deps, fresh_citizen, "rome", "rome")
    await change_state(fresh_citizen, StateChange.model_validate({"window": ("oslo", "bergen")}), deps, NOW + 1)
    order = EraseMemory(citizen_id=fresh_citizen, id=gone, command_id=uuid4().hex)
    await erase(order, deps, await deps.connection.now(), deps.directory)
    graph = deps.graph(graph_name(Level.N1, fresh_citizen))
    kept = await graph.read(EVENTS)
    assert len(kept) == 2
    assert gone not in str(kept)
    assert gone not in str([one.model_dump() for one in await follow(deps, fresh_citizen)])


async def test_a_cursor_behind_the_last_event_is_of_the_future(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "a"))
    await learn(deps, fresh_citizen, "a", "a")
    [*_, last] = await follow(deps, fresh_citizen)
    epoch, erased_at, at, nth, name = decode_cursor(last.cursor, int, int, int, int, str)
    with pytest.raises(Conflict, match="future"):
        await follow(deps, fresh_citizen, encode_cursor(epoch, erased_at, at, nth + 1, name))


async def test_a_kind_of_change_that_is_none_is_refused(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "a"))
    with pytest.raises(InvalidRequest, match="'rememberd' is none"):
        await follow(deps, fresh_citizen, commands=("rememberd",))
    assert {"state", "learn", "run", "quarantine"} <= deps.features.tells.keys()
