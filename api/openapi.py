"""The OpenAPI document, shaped for client generators: one schema for each type, one `Problem`, stable names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from fastapi import FastAPI

from api.problems import RESPONSES, Problem

type Document = dict[str, Any]

_SCHEMAS: Final = "#/components/schemas/"

_RESPONSE_NAMES: Final = {"4XX": "Refused", "5XX": "Unavailable"}

LICENSE: Final = {"name": "Apache-2.0", "identifier": "Apache-2.0"}
CONTACT: Final = {"name": "The Substrate project"}
SERVERS: Final = [{"url": "/", "description": "The service that serves this document"}]
TAGS: Final = [
    {"name": "retrieval", "description": "Ask by a question, by a state, by a signal, or by a walk over tags."},
    {"name": "memories", "description": "Write, read, list, revise and erase memories."},
    {"name": "links", "description": "Write, read, list and revise links between memories."},
    {"name": "commands", "description": "Apply one command of any kind, or a list."},
    {"name": "receipts", "description": "Look up whether a command was applied."},
    {"name": "episodes", "description": "Store and erase whole conversations."},
    {
        "name": "citizens",
        "description": "List them; read and set the state of one; read its identity, what it learned; export it.",
    },
    {"name": "mind", "description": "Begin a cycle, write what was lived, imagine what comes of an action."},
    {"name": "streams", "description": "Read what was asked and shown, and ask it again as of then."},
    {
        "name": "collectives",
        "description": "Graphs of N2 beside the default one: which there are, their export and erasure.",
    },
    {"name": "feed", "description": "Follow what changes in a graph, in the order in which it was applied."},
    {"name": "sharing", "description": "Share a memory up a level, contest one, see how far citizens agree."},
    {"name": "upkeep", "description": "Find faults of a graph and repair them."},
    {"name": "validation", "description": "Check a link before it is written."},
    {"name": "keys", "description": "Make, list and revoke keys."},
    {"name": "health", "description": "Liveness, readiness and metrics of the service."},
]
_INPUT_OR_OUTPUT: Final = re.compile(r"(\w+)-(?:Input|Output)")


class Application(FastAPI):
    def openapi(self) -> Document:
        """The document, built once. Callers must not change it."""
        if self.openapi_schema is None:
            document = super().openapi()
            components = document["components"]
            components["schemas"] = {
                name: schema for name, schema in components["schemas"].items() if not name.endswith("-Output")
            }
            merged: Document = _merge_input_and_output(document)
            _require_discriminators(merged)
            merged["components"]["schemas"]["Problem"] = Problem.model_json_schema()
            merged["components"]["responses"] = {
                name: RESPONSES[status] for status, name in _RESPONSE_NAMES.items()
            }
            _leave_nulls_out(merged)
            for operation in operations(merged):
                operation.setdefault("security", [])
                for status, name in _RESPONSE_NAMES.items():
                    operation["responses"][status] = {"$ref": f"#/components/responses/{name}"}
            self.openapi_schema = merged
        return self.openapi_schema


def operations(document: Document) -> list[Document]:
    return [operation for path in document["paths"].values() for operation in path.values()]


def _merge_input_and_output(value: Any) -> Any:
    """Merge the schemas `X-Input` and `X-Output` into `X`: every response of a type is also a valid request."""
    if isinstance(value, dict):
        return {_INPUT_OR_OUTPUT.sub(r"\1", name): _merge_input_and_output(part) for name, part in value.items()}
    if isinstance(value, list):
        return list(map(_merge_input_and_output, value))
    return _INPUT_OR_OUTPUT.sub(r"\1", value) if isinstance(value, str) and value.startswith("#/") else value


def _require_discriminators(document: Document) -> None:
    """Require the discriminator in each `oneOf`, so that generated clients can tell the kinds apart.

    A schema that is also used alone, where that field is optional, keeps its name there. Its copy within a `oneOf`
    gets a name that ends with `Command`.
    """
    schemas = document["components"]["schemas"]
    choices = [part for part in objects_in(document) if "discriminator" in part]
    in_choices = {id(part) for choice in choices for part in choice["oneOf"]}
    alone = {part["$ref"] for part in objects_in(document) if "$ref" in part and id(part) not in in_choices}
    for choice in choices:
        field, mapping = choice["discriminator"]["propertyName"], choice["discriminator"]["mapping"]
        for value, ref in mapping.items():
            name = ref.removeprefix(_SCHEMAS)
            if ref in alone:
                schemas.setdefault(f"{name}Command", {**schemas[name], "title": f"{name}Command"})
                name = f"{name}Command"
            schemas[name]["required"] = list(dict.fromkeys((field, *schemas[name].get("required", ()))))
            mapping[value] = f"{_SCHEMAS}{name}"
        choice["oneOf"] = [{"$ref": ref} for ref in dict.fromkeys(mapping.values())]


def _leave_nulls_out(document: Document) -> None:
    """A stream leaves out what is null: no field that may be null is required in it or in a part of it."""
    schemas = document["components"]["schemas"]
    reached: set[str] = set()
    waiting = {"ConsciousnessStream", "ReferencedStream"}
    while waiting:
        name = waiting.pop()
        reached.add(name)
        refs = {part["$ref"].removeprefix(_SCHEMAS) for part in objects_in(schemas[name]) if "$ref" in part}
        waiting |= refs - reached
    for schema in (schemas[name] for name in reached if "required" in schemas[name]):
        fields = schema["properties"]
        schema["required"] = [
            name for name in schema["required"] if {"type": "null"} not in fields[name].get("anyOf", ())
        ]


def objects_in(value: Any) -> Iterator[Document]:
    """Every object within the document, outermost first."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects_in(part)
