"""`substrate upkeep`: show the runs of upkeep, run jobs now, take a run back, and say what a citizen wants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

import typer
from rich.text import Text

from api.cli import formatting, options, support
from api.runtime.idle_upkeep import make_order
from api.runtime.runtime import Runtime
from orchestration.features.registry import JOBS
from orchestration.upkeep import ordered_runs
from orchestration.upkeep.rounds import Pace
from orchestration.upkeep.runner import Watch
from schemas.memory import Level
from schemas.settings import Settings
from schemas.upkeep.runs import OwnUpkeep, Run, RunRequest, RunsAnswer, RunsQuery
from substrate.graphs.graph import Graph
from substrate.language.text import count_of
from substrate.store import lease, reader
from substrate.store.runs import RunRecord

EXIT_FAILED: Final = 1
FOREGROUND_SHARE: Final = 0.25
"""Seconds of rest for each second of work, so that services on the same store go on answering."""
OPTIONS: Final = {**options.GRAPH, "levels": "--level", "jobs": "--job", "job": "--job"}
_COLOURS: Final = {"done": "green", "failed": "red", "running": "yellow", "undone": "bright_black"}

app = typer.Typer(add_completion=False, no_args_is_help=True)

Jobs = Annotated[list[str] | None, typer.Option("--job", metavar="JOB", help="Repeat for several.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]


@app.command()
def status(
    ctx: typer.Context,
    *,
    citizen: options.AnyCitizen = None,
    job: Annotated[str | None, typer.Option(metavar="JOB", help="Only the runs of this job.")] = None,
    limit: Annotated[int, typer.Option(help="How many runs are shown, 1 to 1000.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show the last runs, who does the upkeep now, and which jobs run in idle time."""
    query = support.validate(RunsQuery, {"citizen_id": citizen, "job": job, "limit": limit}, OPTIONS)
    settings = support.read_settings(ctx)
    _answer(support.run(_status(settings, query)), as_json=as_json)


async def _status(settings: Settings, query: RunsQuery) -> RunsAnswer:
    async with support.open_store(settings) as runtime:
        state = await lease.read(runtime.deps.connection)
        return RunsAnswer(
            runs=tuple(await ordered_runs.list_runs(query, runtime.deps)),
            holder=state.says if state.held else "",
            upkeep=settings.upkeep.upkeep,
            jobs=ordered_runs.describe_jobs(JOBS, settings.upkeep.named_jobs()),
        )


