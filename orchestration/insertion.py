"""Flux 1: commands in, receipts out.

Each command is applied once, however often it is sent: its record carries the command's id and fingerprint.
Commands keep their order; runs of new memories or new links for one graph go to the engine in one statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any
from uuid import uuid4

from orchestration import records
from orchestration.deps import Deps
from orchestration.revision import revise
from orchestration.validation import validate_consciousness_link
from schemas.commands import Command, Relate, Remember, WriteReceipt
from schemas.memory import Level
from schemas.temporal import END_OF_TIME, Instant, open_end, to_datetime, to_instant
from substrate import reader, writer
from substrate.graph_schema import graph_name


async def apply(commands: Sequence[Command], deps: Deps, now: Instant) -> list[WriteReceipt]:
    """Carry out the commands in order; one receipt each. What is refused changes nothing.

    `now` is the transaction time of all of them. Raises Unavailable when the engine does not answer: the
    same commands can then be sent again.
    """
    over = [_never_holds(command, now) for command in commands]
    able = [command for command, fault in zip(commands, over, strict=True) if fault is None]
    done = iter(await _apply(able, deps, now))
    return [fault or next(done) for fault in over]


def _never_holds(command: Command, now: Instant) -> WriteReceipt | None:
    """The refusal of a memory or link that would begin now and end before."""
    if not isinstance(command, (Remember, Relate)) or command.valid_at is not None or command.invalid_at is None:
        return None
    if to_instant(command.invalid_at) > now:
        return None
    named = {"command_id": command.command_id or uuid4().hex, "id": command.id}
    fault = "invalid_at lies in the past and valid_at is not given: it would end before it begins"
    return refused(command, named, "invalid-request", fault)


async def _apply(commands: Sequence[Command], deps: Deps, now: Instant) -> list[WriteReceipt]:
    receipts: list[WriteReceipt] = []
    for run in _runs(commands):
        first = run[0]
        graph = graph_name(first.level, first.citizen_id)
        if isinstance(first, Remember):
            await deps.graphs.for_writing(graph, now)
            receipts += await _remember(graph, run, deps, now)
        elif not await deps.graphs.for_reading(graph):
            receipts += [_nowhere(command) for command in run]
        elif isinstance(first, Relate):
            receipts += await _relate(graph, run, deps, now)
        else:
            receipts.append(await revise(graph, first, deps, now))
    return receipts


def _runs(commands: Sequence[Command]) -> Iterator[Sequence[Any]]:
    """Neighbouring commands of one kind for one graph, within the engine's batch size, no id twice."""
    run: list[Command] = []
    seen: set[str] = set()
    key: tuple[Any, ...] = ()
    for command in commands:
        limit = {Remember: writer.NODES_PER_STATEMENT, Relate: writer.LINKS_PER_STATEMENT}.get(type(command), 1)
        named = isinstance(command, Relate) and command.id is not None
        own = (type(command), command.level, command.citizen_id, named)
        identity = _identity(command)
        if run and (own != key or len(run) >= limit or identity in seen):
            yield run
            run, seen = [], set()
        key = own
        run.append(command)
        seen.add(identity)
    if run:
        yield run


def _identity(command: Command) -> str:
    """The id that the command will write to, as far as it says."""
    if isinstance(command, Relate):
        return command.id or records.natural_id(command.source_id, command.relation_type, command.target_id)
    if isinstance(command, Remember):
        return command.id or (_made_id(command.command_id) if command.command_id else uuid4().hex)
    return uuid4().hex


def _made_id(command_id: str) -> str:
    """A memory's id from its command's, so that a command sent again finds its own memory."""
    return f"m_{blake2b(command_id.encode(), digest_size=10).hexdigest()}"


async def _remember(graph: str, commands: Sequence[Remember], deps: Deps, now: Instant) -> list[WriteReceipt]:
    rows = []
    for command in commands:
        command_id = command.command_id or uuid4().hex
        rows.append(records.memory_row(command, (command.id or _made_id(command_id), command_id), now))
    vectors = await deps.embedder.embed_texts([records.embedded_text(row) for row in rows])
    for row, vector in zip(rows, vectors, strict=True):
        row["embedding"] = vector or None
    marks = await writer.remember(deps.connection, graph, rows)
    return [
        await _memory_receipt(graph, (command, row), mark, deps)
        for command, row, mark in zip(commands, rows, marks, strict=True)
    ]


