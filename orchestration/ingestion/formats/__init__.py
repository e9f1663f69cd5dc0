"""The file formats: each is a pure parser from texts to commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import ValidationError

from orchestration.ingestion.formats import commands, graphiti, locomo, markdown, mcp_memory, mem0, messages
from orchestration.ingestion.formats.parsed import File, FileSet, Ingestible, ParsedFiles, Parser
from orchestration.ingestion.formats.reader import invalid_field, is_citizen_id
from schemas.errors import InvalidRequest

__all__ = ["FORMATS", "File", "FileSet", "Ingestible", "ParsedFiles", "Parser", "parse"]

FORMATS: Final[Mapping[str, Parser]] = {
    "messages": messages.parse,
    "locomo": locomo.parse,
    "markdown": markdown.parse,
    "commands": commands.parse,
    "graphiti": graphiti.parse,
    "mem0": mem0.parse,
    "mcp-memory": mcp_memory.parse,
}
"""The parsers by name. A format is never guessed: the caller names it."""


def parse(form: str, files: FileSet) -> ParsedFiles:
    """Parse the files in the format of this name.

    Builds every command once, so that an invalid one is found before the first write. Raises InvalidRequest for an
    unknown format, when there is no file, and for a file in another format; the error is one line with the file,
    the place and the expected shape.
    """
    parser = FORMATS.get(form)
    if parser is None:
        raise InvalidRequest(f"there is no format {form!r}", remedy=f"Choose one of {', '.join(FORMATS)}.")
    if not files.files:
        raise InvalidRequest(f"{files.name} holds no file for the format {form}", remedy="Nothing was stored.")
    if files.citizen_id is not None and not is_citizen_id(files.citizen_id):
        raise InvalidRequest(
            f"{files.citizen_id!r} is no citizen_id",
            remedy="Use letters, digits, '_', '.' and '-', at most 64, beginning with a letter or digit.",
        )
    parsed = parser(files)
    for item in parsed.items:
        _check_commands(item)
    return parsed


def _check_commands(item: Ingestible) -> None:
    try:
        for _ in item.commands():
            pass
    except ValidationError as error:
        field, message = invalid_field(error)
        raise InvalidRequest(f"{item.id}: {field}: {message}", remedy="Nothing was stored.") from error
