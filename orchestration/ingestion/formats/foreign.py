"""The parts that the parsers for other memory systems share. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from orchestration.identifiers import identifier
from orchestration.ingestion.formats.commands import CommandFile
from orchestration.ingestion.formats.parsed import File, FileSet, ParsedFiles
from orchestration.ingestion.formats.reader import Format, Reader, make_command
from orchestration.ingestion.written_times import type_name
from schemas.base import without_nulls
from schemas.commands import Command
from schemas.memory import Source

GOAL: Final = "keep what was known"
"""The goal of links that have none in the other system."""
NEUTRAL_METADATA: Final = {"energy": 0.5, "confidence": 0.5, "emotion_vector": {}, "mindstate": "imported"}
"""Neutral values for the metadata that every link must have and that the other system does not record."""
_NOT_IN_A_TYPE: Final = re.compile(r"[^A-Z0-9]+")


class CommandFields(NamedTuple):
    """The fields of a command, and their place in the file."""

    place: str
    fields: dict[str, Any]


def parse_foreign(
    files: FileSet, form: Format, read: Callable[[Reader, File, str | None], Sequence[CommandFields]]
) -> ParsedFiles:
    """Build the commands that `read` returns for each file and the given citizen.

    Raises InvalidRequest with the place of the first invalid entry, and for a file without entries.
    """
    items: list[CommandFile] = []
    notes: list[str] = []
    for file in files.files:
        reader = Reader(form, file.name)
        commands = tuple(_command(reader, entry) for entry in read(reader, file, files.citizen_id))
        if not commands:
            reader.fail("", "has no memory or link to import")
        items.append(CommandFile(file.name, files.citizen_id, commands))
        notes += reader.notes()
    return ParsedFiles(tuple(items), tuple(notes))


def require_citizen(reader: Reader, citizen_id: str | None) -> str:
    if citizen_id is None:
        reader.fail("", "has no owner: name a citizen")
    return citizen_id


def relation_type(name: str) -> str:
    """Return the name of a relation as a relation type: `works at` becomes `WORKS_AT`."""
    plain = _NOT_IN_A_TYPE.sub("_", name.upper()).strip("_")[:64]
    return plain if plain[:1].isalpha() else "RELATES_TO"


def relate(source_id: str, type_: str, target_id: str, **fields: Any) -> dict[str, Any]:
    """Return the fields of a link; without an `id` its id is made of its ends and its type."""
    ends = {"source_id": source_id, "relation_type": type_, "target_id": target_id}
    return {"command": "relate", **ends, "goal": GOAL, **NEUTRAL_METADATA, **fields}


def elements(reader: Reader, entry: Mapping[str, Any], name: str, place: str) -> Iterator[tuple[str, Any]]:
    """Yield the elements of a list that may be missing, each with its place."""
    value = entry.get(name)
    if value is None:
        return
    if not isinstance(value, list):
        reader.fail(f"{place}, field {name}".removeprefix(", "), f"is {type_name(value)}, not a list")
    for number, element in enumerate(value, start=1):
        yield f"{place}, {name} {number}".removeprefix(", "), element


def moment_of(reader: Reader, entry: Mapping[str, Any], name: str, place: str) -> datetime | None:
    """Return the time in a field that may be missing."""
    value = entry.get(name)
    return None if value is None else reader.moment(value, f"{place}, {name}")


def short_name(text: str) -> str:
    """Return the text on one line, cut to 120 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 120 else f"{line[:119]}…"


def _command(reader: Reader, entry: CommandFields) -> Command:
    place, fields = entry
    key = f"import:{reader.form.name}:{fields['command']}:{fields.get('id') or _ends(fields)}"
    at = fields.get("effective_at")
    return make_command(
        reader.form,
        reader.file,
        place,
        {
            "command_id": identifier(f"{key}:{at.isoformat()}" if at else key),
            "source": Source.INGESTION,
            **without_nulls(fields),
        },
    )


def _ends(fields: Mapping[str, Any]) -> str:
    return f"{fields['source_id']}|{fields['relation_type']}|{fields['target_id']}"
