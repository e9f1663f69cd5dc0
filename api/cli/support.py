"""Helpers of the commands: settings, the open store, parsing of options, error texts, output."""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import typer
from pydantic import BaseModel, ValidationError
from pydantic_settings import BaseSettings, SettingsError
from rapidfuzz import fuzz, process
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from api.cli.program import run_until_stopped
from api.runtime.runtime import OnLoading, Runtime, open_runtime
from orchestration.dependencies import Deps
from orchestration.ingestion.written_times import parse_time
from schemas.base import without_nulls
from schemas.collectives import GraphRequest, owner_of
from schemas.commands import Writer
from schemas.errors import InvalidRequest, NotFound
from schemas.memory import GraphKey, Level
from schemas.settings import (
    AuthSettings,
    ClientSettings,
    EmbeddingSettings,
    LanguageModelSettings,
    ServerSettings,
    Settings,
    StoreSettings,
    UpkeepSettings,
)
from schemas.temporal import ALL_KNOWN, Instant, check_digits
from substrate.engine.unix_socket import Loading
from substrate.graphs.names import graph_name

run = run_until_stopped
drop_unset = without_nulls

_NAMES_SHOWN = 5
_REPORT_EVERY_S = 5.0
_ALIKE = 60.0
"""Similarity in percent from which a known citizen is proposed for an unknown name."""


def output() -> Console:
    """Standard output. It prints plain text, never markup: much of it comes from users."""
    return Console(highlight=False, markup=False, emoji=False)


def messages() -> Console:
    """Standard error: progress and warnings."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


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
    settings = Settings(
        store=read_group(StoreSettings),
        embedding=read_group(EmbeddingSettings),
        server=read_group(ServerSettings),
        auth=read_group(AuthSettings),
        language_model=read_group(LanguageModelSettings),
        upkeep=read_group(UpkeepSettings),
    )
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


def open_store(settings: Settings) -> AbstractAsyncContextManager[Runtime]:
    """The open store; prints to stderr while the engine loads."""
    return open_runtime(settings, report_loading())


def report_loading() -> OnLoading:
    """A callback that prints to stderr what the engine loads: at once, then every five seconds."""
    reported_at = -_REPORT_EVERY_S

    def report(loading: Loading) -> None:
        nonlocal reported_at
        if loading.seconds >= reported_at + _REPORT_EVERY_S:
            reported_at = loading.seconds
            messages().print(Text(f"waiting: {loading.describe()}", "bright_black"), soft_wrap=True)

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


def parse_time_option(option: str, text: str | None) -> datetime | date | None:
    """Parse the time of an option, without a zone if the text names none. Raises InvalidRequest for no time.

    A date stays one: its field knows whether its beginning or its end is meant.
    """
    if text is None:
        return None
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


def parse_known_at(text: str | None) -> datetime | date | None:
    """Parse `--known-at`: a time, or `now` for all that is known. Raises InvalidRequest for neither."""
    if text is not None and text.strip().lower() == "now":
        return ALL_KNOWN
    return parse_time_option("--known-at", text)


def parse_numbers(option: str, texts: Sequence[str] | None, example: str) -> dict[str, float]:
    """The map of `NAME=X` options. Raises InvalidRequest for another form, with `example` in its remedy."""
    numbers: dict[str, float] = {}
    for text in texts or ():
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


def print_answer[T: BaseModel](answer: T, printer: Callable[[T, Console], None], *, as_json: bool) -> None:
    """Print an answer as JSON, or by `printer`."""
    if as_json:
        write_json(answer.model_dump_json())
    else:
        printer(answer, output())


class GraphChoice(GraphRequest):
    """One graph: a level, and on N1 the citizen."""


class MemoryQuestion(Protocol):
    """A question to a citizen's memory."""

    @property
    def citizen_id(self) -> str: ...

    @property
    def query_levels(self) -> Collection[Level]: ...


def writer_of(request: GraphRequest) -> Writer:
    """Who names a citizen writes to a shared level as this citizen; without one it is the operator, a steward."""
    is_author = request.level is not Level.N1 and request.citizen_id is not None
    return Writer(author=request.citizen_id, steward=False) if is_author else Writer()


def answer_question[Q: MemoryQuestion, A](
    ctx: typer.Context, question: Q, answer: Callable[[Q, Deps, Instant], Awaitable[A]]
) -> A:
    """Raises NotFound when the citizen is unknown."""
    of = question.citizen_id if Level.N1 in question.query_levels else None
    return in_store(read_settings(ctx), partial(answer, question), of)


def in_store[A](
    settings: Settings, work: Callable[[Deps, Instant], Awaitable[A]], of: GraphRequest | str | None = None
) -> A:
    """What the work in the open store returns. `of`: a citizen, or a graph. Raises NotFound when it is unknown."""

    async def answer() -> A:
        async with open_store(settings) as runtime:
            if isinstance(of, str):
                await find_graph(runtime, Level.N1, of)
            elif of is not None:
                await find_graph(runtime, of.graph_key, of.citizen_id)
            return await work(runtime.deps, await runtime.moment())

    return run(answer())


def show_names(names: Sequence[str], console: Console, *, otherwise: str) -> None:
    """Print one name on each line; `otherwise` to standard error where there is none."""
    for name in names:
        console.print(Text(name), soft_wrap=True)
    if not names:
        messages().print(Text(otherwise, "bright_black"))


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
    alike = process.extract(citizen, known, scorer=fuzz.ratio, score_cutoff=_ALIKE, limit=3)
    if alike:
        return f"Did you mean {' or '.join(name for name, *_ in alike)}?"
    more = f" and {len(known) - _NAMES_SHOWN:,} more" if len(known) > _NAMES_SHOWN else ""
    return f"Known here: {', '.join(known[:_NAMES_SHOWN])}{more}."


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        """Items per second."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s", "bright_black")


@contextmanager
def progress_bar(console: Console, total: int, things: str = "commands") -> Iterator[Callable[[int, int], None]]:
    """A bar for `total` things. Yields a function of (done, total) that advances it; silent without a terminal."""
    columns = (
        TextColumn(f"{{task.completed:,.0f}} of {{task.total:,.0f}} {things}"),
        BarColumn(bar_width=None),
        _Rate(),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
    )
    with Progress(
        *columns, console=console, disable=not console.is_terminal, expand=True, transient=True
    ) as shown:
        task = shown.add_task("", total=total)
        yield lambda done, of: shown.update(task, completed=done, total=of)
