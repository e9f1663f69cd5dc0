"""Markdown, and the words for a JSON schema."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

type Schema = Mapping[str, Any]


def paragraph(text: str | None) -> str:
    """The text without the line breaks of its source."""
    return " ".join((text or "").split())


def paragraphs(text: str | None) -> str:
    """The same for a text of several paragraphs."""
    return "\n\n".join(map(paragraph, (text or "").split("\n\n")))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table without the columns that are empty, or nothing when there is no row."""
    columns = [column for column in zip(head, *rows, strict=True) if any(column[1:])]
    if not columns:
        return ""
    lines = zip(*((named, "---", *cells) for named, *cells in columns), strict=True)
    return "\n".join(
        "| " + " | ".join(paragraph(cell).replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def page(title: str, *parts: str) -> str:
    """A page of these parts, those that are empty left out."""
    return "\n\n".join(part for part in (f"# {title}", *parts) if part) + "\n"


def code(value: object) -> str:
    """As code: a text as it is, all else as JSON."""
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def fields(schema: Schema) -> str:
    """The table of an object's fields: name, kind, default, meaning."""
    needed = schema.get("required", ())
    rows = [
        (f"`{name}`", kind(said), default(said, needed=name in needed), said.get("description", ""))
        for name, said in schema.get("properties", {}).items()
    ]
    return table(("field", "kind", "default", "meaning"), rows)


def default(said: Schema, *, needed: bool) -> str:
    """What counts when the field is left out."""
    if needed:
        return "required"
    given = said.get("default")
    return "" if given is None or given in ([], "") else code(given)


def kind(said: Schema) -> str:
    """What a value may be: its type, its range, its choices."""
    if "$ref" in said:
        return linked(said["$ref"].rsplit("/", 1)[-1])
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in said:
            kinds = dict.fromkeys(kind(one) for one in said[choice] if one.get("type") != "null")
            return " or ".join(kinds)
    if "const" in said:
        return code(said["const"])
    if "enum" in said:
        return ", ".join(map(code, said["enum"]))
    return _typed(said)


def linked(name: str) -> str:
    """A value's name, leading to its table."""
    return f"[{name}](values.md#{name.lower()})"


def _typed(said: Schema) -> str:
    match said.get("type"):
        case "array":
            inner = kind(said.get("items", {}))
            return f"list of {inner}{_bounds(said, 'minItems', 'maxItems')}"
        case "object":
            return _mapping(said)
        case "string":
            named = {"date-time": "time", "uri": "address"}.get(said.get("format", ""), "text")
            return f"{named}{_bounds(said, 'minLength', 'maxLength')}"
        case "integer" | "number" as number:
            return f"{number}{_bounds(said, 'minimum', 'maximum')}"
        case "boolean":
            return "true or false"
    return "anything"


def _mapping(said: Schema) -> str:
    inner = next(iter(said.get("patternProperties", {}).values()), said.get("additionalProperties"))
    return f"object of {kind(inner)}" if isinstance(inner, Mapping) and inner else "object"


def _bounds(said: Schema, lowest: str, highest: str) -> str:
    low, high = said.get(lowest), said.get(highest)
    if low is None and high is None:
        return ""
    if high is None:
        return f", {low:g} or more" if low else ""
    return f", {low:g} to {high:,g}" if low is not None else f", up to {high:,g}"
