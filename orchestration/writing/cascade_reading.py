"""Reads what follows from a resolution, and what a command that did several things at once has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from orchestration.identifiers import link_name
from orchestration.writing import changes
from orchestration.writing.cascade import Plan, Planning, Root
from orchestration.writing.command_rows import NamedCommand
from orchestration.writing.parts import (
    PARTS_AT_MOST,
    Identity,
    Part,
    Together,
    cascade_parts,
    part_id,
    undo_parts,
)
from schemas.commands import Resolving, Undoing, subject_of
from schemas.temporal import BEGINNING_OF_TIME, Instant, Period
from substrate.bitemporal import last_commands
from substrate.graphs.graph import Graph
from substrate.store import reader, transactions
from substrate.store.changesets import RecordSelection, StoredRecords
from substrate.store.rows import StoredReceipt
from substrate.store.work_links import (
    WorkLink,
    count_open_links,
    read_open_links,
    read_work_states,
)

ROUNDS_AT_MOST: Final = 20
"""A chain of solutions is followed so far."""
WAITS_READ: Final = 1_000


async def read_plan(command: Resolving, graph: Graph, now: Instant, *, room: int) -> Plan:
    """What follows from the command, in at most `room` steps. Raises what `Graph.read` raises."""
    root = await _root(command, graph)
    if root is None:
        return Plan()
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
    waits = await _read_waits(planning, graph, window)
    return planning.finish(waits, cut=len(waits) >= WAITS_READ, room=room, unread=unread)


async def _read_waits(planning: Planning, graph: Graph, window: Period) -> list[WorkLink]:
    """The open links of work of what may go on; the states of what it waits for are added to the planning."""
    waiting = planning.still_waiting()
    if not waiting:
        return []
    waits = await read_open_links(graph, waiting, window, limit=WAITS_READ, work_only=True)
    others = {link.awaited for link in waits if link.awaited is not None} - planning.states.keys()
    planning.states.update(await read_work_states(graph, others, window))
    return waits


async def _root(command: Resolving, graph: Graph) -> Root | None:
    """What is resolved; None for a link that does not exist."""
    if command.subject == "memory":
        return Root(command.id)
    stored = (await transactions.read_links(graph, [link_name(command.id)])).get(command.id)
    if stored is None or stored.ends is None:
        return None
    relation_type = str(stored.records[-1].content.get("relation_type", ""))
    return Root(command.id, WorkLink("", command.id, relation_type, *stored.ends))


async def read_together(named: Sequence[NamedCommand], graph: Graph, now: Instant) -> dict[str, Together]:
    """By command id, the parts of each cascade in the list, and of each undo of a command that had parts.

    The whole list has at most `PARTS_AT_MOST` parts. Raises what `Graph.read` raises.
    """
    together: dict[str, Together] = {}
    room = PARTS_AT_MOST + 1 - len(named)
    for command, command_id in named:
        if isinstance(command, Resolving) and command.cascade:
            plan = await read_plan(command, graph, now, room=max(room, 0))
            together[command_id] = cascade_parts(command, plan)
            room -= len(plan.steps)
    return together | await _read_undone(named, graph)


async def _read_undone(named: Sequence[NamedCommand], graph: Graph) -> dict[str, Together]:
    undos = [(command, command_id) for command, command_id in named if isinstance(command, Undoing)]
    if not undos:
        return {}
    stored = await _read_records([command for command, _ in undos], graph)
    undone: dict[str, Together] = {}
    for command, command_id in undos:
        held = stored.get((command.subject, command.id))
        seen = frozenset() if held is None else last_commands(held.records)
        for whole_id in sorted(seen if command.undoes is None or command.undoes in seen else {command.undoes}):
            parts = await _read_parts(command, whole_id, graph)
            if parts:
                undone[command_id] = Together(parts, undoes=whole_id, seen=seen)
    return undone


async def _read_parts(command: Undoing, whole_id: str, graph: Graph) -> tuple[Part, ...]:
    """The undos of the other parts of a command; empty when it had no parts, or changed nothing of this record."""
    stored = await read_part_receipts(whole_id, graph)
    members = [(subject_of(receipt.command), receipt.id) for receipt in stored if receipt.id is not None]
    if len(stored) < 2 or (command.subject, command.id) not in members:
        return ()
    return undo_parts(command, whole_id, members)


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
