"""What a change of a memory or a link closes and opens, from the records that were seen. Pure.

A command acts on the stretch of valid time that it names. Where it names none, Supersede and Resolve act from
their moment to the end of what is known, Correct and Retract on the whole of the record that holds then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from orchestration.writing import records, trust
from orchestration.writing.receipts import Refusal
from schemas.commands import (
    ChangeCommand,
    Command,
    Correct,
    CorrectLink,
    LinkRevision,
    Relate,
    Remember,
    Resolve,
    ResolveLink,
    Retract,
    Revision,
    Supersede,
    SupersedeLink,
    Undo,
    UndoLink,
    Unrelate,
)
from schemas.memory import InvalidationReason, Source
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, Instant, Period
from substrate import bitemporal, stored_maps
from substrate.bitemporal import Change, Open, Record, Rewriting
from substrate.store.transactions import Wanted

OF_MEMORIES = (Revision, Retract, Resolve, Undo)
UNDOES = (Undo, UndoLink)
CORRECTIONS = (Correct, CorrectLink)
_RETRACTIONS = (Retract, Unrelate)
_RESOLUTIONS = (Resolve, ResolveLink)
_FROM_A_MOMENT: Final = (Supersede, SupersedeLink, *_RESOLUTIONS, *_RETRACTIONS)


class Told(NamedTuple):
    """When a command is carried out: told at `now`, known from `at` on."""

    now: Instant
    at: Instant


class By(NamedTuple):
    """Who changes something: the id of the command, its source, and the key that it came with."""

    command_id: str
    source: Source | None
    key_id: str | None

    @classmethod
    def of(cls, command: Command, command_id: str) -> By:
        """Who sends the command."""
        return cls(command_id, getattr(command, "source", None), command.writer.key_id)


def addressed(command: ChangeCommand, now: Instant) -> Instant:
    """The moment of valid time that a command speaks of: where its stretch begins, else now."""
    from_then = command.effective_at if isinstance(command, _FROM_A_MOMENT) else None
    begins = getattr(command, "valid_from", None)
    return records.instant(begins or from_then, now)


def wanted(command: Command, now: Instant) -> Wanted:
    """Which records of its memory must be known to carry the command out."""
    if isinstance(command, Remember):
        return Wanted(BEGINNING_OF_TIME, every=True)
    if not isinstance(command, ChangeCommand):
        return Wanted(END_OF_TIME)
    moves = isinstance(command, CORRECTIONS) and records.corrects_period(command)
    leaves = isinstance(command, _RETRACTIONS)  # and what is left is carried, however far back it holds
    since = BEGINNING_OF_TIME if moves or leaves else addressed(command, now)
    return Wanted(since, isinstance(command, UNDOES))


def decide(command: ChangeCommand, found: Sequence[Record], last_version: int, told: Told) -> Change:
    """What the command closes and opens. `last_version` is the highest that a record of it ever had.

    `found` are its records, as far as they are `wanted`. Raises Refusal.
    """
    seen = expect(command, found, last_version, told.now)
    try:
        change = _change(command, found, last_version, told)
    except ValueError as error:
        problem: Any = "conflict" if isinstance(command, UNDOES) else "invalid-request"
        raise Refusal(problem, str(error), current_version=seen) from error
    if not change.closed and not change.opened:
        state = getattr(command, "resolution_state", None)
        raise Refusal("conflict", f"{command.id} is {state} already; nothing changes", current_version=seen)
    trust_in(command, change.closed or [one.record for one in change.opened])
    if isinstance(command, (Undo, UndoLink)):
        reverted = [one for one in found if one.version in {back.from_version for back in change.opened}]
        trust_in_closing(command, reverted)
        undoes_whom(command, change.closed, reverted)
    return change


def expect(command: ChangeCommand, found: Sequence[Record], last_version: int, now: Instant) -> int:
    """The version of the record at the moment addressed, or the last one where none is left, which is that which
    the command expects. Raises Refusal. Where the list that withdrew it began it too, nothing of it is `found`.
    """
    if not last_version:
        what = "memory" if isinstance(command, OF_MEMORIES) else "link"
        raise Refusal("not-found", f"there is no {what} {command.id} in {command.level}")
    open_ones = bitemporal.open_records(found)
    last = max((record.version for record in found), default=last_version)
    seen = bitemporal.held_at(open_ones, addressed(command, now)).version if open_ones else last
    if command.expected_version is not None and command.expected_version != seen:
        fault = f"{command.id} has version {seen}, not {command.expected_version}"
        raise Refusal("conflict", fault, current_version=seen)
    if not open_ones and not isinstance(command, UNDOES):
        fault = f"{command.id} was retracted; undo that, or remember it again"
        raise Refusal("conflict", fault, current_version=seen)
    return seen


def trust_in(command: ChangeCommand | Remember | Relate, touched: Sequence[Record]) -> None:
    """Raises Refusal when the command's source may not change one of the records that it touches."""
    for record in touched:
        _trusted(command, came_from(record), record)


