"""Supersede, correct, retract: decide by the pure rules, write with compare-and-set, once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from uuid import uuid4

import orjson

from orchestration import records
from orchestration.deps import Deps
from schemas.commands import Command, Correct, Retract, Revision, Supersede, WriteReceipt
from schemas.temporal import Instant, open_end, to_datetime
from substrate import bitemporal, reader, rows, writer
from substrate.bitemporal import Change, Record
from substrate.cypher.columns import NODE_COLUMNS
from substrate.emotions import emotion_vector

_TRIES = 5
type Problem = Literal["invalid-request", "not-found", "conflict"]


class _Refusal(Exception):
    def __init__(self, problem: Problem, fault: str) -> None:
        super().__init__(fault)
        self.problem: Problem = problem
        self.fault = fault


async def revise(graph: str, command: Command, deps: Deps, now: Instant) -> WriteReceipt:
    """Carry out one Supersede, Correct or Retract. The receipt says what the identity carries now."""
    if not isinstance(command, (Revision, Retract)):
        raise TypeError(f"{type(command).__name__} does not revise a memory")
    command_id = command.command_id or uuid4().hex
    marks = {"command_id": command_id, "fingerprint": records.fingerprint(command)}
    try:
        earlier = await _applied_before(graph, command, marks, deps)
        if earlier is not None:
            return earlier
        for _ in range(_TRIES):
            record = await _open_record(graph, command, deps)
            change = _decide(command, record, now)
            if await _carry_out(graph, command, (record, change), marks, deps):
                return _receipt(command, command_id, change.latest or change.closed)
        raise _Refusal("conflict", f"memory {command.id} is being changed by others; try again")
    except _Refusal as refusal:
        return WriteReceipt(
            command_id=command_id,
            command=type(command).__name__.lower(),
            status="refused",
            id=command.id,
            level=command.level,
            problem=refusal.problem,
            faults=(refusal.fault,),
            warnings=command.notes,
        )


async def _applied_before(
    graph: str, command: Revision | Retract, marks: Mapping[str, Any], deps: Deps
) -> WriteReceipt | None:
    if command.command_id is None:
        return None
    found = await reader.applied(deps.connection, graph, command.id, (command.command_id, -1))
    if found is None:
        return None
    if found.fingerprint != marks["fingerprint"]:
        raise _Refusal("conflict", "this command_id was used before with another content")
    return WriteReceipt(
        command_id=command.command_id,
        command=type(command).__name__.lower(),
        status="stored",
        id=command.id,
        level=command.level,
        version=found.version,
        valid_at=to_datetime(found.valid_at),
        invalid_at=open_end(found.invalid_at),
        created_at=to_datetime(found.created_at),
        duplicate=True,
        warnings=command.notes,
    )


async def _open_record(graph: str, command: Revision | Retract, deps: Deps) -> Record:
    row = await reader.memory(deps.connection, graph, command.id)
    if row is None:
        raise _Refusal("not-found", f"there is no memory {command.id} in {command.level}")
    record = rows.record(row)
    if not bitemporal.is_open(record):
        raise _Refusal("conflict", f"memory {command.id} was retracted; remember it anew under another id")
    if command.expected_version is not None and command.expected_version != record.version:
        raise _Refusal(
            "conflict", f"memory {command.id} has version {record.version}, not {command.expected_version}"
        )
    return record


def _decide(command: Revision | Retract, record: Record, now: Instant) -> Change:
    try:
        if isinstance(command, Retract):
            effective = None if command.effective_at is None else records.instant(command.effective_at, now)
            return bitemporal.retract(record, effective, command.reason, now)
        content = records.revised_content(command, record.content)
        if isinstance(command, Supersede):
            return bitemporal.supersede(record, content, records.instant(command.effective_at, now), now)
        return bitemporal.correct(record, content, now)
    except ValueError as error:
        raise _Refusal("invalid-request", str(error)) from error


async def _carry_out(
    graph: str, command: Revision | Retract, decided: tuple[Record, Change], marks: dict[str, Any], deps: Deps
) -> bool:
    record, change = decided
    if change.latest is None:
        return await writer.withdraw(deps.connection, graph, change.closed, marks)
    content = change.latest.content
    emotions = orjson.loads(content["emotion_vector"]) if content.get("emotion_vector") else None
    latest = {
        **dict.fromkeys(NODE_COLUMNS),
        **content,
        **records.search_properties(content, emotions),
        **rows.times(change.latest.valid, change.latest.known),
        "id": record.id,
        "version": change.latest.version,
        "invalidation_reason": change.latest.reason,
    }
    before, after = records.embedded_text(record.content), records.embedded_text(content)
    embedding = None if before == after else (await deps.embedder.embed_texts([after]))[0] or None
    retagged = isinstance(command, (Supersede, Correct)) and bool({"tags", "buckets"} & command.model_fields_set)
    revised = writer.Revised(
        latest=latest,
        embedding=embedding,
        emotion=emotion_vector(emotions),
        tag_names=_tag_names(content) if retagged else None,
    )
    return await writer.revise(deps.connection, graph, change, revised, marks)


def _tag_names(content: Mapping[str, Any]) -> list[str]:
    tags, buckets = (orjson.loads(content.get(column) or "[]") for column in ("tags", "buckets"))
    return records.tag_names(tags, buckets)


def _receipt(command: Revision | Retract, command_id: str, record: Record) -> WriteReceipt:
    return WriteReceipt(
        command_id=command_id,
        command=type(command).__name__.lower(),
        status="stored",
        id=record.id,
        level=command.level,
        version=record.version,
        valid_at=to_datetime(record.valid.start),
        invalid_at=open_end(record.valid.end),
        created_at=to_datetime(record.known.start),
        warnings=command.notes,
    )
