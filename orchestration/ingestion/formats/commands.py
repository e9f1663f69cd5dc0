"""`commands`: JSON lines of commands, fields flat, as `schemas.commands.memories` defines them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

import orjson
from pydantic import ValidationError

from orchestration.ingestion.formats.parsed import File, Given, Intake
from orchestration.ingestion.formats.reader import Format, entries, fault
from schemas.commands import ANY_COMMAND, Command

FORM: Final = Format(
    "commands",
    'lines of {"command": "remember" | "relate" | "supersede" | "correct" | "retract", and its fields}',
)


@dataclass(frozen=True, slots=True)
class CommandFile:
    """Commands as somebody wrote them, in their order."""

    id: str
    citizen_id: str | None
    said: tuple[Command, ...]

    @property
    def command_id(self) -> None:
        """None: each of its commands has an id of its own."""
        return None

    @property
    def size(self) -> int:
        """The number of its commands."""
        return len(self.said)

    def shared(self) -> frozenset[str]:
        """None: what it writes is its own."""
        return frozenset()

    def commands(self) -> Iterator[Command]:
        """The commands."""
        return iter(self.said)


def parse(given: Given) -> Intake:
    """One list of commands a file. A line that names no citizen is the given citizen's.

    A line without `command_id` gets one made from what it says, so that the file can be ingested again.
    Raises InvalidRequest naming the line and the field of the first command that is not valid.
    """
    items, notes = [], []
    for file in given.files:
        said = tuple(_command(file, place, entry, given.citizen_id) for place, entry in _entries(file))
        items.append(CommandFile(file.name, given.citizen_id, said))
        assumed = Counter(note for command in said for note in command.notes)
        notes += [f"{file.name}: {note} ({count:,})" for note, count in assumed.items()]
    return Intake(tuple(items), tuple(notes))


def _entries(file: File) -> Iterator[tuple[str, dict[str, Any]]]:
    return entries(FORM, file, "commands")


def _command(file: File, place: str, entry: dict[str, Any], citizen_id: str | None) -> Command:
    owner = {"citizen_id": citizen_id} if citizen_id is not None and entry.get("level", "N1") == "N1" else {}
    try:
        digest = blake2b(orjson.dumps(entry, option=orjson.OPT_SORT_KEYS), digest_size=10).hexdigest()
        return ANY_COMMAND.validate_python({**owner, "command_id": f"line:{digest}", **entry})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        at = ".".join(str(part) for part in first["loc"][1:])
        raise fault(FORM, file.name, ", ".join(filter(None, (place, at))), _plain(first["msg"])) from error
    except TypeError as error:
        raise fault(FORM, file.name, place, f"cannot be kept ({error})") from error


def _plain(message: str) -> str:
    """Pydantic's words in the form of our own."""
    return message.removeprefix("Value error, ").rstrip(".")
