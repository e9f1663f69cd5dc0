"""`substrate upkeep`: show the runs of upkeep, run jobs now, take a run back, and say what a citizen wants.
`validate`: check whole graphs, list what is wrong, and repair it on request. `reembed`: recompute all vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, get_args

import typer
from rich.text import Text

from api.cli import formatting, options, support
from api.cli.program import EXIT_CONFLICT, EXIT_FAULT, EXIT_INTERRUPTED, argument, option
from api.cli.stream_text import describe_grade
from api.runtime.idle_upkeep import JOBS, answer_runs, list_runs, make_order
from api.runtime.runtime import Runtime
from orchestration.dependencies import Deps
from orchestration.upkeep import due, ordered_runs
from orchestration.upkeep.findings import SEVERITY
from orchestration.upkeep.reembedding import reembed_store
from orchestration.upkeep.repair import run_repair
from orchestration.upkeep.rounds import Pace
from orchestration.upkeep.runner import Watch
from orchestration.upkeep.sweep import read_quality, sweep_and_keep
from schemas.errors import InvalidRequest
from schemas.memory import Level
from schemas.settings import UpkeepSettings
from schemas.temporal import Instant
from schemas.upkeep.findings import (
    MOST_SUMMARIES,
    Finding,
    Kind,
    QualityAnswer,
    QualitySeries,
    ReembedReport,
    SweepAnswer,
    SweepReport,
    SweepRequest,
)
from schemas.upkeep.runs import OwnUpkeep, Run, RunRequest, RunsAnswer, RunsQuery
from substrate.language.text import count_of
from substrate.store import reader
from substrate.store.runs import RunRecord

FOREGROUND_SHARE: Final = 0.25
"""Seconds of rest for each second of work, so that services on the same store go on answering."""
STATUS_COLOURS: Final = {"done": "green", "failed": "red", "running": "yellow", "undone": "bright_black"}
JOB: Final = option("--job JOB", "Repeat for several.")

SHOWN: Final = 10
KINDS: Final = tuple(kind for kind in get_args(Kind) if kind not in ("embedding_stale", "unset_default"))
"""The kinds for which there are repairs."""
SEVERITY_COLOURS: Final = {"error": "red", "warning": "yellow", "info": "bright_black"}


class _Status(options.StoreCommand, name="upkeep status"):
    """Show the last runs, who does the upkeep now, and which jobs run in idle time."""

    citizen_id: str | None = options.ANY_CITIZEN
    job: str | None = option("--job JOB", "Only the runs of this job.")
    limit: int = option("--limit", "How many runs are shown, 1 to 1000.", 20)
    as_json: bool = options.AS_JSON

    def run(self) -> None:
        self.show(self.answer(list_runs, self.request(RunsQuery), self.settings.upkeep), _show_runs)


class _Run(options.StoreCommand, name="upkeep run"):
    """Run jobs now: those named, else those that run in idle time. A run that was broken off goes on."""

    jobs: list[str] | None = JOB
    citizen_id: str | None = options.ANY_CITIZEN
    levels: list[str] | None = options.ANY_LEVELS
    collective: str | None = options.COLLECTIVE
    dry_run: bool = option("--dry-run", "Only show what would change.", False)
    as_json: bool = options.AS_JSON

    def run(self) -> None:
        answer = self.answer(_run_jobs, self.request(RunRequest), self.settings.upkeep)
        self.show(answer, _show_runs)
        if any(each.status == "failed" for each in answer.runs):
            raise typer.Exit(EXIT_FAULT)


async def _run_jobs(request: RunRequest, settings: UpkeepSettings, runtime: Runtime) -> RunsAnswer:
    """Each run moves the bar from its beginning on: what it has seen, of the memories of the largest graph."""
    deps = runtime.deps
    if request.citizen_id is not None:
        names = [await support.find_graph(runtime, Level.N1, request.citizen_id)]
    else:
        names = await deps.graphs.existing()
    total = max([(await reader.counts(deps.graph(name))).memories for name in names], default=0)
    with support.progress_bar(total, "memories") as advance:

        def move(record: RunRecord) -> None:
            advance(min(record.seen, total) if record.status == "running" else total, total)

        watch = Watch(0, rest=Pace(FOREGROUND_SHARE).rest, on_page=move)
        done = await ordered_runs.run_now(request, deps, make_order(settings, "substrate upkeep run", watch))
    return answer_runs(done, settings)


class _Undo(options.StoreCommand, name="upkeep undo"):
    """Take a whole run back. What somebody else has changed since is left and named."""

    run_id: str = argument("RUN", "The id of a run, from `substrate upkeep status`.")
    as_json: bool = options.AS_JSON

    def run(self) -> None:
        settings = self.settings.upkeep

        async def undo(run_id: str, deps: Deps) -> Run:
            place, _ = await ordered_runs.find_run(run_id, deps)
            order = make_order(settings, "substrate upkeep undo", Watch(0, rest=Pace(FOREGROUND_SHARE).rest))
            return await ordered_runs.take_back(place, run_id, deps, order)

        self.show(self.answer(undo, self.run_id), self._show)

    def _show(self, taken_back: Run, page: support.Sheet) -> None:
        page.fold(f"{count_of(taken_back.undone, 'change')} of {self.run_id} taken back.")
        if taken_back.beyond_undo:
            page.fold(f"{taken_back.beyond_undo:,} erased for good, which nothing brings back.", "yellow")
        for error in taken_back.errors:
            page.fold(f"left as it is: {formatting.to_line(error)}", "yellow")


class _Set(options.StoreCommand, name="upkeep set"):
    """Say which upkeep a citizen wants, in place of what it wanted before; without options: as the service."""

    citizen_id: str = options.CITIZEN
    mode: str | None = option("--mode", "idle, or off: no upkeep in idle time. Left out: as the service is set.")
    jobs: list[str] | None = JOB

    def run(self) -> None:
        own, citizen = self.request(OwnUpkeep), self.citizen_id
        due.check_names(own.jobs, map(due.name_of, JOBS))
        kept = self.answer(ordered_runs.set_own, citizen, own, of=citizen)
        jobs = "the jobs of the service" if kept.jobs is None else ", ".join(kept.jobs) or "no job"
        support.output().fold(f"{citizen}: {'off' if kept.mode == 'off' else jobs}")


def _show_runs(answer: RunsAnswer, page: support.Sheet) -> None:
    running = [job.name for job in answer.jobs if job.runs]
    when = "In idle time" if answer.upkeep == "idle" else "Upkeep in idle time is off; when asked"
    page.fold(f"{when}: {', '.join(running) or 'no job'}")
    if answer.holder:
        page.fold(f"At work now: {formatting.to_line(answer.holder)}", "yellow")
    if not answer.runs:
        page.fold("No runs yet." if answer.jobs else "This release has no jobs.", "bright_black")
    for each in answer.runs:
        whose = formatting.name_graph(each, each.citizen_id)
        line = Text.assemble(
            f"{each.id}  {formatting.format_time(each.begun_at)}  {each.job} in {whose}: ",
            (f"{each.status} (dry run)" if each.dry_run else each.status, STATUS_COLOURS[each.status]),
            f", {each.seen:,} seen, {each.changed:,} changed, {each.refused:,} refused",
        )
        page.say(line)
        for told in (*each.shown, *each.errors):
            page.say(f"  {formatting.to_line(told)}", "bright_black")


class Repair(NamedTuple):
    """A finding whose repair was run."""

    finding: Finding
    is_done: bool
    detail: str


class ValidateCommand(options.StoreCommand, name="validate"):
    """Check whole graphs for broken links and memories, duplicates, junk, unset fields and missing vectors.

    Only --fix changes anything: it runs the listed repairs of a kind. Records that they close stay in the past.
    The summary of each check is kept; --trend shows them.
    """

    citizen_id: str | None = options.ANY_CITIZEN
    levels: list[str] | None = options.ANY_LEVELS
    collective: str | None = options.COLLECTIVE
    findings_per_kind: int = option("--limit", "Findings of each kind that are listed; all are counted.", 100)
    fix: list[str] | None = option("--fix KIND", f"Run the repairs of a kind: {', '.join(KINDS)}.")
    trend: bool = option("--trend", "Check nothing; show what the checks before found, oldest first.", False)
    as_json: bool = option("--json", "Print the whole report as JSON.", False)

    def run(self) -> None:
        fix = self.fix or ()
        if self.trend and fix:
            raise InvalidRequest("--trend and --fix: give one of them")
        unknown = [kind for kind in fix if kind not in KINDS]
        if unknown:
            raise InvalidRequest(f"--fix: nothing repairs {unknown[0]!r}", remedy=f"Kinds: {', '.join(KINDS)}.")
        request = self.request(SweepRequest)
        of = request.citizen_id if Level.N1 in request.chosen() else None
        if self.trend:
            levels, citizen = request.chosen(), request.citizen_id
            quality = self.answer(read_quality, levels, citizen, limit=MOST_SUMMARIES, of=of)
            self.show(quality, _show_trend)
            return
        answer, repairs = self.answer(_sweep, request, fix, of=of)
        if self.as_json:
            support.write_json(answer.model_dump_json())
        for report in () if self.as_json else answer.reports:
            _show_report(report, support.output())
        for note in answer.notes:
            support.messages().fold(note, "yellow")
        _show_repairs(repairs, support.messages() if self.as_json else support.output())
        if _count_errors_left(answer, repairs):
            raise typer.Exit(EXIT_CONFLICT)


def _count_errors_left(answer: SweepAnswer, repairs: Sequence[Repair]) -> int:
    """Errors found, listed or not, and not repaired."""
    errors = 0
    for report in answer.reports:
        errors += sum(count for kind, count in report.findings_by_kind.items() if SEVERITY[kind] == "error")
    return errors - sum(repair.is_done and repair.finding.severity == "error" for repair in repairs)


async def _sweep(
    request: SweepRequest, fix: Sequence[str], runtime: Runtime, now: Instant
) -> tuple[SweepAnswer, list[Repair]]:
    with support.progress_bar(0, "memories") as advance:
        answer = await sweep_and_keep(request, runtime.deps, now, advance)
    now, repairs = await runtime.moment(), []
    for report in answer.reports:
        for finding in report.findings:
            if finding.kind in fix and finding.repair is not None:
                outcome = await run_repair(finding.repair, runtime.deps, now)
                repairs.append(Repair(finding, outcome.status == "done", outcome.detail))
    return answer, repairs


def _whose(graph: SweepReport | QualitySeries) -> tuple[str, str]:
    return formatting.name_graph(graph, graph.citizen_id), "bold"


def _show_trend(quality: QualityAnswer, page: support.Sheet) -> None:
    for series in quality.series:
        if not series.summaries:
            page.fold(Text.assemble(_whose(series), ": never checked; `substrate validate` checks"))
            continue
        page.fold(*_whose(series))
        for summary in series.summaries:
            found = ", ".join(f"{severity} {n:,}" for severity, n in summary.findings_by_severity.items())
            line = (
                f"  {summary.swept_at:%Y-%m-%d %H:%M}  {summary.quality_grade or 'no grade':<10}  "
                f"{summary.average_completeness:4.0%} complete  {count_of(summary.total_memories, 'memory')}"
                f"  {found}"
            )
            page.say(line.rstrip())
        if series.fallen_from is not None:
            page.fold(f"  The grade fell: it was {series.fallen_from} within 30 days.", "yellow")


def _show_report(report: SweepReport, page: support.Sheet) -> None:
    quality = report.report
    if not report.scanned_nodes:
        page.fold(Text.assemble(_whose(report), ": nothing was remembered yet"))
        return
    described = describe_grade(quality).capitalize()
    complete = f": {quality.average_completeness:.0%} complete" if not quality.nothing_given else ""
    scanned = f"{count_of(report.scanned_nodes, 'memory')}, {count_of(report.scanned_links, 'link')}"
    found = f"{quality.memories_with_errors:,} with errors, {quality.memories_with_warnings:,} with warnings."
    line = f": {scanned} in {report.seconds:.1f} s. {described}{complete}, {found}"
    page.fold(Text.assemble(_whose(report), line))
    if not report.findings_by_kind:
        page.fold("Nothing to repair.", "green")
    for kind, count in report.findings_by_kind.items():
        listed = [finding for finding in report.findings if finding.kind == kind]
        repairable = sum(finding.repair is not None for finding in listed)
        hint = f"; `--fix {kind}` repairs {repairable:,}" if repairable else ""
        page.fold(f"{kind} {count:,}{hint}", SEVERITY_COLOURS[listed[0].severity] if listed else "")
        for finding in listed[:SHOWN]:
            page.fold(f"  {formatting.to_line(finding.id)}: {formatting.shorten(finding.message, 160)}")
        if count > SHOWN and listed:
            page.fold(f"  and {count - SHOWN:,} more", "bright_black")


def _show_repairs(repairs: Sequence[Repair], page: support.Sheet) -> None:
    for repair in repairs:
        if not repair.is_done:
            page.fold(f"not repaired: {formatting.to_line(repair.finding.id)}: {repair.detail}", "yellow")
    if repairs:
        done = sum(repair.is_done for repair in repairs)
        page.fold(f"repaired {done:,} of {len(repairs):,}; closed records stay in the past")


class ReembedCommand(options.StoreCommand, name="reembed"):
    """Recompute the vectors of every graph with the model of SUBSTRATE_EMBEDDING; `none` removes all vectors.

    Services with the former model keep answering until all vectors are ready. After an interruption run it again:
    it resumes.
    """

    def run(self) -> None:
        async def reembed(deps: Deps) -> ReembedReport:
            with support.progress_bar(0, "records") as advance:
                return await reembed_store(deps.connection, deps.embedder, advance)

        try:
            report = self.answer(reembed)
        except KeyboardInterrupt:
            note = "Interrupted. The former vectors are still in use; run it again to resume."
            support.messages().say(note, "yellow")
            raise typer.Exit(EXIT_INTERRUPTED) from None
        page, vectors = support.output(), f"{report.model}, {report.dimension} dimensions"
        if not report.graphs:
            page.say(f"All graphs have these vectors already: {vectors}")
            return
        counts = f"{count_of(len(report.graphs), 'graph')}, {count_of(report.records, 'record')}"
        page.say(f"{counts} in {report.seconds:.1f} s; the embedding is now {vectors}")
        page.fold("Restart services with this SUBSTRATE_EMBEDDING: those with the former model stop answering.")
