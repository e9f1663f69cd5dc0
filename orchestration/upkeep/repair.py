"""Repair tasks of a sweep: each is one atomic write that names what was seen, so that it undoes no change."""

from __future__ import annotations

from typing import Any, Final
from uuid import uuid4

import orjson

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.writing import records, trust
from schemas.commands import Correct, Retract, Writer
from schemas.errors import NotFound
from schemas.memory import Level, Source
from schemas.temporal import Instant
from schemas.upkeep import (
    ApplyCommand,
    CloseRecord,
    ReEmbed,
    RepairOutcome,
    RepairTask,
    RetractLink,
    ReviseLink,
)
from substrate.bitemporal import REPAIR_PREFIX, is_open
from substrate.graphs.names import graph_name
from substrate.store import reader, rows, upkeep

NOBODY: Final = Writer()
GONE: Final = "it is no longer as the sweep saw it; nothing was changed"
_CHANGES: Final = (
    "emotion_vector", "emotion_description", "energy_transfer_coefficient", "resolution_state",
    "extra", "sensory_details",
)  # fmt: skip


async def run_repair(task: RepairTask, deps: Deps, now: Instant, writer: Writer = NOBODY) -> RepairOutcome:
    """Run the task, which `writer` asks for.

    Raises NotFound when the graph does not exist, Unavailable when the engine does not answer."""
    of = task.command if isinstance(task, ApplyCommand) else task
    graph = await _graph(of.level, of.citizen_id, deps)
    if isinstance(task, ApplyCommand):
        return await _apply(task, deps, now, writer)
    if isinstance(task, ReEmbed):
        done = await _re_embed(graph, task, deps)
    elif isinstance(task, CloseRecord):
        done = await _close_record(graph, task, deps, (now, writer))
    else:
        done = await _revise_link(graph, task, deps, (now, writer))
    status: Any = "done" if done else "gone"
    return RepairOutcome(
        action=task.action, status=status, level=task.level, id=task.id, detail="" if done else GONE
    )


async def _graph(level: Level, citizen_id: str | None, deps: Deps) -> str:
    """The graph, which must be there: a repair makes none."""
    graph = graph_name(level, citizen_id)
    if not await deps.graphs.for_reading(graph):
        raise NotFound(f"nothing was remembered for {citizen_id or level} yet")
    return graph


async def _apply(task: ApplyCommand, deps: Deps, now: Instant, writer: Writer) -> RepairOutcome:
    command = await _for_its_source(task, deps, writer.highest_source)
    [receipt] = await insertion.apply([command.with_writer(writer)], deps, now)
    refused = receipt.status == "refused"
    return RepairOutcome(
        action=task.action,
        status="refused" if refused else "done",
        level=task.command.level,
        id=task.command.id,
        detail="; ".join(receipt.faults),
        problem=receipt.problem,
        receipt=receipt,
    )


async def _for_its_source(task: ApplyCommand, deps: Deps, highest: Source) -> Retract | Correct:
    """The command, with the record's own source, or the highest that may be claimed, where it names none.

    A repair mends how a record is kept, not who said it: it is neither stopped by the rule of trust, nor does the
    record become the word of the system, which its citizen could not change again.
    """
    command = task.command
    if "source" in command.model_fields_set:
        return command
    row = await reader.memory(deps.graph(graph_name(command.level, command.citizen_id)), command.id)
    said = Source.CITIZEN if row is None else rows.record(row).content.get("source", Source.CITIZEN)
    return command.with_source(trust.lower(Source(said), highest))


async def _re_embed(graph: str, task: ReEmbed, deps: Deps) -> bool:
    row = await reader.memory(deps.graph(graph), task.id)
    if row is None:
        return False
    record = rows.record(row)
    if record.version != task.version or not is_open(record):
        return False
    [embedding] = await deps.embedder.embed_texts([records.embedded_text(record.content)])
    vectors = (embedding or None, records.felt_trace(record.content, task.id, task.version))
    return await upkeep.re_embed(deps.graph(graph), (task.id, task.version), vectors)


async def _close_record(graph: str, task: CloseRecord, deps: Deps, by: tuple[Instant, Writer]) -> bool:
    seen = {**task.model_dump(include={"id", "version", "seen"}), "replaced_at": task.at}
    written = upkeep.Written(_receipt(task, task.version), by[0], Source.UPKEEP, by[1].key_id)
    return await upkeep.close_record(deps.graph(graph), seen, written)


async def _revise_link(graph: str, task: RetractLink | ReviseLink, deps: Deps, by: tuple[Instant, Writer]) -> bool:
    link = task.model_dump(include={"id", "source_id", "target_id", "seen"})
    at = max(by[0], task.seen + 1)
    written = upkeep.Written(_receipt(task, None), at, Source.UPKEEP, by[1].key_id)
    return await upkeep.revise_link(deps.graph(graph), link, _opened(task), written)


def _receipt(task: RetractLink | ReviseLink | CloseRecord, version: int | None) -> dict[str, Any]:
    """What is kept of a repair that no command can say: it mends records that commands never leave."""
    return {
        "command_id": f"{REPAIR_PREFIX}{uuid4().hex}",
        "command": task.action,
        "id": task.id,
        "version": version,
    }


def _opened(task: RetractLink | ReviseLink) -> list[dict[str, Any]]:
    """What differs in the record that is opened in the place of the closed one; empty when none is."""
    if isinstance(task, RetractLink):
        return [] if task.until is None else [{"invalid_at": task.until}]
    said = task.model_dump(include=set(_CHANGES), exclude_none=True)
    changed: dict[str, Any] = rows.stored(said, tuple(said))
    if task.emotion_vector is not None:
        changed["emotion_vector"] = orjson.dumps(task.emotion_vector).decode()
    return [changed]
