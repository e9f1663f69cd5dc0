"""Helpers of the commands: settings, the open store, parsing of options, error texts, output."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import typer
from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsError
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from api.cli import formatting
from api.cli.program import run_until_stopped
from api.runtime.runtime import OnLoading, Runtime
from schemas.base import without_nulls
from schemas.collectives import GraphRequest, owner_of
from schemas.errors import InvalidRequest, NotFound
from schemas.memory import GraphKey, Level
from schemas.settings import ClientSettings, Settings
from schemas.temporal import check_digits
from substrate.engine.unix_socket import Loading
from substrate.graphs.names import graph_name

if TYPE_CHECKING:
    from rich.progress import Task

    from schemas.commands import Writer
    from schemas.stream import ConsciousnessStream

run = run_until_stopped
drop_unset = without_nulls

MARGIN = 3
PROGRESS_S = 5.0
_NAMES_SHOWN = 5
_REPORT_EVERY_S = 5.0
_ALIKE = 60.0
"""Similarity in percent from which a known citizen is proposed for an unknown name."""


class Sheet(Console):
    """It prints plain text, never markup: much of it comes from users."""

    def __init__(self, **more: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **more)

    def say(self, line: str | Text, style: str = "") -> None:
        """Print a line as it is, however long."""
        self.print(Text(line, style) if isinstance(line, str) else line, soft_wrap=True)

    def fold(self, line: str | Text, style: str = "") -> None:
        """Print a line within the width of the terminal."""
        self.print(Text(line, style) if isinstance(line, str) else line)

    def indent(self, line: str | Text, style: str = "") -> None:
        """Print a line wrapped inside the margin, without blanks at the ends of lines."""
        text = Text(line, style) if isinstance(line, str) else line
        for part in text.wrap(self, max(20, self.width - MARGIN)):
            part.rstrip()
            self.say(Text(" " * MARGIN) + part)

    def heading(self, title: str, style: str = "bold", rule: str = "bright_black") -> None:
        """Print a title with a rule beside it."""
        self.print(Rule(Text(title, style), align="left", style=rule))

    def notes(self, notes: Iterable[str], style: str = "dim") -> None:
        """Print each note in a line of its own."""
        for note in notes:
            self.fold(f"note: {formatting.to_line(note)}", style)

    def cursor(self, after: str | None) -> None:
        """Print how the next page is asked for, where there is one."""
        if after is not None:
            self.say(f"more: --cursor {after}", "bright_black")


def output() -> Sheet:
    """Standard output."""
    return Sheet()


def messages() -> Sheet:
    """Standard error: progress and warnings."""
    return Sheet(stderr=True)


def remark(text: str) -> None:
    """Say on standard error that there is nothing to print."""
    messages().fold(text, "bright_black")


def read_settings(ctx: typer.Context) -> Settings:
    """The settings of the environment, with the global option `--data` applied.

    Raises InvalidRequest where SUBSTRATE_BASE_URL names a service, whose store this command would not open.
    """
    data: Path | None = ctx.find_root().obj
    service = read_group(ClientSettings).named
    brings_store = ctx.info_name in ("serve", "demo")
    if service is not None and data is None and not brings_store:
        raise InvalidRequest(
            f"SUBSTRATE_BASE_URL names the service at {service}, and `{ctx.command_path}` opens a store itself",
            remedy="Name that store (`substrate --data DIR …`), or unset SUBSTRATE_BASE_URL; the service answers "
            "REST, the Python client and `substrate mcp`.",
        )
    settings = Settings(**{name: read_group(kind) for name, kind in get_type_hints(Settings).items()})
    return settings if data is None else use_directory(settings, data)


def use_directory(settings: Settings, data: Path) -> Settings:
    """The same settings with the embedded engine in `data`, even if a server is configured."""
    store = settings.store.model_copy(update={"data": data, "url": None, "falkordb_host": None})
    return replace(settings, store=store)


def read_group[T: BaseSettings](kind: type[T]) -> T:
    """Raises InvalidRequest with every fault, each under the name of its environment variable."""
    try:
        return validate(kind, {}, {name: f"SUBSTRATE_{name.upper()}" for name in kind.model_fields})
    except SettingsError as error:
        raise InvalidRequest(str(error), remedy='Lists are written as JSON, such as ["https://a.org"].') from error


def report_loading() -> OnLoading:
    """A callback that prints to stderr what the engine loads: at once, then every five seconds."""
    reported_at = -_REPORT_EVERY_S

    def report(loading: Loading) -> None:
        nonlocal reported_at
        if loading.seconds >= reported_at + _REPORT_EVERY_S:
            reported_at = loading.seconds
            messages().say(f"waiting: {loading.describe()}", "bright_black")

    return report


def validate[T](make: Callable[..., T], fields: Mapping[str, Any], options: Mapping[str, str] | None = None) -> T:
    """`make(**fields)`. Raises InvalidRequest with every fault; `options` maps fields to the names of options."""
    try:
        return make(**fields)
    except ValidationError as error:
        faults = tuple(_describe_fault(fault, options or {}) for fault in error.errors(include_url=False))
        raise InvalidRequest("; ".join(faults), faults=faults) from error


def _describe_fault(fault: Mapping[str, Any], options: Mapping[str, str]) -> str:
    message = str(fault["msg"]).removeprefix("Value error, ")
    named = {"citizen_id": "citizen", "collective": "collective", "collectives": "collective"}
    if fault["type"] == "string_pattern_mismatch" and fault["loc"] and (whose := named.get(str(fault["loc"][0]))):
        message = f"a {whose} id has 1 to 64 letters, digits and _ . -, and begins with a letter or a digit"
    if not fault["loc"]:
        return re.sub(r"\w+", lambda word: options.get(word[0], word[0]), message)
    first, *rest = map(str, fault["loc"])
    inside = f" ({'.'.join(rest)})" if rest and not rest[0].isdigit() else ""
    return f"{options.get(first, first)}{inside}: {message}"


def parse_time_option(option: str, text: str) -> datetime | date:
    """Parse the time of an option, without a zone if the text names none. Raises InvalidRequest for no time.

    A date stays one: its field knows whether its beginning or its end is meant.
    """
    from orchestration.ingestion.written_times import parse_time  # noqa: PLC0415  (few commands name a time)

    try:
        check_digits(text)
        moment, zoned = parse_time(text)
    except (ValueError, OverflowError) as error:
        raise InvalidRequest(
            f"{option}: {text!r} is no time ({error})",
            remedy="Write it like 2025-07-20 or 2025-07-20T14:30+02:00.",
        ) from error
    if moment.date().isoformat() == text.strip():
        return moment.date()
    return moment if zoned else moment.replace(tzinfo=None)


def parse_numbers(option: str, texts: Sequence[str], example: str) -> dict[str, float]:
    """The map of `NAME=X` options. Raises InvalidRequest for another form, with `example` in its remedy."""
    numbers: dict[str, float] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            numbers[name.strip()] = float(number)
        except ValueError:
            name = ""
        if not name.strip():
            raise InvalidRequest(
                f"{option}: {text!r} is not NAME=X", remedy=f"Write it like `{option} {example}`."
            )
    return numbers


def write_json(text: str) -> None:
    """Write a text to standard output in UTF-8, whatever the encoding of the terminal."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode() + b"\n")
    sys.stdout.buffer.flush()


