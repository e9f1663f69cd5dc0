"""Quotas of a citizen: how much it has, and the refusal of a write that would pass one of them.

A write is refused as a whole before anything of it is stored. Writes that are under way at the same moment do not
see each other: together they may pass a quota by what they bring. What was stored before is answered as ever. What
the service makes itself (names, upkeep) is counted, and not refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from orchestration.dependencies import Deps
from schemas.commands import Command, LinkRevision, Relate, Remember, Revision
from schemas.errors import QuotaReached
from schemas.memory import Level
from substrate.connection.turns import TENANT, UPKEEP
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import reader

_REMEDY = "Erase what is no longer needed, or ask the operator for a higher quota."


class Used(NamedTuple):
    """What a citizen has. `memories` and `links`: also those that hold no longer, until they are erased."""

    memories: int = 0
    links: int = 0
    bytes: int = 0


async def read_used(citizen_id: str, deps: Deps) -> Used:
    """What the citizen has; nothing where nothing was remembered. Raises as `Graph.read` does."""
    graph = await deps.graph_if_any(Level.N1, citizen_id)
    if graph is None:
        return Used()
    counts = await reader.counts(graph)
    return Used(counts.memories, counts.links, await reader.used_bytes(graph))


async def check_quotas(commands: Sequence[Command], deps: Deps) -> None:
    """Raises QuotaReached where the new memories among the commands would be more than their citizen may have, or
    something would be added for one who has all the bytes that it may have."""
    if TENANT.get() == UPKEEP:
        return
    added: dict[str, list[Command]] = {}
    for command in commands:
        if command.level is Level.N1 and isinstance(command, Remember | Relate | Revision | LinkRevision):
            added.setdefault(str(command.citizen_id), []).append(command)
    for citizen_id, adding in added.items():
        await _check_citizen(citizen_id, adding, deps)


async def _check_citizen(citizen_id: str, adding: Sequence[Command], deps: Deps) -> None:
    used = await read_used(citizen_id, deps)
    is_full = deps.most_bytes is not None and used.bytes >= deps.most_bytes
    most = deps.most_memories
    if used.memories and (is_full or (most is not None and used.memories + len(adding) > most)):
        adding = await _leave_out_known(adding, deps.graph(graph_name(Level.N1, citizen_id)))
    new = list(map(type, adding)).count(Remember)
    if most is not None and new and used.memories + new > most:
        raise QuotaReached(
            f"{citizen_id} has {used.memories:,} of {most:,} memories (SUBSTRATE_MOST_MEMORIES), and this would "
            f"add {new:,}; nothing was changed",
            remedy=_REMEDY,
        )
    if is_full and adding:
        raise QuotaReached(
            f"{citizen_id} has {used.bytes:,} of {deps.most_bytes:,} bytes (SUBSTRATE_MOST_BYTES); nothing was "
            "changed",
            remedy=_REMEDY,
        )


async def _leave_out_known(commands: Sequence[Command], graph: Graph) -> list[Command]:
    """The commands without those that were applied before, and without memories that are stored."""
    sent: list[str] = []
    ids: list[str] = []
    for command in commands:
        sent += [] if command.command_id is None else [command.command_id]
        ids += [command.id] if isinstance(command, Remember) and command.id is not None else []
    receipts = await reader.receipts(graph, sent)
    heads = await reader.read_heads(graph, ids)
    adding: list[Command] = []
    for command in commands:
        is_stored = isinstance(command, Remember) and command.id in heads
        if not is_stored and command.command_id not in receipts:
            adding.append(command)
    return adding
