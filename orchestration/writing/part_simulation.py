"""Simulates commands that change several memories and links at once: cascades, and the undo of these. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from orchestration.writing import changes, receipts
from orchestration.writing.cascade import Plan
from orchestration.writing.changes import Refusal, Unchanged
from orchestration.writing.command_rows import NamedCommand
from orchestration.writing.parts import (
    Identity,
    Part,
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
from orchestration.writing.simulation import Outcome, PlannedWrite, Simulation, plan_at
from schemas.commands import ChangeCommand, Command, Consequence, Undoing
from substrate import bitemporal


class PartSimulation(Simulation):
    """A simulation in which a command may have parts. A command of several parts is applied whole, or refused."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._members: defaultdict[str, list[Identity]] = defaultdict(list)

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
