"""Runs the repair tasks of a sweep: each is one atomic write, which applies only to what the sweep saw."""

from __future__ import annotations

from typing import Any, Final
from uuid import uuid4

import orjson

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.writing import passage_filling, passages, records
from orchestration.writing.changes import lower_source
from schemas.commands import Writer
from schemas.memory import Source, graph_fields
from schemas.temporal import Instant
from schemas.upkeep.findings import (
    ApplyCommand,
    CloseRecord,
    ReEmbed,
    RepairOutcome,
    RepairTask,
    RetractLink,
    ReviseLink,
)
from substrate.bitemporal import REPAIR_PREFIX, is_open
from substrate.graphs.graph import Graph
from substrate.store import passages as store
from substrate.store import reader, rows, upkeep

NOBODY: Final = Writer()
GONE: Final = "it is no longer as the sweep saw it; nothing was changed"
_REVISABLE: Final = (
    "emotion_vector", "emotion_description", "energy_transfer_coefficient", "resolution_state",
    "extra", "sensory_details",
)  # fmt: skip


async def run_repair(task: RepairTask, deps: Deps, now: Instant, writer: Writer = NOBODY) -> RepairOutcome:
    """Run the task as `writer`, with `now` as its transaction time.

    The outcome is `gone` when the record has changed since the sweep, and `refused` when its command is refused.
    Raises NotFound when the graph does not exist, Unavailable when the engine or the embedding model does not
    answer, StoreMisfit when the graph has another schema or other embeddings.
    """
    target = task.command if isinstance(task, ApplyCommand) else task
    graph = await deps.existing_graph(target.graph_key, target.citizen_id)
    if isinstance(task, ApplyCommand):
        return await _apply_command(graph, task, deps, now, writer=writer)
    if isinstance(task, ReEmbed):
        done = await _re_embed(graph, task, deps)
    elif isinstance(task, CloseRecord):
        seen = {**task.model_dump(include={"id", "version", "seen"}), "replaced_at": task.at}
        mark = upkeep.RepairMark(_receipt(task, task.version), now, Source.UPKEEP, writer.key_id)
        done = await upkeep.close_record(graph, seen, mark)
    else:
        link = task.model_dump(include={"id", "source_id", "target_id", "seen"})
        mark = upkeep.RepairMark(_receipt(task, None), max(now, task.seen + 1), Source.UPKEEP, writer.key_id)
        # Of the record that replaces the closed one; a link that was never true has none.
        changes: list[dict[str, Any]] = []
        if isinstance(task, RetractLink):
            changes += [] if task.until is None else [{"invalid_at": task.until}]
        else:
            fields = task.model_dump(include=set(_REVISABLE), exclude_none=True)
            changes.append(dict(rows.stored(fields, tuple(fields))))
            if task.emotion_vector is not None:
                changes[0]["emotion_vector"] = orjson.dumps(task.emotion_vector).decode()
        done = await upkeep.revise_link(graph, link, changes, mark)
    status: Any = "done" if done else "gone"
    return RepairOutcome(
        action=task.action, status=status, **graph_fields(task.graph_key), id=task.id, detail="" if done else GONE
    )


async def _apply_command(
    graph: Graph, task: ApplyCommand, deps: Deps, now: Instant, *, writer: Writer
) -> RepairOutcome:
    command = task.command
    if "source" not in command.model_fields_set:
        # A repair changes how a record is stored, not its source. So the rule of trust does not refuse it, and the
        # citizen can still change the record later.
        row = await reader.memory(graph, command.id)
        source = Source.CITIZEN if row is None else rows.record(row).content.get("source", Source.CITIZEN)
        command = command.with_source(lower_source(Source(source), writer.highest_source))
    [receipt] = await insertion.apply([command.with_writer(writer)], deps, now)
    refused = receipt.status == "refused"
    return RepairOutcome(
        action=task.action,
        status="refused" if refused else "done",
        **graph_fields(task.command.graph_key),
        id=task.command.id,
        detail="; ".join(receipt.faults),
        problem=receipt.problem,
        receipt=receipt,
    )


async def _re_embed(graph: Graph, task: ReEmbed, deps: Deps) -> bool:
    erased = await store.erase_strays(graph, task.id)
    row = await reader.memory(graph, task.id)
    if row is None:
        return erased > 0
    record = rows.record(row)
    if record.version != task.version or not is_open(record):
        return False
    [embedding] = await deps.embedder.embed_texts([records.embedded_text(record.content)])
    emotion = records.felt_trace(record.content, task.id, task.version)
    if not await upkeep.re_embed(graph, task.id, task.version, embedding=embedding or None, emotion=emotion):
        return False
    contents = [{**record.content, "id": task.id}]
    for text in passages.mark_long_texts(contents):
        if not await store.mark_long_text(graph, task.id, task.version, text.digest):
            return False
        await passage_filling.fill(graph, [text], deps.embedder)
    return True


def _receipt(task: RetractLink | ReviseLink | CloseRecord, version: int | None) -> dict[str, Any]:
    """Build the receipt of a repair that is no command: it repairs records that no command would write."""
    command_id = f"{REPAIR_PREFIX}{uuid4().hex}"
    return {"command_id": command_id, "command": task.action, "id": task.id, "version": version}
