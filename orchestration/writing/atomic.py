"""Flux 1, all or nothing: a list of commands for one graph that is carried out as a whole, or not at all.

The commands are carried out in thought on what is stored, each on what those before it leave. When none is
refused, one statement writes all that comes of it, provided that what was seen still stands; else it begins anew.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

from orchestration.dependencies import Deps
from orchestration.identifiers import link_name
from orchestration.writing import additions, changes, receipts, restatement_lookup, version_chain
from orchestration.writing.changes import Told
from orchestration.writing.receipts import Refusal
from orchestration.writing.simulation import Outcome, Planned, Rehearsal, is_of_link
from schemas.commands import Command, Relate, Remember, WriteReceipt
from schemas.errors import Conflict, InvalidRequest, Unavailable
from schemas.memory import Level
from schemas.temporal import END_OF_TIME, Instant, to_instant
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import reader, transactions
from substrate.store.rows import Kept
from substrate.store.transactions import COMMANDS_AT_MOST, Wanted, Writes

TRIES: Final = 20
NOT_APPLIED: Final = "not applied: another command of the atomic list was refused"


async def apply(commands: Sequence[Command], deps: Deps, now: Instant) -> list[WriteReceipt]:
    """Carry out all of the commands, or none; one receipt each, in their order.

    All are for one graph, at most `COMMANDS_AT_MOST`. A later command may build on an earlier one; all are told
    and known at one moment. When one is refused, its receipt says why and nothing is changed. Raises
    InvalidRequest for a list that cannot be atomic; Unavailable when the engine does not answer, or others keep
    changing the same: the same list can then be sent again.
    """
    if not commands:
        return []
    _check(commands)
    done = await _tried(commands, deps, now)
    if done is None:
        raise Unavailable("others keep changing the same; nothing was applied", remedy="Try again in a moment.")
    return done


async def apply_one(command: Command, deps: Deps, now: Instant) -> WriteReceipt:
    """Carry out one command of a list in which each stands for itself. Raises as `apply` does."""
    done = await _tried([command], deps, now)
    if done is not None:
        return done[0]
    command_id = command.command_id or uuid4().hex
    named = (command_id, additions.identity(command, command_id))
    return receipts.refused(
        command, named, Refusal("conflict", f"{named[1]} is being changed by others; try again")
    )


async def _tried(commands: Sequence[Command], deps: Deps, now: Instant) -> list[WriteReceipt] | None:
    """Receipts of all; None when others kept changing the same."""
    ids = [command.command_id or uuid4().hex for command in commands]
    memory = _Memory()
    for attempt in range(TRIES):
        memory.tried = attempt > 0
        done = await _attempt(list(zip(commands, ids, strict=True)), memory, deps, now)
        if done is not None:
            return [_as_sent(receipt, memory, now) for receipt in done]
        await asyncio.sleep(random.uniform(0, 0.002 * 2 ** min(attempt, 6)))
    return None


@dataclass(slots=True)
class _Memory:
    """What one attempt leaves to the next: vectors by their texts, commands whose answer was lost, that it was."""

    vectors: dict[str, list[float] | None] = field(default_factory=dict)
    unheard: set[str] = field(default_factory=set)
    tried: bool = False


def _as_sent(receipt: WriteReceipt, memory: _Memory, now: Instant) -> WriteReceipt:
    """The receipt of a command; one that was stored by the very sending whose answer was lost is the first."""
    if receipt.command_id not in memory.unheard or receipt.created_at is None:
        return receipt
    return receipt.model_copy(update={"duplicate": to_instant(receipt.created_at) < now})


def _check(commands: Sequence[Command]) -> None:
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


def withheld(command: Command, command_id: str | None = None) -> WriteReceipt:
    """The receipt of a command that was not applied because another was refused."""
    command_id = command_id or command.command_id or uuid4().hex
    named = (command_id, additions.identity(command, command_id))
    return receipts.refused(command, named, Refusal("not-applied", NOT_APPLIED))


async def _attempt(
    named: Sequence[tuple[Command, str]], memory: _Memory, deps: Deps, now: Instant
) -> list[WriteReceipt] | None:
    """Receipts of all; None when what was seen has changed meanwhile."""
    first = named[0][0]
    graph = graph_name(first.level, first.citizen_id)
    stage = await begun(graph, named, deps, now, again_sent=memory.tried)
    base = max(now, stage.latest + 1)
    outcomes = stage.play_all(named, Told(now, base))
    if any(isinstance(outcome, WriteReceipt) and outcome.status == "refused" for outcome in outcomes):
        return [_of_refused(one, said, stage) for one, said in zip(named, outcomes, strict=True)]
    loose = version_chain.without_end(stage.lives)
    if loose is not None:
        fault = f"link {loose} joins a memory that this list begins and withdraws as a whole: leave both out"
        return [receipts.refused(one, (of, loose), Refusal("conflict", fault)) for one, of in named]
    later = await _write(graph, stage, (base, now, outcomes), memory, deps)
    if later is None:
        return None
    return [_receipt(outcome, (base, later), first) for outcome in outcomes]


def _of_refused(named: tuple[Command, str], outcome: Outcome, stage: Rehearsal) -> WriteReceipt:
    """The receipt of a command in a list that is refused: what it only repeats may be what is not applied."""
    if isinstance(outcome, WriteReceipt) and (outcome.status == "refused" or stage.applied(named[1])):
        return outcome
    return withheld(*named)


def _receipt(outcome: Outcome, times: tuple[Instant, int], first: Command) -> WriteReceipt:
    if isinstance(outcome, WriteReceipt):
        return outcome
    base, later = times
    moment = outcome.kept["created_at"]
    receipt = receipts.stored(outcome.kept, moment if moment < base else moment + later, first.level)
    return receipt.model_copy(update={"duplicate": outcome.duplicate})


async def _write(
    graph: str,
    stage: Rehearsal,
    said: tuple[Instant, Instant, Sequence[Outcome]],
    memory: _Memory,
    deps: Deps,
) -> int | None:
    base, now, outcomes = said
    writes = Writes(base)
    writes.receipts = [one.kept for one in outcomes if isinstance(one, Planned) and not one.sent_before]
    if not writes.receipts:
        return 0
    vectors = memory.vectors
    missing = [text for text in version_chain.texts(stage.lives) if text not in vectors]
    vectors.update(zip(missing, (v or None for v in await deps.embedder.embed_texts(missing)), strict=True))
    version_chain.write(stage.lives, vectors, writes)
    if writes.new:
        await deps.graphs.for_writing(graph, now)
    try:
        return await transactions.write(deps.graph(graph), version_chain.seen(stage.lives), writes)
    except Conflict:
        return None  # another writer stored one of the ids just now; the next look finds it
    finally:
        if writes.sent_again:
            memory.unheard.update(receipt["command_id"] for receipt in writes.receipts)


async def _kept(graph: str, named: Sequence[tuple[Command, str]], deps: Deps, *, again: bool) -> dict[str, Kept]:
    ids = [command_id for command, command_id in named if again or command.command_id is not None]
    return await reader.receipts(deps.graph(graph), ids) if ids else {}


BARE: Final = Wanted(END_OF_TIME)
"""Of a memory that is only pointed to: what it carries."""


def _more(one: Wanted, other: Wanted) -> Wanted:
    return Wanted(min(one.since, other.since), one.every or other.every)


async def begun(
    graph: str, named: Sequence[tuple[Command, str]], deps: Deps, now: Instant, *, again_sent: bool = True
) -> Rehearsal:
    """What the commands name, as it is stored; nothing of a graph that does not exist.

    Unless they are `again_sent` an id that was made for a command just now is that of none before.
    """
    if not await deps.graphs.for_reading(graph):
        return Rehearsal({}, {}, {}, {})
    memories: dict[str, Wanted] = {}
    links: set[str] = set()
    for command, command_id in named:
        of = additions.identity(command, command_id)
        if isinstance(command, Relate):
            memories |= {end: memories.get(end, BARE) for end in (command.source_id, command.target_id)}
        if of is not None and is_of_link(command):
            links.add(of)
        elif of is not None:
            memories[of] = _more(memories.get(of, BARE), changes.wanted(command, now))
    connection = deps.connection
    remembers = [(command, command_id) for command, command_id in named if isinstance(command, Remember)]
    again = await restatement_lookup.recognised(graph, [command for command, _ in remembers], deps, now)
    said = {remembers[place][1]: record for place, record in again.items()}
    memories |= {record.id: _more(memories.get(record.id, BARE), Wanted(now)) for record in again.values()}
    # The receipts last: a command that was applied since must not be refused for what it has changed itself.
    return Rehearsal(
        await transactions.memories(Graph(connection, graph), memories),
        await transactions.links(Graph(connection, graph), [link_name(one) for one in sorted(links)]),
        await _kept(graph, named, deps, again=again_sent),
        said,
    )
