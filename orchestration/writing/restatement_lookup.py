"""New memories that only say again what is remembered: found in the graph, answered with its receipt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from orchestration.dependencies import Deps
from orchestration.writing import receipts, restatements
from orchestration.writing.receipts import Refusal
from schemas.commands import Remember, WriteReceipt
from schemas.temporal import Instant
from substrate.bitemporal import Record
from substrate.store import reader, rows, writer


async def recognised(graph: str, commands: Sequence[Remember], deps: Deps, now: Instant) -> dict[int, Record]:
    """The memories that hold now and say what the commands say, by the places of the commands."""
    read = [restatements.readings(command) for command in commands]
    keys = sorted({key for one in read for key in one})
    if not keys:
        return {}
    found = [rows.record(row) for row in await reader.find_by_text(deps.graph(graph), keys, now)]
    said: dict[int, Record] = {}
    for place, command in enumerate(commands):
        for record in found:
            if restatements.says_again(command, read[place], record):
                said[place] = record
                break
    return said


async def answered(
    graph: str, commands: Sequence[Remember], said: Mapping[int, Record], deps: Deps
) -> dict[int, WriteReceipt]:
    """The receipts of the commands that are recognised as `said`, by their places; their ids are kept with them.

    One that was applied before is left out: it has a receipt of its own.
    """
    if not said:
        return {}
    sent = [commands[place].command_id for place in said]
    kept = await reader.receipts(deps.graph(graph), [one for one in sent if one is not None])
    fresh = {place: record for place, record in said.items() if commands[place].command_id not in kept}
    to_keep = {place: _to_keep(commands[place], record) for place, record in fresh.items()}
    named = [one for place, one in to_keep.items() if commands[place].command_id is not None]
    there = await writer.keep(deps.graph(graph), named) if named else {}
    answers: dict[int, WriteReceipt] = {}
    for place, one in to_keep.items():
        command = commands[place]
        try:
            answers[place] = (
                receipts.stored(one, one["created_at"], command.level)
                if command.command_id is None
                else receipts.again(command, there[command.command_id])
            )
        except Refusal as refusal:  # another content was sent under this id at the same time
            answers[place] = receipts.refused(command, (one["command_id"], None), refusal)
    return answers


def _to_keep(command: Remember, record: Record) -> dict[str, Any]:
    command_id = command.command_id or uuid4().hex
    return receipts.to_keep_recognised(command, command_id, record, restatements.warning(record))
