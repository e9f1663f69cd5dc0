"""Receipts: what became of a command, said to its sender and kept in the graph. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import orjson

from orchestration.validation import validate_consciousness_link
from orchestration.writing import records, trust
from schemas.commands import Command, Relate, Remember, WriteReceipt
from schemas.memory import Level, Source
from schemas.temporal import Instant, open_end, to_datetime
from substrate.bitemporal import Record
from substrate.cypher.fragments import RECEIPT_COLUMNS
from substrate.store.rows import Kept

type Problem = Literal["invalid-request", "not-found", "conflict", "not-trusted", "not-applied"]

OTHER_CONTENT = "this command_id was used before with another content"


class Refusal(Exception):
    """Why a command changes nothing. `current_version`: of the record that a conflict is about."""

    def __init__(self, problem: Problem, *faults: str, current_version: int | None = None) -> None:
        super().__init__(*faults)
        self.problem: Problem = problem
        self.faults = faults
        self.current_version = current_version


def kind(command: Command) -> str:
    """The name of the command."""
    return str(getattr(command, "command", ""))


def warnings(command: Command) -> tuple[str, ...]:
    """What was assumed or may be wanting."""
    said = list(command.notes)
    if isinstance(command, Relate):
        said += validate_consciousness_link(command.model_dump(mode="json")).warnings
    extra = getattr(command, "extra", None)
    if extra:
        said.append(f"unknown fields were kept in extra: {', '.join(sorted(extra))}")
    return tuple(said)


def kept_text(said: tuple[str, ...]) -> str | None:
    """The warnings as a receipt keeps them."""
    return orjson.dumps(said).decode() if said else None


def to_keep(command: Command, command_id: str, record: Record) -> dict[str, Any]:
    """What the graph keeps of a command that left `record`; its statement adds the transaction time."""
    return {
        "command_id": command_id,
        "fingerprint": records.fingerprint(command),
        "command": kind(command),
        "id": record.id,
        "version": record.version,
        "valid_at": record.valid.start,
        "invalid_at": record.valid.end,
        "warnings": kept_text(warnings(command)),
    }


def to_keep_recognised(command: Remember, command_id: str, record: Record, said: str) -> dict[str, Any]:
    """What the graph keeps of a command that only said again what `record` says."""
    return {
        **to_keep(command, command_id, record),
        "created_at": record.known.start,
        "warnings": kept_text((*warnings(command), said)),
        "recognised": 1,
    }


def stored(kept: Mapping[str, Any], at: Instant, level: Level) -> WriteReceipt:
    """The receipt of a command that was just applied, from what is kept of it."""
    known: dict[str, Any] = {name: kept.get(name) for name in RECEIPT_COLUMNS}
    return of_kept(Kept(**{**known, "created_at": at}), level)


def of_kept(kept: Kept, level: Level) -> WriteReceipt:
    """The receipt that is kept, as it was given first."""
    return WriteReceipt(
        command_id=kept.command_id,
        command=kept.command,
        status="stored",
        id=kept.id,
        level=level,
        version=kept.version,
        valid_at=None if kept.valid_at is None else to_datetime(kept.valid_at),
        invalid_at=None if kept.invalid_at is None else open_end(kept.invalid_at),
        created_at=to_datetime(kept.created_at),
        duplicate=bool(kept.recognised),
        recognised=kept.id if kept.recognised else None,
        warnings=tuple(orjson.loads(kept.warnings)) if kept.warnings else (),
    )


UNFINISHED: Final = "it was begun and is not finished; send it again, then it goes on"


def of_erasure(command_id: str, level: Level, begun: Instant, *, finished: bool) -> WriteReceipt:
    """The receipt of an erasure: of what was erased nothing is kept, nor its name."""
    return WriteReceipt(
        command_id=command_id,
        command="erase",
        status="stored",
        level=level,
        created_at=to_datetime(begun),
        warnings=() if finished else (UNFINISHED,),
    )


def again(command: Command, kept: Kept) -> WriteReceipt:
    """The receipt of a command that was applied before. Raises Refusal when that said something else."""
    if kept.fingerprint not in (records.fingerprint(command), records.fingerprint(_unclaimed(command))):
        raise Refusal("conflict", OTHER_CONTENT)
    return of_kept(kept, command.level).model_copy(update={"duplicate": True})


def _unclaimed(command: Command) -> Command:
    """The command as it was sent while its sender might claim to be a citizen without a word."""
    source = getattr(command, "source", None)
    lowered = source is not None and trust.outweighs(Source.CITIZEN, source)
    return command.assuming("source") if lowered else command


def refused(command: Command, named: tuple[str, str | None], refusal: Refusal) -> WriteReceipt:
    """The receipt of a command that changed nothing, with every fault. `named`: the ids of command and record."""
    return WriteReceipt(
        command_id=named[0],
        command=kind(command),
        status="refused",
        id=named[1],
        level=command.level,
        problem=refusal.problem,
        faults=refusal.faults,
        current_version=refusal.current_version,
        warnings=command.notes,
    )
