"""Applies commands and returns their receipts: the entry of all writes that are not an atomic list.

Each command is applied once, however often it is sent: its receipt is stored in the graph. Commands keep their
order; neighbouring new memories or new links for one graph are written in one statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
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
from orchestration.writing.command_rows import Row
from schemas.commands import ChangeCommand, Command, Relate, Remember, Retract, Subject, WriteReceipt
from schemas.errors import Unavailable
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, Instant
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
    again.
    """
    answers = await _apply(commands, deps, now, whole, moments=moments)
    if deps.names and whole is None:
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


async def _apply(
    commands: Sequence[Command],
    deps: Deps,
    now: Instant,
    whole: str | None,
    *,
    moments: Sequence[Instant] | None = None,
) -> list[WriteReceipt]:
    if moments is None:
        moments = [now + (step if whole is None else 0) for step in range(len(commands))]
    trimmed = list(map(records.trim_command, commands))
    timed = [TimedCommand(each.command, at) for each, at in zip(trimmed, moments, strict=True)]
    refusals = [await _refuse_ended(command, deps) for command in timed]
    accepted = [command for command, refusal in zip(timed, refusals, strict=True) if refusal is None]
    applied = iter(await _apply_runs(accepted, deps, whole))
    answers = [refusal or next(applied) for refusal in refusals]
    told = zip(answers, trimmed, moments, strict=True)
    return [receipts.with_note(receipt, each.note, at) for receipt, each, at in told]


UNRECORDED: Final = ""
"""In place of the id of a whole: its parts leave no receipt."""


class TimedCommand(NamedTuple):
    """A command and the moment at which it is sent."""

    command: Any
    now: Instant


class Destination(NamedTuple):
    """Where a run of commands is written. `whole`: the id of the command that they are parts of, if any."""

    graph: Graph
    deps: Deps
    whole: str | None


type Run = Sequence[TimedCommand]


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
        command_id = atomic.name_command(command).command_id
        return receipts.refuse(command, refusal, command_id=command_id, record_id=command.id)
    return None


async def _apply_runs(timed: Run, deps: Deps, whole: str | None) -> list[WriteReceipt]:
    applied: list[WriteReceipt] = []
    for run in _runs(timed, parts=whole is not None):
        first, now = run[0]
        graph = graph_name(first.graph_key, first.citizen_id)
        destination = Destination(deps.graph(graph), deps, whole)
        if isinstance(first, Remember):
            await deps.graphs.for_writing(graph, now)
            for part in await _cut_at_rewrites(run, destination):
                applied += await _remember(part, destination)
        elif not await deps.graphs.for_reading(graph):
            applied += [command_rows.refuse_without_graph(atomic.name_command(timed.command)) for timed in run]
        elif isinstance(first, Relate):
            applied += await _relate(run, destination)
        elif isinstance(first, ChangeCommand):
            receipt = await atomic.apply_one(first, deps, now)
            applied.append(receipt)
            if isinstance(first, Retract):
                applied[-1:] = await thread_closing.reopen_retracted([first], [receipt], deps, now)
    return applied


_ROWS_AT_ONCE: Final[Mapping[Any, int]] = {
    Remember: writer.NODES_PER_STATEMENT,
    Relate: writer.LINKS_PER_STATEMENT,
}


def _runs(timed: Run, *, parts: bool) -> Iterator[Run]:
    """Cut the commands into runs: one kind, one graph, at most `_ROWS_AT_ONCE`, no id twice."""
    run: list[TimedCommand] = []
    run_ids: set[str] = set()
    run_key: tuple[Any, ...] = ()
    for timed_command in timed:
        command = timed_command.command
        limit = _ROWS_AT_ONCE.get(type(command), 1)
        has_own_id = isinstance(command, Relate) and command.id is not None
        key = (type(command), command.graph_key, command.citizen_id, has_own_id)
        named = atomic.name_command(command)
        # A change is always alone in its run and needs none.
        ids = set() if isinstance(command, ChangeCommand) else {f"id {named.record_id}"}
        if not parts:
            ids.add(f"command {named.command_id}")
        if run and (key != run_key or len(run) >= limit or ids & run_ids):
            yield run
            run, run_ids = [], set()
        run_key = key
        run.append(timed_command)
        run_ids |= ids
    if run:
        yield run


async def _cut_at_rewrites(run: Run, to: Destination) -> list[Run]:
    """The run, cut so that each memory whose id is stored with other content is written alone, in its turn."""
    ids = [command.id for command, _ in run if command.id is not None]
    if to.whole is not None or len(run) == 1 or not ids:
        return [run]
    stored = await reader.read_fingerprints(to.graph, ids)
    cuts = [0, len(run)]
    for position, (command, _) in enumerate(run):
        if command.id in stored and stored[command.id] != records.fingerprint(command):
            cuts += [position, position + 1]
    return [run[start:end] for start, end in pairwise(sorted(cuts)) if end > start]


async def _remember(run: Run, to: Destination) -> list[WriteReceipt]:
    answers: list[WriteReceipt] = []
    while run:
        commands = [command for command, _ in run]
        repeated = {} if to.whole is not None else await atomic.find_repeated(to.graph, commands, run[0].now)
        # A command that takes over what it repeats is applied alone, and what is repeated by those after it is
        # read again: they must see the higher source.
        end = len(run)
        for position, record in repeated.items():
            if restatements.raises_source(commands[position], record):
                end = min(end, position)
        only_repeat = {position: record for position, record in repeated.items() if position < end}
        recognised = await _recognise(commands, only_repeat, to.graph)
        new = [run[position] for position in range(end) if position not in recognised]
        written = iter(await _store(new, to) if new else ())
        answers += [recognised[position] if position in recognised else next(written) for position in range(end)]
        if end < len(run):
            answers.append(await atomic.apply_one(commands[end], to.deps, run[end].now))
        run = run[end + 1 :]
    return answers


