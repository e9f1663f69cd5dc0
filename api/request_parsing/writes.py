"""What all writing routes share: one command or many, sent once however often, receipts or a problem back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, NamedTuple
from urllib.parse import quote

from fastapi import Depends, Header, Query, Request, Response
from pydantic import Field, PlainValidator

from api.dependencies import Now, Opened
from api.problems import invalid, refused
from api.request_parsing.body_limit import aside
from api.request_parsing.command_parsing import MAX_MANY, kind_of, parse_many, parse_one, refused_receipt, with_key
from api.request_parsing.etags import IfMatch, expecting, unguarded
from api.runtime.runtime import Runtime
from api.security.permissions import Caller
from api.telemetry import metrics
from orchestration import insertion
from orchestration.writing import atomic
from schemas.base import Frozen, Identifier
from schemas.commands import KINDS, LINK_COMMANDS, ChangeCommand, Command, WriteReceipt
from schemas.errors import Fault, Forbidden, NotFound, PreconditionFailed, SubstrateError
from schemas.responses import ReceiptList
from schemas.temporal import Instant
from substrate.store.transactions import COMMANDS_AT_MOST

type Responses = dict[int | str, dict[str, Any]]


def _documented(*operations: str) -> Responses:
    """The answers to one and to a list, for the OpenAPI document, with the operations that can follow."""
    noun = "link" if "link" in operations[0] else "memory"
    parameters = {
        "level": "$response.body#/level",
        f"{noun}_id": "$response.body#/id",
        "citizen_id": "$request.body#/citizen_id",
    }
    follow = {name: {"operationId": name, "parameters": parameters} for name in operations}
    header = {"description": "The address of what was written.", "schema": {"type": "string"}}
    return {
        200: {"model": ReceiptList, "description": "The receipts of a list"},
        201: {"description": "Stored", "headers": {"Location": header}, "links": follow},
    }


MEMORY_WRITTEN: Final = _documented("get_memory", "get_memory_history")
LINK_WRITTEN: Final = _documented("get_link", "get_link_history")


class Writing(NamedTuple):
    """What a write needs beside its body, of which it knows the size in bytes."""

    runtime: Runtime
    now: Instant
    key: str | None
    if_match: str | None = None
    caller: Caller | None = None
    atomic: bool = False
    size: int = 0


async def _writing(
    request: Request,
    runtime: Opened,
    now: Now,
    idempotency_key: Annotated[
        Identifier | None,
        Header(description="Taken as the `command_id` of a command without one; in a list, with its place."),
    ] = None,
    if_match: IfMatch = None,
) -> Writing:
    return Writing(runtime, now, idempotency_key, if_match, size=request.state.body_bytes)


Write = Annotated[Writing, Depends(_writing)]


async def _writing_many(
    writing: Write,
    atomic: Annotated[
        bool,
        Query(
            description=f"A list is carried out as a whole, or not at all: at most {COMMANDS_AT_MOST} commands "
            "for one graph, of which a later one may build on an earlier one. When one is refused, nothing is "
            "changed: its receipt says why, that of each other has the problem `not-applied`."
        ),
    ] = False,
) -> Writing:
    return writing._replace(atomic=atomic)


WriteMany = Annotated[Writing, Depends(_writing_many)]
"""For routes that take lists."""


def as_it_came(raw: Any) -> Any:
    """A body that is documented by its type and read later, each element on its own."""
    return raw


def one_or_many(kind: Any) -> PlainValidator:
    """The mark of a body that is one command, or a list of what is stored or refused each on its own."""
    many = Annotated[list[kind], Field(min_length=1, max_length=MAX_MANY)]
    return PlainValidator(as_it_came, json_schema_input_type=kind | many)


async def write(raw: Any, kind: type[Command] | None, writing: Writing) -> Response:
    """One command: 201 and its receipt, or a problem. A list: 200 and a receipt for each.

    Without `kind` each says by its `command` what it is.
    """
    if not isinstance(raw, list):
        receipt = await write_one(raw, kind_of(raw) if kind is None else kind, writing)
        return _json(receipt, 201, {"Location": _address(receipt, raw.get("citizen_id"))})
    return _json(await _write_many(raw, kind, writing), 200)


async def write_one(raw: Any, kind: type[Command], writing: Writing) -> WriteReceipt:
    """The receipt of a stored command. Raises the problem of a refused one."""
    guarded = writing.if_match is not None
    if issubclass(kind, ChangeCommand):
        raw = expecting(raw, writing.if_match)
    command = _allowed(await aside(writing.size, parse_one, with_key(raw, writing.key), kind), writing)
    if not isinstance(command, ChangeCommand):
        unguarded(writing.if_match, "what is new")
    [receipt] = await _carry_out([command], writing)
    if receipt.status == "refused":
        stale = guarded and receipt.problem == "conflict"
        raise PreconditionFailed("; ".join(receipt.faults), faults=receipt.faults) if stale else error_of(receipt)
    return receipt


def error_of(receipt: WriteReceipt) -> SubstrateError:
    """The error for the receipt of a refused command."""
    return refused(receipt.problem, receipt.faults, receipt.current_version)


async def _write_many(raw: list[Any], kind: type[Command] | None, writing: Writing) -> ReceiptList:
    if not 1 <= len(raw) <= MAX_MANY:
        raise invalid([f"a list has 1 to {MAX_MANY} elements, this one has {len(raw)}"])
    if writing.if_match is not None and writing.if_match.strip() != "*":
        raise invalid(["If-Match is the tag of one memory: in a list, name expected_version in each command"])
    key = writing.key
    keyed = raw if key is None else [with_key(each, f"{key}:{place}") for place, each in enumerate(raw)]
    said = await aside(writing.size, parse_many, keyed, kind)
    parsed = [_if_allowed(each, writing) for each in said]
    receipts = await _carry_out(parsed, writing)
    stored = sum(receipt.status == "stored" for receipt in receipts)
    return ReceiptList(receipts=tuple(receipts), stored=stored, refused=len(receipts) - stored)


def _allowed[C: Command](command: C, writing: Writing) -> C:
    """The command, as the caller may send it. Raises NotFound or Forbidden when it may not write there, or so."""
    if writing.caller is None:
        raise Fault("a route that writes does not declare it: @needs(COMMANDS)")
    writing.caller.need(command.level, command.citizen_id, "write")
    writer = writing.caller.writer_of(command.level, command.citizen_id)
    return writing.caller.as_its_source(command).written_by(writer)


def _if_allowed(parsed: Command | WriteReceipt, writing: Writing) -> Command | WriteReceipt:
    """A command that the caller may send, else the receipt of its refusal."""
    if isinstance(parsed, WriteReceipt):
        return parsed
    try:
        return _allowed(parsed, writing)
    except (NotFound, Forbidden) as error:
        return refused_receipt(parsed, error)


async def _carry_out(parsed: Sequence[Command | WriteReceipt], writing: Writing) -> list[WriteReceipt]:
    """A receipt for each, in order: of the commands that could be read, and of those refused before."""
    receipts = await _receipts(parsed, writing)
    metrics.receipts(receipts)
    if writing.caller is not None:
        writing.caller.commands += [one.command_id for one in receipts if one.status == "stored"]
    return receipts


async def _receipts(parsed: Sequence[Command | WriteReceipt], writing: Writing) -> list[WriteReceipt]:
    commands = [each for each in parsed if isinstance(each, Command)]
    if writing.atomic:
        if len(commands) < len(parsed):
            return [each if isinstance(each, WriteReceipt) else atomic.withheld(each) for each in parsed]
        return await atomic.apply(commands, writing.runtime.deps, writing.now)
    written = iter(await insertion.apply(commands, writing.runtime.deps, writing.now))
    return [next(written) if isinstance(each, Command) else each for each in parsed]


def _address(receipt: WriteReceipt, citizen_id: str | None) -> str:
    """Where what the command wrote is read."""
    noun = "links" if KINDS[receipt.command] in LINK_COMMANDS else "memories"
    whose = "" if citizen_id is None else f"?citizen_id={citizen_id}"
    return f"/v1/{noun}/{receipt.level}/{quote(str(receipt.id), safe='')}{whose}"


def _json(answer: Frozen, status: int, headers: dict[str, str] | None = None) -> Response:
    return Response(answer.model_dump_json(), status, headers, media_type="application/json")
