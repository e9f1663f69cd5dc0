"""New memories and links: their ids, their rows, and what is said of what a row found in its place. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from orchestration.identifiers import natural_id
from orchestration.writing import receipts, records
from orchestration.writing.receipts import Refusal
from schemas.commands import ChangeCommand, Command, Relate, Remember, WriteReceipt
from schemas.temporal import END_OF_TIME, Instant, Period, open_end, to_datetime, to_instant
from substrate.store.writer import Mark

type Row = Mapping[str, Any]


def check_period(command: Command, now: Instant) -> None:
    """Raises Refusal for a memory or link that would begin now and end before."""
    if not isinstance(command, (Remember, Relate)) or command.valid_at is not None or command.invalid_at is None:
        return
    if to_instant(command.invalid_at) <= now:
        fault = "invalid_at lies in the past and valid_at is not given: it would end before it begins"
        raise Refusal("invalid-request", fault)


def identity(command: Command, command_id: str) -> str | None:
    """The id of what a command, sent with this id of its own, writes to."""
    if isinstance(command, Relate):
        return command.id or natural_id(command.source_id, command.relation_type, command.target_id)
    if isinstance(command, Remember):
        return command.id or _made_id(command_id)
    return command.id if isinstance(command, ChangeCommand) else None


def _made_id(command_id: str) -> str:
    """A memory's id from its command's, so that a command sent again finds its own memory."""
    return f"m_{blake2b(command_id.encode(), digest_size=10).hexdigest()}"


def row_of(command: Remember | Relate, command_id: str, now: Instant) -> dict[str, Any]:
    """The row of a new memory, all but its embedding, or of a new link."""
    ids = (identity(command, command_id) or "", command_id)
    return (
        records.link_row(command, ids, now)
        if isinstance(command, Relate)
        else records.memory_row(command, ids, now)
    )


def with_receipt(command: Command, row: dict[str, Any]) -> dict[str, Any]:
    """The row of a command that stands for itself."""
    return {
        **row,
        "receipt": row["command_id"],
        "again": command.command_id is not None,
        "warnings": receipts.kept_text(receipts.warnings(command)),
    }


def receipt(command: Remember | Relate, row: Row, mark: Mark) -> WriteReceipt:
    """What became of a row."""
    try:
        if mark.kept is not None:
            return receipts.again(command, mark.kept)
        if not mark.new:
            _check(command, row, mark)
    except Refusal as refusal:
        return receipts.refused(command, (row["command_id"], row["id"]), refusal)
    return _stored(command, row, mark)


def _check(command: Remember | Relate, row: Row, mark: Mark) -> None:
    """Raises Refusal for a row that says something else than what is stored."""
    if isinstance(command, Relate):
        missing = [
            f"{end} {row[end]} is not a memory of this graph, or was retracted"
            for end, found in (("source_id", mark.has_source), ("target_id", mark.has_target))
            if not found
        ]
        if missing:
            raise Refusal("not-found", *missing)
    what = "link" if isinstance(command, Relate) else "memory"
    if mark.expired_at is None or mark.expired_at != END_OF_TIME:
        fault = f"{what} {row['id']} was retracted; undo that, or give this one another id"
        raise Refusal("conflict", fault, current_version=mark.version if mark.expired_at else mark.gone)
    if mark.fingerprint != row["fingerprint"]:
        instead = "supersede or correct it instead" if what == "memory" else "give this one an id of its own"
        raise Refusal("conflict", f"{what} {row['id']} exists already; {instead}", current_version=mark.version)


def holds_again(row: Row, mark: Mark) -> bool:
    """Whether a row may be of an identity that is there, but holds nothing over the row's valid time."""
    if mark.new or mark.kept is not None or not (mark.has_source and mark.has_target):
        return False
    if mark.expired_at != END_OF_TIME or mark.valid_at is None or mark.invalid_at is None:
        return True
    return not Period(mark.valid_at, mark.invalid_at).overlaps(Period(row["valid_at"], row["invalid_at"]))


def _stored(command: Remember | Relate, row: Row, mark: Mark) -> WriteReceipt:
    valid_at = row["valid_at"] if mark.valid_at is None else mark.valid_at
    invalid_at = row["invalid_at"] if mark.invalid_at is None else mark.invalid_at
    return WriteReceipt(
        command_id=row["command_id"],
        command=receipts.kind(command),
        status="stored",
        id=row["id"],
        level=command.level,
        version=mark.version,
        valid_at=to_datetime(valid_at),
        invalid_at=open_end(invalid_at),
        created_at=to_datetime(mark.at if mark.created_at is None else mark.created_at),
        duplicate=not mark.new,
        warnings=receipts.warnings(command),
    )
