"""Raw JSON → commands: one, or many of which each is read on its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from api.problems import MAX_FAULTS, fault_line, invalid, shortened
from schemas.base import Identifier
from schemas.commands import KINDS, Command, Relate, WriteReceipt
from schemas.errors import Forbidden, NotFound
from schemas.validation import REQUIRED

MAX_MANY: Final = 1000
_IDENTIFIER: Final[TypeAdapter[str]] = TypeAdapter(Identifier)


def parse_one[C: Command](raw: Any, kind: type[C]) -> C:
    """The command that `raw` says. Raises InvalidRequest with every fault."""
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        raise invalid(list(faults_of(error, kind))) from error


def parse_many(raw: Sequence[Any], kind: type[Command] | None) -> list[Command | WriteReceipt]:
    """One command for each element, of any kind without `kind`, or the receipt of its refusal, in order.

    Each receipt tells its first fault; all together tell no more than `MAX_FAULTS` beside that.
    """
    found: list[Command | WriteReceipt] = []
    told = 0
    for element in raw:
        most = max(2, MAX_FAULTS - told)
        found.append(one := _parsed(element, kind_of(element) if kind is None else kind, most))
        told += len(one.faults) if isinstance(one, WriteReceipt) else 0
    return found


def kind_of(raw: Any) -> type[Command]:
    """The kind of command that `raw` says it is."""
    said = raw.get("command") if isinstance(raw, dict) else None
    return KINDS.get(said, Unnamed) if isinstance(said, str) else Unnamed


class Unnamed(Command):
    """What says no kind of command that there is: its faults begin with that."""

    model_config = ConfigDict(extra="ignore")

    command: str = Field(default="", validate_default=True)

    @field_validator("command")
    @classmethod
    def _is_a_kind(cls, command: str) -> str:
        raise ValueError(f"is one of {', '.join(KINDS)}")


def with_key(raw: Any, key: str | None) -> Any:
    """`raw` with the idempotency key as its command id, unless it has one of its own."""
    if key is None or not isinstance(raw, dict) or raw.get("command_id") is not None:
        return raw
    return {**raw, "command_id": key}


def refused_receipt(command: Command, error: NotFound | Forbidden) -> WriteReceipt:
    """The receipt of a command that its sender may not send."""
    return WriteReceipt(
        command_id=command.command_id or uuid4().hex,
        command=kind_name(type(command)),
        status="refused",
        id=getattr(command, "id", None),
        level=command.level,
        problem="not-found" if isinstance(error, NotFound) else "forbidden",
        faults=(error.detail,),
    )


def kind_name(kind: type[Command]) -> str:
    """What a command of this kind calls itself; nothing for one that names none."""
    return str(kind.model_fields["command"].get_default())


def faults_of(error: ValidationError, kind: type[Command]) -> Iterator[str]:
    """Each fault as `field: message`; of a link's REQUIRED tier in the words of 003, component 6."""
    for fault in error.errors(include_url=False, include_input=False, include_context=False):
        place, said = fault["loc"], fault["msg"]
        if issubclass(kind, Relate) and place and place[0] in REQUIRED:
            missing = fault["type"] == "missing"
            said = "REQUIRED field missing" if missing else f"REQUIRED field invalid: {said}"
        yield fault_line(place, said)


def _parsed(raw: Any, kind: type[Command], most: int) -> Command | WriteReceipt:
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        said = raw if isinstance(raw, dict) else {}
        return WriteReceipt(
            command_id=_identifier(said, "command_id") or uuid4().hex,
            command=kind_name(kind),
            status="refused",
            id=_identifier(said, "id"),
            problem="invalid-request",
            faults=shortened(list(faults_of(error, kind)), most),
        )


def _identifier(said: Mapping[str, Any], name: str) -> str | None:
    try:
        return _IDENTIFIER.validate_python(said.get(name))
    except ValidationError:
        return None
