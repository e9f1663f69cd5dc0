"""Applies a list of commands for one graph as a whole, or not at all.

The commands are simulated in order on the stored records. If none is refused, the result is written in one
compare-and-set. If another writer changed one of these records meanwhile, the whole list is tried again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

from orchestration.appraisal.appraise import Appraisal
from orchestration.dependencies import Deps
from orchestration.identifiers import link_name
from orchestration.writing import (
    cascade_reading,
    passage_filling,
    receipts,
    records,
    restatements,
    simulation,
    version_chain,
)
from orchestration.writing.appraisals import appraise_commands
from orchestration.writing.cascade import Together
from orchestration.writing.changes import Refusal, WriteTimes
from orchestration.writing.command_rows import NamedCommand
from orchestration.writing.quotas import check_quotas
from orchestration.writing.simulation import Outcome, Simulation, StoredParts
from schemas.commands import Command, Remember, Undoing, WriteReceipt
from schemas.errors import Conflict, InvalidRequest, Unavailable
from schemas.memory import GraphKey, Level
from schemas.temporal import Instant, to_instant
from substrate.bitemporal import Record, last_commands
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import reader, rows, transactions
from substrate.store.changesets import TransactionRows
from substrate.store.transactions import COMMANDS_AT_MOST

TRIES: Final = 20
NOT_APPLIED: Final = Refusal("not-applied", "not applied: another command of the atomic list was refused")


async def apply(commands: Sequence[Command], deps: Deps, now: Instant) -> list[WriteReceipt]:
    """Apply all commands, or none. Returns one receipt for each command, in order.

    All commands must be for one graph; at most `COMMANDS_AT_MOST` are allowed. A later command may build on an
    earlier one; all get the same transaction time. If one is refused, its receipt says why and nothing is written.
    Raises InvalidRequest when the list is too long or for several graphs. Raises Unavailable when the engine does
    not answer or other writers keep changing the same records; the same list can then be sent again. Raises
    QuotaReached where the list would pass a quota of its citizen.
    """
    if not commands:
        return []
    graphs = {(each.graph_key, each.citizen_id if each.level is Level.N1 else None) for each in commands}
    if len(graphs) > 1:
        raise InvalidRequest(
            "an atomic list is for one graph: one level, in N1 one citizen, in N2 one collective",
            remedy="Send one list for each graph.",
        )
    if len(commands) > COMMANDS_AT_MOST:
        raise InvalidRequest(
            f"an atomic list has at most {COMMANDS_AT_MOST} commands, this one has {len(commands)}",
            remedy="Send several lists, or leave out atomic: then each command is applied on its own.",
        )
    if deps.most_memories or deps.most_bytes:
        await check_quotas(commands, deps)
    trimmed = list(map(records.trim_command, commands))
    applied = await _apply_with_retries([each.command for each in trimmed], deps, now)
    if applied is None:
        raise Unavailable(
            "other writers keep changing the same records; nothing was applied", remedy="Try again in a moment."
        )
    return [receipts.with_note(receipt, each.note, now) for receipt, each in zip(applied, trimmed, strict=True)]


async def apply_one(command: Command, deps: Deps, now: Instant) -> WriteReceipt:
    """Apply one command by itself. Raises Unavailable when the engine does not answer."""
    applied = await _apply_with_retries([command], deps, now)
    if applied is not None:
        return applied[0]
    named = name_command(command)
    return named.refuse(Refusal("conflict", f"other writers keep changing {named.record_id}; try again"))


def name_command(command: Command) -> NamedCommand:
    """The command with its own id, or with a new id when it has none."""
    return NamedCommand(command, command.command_id or uuid4().hex)


def withheld_receipt(command: Command) -> WriteReceipt:
    """The receipt of a command that was not applied because another command of its list was refused."""
    return name_command(command).refuse(NOT_APPLIED)


async def find_repeated(graph: Graph, commands: Sequence[Remember], now: Instant) -> dict[int, Record]:
    """The current memories whose text the commands repeat, by the position of the command in the list."""
    readings = list(map(restatements.readings, commands))
    keys = sorted(set().union(*readings))
    if not keys:
        return {}
    candidates = list(map(rows.record, await reader.find_by_text(graph, keys, now)))
    repeated: dict[int, Record] = {}
    for position, (command, by_key) in enumerate(zip(commands, readings, strict=True)):
        record = restatements.first_repeated(command, by_key, candidates)
        if record is not None:
            repeated[position] = record
    return repeated


@dataclass(slots=True)
class RetryState:
    """State that all attempts to write one list share.

    `appraisals`: what the texts of the commands say, by command id. `vectors`: embeddings by text.
    `unanswered`: ids of commands that may be stored although no answer came.
    """

    retried: bool = False
    appraisals: Mapping[str, Appraisal] = field(default_factory=dict)
    vectors: dict[str, list[float] | None] = field(default_factory=dict)
    unanswered: set[str] = field(default_factory=set)


async def _apply_with_retries(commands: Sequence[Command], deps: Deps, now: Instant) -> list[WriteReceipt] | None:
    """The receipts; None when other writers were first `TRIES` times."""
    named = list(map(name_command, commands))
    retry = RetryState()
    if deps.appraisal != "off":
        appraisals = (await appraise_commands([command for command, _ in named], deps)).appraisals
        retry.appraisals = {each.command_id: told for each, told in zip(named, appraisals, strict=True)}
    for attempt in range(TRIES):
        retry.retried = attempt > 0
        applied = await _attempt(named, retry, deps, now)
        if applied is not None:
            for place, receipt in enumerate(applied):
                # An earlier attempt of this call may have stored the command, and its answer was lost.
                if receipt.command_id in retry.unanswered and receipt.created_at is not None:
                    is_older = to_instant(receipt.created_at) < now
                    applied[place] = receipt.model_copy(update={"duplicate": is_older})
            return applied
        await asyncio.sleep(random.uniform(0, 0.002 * 2 ** min(attempt, 6)))
    return None


async def _attempt(
    named: Sequence[NamedCommand], retry: RetryState, deps: Deps, now: Instant
) -> list[WriteReceipt] | None:
    """The receipts; None when another writer changed one of the records meanwhile."""
    first = named[0].command
    graph = deps.graph(graph_name(first.graph_key, first.citizen_id))
    together = await cascade_reading.read_together(named, graph, deps, now)
    parts = [NamedCommand(part.command, name) for name, each in together.items() for part in each.parts]
    stored = await read_stored([*named, *parts], graph, deps, now, all_receipts=retry.retried)
    if not _is_fresh(named, together, stored):
        return None
    times = WriteTimes(now, max(now, stored.last_change + 1))
    simulated = Simulation(stored, times, retry.appraisals)
    outcomes = [simulated.simulate(command, together.get(command.command_id)) for command in named]
    told = [outcome if isinstance(outcome, WriteReceipt) else None for outcome in outcomes]
    if any(receipt is not None and receipt.status == "refused" for receipt in told):
        answers: list[WriteReceipt] = []
        for each, receipt in zip(named, told, strict=True):
            if receipt is None or (receipt.status != "refused" and each.command_id not in stored.receipts):
                receipt = each.refuse(NOT_APPLIED)  # it could have been applied
            answers.append(receipt)
        return answers
    link_id = simulation.find_dangling_link(simulated.chains)
    if link_id is not None:
        fault = f"link {link_id} joins a memory that this list creates and retracts completely: leave both out"
        refusal = Refusal("conflict", fault)
        return [
            receipts.refuse(command, refusal, command_id=command_id, record_id=link_id)
            for command, command_id in named
        ]
    later = await _write(graph, simulated, retry, deps)
    if later is None:
        return None
    return [_receipt(outcome, first.graph_key, times, later) for outcome in outcomes]


def _is_fresh(named: Sequence[NamedCommand], together: Mapping[str, Together], stored: StoredParts) -> bool:
    """False when a record that an undo names was changed since the parts of that undo were read."""
    for command, command_id in named:
        each = together.get(command_id)
        if each is None or each.undoes is None or not isinstance(command, Undoing):
            continue
        records_now = stored.by_subject(command.subject).get(command.id)
        if last_commands(() if records_now is None else records_now.records) != each.seen:
            return False
    return True


def _receipt(outcome: Outcome, key: GraphKey, times: WriteTimes, later: int) -> WriteReceipt:
    """The receipt after the list was written `later` microseconds after `times.known_from`."""
    if isinstance(outcome, WriteReceipt):
        return outcome
    created_at = outcome.receipt_row["created_at"]
    if created_at >= times.known_from:
        created_at += later
    receipt = receipts.rebuild_from_row({**outcome.receipt_row, "created_at": created_at}, key)
    told = {"duplicate": outcome.duplicate, "follows": outcome.follows, "further": outcome.further}
    return receipt.model_copy(update=told)


async def _write(graph: Graph, simulated: Simulation, retry: RetryState, deps: Deps) -> int | None:
    """Write the simulated state and the receipts.

    Returns how many microseconds the transaction time is later than simulated; None when another writer was first.
    """
    changed = TransactionRows(simulated.times.known_from)
    rows = simulated.receipt_rows
    changed.receipts = [{**row, "nth": nth} for nth, row in enumerate(rows)] if len(rows) > 1 else rows
    if not changed.receipts:
        return 0
    chains, vectors = simulated.chains, retry.vectors
    missing = [text for text in version_chain.texts_to_embed(chains) if text not in vectors]
    embeddings = await deps.embedder.embed_texts(missing)
    vectors.update({text: vector or None for text, vector in zip(missing, embeddings, strict=True)})
    version_chain.add_rows(chains, vectors, changed)
    if changed.new or not changed.closing:  # a first list may leave nothing but receipts
        await deps.graphs.for_writing(graph.name, simulated.times.now)
    try:
        later = await transactions.write(graph, simulation.expected_state(chains), changed)
    except Conflict:
        return None  # another writer stored one of the ids just now; the next attempt reads it
    finally:
        if changed.sent_again:
            retry.unanswered.update(receipt["command_id"] for receipt in changed.receipts)
    await passage_filling.fill(graph, version_chain.long_texts(chains), deps.embedder)
    return later


async def read_stored(
    named: Sequence[NamedCommand], graph: Graph, deps: Deps, now: Instant, *, all_receipts: bool = True
) -> StoredParts:
    """Read the records and receipts that the commands name; nothing for a graph that does not exist.

    Without `all_receipts`, receipts are read only for ids that the sender gave.
    """
    if not await deps.graphs.for_reading(graph.name):
        return StoredParts({}, {}, {}, {})
    new_memories = {command_id: command for command, command_id in named if isinstance(command, Remember)}
    by_position = await find_repeated(graph, list(new_memories.values()), now)
    new_ids = list(new_memories)
    repeated = {new_ids[position]: record for position, record in by_position.items()}
    selections = simulation.needed_memories(named, repeated.values(), now)
    link_names = list(map(link_name, simulation.needed_links(named)))
    command_ids = [command_id for command, command_id in named if all_receipts or command.command_id is not None]
    # Receipts are read last: a command applied meanwhile must find its receipt, not conflict with its own change.
    return StoredParts(
        await transactions.read_memories(graph, selections),
        await transactions.read_links(graph, link_names),
        await reader.receipts(graph, command_ids) if command_ids else {},
        repeated,
    )
