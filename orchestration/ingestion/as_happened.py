"""Ingestion of a life as it happened: each record becomes known at the moment when it began to be true.

Only a graph that knows nothing at or after the earliest of these moments takes it, so that no question about the
past gets another answer than it got. Each record is marked `known_as_happened`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Final, NamedTuple

from orchestration import insertion
from orchestration.ingestion.formats.parsed import Ingestible, commands_of
from orchestration.ingestion.storing import Job, Tally, is_stored, store_names, stored_fingerprints
from schemas.commands import ChangeCommand, Command, Relate, Remember
from schemas.errors import Conflict, InvalidRequest
from schemas.temporal import Instant, to_datetime, to_instant
from substrate.graphs.names import graph_name
from substrate.store.reader import read_clock

AT_ONCE: Final = 200
"""Commands after which the clock of the graph is read again."""
REMEDY: Final = "Import it into an empty memory, or without known_as_happened."


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
    risen = list(_rising(happenings))
    if risen and risen[-1].moment >= now:
        raise InvalidRequest(f"{describe(risen[-1].command)} lies in the future: it cannot be known yet")
    return risen


def _rising(happenings: Sequence[Happening]) -> Iterator[Happening]:
    last: Instant | None = None
    for one in happenings:
        moment = one.moment if last is None else max(one.moment, last + 1)
        yield one._replace(moment=moment)
        last = moment


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
    left = await _leave_out_stored(arrange_in_time(items, job.now), job, tally)
    await _check_ahead(left, job)
    for key, group in groupby(left, key=lambda one: (one.graph, one.item.command_id)):
        part = list(group)
        for start in range(0, len(part), AT_ONCE):
            await _store(part[start : start + AT_ONCE], job, tally)
            await _check_alone(key[0], job)
    last = max((one.moment for one in left), default=job.now)
    for item in items:
        await store_names(item, replace(job, now=last + 1), tally)


async def _leave_out_stored(happenings: Sequence[Happening], job: Job, tally: Tally) -> list[Happening]:
    left = []
    fingerprints = await stored_fingerprints([one.command for one in happenings], job.deps)
    shared: Mapping[int, frozenset[str]] = {id(one.item): one.item.shared() for one in happenings}
    for one in happenings:
        tally.count_command(one.command)
        if is_stored(one.command, fingerprints, shared[id(one.item)]):
            tally.counts["duplicates"] += 1
        else:
            left.append(one)
    return left


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
                remedy=REMEDY,
            )


async def _store(part: Sequence[Happening], job: Job, tally: Tally) -> None:
    commands = [one.command.with_writer(job.writer) for one in part]
    item, moments = part[0].item, [one.moment for one in part]
    receipts = await insertion.apply(commands, job.deps, moments[0], whole=item.command_id, moments=moments)
    shared = frozenset().union(*(one.item.shared() for one in part)) if item.command_id else frozenset[str]()
    for command, receipt in zip(commands, receipts, strict=True):
        tally.count_receipt(command, receipt, shared, now=job.now)
    job.advance(len(part))


async def _check_alone(name: str, job: Job) -> None:
    """Raises Conflict when the clock of the graph was moved to the present: somebody else wrote to it."""
    if not await job.deps.graphs.for_reading(name):
        return
    if await read_clock(job.deps.graph(name), 0) >= job.now:
        raise Conflict(
            f"graph {name} was written to meanwhile, so the rest can no longer become known as it happened",
            remedy="Erase what was imported and import it again while nobody writes, or import the rest without "
            "known_as_happened.",
        )
