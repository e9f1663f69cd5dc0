"""The values that go in and come out: every schema of the OpenAPI document."""

from __future__ import annotations

from scripts.reference import markdown
from scripts.reference.document import openapi
from scripts.reference.markdown import Schema

ABOUT = """\
What REST and the Python client take and answer: JSON objects there, frozen values of `schemas` here. A field
without a default that is not required is null, or empty, when it is left out. Times are ISO 8601 with an offset;
open ends are null. A field that is not listed is refused; a new memory or link keeps it in `extra`."""


def page() -> str:
    """The page: one table of fields for each value, by name."""
    schemas = openapi()["components"]["schemas"]
    return markdown.page("Values", ABOUT, *(_value(name, schemas[name]) for name in sorted(schemas)))


def _value(name: str, said: Schema) -> str:
    whole = markdown.fields(said) if "properties" in said else markdown.kind(said)
    return "\n\n".join(
        part for part in (f"## {name}", markdown.paragraphs(said.get("description")), whole) if part
    )