def write_graph(stream: ConsciousnessStream, *, graphml: bool, node_link: bool) -> None:
    """Write the traversal graph alone. Raises InvalidRequest where both forms are asked for."""
    if graphml and node_link:
        raise InvalidRequest("--graphml and --node-link are two forms", remedy="Leave out one of them.")
    write_json(stream.traversal_graph.written("graphml" if graphml else "node-link"))


def writer_of(request: GraphRequest) -> Writer:
    """Who names a citizen writes to a shared level as this citizen; without one it is the operator, a steward."""
    from schemas.commands import Writer  # noqa: PLC0415  (a question writes nothing)

    is_author = request.level is not Level.N1 and request.citizen_id is not None
    return Writer(author=request.citizen_id, steward=False) if is_author else Writer()


async def find_graph(runtime: Runtime, key: GraphKey, citizen: str | None) -> str:
    """The name of an existing graph. Raises NotFound, naming known citizens with similar names."""
    if key == Level.N1 and citizen is None:
        raise InvalidRequest("--citizen: level N1 is personal", remedy="Name the citizen whose memory it is.")
    graph = graph_name(key, citizen)
    if await runtime.deps.graphs.for_reading(graph):
        return graph
    if key != Level.N1:
        raise NotFound(
            f"nothing was remembered in {owner_of(key, None)} yet", remedy="See `substrate ingest --help`."
        )
    known = await runtime.deps.graphs.citizens()
    raise NotFound(f"there is no citizen {citizen!r} here", remedy=_propose_citizens(str(citizen), known))


def _propose_citizens(citizen: str, known: list[str]) -> str:
    if not known:
        return "Nothing was remembered yet: start with `substrate ingest` or see `substrate demo`."
    if citizen in known:
        return "Its first write was broken off and nothing is stored: send it again."
    from rapidfuzz import fuzz, process  # noqa: PLC0415  (most citizens are known)

    alike = process.extract(citizen, known, scorer=fuzz.ratio, score_cutoff=_ALIKE, limit=3)
    if alike:
        return f"Did you mean {' or '.join(name for name, *_ in alike)}?"
    more = f" and {len(known) - _NAMES_SHOWN:,} more" if len(known) > _NAMES_SHOWN else ""
    return f"Known here: {', '.join(known[:_NAMES_SHOWN])}{more}."


@contextmanager
def progress_bar(total: int, things: str) -> Iterator[Callable[[int, int], None]]:
    """A bar for `total` things, in a pipe a line every few seconds. Yields a function of (done, total)."""
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            """Items per second."""
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:,.0f}/s", "bright_black")

    console = messages()
    columns = (
        TextColumn(f"{{task.completed:,.0f}} of {{task.total:,.0f}} {things}"),
        BarColumn(bar_width=None),
        Rate(),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
    )
    with Progress(
        *columns, console=console, disable=not console.is_terminal, expand=True, transient=True
    ) as shown:
        task = shown.add_task("", total=total)
        told = time.monotonic()

        def advance(done: int, of: int) -> None:
            nonlocal told
            shown.update(task, completed=done, total=of)
            if not console.is_terminal and time.monotonic() - told > PROGRESS_S:
                told = time.monotonic()
                console.say(f"{done:,} of {of:,} {things}")

        yield advance
