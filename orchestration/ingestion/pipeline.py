"""Ingestion: stores the commands of parsed files in chunks, and can be interrupted anywhere.

Stored chunks stay, and the same call resumes after them. Memories that are stored already are not embedded again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.ingestion.formats.parsed import ParsedFiles
from orchestration.ingestion.speakers import backdate_persons, resolve_speakers
from orchestration.writing import atomic, records
from orchestration.writing.appraisals import BY_WORDS
from schemas.commands import Command, Relate, Remember, Writer, WriteReceipt
from schemas.memory import Source
from schemas.responses import IngestReport
from schemas.temporal import Instant
from substrate.graphs.names import graph_name
from substrate.store import reader, writer

type Progress = Callable[[int, int], None]
"""Called after each chunk with the number of commands done and the number of all commands."""

NOBODY: Final = Writer()
MAX_FAULTS = 50
"""At most this many faults are listed in a report; all are counted."""
_COUNTED = {"Turn": "turns", "Session": "sessions", "Person": "persons"}


@dataclass(slots=True)
class _Tally:
    counts: Counter[str] = field(default_factory=Counter)
    persons: set[tuple[str | None, str]] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    warnings: Counter[str] = field(default_factory=Counter)

    def count_command(self, command: Command) -> None:
        if isinstance(command, Relate):
            self.counts["links"] += 1
        elif isinstance(command, Remember):
            kind = _COUNTED.get(command.node_type, "memories")
            if kind != "persons" or (command.citizen_id, command.id or "") not in self.persons:
                self.counts[kind] += 1
            if kind == "persons":
                self.persons.add((command.citizen_id, command.id or ""))

    def count_receipt(self, command: Command, receipt: WriteReceipt, shared: frozenset[str]) -> None:
        if receipt.status == "stored":
            self.counts["duplicates" if receipt.duplicate else "stored"] += 1
            told = [text for text in receipt.warnings if text not in command.notes]
            if getattr(command, "source", None) is Source.INGESTION:
                told = [text for text in told if text.startswith(BY_WORDS)]
            self.warnings.update(told)
        elif receipt.problem == "conflict" and receipt.id in shared:
            self.counts["duplicates"] += 1
        else:
            self.counts["refused"] += 1
            if len(self.faults) < MAX_FAULTS:
                self.faults.append(_fault(command, receipt))

    def report(self, notes: Sequence[str]) -> IngestReport:
        warned = (f"{text} ({count:,})" for text, count in self.warnings.items())
        return IngestReport(faults=tuple(self.faults), notes=(*notes, *warned), **self.counts)


def _fault(command: Command, receipt: WriteReceipt) -> str:
    if receipt.problem == "conflict" and getattr(command, "source", None) is Source.INGESTION:
        return f"{receipt.id}: is stored with other content; supersede it, or ingest under another name"
    return f"{receipt.id}: {'; '.join(receipt.faults)}"


async def ingest(
    parsed: ParsedFiles, deps: Deps, now: Instant, *, progress: Progress | None = None, writer: Writer = NOBODY
) -> IngestReport:
    """Store all commands of the parsed files as `writer`; `now` is their transaction time.

    When the call is cancelled or fails, the stored chunks stay, and the same call stores the rest. Raises
    Unavailable when the engine or the embedding model does not answer, StoreMisfit when the store has another
    model's vectors.
    """
    resolved = await _resolve_items(parsed, deps)
    total = sum(item.size for item in resolved.items)
    tally = _Tally()
    done = 0
    for item in resolved.items:
        shared = item.shared()
        for chunk in chunks(command.with_writer(writer) for command in item.commands()):
            await _apply(chunk, deps, now, tally=tally, shared=shared, whole=item.command_id)
            done += len(chunk)
            if progress is not None:
                progress(done, total)
    return tally.report(resolved.notes)


async def ingest_atomically(parsed: ParsedFiles, deps: Deps, now: Instant) -> IngestReport:
    """Store all commands of the parsed files, or none. The report lists the faults that caused a refusal first.

    Raises InvalidRequest for too many commands, or for commands of several graphs (`atomic.apply`).
    """
    resolved = await _resolve_items(parsed, deps)
    commands = [command for item in resolved.items for command in item.commands()]
    receipts = await atomic.apply(commands, deps, now)
    tally = _Tally()
    blamed_first = sorted(zip(commands, receipts, strict=True), key=lambda pair: pair[1].problem == "not-applied")
    for command, receipt in blamed_first:
        tally.count_command(command)
        tally.count_receipt(command, receipt, frozenset())
    return tally.report(resolved.notes)


async def _resolve_items(parsed: ParsedFiles, deps: Deps) -> ParsedFiles:
    """Return the parsed files with their speakers resolved, and with notes on the speakers."""
    resolutions = [await resolve_speakers(item, deps) for item in parsed.items]
    speaker_notes = (note for resolution in resolutions for note in resolution.notes)
    items = tuple(resolution.item for resolution in resolutions)
    return ParsedFiles(items, (*parsed.notes, *speaker_notes))


def chunks(commands: Iterator[Command]) -> Iterator[list[Command]]:
    """Group the commands into chunks: at most one statement of memories, then links whose ends exist by then.

    A memory moves before a link only if it is no end of that link; any other command is a chunk of its own.
    """
    memories: list[Command] = []
    links: list[Command] = []
    ends: set[str] = set()
    for command in commands:
        if not _fits(command, memories, links, ends) and (memories or links):
            yield memories + links
            memories, links, ends = [], [], set()
        if isinstance(command, Remember):
            memories.append(command)
        elif isinstance(command, Relate):
            links.append(command)
            ends |= {command.source_id, command.target_id}
        else:
            yield [command]
    if memories or links:
        yield memories + links


def _fits(command: Command, memories: list[Command], links: list[Command], ends: set[str]) -> bool:
    if isinstance(command, Remember):
        return len(memories) < writer.NODES_PER_STATEMENT and command.id not in ends
    return isinstance(command, Relate) and len(links) < writer.LINKS_PER_STATEMENT


async def _apply(
    chunk: Sequence[Command],
    deps: Deps,
    now: Instant,
    *,
    tally: _Tally,
    shared: frozenset[str],
    whole: str | None,
) -> None:
    stored = await _stored(chunk, deps)
    fresh, again = [], []
    for command in chunk:
        tally.count_command(command)
        if _is_stored(command, stored, shared):
            tally.counts["duplicates"] += 1
            again += [command] if isinstance(command, Remember) and command.id in shared else []
        else:
            fresh.append(command)
    tally.warnings.update(await backdate_persons(again, deps, now))
    for command, receipt in zip(fresh, await insertion.apply(fresh, deps, now, whole=whole), strict=True):
        tally.count_receipt(command, receipt, shared)


type _Stored = Mapping[tuple[str, str], int | None]


async def _stored(chunk: Sequence[Command], deps: Deps) -> _Stored:
    """Return the fingerprints of the chunk's memories that exist already, by (graph, id)."""
    ids: dict[str, list[str]] = {}
    for command in chunk:
        if isinstance(command, Remember) and command.id is not None:
            ids.setdefault(graph_name(command.level, command.citizen_id), []).append(command.id)
    fingerprints: dict[tuple[str, str], int | None] = {}
    for graph, memory_ids in ids.items():
        if await deps.graphs.for_reading(graph):
            marks = await reader.read_fingerprints(deps.graph(graph), memory_ids)
            fingerprints.update({(graph, memory_id): mark for memory_id, mark in marks.items()})
    return fingerprints


def _is_stored(command: Command, stored: _Stored, shared: frozenset[str]) -> bool:
    if not isinstance(command, Remember) or command.id is None:
        return False
    key = (graph_name(command.level, command.citizen_id), command.id)
    return key in stored and (command.id in shared or stored[key] == records.fingerprint(command))
