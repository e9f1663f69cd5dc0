"""What the oracle keeps: a record, a receipt, and what a question may see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from schemas.temporal import END_OF_TIME

NEVER_BEGUN = -END_OF_TIME
MEMORY = ("name", "description", "energy", "confidence", "goal", "resolution_state", "tags")
LINK = ("relation_type", "goal", "mindstate", "energy", "confidence", "resolution_state")
"""The fields of a memory and of a link that are held against the engine."""


@dataclass
class Held:
    """One record. `ends` are the two memories of a link, None for a memory.

    `ended` says why its valid time ends, `closed` why it is believed no longer. `opened_by` and `closed_by` are
    the ids of the commands that did so.
    """

    id: str
    version: int
    content: Mapping[str, Any]
    valid_at: int
    invalid_at: int
    created_at: int
    expired_at: int = END_OF_TIME
    ended: str | None = None
    closed: str | None = None
    ends: tuple[str, str] | None = None
    opened_by: str | None = None
    closed_by: str | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)
    """What the command said with which it began, some changes ago."""


class Told(NamedTuple):
    """What a receipt says. `elsewhere`: that the changed record does not hold now."""

    status: str
    problem: str | None = None
    version: int | None = None
    valid_at: int | None = None
    invalid_at: int | None = None
    created_at: int | None = None
    duplicate: bool = False
    elsewhere: bool = False


def told(record: Held) -> Told:
    """What the receipt of a record says."""
    return Told("stored", None, record.version, record.valid_at, record.invalid_at, record.created_at)


class Window(NamedTuple):
    """What a question may see: `[from, to)` on each axis."""

    valid_from: int
    valid_to: int
    known_from: int
    known_to: int


def moment(valid_at: int, known_at: int) -> Window:
    """What was true at one instant, as known at another."""
    return Window(valid_at, valid_at + 1, known_at, known_at + 1)


def present(now: int) -> Window:
    """What is true now, as it is known."""
    return Window(now, now + 1, END_OF_TIME - 1, END_OF_TIME)


def ever(known_from: int | None, known_to: int | None) -> Window:
    """Every record that was held some time from one instant to another, and what was changed at the first."""
    start = NEVER_BEGUN if known_from is None else known_from - 1
    end = END_OF_TIME + 1 if known_to is None else known_to
    return Window(NEVER_BEGUN, END_OF_TIME + 1, start, end)


def as_known(record: Held, known_to: int) -> Held:
    """The record as it was told before an instant."""
    return record if record.expired_at < known_to else replace(record, expired_at=END_OF_TIME, closed=None)


class Refused(Exception):
    """A command that changes nothing."""
