"""`mem0`: memories as mem0 gives them out, with their history if it is there. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from orchestration.ingestion.formats.foreign import Said, intake, joined, listed, shown_name
from orchestration.ingestion.formats.parsed import File, Given, Intake
from orchestration.ingestion.formats.reader import Format, Reader, entries, is_citizen_id

FORM: Final = Format(
    "mem0",
    'a list, lines or {"results": [...]} of {"id", "memory", "user_id", "created_at", "metadata", "history"}',
)
_KNOWN: Final = frozenset(("id", "memory", "user_id", "created_at", "updated_at", "categories", "history"))


def parse(given: Given) -> Intake:
    """A memory holds from its `created_at`; with a `history`, an UPDATE supersedes and a DELETE retracts it.

    Without a citizen each memory is that of its `user_id`. Raises InvalidRequest naming the first bad entry.
    """
    return joined([intake(given, file, FORM, _read(file, given.citizen_id)) for file in given.files])


def _read(file: File, citizen_id: str | None) -> tuple[list[Said], Reader]:
    reader = Reader(FORM, file.name)
    said: list[Said] = []
    for place, entry in entries(FORM, file, "results"):
        owner = citizen_id or entry.get("user_id")
        if not isinstance(owner, str) or not is_citizen_id(owner):
            reader.fail(place, f"its user_id {owner!r} cannot name a citizen: name one")
        own = {"citizen_id": owner, "id": reader.name(entry.get("id"), f"{place}, id")}
        said += [(at, {**own, **fields}) for at, fields in _memory(reader, entry, place)]
    return said, reader


def _memory(reader: Reader, entry: Mapping[str, Any], place: str) -> list[Said]:
    created = _time(reader, entry, "created_at", place)
    text = reader.text(entry.get("memory"), f"{place}, memory").strip()
    steps = [_step(reader, step, at) for at, step in listed(reader, entry, "history", place)]
    steps.sort(key=lambda step: (step[1] is not None, step[1]))
    first = next((words for event, _, words in steps if event == "ADD"), text)
    tags = [reader.name(value, at) for at, value in listed(reader, entry, "categories", place)]
    extra = reader.extra({name: value for name, value in entry.items() if name not in _KNOWN}, place)
    fields = {"valid_at": created, "tags": tags, "extra": extra, **_content(first)}
    said: list[Said] = [(place, {"command": "remember", **fields})]
    for event, at, words in steps:
        if event == "UPDATE":
            said.append((place, {"command": "supersede", "effective_at": at, **_content(words)}))
            first = words
        elif event == "DELETE":
            said.append((place, {"command": "retract", "effective_at": at, "reason": "reality_changed"}))
    if first != text and not any(event == "DELETE" for event, _, _ in steps):
        at = _time(reader, entry, "updated_at", place)
        said.append((place, {"command": "supersede", "effective_at": at, **_content(text)}))
    return said


def _step(reader: Reader, step: Any, place: str) -> tuple[str, datetime | None, str]:
    """Event, moment and words of one line of a history."""
    if not isinstance(step, dict) or step.get("event") not in ("ADD", "UPDATE", "DELETE"):
        reader.fail(place, "its event is none of ADD, UPDATE, DELETE")
    words = step.get("new_memory") or step.get("old_memory") or ""
    moment = "updated_at" if step.get("updated_at") else "created_at"
    return step["event"], _time(reader, step, moment, place), reader.text(words, f"{place}, new_memory").strip()


def _time(reader: Reader, entry: Mapping[str, Any], name: str, place: str) -> datetime | None:
    value = entry.get(name)
    return None if value is None else reader.moment(value, f"{place}, {name}")


def _content(text: str) -> dict[str, str]:
    return {"name": shown_name(text), "description": text}
