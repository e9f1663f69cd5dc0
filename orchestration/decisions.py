"""What a change of a memory or a link closes and opens, from the records that were seen. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestration import records, trust
from orchestration.receipts import Refusal
from schemas.command import ChangeCommand
from schemas.commands import Resolve, Retract, Revision, Supersede, Undo
from schemas.link_commands import LinkRevision, ResolveLink, SupersedeLink, UndoLink, Unrelate
from schemas.memory import Source
from schemas.temporal import Instant
from substrate import bitemporal
from substrate.bitemporal import Change, Record, Reversal

OF_MEMORIES = (Revision, Retract, Resolve, Undo)
UNDOES = (Undo, UndoLink)


def carried(command: ChangeCommand, found: Sequence[Record]) -> Record:
    """The record that the identity carries, in the version that the command expects.

    Raises Refusal, also when the command's source may not change it.
    """
    if not found:
        what = "memory" if isinstance(command, OF_MEMORIES) else "link"
        raise Refusal("not-found", f"there is no {what} {command.id} in {command.level}")
    record = max(found, key=lambda one: one.version)
    if command.expected_version is not None and command.expected_version != record.version:
        fault = f"{command.id} has version {record.version}, not {command.expected_version}"
        raise Refusal("conflict", fault, current_version=record.version)
    came_from = Source(record.content.get("source", Source.CITIZEN))
    if not trust.may_change(command.source, came_from):
        raise Refusal("not-trusted", trust.fault(command.source, came_from), current_version=record.version)
    return record


def decide(command: ChangeCommand, found: Sequence[Record], now: Instant) -> tuple[Record, Change]:
    """The record that changes, and what the command closes and opens. Raises Refusal."""
    record = carried(command, found)
    if not bitemporal.is_open(record):
        fault = f"{command.id} was retracted; undo that, or write it anew under another id"
        raise Refusal("conflict", fault, current_version=record.version)
    try:
        return record, _change(command, record, now)
    except ValueError as error:
        raise Refusal("invalid-request", str(error), current_version=record.version) from error


def _change(command: ChangeCommand, record: Record, now: Instant) -> Change:
    if isinstance(command, (Retract, Unrelate)):
        effective = None if command.effective_at is None else records.instant(command.effective_at, now)
        return bitemporal.retract(record, effective, command.reason, now)
    content = {**record.content, **changed_fields(command, record.content)}
    if isinstance(command, (Resolve, ResolveLink)):
        return bitemporal.resolve(record, content, now)
    if isinstance(command, (Supersede, SupersedeLink)):
        return bitemporal.supersede(record, content, records.instant(command.effective_at, now), now)
    return bitemporal.correct(record, content, now)


def changed_fields(command: ChangeCommand, content: Mapping[str, Any]) -> dict[str, Any]:
    """What the command changes of a content, in stored form; None clears. Nothing for a retraction."""
    if isinstance(command, Revision):
        return records.revised_fields(command, content)
    if isinstance(command, LinkRevision):
        return records.revised_link_fields(command)
    if isinstance(command, (Resolve, ResolveLink)):
        return {"resolution_state": command.resolution_state.value}
    return {}


def reversal(command: Undo | UndoLink, found: Sequence[Record], now: Instant) -> tuple[Record, Reversal]:
    """The record that the identity carries, and what the undo reverts. Raises Refusal."""
    record = carried(command, found)
    try:
        return record, bitemporal.undo(found, command.undoes, now)
    except ValueError as error:
        raise Refusal("conflict", str(error), current_version=record.version) from error
