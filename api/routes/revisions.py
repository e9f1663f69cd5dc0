"""The routes that revise a memory or a link: a command's fields in the body, its id and level in the path."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NamedTuple

from fastapi import APIRouter, Body
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from api.problems import invalid_request
from api.request_parsing.addresses import LinkAddress, LinkInPath, MemoryAddress, MemoryInPath
from api.request_parsing.writes import SingleWrite, WriteContext, write_one
from api.security.permissions import requires
from schemas.commands import Command, WriteReceipt
from schemas.operation import COMMANDS

type Address = MemoryAddress | LinkAddress
type Handler = Callable[[Any, Any, WriteContext], Awaitable[WriteReceipt]]

_FIELDS_IN_PATH: Final = ("id", "level", "command")
_ADDRESSES: Final = {"memory": MemoryInPath, "link": LinkInPath}


class RevisionRoute(NamedTuple):
    """One way to revise a record. `action` ends the path, `description` goes into the OpenAPI document."""

    action: str
    kind: type[Command]
    description: str


@dataclass(frozen=True)
class RevisionBody:
    """Marks a body as a command without the fields in the path: documented here, parsed later."""

    kind: type[Command]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.any_schema()

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        command = handler.resolve_ref_schema(handler(self.kind.__pydantic_core_schema__))
        fields = {name: field for name, field in command["properties"].items() if name not in _FIELDS_IN_PATH}
        required = [name for name in command.get("required", ()) if name not in _FIELDS_IN_PATH]
        return {**command, "title": f"{self.kind.__name__}Body", "properties": fields, "required": required}


def add_revision_routes(
    router: APIRouter, noun: Literal["memory", "link"], revisions: Sequence[RevisionRoute]
) -> None:
    """Add a route for each revision, in their order: `POST /{level}/{memory_id or link_id}/{action}`."""
    # Added to `router` itself: a route of an included router has no prefix in metrics, logs and traces.
    for revision in revisions:
        router.add_api_route(
            f"/{{level}}/{{{noun}_id:path}}/{revision.action}",
            requires(COMMANDS)(_handler(noun, revision)),
            methods=["POST"],
            operation_id=f"{revision.action}_{noun}",
            description=revision.description,
        )


def _handler(noun: str, revision: RevisionRoute) -> Handler:
    async def revise(address: Any, body: Any, writing: WriteContext) -> WriteReceipt:
        return await write_one(command_at(address, body), revision.kind, writing)

    # FastAPI reads names and types of parameters at run time, and makes the summary from the function's name.
    revise.__annotations__ = {
        "address": _ADDRESSES[noun],
        "body": Annotated[Any, RevisionBody(revision.kind), Body()],
        "writing": SingleWrite,
        "return": WriteReceipt,
    }
    revise.__name__ = revision.action
    return revise


def command_at(address: Address, body: Any) -> dict[str, Any]:
    """The raw command: the fields of the body, with id and level of the path.

    Raises InvalidRequest for a body that is not an object, or has a field that is in the path.
    """
    if not isinstance(body, dict):
        raise invalid_request(["body: is not an object"])
    repeated = [f"{name}: is in the path already; leave it out" for name in _FIELDS_IN_PATH if name in body]
    if repeated:
        raise invalid_request(repeated)
    level, record_id = address
    return {**body, "id": record_id, "level": level}
