"""Commands carried out in thought, each on what those before it leave. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from orchestration.identifiers import link_name
from orchestration.writing import additions, changes, receipts, records, restatements
from orchestration.writing.changes import OF_MEMORIES, By, Told
from orchestration.writing.receipts import Refusal
from orchestration.writing.version_chain import Life
from schemas.commands import ChangeCommand, Command, Relate, Remember, WriteReceipt
from schemas.temporal import END_OF_TIME, Instant, Period
from substrate.bitemporal import Record, is_open
from substrate.store.rows import Kept
from substrate.store.transactions import Stored
from substrate.store.writer import Mark


class Sent(NamedTuple):
    """A command with the id under which it is kept, and when it is told and known."""

    command: Command
    command_id: str
    told: Told


class Planned(NamedTuple):
    """A command that will be applied: the receipt to keep, and whether it only says again what is stored."""

    kept: Mapping[str, Any]
    duplicate: bool = False
    sent_before: bool = False


type Outcome = Planned | WriteReceipt


class Rehearsal:
    """What the commands of a list find, and what they leave."""

    def __init__(
        self,
        memories: Mapping[str, Stored],
        links: Mapping[str, Stored],
        kept: Mapping[str, Kept],
        said: Mapping[str, Record],
    ) -> None:
        self._found = {False: memories, True: links}
        self._kept = kept
        self._said = said
        self._planned: dict[str, Planned] = {}
        self._lives: dict[tuple[bool, str], Life] = {}

    @property
    def lives(self) -> list[Life]:
        """Every identity that the commands looked at."""
        return list(self._lives.values())

    @property
    def latest(self) -> Instant:
        """The last moment at which any of them was touched; before all time when none was."""
        found = [stored for by in self._found.values() for stored in by.values()]
        moments = [one.last_known for stored in found for one in stored.records]
        return max([*moments, *(stored.touched for stored in found)], default=-1)

    def applied(self, command_id: str) -> bool:
        """Whether the command was applied before."""
        return command_id in self._kept

    def play_all(self, named: Sequence[tuple[Command, str]], told: Told) -> list[Outcome]:
        """Carry out commands in thought, each on what those before it leave, all at one moment."""
        return [self.play(Sent(command, command_id, told)) for command, command_id in named]

    def play(self, sent: Sent) -> Outcome:
        """Carry out a command in thought."""
        command, command_id = sent.command, sent.command_id
        try:
            if command_id in self._kept:
                return receipts.again(command, self._kept[command_id])
            if command_id in self._planned:
                return self._again(command, self._planned[command_id])
            outcome = self._outcome(sent, command)
        except Refusal as refusal:
            return receipts.refused(command, (command_id, additions.identity(command, command_id)), refusal)
        if isinstance(outcome, Planned):
            self._planned[command_id] = outcome
        return outcome

    def _outcome(self, sent: Sent, command: Command) -> Outcome:
        if isinstance(command, (Remember, Relate)):
            return self._add(sent, command)
        if isinstance(command, ChangeCommand):
            return self._change(sent, command)
        raise Refusal("invalid-request", f"{receipts.kind(command)} is no part of an atomic list")

    def _again(self, command: Command, planned: Planned) -> Planned:
        if planned.kept["fingerprint"] != records.fingerprint(command):
            raise Refusal("conflict", receipts.OTHER_CONTENT)
        return planned._replace(duplicate=True, sent_before=True)

    def _change(self, sent: Sent, command: ChangeCommand) -> Outcome:
        life = self._life(command.id, link=is_of_link(command))
        return self._plan(sent, life.change(command, sent.command_id, sent.told))

    def _add(self, sent: Sent, command: Remember | Relate) -> Outcome:
        additions.check_period(command, sent.told.now)
        row = additions.row_of(command, sent.command_id, sent.told.now)
        life = self._life(row["id"], link=is_of_link(command))
        mark = self._mark(life, command, Period(row["valid_at"], row["invalid_at"]))
        record = self._standing(self._said.get(sent.command_id))
        if mark.new and isinstance(command, Remember) and record is not None:
            return self._recognise(sent, command, record)
        if mark.new:
            self._trusted_again(command, life)
            return self._plan(sent, life.begin(row, sent.command_id, sent.told.at))
        receipt = additions.receipt(command, row, mark)
        first = life.first_of(row["fingerprint"], Period(row["valid_at"], row["invalid_at"]))
        if receipt.status == "stored" and command.command_id is not None and first is not None:
            kept = receipts.to_keep(command, sent.command_id, first)
            return Planned({**kept, "created_at": first.known.start}, duplicate=True)
        return receipt

    def _trusted_again(self, command: Remember | Relate, life: Life) -> None:
        """Raises Refusal when what was retracted is told again by somebody who may not change it."""
        if life.carried is not None:
            changes.trust_in(command, [life.carried])
            changes.trust_in_closing(command, [life.carried])

    def _plan(self, sent: Sent, record: Record) -> Planned:
        return Planned({**receipts.to_keep(sent.command, sent.command_id, record), "created_at": sent.told.at})

    def _mark(self, life: Life, command: Remember | Relate, valid: Period) -> Mark:
        """What a new memory or link finds in its place over its valid time."""
        ends = (command.source_id, command.target_id) if isinstance(command, Relate) else ()
        here = [self._stands(end) for end in ends]
        held = [record for record in life.open_records() if record.valid.overlaps(valid)]
        if command.valid_at is None and life.to_come(held, valid.start):
            held = []  # what is still to come is no earlier sending of what is to hold from now on
        if not held:
            mark = Mark(life.id, all(here), 0, None, 1, None, None, None, END_OF_TIME)
        else:
            fingerprint = records.fingerprint(command)
            first = life.first_of(fingerprint, valid)
            told = first or life.carried or life.open_records()[-1]
            times = (*told.valid, told.known.start, END_OF_TIME)
            mark = Mark(life.id, False, 0, fingerprint if first else None, told.version, *times)
        return mark._replace(has_source=here[0], has_target=here[1]) if here else mark

    def _standing(self, record: Record | None) -> Record | None:
        """The record as these commands leave it; None where they leave nothing that says the same."""
        if record is None:
            return None
        still = (one for one in self._life(record.id, link=False).open_records() if one.valid == record.valid)
        return next((one for one in still if restatements.same_words(one, record)), None)

    def _recognise(self, sent: Sent, command: Remember, record: Record) -> Planned:
        """What only says again what is remembered; whoever weighs more makes it its own word."""
        said = restatements.warning(record)
        if restatements.raises(command, record):
            life = self._life(record.id, link=False)
            said = restatements.raised_warning(record, command.source)
            whose = {"source": command.source.value, "author": command.writer.author}
            record = life.raise_to(whose, record, By.of(command, sent.command_id), sent.told.at)
        return Planned(receipts.to_keep_recognised(command, sent.command_id, record, said), duplicate=True)

    def _stands(self, memory_id: str) -> bool:
        carried = self._life(memory_id, link=False).carried
        return carried is not None and is_open(carried)

    def _life(self, identity: str, *, link: bool) -> Life:
        key = (link, identity)
        if key not in self._lives:
            name = link_name(identity) if link else None
            self._lives[key] = Life.of(identity, self._found[link].get(identity), name)
        return self._lives[key]


def is_of_link(command: Command) -> bool:
    """Whether the command writes to a link."""
    return isinstance(command, Relate) or (
        isinstance(command, ChangeCommand) and not isinstance(command, OF_MEMORIES)
    )
