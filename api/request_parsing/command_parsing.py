"""Parse raw JSON into one command, or a list in which each command is parsed on its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from api.problems import MAX_FAULTS, fault_line, invalid_request, shorten_faults
from schemas.base import Identifier
from schemas.commands import KINDS, Command, Relate, WriteReceipt
from schemas.errors import Forbidden, NotFound
from schemas.memory import REQUIRED, graph_fields

MAX_COMMANDS: Final = 1000
_IDENTIFIER: Final[TypeAdapter[str]] = TypeAdapter(Identifier)


def parse_command[C: Command](raw: Any, kind: type[C]) -> C:
    """Parse one command. Raises InvalidRequest with every fault."""
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        raise invalid_request(list(fault_lines(error, kind))) from error


def parse_commands(raw: Sequence[Any], kind: type[Command] | None) -> list[Command | WriteReceipt]:
    """Parse each element, in order, into its command or the receipt of its refusal.

    Without `kind` each element names its own. All receipts share `MAX_FAULTS` lines of faults; when these are used
    up, each further receipt shows its first fault and the number of others.
    """
    parsed: list[Command | WriteReceipt] = []
    shown = 0
    for element in raw:
        most = max(2, MAX_FAULTS - shown)
        result = _parse_or_refuse(element, command_type(element) if kind is None else kind, most)
        parsed.append(result)
        shown += len(result.faults) if isinstance(result, WriteReceipt) else 0
    return parsed


def command_type(raw: Any) -> type[Command]:
    """The type that the field `command` names; `UnknownCommand` if it names no type."""
    name = raw.get("command") if isinstance(raw, dict) else None
    return KINDS.get(name, UnknownCommand) if isinstance(name, str) else UnknownCommand


class UnknownCommand(Command):
    """Stands for a command of an unknown kind: its validation always fails, first on the field `command`."""

    model_config = ConfigDict(extra="ignore")

    command: str = Field(default="", validate_default=True)

    @field_validator("command")
    @classmethod
    def _refuse(cls, command: str) -> str:
        raise ValueError(f"must be one of {', '.join(KINDS)}")


def with_command_id(raw: Any, key: str | None) -> Any:
    """`raw` with the idempotency key as its `command_id`, unless it has one of its own."""
    if key is None or not isinstance(raw, dict) or raw.get("command_id") is not None:
        return raw
    return {**raw, "command_id": key}


def refusal_receipt(command: Command, error: NotFound | Forbidden) -> WriteReceipt:
    """The receipt of a command that its sender may not send."""
    return WriteReceipt(
        command_id=command.command_id or uuid4().hex,
        command=command_name(type(command)),
        status="refused",
        id=getattr(command, "id", None),
        **graph_fields(command.graph_key),
        problem="not-found" if isinstance(error, NotFound) else "forbidden",
        faults=(error.detail,),
    )


def command_name(kind: type[Command]) -> str:
    """The name in the field `command`; empty for `UnknownCommand`."""
    return str(kind.model_fields["command"].get_default())


def fault_lines(error: ValidationError, kind: type[Command]) -> Iterator[str]:
    """Each fault as `field: message`; faults of a link's REQUIRED fields are worded as in 003, component 6."""
    for fault in error.errors(include_url=False, include_input=False, include_context=False):
        location, message = fault["loc"], fault["msg"]
        if issubclass(kind, Relate) and location and location[0] in REQUIRED:
            missing = fault["type"] == "missing"
            message = "REQUIRED field missing" if missing else f"REQUIRED field invalid: {message}"
        yield fault_line(location, message)


def _parse_or_refuse(raw: Any, kind: type[Command], most: int) -> Command | WriteReceipt:
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        fields = raw if isinstance(raw, dict) else {}
        return WriteReceipt(
            command_id=_identifier(fields, "command_id") or uuid4().hex,
            command=command_name(kind),
            status="refused",
            id=_identifier(fields, "id"),
            problem="invalid-request",
            faults=shorten_faults(list(fault_lines(error, kind)), most),
        )


def _identifier(fields: Mapping[str, Any], name: str) -> str | None:
    try:
        return _IDENTIFIER.validate_python(fields.get(name))
    except ValidationError:
        return None
