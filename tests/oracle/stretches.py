"""Valid time as the oracle takes it, instant by instant: on which stretch a command acts, and what it makes of it.

Between two neighbouring boundaries nothing changes, so that one instant, the first, stands for all between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from schemas.commands import (
    ChangeCommand,
    Command,
    Correct,
    CorrectLink,
    Resolve,
    ResolveLink,
    Retract,
    Supersede,
    SupersedeLink,
    Unrelate,
)
from schemas.temporal import END_OF_TIME, to_instant
from tests.oracle.held import Held, Refused

type Content = Mapping[str, Any]
type Fate = Callable[[Content], Content | None]
"""What becomes of a content within the stretch: another, itself, or None where it holds no longer."""

SUPERSEDES, CORRECTS = (Supersede, SupersedeLink), (Correct, CorrectLink)
RESOLVES, RETRACTS = (Resolve, ResolveLink), (Retract, Unrelate)


class Stretch(NamedTuple):
    """Valid time from an instant on, until before another."""

    start: int
    end: int


class Piece(NamedTuple):
    """What holds from one boundary to the next, which record held there, and why it ends."""

    stretch: Stretch
    content: Content
    before: Held
    ended: str | None


def said_at(command: Command, name: str) -> int | None:
    """A time that the command names."""
    moment = getattr(command, name, None)
    return None if moment is None else to_instant(moment)


def sayable(fields: Mapping[str, Any]) -> bool:
    """Whether a change may name these times together."""
    verb: str = fields["command"].removesuffix("_link")
    effective, start, end = (fields.get(name) for name in ("effective_at", "valid_from", "valid_to"))
    begins = start or effective
    period = [fields[name] for name in ("valid_at", "invalid_at") if fields.get(name) is not None]
    return not (
        (effective and start)
        or (verb == "correct" and effective)
        or (verb != "correct" and {"valid_at", "invalid_at"} & fields.keys())
        or (end and begins and end <= begins)
        or ({"valid_at", "invalid_at"} & fields.keys() and (start or end))
        or (len(period) == 2 and period[1] <= period[0])
    )


def holding(held: Sequence[Held], instant: int) -> Held | None:
    """What holds at an instant."""
    return next((one for one in held if one.valid_at <= instant < one.invalid_at), None)


def addressed(held: Sequence[Held], instant: int) -> Held:
    """What holds at an instant; else what began last before it, else what comes first."""
    begun = [one for one in held if one.valid_at <= instant]
    nearest = max(begun, key=lambda one: one.valid_at) if begun else min(held, key=lambda one: one.valid_at)
    return holding(held, instant) or nearest


def spoken_of(command: ChangeCommand, now: int) -> int:
    """The moment at which a command looks for the version that its sender saw."""
    named = (said_at(command, "valid_from"), said_at(command, "effective_at"))
    return next((instant for instant in named if instant is not None), now)


def acted_on(command: ChangeCommand, held: Sequence[Held], now: int) -> Stretch:
    """The stretch on which a command acts. Raises Refused for one that is empty or of which nothing is known."""
    effective, start, end = (said_at(command, name) for name in ("effective_at", "valid_from", "valid_to"))
    last = max(one.invalid_at for one in held)
    if isinstance(command, (*CORRECTS, *RETRACTS)) and effective is start is end is None:
        whole = addressed(held, now)
        return Stretch(whole.valid_at, whole.invalid_at)
    if isinstance(command, RETRACTS) and effective is not None and end is None:
        if effective >= last:
            raise Refused("invalid-request")
        return Stretch(effective, last)
    stretch = Stretch(spoken_of(command, now), last if end is None else end)
    if stretch.end <= stretch.start or holding(held, stretch.start) is None:
        raise Refused("invalid-request")
    boundaries = [one.invalid_at for one in held if stretch.start < one.invalid_at < stretch.end]
    if end is not None and not all(holding(held, instant) for instant in boundaries):
        raise Refused("invalid-request")
    return stretch


def touched(held: Sequence[Held], stretch: Stretch, fate: Fate) -> list[Held]:
    """What holds at an instant of the stretch and is changed by it."""
    return [
        one
        for one in held
        if max(one.valid_at, stretch.start) < min(one.invalid_at, stretch.end)
        and fate(one.content) is not one.content
    ]


def pieces(changing: Sequence[Held], stretch: Stretch, fate: Fate, reason: str) -> list[Piece]:
    """What holds after the change in place of the records that it touches, by valid time."""
    points = {instant for one in changing for instant in (one.valid_at, one.invalid_at)}
    made: list[Piece] = []
    for start, end in pairwise(sorted(points | {*stretch})):
        before = holding(changing, start)
        if before is None:
            continue
        content = fate(before.content) if stretch.start <= start < stretch.end else before.content
        if content is not None:
            ended = before.ended if end == before.invalid_at else reason
            made.append(Piece(Stretch(start, end), content, before, ended))
    return made


def corrected(command: Command, held: Sequence[Held], now: int) -> tuple[Held, Stretch] | None:
    """The record whose valid time itself is corrected, and the new one; None when a command says none."""
    given = command.model_fields_set & {"valid_at", "invalid_at"}
    if not isinstance(command, CORRECTS) or not given:
        return None
    whole = addressed(held, now)
    start, end = said_at(command, "valid_at"), said_at(command, "invalid_at")
    opened = END_OF_TIME if end is None else end
    stretch = Stretch(
        whole.valid_at if start is None else start, opened if "invalid_at" in given else whole.invalid_at
    )
    clash = [
        one
        for one in held
        if one is not whole and max(one.valid_at, stretch.start) < min(one.invalid_at, stretch.end)
    ]
    if stretch.end <= stretch.start or clash:
        raise Refused("invalid-request")
    return whole, stretch
