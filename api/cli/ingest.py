"""`substrate ingest`: store files in a citizen's memory; safe to interrupt and repeat."""

from __future__ import annotations

import platform
import time
from functools import partial
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer
from rich.console import Console
from rich.text import Text

from api.cli import formatting, options, support
from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.facts import require_language_model, store_facts
from orchestration.ingestion.file_readers import FilesToRead, read_once
from orchestration.ingestion.formats import FORMATS
from orchestration.ingestion.formats.files import names_below, size_of
from orchestration.ingestion.formats.reader import ParsedFiles
from orchestration.ingestion.hearing import arranged_episodes
from orchestration.ingestion.pipeline import ingest, ingest_as_happened, ingest_atomically, settle
from orchestration.ingestion.storing import NOBODY, Origin, length
from orchestration.ingestion.written_times import read_zone
from schemas.collectives import owner_of
from schemas.commands import Writer
from schemas.errors import InvalidRequest
from schemas.language_model import FactsReport
from schemas.memory import GraphKey, Level
from schemas.responses import IngestReport
from schemas.settings import Settings
from substrate.connection.errors import LOAD_PATIENCE_S, patient
from substrate.language.text import count_of

FAULTS_SHOWN = 10
EXIT_REFUSED = 5
EXIT_INTERRUPTED = 130

app = typer.Typer(add_completion=False)

AsHappened = Annotated[
    bool,
    typer.Option(
        "--known-as-happened",
        help="Each message and memory becomes known when it happened; only into a memory that knows nothing of "
        "that time yet.",
    ),
]


class How(NamedTuple):
    """How files are stored: all or nothing, with facts by the language model, known as it happened; by whom."""

    atomic: bool = False
    extract_facts: bool = False
    as_happened: bool = False
    writer: Writer = NOBODY


USUALLY: Final = How()


@app.command("ingest")
def ingest_files(  # noqa: PLR0913  (a command's arguments are its options)
    ctx: typer.Context,
    path: Annotated[Path, typer.Argument(help="A file, or a folder of files.")],
    *,
    form: Annotated[
        str | None,
        typer.Option("--format", "-f", help=f"{', '.join(FORMATS)}. Default: as the files seem to be."),
    ] = None,
    citizen: Annotated[
        str | None,
        typer.Option("--citizen", "-c", metavar="ID", help="Whose memory; LoCoMo samples name their own."),
    ] = None,
    level: Annotated[str, typer.Option(help="N1 personal, N2 collective, N3 ecosystem.")] = "N1",
    collective: options.Collective = None,
    timezone: Annotated[
        str | None,
        typer.Option(
            "--timezone", metavar="ZONE", help="Of times that name none, such as Europe/Berlin. Default: UTC."
        ),
    ] = None,
    atomic: Annotated[
        bool,
        typer.Option("--atomic", help="With -f commands: store all of them or none; at most 100, for one graph."),
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Store nothing when a file cannot be read. Default: store the others.")
    ] = False,
    extract_facts: Annotated[
        bool, typer.Option("--extract-facts", help="Let the language model extract facts from conversations.")
    ] = False,
    as_happened: AsHappened = False,
) -> None:
    """Store conversations, notes or commands from files, as programs export them.

    Nothing is stored twice, so the same files can be ingested again, from any place, and a later export of the
    same conversations. An edited note supersedes what was stored of it, and what is no longer in a folder of notes
    ends; the past keeps both.
    """
    graph: GraphKey = Level.N1
    owner, writer = citizen, NOBODY
    if collective is not None or level.upper() != Level.N1:
        named = {"citizen_id": citizen, **options.graph(level, collective)}
        shared = support.validate(support.GraphChoice, named, options.GRAPH)
        graph, owner, writer = shared.graph_key, shared.owner, support.writer_of(shared)
    how = How(atomic, extract_facts, as_happened, writer)
    _check_how(how, form)
    zone = None if timezone is None else read_zone(timezone)
    task = FilesToRead(str(path), size_of(path), None, form, owner, zone=zone, strict=strict or atomic)
    read = support.run(read_once(task))
    intake = read.intake
    if form is None:
        formats = ", ".join(intake.parsed.formats)
        support.messages().print(Text(f"format: {formats}", "bright_black"), soft_wrap=True)
    left_out = names_below(path).difference(read.files)  # files of other formats are not gone
    is_folder = path.is_dir() or read.files not in ((path.name,), (str(path),))
    origin = Origin(read.name, path.resolve(), platform.node(), is_folder, intake.unread | left_out)
    take_in(ctx, intake.parsed.into(graph), origin, how)


def _check_how(how: How, form: str | None) -> None:
    """Raises InvalidRequest for options that do not go together."""
    if how.atomic and form != "commands":
        raise InvalidRequest(
            "--atomic is for -f commands", remedy="Leave it out: other files can be ingested again."
        )
    if how.atomic and how.extract_facts:
        raise InvalidRequest("--extract-facts is for conversations, not for -f commands", remedy="Leave one out.")
    if how.as_happened and (how.atomic or how.extract_facts):
        raise InvalidRequest(
            "--known-as-happened goes neither with --atomic nor with --extract-facts", remedy="Leave one out."
        )


