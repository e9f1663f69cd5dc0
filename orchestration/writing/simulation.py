"""Simulates the commands of a list in order, each on what those before it leave. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from orchestration.identifiers import link_name
from orchestration.writing import changes, command_rows, receipts, records, restatements
from orchestration.writing.changes import MEMORY_CHANGES, Attribution, Refusal, WriteTimes
from orchestration.writing.command_rows import NamedCommand
from orchestration.writing.version_chain import VersionChain
from schemas.commands import ChangeCommand, Command, Relate, Remember, WriteReceipt
from schemas.temporal import END_OF_TIME, Instant, Period
from substrate.bitemporal import Record, is_open
from substrate.store.changesets import ExpectedState, StoredRecords
from substrate.store.rows import RowOutcome, StoredReceipt


class PlannedWrite(NamedTuple):
    """A command that will be applied, with the row of its receipt.

    A `duplicate` only repeats what is stored. `sent_before`: an earlier command of the list has the same id.
    """

    receipt_row: Mapping[str, Any]
    duplicate: bool = False
    sent_before: bool = False


type Outcome = PlannedWrite | WriteReceipt


class StoredParts(NamedTuple):
    """What is stored of all that a list of commands names.

    `memories` and `links` by id, `receipts` by command id; `repeated` has by command id the memory whose text a
    new memory repeats.
    """

    memories: Mapping[str, StoredRecords]
    links: Mapping[str, StoredRecords]
    receipts: Mapping[str, StoredReceipt]
    repeated: Mapping[str, Record]

    @property
    def last_change(self) -> Instant:
        """The moment of the last change of any of them; -1 when nothing is stored."""
        moments = [-1]
        for stored in (*self.memories.values(), *self.links.values()):
            moments += [stored.touched, *(record.last_known for record in stored.records)]
        return max(moments)


class Simulation:
    """The state that the commands of a list leave, all sent and known at one moment."""

    def __init__(self, stored: StoredParts, times: WriteTimes) -> None:
        self._stored = stored
        self._times = times
        self._planned: dict[str, PlannedWrite] = {}
        self._memories: dict[str, VersionChain] = {}
        self._links: dict[str, VersionChain] = {}

    @property
    def chains(self) -> list[VersionChain]:
        """The chains of all memories and links that a command looked at."""
        return [*self._memories.values(), *self._links.values()]

    def simulate(self, named: NamedCommand) -> Outcome:
        """The outcome of the next command, on what those before it leave."""
        command, command_id = named
        try:
            if command_id in self._stored.receipts:
                return receipts.repeat_receipt(command, self._stored.receipts[command_id])
            if command_id in self._planned:
                return _sent_again(command, self._planned[command_id])
            outcome = self._simulate(named)
        except Refusal as refusal:
            return named.refuse(refusal)
        if isinstance(outcome, PlannedWrite):
            self._planned[command_id] = outcome
        return outcome

    def _simulate(self, named: NamedCommand) -> Outcome:
        command = named.command
        if isinstance(command, (Remember, Relate)):
            return self._add(named, command)
        if isinstance(command, ChangeCommand):
            chain = self._chain(command.id, is_link=writes_to_link(command))
            return self._plan(named, chain.change(command, named.command_id, self._times))
        raise Refusal("invalid-request", f"{receipts.kind(command)} is no part of an atomic list")

    def _add(self, named: NamedCommand, command: Remember | Relate) -> Outcome:
        command_rows.check_end_ahead(command, self._times.now)
        row = command_rows.new_row(command, named.command_id, self._times.now)
        valid = Period(row["valid_at"], row["invalid_at"])
        chain = self._chain(row["id"], is_link=writes_to_link(command))
        outcome = self._row_outcome(chain, command, valid, row["fingerprint"])
        if outcome.new:
            repeated = self._still_repeated(self._stored.repeated.get(named.command_id))
            if isinstance(command, Remember) and repeated is not None:
                return self._recognise(named, command, repeated)
            _check_trust_again(command, chain)
            return self._plan(named, chain.begin(row, named.command_id, self._times.known_from))
        receipt = command_rows.build_receipt(command, row, outcome)
        first = chain.begun_by(row["fingerprint"], valid)
        if receipt.status == "stored" and command.command_id is not None and first is not None:
            return _plan_at(named, first, first.known.start, duplicate=True)
        return receipt

    def _plan(self, named: NamedCommand, record: Record) -> PlannedWrite:
        return _plan_at(named, record, self._times.known_from)

    def _row_outcome(
        self, chain: VersionChain, command: Remember | Relate, valid: Period, fingerprint: int
    ) -> RowOutcome:
        """What a new memory or link meets over its valid time, as the writer would report it."""
        has_source = has_target = True
        if isinstance(command, Relate):
            has_source, has_target = self._is_known(command.source_id), self._is_known(command.target_id)
        held = [record for record in chain.open_records() if record.valid.overlaps(valid)]
        if command.valid_at is None and chain.all_begin_later(held, valid.start):
            held = []  # what still lies ahead is no earlier sending of what holds from now on
        first = chain.begun_by(fingerprint, valid) if held else None
        shown = (first or chain.carried or held[-1]) if held else None
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
        """The record as the commands so far leave it; None where none of the same content and time is left."""
        if record is None:
            return None
        for open_one in self._chain(record.id, is_link=False).open_records():
            if open_one.valid == record.valid and restatements.same_content(open_one, record):
                return open_one
        return None

    def _recognise(self, named: NamedCommand, command: Remember, record: Record) -> PlannedWrite:
        """Plan only a receipt for a repeated text; a source of more weight makes the record its own."""
        warning = restatements.repeated_warning(record)
        if restatements.raises_source(command, record):
            warning = restatements.raised_warning(record, command.source)
            writer = {"source": command.source.value, "author": command.writer.author}
            by = Attribution.from_command(command, named.command_id)
            chain = self._chain(record.id, is_link=False)
            record = chain.raise_source(writer, record, by, self._times.known_from)
        row = receipts.recognised_row(command, named.command_id, record, warning)
        return PlannedWrite(row, duplicate=True)

    def _is_known(self, memory_id: str) -> bool:
        carried = self._chain(memory_id, is_link=False).carried
        return carried is not None and is_open(carried)

    def _chain(self, record_id: str, *, is_link: bool) -> VersionChain:
        chains, stored = (self._links, self._stored.links) if is_link else (self._memories, self._stored.memories)
        if record_id not in chains:
            name = link_name(record_id) if is_link else None
            chains[record_id] = VersionChain.from_stored(record_id, stored.get(record_id), name)
        return chains[record_id]


def writes_to_link(command: Command) -> bool:
    if isinstance(command, ChangeCommand):
        return not isinstance(command, MEMORY_CHANGES)
    return isinstance(command, Relate)


def _sent_again(command: Command, planned: PlannedWrite) -> PlannedWrite:
    if planned.receipt_row["fingerprint"] != records.fingerprint(command):
        raise Refusal("conflict", receipts.OTHER_CONTENT)
    return planned._replace(duplicate=True, sent_before=True)


def _plan_at(named: NamedCommand, record: Record, at: Instant, *, duplicate: bool = False) -> PlannedWrite:
    row = receipts.receipt_row(named.command, named.command_id, record)
    return PlannedWrite({**row, "created_at": at}, duplicate=duplicate)


def _check_trust_again(command: Remember | Relate, chain: VersionChain) -> None:
    """Raises Refusal when what was retracted is written again by a source that may not change it."""
    if chain.carried is not None:
        changes.check_trust(command, [chain.carried])
        changes.check_trust_in_closers(command, [chain.carried])


def expected_state(chains: Sequence[VersionChain]) -> ExpectedState:
    """What must still be so in the graph when the rows of the chains are written."""
    expected = ExpectedState()
    stored_memories = {chain.id for chain in chains if chain.link_name is None and chain.stored}
    for chain in chains:
        if chain.link_name is None:
            expected.ids.append(chain.id)
            if chain.stored is not None:
                expected.memories.append([chain.id, chain.stored.carried, chain.stored.touched])
        elif chain.stored or (chain.ends and stored_memories.issuperset(chain.ends)):
            expected.links.append(_expected_link(chain))
        if chain.link_name is not None and chain.link_name.handle is not None and chain.stored is None:
            expected.handles.append(chain.link_name.handle)
    return expected


def _expected_link(chain: VersionChain) -> dict[str, Any]:
    before = chain.states[0]
    carried = [] if before.carried is None else [before.carried]
    ends = chain.ends._asdict() if chain.ends else {}
    past = before.past.values()
    return {"id": chain.id, **ends, "carried": carried, "past": len(past), "still": sum(map(is_open, past))}


def loose_link(chains: Sequence[VersionChain]) -> str | None:
    """The id of a link that would join a memory of which no record remains; None when there is none."""
    never = {chain.id for chain in chains if chain.link_name is None and not chain.stored and not chain.records}
    joining = (chain for chain in chains if chain.link_name is not None and chain.is_changed and chain.ends)
    return next((chain.id for chain in joining if never.intersection(chain.ends or ())), None)
