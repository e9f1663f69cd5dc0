"""What the commands share: settings, running to the end, reading of options, faults in their words, answers."""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import replace
from datetime import datetime
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
from orchestration.ingestion.formats.reader import parse_time
from schemas.errors import InvalidRequest, NotFound
from schemas.memory import Level
from schemas.settings import (
    AuthSettings,
    EmbeddingSettings,
    LanguageModelSettings,
    ServerSettings,
    Settings,
    StoreSettings,
)
from schemas.temporal import Instant, check_digits
from substrate.engine.loading import Loading
from substrate.graphs.names import CITIZEN_PREFIX, graph_name

run = run_until_stopped

_NAMES_SHOWN = 5
_TELL_EVERY_S = 5.0
_ALIKE = 60.0
"""Percent of likeness from which a citizen is proposed for a name that is not known."""


def output() -> Console:
    """Where answers go. What is printed is text, never markup: much of it is somebody's."""
    return Console(highlight=False, markup=False, emoji=False)


def messages() -> Console:
    """Where progress and warnings go: never among the answers."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def settings_of(ctx: typer.Context) -> Settings:
    """The settings of the environment, with the global option `--data` applied."""
    settings = Settings(
        store=_group(StoreSettings),
        embedding=_group(EmbeddingSettings),
        server=_group(ServerSettings),
        auth=_group(AuthSettings),
        language_model=_group(LanguageModelSettings),
    )
    data: Path | None = ctx.find_root().obj
    return settings if data is None else at_directory(settings, data)


def at_directory(settings: Settings, data: Path) -> Settings:
    """The same settings with the embedded engine in `data`, whatever server is configured."""
    store = settings.store.model_copy(update={"data": data, "url": None, "falkordb_host": None})
    return replace(settings, store=store)


def _group[T: BaseSettings](kind: type[T]) -> T:
    """One group of settings. Raises InvalidRequest with every fault, under the names of the environment."""
    try:
        return checked(kind, {}, {name: f"SUBSTRATE_{name.upper()}" for name in kind.model_fields})
    except SettingsError as error:
        raise InvalidRequest(str(error), remedy='Lists are written as JSON, such as ["https://a.org"].') from error


def opened(settings: Settings) -> AbstractAsyncContextManager[Runtime]:
    """The open store, as `api.runtime.runtime.running` gives it; whoever waits for the engine is told why."""
    return open_runtime(settings, tell_waiting())


def tell_waiting() -> OnLoading:
    """What says on stderr that and for what we wait: at first, and then every few seconds."""
    told_at = -_TELL_EVERY_S

    def tell(loading: Loading) -> None:
        nonlocal told_at
        if loading.seconds >= told_at + _TELL_EVERY_S:
            told_at = loading.seconds
            messages().print(Text(f"waiting: {loading.describe()}", "bright_black"), soft_wrap=True)

    return tell


def given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that an option or an argument gives."""
    return {name: value for name, value in fields.items() if value is not None}


def checked[T](make: Callable[..., T], fields: Mapping[str, Any], options: Mapping[str, str] | None = None) -> T:
    """`make(**fields)`. Raises InvalidRequest with every fault; `options` are the names the caller knows."""
    try:
        return make(**fields)
    except ValidationError as error:
        faults = tuple(_fault(fault, options or {}) for fault in error.errors(include_url=False))
        raise InvalidRequest("; ".join(faults), faults=faults) from error


def _fault(fault: Mapping[str, Any], options: Mapping[str, str]) -> str:
    said = str(fault["msg"]).removeprefix("Value error, ")
    if fault["type"] == "string_pattern_mismatch" and fault["loc"][-1] == "citizen_id":
        said = "a citizen id has 1 to 64 letters, digits and _ . -, and begins with a letter or a digit"
    if not fault["loc"]:
        return re.sub(r"\w+", lambda word: options.get(word[0], word[0]), said)
    first, *rest = (str(part) for part in fault["loc"])
    inside = f" ({'.'.join(rest)})" if rest and not rest[0].isdigit() else ""
    return f"{options.get(first, first)}{inside}: {said}"


