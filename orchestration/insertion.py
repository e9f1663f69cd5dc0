"""Flux 1: commands in, receipts out.

Each command is applied once, however often it is sent: its receipt is kept in the graph. Commands keep their
order; runs of new memories or new links for one graph go to the engine in one statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any
from uuid import uuid4

from orchestration import receipts, recognising, records, tagging
from orchestration.deps import Deps
from orchestration.receipts import Refusal
from orchestration.revision import revise
from schemas.command import ChangeCommand, Command, WriteReceipt
from schemas.commands import Remember
from schemas.link_commands import Relate
from schemas.memory import Level
from schemas.temporal import END_OF_TIME, Instant, open_end, to_datetime, to_instant
from substrate import reader, writer
from substrate.graph_schema import graph_name
from substrate.rows import record, record_of_link

type Row = Mapping[str, Any]


async def apply(
    commands: Sequence[Command], deps: Deps, now: Instant, *, whole: str | None = None
) -> list[WriteReceipt]:
    """Carry out the commands in order; one receipt each. What is refused changes nothing.

    `now` is the transaction time of all of them, unless the clock of their graph is ahead. `whole` is the id of
    one command, such as an episode, of which these are parts: one receipt is kept for all. Raises Unavailable
    when the engine does not answer: the same commands can then be sent again.
    """
    over = [await _never_holds(command, deps, now) for command in commands]
    able = [command for command, fault in zip(commands, over, strict=True) if fault is None]
    done = iter(await _apply(able, (deps, now, whole)))
    return [fault or next(done) for fault in over]


type _With = tuple[Deps, Instant, str | None]


async def _never_holds(command: Command, deps: Deps, now: Instant) -> WriteReceipt | None:
    """The refusal of a memory or link that would begin now and end before, unless it was stored in its time."""
    try:
        check_period(command, now)
    except Refusal as refusal:
        return None if await _kept(command, deps) else receipts.refused(command, _named(command), refusal)
    return None


def check_period(command: Command, now: Instant) -> None:
    """Raises Refusal for a memory or link that would begin now and end before."""
    if not isinstance(command, (Remember, Relate)) or command.valid_at is not None or command.invalid_at is None:
        return
    if to_instant(command.invalid_at) <= now:
        fault = "invalid_at lies in the past and valid_at is not given: it would end before it begins"
        raise Refusal("invalid-request", fault)


async def _kept(command: Command, deps: Deps) -> bool:
    """Whether the receipt of a command with this id is kept."""
    graph = graph_name(command.level, command.citizen_id)
    if command.command_id is None or not await deps.graphs.for_reading(graph):
        return False
    return bool(await reader.receipts(deps.connection, graph, [command.command_id]))


def _named(command: Command) -> tuple[str, str | None]:
    return command.command_id or uuid4().hex, getattr(command, "id", None)


async def _apply(commands: Sequence[Command], given: _With) -> list[WriteReceipt]:
    deps, now, _ = given
    said: list[WriteReceipt] = []
    for run in _runs(commands, parts=given[2] is not None):
        first = run[0]
        graph = graph_name(first.level, first.citizen_id)
        if isinstance(first, Remember):
            await deps.graphs.for_writing(graph, now)
            said += await _remember(graph, run, given)
        elif not await deps.graphs.for_reading(graph):
            said += [nowhere(command) for command in run]
        elif isinstance(first, Relate):
            said += await _relate(graph, run, given)
        elif isinstance(first, ChangeCommand):
            said.append(await revise(graph, first, deps, now))
    return said


def _runs(commands: Sequence[Command], *, parts: bool) -> Iterator[Sequence[Any]]:
    """Neighbouring commands of one kind for one graph, within the engine's batch size, no id twice."""
    run: list[Command] = []
    seen: set[str] = set()
    key: tuple[Any, ...] = ()
    for command in commands:
        limit = {Remember: writer.NODES_PER_STATEMENT, Relate: writer.LINKS_PER_STATEMENT}.get(type(command), 1)
        named = isinstance(command, Relate) and command.id is not None
        own = (type(command), command.level, command.citizen_id, named)
        ids = {f"id {_identity(command)}"}
        if not parts:
            ids.add(f"command {command.command_id or uuid4().hex}")
        if run and (own != key or len(run) >= limit or ids & seen):
            yield run
            run, seen = [], set()
        key = own
        run.append(command)
        seen |= ids
    if run:
        yield run


