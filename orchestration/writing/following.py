"""Names in a receipt what could be resolved or unblocked, as it was when the command was applied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from orchestration.dependencies import Deps
from orchestration.writing import cascade_reading, parts
from orchestration.writing.cascade import Plan
from orchestration.writing.receipts import collect_warnings
from orchestration.writing.thread_closing import OPEN_AGAIN
from schemas.commands import Command, Consequence, Resolving, Undoing, WriteReceipt
from schemas.errors import StoreTimeout
from schemas.memory import ResolutionState
from schemas.temporal import Instant
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import reader, writer

NAMED_AT_MOST: Final = 20
"""A receipt names only so many things that could be done."""
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
    had_parts = isinstance(command, Undoing) or getattr(command, "cascade", False)
    may_follow = had_parts or isinstance(command, Resolving)
    if receipt.status != "stored" or (receipt.duplicate and not may_follow):
        return receipt
    graph = deps.graph(graph_name(command.graph_key, command.citizen_id))
    named = receipt
    try:
        if receipt.duplicate and (await reader.receipts(graph, [receipt.command_id]))[receipt.command_id].told:
            return receipt
        if receipt.duplicate or (may_follow and not had_parts):
            done = await _done(receipt, graph) if had_parts else []
            plan = await _plan(command, graph, now)
            told = {"follows": (*done, *parts.named_plan(plan)), "further": plan.further}
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


async def _plan(command: Command, graph: Graph, now: Instant) -> Plan:
    if not isinstance(command, Resolving) or command.resolution_state is not ResolutionState.RESOLVED:
        return Plan()
    return await cascade_reading.read_plan(command, graph, now, room=NAMED_AT_MOST)


async def _done(receipt: WriteReceipt, graph: Graph) -> list[Consequence]:
    """What a command did besides when it was applied, from the receipts of its parts."""
    stored = await cascade_reading.read_part_receipts(receipt.command_id, graph)
    return [parts.done_before(part) for part in stored if part.command_id != receipt.command_id]
