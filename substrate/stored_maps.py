"""Maps that are kept as they came: how they are read, and mended where no answer could carry them. Pure.

The doors take none that is nested deeper than `DEEPEST`. Stores made before they asked for that hold some.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from schemas.base import DEEPEST, is_deeper

COLUMNS: Final = ("extra", "sensory_details")
WHOLE: Final = "json"
"""The one field of a map that is mended as a whole: what was stored, as a text."""


def read(text: str) -> dict[str, Any]:
    """The map of a stored text. Raises ValueError for what is none, or is nested deeper than an answer can be."""
    value = orjson.loads(text)
    if not isinstance(value, dict):
        raise ValueError("it is no map")
    if may_be_deep(text) and is_deeper(value, DEEPEST):
        raise ValueError(f"it is nested deeper than {DEEPEST} lists and maps")
    return value


def may_be_deep(text: str) -> bool:
    """Whether the text has brackets enough to be nested too deeply; most have not, and need no other look."""
    return text.count("{") + text.count("[") > DEEPEST


def mended(text: str) -> str:
    """The stored text; of one that cannot be shown, each field that is nested too deeply as a text of its JSON."""
    try:
        read(text)
    except ValueError:
        return orjson.dumps(_shown_as_texts(text)).decode()
    return text


def all_mended(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """The content of a record in stored form, its maps mended; the very same where nothing was to mend."""
    suspects = [name for name in COLUMNS if isinstance(content.get(name), str)]
    changed = {name: text for name in suspects if (text := mended(content[name])) != content[name]}
    return {**content, **changed} if changed else content


def _shown_as_texts(text: str) -> dict[str, Any]:
    try:
        fields = orjson.loads(text)
        if not isinstance(fields, dict):
            return {WHOLE: text}
        return {name: _shown(value) for name, value in fields.items()}
    except (ValueError, TypeError):  # no JSON, or deeper than the encoder goes
        return {WHOLE: text}


def _shown(value: Any) -> Any:
    return orjson.dumps(value).decode() if is_deeper(value, DEEPEST - 1) else value