def _identity(command: Command) -> str:
    """The id that the command will write to, as far as it says."""
    made = identity(command, command.command_id or uuid4().hex)
    return made if made is not None and not isinstance(command, ChangeCommand) else uuid4().hex


def identity(command: Command, command_id: str) -> str | None:
    """The id of what a command, sent with this id of its own, writes to."""
    if isinstance(command, Relate):
        return command.id or records.natural_id(command.source_id, command.relation_type, command.target_id)
    if isinstance(command, Remember):
        return command.id or _made_id(command_id)
    return command.id if isinstance(command, ChangeCommand) else None


def _made_id(command_id: str) -> str:
    """A memory's id from its command's, so that a command sent again finds its own memory."""
    return f"m_{blake2b(command_id.encode(), digest_size=10).hexdigest()}"


def memory_row(command: Remember, now: Instant) -> dict[str, Any]:
    """The row of a new memory, all but its embedding."""
    command_id = command.command_id or uuid4().hex
    return records.memory_row(command, (command.id or _made_id(command_id), command_id), now)


def link_row(command: Relate, now: Instant) -> dict[str, Any]:
    """The row of a new link."""
    return records.link_row(command, (_identity(command), command.command_id or uuid4().hex), now)


def with_receipt(command: Command, row: dict[str, Any]) -> dict[str, Any]:
    """The row of a command that stands for itself."""
    return {
        **row,
        "receipt": row["command_id"],
        "again": command.command_id is not None,
        "warnings": receipts.kept_text(receipts.warnings(command)),
    }


async def with_tags(graph: str, rows: list[dict[str, Any]], deps: Deps) -> list[dict[str, Any]]:
    """The rows, with tags for what was ingested without any, where that is turned on."""
    places = [place for place, row in enumerate(rows) if deps.auto_tags and records.wants_tags(row)]
    if not places:
        return rows
    said = [tagging.phrases(rows[place]["description"]) for place in places]
    names = [f"#{name}" for name in tagging.to_look_up(said)]
    known, size = await reader.tag_sizes(deps.connection, graph, names)
    made = dict(zip(places, tagging.chosen(said, known, size), strict=True))
    return [records.tagged(row, made[place]) if made.get(place) else row for place, row in enumerate(rows)]


async def embed(rows: Sequence[dict[str, Any]], deps: Deps) -> None:
    """Give each row of a memory its embedding."""
    vectors = await deps.embedder.embed_texts([records.embedded_text(row) for row in rows])
    for row, vector in zip(rows, vectors, strict=True):
        row["embedding"] = vector or None


def _batch(commands: Sequence[Command], rows: list[dict[str, Any]], given: _With) -> writer.Batch:
    _, now, whole = given
    if whole is None:
        return writer.Batch([with_receipt(*one) for one in zip(commands, rows, strict=True)], now)
    return writer.Batch(records.parts(rows), now, {"command_id": whole, "command": "ingest"})


async def _remember(graph: str, commands: Sequence[Remember], given: _With) -> list[WriteReceipt]:
    deps, now, whole = given
    again = {} if whole is not None else await recognising.answered(graph, commands, deps, now)
    fresh = [command for place, command in enumerate(commands) if place not in again]
    written = iter(await _store(graph, fresh, given) if fresh else ())
    return [again[place] if place in again else next(written) for place in range(len(commands))]


