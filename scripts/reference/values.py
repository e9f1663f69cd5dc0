"""The values of requests and answers: every schema of the OpenAPI document."""

from __future__ import annotations

from scripts.reference import markdown
from scripts.reference.document import openapi
from scripts.reference.markdown import Schema

ABOUT = """\
The values that REST and the Python client take and return: JSON objects in REST, frozen values of `schemas` in
Python. A field without a default that is not required is null, or empty, when it is left out. Times are ISO
8601 with an offset; open ends are null. A field that is not listed is refused; a new memory or link keeps it in
`extra`, unless it is nearly the name of a field. "Also `text`" names a short name that means the same field."""


def page() -> str:
    schemas = openapi()["components"]["schemas"]
    return markdown.page("Values", ABOUT, *(_value(name, schemas[name]) for name in sorted(schemas)))


def _value(name: str, schema: Schema) -> str:
    content = markdown.fields(schema) if "properties" in schema else markdown.kind(schema)
    return "\n\n".join(
        part for part in (f"## {name}", markdown.paragraphs(schema.get("description")), content) if part
    )
