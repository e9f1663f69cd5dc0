"""Applies a list of commands for one graph as a whole, or not at all.

The commands are simulated in order on what is stored, then written in one compare-and-set when none is refused.
When another writer changed something meanwhile, all of it begins again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

from orchestration.dependencies import Deps
from orchestration.identifiers import link_name
from orchestration.writing import receipts, restatements, simulation, version_chain
from orchestration.writing.changes import Refusal, WriteTimes, needed_records
from orchestration.writing.command_rows import NamedCommand
from orchestration.writing.simulation import Outcome, PlannedWrite, Simulation, StoredParts
from schemas.commands import Command, Relate, Remember, WriteReceipt
from schemas.errors import Conflict, InvalidRequest, Unavailable
from schemas.memory import Level
from schemas.temporal import END_OF_TIME, Instant, to_instant
from substrate.bitemporal import Record
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import reader, rows, transactions
from substrate.store.changesets import RecordSelection, TransactionRows
from substrate.store.transactions import COMMANDS_AT_MOST

TRIES: Final = 20
NOT_APPLIED: Final = "not applied: another command of the atomic list was refused"
_CARRIED_ONLY: Final = RecordSelection(END_OF_TIME)


async def apply(commands: Sequence[Command], deps: Deps, now: Instant) -> list[WriteReceipt]:
    """Apply all of the commands, or none; one receipt each, in their order.

    All are for one graph, at most `COMMANDS_AT_MOST`. A later command may build on an earlier one; all are sent
    and known at one moment. When one is refused, its receipt says why and nothing is changed. Raises
    InvalidRequest for a list that cannot be atomic; Unavailable when the engine does not answer, or others keep
    changing the same: the same list can then be sent again.
    """
    if not commands:
        return []
    _check_list(commands)
    result = await _try_often(commands, deps, now)
    if result is None:
        raise Unavailable("others keep changing the same; nothing was applied", remedy="Try again in a moment.")
    return result


async def apply_one(command: Command, deps: Deps, now: Instant) -> WriteReceipt:
    """Apply one command by itself. Raises Unavailable when the engine does not answer."""
    result = await _try_often([command], deps, now)
    if result is not None:
        return result[0]
    named = name_command(command)
    return named.refuse(Refusal("conflict", f"{named.record_id} is being changed by others; try again"))


def name_command(command: Command) -> NamedCommand:
    """The command under its own id, or under a new one when it has none."""
    return NamedCommand(command, command.command_id or uuid4().hex)


def withheld(command: Command) -> WriteReceipt:
    """The receipt of a command that was not applied because another of its list was refused."""
    return _withheld(name_command(command))


async def find_repeated(graph: Graph, commands: Sequence[Remember], now: Instant) -> dict[int, Record]:
    """The memories whose text the commands repeat, as they hold now, by the positions of the commands."""
    readings = [restatements.readings(command) for command in commands]
    keys = sorted({key for by_key in readings for key in by_key})
    if not keys:
        return {}
    candidates = [rows.record(row) for row in await reader.find_by_text(graph, keys, now)]
    repeated = (
        restatements.first_repeated(command, by_key, candidates)
        for command, by_key in zip(commands, readings, strict=True)
    )
    return {place: record for place, record in enumerate(repeated) if record is not None}


def _withheld(named: NamedCommand) -> WriteReceipt:
    return named.refuse(Refusal("not-applied", NOT_APPLIED))


def _check_list(commands: Sequence[Command]) -> None:
    graphs = {(command.level, command.citizen_id if command.level is Level.N1 else None) for command in commands}
    if len(graphs) > 1:
        raise InvalidRequest(
            "an atomic list is for one graph: one level, and in N1 one citizen", remedy="Send one list for each."
        )
    if len(commands) > COMMANDS_AT_MOST:
        raise InvalidRequest(
            f"an atomic list has at most {COMMANDS_AT_MOST} commands, this one has {len(commands)}",
            remedy="Send several, or leave out atomic: then each command stands for itself.",
        )


@dataclass(slots=True)
class RetryState:
    """What one attempt leaves to the next: embeddings by text, and the commands whose answer may be lost."""

    retried: bool = False
    vectors: dict[str, list[float] | None] = field(default_factory=dict)
    unanswered: set[str] = field(default_factory=set)


async def _try_often(commands: Sequence[Command], deps: Deps, now: Instant) -> list[WriteReceipt] | None:
    """The receipts; None when others kept changing the same."""
    named = [name_command(command) for command in commands]
    retry = RetryState()
    for attempt in range(TRIES):
        retry.retried = attempt > 0
        result = await _attempt(named, retry, deps, now)
        if result is not None:
            return [_as_first_sent(receipt, retry, now) for receipt in result]
        await asyncio.sleep(random.uniform(0, 0.002 * 2 ** min(attempt, 6)))
    return None


def _as_first_sent(receipt: WriteReceipt, retry: RetryState, now: Instant) -> WriteReceipt:
    """The receipt; no duplicate when an earlier attempt, whose answer was lost, has stored it."""
    if receipt.command_id not in retry.unanswered or receipt.created_at is None:
        return receipt
    return receipt.model_copy(update={"duplicate": to_instant(receipt.created_at) < now})


async def _attempt(
    named: Sequence[NamedCommand], retry: RetryState, deps: Deps, now: Instant
) -> list[WriteReceipt] | None:
    """The receipts; None when another writer changed something meanwhile."""
    first = named[0].command
    graph = deps.graph(graph_name(first.level, first.citizen_id))
    stored = await read_stored(named, graph, deps, now, all_receipts=retry.retried)
    times = WriteTimes(now, max(now, stored.last_change + 1))
    simulated = Simulation(stored, times)
    outcomes = [simulated.simulate(each) for each in named]
    if any(isinstance(outcome, WriteReceipt) and outcome.status == "refused" for outcome in outcomes):
        return [_refused_or_withheld(*pair, stored) for pair in zip(named, outcomes, strict=True)]
    loose = simulation.loose_link(simulated.chains)
    if loose is not None:
        fault = f"link {loose} joins a memory that this list begins and withdraws as a whole: leave both out"
        refusal = Refusal("conflict", fault)
        return [
            receipts.refuse(each.command, refusal, command_id=each.command_id, record_id=loose) for each in named
        ]
    later = await _write(graph, simulated, outcomes, times, retry=retry, deps=deps)
    if later is None:
        return None
    return [_receipt(outcome, first.level, times.known_from, later) for outcome in outcomes]


def _refused_or_withheld(named: NamedCommand, outcome: Outcome, stored: StoredParts) -> WriteReceipt:
    """The receipt of a command in a refused list: its own where it was refused, or applied before."""
    if isinstance(outcome, WriteReceipt) and (outcome.status == "refused" or named.command_id in stored.receipts):
        return outcome
    return _withheld(named)


def _receipt(outcome: Outcome, level: Level, known_from: Instant, later: int) -> WriteReceipt:
    """The receipt once the list is written, `later` microseconds after `known_from`."""
    if isinstance(outcome, WriteReceipt):
        return outcome
    created_at = outcome.receipt_row["created_at"]
    moment = created_at if created_at < known_from else created_at + later
    receipt = receipts.rebuild_from_row(outcome.receipt_row, moment, level)
    return receipt.model_copy(update={"duplicate": outcome.duplicate})


async def _write(
    graph: Graph,
    simulated: Simulation,
    outcomes: Sequence[Outcome],
    times: WriteTimes,
    *,
    retry: RetryState,
    deps: Deps,
) -> int | None:
    """Write what the simulation leaves; by how many microseconds it came later, None when it must begin again."""
    changed = TransactionRows(times.known_from)
    planned = [outcome for outcome in outcomes if isinstance(outcome, PlannedWrite) and not outcome.sent_before]
    changed.receipts = [outcome.receipt_row for outcome in planned]
    if not changed.receipts:
        return 0
    chains, vectors = simulated.chains, retry.vectors
    missing = [text for text in version_chain.texts_to_embed(chains) if text not in vectors]
    embeddings = await deps.embedder.embed_texts(missing)
    vectors.update({text: vector or None for text, vector in zip(missing, embeddings, strict=True)})
    version_chain.add_rows(chains, vectors, changed)
    if changed.new:
        await deps.graphs.for_writing(graph.name, times.now)
    try:
        return await transactions.write(graph, simulation.expected_state(chains), changed)
    except Conflict:
        return None  # another writer stored one of the ids just now; the next look finds it
    finally:
        if changed.sent_again:
            retry.unanswered.update(receipt["command_id"] for receipt in changed.receipts)


async def read_stored(
    named: Sequence[NamedCommand], graph: Graph, deps: Deps, now: Instant, *, all_receipts: bool = True
) -> StoredParts:
    """What is stored of all that the commands name; nothing for a graph that does not exist.

    Without `all_receipts` an id that was made for a command just now is not looked for.
    """
    if not await deps.graphs.for_reading(graph.name):
        return StoredParts({}, {}, {}, {})
    new_memories = {each.command_id: each.command for each in named if isinstance(each.command, Remember)}
    places = await find_repeated(graph, list(new_memories.values()), now)
    new_ids = list(new_memories)
    repeated = {new_ids[place]: record for place, record in places.items()}
    memories = _needed_memories(named, repeated.values(), now)
    links = sorted(
        {each.record_id for each in named if simulation.writes_to_link(each.command) and each.record_id}
    )
    ids = [each.command_id for each in named if all_receipts or each.command.command_id is not None]
    # The receipts last: a command that was applied since must not be refused for what it has changed itself.
    return StoredParts(
        await transactions.read_memories(graph, memories),
        await transactions.read_links(graph, [link_name(link_id) for link_id in links]),
        await reader.receipts(graph, ids) if ids else {},
        repeated,
    )


def _needed_memories(
    named: Sequence[NamedCommand], repeated: Iterable[Record], now: Instant
) -> dict[str, RecordSelection]:
    """Which records of which memories the commands need."""
    needed: dict[str, RecordSelection] = {}

    def add(memory_id: str, selection: RecordSelection) -> None:
        before = needed.get(memory_id, _CARRIED_ONLY)
        needed[memory_id] = RecordSelection(min(before.since, selection.since), before.every or selection.every)

    for each in named:
        command = each.command
        if isinstance(command, Relate):
            add(command.source_id, _CARRIED_ONLY)
            add(command.target_id, _CARRIED_ONLY)
        elif each.record_id is not None and not simulation.writes_to_link(command):
            add(each.record_id, needed_records(command, now))
    for record in repeated:
        add(record.id, RecordSelection(now))
    return needed
