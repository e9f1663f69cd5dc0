"""Bodies of revisions: a command's fields without those that the path says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from api.problems import invalid
from api.request_parsing.addresses import LinkPlace, Place
from schemas.commands import Command

_SAID_BY_PATH: Final = ("id", "level", "command")


@dataclass(frozen=True)
class RevisionBody:
    """The mark of a body that revises what the path names: documented here, read later."""

    kind: type[Command]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Take the body as it came."""
        return core_schema.any_schema()

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Document the command without what the path says."""
        whole = handler.resolve_ref_schema(handler(self.kind.__pydantic_core_schema__))
        fields = {name: said for name, said in whole["properties"].items() if name not in _SAID_BY_PATH}
        required = [name for name in whole.get("required", ()) if name not in _SAID_BY_PATH]
        return {**whole, "title": f"{self.kind.__name__}Body", "properties": fields, "required": required}


def of_place(body: Any, place: Place | LinkPlace) -> dict[str, Any]:
    """The raw command: the body's fields for the memory or link in the path. Raises InvalidRequest."""
    if not isinstance(body, dict):
        raise invalid(["body: is not an object"])
    repeated = [f"{name}: is said by the path; leave it out" for name in _SAID_BY_PATH if name in body]
    if repeated:
        raise invalid(repeated)
    return {**body, "id": place[1], "level": place.level}