def time_of(option: str, text: str | None) -> datetime | None:
    """The time that an option gives; without a zone when it names none. Raises InvalidRequest."""
    if text is None:
        return None
    try:
        check_digits(text)
        found, zoned = parse_time(text)
    except (ValueError, OverflowError) as error:
        raise InvalidRequest(
            f"{option}: {text!r} is no time ({error})",
            remedy="Write it like 2025-07-20 or 2025-07-20T14:30+02:00.",
        ) from error
    return found if zoned else found.replace(tzinfo=None)


def numbers_of(option: str, said: Sequence[str] | None, like: str) -> dict[str, float]:
    """The map that `NAME=X` options make. Raises InvalidRequest for another form, and says what one is like."""
    found: dict[str, float] = {}
    for text in said or ():
        name, _, number = text.rpartition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            name = ""
        if not name.strip():
            raise InvalidRequest(f"{option}: {text!r} is not NAME=X", remedy=f"Write it like {like}.")
    return found


def write_json(text: str) -> None:
    """JSON to standard output, in UTF-8 whatever the terminal's encoding."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode() + b"\n")
    sys.stdout.buffer.flush()


def show[T: BaseModel](found: T, shown: Callable[[T, Console], None], *, as_json: bool) -> None:
    """Print an answer as JSON, or as `shown` prints it."""
    if as_json:
        write_json(found.model_dump_json())
    else:
        shown(found, output())


class Question(Protocol):
    """What is asked of a citizen's memory."""

    @property
    def citizen_id(self) -> str:
        """Whose memory it is."""

    @property
    def query_levels(self) -> Collection[Level]:
        """The levels to look at."""


def asked[Q: Question, A](
    ctx: typer.Context, question: Q, answer: Callable[[Q, Deps, Instant], Awaitable[A]]
) -> A:
    """The answer to a question. Raises NotFound when it is about a citizen who is not known."""

    async def answered(settings: Settings) -> A:
        async with opened(settings) as runtime:
            if Level.N1 in question.query_levels:
                await graph_of(runtime, Level.N1, question.citizen_id)
            return await answer(question, runtime.deps, await runtime.moment())

    return run(answered(settings_of(ctx)))


async def graph_of(runtime: Runtime, level: Level, citizen: str | None) -> str:
    """The name of an existing graph. Raises NotFound, naming citizens that are known and spelt alike."""
    if level is Level.N1 and citizen is None:
        raise InvalidRequest("--citizen: level N1 is personal", remedy="Name the citizen whose memory it is.")
    graph = graph_name(level, citizen)
    if await runtime.deps.graphs.for_reading(graph):
        return graph
    if level is not Level.N1:
        raise NotFound(f"nothing was remembered in {level} yet", remedy="See `substrate ingest --help`.")
    known = [
        name.removeprefix(CITIZEN_PREFIX)
        for name in await runtime.deps.graphs.existing()
        if name.startswith(CITIZEN_PREFIX)
    ]
    raise NotFound(f"there is no citizen {citizen!r} here", remedy=_proposal(str(citizen), known))


def _proposal(citizen: str, known: list[str]) -> str:
    if not known:
        return "Nothing was remembered yet: start with `substrate ingest` or see `substrate demo`."
    alike = process.extract(citizen, known, scorer=fuzz.ratio, score_cutoff=_ALIKE, limit=3)
    if alike:
        return f"Did you mean {' or '.join(name for name, *_ in alike)}?"
    more = f" and {len(known) - _NAMES_SHOWN:,} more" if len(known) > _NAMES_SHOWN else ""
    return f"Known here: {', '.join(known[:_NAMES_SHOWN])}{more}."


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        """How many commands a second."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s", "bright_black")


@contextmanager
def progress_bar(console: Console, total: int, things: str = "commands") -> Iterator[Callable[[int, int], None]]:
    """A bar for `total` things; call what it gives with how many are done, of how many."""
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