def trust_in_closing(command: ChangeCommand | Remember | Relate, brought_back: Sequence[Record]) -> None:
    """Raises Refusal when the command's source may not bring back what another took away."""
    for record in brought_back:
        if record.closed_source is not None:
            _trusted(command, record.closed_source, record)


def undoes_whom(command: Undo | UndoLink, opened: Sequence[Record], closed: Sequence[Record]) -> None:
    """Raises Refusal when the change that opened and closed these is not of the source, or key, that is named."""
    changes = {(one.closed_source, one.closed_key) for one in closed} or {
        (came_from(one), one.key_id) for one in opened
    }
    for source, key_id in changes:
        for was, wanted, what in (
            (source, command.undoes_source, "of source"),
            (key_id, command.undoes_key, "written with key"),
        ):
            if wanted is not None and was != wanted:
                fault = f"the last change of {command.id} is {what} {was or 'none'}, not {wanted}"
                raise Refusal("conflict", fault)


def came_from(record: Record) -> Source:
    """Whose word a record is."""
    return Source(record.content.get("source", Source.CITIZEN))


def _trusted(command: ChangeCommand | Remember | Relate, other: Source, record: Record) -> None:
    if not trust.may_change(command.source, other, command.level):
        fault = trust.fault(command.source, other, command.level)
        raise Refusal("not-trusted", fault, current_version=record.version)


def _change(command: ChangeCommand, found: Sequence[Record], last_version: int, told: Told) -> Change:
    if isinstance(command, (Undo, UndoLink)):
        return bitemporal.undo(found, command.undoes, told.at, last_version)
    open_ones = bitemporal.open_records(found)
    how = Rewriting(told.at, last_version, _reason(command))
    if isinstance(command, CORRECTIONS) and records.corrects_period(command):
        record = bitemporal.held_at(open_ones, told.now)
        valid, content = records.corrected_period(command, record.valid), _revised(command, record)
        return bitemporal.correct_period(open_ones, record, how, valid=valid, content=content)
    portion = _portion(command, open_ones, told.now)
    return bitemporal.rewrite(open_ones, portion, lambda record: _revised_or_none(command, record), how)


def _reason(command: ChangeCommand) -> InvalidationReason:
    if isinstance(command, _RETRACTIONS):
        return command.reason
    return "discovered_false" if isinstance(command, CORRECTIONS) else "reality_changed"


def _portion(command: ChangeCommand, open_ones: Open, now: Instant) -> Period:
    """The stretch of valid time that the command acts on. Raises ValueError."""
    if records.names_portion(command):
        return bitemporal.named_portion(open_ones, records.portion(command, now))
    moment = addressed(command, now)
    if isinstance(command, CORRECTIONS):
        return bitemporal.held_at(open_ones, moment).valid
    if not isinstance(command, _RETRACTIONS):
        return bitemporal.named_portion(open_ones, Period(moment))
    if command.effective_at is None:
        return bitemporal.held_at(open_ones, moment).valid
    if moment >= open_ones[-1].valid.end:
        raise ValueError("effective_at must lie before the end of the record")
    return Period(moment)


def _revised_or_none(command: ChangeCommand, record: Record) -> Mapping[str, Any] | None:
    return None if isinstance(command, _RETRACTIONS) else _revised(command, record)


def _revised(command: ChangeCommand, record: Record) -> Mapping[str, Any]:
    """The content of a record as the command leaves it; the very same where a resolution finds it done.

    What is opened can be shown: a map that was stored before the doors asked how deep it is, is mended.
    """
    changed = changed_fields(command, record.content)
    if isinstance(command, _RESOLUTIONS) and changed.items() <= record.content.items():
        return record.content
    return stored_maps.repair_maps({**record.content, **changed})


def changed_fields(command: ChangeCommand, content: Mapping[str, Any]) -> dict[str, Any]:
    """What the command changes of a content, in stored form; None clears. Nothing for a retraction."""
    if isinstance(command, Revision):
        return records.revised_fields(command, content)
    if isinstance(command, LinkRevision):
        return records.revised_link_fields(command)
    if isinstance(command, _RESOLUTIONS):
        return {"resolution_state": command.resolution_state.value}
    return {}
