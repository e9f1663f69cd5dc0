"""Raw JSON → commands: one, or many of which each is read on its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from pydantic import TypeAdapter, ValidationError

from api.problems import fault_line, invalid, shortened
from schemas.base import Identifier
from schemas.commands import Command, Relate, WriteReceipt
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


def parse_many[C: Command](raw: Sequence[Any], kind: type[C]) -> list[C | WriteReceipt]:
    """One command for each element, or the receipt of its refusal, in order."""
    return [_parsed(element, kind) for element in raw]


def with_key(raw: Any, key: str | None) -> Any:
    """`raw` with the idempotency key as its command id, unless it has one of its own."""
    if key is None or not isinstance(raw, dict) or raw.get("command_id") is not None:
        return raw
    return {**raw, "command_id": key}


def refused_receipt(command: Command, error: NotFound | Forbidden) -> WriteReceipt:
    """The receipt of a command that its sender may not send."""
    return WriteReceipt(
        command_id=command.command_id or uuid4().hex,
        command=type(command).__name__.lower(),
        status="refused",
        id=getattr(command, "id", None),
        level=command.level,
        problem="not-found" if isinstance(error, NotFound) else "forbidden",
        faults=(error.detail,),
    )


def faults_of(error: ValidationError, kind: type[Command]) -> Iterator[str]:
    """Each fault as `field: message`; of a link's REQUIRED tier in the words of 003, component 6."""
    for fault in error.errors(include_url=False, include_input=False, include_context=False):
        place, said = fault["loc"], fault["msg"]
        if issubclass(kind, Relate) and place and place[0] in REQUIRED:
            missing = fault["type"] == "missing"
            said = "REQUIRED field missing" if missing else f"REQUIRED field invalid: {said}"
        yield fault_line(place, said)


def _parsed[C: Command](raw: Any, kind: type[C]) -> C | WriteReceipt:
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        said = raw if isinstance(raw, dict) else {}
        return WriteReceipt(
            command_id=_identifier(said, "command_id") or uuid4().hex,
            command=kind.__name__.lower(),
            status="refused",
            id=_identifier(said, "id"),
            problem="invalid-request",
            faults=shortened(list(faults_of(error, kind))),
        )


def _identifier(said: Mapping[str, Any], name: str) -> str | None:
    try:
        return _IDENTIFIER.validate_python(said.get(name))
    except ValidationError:
        return None
