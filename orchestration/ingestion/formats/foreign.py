"""What other memories hand out, as commands: the parts that their readers share. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import ValidationError

from orchestration.identifiers import identifier
from orchestration.ingestion.formats.commands import CommandFile
from orchestration.ingestion.formats.parsed import File, Given, Intake
from orchestration.ingestion.formats.reader import Format, Reader, fault, kind
from schemas.commands import ANY_COMMAND, Command
from schemas.memory import Source

type Said = tuple[str, dict[str, Any]]
"""A place in the file, and the fields of the command that it makes."""

FELT: Final = {"energy": 0.5, "confidence": 0.5, "emotion_vector": {}, "mindstate": "imported"}
"""For links, which say how they feel: what another memory did not keep is not made up."""
_NOT_OF_A_TYPE: Final = re.compile(r"[^A-Z0-9]+")


def intake(given: Given, file: File, form: Format, made: tuple[list[Said], Reader]) -> Intake:
    """The commands of one file. Raises InvalidRequest naming the place of the first one that cannot be."""
    said, reader = made
    commands = tuple(_command(form, file, place, fields) for place, fields in said)
    if not commands:
        raise fault(form, file.name, "", "holds nothing to take over")
    return Intake((CommandFile(file.name, given.citizen_id, commands),), reader.notes())


def joined(intakes: list[Intake]) -> Intake:
    """Several files as one intake."""
    return Intake(
        tuple(item for one in intakes for item in one.items), tuple(note for one in intakes for note in one.notes)
    )


def relation(named: str) -> str:
    """The name of a relation in our alphabet: `works at` is `WORKS_AT`."""
    plain = _NOT_OF_A_TYPE.sub("_", named.upper()).strip("_")[:64]
    return plain if plain[:1].isalpha() else "RELATES_TO"


def relate(ends: tuple[str, str, str], goal: str, **fields: Any) -> dict[str, Any]:
    """The fields of a link; one without an id is called by its ends and its type."""
    source, of_type, target = ends
    own = {"command": "relate", "source_id": source, "relation_type": of_type, "target_id": target, "goal": goal}
    return {**own, **FELT, **fields}


def listed(reader: Reader, entry: Mapping[str, Any], name: str, place: str) -> Iterator[tuple[str, Any]]:
    """The elements of a list that may be absent, each with its place."""
    value = entry.get(name)
    if value is None:
        return
    if not isinstance(value, list):
        reader.fail(f"{place}, field {name}".removeprefix(", "), f"is {kind(value)}, not a list")
    for number, element in enumerate(value, start=1):
        yield f"{place}, {name} {number}".removeprefix(", "), element


def shown_name(text: str) -> str:
    """The first line of a text, short enough for a name."""
    line = " ".join(text.split())
    return line if len(line) <= 120 else f"{line[:119]}…"


def _command(form: Format, file: File, place: str, fields: dict[str, Any]) -> Command:
    digest = f"import:{form.name}:{fields['command']}:{fields.get('id') or _ends(fields)}"
    step = fields.get("effective_at")
    whole = {
        "command_id": identifier(f"{digest}:{step.isoformat()}" if step else digest),
        "source": Source.INGESTION,
        **{name: value for name, value in fields.items() if value is not None},
    }
    try:
        return ANY_COMMAND.validate_python(whole)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        at = ".".join(str(part) for part in first["loc"][1:])
        said = first["msg"].removeprefix("Value error, ").rstrip(".")
        raise fault(form, file.name, ", ".join(filter(None, (place, at))), said) from error


def _ends(fields: Mapping[str, Any]) -> str:
    return f"{fields['source_id']}|{fields['relation_type']}|{fields['target_id']}"
