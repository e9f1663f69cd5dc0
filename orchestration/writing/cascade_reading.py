"""Reads what follows from a resolution, and what a command that did several things at once has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from orchestration.dependencies import Deps
from orchestration.identifiers import link_name
from orchestration.writing import changes
from orchestration.writing.cascade import (
    PARTS_AT_MOST,
    Identity,
    Plan,
    Planning,
    Root,
    Together,
    cascade_parts,
    done_before,
    named_plan,
    part_id,
    undo_parts,
)
from orchestration.writing.command_rows import NamedCommand
from orchestration.writing.receipts import OPEN_AGAIN, collect_warnings
from schemas.commands import Command, Consequence, Resolving, Undoing, WriteReceipt, subject_of
from schemas.errors import StoreTimeout
from schemas.memory import ResolutionState
from schemas.temporal import BEGINNING_OF_TIME, Instant
from substrate.bitemporal import last_commands
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import reader, transactions, writer
from substrate.store.changesets import RecordSelection, StoredRecords
from substrate.store.rows import StoredReceipt
from substrate.store.threads import WorkLink, count_open_links, read_open_links, read_work_states

ROUNDS_AT_MOST: Final = 20
"""A chain of solutions is followed so far."""
WAITS_READ: Final = 1_000


async def read_plan(command: Resolving, graph: Graph, now: Instant, *, room: int) -> Plan:
    """What follows from the command, in at most `room` steps. Raises what `Graph.read` raises."""
    root = Root(command.id)
    if command.subject == "link":
        stored = (await transactions.read_links(graph, [link_name(command.id)])).get(command.id)
        if stored is None or stored.ends is None:
            return Plan()
        relation_type = str(stored.records[-1].content.get("relation_type", ""))
        root = Root(command.id, WorkLink("", command.id, relation_type, *stored.ends))
    window = changes.acted_stretch(command, now)
    planning = Planning(root)
    unread = 0
    for _ in range(ROUNDS_AT_MOST):
        if frontier := planning.take_frontier():
            links = await read_open_links(graph, frontier, window, limit=room + 1)
            if len(links) > room:
                unread += max(0, await count_open_links(graph, frontier, window) - len(links))
            planning.add_links(links)
        wanted = {*planning.considered, *planning.waiting} - planning.states.keys()
        planning.add_states(await read_work_states(graph, wanted, window))
        if not planning.frontier:
            break
    waits: list[WorkLink] = []
    if waiting := planning.still_waiting():
        waits = await read_open_links(graph, waiting, window, limit=WAITS_READ, work_only=True)
        others = {link.awaited for link in waits if link.awaited is not None} - planning.states.keys()
        planning.states.update(await read_work_states(graph, others, window))
    return planning.finish(waits, cut=len(waits) >= WAITS_READ, room=room, unread=unread)


async def read_together(
    named: Sequence[NamedCommand], graph: Graph, deps: Deps, now: Instant
) -> dict[str, Together]:
    """By command id, the parts of each cascade in the list, and of each undo of a command that had parts.

    The whole list has at most `PARTS_AT_MOST` parts. Raises what `Graph.read` raises.
    """
    together: dict[str, Together] = {}
    if not any(_has_parts(command) for command, _ in named) or not await deps.graphs.for_reading(graph.name):
        return together
    undos: list[tuple[Undoing, str]] = []
    room = PARTS_AT_MOST + 1 - len(named)
    for command, command_id in named:
        if isinstance(command, Resolving) and command.cascade:
            plan = await read_plan(command, graph, now, room=max(room, 0))
            together[command_id] = cascade_parts(command, plan)
            room -= len(plan.steps)
        elif isinstance(command, Undoing):
            undos.append((command, command_id))
    everything = RecordSelection(BEGINNING_OF_TIME, every=True)
    ids = {command.id: everything for command, _ in undos if command.subject == "memory"}
    names = [link_name(command.id) for command, _ in undos if command.subject == "link"]
    memories, links = await transactions.read_memories(graph, ids), await transactions.read_links(graph, names)
    for command, command_id in undos:
        held = (links if command.subject == "link" else memories).get(command.id)
        seen = frozenset() if held is None else last_commands(held.records)
        for whole_id in sorted(seen if command.undoes is None or command.undoes in seen else {command.undoes}):
            stored = await read_part_receipts(whole_id, graph)
            members = [(subject_of(receipt.command), receipt.id) for receipt in stored if receipt.id is not None]
            if len(stored) > 1 and (command.subject, command.id) in members:
                parts = undo_parts(command, whole_id, members)
                together |= {command_id: Together(parts, undoes=whole_id, seen=seen)} if parts else {}
    return together


def _has_parts(command: Command) -> bool:
    """True for a command that may change several memories and links."""
    return isinstance(command, Undoing) or getattr(command, "cascade", False)


async def read_part_receipts(whole_id: str, graph: Graph) -> list[StoredReceipt]:
    """The receipts of a command and of its parts, in their order; of an erased record there is none."""
    ids = [whole_id, *(part_id(whole_id, number) for number in range(1, PARTS_AT_MOST + 1))]
    stored = await reader.receipts(graph, ids)
    return [stored[each] for each in ids if each in stored]


async def _read_records(commands: Sequence[Any], graph: Graph) -> Mapping[Identity, StoredRecords]:
    everything = RecordSelection(BEGINNING_OF_TIME, every=True)
    memories = {command.id: everything for command in commands if command.subject == "memory"}
    links = [link_name(command.id) for command in commands if command.subject == "link"]
    stored_memories = await transactions.read_memories(graph, memories)
    stored_links = await transactions.read_links(graph, links)
    found: dict[Identity, StoredRecords] = {("memory", name): stored for name, stored in stored_memories.items()}
    found.update((("link", name), stored) for name, stored in stored_links.items())
    return found


NAMED_AT_MOST: Final = 20
"""A receipt names at most this many things that could be done."""
NOT_READ: Final = "what follows was not looked up: the engine was too busy; ask for the offers of upkeep"


async def with_consequences(
    commands: Sequence[Command], receipts: Sequence[WriteReceipt], deps: Deps, now: Instant
) -> list[WriteReceipt]:
    """The receipts; those of resolutions say what follows from them now. Raises Unavailable as the engine does."""
    return [
        await _with_consequences(command, receipt, deps, now)
        for command, receipt in zip(commands, receipts, strict=True)
    ]


async def _with_consequences(command: Command, receipt: WriteReceipt, deps: Deps, now: Instant) -> WriteReceipt:
    """The receipt as the first answer has it: what it says beside the record is kept for those that follow."""
    had_parts = _has_parts(command)
    may_follow = had_parts or isinstance(command, Resolving)
    if receipt.status != "stored" or (receipt.duplicate and not may_follow):
        return receipt
    graph = deps.graph(graph_name(command.graph_key, command.citizen_id))
    named = receipt
    try:
        if receipt.duplicate and (await reader.receipts(graph, [receipt.command_id]))[receipt.command_id].told:
            return receipt
        if receipt.duplicate or (may_follow and not had_parts):
            told = await _read_told(command, receipt, graph, now, had_parts=had_parts)
            named = receipt.model_copy(update=told)
        if may_follow or (named.warnings and named.warnings != collect_warnings(command)):
            ids = [each.id for each in named.follows]
            ids += [each.through for each in named.follows if each.through is not None]
            ids += [each.removesuffix(OPEN_AGAIN) for each in named.warnings if each.endswith(OPEN_AGAIN)]
            kept = named.model_dump_json(include={"follows", "further", "warnings"})
            await writer.tell_receipt(graph, receipt.command_id, kept, ids)
    except StoreTimeout:
        return receipt.model_copy(update={"warnings": (*receipt.warnings, NOT_READ)})
    return named


async def _read_told(
    command: Command, receipt: WriteReceipt, graph: Graph, now: Instant, *, had_parts: bool
) -> dict[str, Any]:
    """The fields of a receipt that say what a command did besides, and what follows from it now."""
    done: list[Consequence] = []
    for part in await read_part_receipts(receipt.command_id, graph) if had_parts else ():
        if part.command_id != receipt.command_id:
            done.append(done_before(part))
    plan = Plan()
    if isinstance(command, Resolving) and command.resolution_state is ResolutionState.RESOLVED:
        plan = await read_plan(command, graph, now, room=NAMED_AT_MOST)
    return {"follows": (*done, *named_plan(plan)), "further": plan.further}
