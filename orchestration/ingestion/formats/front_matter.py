"""Front matter of a note: the lines between two `---` at its top. Pure.

Not all of YAML: `key: value`, `key: [a, b]` and `key:` with `- a` lines below, which is what notes use.
"""

from __future__ import annotations

import re

_ENTRY = re.compile(r"([A-Za-z_][\w -]*):(?:\s+(.*))?\Z")
_ITEM = re.compile(r"\s*-\s+(.+)\Z")
_COMMENT = re.compile(r"(?<!\s)\s+#\s.*\Z")


def front_matter(text: str) -> tuple[dict[str, list[str]], str, int]:
    """The fields in lower case with their values, the text below, and the number of its first line."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, text, 1
    end = next((n for n, line in enumerate(lines[1:], start=1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        return {}, text, 1
    return _fields(lines[1:end]), "\n".join(lines[end + 1 :]), end + 2


def _fields(lines: list[str]) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    values: list[str] = []
    for line in lines:
        if entry := _ENTRY.match(line):
            values = fields.setdefault(entry[1].strip().lower(), [])
            values += _values(_COMMENT.sub("", entry[2] or ""))
        elif item := _ITEM.match(line):
            values += _values(_COMMENT.sub("", item[1]))
    return fields


def _values(written: str) -> list[str]:
    written = written.strip()
    listed = written.startswith("[") and written.endswith("]")
    parts = written[1:-1].split(",") if listed else [written]
    return [plain for part in parts if (plain := part.strip().strip("\"'").strip())]
