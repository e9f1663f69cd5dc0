"""The OpenAPI document, as client generators need it: names, one `Problem`, one schema for each type."""

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
SERVERS: Final = [{"url": "/", "description": "The service that gives out this document"}]
TAGS: Final = [
    {"name": "retrieval", "description": "Ask: by an intention, by a state, by a signal, by a walk over tags."},
    {"name": "memories", "description": "Write, read, list, revise and erase memories."},
    {"name": "links", "description": "Write, read, list and revise links between memories."},
    {"name": "commands", "description": "Apply commands of all kinds, one or a list."},
    {"name": "receipts", "description": "Look up whether a command was applied."},
    {"name": "episodes", "description": "Store and erase whole conversations."},
    {"name": "citizens", "description": "The state of a citizen, its identity and what it learned; its export."},
    {"name": "upkeep", "description": "Find faults of a graph and repair them."},
    {"name": "validation", "description": "Check a link before it is written."},
    {"name": "keys", "description": "Make, list and revoke keys."},
    {"name": "health", "description": "Whether the service lives and is ready, and its figures."},
]
_INPUT_OR_OUTPUT: Final = re.compile(r"(\w+)-(?:Input|Output)")


class Application(FastAPI):
    """An application whose document is written for generators."""

    def openapi(self) -> Document:
        """The document, made once. Callers must not change it."""
        if self.openapi_schema is None:
            self.openapi_schema = _finish(super().openapi())
        return self.openapi_schema


def operations(document: Document) -> list[Document]:
    """Every operation of a document."""
    return [operation for path in document["paths"].values() for operation in path.values()]


def _finish(document: Document) -> Document:
    components = document["components"]
    components["schemas"] = {
        name: schema for name, schema in components["schemas"].items() if not name.endswith("-Output")
    }
    whole: Document = _merge_input_and_output(document)
    _require_discriminators(whole)
    whole["components"]["schemas"]["Problem"] = Problem.model_json_schema()
    whole["components"]["responses"] = {name: RESPONSES[status] for status, name in _RESPONSE_NAMES.items()}
    for operation in operations(whole):
        operation.setdefault("security", [])
        for status, name in _RESPONSE_NAMES.items():
            operation["responses"][status] = {"$ref": f"#/components/responses/{name}"}
    return whole


def _merge_input_and_output(value: Any) -> Any:
    """The part of the document with one name for what is sent and told alike: what is told can be sent again."""
    if isinstance(value, dict):
        return {_INPUT_OR_OUTPUT.sub(r"\1", name): _merge_input_and_output(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_merge_input_and_output(part) for part in value]
    return _INPUT_OR_OUTPUT.sub(r"\1", value) if isinstance(value, str) and value.startswith("#/") else value


def _require_discriminators(document: Document) -> None:
    """Require in each choice by a field that the field is given: only then are the kinds apart.

    A kind that is also sent alone, where the field may be left out, keeps its name there; in a choice its name
    ends with `Command`.
    """
    schemas = document["components"]["schemas"]
    choices = [part for part in objects_in(document) if "discriminator" in part]
    chosen = {id(part) for choice in choices for part in choice["oneOf"]}
    alone = {part["$ref"] for part in objects_in(document) if "$ref" in part and id(part) not in chosen}
    for choice in choices:
        field, mapping = choice["discriminator"]["propertyName"], choice["discriminator"]["mapping"]
        for value, ref in mapping.items():
            name = ref.removeprefix(_SCHEMAS)
            if ref in alone:
                schemas.setdefault(f"{name}Command", {**schemas[name], "title": f"{name}Command"})
                name = f"{name}Command"
            schemas[name]["required"] = list(dict.fromkeys((field, *schemas[name].get("required", ()))))
            mapping[value] = f"{_SCHEMAS}{name}"
        choice["oneOf"] = [{"$ref": ref} for ref in mapping.values()]


def objects_in(value: Any) -> Iterator[Document]:
    """Every object of the document."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects_in(part)
