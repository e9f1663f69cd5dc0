"""Ingestion: commands from a parsed file into the store, in chunks that can be interrupted anywhere.

Each chunk is whole: what is stored is stored, and the same intake sent again goes on from there. What the
store has already is not embedded again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.ingestion.formats.parsed import Ingestible, Intake
from orchestration.ingestion.speakers import known_since, met
from orchestration.writing import atomic, records
from schemas.commands import Command, Relate, Remember, Writer, WriteReceipt
from schemas.memory import Source
from schemas.responses import IngestReport
from schemas.temporal import Instant
from substrate.graphs.names import graph_name
from substrate.store import reader, writer

type Progress = Callable[[int, int], None]
"""Told after each chunk how many commands are done, of how many."""

NOBODY: Final = Writer()
MAX_FAULTS = 50
"""Faults that a report lists; it counts all."""
_COUNTED = {"Turn": "turns", "Session": "sessions", "Person": "persons"}


@dataclass(slots=True)
class _Tally:
    counts: Counter[str] = field(default_factory=Counter)
    persons: set[tuple[str | None, str]] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    warnings: Counter[str] = field(default_factory=Counter)

    def came(self, command: Command) -> None:
        if isinstance(command, Relate):
            self.counts["links"] += 1
        elif isinstance(command, Remember):
            kind = _COUNTED.get(command.node_type, "memories")
            if kind != "persons" or (command.citizen_id, command.id or "") not in self.persons:
                self.counts[kind] += 1
            if kind == "persons":
                self.persons.add((command.citizen_id, command.id or ""))

    def went(self, command: Command, receipt: WriteReceipt, shared: frozenset[str]) -> None:
        if receipt.status == "stored":
            self.counts["duplicates" if receipt.duplicate else "stored"] += 1
            if getattr(command, "source", None) is not Source.INGESTION:
                self.warnings.update(text for text in receipt.warnings if text not in command.notes)
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
        return f"{receipt.id}: is stored with another content; supersede it, or ingest under another name"
    return f"{receipt.id}: {'; '.join(receipt.faults)}"


async def ingest(
    intake: Intake, deps: Deps, now: Instant, progress: Progress | None = None, writer: Writer = NOBODY
) -> IngestReport:
    """Store everything that the intake holds, as `writer` sends it; `now` is its transaction time.

    Cancelled or failed half-way, what was stored stays, and the same call completes it. Raises Unavailable
    when the engine or the embedding model does not answer, StoreMisfit when the store is another model's.
    """
    items, notes = await _met(intake, deps)
    total = sum(item.size for item in items)
    tally = _Tally()
    done = 0
    for item in items:
        shared = item.shared()
        for chunk in chunks(command.written_by(writer) for command in item.commands()):
            await _apply(chunk, (tally, shared, item.command_id), deps, now)
            done += len(chunk)
            if progress is not None:
                progress(done, total)
    return tally.report(notes)


async def ingest_whole(intake: Intake, deps: Deps, now: Instant) -> IngestReport:
    """Store everything that the intake holds, or nothing; its faults are of the commands that are to blame.

    Raises InvalidRequest when there is too much of it, or it is for several graphs (`atomic.apply`).
    """
    items, notes = await _met(intake, deps)
    commands = [command for item in items for command in item.commands()]
    receipts = await atomic.apply(commands, deps, now)
    tally = _Tally()
    told = sorted(zip(commands, receipts, strict=True), key=lambda one: one[1].problem == "not-applied")
    for command, receipt in told:
        tally.came(command)
        tally.went(command, receipt, frozenset())
    return tally.report(notes)


async def _met(intake: Intake, deps: Deps) -> tuple[list[Ingestible], tuple[str, ...]]:
    """What the intake holds, its speakers told apart, and all notes on it."""
    told = [await met(item, deps) for item in intake.items]
    return [item for item, _ in told], (*intake.notes, *(note for _, notes in told for note in notes))


def chunks(commands: Iterator[Command]) -> Iterator[list[Command]]:
    """The commands in runs of one statement's memories, followed by the links among what is known by then.

    A memory moves before a link only where the link does not wait for it; any other command stands alone.
    """
    memories: list[Command] = []
    links: list[Command] = []
    ends: set[str] = set()
    for command in commands:
        if not _fits(command, (memories, links), ends) and (memories or links):
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


def _fits(command: Command, run: tuple[list[Command], list[Command]], ends: set[str]) -> bool:
    if isinstance(command, Remember):
        return len(run[0]) < writer.NODES_PER_STATEMENT and command.id not in ends
    return isinstance(command, Relate) and len(run[1]) < writer.LINKS_PER_STATEMENT


async def _apply(
    chunk: Sequence[Command], of: tuple[_Tally, frozenset[str], str | None], deps: Deps, now: Instant
) -> None:
    tally, shared, whole = of
    stored = await _stored(chunk, deps)
    fresh, again = [], []
    for command in chunk:
        tally.came(command)
        if _is_there(command, stored, shared):
            tally.counts["duplicates"] += 1
            again += [command] if isinstance(command, Remember) and command.id in shared else []
        else:
            fresh.append(command)
    tally.warnings.update(await known_since(again, deps, now))
    for command, receipt in zip(fresh, await insertion.apply(fresh, deps, now, whole=whole), strict=True):
        tally.went(command, receipt, shared)


type _Stored = Mapping[tuple[str, str], int | None]


async def _stored(chunk: Sequence[Command], deps: Deps) -> _Stored:
    """(graph, id) → fingerprint for the memories of the chunk that exist already."""
    ids: dict[str, list[str]] = {}
    for command in chunk:
        if isinstance(command, Remember) and command.id is not None:
            ids.setdefault(graph_name(command.level, command.citizen_id), []).append(command.id)
    found: dict[tuple[str, str], int | None] = {}
    for graph, asked in ids.items():
        if await deps.graphs.for_reading(graph):
            marks = await reader.existing(deps.graph(graph), asked)
            found.update({(graph, memory_id): mark for memory_id, mark in marks.items()})
    return found


def _is_there(command: Command, stored: _Stored, shared: frozenset[str]) -> bool:
    if not isinstance(command, Remember) or command.id is None:
        return False
    key = (graph_name(command.level, command.citizen_id), command.id)
    return key in stored and (command.id in shared or stored[key] == records.fingerprint(command))
