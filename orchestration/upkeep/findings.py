"""Rows of a page → findings: what all findings share, and memories, each looked at alone. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import orjson
from pydantic import ValidationError

from orchestration.upkeep import text_quality
from orchestration.validation import validate_field_type, validate_node
from schemas.base import DEEPEST, MAX_TEXT
from schemas.commands import Correct, Retract
from schemas.memory import STORED_DEFAULTS, ConsciousnessNode, Level
from schemas.temporal import END_OF_TIME, Instant
from schemas.upkeep import ApplyCommand, Finding, Kind, ReEmbed, Severity
from schemas.validation import ValidationResult
from substrate import stored_maps
from substrate.cypher.upkeep import TEXT_READ
from substrate.store.upkeep import LinkRow, MemoryRow

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "info")
SEVERITY: Final[Mapping[Kind, Severity]] = {
    "link_invalid": "error",
    "memory_invalid": "error",
    "overlap": "error",
    "embedding_missing": "error",
    "embedding_stale": "error",
    "closed_end": "warning",
    "duplicate": "warning",
    "junk": "warning",
    "essay_emotion": "warning",
    "unreadable": "error",
    "unset_default": "info",
}
TIMES: Final = ("valid_at", "invalid_at", "created_at", "expired_at")
_FELT: Final = ("goal", "resolution_state", "felt_quality", "body_sensation")


class Place(NamedTuple):
    """Which graph is being swept, when, and whether it was written with an embedding model."""

    level: Level
    citizen_id: str | None
    now: Instant
    embedded: bool = True


def finding(kind: Kind, place: Place, identity: str, message: str, repair: Any = None) -> Finding:
    """A finding with the severity of its kind."""
    return Finding(
        kind=kind, severity=SEVERITY[kind], level=place.level, id=identity, message=message, repair=repair
    )


def number(value: Any) -> Any:
    """A number that the engine gave as text; anything else as it is."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def unpacked(value: Any) -> Any:
    """A value that is kept as JSON; what is no JSON as it is."""
    if isinstance(value, str):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return value


def is_open(row: MemoryRow) -> bool:
    """Whether the identity carries a record that is part of what is known now."""
    return bool(row.fields["expired_at"] == END_OF_TIME)


def of_memory(row: MemoryRow, place: Place) -> Iterator[Finding]:
    """What is wrong with one memory. A retracted one is history, and left alone."""
    faults = list(_memory_faults(row))
    identity = str(row.fields["id"])
    if faults:
        told = f"{'; '.join(faults)}: no question can find it, or the stream that does breaks"
        yield finding("memory_invalid", place, identity, told, _mended(row, place, faults))
        return
    if not is_open(row):
        return
    rubbish = _junk(row, place)
    if rubbish is not None:
        yield rubbish
    yield from _unreadable(row, place)
    if place.embedded and row.embedding != "Vectorf32":
        task = attempt(ReEmbed, **of_graph(place), id=identity, version=row.fields["version"])
        yield finding("embedding_missing", place, identity, "it has no embedding: likeness never finds it", task)
    yield from _essays_of_memory(row, place)
    never = _never_set(row)
    if never:
        yield finding("unset_default", place, identity, f"{', '.join(never)}: never set, so a default stands in")


def of_graph(place: Place) -> dict[str, Any]:
    """What a task says of its graph."""
    return {"level": place.level, "citizen_id": place.citizen_id}


def attempt[T](make: Callable[..., T], **fields: Any) -> T | None:
    """The repair task; None when what lies in the graph is such that no door would take it."""
    try:
        return make(**fields)
    except ValidationError:
        return None


def applying(kind: type[Retract | Correct], **fields: Any) -> ApplyCommand | None:
    """The task of applying a command; None when no door would take it."""
    command = attempt(kind, **fields)
    return None if command is None else ApplyCommand(command=command)


def revision(place: Place, row: Mapping[str, Any], why: str) -> dict[str, Any]:
    """What a repairing command says of its memory: its graph, what was seen, and an id of its own."""
    seen = {"id": row["id"], "expected_version": row["version"]}
    return {**of_graph(place), **seen, "command_id": text_quality.command_id(why, row["id"], row["version"])}


def deep_maps(row: MemoryRow | LinkRow) -> dict[str, dict[str, Any]]:
    """The maps of a row that no answer can show, as they can be shown."""
    mended = {name: (text, stored_maps.repair_map(text)) for name, text in row.deep.items()}
    return {name: orjson.loads(new) for name, (old, new) in mended.items() if new != old}


