"""The job `sweep` over a real engine: it finds what a whole sweep finds, and the series of its summaries."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from api.runtime.runtime import open_runtime
from orchestration.dependencies import Deps
from orchestration.transfer.exporter import export
from orchestration.upkeep.findings import summarise
from orchestration.upkeep.job import Job, JobContext, Page
from orchestration.upkeep.sweep import SweepJob, read_quality, sweep, sweep_and_keep
from orchestration.writing.erasure import erase
from schemas.commands import EraseCitizen
from schemas.memory import Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from schemas.temporal import to_datetime
from schemas.upkeep.findings import QualitySeries, SweepReport, SweepRequest
from substrate.graphs.names import GraphOf
from tests.integration.store import NOW, relate, remember
from tests.integration.store import stored as store

DAY = 86_400_000_000
SAID = "She drinks green tea in the morning, and black tea at night"


@pytest.fixture(scope="module")
async def deps(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Deps]:
    """A store without an embedder: no test here asks what a memory means."""
    store = StoreSettings(data=tmp_path_factory.mktemp("quality"), names="off")
    async with open_runtime(Settings(store=store, embedding=EmbeddingSettings(embedding="none"))) as runtime:
        yield runtime.deps


def context(deps: Deps, citizen: str, run: str = "run-1", now: int = NOW) -> JobContext:
    return JobContext(deps, Level.N1, citizen, run, now)


async def pages(job: Job, run: JobContext, cursor: str | None = None) -> list[Page]:
    """The pages of a run from the cursor on; the last one is kept."""
    planned = [await job.plan(run, cursor)]
    while planned[-1].next is not None:
        planned.append(await job.plan(run, planned[-1].next))
    return planned


async def series(deps: Deps, citizen: str) -> QualitySeries:
    answer = await read_quality([Level.N1], citizen, deps, limit=100)
    return answer.series[0]


async def grown(deps: Deps, citizen: str) -> None:
    """Three pages of memories; the first and the last say the same, and links join pages."""
    told = [remember(citizen, f"m{n}", description=f"The {n}th day of the year was mild") for n in range(420)]
    await store(deps, *told)
    await store(
        deps,
        remember(citizen, "first", name="Tea", description=SAID),
        remember(citizen, "none", name="None"),
        relate(citizen, "m3", "m410"),
    )
    await store(deps, remember(citizen, "again", name="Tea", description=SAID, restate=True), now=NOW + 9000)


async def exported(deps: Deps, citizen: str) -> list[str]:
    """The lines of an export without its first and last, which have the moment of the export."""
    lines = b"".join(await export([GraphOf(Level.N1, citizen)], deps, embeddings=False)).decode().splitlines()
    return lines[1:-1]


def figures(report: SweepReport) -> object:
    return summarise(report, to_datetime(NOW))


async def test_a_run_in_pages_finds_what_a_whole_sweep_finds_and_is_undone(deps: Deps, fresh_citizen: str) -> None:
    await grown(deps, fresh_citizen)
    request = SweepRequest(citizen_id=fresh_citizen, levels=(Level.N1,))
    whole = (await sweep(request, deps)).reports[0]
    assert whole.findings_by_kind["duplicate"] == 1
    before = await exported(deps, fresh_citizen)
    job, run = SweepJob(), context(deps, fresh_citizen)
    planned = await pages(job, run)
    assert [page.seen for page in planned] == [200, 200, 23, 0]
    assert not any(page.commands for page in planned)
    assert await job.keep(run, planned[-1]) == 1
    [summary] = (await series(deps, fresh_citizen)).summaries
    assert summary == figures(whole)
    assert await exported(deps, fresh_citizen) == before
    assert await job.undo(run) == 1
    assert (await series(deps, fresh_citizen)).summaries == ()


async def test_a_run_that_another_process_goes_on_with_keeps_one_whole_summary(
    deps: Deps, fresh_citizen: str
) -> None:
    await store(deps, *(remember(fresh_citizen, f"m{n}", description=f"Day {n} was mild") for n in range(230)))
    run = context(deps, fresh_citizen)
    begun = await SweepJob().plan(run, None)
    assert begun.next is not None
    other = SweepJob()
    resumed = await pages(other, run, begun.next)
    assert begun.next not in [page.next for page in resumed]
    assert await other.keep(run, resumed[-1]) == 1
    await other.keep(run, resumed[-1])
    again = (await pages(other, run, begun.next))[-1]
    await other.keep(run, again)
    [summary] = (await series(deps, fresh_citizen)).summaries
    assert summary.total_memories == 230


async def test_old_summaries_are_thinned_and_a_fall_is_told(deps: Deps, fresh_citizen: str) -> None:
    felt = {"emotion_vector": {"joy": 0.5}, "felt_quality": "warm", "body_sensation": "light", "goal": "rest"}
    await store(deps, remember(fresh_citizen, "tea", resolution_state="resolved", **felt))
    request = SweepRequest(citizen_id=fresh_citizen, levels=(Level.N1,))
    for day in range(0, 60, 2):
        assert (await sweep_and_keep(request, deps, NOW + day * DAY)).notes == ()
    kept = await series(deps, fresh_citizen)
    assert len(kept.summaries) < 23
    assert kept.fallen_from is None
    bare = [remember(fresh_citizen, f"m{n}", description=f"Day {n} was mild", energy=0.5) for n in range(9)]
    await store(deps, *bare, now=NOW + 60 * DAY)
    await sweep_and_keep(request, deps, NOW + 61 * DAY)
    fallen = await series(deps, fresh_citizen)
    assert fallen.fallen_from == kept.summaries[-1].quality_grade
    assert fallen.summaries[-1].average_completeness < kept.summaries[-1].average_completeness


async def test_a_graph_without_memories_or_erased_on_the_way_keeps_nothing(deps: Deps, fresh_citizen: str) -> None:
    run = context(deps, fresh_citizen)
    job = SweepJob()
    assert await job.plan(run, None) == Page(0)
    await store(deps, *(remember(fresh_citizen, f"m{n}", description=f"Day {n} was mild") for n in range(230)))
    begun = await job.plan(run, None)
    await erase(EraseCitizen(citizen_id=fresh_citizen), deps, NOW, None)
    last = (await pages(job, run, begun.next))[-1]
    assert await job.keep(run, last) == 0
    assert not await deps.graphs.for_reading(context(deps, fresh_citizen).graph.name)
