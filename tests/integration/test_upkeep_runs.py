"""A run of upkeep goes page by page, is resumed where it stopped, and can be taken back whole."""

from __future__ import annotations

import pytest

from orchestration.dependencies import Deps
from orchestration.upkeep.job import JobContext, Page
from orchestration.upkeep.ordered_runs import undo_run
from orchestration.upkeep.runner import Watch, run_job, show_job
from schemas.commands import Command, Correct, Remember, Resolve, Retract, Supersede
from schemas.memory import Level, Source
from substrate.cypher.query import Query
from substrate.graphs.names import GraphOf, graph_name
from substrate.store import runs
from substrate.store.runs import LeaseLost, RunRecord
from tests.integration.store import NOW, moment, relate, remember, stored
from tests.upkeep_jobs import PagedJob, PageMaker


def by_citizen(**fields: object) -> dict[str, object]:
    """The fields of a change that the citizen has ordered."""
    return {"source": Source.CITIZEN, **fields}


def page_of(*commands: Command) -> PageMaker:
    return lambda context: commands


async def present(deps: Deps, citizen: str) -> list[tuple[str, str, str | None]]:
    """What the citizen remembers now, and in which state: no matter by how many records."""
    graph = deps.graph(graph_name(Level.N1, citizen))
    text = (
        "MATCH (n:ConsciousnessNode) WHERE n.expired_at > $open AND n.invalid_at > $open "
        "RETURN n.id, n.description, n.resolution_state ORDER BY n.id"
    )
    return [tuple(row) for row in await graph.read(Query("present", text), open=2**51)]


async def three_memories(deps: Deps, citizen: str) -> GraphOf:
    await stored(
        deps, *(remember(citizen, name, description=f"about {name}", valid_at=moment(9)) for name in "abc")
    )
    await stored(deps, relate(citizen, "a", "b", id="a-b", valid_at=moment(9)))
    return GraphOf(Level.N1, citizen)


def made(citizen: str, name: str) -> Remember:
    return remember(citizen, name, description=f"made {name}", valid_at=moment(3), invalid_at=moment(8))


async def run(deps: Deps, job: PagedJob, place: GraphOf, fence: int = 1, **watch: object) -> RunRecord:
    record = await run_job(job, place, deps, Watch(fence, **watch))  # type: ignore[arg-type]
    assert record is not None
    return record


async def take_back(deps: Deps, job: PagedJob, place: GraphOf, record: RunRecord, fence: int = 1) -> RunRecord:
    context = JobContext(deps, *place, run_id=record.id, now=NOW)
    return await undo_run(job, record, context, Watch(fence))


async def test_a_run_goes_to_its_end_and_taking_it_back_gives_the_same_present(
    deps: Deps, fresh_citizen: str
) -> None:
    place = await three_memories(deps, fresh_citizen)
    before = await present(deps, fresh_citizen)
    citizen = {"citizen_id": fresh_citizen}
    job = PagedJob(
        [
            lambda context: [made(fresh_citizen, "general"), relate(fresh_citizen, "general", "a", id="g-a")],
            lambda context: [
                Supersede(**citizen, **by_citizen(id="a", description="about a, later")),
                Resolve(**citizen, **by_citizen(id="b")),
            ],
            lambda context: Page(3, commands=(Retract(**citizen, **by_citizen(id="c")),), beside=("tag",)),
        ]
    )
    done = await run(deps, job, place)
    assert (done.status, done.changed, done.refused, done.pages, done.kept) == ("done", 6, 0, 3, 1)
    assert await present(deps, fresh_citizen) != before
    undone = await take_back(deps, job, place, done)
    assert (undone.status, undone.undone, undone.errors, undone.beyond_undo) == ("undone", 6, (), 0)
    assert await present(deps, fresh_citizen) == before
    again = await take_back(deps, job, place, undone)
    assert (again.undone, again.errors) == (6, ())
    assert await present(deps, fresh_citizen) == before


