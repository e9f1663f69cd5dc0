"""Runs of upkeep: list them, run jobs now, take a run back; and what a citizen asks for itself."""

from __future__ import annotations

import time
from typing import Annotated, Final

from fastapi import APIRouter, Path, Query, Request

from api.dependencies import OpenRuntime
from api.request_parsing.strict_json import StrictRoute
from api.runtime.idle_upkeep import SHARE, OrderedRuns, Traffic, make_order
from api.runtime.runtime import Runtime
from api.security.permissions import Caller, CurrentCaller, citizen_may, requires
from api.security.upkeep_permissions import OWN, RUN, RUN_BY_ID, RUNS, may_reach
from api.telemetry.metrics import record_run
from orchestration.features.registry import JOBS
from orchestration.upkeep import ordered_runs
from orchestration.upkeep.ordered_runs import Order, Reaches
from orchestration.upkeep.rounds import Pace
from orchestration.upkeep.runner import Place, Watch, view
from schemas.base import CitizenId
from schemas.keys import Action
from schemas.upkeep.runs import OwnUpkeep, Run, RunRequest, RunsAnswer, RunsQuery
from substrate.store import lease
from substrate.store.runs import RunRecord

ANSWERED_AFTER_S: Final = 15.0
"""A caller gets an answer after this time, also when a job has not ended: it then goes on in idle time."""
WAIT_S: Final = 8.0
"""So long a request waits until the one who does upkeep gives way."""

router = APIRouter(prefix="/v1", tags=["upkeep"], route_class=StrictRoute)
RunId = Annotated[str, Path(pattern=r"^run-[0-9a-f]{12}-[0-9a-f]{12}$", description="The id of a run.")]


@router.get("/upkeep/runs", operation_id="list_upkeep_runs")
@requires(RUNS)
async def runs(query: Annotated[RunsQuery, Query()], runtime: OpenRuntime, caller: CurrentCaller) -> RunsAnswer:
    """The runs of upkeep, the newest first, who does the upkeep now, and which jobs there are.

    Without `citizen_id` and `level`: in all graphs that the key may read.
    """
    settings, state = runtime.settings.upkeep, await lease.read(runtime.deps.connection)
    return RunsAnswer(
        runs=tuple(await ordered_runs.list_runs(query, runtime.deps, _reaches(caller, "read"))),
        holder=state.says if state.held else "",
        upkeep=settings.upkeep,
        jobs=ordered_runs.describe_jobs(JOBS, settings.named_jobs()),
    )


@router.get("/upkeep/runs/{run_id}", operation_id="get_upkeep_run")
@requires(RUN_BY_ID)
async def run(run_id: RunId, runtime: OpenRuntime, caller: CurrentCaller) -> Run:
    """One run: how far it is, what it changed, what went wrong, and when its job is due again."""
    place, record = await _find(run_id, runtime, caller, "read")
    return view(record, place)


@router.post("/upkeep/run", operation_id="run_upkeep")
@requires(RUN)
async def run_now(order: RunRequest, runtime: OpenRuntime, request: Request, caller: CurrentCaller) -> RunsAnswer:
    """Run jobs now. A background run gives way after its page; while another ordered run goes on: 409.

    Without `citizen_id` and `levels`: in all graphs that the key may write.

    After 15 seconds the answer comes with what was done until then; `running` runs go on in idle time.
    """
    ordered: OrderedRuns = request.app.state.runs
    how = _order(runtime, request)._replace(reaches=_reaches(caller, "write"))
    done = await ordered.run(ordered_runs.run_now(order, runtime.deps, how))
    settings = runtime.settings.upkeep
    return RunsAnswer(
        runs=tuple(done),
        upkeep=settings.upkeep,
        jobs=ordered_runs.describe_jobs(JOBS, settings.named_jobs()),
    )


@router.post("/upkeep/runs/{run_id}/undo", operation_id="undo_upkeep_run")
@requires(RUN_BY_ID)
async def undo(run_id: RunId, runtime: OpenRuntime, request: Request, caller: CurrentCaller) -> Run:
    """Take a whole run back. What somebody else has changed since is left, and named in `errors`.

    What a job erased cannot be taken back: `beyond_undo` counts it.
    """
    place, _ = await _find(run_id, runtime, caller, "write")
    ordered: OrderedRuns = request.app.state.runs
    return await ordered.run(ordered_runs.take_back(place, run_id, runtime.deps, _order(runtime, request)))


@router.get("/citizens/{citizen_id}/upkeep", operation_id="get_own_upkeep")
@requires(citizen_may("read"))
async def own(citizen_id: CitizenId, runtime: OpenRuntime) -> OwnUpkeep:
    """Which upkeep the citizen asks for itself; empty when it is as the service is set."""
    return await ordered_runs.read_own(citizen_id, runtime.deps)


@router.put("/citizens/{citizen_id}/upkeep", operation_id="set_own_upkeep")
@requires(OWN)
async def set_own(citizen_id: CitizenId, own: OwnUpkeep, runtime: OpenRuntime) -> OwnUpkeep:
    """Say which upkeep the citizen wants: none in idle time (`off`), or other jobs than the service runs."""
    ordered_runs.check_names(own.jobs, JOBS)
    return await ordered_runs.set_own(citizen_id, own, runtime.deps)


async def _find(run_id: str, runtime: Runtime, caller: Caller, action: Action) -> tuple[Place, RunRecord]:
    """The run. Raises NotFound for one that does not exist or that the caller may not reach."""
    place, record = await ordered_runs.find_run(run_id, runtime.deps)
    if not may_reach(caller, place.key, place.citizen_id, action):
        raise ordered_runs.not_found(run_id)
    return place, record


def _reaches(caller: Caller, action: Action) -> Reaches:
    return lambda place: may_reach(caller, place.key, place.citizen_id, action)


def _order(runtime: Runtime, request: Request) -> Order:
    traffic: Traffic = request.app.state.traffic
    give_up = time.monotonic() + ANSWERED_AFTER_S
    pace = Pace(SHARE / 4, traffic.quiet)
    watch = Watch(0, stopped=lambda: time.monotonic() > give_up, rest=pace.rest)
    return make_order(runtime.settings.upkeep, "a request to serve", watch, record_run)._replace(wait_s=WAIT_S)