async def _recognise(
    commands: Sequence[Remember], repeated: Mapping[int, Record], graph: Graph
) -> dict[int, WriteReceipt]:
    """The receipts of the commands that only repeat a memory, by position in `commands`.

    Stores the receipts of commands with an id. Leaves out a command that was applied before: it has a receipt.
    """
    if not repeated:
        return {}
    sent_ids = [commands[position].command_id for position in repeated]
    applied = await reader.receipts(graph, [command_id for command_id in sent_ids if command_id is not None])
    receipt_rows: dict[int, dict[str, Any]] = {}
    for position, record in repeated.items():
        if commands[position].command_id not in applied:
            command = commands[position]
            command_id = atomic.name_command(command).command_id
            warning = restatements.repeated_warning(record)
            receipt_rows[position] = receipts.recognised_row(command, command_id, record, warning)
    to_store = [row for position, row in receipt_rows.items() if commands[position].command_id is not None]
    stored = await writer.store_receipts(graph, to_store) if to_store else {}
    recognised: dict[int, WriteReceipt] = {}
    for position, row in receipt_rows.items():
        command = commands[position]
        try:
            if command.command_id is None:
                recognised[position] = receipts.rebuild_from_row(row, command.graph_key)
            else:
                recognised[position] = receipts.repeat_receipt(command, stored[command.command_id])
        except Refusal as refusal:  # a command with other content was sent under this id at the same time
            command_id = row["command_id"]
            recognised[position] = receipts.refuse(command, refusal, command_id=command_id, record_id=None)
    return recognised


async def _store(run: Run, to: Destination) -> list[WriteReceipt]:
    commands = [timed.command for timed in run]
    appraised = await appraise_commands(commands, to.deps)
    rows = await beside_loop(
        commands, lambda: list(map(appraised_rows.fill_row, _new_rows(run), commands, appraised.appraisals))
    )
    await _embed(rows, to.deps)
    outcomes = await writer.remember(to.graph, _batch(run, rows, to.whole))
    stored = zip(run, rows, appraised.appraisals, outcomes, strict=True)
    told = [
        thread_closing.Told(timed.command, row, appraisal)
        for timed, row, appraisal, outcome in stored
        if outcome.new
    ]
    late: list[tuple[int, str]] = [*appraised.notes.items()]
    try:
        await passage_filling.fill(to.graph, passages.long_texts(rows), to.deps.embedder)
    except Unavailable as error:
        note = f"{LEFT_OUT}: passages, because {error.detail}; `validate --fix passages_missing` adds them"
        late += [(place, note) for place, row in enumerate(rows) if row["passages"] is not None]
    try:
        await thread_closing.close_threads(told, to.graph, to.deps, run[0].now)
    except Unavailable as error:
        note = f"{LEFT_OUT}: what it solves of what was open, because {error.detail}; `resolve` says it"
        ends = {
            each.row["id"]
            for each in told
            if thread_closing.tells_end(appraised_rows.text_of(each.row), each.appraisal)
        }
        late += [(place, note) for place, row in enumerate(rows) if row["id"] in ends]
    answers = [await _receipt(*written, to) for written in zip(run, rows, outcomes, strict=True)]
    for place, note in late:
        answers[place] = receipts.with_note(answers[place], note)
    return answers


async def _relate(run: Run, to: Destination) -> list[WriteReceipt]:
    rows = await _inherit(run, _new_rows(run), to)
    outcomes = await writer.relate(to.graph, _batch(run, rows, to.whole))
    return [await _receipt(*written, to) for written in zip(run, rows, outcomes, strict=True)]


async def _inherit(run: Run, rows: list[dict[str, Any]], to: Destination) -> list[dict[str, Any]]:
    """The rows; those of links that the service made have the feelings, energy and state of their ends."""
    made = [position for position, timed in enumerate(run) if timed.command.inferred]
    ends = {position: (rows[position]["source_id"], rows[position]["target_id"]) for position in made}
    if not ends:
        return rows
    ids = sorted(set(chain.from_iterable(ends.values())))
    felt = await reader.read_felt(to.graph, ids)
    inherited = {
        position: command_rows.inherit(rows[position], [felt.get(source, {}), felt.get(target, {})])
        for position, (source, target) in ends.items()
    }
    return [inherited.get(position, row) for position, row in enumerate(rows)]


def _new_rows(run: Run) -> list[dict[str, Any]]:
    return [
        command_rows.new_row(command, atomic.name_command(command).command_id, sent_at) for command, sent_at in run
    ]


def _batch(run: Run, rows: list[dict[str, Any]], whole: str | None) -> writer.RowBatch:
    start = run[0].now
    nths = [timed.now - start for timed in run]
    if whole is not None:
        parts = command_rows.without_receipts(rows, nths)
        ids = dict.fromkeys(row["command_id"] for row in rows) if whole else ()
        return writer.RowBatch(parts, start, [{"command_id": each, "command": "ingest"} for each in ids])
    with_receipts = [
        command_rows.with_receipt(timed.command, row, nth) for timed, row, nth in zip(run, rows, nths, strict=True)
    ]
    return writer.RowBatch(with_receipts, start)


async def _embed(rows: Sequence[dict[str, Any]], deps: Deps) -> None:
    """Set the embedding of each row."""
    vectors = await deps.embedder.embed_texts(list(map(records.embedded_text, rows)))
    for row, vector in zip(rows, vectors, strict=True):
        row["embedding"] = vector or None


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
