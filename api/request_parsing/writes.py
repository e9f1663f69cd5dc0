"""Write over REST: parse one command or a list, apply each only once however often it is sent; return receipts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple
from urllib.parse import quote, urlencode
from uuid import uuid4

from fastapi import Depends, Header, Query, Request, Response
from pydantic import ConfigDict, Field, PlainValidator, TypeAdapter, ValidationError, field_validator

from api.dependencies import Now, OpenRuntime
from api.problems import MAX_FAULTS, fault_line, invalid_request, shorten_faults
from api.request_parsing.bodies import run_off_loop
from api.request_parsing.etags import IfMatch, expect_version, refuse_if_match
from api.runtime.ingestions import BackgroundIngestions
from api.runtime.runtime import Runtime
from api.security.permissions import Caller, CurrentCaller
from api.telemetry import metrics
from orchestration import insertion
from orchestration.writing import atomic
from schemas.base import Frozen, Identifier
from schemas.commands import KINDS, ChangeCommand, Command, Relate, WriteReceipt, subject_of
from schemas.errors import Forbidden, NotFound, PreconditionFailed
from schemas.memory import REQUIRED, graph_fields
from schemas.responses import ReceiptList
from schemas.temporal import Instant
from substrate.store.transactions import COMMANDS_AT_MOST

type Responses = dict[int | str, dict[str, Any]]


def _write_responses(*operations: str) -> Responses:
    """The responses to one command and to a list, for the OpenAPI document, linked to these operations."""
    noun = "link" if "link" in operations[0] else "memory"
    parameters = {
        "level": "$response.body#/level",
        f"{noun}_id": "$response.body#/id",
        "citizen_id": "$request.body#/citizen_id",
        "collective": "$request.body#/collective",
    }
    follow = {name: {"operationId": name, "parameters": parameters} for name in operations}
    header = {"description": "The address of the written record.", "schema": {"type": "string"}}
    return {
        200: {"model": ReceiptList, "description": "The receipts of a list"},
        201: {"description": "Stored", "headers": {"Location": header}, "links": follow},
    }


MEMORY_RESPONSES: Final = _write_responses("get_memory", "get_memory_history")
LINK_RESPONSES: Final = _write_responses("get_link", "get_link_history")


class WriteContext(NamedTuple):
    """All that a write needs beside its body. `key` is the idempotency key, `size` the bytes of the body."""

    runtime: Runtime
    now: Instant
    caller: Caller
    key: str | None
    if_match: str | None = None
    atomic: bool = False
    size: int = 0
    ingestions: BackgroundIngestions | None = None


async def _write_context(
    request: Request,
    runtime: OpenRuntime,
    now: Now,
    caller: CurrentCaller,
    *,
    idempotency_key: Annotated[
        Identifier | None,
        Header(description="The `command_id` for a command without one; in a list, with `:` and its position."),
    ] = None,
    if_match: IfMatch = None,
) -> WriteContext:
    ingestions: BackgroundIngestions = request.app.state.ingestions
    size = request.state.body_bytes
    return WriteContext(runtime, now, caller, idempotency_key, if_match, size=size, ingestions=ingestions)


SingleWrite = Annotated[WriteContext, Depends(_write_context)]


async def _list_write_context(
    writing: SingleWrite,
    atomic: Annotated[
        bool,
        Query(
            description=f"Apply the list as a whole, or not at all: at most {COMMANDS_AT_MOST} commands for one "
            "graph; a later one may build on an earlier one. When one is refused, nothing is changed: its receipt "
            "says why, and all others have the problem `not-applied`."
        ),
    ] = False,
) -> WriteContext:
    return writing._replace(atomic=atomic)


ListWrite = Annotated[WriteContext, Depends(_list_write_context)]
"""For routes that take lists."""


def one_or_many(kind: Any) -> PlainValidator:
    """Marks a body as one command or a list of them: documented by its type, parsed later, each on its own."""
    many = Annotated[list[kind], Field(min_length=1, max_length=MAX_COMMANDS)]
    return PlainValidator(lambda raw: raw, json_schema_input_type=kind | many)


async def write_one_or_many(raw: Any, kind: type[Command] | None, writing: WriteContext) -> Response:
    """Apply one command: 201 and its receipt. Or a list: 200 and a receipt for each.

    Without `kind` the field `command` names the kind of each. Raises what `write_one` raises, and InvalidRequest
    for a list of the wrong length.
    """
    if not isinstance(raw, list):
        _refuse_wrapped_list(raw)
        receipt = await write_one(raw, command_type(raw) if kind is None else kind, writing)
        noun = "links" if subject_of(receipt.command) == "link" else "memories"
        whose = {name: raw[name] for name in ("citizen_id", "collective") if raw.get(name) is not None}
        query = f"?{urlencode(whose)}" if whose else ""
        address = f"/v1/{noun}/{receipt.level}/{quote(str(receipt.id), safe='')}{query}"
        return _json_response(receipt, 201, {"Location": address})
    if not 1 <= len(raw) <= MAX_COMMANDS:
        raise invalid_request([f"a list has 1 to {MAX_COMMANDS} elements, this one has {len(raw)}"])
    if writing.if_match is not None and writing.if_match.strip() != "*":
        raise invalid_request(
            ["If-Match is the tag of one memory: in a list, name expected_version in each command"]
        )
    key = writing.key
    keyed = raw if key is None else [with_command_id(item, f"{key}:{index}") for index, item in enumerate(raw)]
    parsed = await run_off_loop(writing.size, parse_commands, keyed, kind)
    receipts = await _apply_all([_authorize_or_refuse(item, writing) for item in parsed], writing)
    stored = sum(receipt.status == "stored" for receipt in receipts)
    answer = ReceiptList(receipts=tuple(receipts), stored=stored, refused=len(receipts) - stored)
    return _json_response(answer, 200)


_LISTS: Final = ("commands", "memories", "links")
_OF_ONE: Final = frozenset(("command", "name", "description", "text", "source_id"))
"""A body with one of these is one command; it may have a list of its own among its unknown fields."""


def _refuse_wrapped_list(raw: Any) -> None:
    """Raises InvalidRequest for a list within an object: a list is the body itself."""
    if not isinstance(raw, dict) or raw.keys() & _OF_ONE:
        return
    name = next((name for name in _LISTS if isinstance(raw.get(name), list)), None)
    if name is not None:
        raise invalid_request([f"{name}: send the list itself as the body, [...], and not an object with it"])


async def write_one(raw: Any, kind: type[Command], writing: WriteContext) -> WriteReceipt:
    """Apply one command. Raises InvalidRequest when it cannot be parsed, and the error of its refusal otherwise:
    PreconditionFailed when `If-Match` no longer holds, NotFound, Forbidden, Conflict and others.
    """
    if issubclass(kind, ChangeCommand):
        raw = expect_version(raw, writing.if_match)
    parsed = await run_off_loop(writing.size, parse_command, with_command_id(raw, writing.key), kind)
    command = _authorize(parsed, writing)
    if not isinstance(command, ChangeCommand):
        refuse_if_match(writing.if_match, "a new record")
    [receipt] = await _apply_all([command], writing)
    if receipt.status == "refused":
        if writing.if_match is not None and receipt.problem == "conflict":
            raise PreconditionFailed("; ".join(receipt.faults), faults=receipt.faults)
        raise receipt.refusal()
    return receipt


def _authorize[C: Command](command: C, writing: WriteContext) -> C:
    """The command, signed by the caller. Raises NotFound or Forbidden when the caller may not send it."""
    writing.caller.require(command.graph_key, command.citizen_id, "write")
    writer = writing.caller.writer_of(command.graph_key, command.citizen_id)
    return writing.caller.limit_source(command).with_writer(writer)


def _authorize_or_refuse(parsed: Command | WriteReceipt, writing: WriteContext) -> Command | WriteReceipt:
    """The command, if the caller may send it, else the receipt of its refusal."""
    if isinstance(parsed, WriteReceipt):
        return parsed
    try:
        return _authorize(parsed, writing)
    except (NotFound, Forbidden) as error:
        return refusal_receipt(parsed, error)


async def _apply_all(parsed: Sequence[Command | WriteReceipt], writing: WriteContext) -> list[WriteReceipt]:
    """Apply the commands, and return all receipts in order, including those of commands already refused."""
    commands = [item for item in parsed if isinstance(item, Command)]
    if not writing.atomic:
        written = iter(await insertion.apply(commands, writing.runtime.deps, writing.now))
        receipts = [next(written) if isinstance(item, Command) else item for item in parsed]
    elif len(commands) < len(parsed):
        receipts = [item if isinstance(item, WriteReceipt) else atomic.withheld_receipt(item) for item in parsed]
    else:
        receipts = await insertion.apply_atomically(commands, writing.runtime.deps, writing.now)
    metrics.record_receipts(receipts)
    writing.caller.commands += [receipt.command_id for receipt in receipts if receipt.status == "stored"]
    return receipts


def _json_response(answer: Frozen, status: int, headers: dict[str, str] | None = None) -> Response:
    return Response(answer.model_dump_json(), status, headers, media_type="application/json")


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
