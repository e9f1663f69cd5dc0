"""A tool, its answer and its JSON schemas, and how its arguments become those of the client.

The schemas are shortened for a model to read: patterns, lengths, titles and references are left out, because
arguments are validated anyway, and these cost tokens.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple, Protocol, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from api.client import AsyncSubstrate
from api.mcp.arguments import Arguments
from schemas.base import CitizenId, Frozen
from schemas.errors import InvalidRequest
from schemas.memory import Source
from schemas.temporal import ALL_KNOWN
from substrate_client._calls import AsOfFields


class Timed(Protocol):
    """Arguments that say as of when, and what was known then."""

    @property
    def as_of_time(self) -> datetime | str | None: ...

    @property
    def known_at(self) -> datetime | str | None: ...


class ToolAnswer[Values: Frozen](NamedTuple):
    """An answer: text for a model, values for a program."""

    text: str
    values: Values


class Tool(NamedTuple):
    """`read_only`: it changes nothing. `destructive`: it ends a belief. `extra`: offered only where chosen."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    answer: type[Frozen]
    call: Callable[[AsyncSubstrate, Any], Awaitable[ToolAnswer[Any]]]
    read_only: bool = True
    destructive: bool = False
    extra: bool = False


def tool(
    title: str, *, read_only: bool = True, destructive: bool = False, extra: bool = False
) -> Callable[[Callable[[AsyncSubstrate, Any], Awaitable[ToolAnswer[Any]]]], Tool]:
    """Make a tool of a function, by its name without `call_`, its docstring, what it takes and what it answers."""

    def make(call: Callable[[AsyncSubstrate, Any], Awaitable[ToolAnswer[Any]]]) -> Tool:
        kinds = inspect.get_annotations(call, eval_str=True)
        name, description = call.__name__.removeprefix("call_"), inspect.getdoc(call) or ""
        [answer] = get_args(kinds["return"])
        return Tool(name, title, description, kinds["given"], answer, call, read_only, destructive, extra)

    return make


def times_of(given: Timed) -> AsOfFields:
    """The times of a question. `as_of_time` alone asks what was true then, as known now."""
    if given.as_of_time is None:
        return {} if given.known_at is None else {"known_at": given.known_at}
    return {"as_of_time": given.as_of_time, "known_at": given.known_at or ALL_KNOWN}


def fields_of(given: Arguments, *left_out: str) -> dict[str, Any]:
    """The arguments that were given, as fields of a command. What is `quoted` has the source `tool`."""
    fields = given.model_dump(exclude_none=True, exclude_unset=True, exclude={*left_out, "quoted"})
    return {**fields, "source": Source.TOOL} if getattr(given, "quoted", False) else fields


class Resource(NamedTuple):
    """A text that a model can read at a `uri` with one name in it, of the citizen that `citizen_of` says."""

    name: str
    uri: str
    description: str
    pattern: re.Pattern[str]
    citizen_of: Callable[[str], str | None]
    read: Callable[[AsyncSubstrate, str], Awaitable[str]]


def argument_schema(kind: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's arguments."""
    schema = _SchemaReader(kind.model_json_schema()).shorten_all()
    return {name: schema[name] for name in ("type", "properties", "required", "additionalProperties")}


def answer_schema(kind: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's answer. No field is required, because clients check faults against it too."""
    schema = _AnswerSchemaReader(kind.model_json_schema(mode="serialization")).shorten_all()
    return {"type": "object", "properties": schema["properties"]}


class _SchemaReader:
    """Shortens a schema of pydantic: drops keywords, resolves references and `null` alternatives."""

    dropped = frozenset(
        "title pattern propertyNames $defs minLength maxLength maxItems maxProperties minimum maximum".split()
    )

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._definitions = schema.get("$defs", {})

    def shorten_all(self) -> dict[str, Any]:
        return self.shorten(self._schema)

    def shorten(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        resolved = self._resolve(schema)
        if "patternProperties" in resolved:
            [resolved["additionalProperties"]] = resolved.pop("patternProperties").values()
        short = {
            name: self._shorten_keyword(name, value)
            for name, value in resolved.items()
            if name not in self.dropped
        }
        if short.get("default", 0) in (None, [], ""):
            del short["default"]
        return short

    def _shorten_keyword(self, name: str, value: Any) -> Any:
        if name == "properties":
            return {key: self.shorten(inner) for key, inner in value.items()}
        if name in ("items", "additionalProperties") and isinstance(value, Mapping):
            return self.shorten(value)
        return value

    def _resolve(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Replace a `$ref` by its definition, and an `anyOf` of one type and null by that type."""
        resolved = dict(schema)
        if "$ref" in resolved:
            definition = dict(self._definitions[resolved.pop("$ref").rpartition("/")[2]])
            definition.pop("description", None)
            resolved = {**definition, **resolved}
        types = [option for option in resolved.get("anyOf", ()) if option.get("type") != "null"]
        if len(types) == 1:
            del resolved["anyOf"]
            resolved = {**self._resolve(types[0]), **resolved}
        return resolved


class _AnswerSchemaReader(_SchemaReader):
    """Also drops descriptions, defaults, formats and choices, which the schema of an answer does not need.

    Of what lies in a list it says the names of the fields alone.
    """

    dropped = _SchemaReader.dropped | {"description", "default", "additionalProperties", "format", "enum"}

    def shorten(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        short = super().shorten(schema)
        items = short.get("items", {})
        if "properties" in items:
            short["items"] = {"type": "object", "properties": {name: {} for name in items["properties"]}}
        return short


CITIZEN: Final = "citizen_id"


class CitizenScope(NamedTuple):
    """The citizen that a server fills in; None: no citizen. With `alone`, its tools refuse every other citizen."""

    citizen_id: str | None = None
    alone: bool = False

    def complete(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, with the citizen filled in. With `alone`, raises InvalidRequest for another one."""
        if self.citizen_id is None:
            return dict(arguments)
        completed = {CITIZEN: self.citizen_id, **arguments}
        if self.alone and completed[CITIZEN] != self.citizen_id:
            raise InvalidRequest(
                f"{CITIZEN}: this server is for {self.citizen_id} alone", remedy=f"Leave {CITIZEN} out."
            )
        return completed

    def narrow(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a tool with `citizen_id` made optional, or removed if `alone`."""
        if self.citizen_id is None:
            return dict(schema)
        properties = {
            name: field for name, field in schema["properties"].items() if name != CITIZEN or not self.alone
        }
        required = [name for name in schema.get("required", ()) if name != CITIZEN]
        return {**schema, "properties": properties, "required": required}


def single_citizen_scope(citizen_id: str, option: str) -> CitizenScope:
    """The scope of a server for this citizen alone. Raises InvalidRequest that names the `option` it came from."""
    try:
        return CitizenScope(TypeAdapter(CitizenId).validate_python(citizen_id), alone=True)
    except ValidationError as error:
        fault = "a citizen id has 1 to 64 letters, digits and _ . -, and begins with a letter or a digit"
        raise InvalidRequest(f"{option}: {fault}") from error
