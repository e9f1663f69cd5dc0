"""Formats that can be ingested: each a pure parser, text in, ingestible values out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import ValidationError

from orchestration.ingestion.formats import commands, graphiti, locomo, markdown, mcp_memory, mem0, messages
from orchestration.ingestion.formats.parsed import File, Given, Ingestible, Intake, Parser
from orchestration.ingestion.formats.reader import is_citizen_id
from schemas.errors import InvalidRequest

__all__ = ["FORMATS", "File", "Given", "Ingestible", "Intake", "Parser", "parse"]

FORMATS: Final[Mapping[str, Parser]] = {
    "messages": messages.parse,
    "locomo": locomo.parse,
    "markdown": markdown.parse,
    "commands": commands.parse,
    "graphiti": graphiti.parse,
    "mem0": mem0.parse,
    "mcp-memory": mcp_memory.parse,
}
"""The parsers by the name that the caller gives; a format is never guessed."""


def parse(form: str, given: Given) -> Intake:
    """What the files hold, in the format named.

    Every command has been made once, so that nothing can turn out to be malformed after the first write.
    Raises InvalidRequest for an unknown format, for no file at all, and for a file that is not what the
    format says: one line with the file, the place and the expected shape.
    """
    parser = FORMATS.get(form)
    if parser is None:
        raise InvalidRequest(f"there is no format {form!r}", remedy=f"Choose one of {', '.join(FORMATS)}.")
    if not given.files:
        raise InvalidRequest(f"{given.name} holds no file for the format {form}", remedy="Nothing was stored.")
    if given.citizen_id is not None and not is_citizen_id(given.citizen_id):
        raise InvalidRequest(
            f"{given.citizen_id!r} is no citizen_id",
            remedy="Use letters, digits, '_', '.' and '-', at most 64, beginning with a letter or digit.",
        )
    intake = parser(given)
    for item in intake.items:
        _check(item)
    return intake


def _check(item: Ingestible) -> None:
    try:
        for _ in item.commands():
            pass
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InvalidRequest(
            f"{item.id}: {field}: {first['msg'].removeprefix('Value error, ')}", remedy="Nothing was stored."
        ) from error
