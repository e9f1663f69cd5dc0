"""A request for each route of an OpenAPI document, made from the document: valid, and aimed at one citizen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from json import dumps
from typing import Any, NamedTuple

import httpx

METHODS = ("get", "put", "post", "delete", "patch")
FIRST_OF = ("anyOf", "oneOf", "allOf")
OF_A_MEMORY = ("id", "memory_id", "source_id", "target_id")
TIME = "2026-01-01T00:00:00Z"
ANYTHING = {"speaker": "Ada", "text": "Hello."}
"""An object whose fields the document leaves open: a message."""


class Operation(NamedTuple):
    """One route of the document."""

    method: str
    path: str
    said: Mapping[str, Any]

    @property
    def needs(self) -> str | None:
        """What it says that its caller needs."""
        need: str | None = self.said.get("x-needs")
        return need

    def __str__(self) -> str:
        return f"{self.method.upper()} {self.path}"


def operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    """All routes of the document."""
    for path, methods in document["paths"].items():
        for method, said in methods.items():
            if method in METHODS:
                yield Operation(method, path, said)


class Aim(NamedTuple):
    """What the requests are aimed at: a citizen or a level; with `collective` that, wherever a route takes one."""

    document: Mapping[str, Any]
    citizen: str
    memory: str
    run: str = "run-000000000000-000000000000"
    collective: str | None = None
    stream: str = "0000000000000"
    """A stream of the citizen, without its name."""
    level: str = "N1"

    def send(self, http: httpx.Client, operation: Operation) -> httpx.Response:
        """The answer to a valid request of the route about citizen and memory; of events the first."""
        method, address, query, sent = self.request(operation)
        with http.stream(method, address, params=query, json=sent) as answer:
            if answer.headers.get("content-type", "").startswith("text/event-stream"):
                return httpx.Response(answer.status_code, content=next(answer.iter_bytes()))
            answer.read()
            return answer

    def names_collective(self, operation: Operation) -> bool:
        """True when its request can name the collective."""
        _, address, query, sent = self.request(operation)
        named = (str(self.collective), "collective", "collectives")
        return named[0] in address.split("/") or not query.keys().isdisjoint(named) or '"collective' in dumps(sent)

    def request(self, operation: Operation) -> tuple[str, str, dict[str, Any], Any]:
        """Method, path, query and body."""
        parameters = [self._resolved(one) for one in operation.said.get("parameters", ())]
        path = {one["name"]: self._value(one["name"], one["schema"]) for one in parameters if one["in"] == "path"}
        query = {
            one["name"]: self._value(one["name"], one["schema"])
            for one in parameters
            if one["in"] == "query" and (one.get("required") or one["name"] in self._whose())
        }
        body = operation.said.get("requestBody")
        sent = None if body is None else self._value("", body["content"]["application/json"]["schema"])
        return operation.method, operation.path.format(**path), query, sent

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        if "$ref" not in schema:
            return schema
        found: Any = self.document
        for step in schema["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        return self._resolved(found)

    def _value(self, name: str, schema: Mapping[str, Any]) -> Any:
        schema = self._resolved(schema)
        aimed: dict[str, Any] = {"citizen_id": self.citizen, "run_id": self.run}
        aimed["level"] = self._level(schema.get("enum", ()))
        aimed["stream_id"] = f"{self.citizen}~{self.stream}"
        aimed |= dict.fromkeys(OF_A_MEMORY, self.memory)
        aimed |= {"collective": self.collective, "collectives": [self.collective]}
        if name == "url":
            return "https://93.184.215.14/hook"
        if name == "used":
            return [self.memory]
        if name in aimed:
            return aimed[name]
        for choice in FIRST_OF if "properties" not in schema else ():
            if choice in schema:
                kinds = [self._resolved(one) for one in schema[choice]]
                return self._value(name, next(one for one in kinds if one.get("type") != "null"))
        for given in ("const", "default"):
            if given in schema:
                return schema[given]
        return schema["enum"][0] if "enum" in schema else self._of_type(name, schema)

    def _whose(self) -> set[str]:
        shared = {"level"} if self.level != "N1" else set()
        return {"citizen_id", *shared} | ({"collective", "collectives"} if self.collective is not None else set())

    def _level(self, allowed: Sequence[str]) -> str:
        """The level aimed at, else the first of those that a route allows."""
        level = self.level if self.collective is None else "N2"
        return level if level in (allowed or (level,)) else allowed[0]

    def _of_type(self, name: str, schema: Mapping[str, Any]) -> Any:
        kind = schema.get("type")
        if kind == "object":
            return self._object(schema)
        if kind == "array":
            return [self._value(name, schema.get("items", {}))]
        if kind in ("number", "integer"):
            return schema.get("minimum", 1 if kind == "integer" else 0.5)
        if kind == "boolean":
            return False
        return schema.get("examples", [TIME if "format" in schema else "NEXT"])[0]

    def _collectives(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._value(name, fields[name]) for name in sorted(fields.keys() & self._whose())}

    def _object(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        fields = schema.get("properties", {})
        if "examples" in schema and "citizen_id" not in fields:
            return dict(schema["examples"][0]) | self._collectives(fields)
        marks = {name for name, said in fields.items() if "const" in said}
        chosen = {*schema.get("required", ()), *marks, *(fields.keys() & self._whose())}
        chosen |= {name for name in schema.get("anyOf", [{}])[0].get("required", ()) if name in fields}
        shown = dict(next(iter(schema.get("examples", ())), {}))
        found = shown | {name: self._value(name, fields[name]) for name in sorted(chosen)}
        return ANYTHING if not fields and schema.get("additionalProperties") is True else found