@app.command()
def run(
    ctx: typer.Context,
    *,
    job: Jobs = None,
    citizen: options.AnyCitizen = None,
    level: options.AnyLevels = None,
    collective: options.Collective = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run jobs now: those named, else those that run in idle time. A run that was broken off goes on."""
    fields = {
        "jobs": job,
        "citizen_id": citizen,
        "levels": options.upper(level),
        "collective": collective,
        "dry_run": dry_run,
    }
    request = support.validate(RunRequest, fields, OPTIONS)
    answer = support.run(_run(support.read_settings(ctx), request))
    _answer(answer, as_json=as_json)
    if any(each.status == "failed" for each in answer.runs):
        raise typer.Exit(EXIT_FAILED)


async def _run(settings: Settings, request: RunRequest) -> RunsAnswer:
    async with support.open_store(settings) as runtime:
        total = await _count_memories(runtime, request)
        with support.progress_bar(support.messages(), total, "memories") as advance:
            watch = Watch(0, rest=Pace(FOREGROUND_SHARE).rest, on_page=_show_progress(advance, total))
            order = make_order(settings.upkeep, "substrate upkeep run", watch)
            done = await ordered_runs.run_now(request, runtime.deps, order)
        jobs = ordered_runs.describe_jobs(JOBS, settings.upkeep.named_jobs())
        return RunsAnswer(runs=tuple(done), upkeep=settings.upkeep.upkeep, jobs=jobs)


def _show_progress(advance: Callable[[int, int], None], total: int) -> Callable[[RunRecord], None]:
    """Each run moves the bar from its beginning on: what it has seen, of the memories there are."""
    return lambda record: advance(min(record.seen, total) if record.status == "running" else total, total)


async def _count_memories(runtime: Runtime, request: RunRequest) -> int:
    """The memories of the citizen, or of the largest graph: the runs go through one graph after the other."""
    if request.citizen_id is not None:
        graph = await support.find_graph(runtime, Level.N1, request.citizen_id)
        return (await reader.counts(Graph(runtime.deps.connection, graph))).memories
    names = await runtime.deps.graphs.existing()
    counts = [await reader.counts(Graph(runtime.deps.connection, name)) for name in names]
    return max((count.memories for count in counts), default=0)


@app.command()
def undo(
    ctx: typer.Context,
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="The id of a run, from `substrate upkeep status`.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Take a whole run back. What somebody else has changed since is left and named."""
    settings = support.read_settings(ctx)
    taken_back = support.run(_undo(settings, run_id))
    if as_json:
        support.write_json(taken_back.model_dump_json())
        return
    console = support.output()
    console.print(Text(f"{count_of(taken_back.undone, 'change')} of {run_id} taken back."))
    if taken_back.beyond_undo:
        console.print(Text(f"{taken_back.beyond_undo:,} erased for good, which nothing brings back.", "yellow"))
    for error in taken_back.errors:
        console.print(Text(f"left as it is: {formatting.to_line(error)}", "yellow"))


async def _undo(settings: Settings, run_id: str) -> Run:
    async with support.open_store(settings) as runtime:
        place, _ = await ordered_runs.find_run(run_id, runtime.deps)
        order = make_order(settings.upkeep, "substrate upkeep undo", Watch(0, rest=Pace(FOREGROUND_SHARE).rest))
        return await ordered_runs.take_back(place, run_id, runtime.deps, order)


@app.command("set")
def set_own(
    ctx: typer.Context,
    *,
    citizen: options.Citizen,
    mode: Annotated[
        str | None, typer.Option(help="idle, or off: no upkeep in idle time. Left out: as the service is set.")
    ] = None,
    job: Jobs = None,
) -> None:
    """Say which upkeep a citizen wants, in place of what it wanted before; without options: as the service."""
    own = support.validate(OwnUpkeep, {"mode": mode, "jobs": job}, {"mode": "--mode", **OPTIONS})
    ordered_runs.check_names(own.jobs, JOBS)
    kept = support.in_store(
        support.read_settings(ctx), lambda deps, _: ordered_runs.set_own(citizen, own, deps), citizen
    )
    jobs = "the jobs of the service" if kept.jobs is None else ", ".join(kept.jobs) or "no job"
    support.output().print(Text(f"{citizen}: {'off' if kept.mode == 'off' else jobs}"))


def _answer(answer: RunsAnswer, *, as_json: bool) -> None:
    if as_json:
        support.write_json(answer.model_dump_json())
        return
    console = support.output()
    running = [job.name for job in answer.jobs if job.runs]
    when = "In idle time" if answer.upkeep == "idle" else "Upkeep in idle time is off; when asked"
    console.print(Text(f"{when}: {', '.join(running) or 'no job'}"))
    if answer.holder:
        console.print(Text(f"At work now: {formatting.to_line(answer.holder)}", "yellow"))
    if not answer.runs:
        console.print(Text("No runs yet." if answer.jobs else "This release has no jobs.", "bright_black"))
        return
    for each in answer.runs:
        whose = formatting.name_graph(each, each.citizen_id)
        counts = f"{each.seen:,} seen, {each.changed:,} changed, {each.refused:,} refused"
        line = Text.assemble(
            f"{each.id}  {formatting.format_time(each.begun_at)}  {each.job} in {whose}: ",
            (f"{each.status} (dry run)" if each.dry_run else each.status, _COLOURS[each.status]),
            f", {counts}",
        )
        console.print(line, soft_wrap=True)
        for told in (*each.shown, *each.errors):
            console.print(Text(f"  {formatting.to_line(told)}", "bright_black"), soft_wrap=True)
