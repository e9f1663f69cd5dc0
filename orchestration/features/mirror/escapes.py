"""How the text of a memory stands in Markdown, so that people can edit it and it comes back exactly. Pure.

A text stands there as it is. Only lines that the file itself needs, or that would swallow what follows, get a
backslash in front; white space at the ends of the text and control characters become references such as `&#13;`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

LINKS_MARK: Final = "<!-- links: shown here, not read back -->"
"""The line between the text of a memory and the list of its links."""
RULE: Final = "---"
"""The line below each memory."""

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_GUARDED: Final = re.compile(
    r"( {0,3})(\\*)(?=## \[|---[ \t]*\Z|`{3}|~{3}|<[!?]|</?(?:script|pre|style|textarea)\b)", re.IGNORECASE
)
"""Lines that mean something to the file, with the backslashes that guard them."""
_ALWAYS: Final = re.compile(r" {0,3}(?:## \[|<[!?]|</?(?:script|pre|style|textarea)\b)", re.IGNORECASE)
_REFERENCE: Final = re.compile(r"&((?:amp;)*)#([0-9]{1,5});")
CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_EDGES: Final = re.compile(r"\A\s|\s\Z")


def guard(text: str) -> str:
    """The text as it stands in a file; `unguard` gives it back exactly."""
    text = _REFERENCE.sub(r"&amp;\1#\2;", text)
    text = CONTROL.sub(_reference, text)
    text = _EDGES.sub(_reference, text)
    lines = text.split("\n")
    open_fence = _open_fence(lines)
    last = max((place for place, line in enumerate(lines) if line.strip()), default=0)
    return "\n".join(
        _guard_line(line, always=place == open_fence or (place == last and line.rstrip() == RULE))
        for place, line in enumerate(lines)
    )


def _reference(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"


def _guard_line(line: str, *, always: bool) -> str:
    """One backslash more, for a line that needs it or that has some already."""
    found = _GUARDED.match(line)
    if found is None or not (always or found[2] or _ALWAYS.match(line)):
        return line
    return f"{found[1]}\\{line[found.end(1) :]}"


def _open_fence(lines: Sequence[str]) -> int | None:
    """The line of a code fence that is never closed: the rest of the file would become code."""
    opened, mark = None, ""
    for place, line in enumerate(lines):
        found = _FENCE.match(line)
        if found is None:
            continue
        if opened is None:
            opened, mark = place, found[1]
        elif found[1].startswith(mark) and line.strip() == found[1]:
            opened = None
    return opened


def unguard(text: str) -> str:
    """The text of which `guard` made this one."""
    lines = []
    for line in text.split("\n"):
        found = _GUARDED.match(line)
        if found is not None and found[2]:
            line = f"{found[1]}{line[found.end(1) + 1 :]}"
        lines.append(line)
    return _REFERENCE.sub(_character, "\n".join(lines))


def _character(found: re.Match[str]) -> str:
    if found[1]:
        return f"&{found[1].removeprefix('amp;')}#{found[2]};"
    return chr(int(found[2]))
