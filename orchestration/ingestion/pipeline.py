"""Ingestion: stores the commands of parsed files in chunks, and can be interrupted anywhere.

Stored chunks stay, and the same call resumes after them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import batched, chain, groupby
from typing import Any

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.ingestion import filing, hearing, places
from orchestration.ingestion.as_happened import store_as_happened
from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.formats.command_files import CommandFile
from orchestration.ingestion.formats.notebook import Notebook
from orchestration.ingestion.formats.parsed import Ingestible, ParsedFiles, commands_of
from orchestration.ingestion.speakers import resolve_speakers
from orchestration.ingestion.storing import NOBODY, Job, Origin, Progress, Tally, length, store
from schemas.commands import Writer
from schemas.responses import IngestReport
from schemas.temporal import Instant

SHORT, TOGETHER = 20, 100
"""Chats of at most this many messages are stored this many at once."""


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
