"""Applies commands and returns their receipts: the entry of all writes that are not an atomic list.

Each command is applied once, however often it is sent: its receipt is stored in the graph. Commands keep their
order; neighbouring new memories or new links for one graph are written in one statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any, Final, NamedTuple

from orchestration.dependencies import Deps
from orchestration.identifiers import link_name
from orchestration.writing import (
    appraised_rows,
    atomic,
    cascade_reading,
    command_rows,
    mentions,
    passage_filling,
    passages,
    receipts,
    records,
    restatements,
    thread_closing,
)
from orchestration.writing.appraisals import LEFT_OUT, appraise_commands, beside_loop
from orchestration.writing.changes import Refusal
from orchestration.writing.command_rows import NamedCommand, Row
from orchestration.writing.quotas import check_quotas
from schemas.commands import ChangeCommand, Command, Relate, Remember, Subject, WriteReceipt
from schemas.errors import Unavailable
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, Instant, Period, to_datetime
from substrate.bitemporal import Record
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import reader, transactions, writer
from substrate.store.changesets import RecordSelection
from substrate.store.rows import RowOutcome


async def apply(
    commands: Sequence[Command],
    deps: Deps,
    now: Instant,
    *,
    whole: str | None = None,
    moments: Sequence[Instant] | None = None,
) -> list[WriteReceipt]:
    """Apply the commands in order. Returns one receipt for each; a refused command changes nothing.

    The first command gets the time `now`, each later one a microsecond more; if the clock of the graph is ahead,
    the transaction times follow that clock. With `whole`, the commands are parts of the one that they name, as of
    an episode: all get the time `now`, and it has the only receipt. `moments`, rising, are the times of the
    commands instead. Raises Unavailable when the engine does not answer; the same commands can then be sent
    again. Raises QuotaReached, with nothing stored, where they would pass a quota of a citizen.
    """
    if deps.most_memories or deps.most_bytes:
        await check_quotas(commands, deps)
    named: set[str] | None = set() if deps.names and whole is None and len(commands) == 1 else None
    answers = await _apply(commands, deps, now, whole, moments=moments, named=named)
    if deps.names and whole is None and not named:
        answers = await name_texts(commands, answers, deps, now)
    return await cascade_reading.with_consequences(commands, answers, deps, now) if whole is None else answers


async def apply_atomically(commands: Sequence[Command], deps: Deps, now: Instant) -> list[WriteReceipt]:
    """Apply all commands, or none, as `atomic.apply` does; the names in new texts are stored after them."""
    answers = await atomic.apply(commands, deps, now)
    answers = await thread_closing.reopen_retracted(commands, answers, deps, now)
    if deps.names:
        answers = await name_texts(commands, answers, deps, now)
    return await cascade_reading.with_consequences(commands, answers, deps, now)


async def name_texts(
    commands: Sequence[Command], answers: list[WriteReceipt], deps: Deps, now: Instant
) -> list[WriteReceipt]:
    """Store the names that the new texts mention, and their links. Returns the receipts of the commands.

    When the engine does not answer in time the receipts say so; the same commands sent again make up for it.
    """
    try:
        for texts in (await mentions.new_writings(commands, answers, deps)).values():
            found = await mentions.decide(texts, deps)
            await store_made(found.commands(texts), deps, now)
    except Unavailable as error:
        note = f"{LEFT_OUT}: names in its text, because {error.detail}; the same under its command_id links them"
        answers = [receipts.with_note(answer, note) for answer in answers]
    return answers


async def store_made(commands: Sequence[Command], deps: Deps, now: Instant) -> None:
    """Store what the service made of texts. It has no receipts: the ids say what was made of what."""
    await _apply(commands, deps, now, UNRECORDED)


UNRECORDED: Final = ""
"""In place of the id of a whole: its parts leave no receipt."""


class TimedCommand(NamedTuple):
    """A command, the id of its receipt, and the moment at which it is sent."""

    command: Any
    command_id: str
    now: Instant


class Destination(NamedTuple):
    """Where a run of commands is written. `whole`: the id of the command that they are parts of, if any. `named`:
    the ids of those that were written with links to what they name; None where this is done for all together."""

    graph: Graph
    deps: Deps
    whole: str | None
    named: set[str] | None


type Run = Sequence[TimedCommand]


async def _apply(
    commands: Sequence[Command],
    deps: Deps,
    now: Instant,
    whole: str | None,
    *,
    moments: Sequence[Instant] | None = None,
    named: set[str] | None = None,
) -> list[WriteReceipt]:
    if moments is None:
        moments = [now + (step if whole is None else 0) for step in range(len(commands))]
    trimmed = list(map(records.trim_command, commands))
    refusals: list[WriteReceipt | None] = []
    accepted: list[TimedCommand] = []
    for each, at in zip(trimmed, moments, strict=True):
        timed = TimedCommand(*atomic.name_command(each.command), at)
        refusals.append(await _refuse_ended(timed, deps))
        if refusals[-1] is None:
            accepted.append(timed)
    applied: list[WriteReceipt] = []
    for run in _runs(accepted, parts=whole is not None):
        applied += await _apply_run(run, deps, whole, named)
    rest = iter(applied)
    told = zip(refusals, trimmed, moments, strict=True)
    return [receipts.with_note(refusal or next(rest), each.note, at) for refusal, each, at in told]


async def _refuse_ended(timed: TimedCommand, deps: Deps) -> WriteReceipt | None:
    """The refusal of a new memory or link that would begin now and has ended; None when it was stored before."""
    command = timed.command
    try:
        command_rows.check_end_ahead(command, timed.now)
    except Refusal as refusal:
        graph = graph_name(command.graph_key, command.citizen_id)
        was_sent = command.command_id is not None and await deps.graphs.for_reading(graph)
        if was_sent and await reader.receipts(deps.graph(graph), [command.command_id]):
            return None
        return receipts.refuse(command, refusal, command_id=timed.command_id, record_id=command.id)
    return None


_AT_ONCE: Final[Mapping[Any, int]] = {
    Remember: writer.NODES_PER_STATEMENT,
    Relate: writer.LINKS_PER_STATEMENT,
}


def _runs(timed: Run, *, parts: bool) -> Iterator[Run]:
    """Cut the commands into runs: one kind, one graph, at most `_AT_ONCE`, no id twice.

    `parts`: of one command. A few memories are in one run with the links that follow them.
    """
    run: list[TimedCommand] = []
    run_ids: set[str] = set()
    run_key: tuple[Any, ...] = ()
    for each in timed:
        command = each.command
        has_own_id = isinstance(command, Relate) and command.id is not None
        key = (type(command), command.graph_key, command.citizen_id, has_own_id)
        is_linked = parts and isinstance(command, Relate) and run and isinstance(run[0].command, Remember)
        limit = writer.TOGETHER if is_linked else _AT_ONCE.get(type(command), 1)
        # A change is always alone in its run and needs none.
        is_change = isinstance(command, ChangeCommand)
        ids = set() if is_change else {f"id {command_rows.identity(command, each.command_id)}"}
        if not parts:
            ids.add(f"command {each.command_id}")
        is_like = key == run_key or (is_linked and (Remember, *key[1:]) == run_key)
        if run and (not is_like or len(run) >= limit or ids & run_ids):
            yield run
            run, run_ids = [], set()
        run_key = key
        run.append(each)
        run_ids |= ids
    if run:
        yield run


async def _apply_run(run: Run, deps: Deps, whole: str | None, named: set[str] | None) -> list[WriteReceipt]:
    first, _, now = run[0]
    graph = graph_name(first.graph_key, first.citizen_id)
    to = Destination(deps.graph(graph), deps, whole, named)
    if isinstance(first, Remember):
        await deps.graphs.for_writing(graph, now)
        return await _remember(run, to)
    if not await deps.graphs.for_reading(graph):
        return [command_rows.refuse_without_graph(NamedCommand(*each[:2])) for each in run]
    if isinstance(first, Relate):
        return await _relate(run, to)
    receipt = await atomic.apply_one(first, deps, now)
    return await thread_closing.reopen_retracted([first], [receipt], deps, now)


async def _remember(run: Run, to: Destination) -> list[WriteReceipt]:
    """Write new memories in their order: together, or alone what is to be decided by what is stored of it.

    Of a command that only repeats the text of a memory nothing is written but its receipt.
    """
    if to.whole is not None:
        return await _store(run, to)
    answers: list[WriteReceipt] = []
    alone = await _find_rewrites(run, to.graph)
    for _, part in groupby(run, lambda each: each.command_id in alone and each.command_id):
        run = list(part)
        while run:
            repeated = await atomic.find_repeated(to.graph, [each.command for each in run], run[0].now)
            # A command that takes over what it repeats is applied by itself, and what is repeated by those after
            # it is read again: they must see the higher source.
            end = len(run)
            for place, record in repeated.items():
                if restatements.raises_source(run[place].command, record):
                    end = min(end, place)
            recognised = await _recognise(run[:end], repeated, to.graph)
            new = [each for place, each in enumerate(run[:end]) if place not in recognised]
            written = iter(await _store(new, to) if new else ())
            answers += [recognised[place] if place in recognised else next(written) for place in range(end)]
            if end < len(run):
                answers.append(await atomic.apply_one(run[end].command, to.deps, run[end].now))
            run = run[end + 1 :]
    return answers


async def _find_rewrites(run: Run, graph: Graph) -> set[str]:
    """The ids of the commands whose memory is stored and is not just repeated: each is written alone.

    What is written together has its transaction times before it shows that one of it has to be decided alone.
    """
    ids = [each.command.id for each in run if each.command.id is not None]
    if len(run) == 1 or not ids:
        return set()
    stored = await reader.read_heads(graph, ids)
    rewrites = set()
    for command, command_id, now in run:
        own = Period(records.instant(command.valid_at, now), records.instant(command.invalid_at, END_OF_TIME))
        if (head := stored.get(command.id)) is not None:
            is_same = head.version == 1 and head.fingerprint == records.fingerprint(command)
            rewrites |= set() if is_same and head.valid.overlaps(own) else {command_id}
    return rewrites


async def _recognise(run: Run, repeated: Mapping[int, Record], graph: Graph) -> dict[int, WriteReceipt]:
    """The receipts of the commands that only repeat a memory, by position in the run.

    Stores the receipts of commands with an id. Leaves out a command that was applied before: it has a receipt.
    """
    here = {place: record for place, record in repeated.items() if place < len(run)}
    if not here:
        return {}
    sent = {run[place].command.command_id for place in here} - {None}
    applied = await reader.receipts(graph, sorted(sent))
    rows: dict[int, dict[str, Any]] = {}
    for place, record in here.items():
        command, command_id, _ = run[place]
        if command_id not in applied:
            warning = restatements.repeated_warning(record)
            rows[place] = receipts.recognised_row(command, command_id, record, warning)
    to_store = [row for row in rows.values() if row["command_id"] in sent]
    stored = await writer.store_receipts(graph, to_store) if to_store else {}
    recognised: dict[int, WriteReceipt] = {}
    for place, row in rows.items():
        command, command_id, _ = run[place]
        try:
            if command_id in stored:
                recognised[place] = receipts.repeat_receipt(command, stored[command_id])
            else:
                recognised[place] = receipts.rebuild_from_row(row, command.graph_key)
        except Refusal as refusal:  # a command with other content was sent under this id at the same time
            recognised[place] = receipts.refuse(command, refusal, command_id=command_id, record_id=None)
    return recognised


async def _store(run: Run, to: Destination) -> list[WriteReceipt]:
    """Write new memories, and the links that follow them in the run: together where that is the same."""
    links = [each for each in run if isinstance(each.command, Relate)]
    run = run[: len(run) - len(links)]
    commands = [each.command for each in run]
    appraised = await appraise_commands(commands, to.deps)
    made = (command_rows.new_row(*each) for each in run)
    rows = await beside_loop(
        commands, lambda: list(map(appraised_rows.fill_row, made, commands, appraised.appraisals))
    )
    vectors = await to.deps.embedder.embed_texts(list(map(records.embedded_text, rows)))
    for row, vector in zip(rows, vectors, strict=True):
        row["embedding"] = vector or None
    told = dict(enumerate(map(thread_closing.StoredTelling, commands, rows, appraised.appraisals)))
    # A memory that ends what was open changes what a link takes from its ends.
    ends = any(each.tells_end for each in told.values())
    beside = [] if ends else await _rows_beside(run[0], links, rows, to)
    outcomes = await writer.remember(to.graph, _batch(run, rows, to.whole, beside))
    told = {place: each for place, each in told.items() if outcomes[place].new}
    late: list[tuple[int, str]] = [*appraised.notes.items()]
    try:
        await passage_filling.fill(to.graph, passages.long_texts(rows), to.deps.embedder)
    except Unavailable as error:
        note = f"{LEFT_OUT}: passages, because {error.detail}; `validate --fix passages_missing` adds them"
        late += [(place, note) for place, row in enumerate(rows) if row["passages"] is not None]
    try:
        await thread_closing.close_threads(list(told.values()), to.graph, to.deps, run[0].now)
    except Unavailable as error:
        note = f"{LEFT_OUT}: what it solves of what was open, because {error.detail}; `resolve` says it"
        late += [(place, note) for place, each in told.items() if each.tells_end]
    answers = [await _receipt(*each, to) for each in zip(run, rows, outcomes, strict=False)]
    for place, note in late:
        answers[place] = receipts.with_note(answers[place], note)
    linked = outcomes[len(run) :]
    if linked and to.named is not None:
        to.named.add(run[0].command_id)
    elif linked:
        answers += [await _receipt(*each, outcome, to) for each, outcome in zip(beside, linked, strict=True)]
    return answers if linked or not links else [*answers, *await _relate(links, to)]


type LinkRow = tuple[TimedCommand, dict[str, Any]]


async def _rows_beside(first: TimedCommand, links: Run, rows: Sequence[Row], to: Destination) -> list[LinkRow]:
    """The links that can be written with new memories: those of the run, or of one text with what it names; none
    where that makes more than a few links, or cannot be read now."""
    if to.named is not None:
        writing = mentions.writing_of(first.command, rows[0]["id"], to_datetime(rows[0]["valid_at"]))
        if writing is None:
            return []
        with suppress(Unavailable):
            names = await mentions.decide([writing], to.deps)
            made = names.commands([writing])
            rows = [*({"id": each.id, **each.felt} for each in names.known.values()), *rows]
            are_links = all(isinstance(one, Relate) and one.id is None for one in made)
            if are_links and len(made) < writer.TOGETHER:
                links = [TimedCommand(*atomic.name_command(one), first.now) for one in made]
    return list(zip(links, await _link_rows(links, to.graph, rows), strict=True))


async def _link_rows(run: Run, graph: Graph, new: Sequence[Row] = ()) -> list[dict[str, Any]]:
    """The rows of new links; those that the service made have the feelings, energy and state of their ends.

    `new`: what is known of memories at their ends, as of those that are written together with them.
    """
    rows = [command_rows.new_row(*each) for each in run]
    made = [row for each, row in zip(run, rows, strict=True) if each.command.inferred]
    felt: dict[str, Row] = {row["id"]: row for row in new}
    ends = {row[end] for row in made for end in ("source_id", "target_id")} - felt.keys()
    felt |= await reader.read_felt(graph, sorted(ends)) if ends else {}
    for row in made:
        row |= command_rows.inherit(row, [felt.get(row[end], {}) for end in ("source_id", "target_id")])
    return rows


async def _relate(run: Run, to: Destination) -> list[WriteReceipt]:
    rows = await _link_rows(run, to.graph)
    outcomes = await writer.relate(to.graph, _batch(run, rows, to.whole))
    return [await _receipt(*written, to) for written in zip(run, rows, outcomes, strict=True)]


def _batch(
    run: Run, rows: Sequence[dict[str, Any]], whole: str | None, beside: Sequence[LinkRow] = ()
) -> writer.RowBatch:
    """The rows of a run for the writer, and those `beside` it. What is made of a whole names no receipt."""
    start, nths = run[0].now, [each.now - run[0].now for each in run]
    links = command_rows.without_receipts([row for _, row in beside], [each.now - start for each, _ in beside])
    if whole is not None:
        parts = command_rows.without_receipts(rows, nths)
        named = [*run, *(each for each, _ in beside)] if whole else []
        ids = dict.fromkeys(each.command.command_id for each in named)
        wholes = [{"command_id": each, "command": "ingest"} for each in ids if each is not None]
        return writer.RowBatch(parts, start, wholes, links)
    commands = [each.command for each in run]
    return writer.RowBatch(list(map(command_rows.with_receipt, commands, rows, nths)), start, links=links)


async def _receipt(timed: TimedCommand, row: Row, outcome: RowOutcome, to: Destination) -> WriteReceipt:
    """The receipt of a row from the outcome of its write.

    If the id exists and was changed since it was created, or may not hold over the valid time of the row, nothing
    was written: then the command is applied alone by `Simulation`, which reads the whole history.
    """
    is_old = not outcome.new and outcome.receipt is None
    was_changed = is_old and outcome.version > 1 and outcome.has_source and outcome.has_target
    if to.whole is None and (was_changed or command_rows.may_hold_again(row, outcome)):
        return await atomic.apply_one(timed.command, to.deps, timed.now)
    is_repeated = is_old and outcome.fingerprint == row["fingerprint"] and outcome.expired_at == END_OF_TIME
    if is_repeated and outcome.version > 1:
        outcome = await _with_first_times(outcome, to.graph, timed.command.subject)
    return command_rows.build_receipt(timed.command, row, outcome)


async def _with_first_times(outcome: RowOutcome, graph: Graph, subject: Subject) -> RowOutcome:
    """The outcome with the times of the first record of the identity: a repeat is answered with these."""
    if subject == "link":
        stored = await transactions.read_links(graph, [link_name(outcome.id)])
    else:
        everything = RecordSelection(BEGINNING_OF_TIME, every=True)
        stored = await transactions.read_memories(graph, {outcome.id: everything})
    first = min(stored[outcome.id].records, key=lambda record: (record.known.start, record.valid.start))
    return outcome._replace(
        version=1, valid_at=first.valid.start, invalid_at=first.valid.end, created_at=first.known.start
    )