async def test_what_the_citizen_built_on_a_change_stays_and_is_named(deps: Deps, fresh_citizen: str) -> None:
    place = await three_memories(deps, fresh_citizen)
    job = PagedJob([lambda context: [made(fresh_citizen, "general"), made(fresh_citizen, "other")]])
    done = await run(deps, job, place)
    await stored(deps, Correct(citizen_id=fresh_citizen, id="general", description="mine now"))
    undone = await take_back(deps, job, place, done)
    assert undone.undone == 1
    [refused] = undone.errors
    assert refused.startswith("remember general: general has version 2")


async def test_upkeep_never_changes_what_a_citizen_said(deps: Deps, fresh_citizen: str) -> None:
    place = await three_memories(deps, fresh_citizen)
    job = PagedJob([lambda context: [Correct(citizen_id=fresh_citizen, id="a", description="better")]])
    done = await run(deps, job, place)
    assert (done.changed, done.refused) == (0, 1)
    assert "source upkeep may not change" in done.errors[0]


async def test_a_page_that_raises_is_recorded_and_the_run_goes_on_there_later(
    deps: Deps, fresh_citizen: str
) -> None:
    place = await three_memories(deps, fresh_citizen)
    job = PagedJob([lambda context: [made(fresh_citizen, f"{len(job.planned)}")]] * 4, fails_at={2})
    failed = await run(deps, job, place)
    assert (failed.status, failed.cursor, failed.changed) == ("failed", "2", 2)
    assert failed.errors == ("attempt 1: RuntimeError",)  # not the words: they may be a memory's
    assert failed.next_at is not None
    assert failed.next_at > failed.begun_at
    done = await run(deps, job, place)
    assert (done.id, done.status, done.attempt, done.changed) == (failed.id, "done", 2, 4)
    assert job.planned == [0, 1, 2, 2, 3]


async def test_a_run_that_was_stopped_or_killed_after_a_page_does_nothing_twice(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = await three_memories(deps, fresh_citizen)
    job = PagedJob([page_of(made(fresh_citizen, name)) for name in ("one", "two", "three")])
    stopped = await run(deps, job, place, stopped=lambda: True)
    assert (stopped.status, stopped.cursor) == ("running", "1")

    async def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:  # the commands of the page are stored, its cursor is not
        patched.setattr(runs, "settle", killed)
        with pytest.raises(KeyboardInterrupt):
            await run(deps, job, place)
    done = await run(deps, job, place, fence=2)
    assert (done.id, done.status, done.changed, done.attempt) == (stopped.id, "done", 3, 1)
    assert len(await present(deps, fresh_citizen)) == 3  # what was made has ended
    undone = await take_back(deps, job, place, done, fence=2)
    assert (undone.undone, undone.errors) == (3, ())


async def test_a_process_that_lost_the_lease_writes_nothing_more(deps: Deps, fresh_citizen: str) -> None:
    place = await three_memories(deps, fresh_citizen)
    job = PagedJob([page_of(made(fresh_citizen, name)) for name in ("one", "two")])
    newer = await run(deps, job, place, fence=7, stopped=lambda: True)
    with pytest.raises(LeaseLost):
        await run(deps, job, place, fence=6)
    assert await runs.read_run(deps.graph(place.graph), newer.id) == newer


async def test_a_dry_run_stores_nothing(deps: Deps, fresh_citizen: str) -> None:
    place = await three_memories(deps, fresh_citizen)
    job = PagedJob([page_of(made(fresh_citizen, name)) for name in ("one", "two")])
    shown = await show_job(job, place, deps, Watch(0))
    assert shown is not None
    assert (shown.dry_run, shown.status, shown.changed) == (True, "done", 2)
    assert shown.shown == ("remember one", "remember two")
    assert await runs.read_runs(deps.graph(place.graph)) == []
    assert len(await present(deps, fresh_citizen)) == 3
