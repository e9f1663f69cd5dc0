"""Files that become commands: those of `commands`, and of other memory systems. Pure.

`commands`: JSON lines of commands, as `schemas.commands` defines them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import orjson

from orchestration.identifiers import identifier
from orchestration.ingestion.formats.parsed import File, FileSet, ParsedFiles
from orchestration.ingestion.formats.reader import JSON, Format, Reader, parse_each
from orchestration.ingestion.written_times import type_name
from schemas.base import without_nulls
from schemas.commands import KINDS, Command
from schemas.memory import GraphKey, Level, Source

FORM: Final = Format(
    "commands",
    'lines of {"command": "remember" | "relate" | "supersede" | "correct" | "retract", and its fields}',
    JSON,
    holds=lambda names: names.near("command"),
    rank=1,
    of_store=True,
)
GOAL: Final = "keep what was known"
"""The goal of links that have none in the other system."""
NEUTRAL_METADATA: Final = {"energy": 0.5, "confidence": 0.5, "emotion_vector": {}, "mindstate": "imported"}
"""Neutral values for the metadata that every link must have and that the other system does not record."""
LINK_PARTS: Final = ("source_id", "relation_type", "target_id")
"""What a link without an id is known by."""
_NOT_IN_A_TYPE: Final = re.compile(r"[^A-Z0-9]+")


@dataclass(frozen=True, slots=True)
class CommandFile:
    """Commands in the order of their file.

    `are_rows`: they are new memories, the rows of a table. `known`: ids of those that are stored and stay.
    `command_id` and `graph`: as for an `Ingestible`.
    """

    id: str
    citizen_id: str | None
    entries: tuple[Command, ...]
    are_rows: bool = False
    known: frozenset[str] = frozenset()
    command_id: str | None = None
    graph: GraphKey = Level.N1

    @property
    def size(self) -> int:
        return len(self.entries)

    def shared(self) -> frozenset[str]:
        return self.known

    def commands(self) -> Iterator[Command]:
        return iter(self.entries)


def parse(files: FileSet) -> ParsedFiles:
    """Parse each file to one list of commands. A line without a citizen belongs to the given citizen.

    A line without `command_id` gets one derived from its content, so that the file can be ingested again. Raises
    InvalidRequest with the line and the field of the first invalid command.
    """

    def read(reader: Reader, file: File) -> Iterator[CommandFile]:
        commands: list[Command] = []
        for place, entry in reader.entries(file, "commands"):
            commands.append(_command(reader, place, entry, files.citizen_id))
            reader.counts.update(commands[-1].notes)
        yield CommandFile(file.name, files.citizen_id, tuple(commands))

    return parse_each(files, FORM, read)


def _command(reader: Reader, place: str, entry: dict[str, Any], citizen_id: str | None) -> Command:
    owner: dict[str, Any] = {}
    if entry.get("level", "N1") == "N1" and not entry.get("collective"):
        if entry.get("citizen_id") is not None:
            owner = {"level": "N1"}  # what names a citizen is its own, whatever graph the file is meant for
        elif citizen_id is not None:
            owner = {"citizen_id": citizen_id}
    content = KINDS.get(str(entry.get("command")), Command).under_own_names(entry)
    try:
        digest = blake2b(orjson.dumps(content, option=orjson.OPT_SORT_KEYS), digest_size=10).hexdigest()
    except TypeError as error:
        reader.fail(place, f"cannot be stored ({error})")
    return reader.command(place, {**owner, "command_id": f"line:{digest}", **entry})


class CommandFields(NamedTuple):
    """The fields of a command, and their place in the file."""

    place: str
    fields: dict[str, Any]


def parse_foreign(
    files: FileSet, form: Format, read: Callable[[Reader, File, str | None], Sequence[CommandFields]]
) -> ParsedFiles:
    """Build the commands that `read` returns for each file of another memory system and the given citizen.

    Raises InvalidRequest with the place of the first invalid entry, and for a file without entries.
    """

    def read_one(reader: Reader, file: File) -> Iterator[CommandFile]:
        commands: list[Command] = []
        for place, fields in read(reader, file, files.citizen_id):
            own_id = fields.get("id") or "|".join(fields[part] for part in LINK_PARTS)
            key = f"import:{form.name}:{fields['command']}:{own_id}"
            at = fields.get("effective_at")
            named = {
                "command_id": identifier(f"{key}:{at.isoformat()}" if at else key),
                "source": Source.INGESTION,
            }
            commands.append(reader.command(place, {**named, **without_nulls(fields)}))
        if not commands:
            reader.fail("", "has no memory or link to import")
        yield CommandFile(file.name, files.citizen_id, tuple(commands))

    return parse_each(files, form, read_one)


def relation_type(name: str) -> str:
    """Return the name of a relation as a relation type: `works at` becomes `WORKS_AT`."""
    plain = _NOT_IN_A_TYPE.sub("_", name.upper()).strip("_")[:64]
    return plain if plain[:1].isalpha() else "RELATES_TO"


def relate(source_id: str, type_: str, target_id: str, **fields: Any) -> dict[str, Any]:
    """Return the fields of a link; without an `id` its id is made of its ends and its type."""
    ends = dict(zip(LINK_PARTS, (source_id, type_, target_id), strict=True))
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
