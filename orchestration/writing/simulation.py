"""Simulates the commands of a list in order: each acts on the records that the earlier ones left. Pure.

A cascade, and the undo of one, changes several memories and links at once: it is applied whole, or refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from orchestration.appraisal.appraise import Appraisal
from orchestration.identifiers import link_name
from orchestration.writing import appraised_rows, changes, command_rows, receipts, records, restatements
from orchestration.writing.cascade import (
    Identity,
    Part,
    Plan,
    Together,
    done,
    not_done,
    open_periods,
    other_author,
    over_period,
    part_id,
    still_waiting,
    undo_parts,
)
from orchestration.writing.changes import Attribution, Refusal, Unchanged, WriteTimes
from orchestration.writing.command_rows import NamedCommand
from orchestration.writing.version_chain import VersionChain
from schemas.commands import (
    ChangeCommand,
    Command,
    Consequence,
    Correcting,
    Relate,
    Remember,
    Retracting,
    Subject,
    Undoing,
    WriteReceipt,
)
from schemas.temporal import END_OF_TIME, Instant, Period
from substrate import bitemporal
from substrate.bitemporal import Record, is_open
from substrate.store.changesets import ExpectedState, RecordSelection, StoredRecords
from substrate.store.rows import RowOutcome, StoredReceipt


class PlannedWrite(NamedTuple):
    """A command that will be applied, with the row of its receipt. A `duplicate` only repeats a stored record.

    `part_rows`: the receipts of its parts. `follows` and `further` as in the receipt.
    """

    receipt_row: Mapping[str, Any]
    duplicate: bool = False
    part_rows: tuple[Mapping[str, Any], ...] = ()
    follows: tuple[Consequence, ...] = ()
    further: int = 0


NO_APPRAISALS: Final[Mapping[str, Appraisal]] = {}

type Outcome = PlannedWrite | WriteReceipt


class StoredParts(NamedTuple):
    """The stored records and receipts that a list of commands names.

    `memories` and `links` are by id, `receipts` by command id. `repeated`: by command id, the stored memory whose
    text that command repeats.
    """

    memories: Mapping[str, StoredRecords]
    links: Mapping[str, StoredRecords]
    receipts: Mapping[str, StoredReceipt]
    repeated: Mapping[str, Record]

    def by_subject(self, subject: Subject) -> Mapping[str, StoredRecords]:
        return self.links if subject == "link" else self.memories

    @property
    def last_change(self) -> Instant:
        """The latest change of any of these memories and links; -1 when nothing is stored."""
        moments = [-1]
        for stored in (*self.memories.values(), *self.links.values()):
            moments += [stored.touched, *(record.last_known for record in stored.records)]
        return max(moments)


_CARRIED_ONLY: Final = RecordSelection(END_OF_TIME)


def needed_memories(
    named: Sequence[NamedCommand], repeated: Iterable[Record], now: Instant
) -> dict[str, RecordSelection]:
    """By memory id, the records that must be read to simulate the commands."""
    needed: dict[str, RecordSelection] = {}

    def need(memory_id: str, selection: RecordSelection) -> None:
        before = needed.get(memory_id, selection)
        needed[memory_id] = RecordSelection(min(before.since, selection.since), before.every or selection.every)

    for command, command_id in named:
        record_id = command_rows.identity(command, command_id)
        if isinstance(command, Relate):
            need(command.source_id, _CARRIED_ONLY)
            need(command.target_id, _CARRIED_ONLY)
        elif record_id is not None and command.subject == "memory":
            need(record_id, changes.needed_records(command, now))
    for record in repeated:
        need(record.id, RecordSelection(now))
    return needed


def needed_links(named: Sequence[NamedCommand]) -> list[str]:
    """The ids of the links that the commands write to, each once, in order."""
    link_ids = {command_rows.identity(*command) for command in named if command.command.subject == "link"}
    return sorted(filter(None, link_ids))


class Simulation:
    """The records as the simulated commands leave them. All commands have the same `times`.

    `receipt_rows`: the receipts to store, one for each command id. `appraisals`: what the texts of the commands
    say, by command id.
    """

    def __init__(
        self, stored: StoredParts, times: WriteTimes, appraisals: Mapping[str, Appraisal] = NO_APPRAISALS
    ) -> None:
        self.times = times
        self._appraisals = appraisals
        self._stored = stored
        self.receipt_rows: list[Mapping[str, Any]] = []
        self._planned: dict[str, PlannedWrite] = {}
        self._members: dict[str, list[Identity]] = {}
        self._chains: dict[Subject, dict[str, VersionChain]] = {"memory": {}, "link": {}}

    @property
    def chains(self) -> list[VersionChain]:
        """The chains of all memories and links that a command read or changed."""
        return [*self._chains["memory"].values(), *self._chains["link"].values()]

    def simulate(self, named: NamedCommand, together: Together | None = None) -> Outcome:
        """Apply the next command to the simulated records. A refusal is a receipt.

        `together`: the parts of a command that changes several memories and links. If such a command is refused,
        the simulated records are of no use any more.
        """
        command, command_id = named
        try:
            if command_id in self._stored.receipts:
                return receipts.repeat_receipt(command, self._stored.receipts[command_id])
            if command_id in self._planned:
                planned = self._planned[command_id]
                if planned.receipt_row["fingerprint"] != records.fingerprint(command):
                    raise Refusal("conflict", receipts.OTHER_CONTENT)
                return planned._replace(duplicate=True)
            outcome = self._simulate_whole(named, together)
        except Refusal as refusal:
            return named.refuse(refusal)
        if isinstance(outcome, PlannedWrite):
            self._planned[command_id] = outcome
            self.receipt_rows += [outcome.receipt_row, *outcome.part_rows]
        return outcome

    def _simulate_whole(self, named: NamedCommand, together: Together | None) -> Outcome:
        together = together or self._undone_here(named.command)
        if together is None:
            return self._simulate(named)
        if together.undoes is not None:
            return self._undo_together(named, together)
        return self._resolve_together(named, together)

    def _undone_here(self, command: Command) -> Together | None:
        """The parts of an undo that takes back a command of the same list; None when that had no parts."""
        if not isinstance(command, Undoing):
            return None
        by = self._chain(command.subject, command.id).states[-1].by
        undoes = command.undoes or (None if by is None else by.command_id)
        members = self._members.get(undoes or "", [])
        if undoes is None or (command.subject, command.id) not in members:
            return None
        return Together(undo_parts(command, undoes, members), undoes=undoes)

    def _resolve_together(self, named: NamedCommand, together: Together) -> PlannedWrite:
        """Resolve something, and do what follows: a part that is refused is left as it is.

        Raises Refusal when the command itself is refused; also when it changes nothing and nothing follows.
        """
        unchanged: Unchanged | None = None
        try:
            planned = self._simulate(named)
        except Unchanged as refusal:
            unchanged, planned = refusal, self._plan_unchanged(named)
        assert isinstance(planned, PlannedWrite)
        plan = together.plan or Plan()
        tried = [(part, self._try_part(named, part)) for part in together.parts]
        follows = [consequence for _, consequence in tried if consequence is not None]
        changed = [
            part for part, consequence in tried if consequence is not None and consequence.outcome == "done"
        ]
        if unchanged is not None and not changed:
            reasons = (f"{left.id}: {left.reason}" for left in (*follows, *still_waiting(plan)))
            raise Refusal("conflict", *unchanged.faults, *reasons, current_version=unchanged.current_version)
        return self._with_parts(named, planned, changed)._replace(
            follows=(*follows, *still_waiting(plan)), further=plan.further
        )

    def _plan_unchanged(self, named: NamedCommand) -> PlannedWrite:
        """A plan with the record that holds, which the command leaves as it is."""
        command = named.command
        assert isinstance(command, ChangeCommand)
        chain = self._chain(command.subject, command.id)
        moment = changes.addressed_moment(command, self.times.now)
        return self._plan(named, bitemporal.held_at(chain.open_records(), moment))

    def _try_part(self, named: NamedCommand, part: Part) -> Consequence | None:
        """What a part of a cascade did, or why it was left; None when there is nothing left to do."""
        command, step = part
        assert step is not None
        chain = self._chain(step.subject, step.id)
        stretch = changes.acted_stretch(command, self.times.now)
        touched = [record for record in chain.open_records() if record.valid.overlaps(stretch)]
        author = other_author(command, touched)
        if author is not None:
            return not_done(step, f"it was written by {author}")
        before = len(chain.states)
        periods = open_periods(touched, stretch, step.state)
        try:
            for period in periods:
                chain.change(over_period(command, period), named.command_id, self.times)
        except Refusal as refusal:
            del chain.states[before:]
            return not_done(step, "; ".join(refusal.faults))
        return done(part, chain.carried) if periods else None

    def _undo_together(self, named: NamedCommand, together: Together) -> PlannedWrite:
        """Take back a command with all its parts. Raises Refusal when one of them cannot be taken back."""
        command, undoes = named.command, together.undoes or ""
        assert isinstance(command, Undoing)
        own = self._chain(command.subject, command.id)
        is_own = own.was_changed_by(undoes)
        planned = self._simulate(named) if is_own else self._plan_unchanged(named)
        assert isinstance(planned, PlannedWrite)
        changed: list[Part] = []
        for part in together.parts:
            chain = self._chain(part.command.subject, part.command.id)
            if not chain.was_changed_by(undoes):
                continue
            try:
                chain.change(part.command, named.command_id, self.times)
            except Refusal as refusal:
                faults = (f"{part.command.id}: {fault}" for fault in refusal.faults)
                whole = f"{undoes} is undone as a whole"
                raise Refusal(
                    refusal.problem, *faults, whole, current_version=refusal.current_version
                ) from refusal
            changed.append(part)
        follows = (done(part, self._chain(part.command.subject, part.command.id).carried) for part in changed)
        return self._with_parts(named, planned, changed)._replace(follows=tuple(follows))

    def _with_parts(self, named: NamedCommand, planned: PlannedWrite, changed: Sequence[Part]) -> PlannedWrite:
        """The plan with a receipt for each part, so that the whole can be found from each of them."""
        members = [(named.command.subject, named.record_id or "")]
        rows = []
        for number, part in enumerate(changed, start=1):
            record = self._chain(part.command.subject, part.command.id).carried
            members.append((part.command.subject, part.command.id))
            if record is not None:
                receipt = plan_at(
                    NamedCommand(part.command, part_id(named.command_id, number)), record, self.times.known_from
                )
                state = record.content.get("resolution_state")
                rows.append({**receipt.receipt_row, "warnings": receipts.warnings_json((str(state or ""),))})
        if changed:
            self._members[named.command_id] = members
        return planned._replace(part_rows=tuple(rows))

    def _simulate(self, named: NamedCommand) -> Outcome:
        command = named.command
        if isinstance(command, (Remember, Relate)):
            return self._add(named, command)
        if isinstance(command, ChangeCommand):
            chain = self._chain(command.subject, command.id)
            appraisal = self._appraisals.get(named.command_id)
            return self._plan(named, chain.change(command, named.command_id, self.times, appraisal))
        raise Refusal("invalid-request", f"an atomic list cannot contain {receipts.command_name(command)}")

    def _add(self, named: NamedCommand, command: Remember | Relate) -> Outcome:
        command_rows.check_end_ahead(command, self.times.now)
        row = command_rows.new_row(command, named.command_id, self.times.now)
        appraisal = self._appraisals.get(named.command_id)
        if isinstance(command, Remember) and appraisal is not None:
            row = appraised_rows.fill_row(row, command, appraisal)
        if isinstance(command, Relate) and command.inferred:
            ends = (self._chain("memory", each).carried for each in (command.source_id, command.target_id))
            row = command_rows.inherit(row, [end.content for end in ends if end is not None])
        valid = Period(row["valid_at"], row["invalid_at"])
        chain = self._chain(command.subject, row["id"])
        outcome = self._row_outcome(chain, command, valid, row["fingerprint"])
        if outcome.new:
            repeated = self._still_repeated(self._stored.repeated.get(named.command_id))
            if isinstance(command, Remember) and repeated is not None:
                return self._recognise(named, command, repeated)
            if chain.carried is not None:  # a retracted identity is written again
                changes.check_trust(command, [chain.carried])
                changes.check_trust_in_closers(command, [chain.carried])
            return self._plan(named, chain.begin(row, named.command_id, self.times.known_from))
        receipt = command_rows.build_receipt(command, row, outcome)
        first = chain.begun_by(row["fingerprint"], valid)
        if receipt.status == "stored" and command.command_id is not None and first is not None:
            return plan_at(named, first, first.known.start, duplicate=True)
        return receipt

    def _plan(self, named: NamedCommand, record: Record) -> PlannedWrite:
        command, texts = named.command, tuple[str, ...]()
        holds_now = record.valid.start <= self.times.now < record.valid.end
        if isinstance(command, (Correcting, Retracting, Undoing)) and not holds_now:
            texts = changes.note_elsewhere(command, record)
        return plan_at(named, record, self.times.known_from, texts=texts)

    def _row_outcome(
        self, chain: VersionChain, command: Remember | Relate, valid: Period, fingerprint: int
    ) -> RowOutcome:
        """The outcome that `store.writer` would report for a new memory or link over its valid time."""
        has_source = has_target = True
        if isinstance(command, Relate):
            has_source, has_target = self._is_known(command.source_id), self._is_known(command.target_id)
        overlapping = [record for record in chain.open_records() if record.valid.overlaps(valid)]
        if command.valid_at is None and chain.all_begin_later(overlapping, valid.start):
            overlapping = []  # records that begin later cannot be an earlier sending of one that begins now
        first = chain.begun_by(fingerprint, valid) if overlapping else None
        shown = (first or chain.carried or overlapping[-1]) if overlapping else None
        return RowOutcome(
            id=chain.id,
            new=shown is None and has_source and has_target,
            at=0,
            fingerprint=fingerprint if first else None,
            version=1 if shown is None else shown.version,
            valid_at=None if shown is None else shown.valid.start,
            invalid_at=None if shown is None else shown.valid.end,
            created_at=None if shown is None else shown.known.start,
            expired_at=END_OF_TIME,
            has_source=has_source,
            has_target=has_target,
        )

    def _still_repeated(self, record: Record | None) -> Record | None:
        """The open record with the same content and valid time after the commands so far; None without one."""
        if record is None:
            return None
        for candidate in self._chain("memory", record.id).open_records():
            if candidate.valid == record.valid and restatements.same_content(candidate, record):
                return candidate
        return None

    def _recognise(self, named: NamedCommand, command: Remember, record: Record) -> PlannedWrite:
        """Plan a receipt for a repeated text, and no new memory.

        A source that outweighs that of the record takes the record over.
        """
        warning = restatements.repeated_warning(record)
        if restatements.raises_source(command, record):
            warning = restatements.raised_warning(record, command.source)
            writer = {
                "source": command.source.value,
                "author": records.kept_author(record.content, command.writer),
            }
            by = Attribution.from_command(command, named.command_id)
            chain = self._chain("memory", record.id)
            record = chain.raise_source(writer, record, by, self.times.known_from)
        row = receipts.recognised_row(command, named.command_id, record, warning)
        if restatements.raises_source(command, record):
            row["repeats"] = None
        return PlannedWrite(row, duplicate=True)

    def _is_known(self, memory_id: str) -> bool:
        carried = self._chain("memory", memory_id).carried
        return carried is not None and is_open(carried)

    def _chain(self, subject: Subject, record_id: str) -> VersionChain:
        chains = self._chains[subject]
        if record_id not in chains:
            name = link_name(record_id) if subject == "link" else None
            stored = self._stored.by_subject(subject).get(record_id)
            chains[record_id] = VersionChain.from_stored(record_id, stored, name)
        return chains[record_id]


def plan_at(
    named: NamedCommand, record: Record, at: Instant, *, duplicate: bool = False, texts: tuple[str, ...] = ()
) -> PlannedWrite:
    """The write whose receipt names this record; `texts` are among its warnings."""
    row = receipts.receipt_row(named.command, named.command_id, record, texts)
    repeats = 1 if duplicate else None
    return PlannedWrite({**row, "created_at": at, "repeats": repeats}, duplicate=duplicate)


def expected_state(chains: Sequence[VersionChain]) -> ExpectedState:
    """The state that the graph must still have when the rows of the chains are written."""
    expected = ExpectedState()
    stored_memories = {chain.id for chain in chains if chain.link_name is None and chain.stored}
    for chain in chains:
        if chain.link_name is None:
            expected.ids.append(chain.id)
            if chain.stored is not None:
                expected.memories.append([chain.id, chain.stored.carried, chain.stored.touched])
        elif chain.stored or (chain.ends and stored_memories.issuperset(chain.ends)):
            before = chain.states[0]
            past = before.past.values()
            expected.links.append(
                {
                    "id": chain.id,
                    **(chain.ends._asdict() if chain.ends else {}),
                    "carried": [] if before.carried is None else [before.carried],
                    "past": len(past),
                    "still": sum(map(is_open, past)),
                }
            )
        if chain.link_name is not None and chain.link_name.handle is not None and chain.stored is None:
            expected.handles.append(chain.link_name.handle)
    return expected


def find_dangling_link(chains: Sequence[VersionChain]) -> str | None:
    """The id of a changed link that joins a memory without any record; None when there is none."""
    empty = {chain.id for chain in chains if chain.link_name is None and not chain.stored and not chain.records}
    links = (chain for chain in chains if chain.link_name is not None and chain.is_changed and chain.ends)
    return next((link.id for link in links if empty.intersection(link.ends or ())), None)
