"""`mem0`: memories exported from mem0, with their history if the file has it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from orchestration.ingestion.formats.command_files import CommandFields, elements, parse_foreign
from orchestration.ingestion.formats.parsed import File, FileSet, ParsedFiles
from orchestration.ingestion.formats.reader import JSON, Format, Reader, is_citizen_id, short_name

FORM: Final = Format(
    "mem0",
    'a list, lines or {"results": [...]} of {"id", "memory", "user_id", "created_at", "metadata", "history"}',
    JSON,
    holds=lambda names: names.has("memory", "id"),
    rank=3,
    of_store=True,
)
_KNOWN: Final = frozenset(("id", "memory", "user_id", "created_at", "updated_at", "categories", "history"))


class _Step(NamedTuple):
    """One change in the history of a memory."""

    event: str
    at: datetime | None
    text: str


def parse(files: FileSet) -> ParsedFiles:
    """Parse mem0's memories. A memory holds from its `created_at`; an UPDATE supersedes and a DELETE retracts it.

    Without a citizen, a memory belongs to its `user_id`. Raises InvalidRequest with the first invalid entry.
    """
    return parse_foreign(files, FORM, _read)


def _read(reader: Reader, file: File, citizen_id: str | None) -> list[CommandFields]:
    commands: list[CommandFields] = []
    for place, entry in reader.entries(file, "results"):
        owner = citizen_id or entry.get("user_id")
        if not isinstance(owner, str) or not is_citizen_id(owner):
            reader.fail(place, f"its user_id {owner!r} cannot name a citizen: name one")
        named = {"citizen_id": owner, "id": reader.name(entry.get("id"), f"{place}, id")}
        commands += [CommandFields(place, {**named, **fields}) for fields in _memory(reader, entry, place)]
    return commands


def _memory(reader: Reader, entry: Mapping[str, Any], place: str) -> list[dict[str, Any]]:
    """Return the fields of a memory's commands, without its citizen and its id."""
    created = reader.moment_of(entry, "created_at", place)
    text = reader.text(entry.get("memory"), f"{place}, memory").strip()
    steps = [_step(reader, step, at) for at, step in elements(reader, entry, "history", place)]
    steps.sort(key=lambda step: (step.at is not None, step.at))
    current = next((step.text for step in steps if step.event == "ADD"), text)
    tags = [reader.name(value, at) for at, value in elements(reader, entry, "categories", place)]
    extra = reader.extra(entry, place, _KNOWN)
    first = {"command": "remember", "valid_at": created, "tags": tags, "extra": extra, **_content(current)}
    commands: list[dict[str, Any]] = [first]
    for step in steps:
        if step.event == "UPDATE":
            commands.append({"command": "supersede", "effective_at": step.at, **_content(step.text)})
            current = step.text
        elif step.event == "DELETE":
            commands.append({"command": "retract", "effective_at": step.at, "reason": "reality_changed"})
    if current != text and not any(step.event == "DELETE" for step in steps):
        updated = reader.moment_of(entry, "updated_at", place)
        commands.append({"command": "supersede", "effective_at": updated, **_content(text)})
    return commands


def _step(reader: Reader, step: Any, place: str) -> _Step:
    if not isinstance(step, dict) or step.get("event") not in ("ADD", "UPDATE", "DELETE"):
        reader.fail(place, "its event is none of ADD, UPDATE, DELETE")
    text = step.get("new_memory") or step.get("old_memory") or ""
    moment = "updated_at" if step.get("updated_at") else "created_at"
    at = reader.moment_of(step, moment, place)
    return _Step(step["event"], at, reader.text(text, f"{place}, new_memory").strip())


def _content(text: str) -> dict[str, str]:
    return {"name": short_name(text), "description": text}
