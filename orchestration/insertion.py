"""Flux 1: commands in, receipts out.

Each command is applied once, however often it is sent: its receipt is kept in the graph. Commands keep their
order; runs of new memories or new links for one graph go to the engine in one statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple
from uuid import uuid4

from orchestration.appraisal import key_phrases
from orchestration.dependencies import Deps
from orchestration.identifiers import link_name
from orchestration.writing import atomic, receipts, records, restatement_lookup, restatements
from orchestration.writing.additions import Row, check_period, holds_again, identity, receipt, row_of, with_receipt
from orchestration.writing.receipts import Refusal
from schemas.commands import ChangeCommand, Command, Relate, Remember, WriteReceipt
from schemas.memory import Level
from schemas.temporal import END_OF_TIME, Instant
from substrate.graphs.names import graph_name
from substrate.store import reader, writer
from substrate.store.rows import record, record_of_link


async def apply(
    commands: Sequence[Command], deps: Deps, now: Instant, *, whole: str | None = None
) -> list[WriteReceipt]:
    """Carry out the commands in order; one receipt each. What is refused changes nothing.

    Each is told a microsecond after the one before, from `now` on, and known from then on, unless the clock of its
    graph is ahead. `whole` is the id of one command, such as an episode, of which these are parts, all told `now`:
    one receipt is kept for all. Raises Unavailable when the engine does not answer: the same commands can then be
    sent again.
    """
    due = [Due(command, now + (0 if whole else place)) for place, command in enumerate(commands)]
    over = [await _never_holds(one, deps) for one in due]
    able = [one for one, fault in zip(due, over, strict=True) if fault is None]
    done = iter(await _apply(able, (deps, whole)))
    return [fault or next(done) for fault in over]


class Due(NamedTuple):
    """A command and the moment at which it is told."""

    command: Any
    now: Instant


type _With = tuple[Deps, str | None]


async def _never_holds(due: Due, deps: Deps) -> WriteReceipt | None:
    """The refusal of a memory or link that would begin now and end before, unless it was stored in its time."""
    command = due.command
    try:
        check_period(command, due.now)
    except Refusal as refusal:
        return None if await _kept(command, deps) else receipts.refused(command, _named(command), refusal)
    return None


async def _kept(command: Command, deps: Deps) -> bool:
    """Whether the receipt of a command with this id is kept."""
    graph = graph_name(command.level, command.citizen_id)
    if command.command_id is None or not await deps.graphs.for_reading(graph):
        return False
    return bool(await reader.receipts(deps.graph(graph), [command.command_id]))


def _named(command: Command) -> tuple[str, str | None]:
    return command.command_id or uuid4().hex, getattr(command, "id", None)


async def _apply(all_due: Sequence[Due], given: _With) -> list[WriteReceipt]:
    deps, whole = given
    said: list[WriteReceipt] = []
    for run in _runs(all_due, parts=whole is not None):
        first, now = run[0]
        graph = graph_name(first.level, first.citizen_id)
        if isinstance(first, Remember):
            await deps.graphs.for_writing(graph, now)
            for part in await _parts(graph, run, given):
                said += await _remember(graph, part, given)
        elif not await deps.graphs.for_reading(graph):
            said += [nowhere(one.command) for one in run]
        elif isinstance(first, Relate):
            said += await _relate(graph, run, given)
        elif isinstance(first, ChangeCommand):
            said.append(await atomic.apply_one(first, deps, now))
    return said


_AT_ONCE: Final[Mapping[Any, int]] = {
    Remember: writer.NODES_PER_STATEMENT,
    Relate: writer.LINKS_PER_STATEMENT,
}


def _runs(all_due: Sequence[Due], *, parts: bool) -> Iterator[Sequence[Due]]:
    """Neighbouring commands of one kind for one graph, within the engine's batch size, no id twice."""
    run: list[Due] = []
    seen: set[str] = set()
    key: tuple[Any, ...] = ()
    for due in all_due:
        command = due.command
        limit = _AT_ONCE.get(type(command), 1)
        named = isinstance(command, Relate) and command.id is not None
        own = (type(command), command.level, command.citizen_id, named)
        ids = {f"id {_identity(command)}"}
        if not parts:
            ids.add(f"command {command.command_id or uuid4().hex}")
        if run and (own != key or len(run) >= limit or ids & seen):
            yield run
            run, seen = [], set()
        key = own
        run.append(due)
        seen |= ids
    if run:
        yield run


async def _parts(graph: str, run: Sequence[Due], given: _With) -> list[Sequence[Due]]:
    """The run, cut around each memory that is there and says something else: it is retold alone, in its turn."""
    deps, whole = given
    named = [due.command.id for due in run if due.command.id is not None]
    if whole is not None or len(run) == 1 or not named:
        return [run]
    there = await reader.read_fingerprints(deps.graph(graph), named)
    cuts = [0, len(run)]
    for place, (command, _) in enumerate(run):
        if command.id in there and there[command.id] != records.fingerprint(command):
            cuts += [place, place + 1]
    return [run[begun:ended] for begun, ended in pairwise(sorted(cuts)) if ended > begun]


def _identity(command: Command) -> str:
    """The id that the command will write to, as far as it says."""
    made = identity(command, command.command_id or uuid4().hex)
    return made if made is not None and not isinstance(command, ChangeCommand) else uuid4().hex


