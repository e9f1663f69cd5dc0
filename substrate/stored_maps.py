"""Maps that are stored as they were sent: reading them, and repairing those that no response can contain. Pure.

Requests with maps nested deeper than `DEEPEST` are refused. Stores of older releases may still hold such maps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from schemas.base import DEEPEST, is_deeper

COLUMNS: Final = ("extra", "sensory_details")
WHOLE: Final = "json"
"""The only field of a map that could not be repaired field by field: it has the whole stored text."""


def read(text: str) -> dict[str, Any]:
    """Parse a stored map. Raises ValueError when the text is no map, or nested deeper than a response can be."""
    value = orjson.loads(text)
    if not isinstance(value, dict):
        raise ValueError("it is no map")
    # To count the brackets is a cheap check that excludes most texts.
    if text.count("{") + text.count("[") > DEEPEST and is_deeper(value, DEEPEST):
        raise ValueError(f"it is nested deeper than {DEEPEST} lists and maps")
    return value


def json_text(value: Any) -> str | None:
    """A list or map as JSON; None for an empty one."""
    return orjson.dumps(value).decode() if value else None


def repair_map(text: str) -> str:
    """Return the text of a map that `read` accepts; fields that are nested too deeply become texts of JSON."""
    try:
        read(text)
    except ValueError:
        return orjson.dumps(_flatten(text)).decode()
    return text


def repair_maps(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the content of a record with its maps repaired; the same object when nothing was repaired."""
    names = [name for name in COLUMNS if isinstance(content.get(name), str)]
    changed = {name: text for name in names if (text := repair_map(content[name])) != content[name]}
    return {**content, **changed} if changed else content


def _flatten(text: str) -> dict[str, Any]:
    try:
        fields = orjson.loads(text)
        if not isinstance(fields, dict):
            return {WHOLE: text}
        for name, value in fields.items():
            if is_deeper(value, DEEPEST - 1):
                fields[name] = orjson.dumps(value).decode()
        return fields
    except (ValueError, TypeError):  # no JSON, or deeper than the encoder goes
        return {WHOLE: text}