def unreadable(place: Place, identity: str, names: Iterable[str], repair: Any) -> Finding:
    """The finding of maps that are nested too deeply."""
    said = f"{', '.join(names)}: nested deeper than {DEEPEST}, so that it is left out of every answer"
    return finding("unreadable", place, identity, said, repair)


def _unreadable(row: MemoryRow, place: Place) -> Iterator[Finding]:
    """A correction that changes nothing else: what a command opens can be shown."""
    found = deep_maps(row)
    if found:
        identity = row.fields["id"]
        yield unreadable(place, identity, found, applying(Correct, **revision(place, row.fields, "unreadable")))


def _memory_faults(row: MemoryRow) -> Iterator[str]:
    fields = row.fields
    yield from (f"{name} is missing" for name in ("id", "name", "node_type") if not isinstance(fields[name], str))
    if not isinstance(fields["version"], int):
        yield "version is missing"
    times = [fields[name] for name in TIMES]
    if not all(isinstance(time, int) for time in times):
        yield "a time is missing or is not a number"
    elif times[0] >= times[1] or times[2] >= times[3]:
        yield "a period ends before it begins"
    for name in ("energy", "confidence"):
        value = number(fields[name])
        if not isinstance(value, (int, float)) or not 0.0 <= value <= 1.0:
            yield f"{name} is missing or outside [0, 1]"
    felt = unpacked(fields["emotion_vector"])
    if felt is not None and not validate_field_type("emotion_vector", felt):
        yield "emotion_vector is no map of numbers in [0, 1]"
    if not row.felt_as_numbers and not any(fields[name] is None for name in STORED_DEFAULTS):
        yield "energy or confidence is stored as text or negative"


def _mended(row: MemoryRow, place: Place, faults: list[str]) -> ApplyCommand | None:
    """003, task 4: energy and confidence count as one half; other faults no command can mend."""
    felt = all(fault.startswith(("energy ", "confidence ")) for fault in faults)
    readable = all(isinstance(number(row.fields[name]), (float, int, type(None))) for name in STORED_DEFAULTS)
    if not felt or not readable or not is_open(row):
        return None
    return applying(Correct, **revision(place, row.fields, "felt"), **STORED_DEFAULTS)


def said(row: MemoryRow) -> text_quality.Said:
    """The texts of a memory."""
    fields = row.fields
    speaker = fields["speaker"] if isinstance(fields["speaker"], str) else None
    return text_quality.Said(fields["name"], fields["description"] or "", speaker, fields["node_type"])


def _junk(row: MemoryRow, place: Place) -> Finding | None:
    fields = row.fields
    linked = row.links_in + row.links_out > 0
    why = text_quality.junk(said(row), linked=linked)
    if why is None:
        return None
    marks = revision(place, fields, "junk")
    if why == text_quality.EMPTY_BESIDE_NAME:
        return finding("junk", place, fields["id"], why, applying(Correct, **marks, description=""))
    return finding("junk", place, fields["id"], why, applying(Retract, **marks))


def _essays_of_memory(row: MemoryRow, place: Place) -> Iterator[Finding]:
    fields = row.fields
    felt = unpacked(fields["emotion_vector"])
    short = text_quality.shortened_emotions(felt)
    if short is None:
        return
    repair = applying(
        Correct,
        **revision(place, fields, "essay"),
        emotion_vector=short.emotions,
        **_kept_beside(fields["felt_quality"], short.essays),
    )
    yield finding("essay_emotion", place, fields["id"], short.message, repair)


def _kept_beside(felt_quality: str | None, essays: tuple[str, ...]) -> dict[str, str]:
    """The essays as felt quality, so that nothing written is lost; not when a page shows only part of it."""
    if felt_quality is not None and len(felt_quality) >= TEXT_READ:
        return {}
    return {"felt_quality": text_quality.joined(felt_quality, essays, MAX_TEXT)}


def _never_set(row: MemoryRow) -> list[str]:
    """The fields that the first command left out and no later one has changed."""
    names = str(row.fields["unset"] or "").split(",")
    standing = {**STORED_DEFAULTS, "emotion_vector": None}
    return [name for name in names if name in standing and number(row.fields[name]) == standing[name]]


def own_quality(row: MemoryRow) -> ValidationResult:
    """003's validation of what a memory carries itself."""
    fields = row.fields
    read = {name: fields[name] for name in _FELT}
    read |= {name: number(fields[name]) for name in STORED_DEFAULTS}
    read["emotion_vector"] = unpacked(fields["emotion_vector"])
    return validate_node(ConsciousnessNode.model_construct(**read))
