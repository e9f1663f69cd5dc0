"""REST: every route of the OpenAPI document."""

from __future__ import annotations

from typing import Any

from scripts.reference import markdown
from scripts.reference.document import openapi
from scripts.reference.markdown import Schema

METHODS = ("get", "put", "post", "patch", "delete")
ABOUT = """\
Made from the OpenAPI document, which a service gives out at `/openapi.json` and, to be tried in a browser, at
`/docs`. Keys, scopes and limits: [security](../security.md). What an error looks like: [errors](../errors.md)."""


def page() -> str:
    """The page: routes by noun, each with what it needs, takes and answers."""
    document = openapi()
    groups: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                said = methods[method]
                groups.setdefault(said["tags"][0], []).append(_route(method, path, said))
    parts = [part for noun, routes in groups.items() for part in (f"## {noun.capitalize()}", *routes)]
    return markdown.page("REST", ABOUT, *parts)


def _route(method: str, path: str, said: Schema) -> str:
    parts = (
        f"### {method.upper()} {path}",
        markdown.paragraphs(said.get("description")),
        f"Needs: {said['x-needs']}.",
        markdown.table(
            ("parameter", "in", "kind", "default", "meaning"), map(_parameter, said.get("parameters", ()))
        ),
        _body(said),
        "Answers: " + "; ".join(f"{status} {_content(one)}" for status, one in _answers(said)) + ".",
    )
    return "\n\n".join(part for part in parts if part)


def _parameter(said: Schema) -> tuple[str, ...]:
    shown = markdown.default(said["schema"], needed=said.get("required", False))
    return (f"`{said['name']}`", said["in"], markdown.kind(said["schema"]), shown, said.get("description", ""))


def _body(said: Schema) -> str:
    if "requestBody" not in said:
        return ""
    schema = said["requestBody"]["content"].get("application/json", {}).get("schema", {})
    inline = markdown.fields(schema)
    return f"Body:\n\n{inline}" if inline else f"Body: {_content(said['requestBody'])}."


def _answers(said: Schema) -> list[tuple[str, Any]]:
    return [(status, one) for status, one in said["responses"].items() if status[0] in "23"]


def _content(said: Schema) -> str:
    for kind, content in said.get("content", {}).items():
        if "schema" in content and kind == "application/json":
            return markdown.kind(content["schema"])
        return f"`{kind}`"
    return said.get("description", "").rstrip(".").lower() or "nothing"
