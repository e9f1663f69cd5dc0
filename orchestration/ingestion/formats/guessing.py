"""Guesses the format of a file: by what it holds, and only where that says nothing by its name. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from orchestration.ingestion.formats import whatsapp
from orchestration.ingestion.formats.cut_json import Name, names_in
from orchestration.ingestion.formats.parsed import File

_LOOKED_AT: Final = 4096
_FIRST_LINES: Final = 20
_ENVELOPE: Final = re.compile(r"From \S+ .*\d{4}")
_HEADER: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*:[ \t]|[ \t]+\S")
_MAIL_NAMES: Final = frozenset(("date", "subject", "message-id", "received", "to"))
_PAGE: Final = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?>(?><!--.*?-->\s*)*)<(?:!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_BY_ENDING: Final = {
    ".md": "markdown", ".markdown": "markdown", ".csv": "csv", ".tsv": "csv", ".txt": "text", ".text": "text",
}  # fmt: skip

type _Names = frozenset[Name]


def guess(file: File) -> str | None:
    """Return the name of the format of a file, or None when nothing tells it."""
    if file.raw.startswith(b"%PDF-"):
        return "pdf"
    start = file.text.lstrip()[:1]
    if not start:
        return None
    if start in "[{":
        names = names_in(file.text)
        form = next((form for form, holds in _BY_NAMES if holds(names)), None)
        if form is not None:
            return form
    by_ending = _BY_ENDING.get("".join(file.name.lower().rpartition(".")[1:]))
    return next((form for form, holds in _BY_TEXT if holds(file.text[:_LOOKED_AT])), by_ending)


def _has(names: _Names, *wanted: str) -> bool:
    known = {name.name for name in names}
    return all(name in known for name in wanted)


def _near(names: _Names, *wanted: str) -> bool:
    """True when one of the names stands near the top: in the document, or in the items of its list."""
    return any(name.name in wanted and name.depth <= 2 for name in names)


def _is_messages(names: _Names) -> bool:
    known = {name.name for name in names if name.depth <= 3}
    return bool(known & {"role", "speaker"}) and bool(known & {"content", "text"})


def _is_telegram(names: _Names) -> bool:
    return (
        _near(names, "messages", "chats")
        and _has(names, "date", "text")
        and (_has(names, "from_id") or _has(names, "text_entities") or _has(names, "date_unixtime"))
    )


_BY_NAMES: Final[tuple[tuple[str, Callable[[_Names], bool]], ...]] = (
    ("chatgpt", lambda names: _near(names, "mapping") and _has(names, "message", "parent")),
    ("claude", lambda names: _near(names, "chat_messages")),
    ("telegram", _is_telegram),
    ("locomo", lambda names: _near(names, "conversation") and _has(names, "session_1")),
    ("commands", lambda names: _near(names, "command")),
    ("mcp-memory", lambda names: _near(names, "entityType", "relationType")),
    ("graphiti", lambda names: _near(names, "nodes") and _near(names, "edges")),
    ("mem0", lambda names: _has(names, "memory", "id")),
    ("messages", _is_messages),
)


def _is_mail(text: str) -> bool:
    """True for header lines, of which one is From and another of a mail, up to the first empty line."""
    lines = text.replace("\r\n", "\n").lstrip().split("\n")
    if _ENVELOPE.match(lines[0]):
        return True
    head = lines[: lines.index("")] if "" in lines else lines
    if not all(map(_HEADER.match, head[:_FIRST_LINES])):
        return False
    names = {line.partition(":")[0].lower() for line in head}
    return "from" in names and bool(names & _MAIL_NAMES)


def _is_whatsapp(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip()]
    return any(map(whatsapp.is_message, lines[:5]))


_BY_TEXT: Final[tuple[tuple[str, Callable[[str], bool]], ...]] = (
    ("whatsapp", _is_whatsapp),
    ("email", _is_mail),
    ("html", lambda text: _PAGE.match(text) is not None),
)
