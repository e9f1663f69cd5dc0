"""Rows of a page → findings: links, each looked at alone, with how its two ends stand. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from orchestration.upkeep import text_quality
from orchestration.upkeep.findings import (
    TIMES,
    Place,
    attempt,
    deep_maps,
    finding,
    number,
    of_graph,
    unpacked,
    unreadable,
)
from orchestration.validation import validate_consciousness_link
from schemas.base import MAX_TEXT
from schemas.memory import ResolutionState
from schemas.temporal import END_OF_TIME, Instant
from schemas.upkeep import Finding, RetractLink, ReviseLink
from schemas.validation import ValidationResult
from substrate.store.upkeep import End, LinkRow

LINK_DEFAULTS: Final[Mapping[str, Any]] = {
    "energy_transfer_coefficient": 0.5,
    "resolution_state": ResolutionState.IN_PROGRESS,
}
"""What 003 itself says of links that lack these: nothing else may be filled in by a machine."""

_NUMBERS: Final = ("energy", "confidence", "energy_transfer_coefficient")
_JSON: Final = ("emotion_vector", "sensory_details")


def metadata(row: LinkRow) -> dict[str, Any]:
    """The metadata of a link as its writer gave it."""
    read = dict(row.fields)
    for name in _NUMBERS:
        read[name] = number(read[name])
    for name in _JSON:
        read[name] = unpacked(read[name])
    return read


def of_link(row: LinkRow, place: Place) -> tuple[ValidationResult, list[Finding]]:
    """003's validation of a link, and what is wrong with it."""
    read = metadata(row)
    result = validate_consciousness_link(read)
    errors = list(result.errors)
    if not errors and not row.felt_as_numbers:
        errors.append(f"REQUIRED field invalid: one of {', '.join(_NUMBERS)} is stored as text")
        result = result.model_copy(update={"valid": False, "errors": tuple(errors)})
    faults = [name for name in ("id", "relation_type") if not isinstance(read[name], str)]
    errors += [f"{name} is missing" for name in faults]
    times = [read[name] for name in TIMES]
    if not all(isinstance(time, int) for time in times):
        errors.append("a time is missing or is not a number")
    elif times[0] >= times[1] or times[2] >= times[3]:
        errors.append("a period ends before it begins")
    found = []
    if errors:
        found.append(
            finding("link_invalid", place, _name(row), "; ".join(errors), _link_repair(row, place, errors))
        )
    else:
        found += _essays_of_link(row, read["emotion_vector"], place)
    deep = deep_maps(row)
    if deep:
        task = link_task(row, place)
        found.append(unreadable(place, _name(row), deep, attempt(ReviseLink, **task, **deep) if task else None))
    closed = _closed_end(row, place)
    if closed is not None:
        found.append(closed)
    return result, found


def _name(row: LinkRow) -> str:
    return str(row.fields["id"] or f"{row.source.id}|{row.fields['relation_type']}|{row.target.id}")


def link_task(row: LinkRow, place: Place) -> dict[str, Any] | None:
    """What a repair says of its link; None when the link cannot be named so that it is found again."""
    fields = row.fields
    if not isinstance(fields["id"], str) or not isinstance(fields["created_at"], int):
        return None
    if fields["expired_at"] != END_OF_TIME:
        return None
    ends = {"source_id": row.source.id, "target_id": row.target.id}
    return {**of_graph(place), **ends, "id": fields["id"], "seen": fields["created_at"]}


def _link_repair(row: LinkRow, place: Place, errors: list[str]) -> RetractLink | ReviseLink | None:
    """Fill in what 003 has a default for, when nothing else is wrong; otherwise the link can be withdrawn."""
    task = link_task(row, place)
    if task is None:
        return None
    filled = {
        name: value for name, value in LINK_DEFAULTS.items() if any(f": {name}" in error for error in errors)
    }
    if len(filled) == len(errors):
        return attempt(ReviseLink, **task, **filled)
    return attempt(RetractLink, **task)


def _essays_of_link(row: LinkRow, felt: Any, place: Place) -> Iterator[Finding]:
    short = text_quality.shortened_emotions(felt)
    if short is None:
        return
    task = link_task(row, place)
    told = text_quality.joined(row.fields["emotion_description"], short.essays, MAX_TEXT)
    changes = {"emotion_vector": short.emotions, "emotion_description": told}
    repair = attempt(ReviseLink, **task, **changes) if task else None
    yield finding("essay_emotion", place, _name(row), short.message, repair)


def _closed_end(row: LinkRow, place: Place) -> Finding | None:
    """A link that goes on although a memory at one end was retracted: it held no longer than the memory."""
    fields = row.fields
    if fields["expired_at"] != END_OF_TIME:
        return None
    retracted = [(end, until) for end in (row.source, row.target) if (until := held_until(end)) is not None]
    ended = [(end, until) for end, until in retracted if until < _instant(fields["invalid_at"], END_OF_TIME)]
    if not ended:
        return None
    end, until = min(ended, key=lambda pair: pair[1])
    task = link_task(row, place)
    holds = until > _instant(fields["valid_at"], END_OF_TIME)
    repair = attempt(RetractLink, **task, until=until if holds else None) if task else None
    return finding("closed_end", place, _name(row), f"the memory {end.id} at one end was retracted", repair)


def _instant(value: Any, otherwise: Instant) -> Instant:
    return value if isinstance(value, int) else otherwise


def held_until(end: End) -> Instant | None:
    """Until when a retracted memory held: before all time if it never did; None when it was not retracted."""
    if isinstance(end.expired_at, int) and end.expired_at < END_OF_TIME:
        return -END_OF_TIME
    if end.reason is not None and isinstance(end.invalid_at, int) and end.invalid_at < END_OF_TIME:
        return end.invalid_at
    return None
