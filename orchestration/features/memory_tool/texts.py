"""What the memory tool answers, word for word as documented, and what its edits make of a text. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import unquote

ROOT: Final = "/memories"
LEVELS: Final = 2
MOST_LINES: Final = 999_999
_AROUND: Final = 4
_REFUSED: Final = re.compile(r"[\x00-\x1f\x7f\\]")


class ToolFault(ValueError):
    """What the tool answers in place of a result."""


def check_path(path: str) -> str:
    """The path without a slash at its end. Raises ToolFault for one that does not lie within the directory."""
    cleaned = path.removesuffix("/")
    decoded, before = unquote(cleaned), cleaned
    while decoded != before:
        decoded, before = unquote(decoded), decoded
    steps = decoded.split("/")[1:]
    if not f"{decoded}/".startswith(f"{ROOT}/") or _REFUSED.search(decoded) or {"", ".", ".."} & set(steps):
        raise ToolFault(f"Error: Invalid path {path}. It must lie within {ROOT}")
    return cleaned


def list_directory(path: str, sizes: Mapping[str, int]) -> str:
    """The files and directories below a path, each with its size."""
    totals = {path: 0}
    for name, size in sizes.items():
        steps = name.removeprefix(path).split("/")[1:]
        if name.startswith(f"{path}/") and not any(
            step.startswith(".") or step == "node_modules" for step in steps
        ):
            totals[path] += size
            for depth in range(1, min(len(steps), LEVELS) + 1):
                shown = "/".join((path, *steps[:depth]))
                totals[shown] = totals.get(shown, 0) + size
    lines = [f"{_human(totals[name])}\t{name}" for name in sorted(totals)]
    head = f"Here're the files and directories up to 2 levels deep in {path}"
    return "\n".join((f"{head}, excluding hidden items and node_modules:", *lines))


def _human(size: int) -> str:
    for unit, least in (("M", 1024 * 1024), ("K", 1024)):
        if size >= least:
            return f"{size / least:.1f}{unit}"
    return f"{size}B"


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, first))


def show_file(path: str, text: str, view_range: Sequence[int] | None) -> str:
    """The lines of a file with their numbers. Raises ToolFault for too many lines, and for another range."""
    lines, first = _lines(text), 1
    if len(lines) > MOST_LINES:
        raise ToolFault(f"File {path} exceeds maximum line limit of 999,999 lines.")
    if view_range is not None:
        first, last = view_range
        last = len(lines) if last == -1 else last
        if not 1 <= first <= last <= len(lines):
            raise ToolFault(
                f"Error: Invalid `view_range` parameter: {list(view_range)}. "
                f"It should be within the range of lines of the file: [1, {len(lines)}]"
            )
        lines = lines[first - 1 : last]
    return f"Here's the content of {path} with line numbers:\n{_numbered(lines, first)}"


def replace(path: str, text: str, old: str, new: str) -> tuple[str, str]:
    """The text with `new` in place of `old`, and the answer. Raises ToolFault unless `old` is there once."""
    places = [found.start() for found in re.finditer(re.escape(old), text)] if old else []
    if not places:
        raise ToolFault(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    if len(places) > 1:
        numbers = ", ".join(dict.fromkeys(str(text.count("\n", 0, place) + 1) for place in places))
        raise ToolFault(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {numbers}. "
            "Please ensure it is unique"
        )
    edited = text.replace(old, new)
    at = text.count("\n", 0, places[0])
    first = max(0, at - _AROUND)
    shown = _lines(edited)[first : at + new.count("\n") + _AROUND + 1]
    return edited, f"The memory file has been edited.\n{_numbered(shown, first + 1)}"


def insert(path: str, text: str, line: int, added: str) -> tuple[str, str]:
    """The text with `added` behind this line, and the answer. Raises ToolFault for a line that is not there."""
    lines = _lines(text) if text else []
    if not 0 <= line <= len(lines):
        raise ToolFault(
            f"Error: Invalid `insert_line` parameter: {line}. "
            f"It should be within the range of lines of the file: [0, {len(lines)}]"
        )
    edited = "\n".join((*lines[:line], *_lines(added), *lines[line:]))
    ended = text.endswith("\n") or (line == len(lines) and added.endswith("\n"))
    return edited + "\n" * ended, f"The file {path} has been edited."
