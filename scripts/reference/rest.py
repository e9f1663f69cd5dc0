"""REST: every route of the OpenAPI document."""

from __future__ import annotations

from typing import Any

from scripts.reference import markdown
from scripts.reference.document import openapi
from scripts.reference.markdown import Schema

METHODS = ("get", "put", "post", "patch", "delete")
ABOUT = """\
Made from the OpenAPI document, which a service serves at `/openapi.json`; try it in a browser at `/docs`. Keys,
scopes and limits: [security](../security.md). The form of an error: [errors](../troubleshooting.md)."""


def page() -> str:
    document = openapi()
    groups: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                operation = methods[method]
                groups.setdefault(operation["tags"][0], []).append(_route(method, path, operation))
    parts = [part for noun, routes in groups.items() for part in (f"## {noun.capitalize()}", *routes)]
    return markdown.page("REST", ABOUT, *parts)


def _route(method: str, path: str, operation: Schema) -> str:
    parts = (
        f"### {method.upper()} {path}",
        markdown.paragraphs(operation.get("description")),
        f"Needs: {operation['x-needs']}.",
        markdown.table(
            ("parameter", "in", "kind", "default", "meaning"), map(_parameter, operation.get("parameters", ()))
        ),
        _body(operation),
        "Answers: " + "; ".join(f"{status} {_content(answer)}" for status, answer in _answers(operation)) + ".",
    )
    return "\n\n".join(part for part in parts if part)


def _parameter(parameter: Schema) -> tuple[str, ...]:
    shown = markdown.default(parameter["schema"], needed=parameter.get("required", False))
    return (
        f"`{parameter['name']}`",
        parameter["in"],
        markdown.kind(parameter["schema"]),
        shown,
        parameter.get("description", ""),
    )


def _body(operation: Schema) -> str:
    if "requestBody" not in operation:
        return ""
    schema = operation["requestBody"]["content"].get("application/json", {}).get("schema", {})
    inline = markdown.fields(schema)
    return f"Body:\n\n{inline}" if inline else f"Body: {_content(operation['requestBody'])}."


def _answers(operation: Schema) -> list[tuple[str, Any]]:
    return [(status, answer) for status, answer in operation["responses"].items() if status[0] in "23"]


def _content(message: Schema) -> str:
    for kind, content in message.get("content", {}).items():
        if "schema" in content and kind == "application/json":
            return markdown.kind(content["schema"])
        return f"`{kind}`"
    return message.get("description", "").rstrip(".").lower() or "nothing"
