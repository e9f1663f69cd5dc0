"""The parts of a command that changes several memories and links at once: a cascade, or the undo of one. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import orjson

from orchestration.writing.cascade import Plan, Step
from orchestration.writing.receipts import command_name
from schemas.commands import (
    CHANGES,
    ChangeCommand,
    Command,
    Consequence,
    Resolving,
    Subject,
    Undoing,
)
from schemas.memory import Level, ResolutionState
from schemas.temporal import END_OF_TIME, Period, to_datetime
from substrate.bitemporal import OpenRecords, Record
from substrate.store.rows import StoredReceipt

PARTS_AT_MOST: Final = 99
"""With the command itself, as many as an atomic list has commands: all are written in one statement."""
_OPEN: Final = frozenset((ResolutionState.BLOCKED.value, ResolutionState.IN_PROGRESS.value))
_COPIED: Final = (
    "level",
    "citizen_id",
    "collective",
    "source",
    "effective_at",
    "valid_to",
    "undoes_source",
    "undoes_key",
)


type Identity = tuple[Subject, str]
"""A memory or a link, by its id."""


class Part(NamedTuple):
    """A part of a command. `step`: the step of the cascade that it is; None for a part of an undo."""

    command: ChangeCommand
    step: Step | None = None


class Together(NamedTuple):
    """The parts of one command. `plan`: of a cascade. `undoes`: the command that all parts take back.

    `seen`: the last commands on the record that the undo names, when the parts were read.
    """

    parts: tuple[Part, ...]
    plan: Plan | None = None
    undoes: str | None = None
    seen: frozenset[str] = frozenset()


def part_id(command_id: str, number: int) -> str:
    """The id under which the receipt of a part is stored; no sender can choose it."""
    return f"{command_id}|{number}"


def cascade_parts(command: Resolving, plan: Plan) -> Together:
    """The commands that do what follows, with the writer, the source and the stretch of the whole command."""
    parts = tuple(
        Part(_copied(command, CHANGES["resolve", s.subject], s.id, resolution_state=s.state), s)
        for s in plan.steps
    )
    return Together(parts, plan)


def undo_parts(command: Undoing, undoes: str, members: Iterable[Identity]) -> tuple[Part, ...]:
    """The undos of all that the command `undoes` changed (`members`), but for what `command` undoes itself."""
    own = (command.subject, command.id)
    others = (member for member in dict.fromkeys(members) if member != own)
    return tuple(Part(_copied(command, CHANGES["undo", subject], each, undoes=undoes)) for subject, each in others)


def _copied(command: ChangeCommand, kind: type[ChangeCommand], record_id: str, **fields: Any) -> ChangeCommand:
    """A command of this kind on another record, with what `command` says of when and by whom."""
    given = {name: getattr(command, name) for name in _COPIED if name in kind.model_fields}
    start = getattr(command, "valid_from", None) or given.get("effective_at")
    if "effective_at" in given:
        given["effective_at"] = start
    return kind(id=record_id, **given, **fields).with_writer(command.writer)


def over_period(command: ChangeCommand, period: Period) -> ChangeCommand:
    """The same resolution over this stretch of valid time."""
    end = None if period.end == END_OF_TIME else to_datetime(period.end)
    times = {"effective_at": None, "valid_from": to_datetime(period.start), "valid_to": end}
    return command.model_copy(update=times)


def open_periods(held: OpenRecords, stretch: Period, state: ResolutionState) -> list[Period]:
    """The parts of the stretch in which a record may get this state, by valid time.

    What is open may be resolved; only what is blocked may go on.
    """
    before = _OPEN if state is ResolutionState.RESOLVED else {ResolutionState.BLOCKED.value}
    periods: list[Period] = []
    for record in held:
        if not record.valid.overlaps(stretch) or record.content.get("resolution_state") not in before:
            continue
        piece = Period(max(record.valid.start, stretch.start), min(record.valid.end, stretch.end))
        if periods and periods[-1].end == piece.start:
            piece = Period(periods.pop().start, piece.end)
        periods.append(piece)
    return periods


def other_author(command: Command, touched: Sequence[Record]) -> str | None:
    """The author of one of the records, if it is another citizen's on a shared level: a cascade leaves it."""
    own = command.writer.author
    if command.level is Level.N1 or own is None:
        return None
    authors = (record.content.get("author") for record in touched)
    return next((str(author) for author in authors if author not in (None, own)), None)


def done(part: Part, record: Record | None) -> Consequence:
    """What a part of a command did; `record` is the last of the memory or link after it."""
    step = part.step
    state = None if record is None else record.content.get("resolution_state")
    return Consequence(
        outcome="done",
        command=command_name(part.command),
        id=part.command.id,
        resolution_state=state if step is None else step.state,
        name=None if step is None else step.name,
        through=None if step is None else step.through,
    )


def done_before(receipt: StoredReceipt) -> Consequence:
    """What a part of a command did, from its receipt: in the place of warnings this has the new state."""
    [state] = orjson.loads(receipt.warnings or '[""]')
    return Consequence(
        outcome="done",
        command=receipt.command,
        id=receipt.id or "",
        resolution_state=ResolutionState(state) if state else None,
    )


def not_done(step: Step, reason: str | None = None) -> Consequence:
    """What could be done, or with a reason what was left."""
    return Consequence(
        outcome="could" if reason is None else "left",
        command=CHANGES["resolve", step.subject].model_fields["command"].default,
        id=step.id,
        resolution_state=step.state,
        name=step.name,
        through=step.through,
        reason=reason,
    )


def still_waiting(plan: Plan) -> list[Consequence]:
    """What could not go on yet, and what it waits for."""
    return [
        not_done(
            Step(each.id, "memory", ResolutionState.IN_PROGRESS, each.name, each.through),
            f"still waits for {', '.join(each.awaited) or 'more than can be read at once'}",
        )
        for each in plan.waiting
    ]


def named_plan(plan: Plan) -> list[Consequence]:
    """All that follows, as it could be done."""
    return [*map(not_done, plan.steps), *still_waiting(plan)]
