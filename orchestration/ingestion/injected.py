"""Blocks that a host puts into a message: memories recalled for the model, which are nobody's words. Pure."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from orchestration.assembly.compact import MEMORY_HEADINGS

_NAME: Final = (
    r"(?:[a-z][\w-]*[_-])?(?:memor(?:y|ies)|recall(?:ed)?|recollections?|system-reminder)(?:[_-][\w-]*)?"
)
_OPENING: Final = re.compile(rf"^[ \t]*<({_NAME})(?:\s[^<>\n]{{0,500}})?>", re.IGNORECASE | re.MULTILINE)
"""The tag that opens a block, at the beginning of a line: `<relevant-memories>`, `<user_memory source="…">`."""
_COMPACT: Final = re.compile(
    rf"^# (?:{'|'.join(map(re.escape, MEMORY_HEADINGS))})\n- \[.*(?:\n(?:- .*|# .*|\s*$))*", re.MULTILINE
)
"""Our own text of a stream: its first heading, and all lines after it that belong to it."""
_FENCE: Final = "```"


class Spoken(NamedTuple):
    """What somebody said, and the blocks that stood in it."""

    text: str
    blocks: tuple[str, ...] = ()


def without_blocks(text: str) -> Spoken:
    """The text without the blocks of a host, outside of code. A tag that is never closed opens none."""
    if "<" not in text and "# " not in text:
        return Spoken(text)
    blocks: list[str] = []
    kept: list[str] = []
    start = fences = looked_at = 0
    lower = text.lower()
    unclosed: set[str] = set()
    for opening in _OPENING.finditer(text):
        name = opening[1].lower()
        fences += text.count(_FENCE, looked_at, opening.start())
        looked_at = opening.start()
        if looked_at < start or name in unclosed or fences % 2:
            continue
        end = lower.find(f"</{name}>", opening.end())
        if end < 0:
            unclosed.add(name)
            continue
        end += len(name) + len("</>")
        kept.append(text[start : opening.start()])
        blocks.append(text[opening.start() : end])
        start = end
    rest = "".join((*kept, text[start:]))
    blocks += [found[0].strip() for found in _COMPACT.finditer(rest)]
    said = _COMPACT.sub("", rest)
    return Spoken(said.strip(), tuple(blocks)) if blocks else Spoken(text)