async def with_tags(graph: str, rows: list[dict[str, Any]], deps: Deps) -> list[dict[str, Any]]:
    """The rows, with tags for what was ingested without any, where that is turned on."""
    places = [place for place, row in enumerate(rows) if deps.auto_tags and records.wants_tags(row)]
    if not places:
        return rows
    said = [key_phrases.extract_phrases(rows[place]["description"]) for place in places]
    names = [f"#{name}" for name in key_phrases.possible_tags(said)]
    known, size = await reader.tag_sizes(deps.graph(graph), names)
    made = dict(zip(places, key_phrases.choose_tags(said, known, size), strict=True))
    return [records.tagged(row, made[place]) if made.get(place) else row for place, row in enumerate(rows)]


async def embed(rows: Sequence[dict[str, Any]], deps: Deps) -> None:
    """Give each row of a memory its embedding."""
    vectors = await deps.embedder.embed_texts([records.embedded_text(row) for row in rows])
    for row, vector in zip(rows, vectors, strict=True):
        row["embedding"] = vector or None


def _batch(run: Sequence[Due], rows: list[dict[str, Any]], whole: str | None) -> writer.Batch:
    begun = run[0].now
    if whole is None:
        told = [
            with_receipt(due.command, {**row, "nth": due.now - begun}) for due, row in zip(run, rows, strict=True)
        ]
        return writer.Batch(told, begun)
    return writer.Batch(records.parts(rows), begun, {"command_id": whole, "command": "ingest"})


async def _remember(graph: str, run: Sequence[Due], given: _With) -> list[WriteReceipt]:
    deps, whole = given
    commands = [due.command for due in run]
    said = {} if whole is not None else await restatement_lookup.recognised(graph, commands, deps, run[0].now)
    raising = [place for place, record in said.items() if restatements.raises(commands[place], record)]
    if raising:
        return await _remember_around(graph, run, raising[0], given)
    again = await restatement_lookup.answered(graph, commands, said, deps)
    fresh = [due for place, due in enumerate(run) if place not in again]
    written = iter(await _store(graph, fresh, given) if fresh else ())
    return [again[place] if place in again else next(written) for place in range(len(run))]


async def _remember_around(graph: str, run: Sequence[Due], place: int, given: _With) -> list[WriteReceipt]:
    """The receipts of a run with one command in it that changes what it says again: it is carried out alone."""
    before = await _remember(graph, run[:place], given) if place else []
    one = await atomic.apply_one(run[place].command, given[0], run[place].now)
    after = await _remember(graph, run[place + 1 :], given) if run[place + 1 :] else []
    return [*before, one, *after]


async def _store(graph: str, run: Sequence[Due], given: _With) -> list[WriteReceipt]:
    deps, whole = given
    rows = await with_tags(graph, _rows(run), deps)
    await embed(rows, deps)
    marks = await writer.remember(deps.graph(graph), _batch(run, rows, whole))
    return [await _said(graph, *one, given) for one in zip(run, rows, marks, strict=True)]


async def _relate(graph: str, run: Sequence[Due], given: _With) -> list[WriteReceipt]:
    deps, whole = given
    rows = _rows(run)
    marks = await writer.relate(deps.graph(graph), _batch(run, rows, whole))
    return [await _said(graph, *one, given) for one in zip(run, rows, marks, strict=True)]


def _rows(run: Sequence[Due]) -> list[dict[str, Any]]:
    return [row_of(command, command.command_id or uuid4().hex, now) for command, now in run]


async def _said(graph: str, due: Due, row: Row, mark: writer.Mark, given: _With) -> WriteReceipt:
    """What became of a row. One whose identity is there, and was changed or may hold nothing over its time, is
    retold alone (`Rehearsal` decides what it says again). One that still is as it began says itself again.
    """
    deps, whole = given
    changed = not mark.new and mark.kept is None and mark.version > 1 and mark.has_source and mark.has_target
    if whole is None and (changed or holds_again(row, mark)):
        return await atomic.apply_one(due.command, deps, due.now)
    return receipt(
        due.command, row, await _as_first(graph, (row, mark), deps, link=isinstance(due.command, Relate))
    )


async def _as_first(graph: str, found: tuple[Row, writer.Mark], deps: Deps, *, link: bool = False) -> writer.Mark:
    """The mark with the times of the first record, where what a row says again has changed since."""
    row, mark = found
    if (
        mark.fingerprint != row["fingerprint"]
        or mark.new
        or mark.kept is not None
        or mark.version == 1
        or mark.expired_at != END_OF_TIME
    ):
        return mark
    if link:
        links = await reader.link_history(deps.graph(graph), link_name(mark.id))
        first = record_of_link(links[0][2:])
    else:
        first = record((await reader.history(deps.graph(graph), mark.id))[0])
    valid, known = first.valid, first.known
    return mark._replace(version=1, valid_at=valid.start, invalid_at=valid.end, created_at=known.start)


def nowhere(command: Command) -> WriteReceipt:
    """Only a new memory makes a graph: a mistyped citizen must not leave an empty one behind."""
    whose = f"citizen {command.citizen_id}" if command.level is Level.N1 else command.level
    refusal = Refusal("not-found", f"nothing was remembered for {whose} yet")
    return receipts.refused(command, _named(command), refusal)
