"""The JSON schemas of the tools, as short as a model can read them.

What is checked is checked by the values themselves; their patterns of control characters, their titles and their
references tell a reader nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, TypeAdapter, ValidationError

from schemas.base import CitizenId
from schemas.errors import InvalidRequest

FAULT_SCHEMA: Final = {"required": ["type", "status", "detail"]}
"""What a fault has in the place of an answer; clients check that too against the output schema."""


def argument_schema(kind: type[BaseModel]) -> dict[str, Any]:
    """The schema of what a tool takes."""
    schema = _SchemaReader(kind.model_json_schema()).whole()
    return {name: schema[name] for name in ("type", "properties", "required", "additionalProperties")}


def answer_schema(kind: type[BaseModel]) -> dict[str, Any]:
    """The schema of what a tool answers: that, or a fault. Values that are null are left out of an answer."""
    schema = _AnswerSchemaReader(kind.model_json_schema(mode="serialization")).whole()
    given = {"required": schema["required"]}
    return {"type": "object", "properties": schema["properties"], "anyOf": [given, FAULT_SCHEMA]}


class _SchemaReader:
    """Reads a schema as pydantic writes it: what tells nothing is left out, references and nulls are resolved."""

    unsaid = frozenset({"title", "pattern", "propertyNames", "$defs"})

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._definitions = schema.get("$defs", {})

    def whole(self) -> dict[str, Any]:
        """The schema in short."""
        return self.short(self._schema)

    def short(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """A part of it in short."""
        said = self._resolved(schema)
        if "patternProperties" in said:
            [said["additionalProperties"]] = said.pop("patternProperties").values()
        kept = {name: self._value(name, value) for name, value in said.items() if name not in self.unsaid}
        if kept.get("default", 0) in (None, [], ""):
            del kept["default"]
        return kept

    def _value(self, name: str, value: Any) -> Any:
        if name == "properties":
            return {key: self.short(inner) for key, inner in value.items()}
        if name in ("items", "additionalProperties") and isinstance(value, Mapping):
            return self.short(value)
        return value

    def _resolved(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """With what it refers to, and with the one that is not null of its alternatives."""
        said = dict(schema)
        if "$ref" in said:
            referred = dict(self._definitions[said.pop("$ref").rpartition("/")[2]])
            referred.pop("description", None)
            said = {**referred, **said}
        others = [one for one in said.get("anyOf", ()) if one.get("type") != "null"]
        if len(others) == 1:
            del said["anyOf"]
            said = {**self._resolved(others[0]), **said}
        return said


class _AnswerSchemaReader(_SchemaReader):
    """The same of an answer: without what its values say themselves."""

    unsaid = _SchemaReader.unsaid | {"description", "default", "additionalProperties"}

    def short(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """A part of it in short, with what is never null as required."""
        kept = super().short(schema)
        if "properties" in kept:
            fields = self._resolved(schema)["properties"]
            kept["required"] = [key for key in fields if {"type": "null"} not in fields[key].get("anyOf", ())]
        return kept


CITIZEN: Final = "citizen_id"


class CitizenScope(NamedTuple):
    """The citizen whose memory it is, where it is one's. `alone`: no tool takes another's id."""

    citizen_id: str | None = None
    alone: bool = False

    def asked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call, with the citizen where they leave it out. Raises InvalidRequest for another."""
        if self.citizen_id is None:
            return dict(arguments)
        said = {CITIZEN: self.citizen_id, **arguments}
        if self.alone and said[CITIZEN] != self.citizen_id:
            raise InvalidRequest(
                f"{CITIZEN}: this server is for {self.citizen_id} alone", remedy=f"Leave {CITIZEN} out."
            )
        return said

    def offered(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The schema of a tool's arguments, in which the citizen need not be named."""
        if self.citizen_id is None:
            return dict(schema)
        named = {name: said for name, said in schema["properties"].items() if name != CITIZEN or not self.alone}
        needed = [name for name in schema.get("required", ()) if name != CITIZEN]
        return {**schema, "properties": named, "required": needed}


def single_citizen_scope(citizen_id: str, named: str) -> CitizenScope:
    """The owner of a server for one citizen alone. Raises InvalidRequest, by the name that the caller knows."""
    try:
        return CitizenScope(TypeAdapter(CitizenId).validate_python(citizen_id), alone=True)
    except ValidationError as error:
        fault = "a citizen id has 1 to 64 letters, digits and _ . -, and begins with a letter or a digit"
        raise InvalidRequest(f"{named}: {fault}") from error
