"""The values of a memory as lines of YAML, and back. Pure.

They are written as JSON, which is YAML, and as plain words where that is the same; they are read as strings, lists
and maps of strings, so that a tag `no` or `1.0` stays what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson
import yaml

_MOST_PLAIN: Final = 100
_PLAIN_WORD: Final = re.compile(r"[^\W\d_][\w-]*(?: [\w-]+)*\Z")
_YAML_WORDS: Final = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
_UNPRINTED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def render_block(values: Mapping[str, Any]) -> str:
    """Lines of YAML, one a value."""
    return "".join(f"{name}: {_render(value)}\n" for name, value in values.items())


def _render(value: Any) -> str:
    if isinstance(value, str):
        if len(value) <= _MOST_PLAIN and _PLAIN_WORD.match(value) and value.lower() not in _YAML_WORDS:
            return value
        text = orjson.dumps(value.encode("utf-8", "replace").decode()).decode()
        return _UNPRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_render, value)) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join([f"{_render(str(key))}: {_render(each)}" for key, each in value.items()]) + "}"
    return orjson.dumps(value).decode()


def parse_block(text: str) -> dict[str, Any]:
    """The values of a block or of front matter, as strings, lists and maps. Raises ValueError.

    It reads the events of the parser itself: a loader follows deep nesting until the process dies, and aliases
    until its memory is full.
    """
    events = yaml.parse(text, Loader=yaml.CBaseLoader)
    try:
        values = _build((event for event in events if not isinstance(event, _FRAME)), _DEEPEST)
    except StopIteration:
        return {}
    except (yaml.YAMLError, UnicodeError) as error:
        raise ValueError(f"is no YAML: {' '.join(str(error).split())[:200]}") from error
    if not isinstance(values, dict):
        raise ValueError("is no list of `name: value`")
    return values


_FRAME: Final = (yaml.StreamStartEvent, yaml.DocumentStartEvent)
_CLOSING: Final = (yaml.SequenceEndEvent, yaml.MappingEndEvent)
_DEEPEST: Final = 3


def _build(events: Iterator[Any], depth: int) -> Any:
    """The next value; None at the end of a list or map. Raises StopIteration where there is none."""
    event = next(events)
    if isinstance(event, yaml.ScalarEvent):
        return event.value
    if isinstance(event, _CLOSING):
        return None
    if isinstance(event, yaml.StreamEndEvent):
        raise StopIteration
    if not isinstance(event, yaml.CollectionStartEvent) or depth == 0:
        raise ValueError("has an alias, or lists in lists: neither is read")
    parts = list(iter(lambda: _build(events, depth - 1), None))
    if isinstance(event, yaml.SequenceStartEvent):
        return parts
    if not all(isinstance(part, str) for part in parts[::2]):
        raise ValueError("has a list where a name belongs")
    return dict(zip(parts[::2], parts[1::2], strict=True))
