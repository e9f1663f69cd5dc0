"""`commands`: JSON lines of commands, as `schemas.commands.memories` defines them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

import orjson

from orchestration.ingestion.formats.parsed import File, FileSet, ParsedFiles
from orchestration.ingestion.formats.reader import Format, entries, fault, make_command
from schemas.commands import KINDS, Command
from schemas.memory import GraphKey, Level

FORM: Final = Format(
    "commands",
    'lines of {"command": "remember" | "relate" | "supersede" | "correct" | "retract", and its fields}',
)


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
    items, notes = [], []
    for file in files.files:
        commands = tuple(
            _command(file, place, entry, files.citizen_id) for place, entry in entries(FORM, file, "commands")
        )
        items.append(CommandFile(file.name, files.citizen_id, commands))
        assumptions = Counter(note for command in commands for note in command.notes)
        notes += [f"{file.name}: {note} ({count:,})" for note, count in assumptions.items()]
    return ParsedFiles(tuple(items), tuple(notes))


def _command(file: File, place: str, entry: dict[str, Any], citizen_id: str | None) -> Command:
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
        raise fault(FORM, file.name, place, f"cannot be stored ({error})") from error
    return make_command(FORM, file.name, place, {**owner, "command_id": f"line:{digest}", **entry})
