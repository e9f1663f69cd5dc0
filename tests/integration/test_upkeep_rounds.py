"""In idle time one process of a store does what is due, and gives way to requests and to those who ask."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from orchestration.dependencies import Deps
from orchestration.upkeep import rounds as rounds_module
from orchestration.upkeep.job import JobContext
from orchestration.upkeep.ordered_runs import Order, run_now, set_own, take_back
from orchestration.upkeep.rounds import Pace, Rounds, RoundSettings, make_holder
from orchestration.upkeep.runner import Watch
from schemas.commands import Command
from schemas.errors import Conflict, InvalidRequest
from schemas.memory import Level
from schemas.upkeep.runs import OwnUpkeep, RunRequest
from substrate.graphs.names import GraphOf
from substrate.store import lease, runs
from substrate.store.lease import LEASE, Holder
from tests.integration.store import remember, stored
from tests.upkeep_jobs import PagedJob
from tests.waiting import wait_until_async

IDLE_S = 3600.0
SHORT_S = 0.2


@pytest.fixture(autouse=True)
async def free_lease(deps: Deps) -> None:
    """The store as if nobody had ever done upkeep or asked anything."""
    for name in await deps.graphs.existing():
        await deps.connection.command("GRAPH.DELETE", name)
    await deps.connection.command("DEL", LEASE, lease.REQUESTS)
    deps.graphs.forget()


class CountingJob(PagedJob):
    """Makes one memory a page, and counts how often each page of each graph was planned."""

    def __init__(self, pages: int) -> None:
        super().__init__([self.make] * pages)
        self.made: list[str] = []

    def make(self, context: JobContext) -> list[Command]:
        self.made.append(f"{context.citizen_id} {self.planned[-1]}")
        return [remember(str(context.citizen_id), f"made {self.planned[-1]}")]


def rounds(deps: Deps, job: PagedJob, *, idle_s: float = IDLE_S) -> Rounds:
    settings = RoundSettings([job], None, idle_s)
    return Rounds(deps, settings, make_holder("serve"), Pace(0.0))


def order(job: PagedJob, wait_s: float = 60.0) -> Order:
    return Order([job], None, make_holder("a caller", urgent=True), Watch(0), None, wait_s)


async def test_of_two_services_one_works_and_nothing_is_done_twice(deps: Deps, fresh_citizen: str) -> None:
    others = [f"{fresh_citizen}.{number}" for number in range(3)]
    await stored(deps, *(remember(citizen, "a") for citizen in others))
    job = CountingJob(3)
    first, second = rounds(deps, job), rounds(deps, job)
    assert sorted(await asyncio.gather(first.round(), second.round())) in ([0, 3], [1, 2])
    assert sorted(job.made) == [f"{citizen} {page}" for citizen in others for page in range(3)]
    assert [await first.round(), await second.round()] == [0, 0]  # due again after its period


async def test_a_citizen_with_requests_is_left_alone_whichever_service_got_them(
    deps: Deps, fresh_citizen: str
) -> None:
    busy, idle = f"{fresh_citizen}.busy", f"{fresh_citizen}.idle"
    await stored(deps, remember(busy, "a"), remember(idle, "a"))
    await lease.note_requests(deps.connection, [GraphOf(Level.N1, busy).graph])
    job = CountingJob(1)
    assert await rounds(deps, job).round() == 1
    assert job.made == [f"{idle} 0"]
    assert await rounds(deps, job, idle_s=0.0).round() == 1
    assert job.made == [f"{idle} 0", f"{busy} 0"]


async def test_a_citizen_may_ask_for_no_upkeep_or_for_other_jobs(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "a"))
    job = CountingJob(1)
    await set_own(fresh_citizen, OwnUpkeep(mode="off"), deps)
    assert await rounds(deps, job).round() == 0
    await set_own(fresh_citizen, OwnUpkeep(jobs=("sweep",)), deps)
    assert await rounds(deps, job).round() == 0
    await set_own(fresh_citizen, OwnUpkeep(), deps)
    assert await rounds(deps, job).round() == 1


async def test_a_service_that_was_killed_is_taken_over_from_where_it_stopped(
    deps: Deps, fresh_citizen: str
) -> None:
    await stored(deps, remember(fresh_citizen, "a"))
    job = CountingJob(4)
    killed = rounds(deps, job)
    on_third = job.pages[2]

    def die(context: JobContext) -> list[Command]:
        job.pages = [job.make] * 4
        raise asyncio.CancelledError

    job.pages = [job.make, job.make, die, on_third]
    dead = make_holder("serve")
    with suppress(asyncio.CancelledError):
        await killed.round()
    await lease.take(deps.connection, dead)  # as one leaves it that is killed: held until its time ends
    assert await rounds(deps, job).round() == 0
    await lease.take(deps.connection, dead._replace(seconds=SHORT_S))
    answer = await run_now(RunRequest(citizen_id=fresh_citizen), deps, order(job))
    assert [(run.status, run.changed, run.attempt) for run in answer] == [("done", 4, 1)]
    assert job.made == [f"{fresh_citizen} {page}" for page in (0, 1, 2, 3)]


async def test_a_caller_gets_the_lease_from_a_background_run_after_its_page(
    deps: Deps, fresh_citizen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds_module, "SEEN_AGAIN_S", -1.0)  # after each page
    await stored(deps, remember(fresh_citizen, "a"))
    job = CountingJob(500)
    background = asyncio.create_task(rounds(deps, job).round())
    await wait_until_async(lambda: job.made)
    other = CountingJob(1)
    other.name = "sweep"
    [done] = await run_now(RunRequest(citizen_id=fresh_citizen), deps, order(other))
    assert done.status == "done"
    assert await background == 1
    kept = await runs.read_runs(deps.graph(GraphOf(Level.N1, fresh_citizen).graph))
    assert {run.job: run.status for run in kept} == {"tags": "running", "sweep": "done"}


async def test_who_does_not_get_the_lease_is_told_who_has_it(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "a"))
    async with lease.hold(deps.connection, Holder("x", "the desk of Ada")):
        with pytest.raises(Conflict, match="the desk of Ada"):
            await run_now(RunRequest(citizen_id=fresh_citizen), deps, order(CountingJob(1), wait_s=0.0))


async def test_a_job_that_there_is_not_is_refused_by_name(deps: Deps, fresh_citizen: str) -> None:
    with pytest.raises(InvalidRequest, match="mirror"):
        await run_now(RunRequest(jobs=("mirror",)), deps, order(CountingJob(1)))


async def test_a_run_is_taken_back_by_whoever_holds_the_lease_then(deps: Deps, fresh_citizen: str) -> None:
    await stored(deps, remember(fresh_citizen, "a"))
    job = CountingJob(2)
    [done] = await run_now(RunRequest(citizen_id=fresh_citizen), deps, order(job))
    undone = await take_back(GraphOf(Level.N1, fresh_citizen), done.id, deps, order(job))
    assert (undone.status, undone.undone, undone.fence) == ("undone", 2, done.fence + 1)
    [again] = await run_now(RunRequest(citizen_id=fresh_citizen), deps, order(job))
    assert (again.status, again.id != done.id) == ("done", True)