def take_in(ctx: typer.Context, intake: ParsedFiles, origin: Origin | None = None, how: How = USUALLY) -> None:
    """Store the parsed files and print a report. Exits with 5 when something was refused."""
    try:
        report, facts, seconds = support.run(_ingest(support.read_settings(ctx), intake, origin, how))
    except KeyboardInterrupt:
        support.messages().print(
            Text(
                "Interrupted. What was stored stays; run it again to store the rest, without duplicates.", "yellow"
            ),
            soft_wrap=True,
        )
        raise typer.Exit(EXIT_INTERRUPTED) from None
    _show_report(report, intake, seconds, support.output())
    if facts is not None:
        _show_facts(facts, support.output())
    if report.refused:
        raise typer.Exit(EXIT_REFUSED)


async def _ingest(
    settings: Settings, intake: ParsedFiles, origin: Origin | None, how: How
) -> tuple[IngestReport, FactsReport | None, float]:
    """The reports, and how many seconds storing took after the store was open."""
    total = sum(map(length, intake.items))
    things = "messages" if all(isinstance(item, Episode) for item in intake.items) else "memories and links"
    async with support.open_store(settings) as runtime:
        if how.extract_facts:
            require_language_model(runtime.deps)
        now, begun = await runtime.moment(), time.perf_counter()
        if how.atomic:
            report = await ingest_atomically(intake, runtime.deps, now, writer=how.writer)
            return report, None, time.perf_counter() - begun
        with support.progress_bar(support.messages(), total, things) as advance, patient(LOAD_PATIENCE_S):
            store = ingest_as_happened if how.as_happened else partial(ingest, origin=origin)
            report = await store(intake, runtime.deps, now, progress=advance, writer=how.writer)
        seconds = time.perf_counter() - begun
        if not how.extract_facts:
            return report, None, seconds
        settled = await settle(intake, runtime.deps, now, origin)
        arranged = await arranged_episodes(settled, runtime.deps, now)
        facts = await store_facts(arranged, runtime.deps, await runtime.moment(), how.writer)
        return report, facts, seconds


def _show_facts(report: FactsReport, console: Console) -> None:
    calls = report.model_calls
    tokens = sum((call.input_tokens or 0) + (call.output_tokens or 0) for call in calls)
    costs = [call.cost for call in calls if call.cost is not None]
    cost = f", cost {sum(costs):.4f}" if costs else ""
    console.print(
        Text(
            f"facts: {len(report.links):,} new, {report.known:,} known already, {report.left_out:,} left out, "
            f"by {count_of(len(calls), 'call')} of {count_of(tokens, 'token')}{cost}"
        )
    )
    for link_id in report.links:
        console.print(Text(f"  {formatting.to_line(link_id)}"))
    for supersession in report.supersessions:
        how = "ended" if supersession.applied else f"not ended: {formatting.to_line(supersession.reason)}"
        console.print(
            Text(
                f"  {formatting.to_line(supersession.ended)}: {how}",
                "default" if supersession.applied else "yellow",
            )
        )
    for note in report.notes:
        console.print(Text(f"note: {formatting.to_line(note)}", "yellow"))


def _show_report(report: IngestReport, intake: ParsedFiles, seconds: float, console: Console) -> None:
    kinds = {"turn": report.turns, "session": report.sessions, "person": report.persons}
    kinds |= {"memory": report.memories, "link": report.links}
    counts = ", ".join(count_of(count, kind) for kind, count in kinds.items() if count)
    whose = sorted({owner_of(item.graph, item.citizen_id) for item in intake.items if item.citizen_id})
    console.print(Text(f"{', '.join(whose) or 'Commands'}: {counts or 'no memory'}"))
    rate = f", {report.turns / seconds:,.0f} turns a second" if report.turns and report.stored else ""
    console.print(
        Text(
            f"stored {report.stored:,}, there already {report.duplicates:,}, refused {report.refused:,} "
            f"in {seconds:.1f} s{rate}"
        )
    )
    if report.superseded or report.retracted:
        console.print(Text(f"of these {report.superseded:,} superseded, {report.retracted:,} ended"))
    if report.stored:
        console.print(Text(f"of these {count_of(report.findable, 'memory')} can be found now"))
    for note in report.notes:
        console.print(Text(f"note: {formatting.to_line(note)}", "yellow"))
    for fault in report.faults[:FAULTS_SHOWN]:
        console.print(Text(f"refused: {formatting.to_line(fault)}", "red"))
    if report.refused > FAULTS_SHOWN:
        console.print(Text(f"and {report.refused - FAULTS_SHOWN:,} more", "red"))
