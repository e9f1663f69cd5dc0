"""`substrate validate`: check whole graphs, list what is wrong, and repair it on request."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Annotated, Final, NamedTuple, get_args

import typer
from rich.console import Console
from rich.text import Text

from api.cli import formatting, options, support
from api.cli.stream_text import describe_grade
from orchestration.upkeep.findings import SEVERITY
from orchestration.upkeep.repair import run_repair
from orchestration.upkeep.sweep import read_quality, sweep_and_keep
from schemas.errors import InvalidRequest
from schemas.memory import Level
from schemas.settings import Settings
from schemas.upkeep.findings import (
    MOST_SUMMARIES,
    Finding,
    Kind,
    QualityAnswer,
    QualitySeries,
    RepairOutcome,
    SweepAnswer,
    SweepReport,
    SweepRequest,
)
from substrate.language.text import count_of

EXIT_ERRORS_FOUND: Final = 5
SHOWN: Final = 10
KINDS: Final = tuple(kind for kind in get_args(Kind) if kind not in ("embedding_stale", "unset_default"))
"""The kinds for which there are repairs."""
OPTIONS: Final = {**options.GRAPH, "levels": "--level", "findings_per_kind": "--limit"}
_COLOURS: Final = {"error": "red", "warning": "yellow", "info": "bright_black"}

app = typer.Typer(add_completion=False)


class Repair(NamedTuple):
    """A finding whose repair was run."""

    finding: Finding
    outcome: RepairOutcome

    @property
    def is_done(self) -> bool:
        return self.outcome.status == "done"


@app.command()
def validate(
    ctx: typer.Context,
    *,
    citizen: options.AnyCitizen = None,
    level: options.AnyLevels = None,
    collective: options.Collective = None,
    limit: Annotated[int, typer.Option(help="Findings of each kind that are listed; all are counted.")] = 100,
    fix: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help=f"Run the repairs of a kind: {', '.join(KINDS)}.")
    ] = None,
    trend: Annotated[
        bool, typer.Option("--trend", help="Check nothing; show what the checks before found, oldest first.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole report as JSON.")] = False,
) -> None:
    """Check whole graphs for broken links and memories, duplicates, junk, unset fields and missing vectors.

    Only --fix changes anything: it runs the listed repairs of a kind. Records that they close stay in the past.
    The summary of each check is kept; --trend shows them.
    """
    if trend and fix:
        raise InvalidRequest("--trend and --fix: give one of them")
    unknown = [kind for kind in fix or () if kind not in KINDS]
    if unknown:
        raise InvalidRequest(f"--fix: nothing repairs {unknown[0]!r}", remedy=f"Kinds: {', '.join(KINDS)}.")
    fields = {
        "citizen_id": citizen,
        "levels": options.upper(level),
        "collective": collective,
        "findings_per_kind": limit,
    }
    request = support.validate(SweepRequest, fields, OPTIONS)
    if trend:
        quality = support.run(_read_trend(support.read_settings(ctx), request))
        support.print_answer(quality, _show_trend, as_json=as_json)
        return
    answer, repairs = support.run(_sweep(support.read_settings(ctx), request, fix or ()))
    if as_json:
        support.write_json(answer.model_dump_json())
    for report in () if as_json else answer.reports:
        _show(report, support.output())
    for note in answer.notes:
        support.messages().print(Text(note, "yellow"))
    _show_repairs(repairs, support.messages() if as_json else support.output())
    if _count_errors_left(answer, repairs):
        raise typer.Exit(EXIT_ERRORS_FOUND)


def _count_errors_left(answer: SweepAnswer, repairs: Sequence[Repair]) -> int:
    """Errors found, listed or not, and not repaired."""
    errors = 0
    for report in answer.reports:
        errors += sum(count for kind, count in report.findings_by_kind.items() if SEVERITY[kind] == "error")
    return errors - sum(repair.is_done and repair.finding.severity == "error" for repair in repairs)


async def _sweep(
    settings: Settings, request: SweepRequest, fix: Sequence[str]
) -> tuple[SweepAnswer, list[Repair]]:
    async with support.open_store(settings) as runtime:
        if Level.N1 in request.chosen():
            await support.find_graph(runtime, Level.N1, request.citizen_id)
        with support.progress_bar(support.messages(), 0, "memories") as advance:
            answer = await sweep_and_keep(request, runtime.deps, await runtime.moment(), advance)
        findings = chain.from_iterable(report.findings for report in answer.reports)
        chosen = [finding for finding in findings if finding.kind in fix]
        now = await runtime.moment()
        return answer, [
            Repair(finding, await run_repair(finding.repair, runtime.deps, now))
            for finding in chosen
            if finding.repair is not None
        ]


async def _read_trend(settings: Settings, request: SweepRequest) -> QualityAnswer:
    async with support.open_store(settings) as runtime:
        if Level.N1 in request.chosen():
            await support.find_graph(runtime, Level.N1, request.citizen_id)
        return await read_quality(request.chosen(), request.citizen_id, runtime.deps, limit=MOST_SUMMARIES)


def _show_trend(quality: QualityAnswer, console: Console) -> None:
    for series in quality.series:
        if not series.summaries:
            console.print(Text.assemble((_whose(series), "bold"), ": never checked; `substrate validate` checks"))
            continue
        console.print(Text(_whose(series), "bold"))
        for summary in series.summaries:
            found = ", ".join(f"{severity} {n:,}" for severity, n in summary.findings_by_severity.items())
            console.print(
                f"  {summary.swept_at:%Y-%m-%d %H:%M}  {summary.quality_grade or 'no grade':<10}  "
                f"{summary.average_completeness:4.0%} complete  {count_of(summary.total_memories, 'memory')}"
                f"  {found}".rstrip(),
                soft_wrap=True,
            )
        if series.fallen_from is not None:
            console.print(Text(f"  The grade fell: it was {series.fallen_from} within 30 days.", "yellow"))


def _whose(graph: SweepReport | QualitySeries) -> str:
    return formatting.name_graph(graph, graph.citizen_id)


def _show(report: SweepReport, console: Console) -> None:
    whose = _whose(report)
    quality = report.report
    if not report.scanned_nodes:
        console.print(Text.assemble((whose, "bold"), ": nothing was remembered yet"))
        return
    described = describe_grade(quality).capitalize()
    complete = f": {quality.average_completeness:.0%} complete" if not quality.nothing_given else ""
    console.print(
        Text.assemble(
            (whose, "bold"),
            f": {count_of(report.scanned_nodes, 'memory')}, {count_of(report.scanned_links, 'link')} "
            f"in {report.seconds:.1f} s. "
            f"{described}{complete}, "
            f"{quality.memories_with_errors:,} with errors, {quality.memories_with_warnings:,} with warnings.",
        )
    )
    if not report.findings_by_kind:
        console.print(Text("Nothing to repair.", "green"))
    for kind, count in report.findings_by_kind.items():
        listed = [finding for finding in report.findings if finding.kind == kind]
        _show_kind(kind, count, listed, console)


def _show_kind(kind: Kind, count: int, listed: Sequence[Finding], console: Console) -> None:
    repairable = sum(finding.repair is not None for finding in listed)
    hint = f"; `--fix {kind}` repairs {repairable:,}" if repairable else ""
    colour = _COLOURS[listed[0].severity] if listed else ""
    console.print(Text(f"{kind} {count:,}{hint}", colour))
    for finding in listed[:SHOWN]:
        message = formatting.shorten(finding.message, 160)
        console.print(Text(f"  {formatting.to_line(finding.id)}: {message}"))
    if count > SHOWN and listed:
        console.print(Text(f"  and {count - SHOWN:,} more", "bright_black"))


def _show_repairs(repairs: Sequence[Repair], console: Console) -> None:
    for repair in repairs:
        if not repair.is_done:
            identity = formatting.to_line(repair.finding.id)
            console.print(Text(f"not repaired: {identity}: {repair.outcome.detail}", "yellow"))
    if repairs:
        done = sum(repair.is_done for repair in repairs)
        console.print(Text(f"repaired {done:,} of {len(repairs):,}; closed records stay in the past"))
