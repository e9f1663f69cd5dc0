"""Decides which records a change of a memory or link closes and opens, and when it is refused. Pure.

A command acts on the stretch of valid time that it names. If it names none, Supersede and Resolve act from their
moment on, to the end of the last record; Correct and Retract act on the whole record that holds at that moment, or
else on the nearest one, and the receipt says so (`note_elsewhere`).

The rule of trust: each record has a source. A tool, ingestion or upkeep cannot overwrite what a citizen or a
system wrote; a source changes only records of sources that do not outweigh it (`MAY_CHANGE`). In its own N1 a
citizen may change every record.

The rule of authors: a record of N2 and N3 keeps its author, whoever changes it. Only its author or a steward
changes it; one without an author is everybody's. Others contest it (`orchestration.features.sharing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, NamedTuple

from orchestration.writing import records
from schemas.commands import (
    ChangeCommand,
    Command,
    Correcting,
    LinkRevision,
    Relate,
    Remember,
    Resolving,
    Retracting,
    Revision,
    StretchCommand,
    Undoing,
    Writer,
)
from schemas.memory import ClosedReason, InvalidationReason, Level, Source
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, Instant, Period
from substrate import bitemporal
from substrate.bitemporal import Change, OpenRecords, Record, RewriteContext
from substrate.store import rows
from substrate.store.changesets import RecordSelection

type Problem = Literal["invalid-request", "not-found", "conflict", "not-trusted", "not-author", "not-applied"]

MAY_CHANGE: Final[Mapping[Source, frozenset[Source]]] = {
    Source.SYSTEM: frozenset(Source),
    Source.CITIZEN: frozenset((Source.CITIZEN, Source.TOOL, Source.INGESTION, Source.UPKEEP)),
    Source.TOOL: frozenset((Source.TOOL, Source.INGESTION, Source.UPKEEP)),
    Source.INGESTION: frozenset((Source.INGESTION, Source.UPKEEP)),
    Source.UPKEEP: frozenset((Source.UPKEEP,)),
}
"""By source of a command: the sources whose records it may supersede, correct, resolve, retract or undo."""


class Refusal(Exception):
    """Why a command changes nothing. `current_version`: the version of the record in conflict, if there is one."""

    def __init__(self, problem: Problem, *faults: str, current_version: int | None = None) -> None:
        super().__init__(*faults)
        self.problem: Problem = problem
        self.faults = faults
        self.current_version = current_version


class Unchanged(Refusal):
    """The resolution holds already."""


class WriteTimes(NamedTuple):
    """When a command is sent (`now`), and its transaction time (`known_from`)."""

    now: Instant
    known_from: Instant


class Attribution(NamedTuple):
    """Who makes a change: the id of the command, its source, and the API key that sent it.

    `known_as_happened`: what it opens was known then, as an import declares.
    """

    command_id: str
    source: Source | None
    key_id: str | None
    known_as_happened: bool | None = None

    @classmethod
    def from_command(cls, command: Command, command_id: str) -> Attribution:
        return cls(command_id, getattr(command, "source", None), command.writer.key_id, command.writer.mark)


def may_change(source: Source, owner: Source, level: Level) -> bool:
    """True when a command of `source` may change a record whose source is `owner` in a graph of this level."""
    is_own_graph = level is Level.N1 and source is Source.CITIZEN
    return is_own_graph or owner in MAY_CHANGE[source]


def outweighs(source: Source, other: Source) -> bool:
    """True when commands of `other` may not change records of `source`."""
    return source not in MAY_CHANGE[other]


def lower_source(source: Source, other: Source) -> Source:
    """The source of the two that weighs less."""
    return other if outweighs(source, other) else source


def may_change_as(writer: Writer, author: str | None, level: Level) -> bool:
    """True when the writer may change a record of this author in a graph of this level."""
    return level is Level.N1 or writer.steward or author is None or author == writer.author


def may_erase_as(writer: Writer, authors: Iterable[str | None], level: Level) -> bool:
    """True when the writer may erase a memory whose records, past ones too, have these authors.

    What has no author is erased by a steward alone: nobody could bring it back.
    """
    return level is Level.N1 or writer.steward or {*authors} == {writer.author} != {None}


def author_fault(record_id: str, author: str | None, writer: Writer) -> str:
    """The error text when the writer may not change a record of this author."""
    whose = f"was written by {author}" if author else "has no author"
    return (
        f"{record_id} {whose}, and only its author or a steward changes it; this is {writer.author or 'neither'}"
    )


def addressed_moment(command: ChangeCommand, now: Instant) -> Instant:
    """The start of the stretch of valid time that the command names, else `now`."""
    start = getattr(command, "valid_from", None) or getattr(command, "effective_at", None)
    return records.instant(start, now)


def acted_stretch(command: ChangeCommand, now: Instant) -> Period:
    """From the addressed moment to the end that the command names, else to the end of time."""
    start = addressed_moment(command, now)
    return Period(start, max(start + 1, records.instant(getattr(command, "valid_to", None), END_OF_TIME)))


def needed_records(command: Command, now: Instant) -> RecordSelection:
    """The records of its memory that must be read to decide the command."""
    if isinstance(command, Remember):
        return RecordSelection(BEGINNING_OF_TIME, every=True)
    if not isinstance(command, ChangeCommand):
        return RecordSelection(END_OF_TIME)
    # After a retraction the identity carries the last open record. It may hold long ago, so all must be read.
    needs_all = _corrects_period(command) or isinstance(command, Retracting)
    since = BEGINNING_OF_TIME if needs_all else addressed_moment(command, now)
    return RecordSelection(since, isinstance(command, Undoing))


def decide(command: ChangeCommand, known: Sequence[Record], last_version: int, times: WriteTimes) -> Change:
    """Return the records that the command closes and opens.

    `known`: the records of its memory or link, at least those of `needed_records`. `last_version`: the highest
    version ever given to one of them. Raises Refusal when the command may not be applied.
    """
    current = check_version(command, known, last_version, times.now)
    try:
        change = _decide(command, known, last_version, times)
    except ValueError as error:
        problem: Problem = "conflict" if isinstance(command, Undoing) else "invalid-request"
        raise Refusal(problem, str(error), current_version=current) from error
    if not change.closed and not change.opened:
        state = getattr(command, "resolution_state", None)
        fault = f"{command.id} is already {state}; nothing changes"
        raise Unchanged("conflict", fault, current_version=current)
    check_trust(command, change.closed or [opened.record for opened in change.opened])
    if isinstance(command, Undoing):
        restored_versions = {opened.from_version for opened in change.opened}
        restored = [record for record in known if record.version in restored_versions]
        check_trust_in_closers(command, restored)
        check_undone_writer(command, change.closed, restored)
    return change


def check_version(command: ChangeCommand, known: Sequence[Record], last_version: int, now: Instant) -> int:
    """The version that holds at the addressed moment; for a retracted identity its last version.

    `known` may be empty although `last_version` is not 0: an atomic list that creates and retracts an identity
    leaves no record of it. Raises Refusal when the identity does not exist, when the command expects another
    version, and when all records are retracted and the command is not an undo.
    """
    if not last_version:
        raise Refusal("not-found", f"there is no {command.subject} {command.id} in {command.level}")
    open_records = bitemporal.open_records(known)
    if open_records:
        current = bitemporal.held_at(open_records, addressed_moment(command, now)).version
    else:
        current = max((record.version for record in known), default=last_version)
    if command.expected_version is not None and command.expected_version != current:
        fault = f"{command.id} has version {current}, not {command.expected_version}"
        raise Refusal("conflict", fault, current_version=current)
    if not open_records and not isinstance(command, Undoing):
        fault = f"{command.id} was retracted; undo the retraction, or remember it again"
        raise Refusal("conflict", fault, current_version=current)
    return current


def note_elsewhere(command: ChangeCommand, record: Record) -> tuple[str, ...]:
    """Says that a command changed a `record` that does not hold now; empty where the command names a time."""
    for name in ("effective_at", "valid_from", "valid_to"):
        if getattr(command, name, None) is not None:
            return ()
    if _corrects_period(command):
        return ()
    advice = "" if isinstance(command, Undoing) else "; name another with valid_from and valid_to"
    return (f"the changed record holds {bitemporal.describe_period(record)}, not now{advice}",)


def check_trust(command: ChangeCommand | Remember | Relate, touched: Sequence[Record]) -> None:
    """Raises Refusal when the writer of the command, or its source, may not change one of the records."""
    for record in touched:
        author = record.content.get("author")
        if not may_change_as(command.writer, author, command.level):
            fault = author_fault(record.id, author, command.writer)
            raise Refusal("not-author", fault, current_version=record.version)
        _check_may_change(command, record_source(record), record)


def check_trust_in_closers(command: ChangeCommand | Remember | Relate, restored: Sequence[Record]) -> None:
    """Raises Refusal when the source of the command may not bring back what another source closed."""
    for record in restored:
        if record.closed_source is not None:
            _check_may_change(command, record.closed_source, record)


def check_undone_writer(command: Undoing, opened: Sequence[Record], closed: Sequence[Record]) -> None:
    """Raises Refusal when the undone change has another source or key than the command expects.

    `opened` and `closed`: the records that the undone change opened and closed.
    """
    writers = {(record.closed_source, record.closed_key) for record in closed}
    if not writers:
        writers = {(record_source(record), record.key_id) for record in opened}
    for source, key_id in writers:
        for actual, expected, relation in (
            (source, command.undoes_source, "of source"),
            (key_id, command.undoes_key, "written with key"),
        ):
            if expected is not None and actual != expected:
                fault = f"the last change of {command.id} is {relation} {actual or 'none'}, not {expected}"
                raise Refusal("conflict", fault)


def record_source(record: Record) -> Source:
    """The source of a record; records from before sources were stored count as written by the citizen."""
    return Source(record.content.get("source", Source.CITIZEN))


def _check_may_change(command: ChangeCommand | Remember | Relate, owner: Source, record: Record) -> None:
    if not may_change(command.source, owner, command.level):
        fault = trust_fault(command.source, owner, command.level)
        raise Refusal("not-trusted", fault, current_version=record.version)


def trust_fault(source: Source, owner: Source, level: Level) -> str:
    """The error text when `source` may not change a record of `owner`; it names the sources that may."""
    allowed = ", ".join(other.value for other in Source if may_change(other, owner, level))
    return f"source {source} may not change a record of source {owner}; allowed: {allowed}"


def _decide(command: ChangeCommand, known: Sequence[Record], last_version: int, times: WriteTimes) -> Change:
    if isinstance(command, Undoing):
        since = command.quarantining.since if command.quarantining else None
        if since is not None:
            change = bitemporal.go_back(known, since, times.known_from, last_version)
        else:
            change = bitemporal.undo(known, command.undoes, times.known_from, last_version)
        if not command.quarantining:
            return change
        return replace(change, closed=tuple(replace(each, closed_reason="quarantined") for each in change.closed))
    open_records = bitemporal.open_records(known)
    closed_as: ClosedReason | None = "quarantined" if command.quarantining else None
    reason: InvalidationReason = "discovered_false" if isinstance(command, Correcting) else "reality_changed"
    if isinstance(command, Retracting):
        reason = command.reason
    context = RewriteContext(times.known_from, last_version, reason, closed_as)
    if isinstance(command, Correcting) and _corrects_period(command):
        record = bitemporal.held_at(open_records, times.now)
        named, valid = command.model_fields_set, record.valid
        valid = Period(
            records.instant(command.valid_at, valid.start) if "valid_at" in named else valid.start,
            records.instant(command.invalid_at, END_OF_TIME) if "invalid_at" in named else valid.end,
        )
        content = _revised_content(command, record)
        return bitemporal.correct_period(open_records, record, context, valid=valid, content=content)
    portion = _portion(command, open_records, times.now)
    return bitemporal.rewrite(
        open_records,
        portion,
        lambda record: None if isinstance(command, Retracting) else _revised_content(command, record),
        context,
    )


def _portion(command: ChangeCommand, open_records: OpenRecords, now: Instant) -> Period:
    """The stretch of valid time that the command acts on. Raises ValueError when no record holds over it."""
    if isinstance(command, StretchCommand) and not (command.valid_from is command.valid_to is None):
        until = records.instant(getattr(command, "valid_to", None), END_OF_TIME)
        return bitemporal.named_portion(open_records, Period(addressed_moment(command, now), until))
    moment = addressed_moment(command, now)
    if isinstance(command, Correcting):
        return bitemporal.held_at(open_records, moment).valid
    if not isinstance(command, Retracting):
        return bitemporal.named_portion(open_records, Period(moment))
    if command.effective_at is None:
        return bitemporal.held_at(open_records, moment).valid
    if moment >= open_records[-1].valid.end:
        raise ValueError("effective_at must lie before the end of the record")
    return Period(moment)


def _corrects_period(command: ChangeCommand) -> bool:
    """True when the command corrects the valid time itself, not a field of the content."""
    return isinstance(command, Correcting) and bool({"valid_at", "invalid_at"} & command.model_fields_set)


def _revised_content(command: ChangeCommand, record: Record) -> Mapping[str, Any]:
    """The content after the command; the same object when a resolution changes nothing.

    Repairs nested maps from before their depth was checked: a record with such a map could not be shown.
    """
    changed = changed_fields(command, record.content)
    if isinstance(command, Resolving) and changed.items() <= record.content.items():
        return record.content
    return rows.repair_maps({**record.content, **changed})


def changed_fields(command: ChangeCommand, content: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that the command changes, in stored form; None clears a field. Empty for a retraction."""
    if isinstance(command, Revision):
        return records.revised_fields(command, content)
    if isinstance(command, LinkRevision):
        return {**records.named_fields(command, content), **records.still_unset(content, command.model_fields_set)}
    if isinstance(command, Resolving):
        given = () if command.inferred else ("resolution_state",)
        return {"resolution_state": command.resolution_state.value, **records.still_unset(content, given)}
    return {}
