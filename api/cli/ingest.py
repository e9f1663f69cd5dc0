"""`substrate ingest`: store files in a citizen's memory; safe to interrupt and repeat. `hear`: append messages.
`import`: read an export into an empty memory, whole or not at all, or a file of another program.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import partial
from itertools import batched
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
import typer
from rich.text import Text

from api.cli import formatting, options, support
from api.cli.program import EXIT_CONFLICT, EXIT_INTERRUPTED, argument, option
from api.runtime.runtime import Runtime
from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.facts import require_language_model, store_facts
from orchestration.ingestion.file_readers import FilesToRead, read_once
from orchestration.ingestion.formats import FORMATS
from orchestration.ingestion.formats.files import names_below, size_of
from orchestration.ingestion.formats.reader import ParsedFiles
from orchestration.ingestion.hearing import NewMessages, arranged_episodes, hear_messages
from orchestration.ingestion.pipeline import ingest, ingest_as_happened, ingest_atomically, settle
from orchestration.ingestion.storing import NOBODY, Job, Origin, length
from orchestration.ingestion.written_times import read_zone
from orchestration.transfer.importer import ImportReport, import_lines
from schemas.base import CitizenId, Identifier, Request
from schemas.collectives import GraphRequest, owner_of
from schemas.commands import Writer
from schemas.errors import InvalidRequest
from schemas.language_model import FactsReport
from schemas.memory import GraphKey, Level
from schemas.responses import HeardReport, IngestReport
from schemas.temporal import Instant
from substrate.connection.errors import LOAD_PATIENCE_S, patient
from substrate.language.text import count_of
from substrate_client.async_client import MESSAGES_AT_ONCE, join_heard, refused_messages

FAULTS_SHOWN: Final = 10
AS_HAPPENED: Final = option(
    "--known-as-happened",
    "Each message and memory becomes known when it happened; only into a memory that knows nothing of "
    "that time yet.",
    False,
)


class How(NamedTuple):
    """How files are stored: all or nothing, with facts by the language model, known as it happened; by whom."""

    atomic: bool = False
    extract_facts: bool = False
    as_happened: bool = False
    writer: Writer = NOBODY

    def check(self, form: str | None) -> None:
        """Raises InvalidRequest for options that do not go together."""
        if self.atomic and form != "commands":
            remedy = "Leave it out: other files can be ingested again."
            raise InvalidRequest("--atomic is for -f commands", remedy=remedy)
        fault = ""
        if self.atomic and self.extract_facts:
            fault = "--extract-facts is for conversations, not for -f commands"
        elif self.as_happened and (self.atomic or self.extract_facts):
            fault = "--known-as-happened goes neither with --atomic nor with --extract-facts"
        if fault:
            raise InvalidRequest(fault, remedy="Leave one out.")


class _TakingCommand(options.StoreCommand):
    def take_in(self, intake: ParsedFiles, origin: Origin | None, how: How) -> None:
        """Store the parsed files and print a report. Exits with 5 when something was refused."""
        try:
            report, facts, seconds = self.answer(_ingest, intake, origin, how)
        except KeyboardInterrupt:
            note = "Interrupted. What was stored stays; run it again to store the rest, without duplicates."
            support.messages().say(note, "yellow")
            raise typer.Exit(EXIT_INTERRUPTED) from None
        if self.as_json:
            told = {"report": report.model_dump(mode="json")}
            if facts is not None:
                told["facts"] = facts.model_dump(mode="json")
            support.write_json(orjson.dumps(told).decode())
        else:
            _show_report(report, intake, seconds, support.output())
            if facts is not None:
                _show_facts(facts, support.output())
        if report.refused:
            raise typer.Exit(EXIT_CONFLICT)


class IngestCommand(_TakingCommand, name="ingest"):
    """Store conversations, notes or commands from files, as programs export them.

    Nothing is stored twice, so the same files can be ingested again, from any place, and a later export of the
    same conversations. An edited note supersedes what was stored of it, and what is no longer in a folder of notes
    ends; the past keeps both.
    """

    path: Path = argument(None, "A file, or a folder of files.")
    form: str | None = option("--format -f", f"{', '.join(FORMATS)}. Default: as the files seem to be.")
    citizen_id: str | None = option("--citizen -c ID", "Whose memory; LoCoMo samples name their own.")
    level: str = option("--level", "N1 personal, N2 collective, N3 ecosystem.", "N1")
    collective: str | None = options.COLLECTIVE
    timezone: str | None = option(
        "--timezone ZONE", "Of times that name none, such as Europe/Berlin. Default: UTC."
    )
    atomic: bool = option(
        "--atomic", "With -f commands: store all of them or none; at most 100, for one graph.", False
    )
    strict: bool = option(
        "--strict", "Store nothing when a file cannot be read. Default: store the others.", False
    )
    extract_facts: bool = option(
        "--extract-facts", "Let the language model extract facts from conversations.", False
    )
    as_happened: bool = AS_HAPPENED
    as_json: bool = option("--json", "Print the report as JSON.", False)

    def run(self) -> None:
        graph: GraphKey = Level.N1
        path, form, owner, writer = self.path, self.form, self.citizen_id, NOBODY
        if self.collective is not None or self.level.upper() != Level.N1:
            shared = self.request(GraphRequest)
            graph, owner, writer = shared.graph_key, shared.owner, support.writer_of(shared)
        how = How(self.atomic, self.extract_facts, self.as_happened, writer)
        how.check(form)
        zone = None if self.timezone is None else read_zone(self.timezone)
        strict = self.strict or self.atomic
        task = FilesToRead(str(path), size_of(path), None, form, owner, zone=zone, strict=strict)
        read = support.run(read_once(task))
        intake = read.intake
        if form is None:
            support.messages().fold(f"format: {', '.join(intake.parsed.formats)}", "bright_black")
        left_out = names_below(path).difference(read.files)  # files of other formats are not gone
        is_folder = path.is_dir() or read.files not in ((path.name,), (str(path),))
        origin = Origin(read.name, path.resolve(), platform.node(), is_folder, intake.unread | left_out)
        self.take_in(intake.parsed.into(graph), origin, how)


async def _ingest(
    intake: ParsedFiles, origin: Origin | None, how: How, *, runtime: Runtime, now: Instant
) -> tuple[IngestReport, FactsReport | None, float]:
    """The reports, and how many seconds storing took after the store was open."""
    deps = runtime.deps
    if how.extract_facts:
        require_language_model(deps)
    begun = time.perf_counter()
    if how.atomic:
        report = await ingest_atomically(intake, deps, now, writer=how.writer)
        return report, None, time.perf_counter() - begun
    total = sum(map(length, intake.items))
    things = "messages" if all(isinstance(item, Episode) for item in intake.items) else "memories and links"
    with support.progress_bar(total, things) as advance, patient(LOAD_PATIENCE_S):
        store = ingest_as_happened if how.as_happened else partial(ingest, origin=origin)
        report = await store(intake, deps, now, progress=advance, writer=how.writer)
    seconds = time.perf_counter() - begun
    if not how.extract_facts:
        return report, None, seconds
    arranged = await arranged_episodes(await settle(intake, deps, now, origin), deps, now)
    return report, await store_facts(arranged, deps, await runtime.moment(), how.writer), seconds


def _show_facts(report: FactsReport, page: support.Sheet) -> None:
    calls = report.model_calls
    tokens = sum((call.input_tokens or 0) + (call.output_tokens or 0) for call in calls)
    costs = [call.cost for call in calls if call.cost is not None]
    cost = f", cost {sum(costs):.4f}" if costs else ""
    page.fold(
        f"facts: {len(report.links):,} new, {report.known:,} known already, {report.left_out:,} left out, "
        f"by {count_of(len(calls), 'call')} of {count_of(tokens, 'token')}{cost}"
    )
    for link_id in report.links:
        page.fold(f"  {formatting.to_line(link_id)}")
    for supersession in report.supersessions:
        how = "ended" if supersession.applied else f"not ended: {formatting.to_line(supersession.reason)}"
        colour = "default" if supersession.applied else "yellow"
        page.fold(f"  {formatting.to_line(supersession.ended)}: {how}", colour)
    page.notes(report.notes, "yellow")


def _show_report(report: IngestReport, intake: ParsedFiles, seconds: float, page: support.Sheet) -> None:
    kinds = {"turn": report.turns, "session": report.sessions, "person": report.persons}
    kinds |= {"memory": report.memories, "link": report.links}
    counts = ", ".join(count_of(count, kind) for kind, count in kinds.items() if count)
    whose = sorted({owner_of(item.graph, item.citizen_id) for item in intake.items if item.citizen_id})
    page.fold(f"{', '.join(whose) or 'Commands'}: {counts or 'no memory'}")
    rate = f", {report.turns / seconds:,.0f} turns a second" if report.turns and report.stored else ""
    page.fold(
        f"stored {report.stored:,}, there already {report.duplicates:,}, refused {report.refused:,} "
        f"in {seconds:.1f} s{rate}"
    )
    if report.superseded or report.retracted:
        page.fold(f"of these {report.superseded:,} superseded, {report.retracted:,} ended")
    if report.stored:
        page.fold(f"of these {count_of(report.findable, 'memory')} can be found now")
    page.notes(report.notes, "yellow")
    _show_refused(report.faults, page)
    if report.refused > FAULTS_SHOWN:
        page.fold(f"and {report.refused - FAULTS_SHOWN:,} more", "red")


def _show_refused(faults: Iterable[str], page: support.Sheet) -> None:
    for fault in list(faults)[:FAULTS_SHOWN]:
        page.fold(f"refused: {formatting.to_line(fault)}", "red")


class ExportedBy(StrEnum):
    """The program that wrote the file."""

    SUBSTRATE = "substrate"
    GRAPHITI = "graphiti"
    MEM0 = "mem0"
    MCP_MEMORY = "mcp-memory"


class CitizenOverride(Request):
    citizen_id: CitizenId | None = None


class ImportCommand(_TakingCommand, name="import"):
    """Read an export into an empty memory. A file that is damaged or edited changes nothing.

    A file `--from` another program is added to the memory; importing it again stores nothing twice.
    """

    path: Path = argument("FILE", "A file from `substrate export`, or from another program.")
    citizen_id: str | None = option("--citizen -c ID", "Import for this citizen instead of the one in the file.")
    origin: ExportedBy = option("--from", "The program that wrote the file.", ExportedBy.SUBSTRATE)
    as_happened: bool = AS_HAPPENED
    restamp: bool = option("--restamp", "Move what is stamped ahead of now back to now, in its order.", False)

    def run(self) -> None:
        path, citizen_id = self.path, self.request(CitizenOverride).citizen_id
        if self.origin is not ExportedBy.SUBSTRATE:
            if self.restamp:
                raise InvalidRequest("--restamp is for exports of Substrate", remedy="Leave it out.")
            task = FilesToRead(str(path), size_of(path), None, self.origin.value, citizen_id, strict=True)
            intake = support.run(read_once(task)).intake
            self.take_in(intake.parsed, None, How(as_happened=self.as_happened))
            return
        if self.as_happened:
            raise InvalidRequest(
                "--known-as-happened is for files of other programs: an export of Substrate has its own times",
                remedy="Leave it out.",
            )
        report = self.answer(_import, path, citizen_id, restamp=self.restamp)
        counts = ", ".join(count_of(count, kind) for kind, count in sorted(report.counts.items()))
        support.output().say(f"{', '.join(report.graphs) or 'no graph'}: {counts or 'nothing'}")
        if self.restamp:
            said = f"{count_of(report.moved, 'moment')} of writing moved back to now"
            support.messages().say(said, "yellow")
        if report.mended:
            mended = count_of(report.mended, "record")
            note = f"{mended} had maps nested too deeply; the deeper part is stored as a text"
            support.messages().say(note, "yellow")


async def _import(path: Path, citizen_id: str | None, runtime: Runtime, *, restamp: bool) -> ImportReport:
    def lines() -> Iterator[bytes]:
        with path.open("rb") as file:
            yield from file

    try:
        with support.progress_bar(0, "records") as advance, patient(LOAD_PATIENCE_S):
            deps, now = runtime.deps, await runtime.moment()
            return await import_lines(lines, deps, now, citizen_id=citizen_id, restamp=restamp, progress=advance)
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}") from error


class HeardConversation(GraphRequest):
    """The conversation that is named."""

    episode_id: Identifier


class HearCommand(options.StoreCommand, name="hear"):
    """Append a message to a conversation. Without SPEAKER and TEXT, read messages from standard input.

    Standard input holds messages as lines of JSON, new ones or the whole chat as it is now: only what is new is
    stored. Exits with 5 when a message was refused; the others are stored.
    """

    also_called = ("episode_id", "EPISODE")
    episode: str = argument(None, "The conversation; it begins with its first message.")
    speaker: str | None = argument(None, "Who says it: a name, or user, assistant, …", None)
    text: str | None = argument(None, "What is said.", None)
    citizen_id: str | None = options.ANY_CITIZEN
    level: str = options.LEVEL
    collective: str | None = options.COLLECTIVE
    time: str | None = option("--time TIME", "When it was said. Default: now.")
    id: str | None = option("--id", "The sender's id: sent again with other words it is an edit.")
    session: str | None = option("--session", "Its session. Default: a pause of more than an hour begins one.")
    as_json: bool = option("--json", "Print the report as JSON.", False)

    def fields(self) -> dict[str, Any]:
        """Without those of the message, which is read where it is heard."""
        return options.name_graph(self.level, self.collective) | {
            "citizen_id": self.citizen_id, "episode_id": self.episode
        }  # fmt: skip

    def run(self) -> None:
        chosen = self.request(HeardConversation)
        given = {name: getattr(self, name) for name in ("speaker", "text", "time", "id", "session")}
        one = support.drop_unset(given)
        report = self.answer(_hear, chosen, [one] if one else _read_lines())
        self.show(report, _show_heard)
        if report.refused:
            raise typer.Exit(EXIT_CONFLICT)


def _read_lines() -> Iterator[dict[str, Any]]:
    """The messages of standard input. Raises InvalidRequest for a line that is none."""
    for number, line in enumerate(sys.stdin, start=1):
        if not line.strip():
            continue
        try:
            message = orjson.loads(line)
        except orjson.JSONDecodeError:
            message = None
        if not isinstance(message, dict):
            raise InvalidRequest(
                f"line {number} is no JSON object",
                remedy='Each line holds one message, such as {"role": "user", "content": "Hello."}. '
                "What stands before it may be stored; send the whole again: nothing is stored twice.",
            )
        yield message


async def _hear(chosen: HeardConversation, messages: Any, runtime: Runtime) -> HeardReport:
    """Store the messages in parts, so that a long chat is never in memory as a whole."""
    reports: list[HeardReport] = []
    for part in batched(messages, MESSAGES_AT_ONCE):
        sent = NewMessages(chosen.owner, chosen.episode_id, part, chosen.graph_key)
        job = Job(runtime.deps, await runtime.moment(), support.writer_of(chosen))
        reports.append(await hear_messages(sent, job))
    return join_heard(reports).model_copy(update={"citizen_id": chosen.citizen_id})


def _show_heard(report: HeardReport, page: support.Sheet) -> None:
    counts = ("stored", "superseded", "retracted", "left_out", "refused")
    told = [f"{name.replace('_', ' ')} {getattr(report, name):,}" for name in counts if getattr(report, name)]
    told += [f"there already {report.duplicates:,}"] if report.duplicates else []
    told += [f"can be found now {report.findable:,}"] if report.findable else []
    page.fold(Text.assemble((formatting.to_line(report.episode_id), "bold"), f": {', '.join(told)}"))
    page.notes(report.notes, "yellow")
    _show_refused(refused_messages(report), page)
