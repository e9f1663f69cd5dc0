"""Receipts: the outcome of a command, as its sender gets it and as the graph stores it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from orchestration.validation import validate_consciousness_link
from orchestration.writing import records
from orchestration.writing.changes import Refusal, outweighs
from schemas.commands import Command, Relate, Remember, WriteReceipt
from schemas.memory import GraphKey, Source, graph_fields
from schemas.temporal import CLOCK_AHEAD, Instant, open_end, to_datetime
from substrate.bitemporal import Record
from substrate.store.rows import StoredReceipt

OTHER_CONTENT: Final = "this command_id was used before with another content"
OPEN_AGAIN: Final = " is open again: what told it as solved is gone"
UNFINISHED: Final = "the erasure is not finished; send it again to finish it"


def command_name(command: Command) -> str:
    """The name of the command."""
    return str(getattr(command, "command", ""))


def collect_warnings(command: Command) -> tuple[str, ...]:
    """Notes made while the command was parsed, fields that a good link lacks, and unknown fields."""
    texts = list(command.notes)
    if isinstance(command, Relate):
        texts += validate_consciousness_link(vars(command)).warnings
    extra = getattr(command, "extra", None)
    if extra:
        texts.append(f"unknown fields were kept in extra: {', '.join(sorted(extra))}")
    return tuple(texts)


def warnings_json(texts: tuple[str, ...]) -> str | None:
    """The warnings as JSON; None without any."""
    return orjson.dumps(texts).decode() if texts else None


def receipt_row(command: Command, command_id: str, record: Record, texts: tuple[str, ...] = ()) -> dict[str, Any]:
    """The properties of the receipt to store for a command that wrote `record`; `created_at` is added later."""
    return {
        "command_id": command_id,
        "fingerprint": records.fingerprint(command),
        "command": command_name(command),
        "id": record.id,
        "version": record.version,
        "valid_at": record.valid.start,
        "invalid_at": record.valid.end,
        "warnings": warnings_json((*collect_warnings(command), *texts)),
    }


def recognised_row(command: Remember, command_id: str, record: Record, warning: str) -> dict[str, Any]:
    """The properties of the receipt to store for a command that only repeats `record`."""
    return {
        **receipt_row(command, command_id, record),
        "created_at": record.known.start,
        "warnings": warnings_json((*collect_warnings(command), warning)),
        "recognised": 1,
        "repeats": 1,
    }


def rebuild_from_row(row: Mapping[str, Any], key: GraphKey) -> WriteReceipt:
    """The receipt of a command that was just applied, from its stored properties."""
    fields: dict[str, Any] = {name: row.get(name) for name in StoredReceipt._fields}
    return rebuild_receipt(StoredReceipt(**fields), key)


def rebuild_receipt(receipt: StoredReceipt, key: GraphKey) -> WriteReceipt:
    """The receipt as its sender got it the first time."""
    return WriteReceipt(
        command_id=receipt.command_id,
        command=receipt.command,
        status="stored",
        id=receipt.id,
        **graph_fields(key),
        version=receipt.version,
        valid_at=None if receipt.valid_at is None else to_datetime(receipt.valid_at),
        invalid_at=None if receipt.invalid_at is None else open_end(receipt.invalid_at),
        created_at=to_datetime(receipt.created_at),
        duplicate=bool(receipt.recognised),
        recognised=receipt.id if receipt.recognised else None,
        **{"warnings": orjson.loads(receipt.warnings or "[]"), **orjson.loads(receipt.told or "{}")},
    )


def repeat_receipt(command: Command, receipt: StoredReceipt) -> WriteReceipt:
    """The receipt of a command that was applied before. Raises Refusal when its content was different then."""
    source = getattr(command, "source", None)
    lowered = source is not None and outweighs(Source.CITIZEN, source)
    unlowered = command.assuming("source") if lowered else command  # older versions stored the fingerprint of that
    if receipt.fingerprint not in (records.fingerprint(command), records.fingerprint(unlowered)):
        raise Refusal("conflict", OTHER_CONTENT)
    return rebuild_receipt(receipt, command.graph_key).model_copy(update={"duplicate": True})


def build_erasure_receipt(command_id: str, key: GraphKey, begun: Instant, *, finished: bool) -> WriteReceipt:
    """The receipt of an erasure. It names no record, so that nothing of the erased data stays."""
    return WriteReceipt(
        command_id=command_id,
        command="erase",
        status="stored",
        **graph_fields(key),
        created_at=to_datetime(begun),
        warnings=() if finished else (UNFINISHED,),
    )


def refuse(command: Command, refusal: Refusal, *, command_id: str, record_id: str | None) -> WriteReceipt:
    """The receipt of a refused command, with the reasons in `faults`."""
    return WriteReceipt(
        command_id=command_id,
        command=command_name(command),
        status="refused",
        id=record_id,
        **graph_fields(command.graph_key),
        problem=refusal.problem,
        faults=refusal.faults,
        current_version=refusal.current_version,
        warnings=command.notes,
    )


def with_note(receipt: WriteReceipt, note: str | None, now: Instant | None = None) -> WriteReceipt:
    """The receipt with the note among its warnings, if the command was applied now.

    With `now` it also says that the clock of the graph is ahead of that moment by more than `CLOCK_AHEAD`.
    """
    if receipt.status == "refused" or receipt.duplicate:
        return receipt
    texts: tuple[str, ...] = () if note is None else (note,)
    if now is not None and receipt.created_at is not None and receipt.created_at > to_datetime(now + CLOCK_AHEAD):
        texts += (f"stamped {receipt.created_at:%Y-%m-%d}: a clock was ahead once; see `substrate doctor`",)
    return receipt.model_copy(update={"warnings": (*receipt.warnings, *texts)}) if texts else receipt
