"""Upkeep: check whole graphs, run repairs and jobs, take runs back; and what a citizen asks for itself."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Annotated, Final

from fastapi import Path, Request, Response

from api.dependencies import Now, OpenDeps, OpenRuntime
from api.runtime.idle_upkeep import JOBS, SHARE, OrderedRuns, Traffic, answer_runs, list_runs, make_order
from api.runtime.runtime import Runtime
from api.security.permissions import Caller, CurrentCaller
from api.telemetry.metrics import record_run
from orchestration.upkeep import due, ordered_runs
from orchestration.upkeep.ordered_runs import Order, Reaches
from orchestration.upkeep.repair import run_repair
from orchestration.upkeep.rounds import Pace
from orchestration.upkeep.runner import Watch, view
from orchestration.upkeep.sweep import read_quality, sweep_and_keep
from schemas.base import CitizenId
from schemas.commands import Writer
from schemas.errors import refusal_error
from schemas.keys import Action
from schemas.memory import GraphKey, Level, graph_key, level_of
from schemas.operation import Claim, May, Method, Need, Operation, RequestParts, Standing, citizen_may, group
from schemas.upkeep.findings import (
    ApplyCommand,
    QualityAnswer,
    QualityRequest,
    RepairOutcome,
    RepairRequest,
    SweepAnswer,
    SweepRequest,
)
from schemas.upkeep.runs import OwnUpkeep, Run, RunRequest, RunsAnswer, RunsQuery
from substrate.graphs.names import GraphOf
from substrate.store.runs import RunRecord


async def sweep_graphs(request: SweepRequest, runtime: OpenRuntime, now: Now, caller: CurrentCaller) -> Response:
    """Check the graphs page by page while others read and write. With `limit` it checks one batch.

    A whole graph takes about a second for each thousand memories. Its summary is kept for `/v1/upkeep/quality`.
    """
    graphs = request.chosen() if request.levels else caller.readable(request.chosen())
    for graph in graphs or (Level.N2,):
        caller.require(graph, request.citizen_id, "read")
    request = request.model_copy(update={"levels": tuple(dict.fromkeys(map(level_of, graphs)))})
    answer = await sweep_and_keep(request, runtime.deps, now)
    return Response(answer.model_dump_json(), media_type="application/json")


async def quality(query: QualityRequest, runtime: OpenRuntime, caller: CurrentCaller) -> QualityAnswer:
    """The metadata quality of each graph over time: what each sweep of the whole graph found, oldest first.

    All sweeps of 30 days are kept, and one a week of the time before. `fallen_from`: the grade fell.
    """
    levels = query.chosen() if query.level else caller.readable(query.chosen())
    for level in levels or (Level.N2,):
        caller.require(level, query.citizen_id, "read")
    return await read_quality(levels, query.citizen_id, runtime.deps, limit=query.limit)


async def repair(
    request: RepairRequest, *, deps: OpenDeps, now: Now, caller: CurrentCaller, writer: Writer
) -> RepairOutcome:
    """Run the task of a finding. `gone`: the finding no longer holds, and nothing was changed."""
    outcome = await run_repair(request.task, deps, now, writer)
    if outcome.receipt is not None and outcome.status == "done":
        caller.commands.append(outcome.receipt.command_id)
    if outcome.status == "refused":
        version = None if outcome.receipt is None else outcome.receipt.current_version
        raise refusal_error(outcome.problem, (outcome.detail,), version)
    return outcome


def _repair_needs(asked: RequestParts) -> Iterable[Need | Claim]:
    task = asked.request.task
    target = task.command if isinstance(task, ApplyCommand) else task
    yield Need("write", target.citizen_id, target.graph_key)
    if isinstance(task, ApplyCommand) and "source" in task.command.model_fields_set:
        yield Claim(task.command.source)


ANSWERED_AFTER_S: Final = 15.0
"""A caller gets an answer after this time, also when a job has not ended: it then goes on in idle time."""
WAIT_S: Final = 8.0
"""This long a request waits until the one who does upkeep gives way."""

RunId = Annotated[str, Path(pattern=r"^run-[0-9a-f]{12}-[0-9a-f]{12}$", description="The id of a run.")]


async def runs(query: RunsQuery, runtime: OpenRuntime, caller: CurrentCaller) -> RunsAnswer:
    """The runs of upkeep, the newest first, who does the upkeep now, and which jobs there are.

    Without `citizen_id` and `level`: in all graphs that the key may read.
    """
    return await list_runs(query, runtime.settings.upkeep, runtime.deps, _reaches(caller, "read"))


async def run(run_id: RunId, runtime: OpenRuntime, caller: CurrentCaller) -> Run:
    """One run: how far it is, what it changed, what went wrong, and when its job is due again."""
    place, record = await _find(run_id, runtime, caller, "read")
    return view(record, place)


async def run_now(order: RunRequest, runtime: OpenRuntime, request: Request, caller: CurrentCaller) -> RunsAnswer:
    """Run jobs now. A background run gives way after its page; while another ordered run goes on: 409.

    Without `citizen_id` and `levels`: in all graphs that the key may write.

    After 15 seconds the answer comes with what was done until then; `running` runs go on in idle time.
    """
    ordered: OrderedRuns = request.app.state.runs
    how = _order(runtime, request)._replace(reaches=_reaches(caller, "write"))
    done = await ordered.run(ordered_runs.run_now(order, runtime.deps, how))
    return answer_runs(done, runtime.settings.upkeep)


async def undo(run_id: RunId, runtime: OpenRuntime, request: Request, caller: CurrentCaller) -> Run:
    """Take a whole run back. What somebody else has changed since is left, and named in `errors`.

    What a job erased cannot be taken back: `beyond_undo` counts it.
    """
    place, _ = await _find(run_id, runtime, caller, "write")
    ordered: OrderedRuns = request.app.state.runs
    return await ordered.run(ordered_runs.take_back(place, run_id, runtime.deps, _order(runtime, request)))


async def own(citizen_id: CitizenId, runtime: OpenRuntime) -> OwnUpkeep:
    """Which upkeep the citizen asks for itself; empty when it is as the service is set."""
    return await ordered_runs.read_own(citizen_id, runtime.deps)


async def set_own(citizen_id: CitizenId, own: OwnUpkeep, runtime: OpenRuntime) -> OwnUpkeep:
    """Say which upkeep the citizen wants: none in idle time (`off`), or other jobs than the service runs."""
    due.check_names(own.jobs, map(due.name_of, JOBS))
    return await ordered_runs.set_own(citizen_id, own, runtime.deps)


async def _find(run_id: str, runtime: Runtime, caller: Caller, action: Action) -> tuple[GraphOf, RunRecord]:
    """The run. Raises NotFound for one that does not exist or that the caller may not reach."""
    place, record = await ordered_runs.find_run(run_id, runtime.deps)
    if not caller.may(action, place.key, place.citizen_id):
        raise ordered_runs.not_found(run_id)
    return place, record


def _reaches(caller: Caller, action: Action) -> Reaches:
    return lambda place: caller.may(action, place.key, place.citizen_id)


def _order(runtime: Runtime, request: Request) -> Order:
    traffic: Traffic = request.app.state.traffic
    give_up = time.monotonic() + ANSWERED_AFTER_S
    pace = Pace(SHARE / 4, traffic.quiet)
    watch = Watch(0, stopped=lambda: time.monotonic() > give_up, rest=pace.rest)
    return make_order(runtime.settings.upkeep, "a request to serve", watch, record_run)._replace(wait_s=WAIT_S)


ERASING: Final = "erasure"
"""The job that erases."""


def _named_graphs(request: RunRequest | RunsQuery) -> tuple[GraphKey, ...]:
    """The graphs that the request names; N1 where it names a citizen alone."""
    if request.collective is not None:
        return (graph_key(Level.N2, request.collective),)
    named = request.levels if isinstance(request, RunRequest) else request.level and (request.level,)
    return named or ((Level.N1,) if request.citizen_id else ())


def _runs_needs(asked: RequestParts) -> Iterable[Need | Standing]:
    """To read in the graphs that the request names, to write to run jobs there; upkeep when it names no owner."""
    request = asked.request
    if request.citizen_id is None and request.collective is None:
        yield Standing("upkeep")
    for graph in _named_graphs(request):
        yield Need("write" if isinstance(request, RunRequest) else "read", request.citizen_id, graph)


def _run_needs(asked: RequestParts) -> Iterable[Need | Standing]:
    """What erases needs the right to erase, as everywhere."""
    yield from _runs_needs(asked)
    request = asked.request
    if ERASING not in (request.jobs or ()):
        return
    if request.citizen_id is None and request.collective is None:
        yield Standing("admin")
    for graph in _named_graphs(request):
        yield Need("erase", request.citizen_id, graph)


def _own_needs(asked: RequestParts) -> Iterable[Need]:
    yield Need("write", asked.citizen_id)
    if ERASING in (asked.request.jobs or ()):
        yield Need("erase", asked.citizen_id)


RUNS_JOBS: Final = May(
    "citizen:ID:write; upkeep for all graphs that the key may write; also :erase to erase", _run_needs
)
BY_ID: Final = May("citizen:ID:read or LEVEL:read, and to take it back :write")
"""For what names a run alone, and looks whose it is."""
OPERATIONS: Final = group(
    "upkeep",
    Operation("sweep", "POST /v1/upkeep/sweep", "Look for faults in the graphs",
              May("upkeep, and citizen:ID:read or LEVEL:read", scope="upkeep"), sweep_graphs, gives=SweepAnswer,
              call=Method(says="Check whole graphs and report their state; with `limit` one batch, and `next` "
                               "for the following one.")),
    Operation("get_quality", "GET /v1/upkeep/quality", "Read the quality of graphs over time",
              May("citizen:ID:read or LEVEL:read"), quality,
              call=Method("quality", "What sweeps of each whole graph found, oldest first; `fallen_from` is set "
                          "where the grade fell.")),
    Operation("repair", "POST /v1/upkeep/repair", "Repair a finding of a sweep",
              May("upkeep, and citizen:ID:write or LEVEL:write", _repair_needs, scope="upkeep"), repair,
              call=Method(says="Run the repair task of a finding. `gone`: the record changed since, and nothing "
                               "was done.")),
    Operation("list_upkeep_runs", "GET /v1/upkeep/runs", "List the runs of upkeep",
              May("citizen:ID:read; upkeep for all graphs that the key may read", _runs_needs), runs,
              call=Method("upkeep_runs")),
    Operation("get_upkeep_run", "GET /v1/upkeep/runs/{run_id}", "Read a run of upkeep", BY_ID, run,
              call=Method("upkeep_run", "One run, by its id.")),
    Operation("run_upkeep", "POST /v1/upkeep/run", "Run jobs of upkeep now",
              RUNS_JOBS, run_now,
              call=Method(says="Run jobs now; with `dry_run` only say what they would do. Raises Conflict when "
                               "another run goes on.", once=True)),
    Operation("undo_upkeep_run", "POST /v1/upkeep/runs/{run_id}/undo", "Take a run of upkeep back", BY_ID, undo,
              call=Method("undo_upkeep", "Take a whole run back; `errors` names what somebody else has changed "
                          "since, and was left.")),
    Operation("get_own_upkeep", "GET /v1/citizens/{citizen_id}/upkeep", "Read which upkeep a citizen wants",
              citizen_may("read"), own, call=Method("own_upkeep", "Which upkeep the citizen asks for itself.")),
    Operation("set_own_upkeep", "PUT /v1/citizens/{citizen_id}/upkeep", "Say which upkeep a citizen wants",
              May("citizen:ID:write; also :erase to name the job that erases", _own_needs, first="write"),
              set_own,
              call=Method(says="Say which upkeep the citizen wants: `mode=\"off\"` for none in idle time, or "
                               "`jobs` of its own.")),
)  # fmt: skip
