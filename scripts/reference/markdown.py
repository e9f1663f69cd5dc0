"""Markdown parts, and descriptions of a JSON schema."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

type Schema = Mapping[str, Any]


def paragraph(text: str | None) -> str:
    """The text on one line."""
    return " ".join((text or "").split())


def paragraphs(text: str | None) -> str:
    """The text with each paragraph on one line."""
    return "\n\n".join(map(paragraph, (text or "").split("\n\n")))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table without its empty columns; an empty text when there are no rows."""
    columns = [column for column in zip(head, *rows, strict=True) if any(column[1:])]
    if not columns:
        return ""
    lines = zip(*((heading, "---", *cells) for heading, *cells in columns), strict=True)
    return "\n".join(
        "| " + " | ".join(paragraph(cell).replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def page(title: str, *parts: str) -> str:
    """A page of these parts without the empty ones."""
    return "\n\n".join(part for part in (f"# {title}", *parts) if part) + "\n"


def code(value: object) -> str:
    """The value in backticks: a text as it is, anything else as JSON."""
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def fields(schema: Schema) -> str:
    needed = schema.get("required", ())
    rows = [
        (f"`{name}`", kind(field), default(field, needed=name in needed), field.get("description", ""))
        for name, field in schema.get("properties", {}).items()
    ]
    return table(("field", "kind", "default", "meaning"), rows)


def default(schema: Schema, *, needed: bool) -> str:
    """The value of a field that is left out, "required", or an empty text."""
    if needed:
        return "required"
    given = schema.get("default")
    return "" if given is None or given in ([], "") else code(given)


def kind(schema: Schema) -> str:
    """The type of a value, with its range or its choices."""
    if "$ref" in schema:
        return linked(schema["$ref"].rsplit("/", 1)[-1])
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            kinds = dict.fromkeys(kind(option) for option in schema[choice] if option.get("type") != "null")
            return " or ".join(kinds)
    if "const" in schema:
        return code(schema["const"])
    if "enum" in schema:
        return ", ".join(map(code, schema["enum"]))
    return _typed(schema)


def linked(name: str) -> str:
    """A link from the name of a value to its table."""
    return f"[{name}](values.md#{name.lower()})"


def _typed(schema: Schema) -> str:
    match schema.get("type"):
        case "array":
            inner = kind(schema.get("items", {}))
            return f"list of {inner}{_bounds(schema, 'minItems', 'maxItems')}"
        case "object":
            return _mapping(schema)
        case "string":
            named = {"date-time": "time", "uri": "address"}.get(schema.get("format", ""), "text")
            return f"{named}{_bounds(schema, 'minLength', 'maxLength')}"
        case "integer" | "number" as number:
            return f"{number}{_bounds(schema, 'minimum', 'maximum')}"
        case "boolean":
            return "true or false"
    return "anything"


def _mapping(schema: Schema) -> str:
    inner = next(iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties"))
    return f"object of {kind(inner)}" if isinstance(inner, Mapping) and inner else "object"


def _bounds(schema: Schema, lowest: str, highest: str) -> str:
    low, high = schema.get(lowest), schema.get(highest)
    if low is None and high is None:
        return ""
    if high is None:
        return f", {low:g} or more" if low else ""
    return f", {low:g} to {high:,g}" if low is not None else f", up to {high:,g}"