async def _store(graph: str, commands: Sequence[Remember], given: _With) -> list[WriteReceipt]:
    deps, now, _ = given
    rows = [memory_row(command, now) for command in commands]
    rows = await with_tags(graph, rows, deps)
    await embed(rows, deps)
    marks = await writer.remember(deps.connection, graph, _batch(commands, rows, given))
    marks = [await _as_first(graph, mark, deps) for mark in marks]
    return [receipt(*one) for one in zip(commands, rows, marks, strict=True)]


async def _relate(graph: str, commands: Sequence[Relate], given: _With) -> list[WriteReceipt]:
    deps, now, _ = given
    rows = [link_row(command, now) for command in commands]
    marks = await writer.relate(deps.connection, graph, _batch(commands, rows, given))
    marks = [await _as_first(graph, mark, deps, link=True) for mark in marks]
    return [receipt(*one) for one in zip(commands, rows, marks, strict=True)]


async def _as_first(graph: str, mark: writer.Mark, deps: Deps, *, link: bool = False) -> writer.Mark:
    """The mark with the times of the first record, where what was found has changed since."""
    if mark.new or mark.kept is not None or mark.version == 1 or mark.expired_at != END_OF_TIME:
        return mark
    if link:
        links = await reader.link_history(deps.connection, graph, records.link_name(mark.id))
        first = record_of_link(links[0][2:])
    else:
        first = record((await reader.history(deps.connection, graph, mark.id))[0])
    valid, known = first.valid, first.known
    return mark._replace(version=1, valid_at=valid.start, invalid_at=valid.end, created_at=known.start)


def receipt(command: Remember | Relate, row: Row, mark: writer.Mark) -> WriteReceipt:
    """What became of a row."""
    try:
        if mark.kept is not None:
            return receipts.again(command, mark.kept)
        if not mark.new:
            _check(command, row, mark)
    except Refusal as refusal:
        return receipts.refused(command, (row["command_id"], row["id"]), refusal)
    return _stored(command, row, mark)


def _check(command: Remember | Relate, row: Row, mark: writer.Mark) -> None:
    """Raises Refusal for a row that says something else than what is stored."""
    if isinstance(command, Relate):
        missing = [
            f"{end} {row[end]} is not a memory of this graph, or was retracted"
            for end, found in (("source_id", mark.has_source), ("target_id", mark.has_target))
            if not found
        ]
        if missing:
            raise Refusal("not-found", *missing)
    what = "link" if isinstance(command, Relate) else "memory"
    if mark.expired_at is None or mark.expired_at != END_OF_TIME:
        fault = f"{what} {row['id']} was retracted; undo that, or give this one another id"
        raise Refusal("conflict", fault, current_version=mark.version if mark.expired_at else mark.gone)
    if mark.fingerprint != row["fingerprint"]:
        instead = "supersede or correct it instead" if what == "memory" else "give this one an id of its own"
        raise Refusal("conflict", f"{what} {row['id']} exists already; {instead}", current_version=mark.version)


def _stored(command: Remember | Relate, row: Row, mark: writer.Mark) -> WriteReceipt:
    valid_at = row["valid_at"] if mark.valid_at is None else mark.valid_at
    invalid_at = row["invalid_at"] if mark.invalid_at is None else mark.invalid_at
    return WriteReceipt(
        command_id=row["command_id"],
        command=receipts.kind(command),
        status="stored",
        id=row["id"],
        level=command.level,
        version=mark.version,
        valid_at=to_datetime(valid_at),
        invalid_at=open_end(invalid_at),
        created_at=to_datetime(mark.at if mark.created_at is None else mark.created_at),
        duplicate=not mark.new,
        warnings=receipts.warnings(command),
    )


def nowhere(command: Command) -> WriteReceipt:
    """Only a new memory makes a graph: a mistyped citizen must not leave an empty one behind."""
    whose = f"citizen {command.citizen_id}" if command.level is Level.N1 else command.level
    refusal = Refusal("not-found", f"nothing was remembered for {whose} yet")
    return receipts.refused(command, _named(command), refusal)