async def _memory_receipt(
    graph: str, sent: tuple[Remember, Mapping[str, Any]], mark: writer.Mark, deps: Deps
) -> WriteReceipt:
    command, row = sent
    if not mark.new and mark.expired_at != END_OF_TIME:
        return refused(
            command, row, "conflict", f"memory {row['id']} was retracted; remember it anew under another id"
        )
    if mark.new or _same(mark, row):
        return _stored(command, row, mark)
    earlier = await reader.applied(deps.connection, graph, row["id"], (row["command_id"], row["fingerprint"]))
    if earlier is not None and earlier.fingerprint == row["fingerprint"]:
        return _stored(command, row, mark._replace(**earlier._asdict()))
    if mark.command_id == row["command_id"] or earlier is not None:
        return refused(command, row, "conflict", "this command_id was used before with another content")
    return refused(command, row, "conflict", f"memory {row['id']} exists already; supersede or correct it instead")


async def _relate(graph: str, commands: Sequence[Relate], deps: Deps, now: Instant) -> list[WriteReceipt]:
    rows = [
        records.link_row(command, (_identity(command), command.command_id or uuid4().hex), now)
        for command in commands
    ]
    marks = await writer.relate(deps.connection, graph, rows)
    return [_link_receipt(command, row, mark) for command, row, mark in zip(commands, rows, marks, strict=True)]


def _link_receipt(command: Relate, row: Mapping[str, Any], mark: writer.Mark) -> WriteReceipt:
    missing = [
        f"{end} {row[end]} is not a memory of this graph, or was retracted"
        for end, found in (("source_id", mark.has_source), ("target_id", mark.has_target))
        if not found
    ]
    if missing:
        return refused(command, row, "not-found", *missing)
    if mark.new or _same(mark, row):
        return _stored(command, row, mark)
    if mark.command_id == row["command_id"]:
        return refused(command, row, "conflict", "this command_id was used before with another content")
    return refused(command, row, "conflict", f"link {row['id']} exists already; give this one an id of its own")


def _nowhere(command: Command) -> WriteReceipt:
    """Only a new memory makes a graph: a mistyped citizen must not leave an empty one behind."""
    whose = f"citizen {command.citizen_id}" if command.level is Level.N1 else command.level
    named = {"command_id": command.command_id or uuid4().hex, "id": getattr(command, "id", None)}
    return refused(command, named, "not-found", f"nothing was remembered for {whose} yet")


def _same(mark: writer.Mark, row: Mapping[str, Any]) -> bool:
    return mark.fingerprint == row["fingerprint"] and (mark.version or 1) == 1


def _warnings(command: Command) -> tuple[str, ...]:
    said = list(command.notes)
    if isinstance(command, Relate):
        said += validate_consciousness_link(command.model_dump(mode="json")).warnings
    extra = getattr(command, "extra", None)
    if extra:
        said.append(f"unknown fields were kept in extra: {', '.join(sorted(extra))}")
    return tuple(said)


def _stored(command: Command, row: Mapping[str, Any], mark: writer.Mark) -> WriteReceipt:
    valid_at = row["valid_at"] if mark.new or mark.valid_at is None else mark.valid_at
    invalid_at = row["invalid_at"] if mark.new or mark.invalid_at is None else mark.invalid_at
    created_at = row["created_at"] if mark.new or mark.created_at is None else mark.created_at
    return WriteReceipt(
        command_id=row["command_id"],
        command=type(command).__name__.lower(),
        status="stored",
        id=row["id"],
        level=command.level,
        version=1 if mark.new else mark.version,
        valid_at=to_datetime(valid_at),
        invalid_at=open_end(invalid_at),
        created_at=to_datetime(created_at),
        duplicate=not mark.new,
        warnings=_warnings(command),
    )


def refused(command: Command, row: Mapping[str, Any], problem: Any, *faults: str) -> WriteReceipt:
    """The receipt of a command that changed nothing, with every fault."""
    return WriteReceipt(
        command_id=row["command_id"],
        command=type(command).__name__.lower(),
        status="refused",
        id=row["id"],
        level=command.level,
        problem=problem,
        faults=faults,
        warnings=command.notes,
    )
