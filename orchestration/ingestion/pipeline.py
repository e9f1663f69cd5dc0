"""Ingestion: stores the commands of parsed files in chunks, and can be interrupted anywhere.

Stored chunks stay, and the same call resumes after them. A life may also be stored as it happened: each record
becomes known at the moment when it began to be true, and is marked `known_as_happened`. Only a graph that knows
nothing at or after the earliest of these moments takes it, so that no question about the past gets another answer
than it got.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import batched, chain, groupby
from typing import Any, Final, NamedTuple

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.ingestion import filing, hearing, places
from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.formats.command_files import CommandFile
from orchestration.ingestion.formats.notebook import Notebook
from orchestration.ingestion.formats.reader import Ingestible, ParsedFiles, commands_of
from orchestration.ingestion.speakers import resolve_speakers
from orchestration.ingestion.storing import (
    NOBODY,
    Job,
    Origin,
    Progress,
    Tally,
    find_stored,
    length,
    read_stored,
    store,
    store_names,
)
from schemas.commands import ChangeCommand, Command, Relate, Remember, Writer
from schemas.errors import Conflict, InvalidRequest
from schemas.responses import IngestReport
from schemas.temporal import Instant, to_datetime, to_instant
from substrate.graphs.names import graph_name
from substrate.store.reader import read_clock

SHORT, TOGETHER = 20, 100
"""Chats of at most this many messages are stored this many at once."""
AT_ONCE: Final = 200
"""Commands that happened, after which the clock of the graph is read again."""


async def ingest(
    parsed: ParsedFiles,
    deps: Deps,
    now: Instant,
    *,
    progress: Progress | None = None,
    writer: Writer = NOBODY,
    origin: Origin | None = None,
) -> IngestReport:
    """Store all commands of the parsed files as `writer`; `now` is their transaction time.

    A list of messages that may have grown stores only what is new, a folder of notes what is new or changed. With
    `origin`, what was stored from other places before is recognised. What could not be read counts as refused.
    When the call is cancelled or fails, the stored chunks stay, and the same call stores the rest. Raises
    Unavailable when the engine or the embedding model does not answer, StoreMisfit when the store has another
    model's vectors.
    """
    resolved = await resolve_items(await settle(parsed, deps, now, origin), deps)
    job = Job(deps, now, writer, progress, total=sum(map(length, resolved.items)), origin=origin)
    tally = Tally()
    tally.count_unread(parsed.faults)
    notes = [*resolved.notes]
    due = 0
    pairs: Iterable[tuple[Any, Any]] = zip(parsed.items, resolved.items, strict=True)
    alike = groupby(pairs, graph_of_short_chat)
    for group in chain.from_iterable(batched(each, TOGETHER if graph else 1) for graph, each in alike):
        item = group[0][1]
        due += sum(length(each) for _, each in group)
        if isinstance(item, Episode) and item.messages:
            for heard in await hearing.hear_together([each for _, each in group], job, tally):
                notes += heard.notes
            for given, each in group:
                await places.note_episode(given.id, each, origin, deps=deps, now=now)
        elif isinstance(item, Notebook):
            notes += await filing.file_notebook(item, job, tally)
        elif isinstance(item, CommandFile) and item.are_rows:
            notes += await filing.file_rows(item, job, tally)
        else:
            await store(item, job, tally)
        job.advance(due - job.done)
    return tally.report(notes, parsed.formats)


def graph_of_short_chat(pair: tuple[Ingestible, Ingestible]) -> str | None:
    """What the items have in common that are stored together: the graph of short chats; None for any other."""
    item = pair[1]
    return item.graph_name if isinstance(item, Episode) and 0 < len(item.messages) <= SHORT else None


async def settle(parsed: ParsedFiles, deps: Deps, now: Instant, origin: Origin | None) -> ParsedFiles:
    """The items, with the chats of files under the ids under which they are stored."""

    async def settle_one(item: Ingestible) -> tuple[Ingestible, Sequence[str]]:
        if isinstance(item, Episode) and item.messages:
            return await places.settle_episode(item, origin, deps, now)
        return item, ()

    return await hearing.change_items(parsed, settle_one)


async def ingest_atomically(
    parsed: ParsedFiles, deps: Deps, now: Instant, *, writer: Writer = NOBODY
) -> IngestReport:
    """Store all commands of the parsed files, or none. The report lists the faults that caused a refusal first.

    Raises InvalidRequest for too many commands, or for commands of several graphs (`atomic.apply`).
    """
    resolved = await hearing.arrange(await resolve_items(parsed, deps), deps, now)
    commands = [command.with_writer(writer) for item in resolved.items for command in commands_of(item)]
    receipts = await insertion.apply_atomically(commands, deps, now)
    tally = Tally()
    blamed_first = sorted(zip(commands, receipts, strict=True), key=lambda pair: pair[1].problem == "not-applied")
    for command, receipt in blamed_first:
        tally.count_command(command)
        tally.count_receipt(command, receipt, frozenset(), now=now)
    return tally.report(resolved.notes, parsed.formats)


async def ingest_as_happened(
    parsed: ParsedFiles, deps: Deps, now: Instant, *, progress: Progress | None = None, writer: Writer = NOBODY
) -> IngestReport:
    """Store all commands of the parsed files; each record becomes known when it began to be true.

    Raises InvalidRequest and Conflict as `store_as_happened`, else what `ingest` raises.
    """
    settled = await settle(parsed, deps, now, None)
    resolved = await hearing.arrange(await resolve_items(settled, deps), deps, now)
    job = Job(deps, now, writer._replace(as_happened=True), progress, total=sum(map(length, resolved.items)))
    tally = Tally()
    tally.count_unread(parsed.faults)
    await store_as_happened(resolved.items, job, tally)
    return tally.report(resolved.notes, parsed.formats)


async def resolve_items(parsed: ParsedFiles, deps: Deps) -> ParsedFiles:
    """The parsed files with their speakers resolved, and with notes on the speakers."""
    return await hearing.change_items(parsed, lambda item: resolve_speakers(item, deps))


class Happening(NamedTuple):
    """A command of an item, and the moment at which it becomes known."""

    moment: Instant
    command: Command
    item: Ingestible

    @property
    def graph(self) -> str:
        """The name of the graph that it is written to."""
        return graph_name(self.command.graph_key, self.command.citizen_id)


def arrange_in_time(items: Sequence[Ingestible], now: Instant) -> list[Happening]:
    """The commands of the items in the order in which they happened, each at a moment of its own.

    A link and a change happen after what they are about; of commands of one moment each is a microsecond later
    than the one before. Raises InvalidRequest for a command that does not say when it happened, or that lies ahead
    of `now`.
    """
    begun: dict[str, Instant] = {}
    happenings: list[Happening] = []
    for item in items:
        before: Instant | None = None
        for command in commands_of(item):
            moment = _moment_of(command, before)
            before = moment
            if isinstance(command, Relate):
                moment = max(moment, *(begun.get(end, moment) for end in (command.source_id, command.target_id)))
            elif isinstance(command, ChangeCommand):
                moment = max(moment, begun.get(command.id, moment))
            elif isinstance(command, Remember) and command.id is not None:
                begun[command.id] = min(moment, begun.get(command.id, moment))
            happenings.append(Happening(moment, command, item))
    happenings.sort(key=lambda one: one.moment)
    risen: list[Happening] = []
    for one in happenings:
        risen.append(one._replace(moment=max(one.moment, risen[-1].moment + 1)) if risen else one)
    if risen and risen[-1].moment >= now:
        raise InvalidRequest(f"{describe(risen[-1].command)} lies in the future: it cannot be known yet")
    return risen


def _moment_of(command: Command, before: Instant | None) -> Instant:
    """When it began to be true, or when a change took effect; a change without a time follows the one `before`.

    Raises InvalidRequest without such a time.
    """
    for name in ("effective_at", "valid_at", "valid_from"):
        moment = getattr(command, name, None)
        if isinstance(moment, datetime):
            return to_instant(moment)
    if isinstance(command, ChangeCommand) and before is not None:
        return before
    raise InvalidRequest(
        f"{describe(command)} does not say when it happened, or lies in the future: it cannot become known then",
        remedy="Give each message a timestamp and each command its valid_at or effective_at, or leave "
        "known_as_happened out.",
    )


def describe(command: Command) -> str:
    """A command in a fault: its kind and what it is about."""
    about = getattr(command, "id", None) or getattr(command, "name", None) or getattr(command, "source_id", None)
    return f"{type(command).__name__.lower()} {about}" if about else type(command).__name__.lower()


async def store_as_happened(items: Sequence[Ingestible], job: Job, tally: Tally) -> None:
    """Store the commands of the items as they happened; what is stored already is left out.

    Raises InvalidRequest as `arrange_in_time` does, Conflict when a graph knows something at or after the earliest
    moment, or when somebody else writes to it meanwhile: what is stored then stays.
    """
    happenings = arrange_in_time(items, job.now)
    stored = await read_stored([one.command for one in happenings], job.deps)
    shared: Mapping[int, frozenset[str]] = {id(item): item.shared() for item in items}
    left: list[Happening] = []
    for one in happenings:
        tally.count_command(one.command)
        if find_stored(one.command, stored, shared[id(one.item)]) is not None:
            tally.counts["duplicates"] += 1
        else:
            left.append(one)
    await _check_ahead(left, job)
    for _, group in groupby(left, key=lambda one: (one.graph, one.item.command_id)):
        for part in batched(group, AT_ONCE):
            await _store(part, job, tally)
    last = max((one.moment for one in left), default=job.now)
    for item in items:
        await store_names(item, replace(job, now=last + 1), tally)


async def _check_ahead(left: Sequence[Happening], job: Job) -> None:
    """Raises Conflict when a graph knows something at or after the first memory that it is to learn."""
    first: dict[str, Happening] = {}
    for one in left:
        if not isinstance(one.command, Relate):
            first.setdefault(one.graph, one)
    for name, one in first.items():
        if not await job.deps.graphs.for_reading(name):
            continue
        clock = await read_clock(job.deps.graph(name), 0)
        if clock >= one.moment:
            last, happened = (f"{to_datetime(at):%Y-%m-%d %H:%M:%S}" for at in (clock, one.moment))
            raise Conflict(
                f"graph {name} learned something on {last}, and {describe(one.command)} happened on {happened}: "
                "questions about that time would be answered differently than before",
                remedy="Import it into an empty memory, or without known_as_happened.",
            )


async def _store(part: Sequence[Happening], job: Job, tally: Tally) -> None:
    """Raises Conflict when the clock of the graph was moved to the present: somebody else wrote to it."""
    commands = [one.command.with_writer(job.writer) for one in part]
    item, name, moments = part[0].item, part[0].graph, [one.moment for one in part]
    receipts = await insertion.apply(commands, job.deps, moments[0], whole=item.command_id, moments=moments)
    shared = frozenset().union(*(one.item.shared() for one in part)) if item.command_id else frozenset[str]()
    for command, receipt in zip(commands, receipts, strict=True):
        tally.count_receipt(command, receipt, shared, now=job.now)
    job.advance(len(part))
    exists = await job.deps.graphs.for_reading(name)
    if exists and await read_clock(job.deps.graph(name), 0) >= job.now:
        raise Conflict(
            f"graph {name} was written to meanwhile, so the rest can no longer become known as it happened",
            remedy="Erase what was imported and import it again while nobody writes, or import the rest without "
            "known_as_happened.",
        )
