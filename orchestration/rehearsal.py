"""Commands carried out in thought, each on what those before it leave. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from orchestration import insertion, receipts, recognition, records
from orchestration.decisions import OF_MEMORIES
from orchestration.lives import Life
from orchestration.receipts import Refusal
from schemas.command import ChangeCommand, Command, WriteReceipt
from schemas.commands import Remember
from schemas.link_commands import Relate
from schemas.temporal import END_OF_TIME, Instant
from substrate.bitemporal import Record, is_open
from substrate.rows import Kept
from substrate.transaction import Stored
from substrate.writer import Mark


class Sent(NamedTuple):
    """A command with the id under which it is kept, and the moment at which it is told."""

    command: Command
    command_id: str
    now: Instant
    at: Instant


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
        known = [one.known for by in self._found.values() for stored in by.values() for one in stored.records]
        return max((period.start if period.end == END_OF_TIME else period.end for period in known), default=-1)

    def applied(self, command_id: str) -> bool:
        """Whether the command was applied before."""
        return command_id in self._kept

    def play_all(self, named: Sequence[tuple[Command, str]], now: Instant, at: Instant) -> list[Outcome]:
        """Carry out commands in thought, told from `now` on and known from `at` on, each a microsecond later."""
        outcomes: list[Outcome] = []
        for place, (command, command_id) in enumerate(named):
            outcome = self.play(Sent(command, command_id, now + place, max(at, now + place)))
            outcomes.append(outcome)
            if isinstance(outcome, Planned) and not outcome.duplicate:
                at = outcome.kept["created_at"] + 1
        return outcomes

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
            return receipts.refused(command, (command_id, insertion.identity(command, command_id)), refusal)
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
        return self._plan(sent, life.change(command, sent.command_id, sent.now, sent.at))

    def _add(self, sent: Sent, command: Remember | Relate) -> Outcome:
        insertion.check_period(command, sent.now)
        ids = (insertion.identity(command, sent.command_id) or "", sent.command_id)
        life = self._life(ids[0], link=is_of_link(command))
        mark = self._mark(life, command)
        row = _row(command, ids, sent.now)
        record = self._said.get(sent.command_id)
        if mark.new and isinstance(command, Remember) and record is not None and self._unchanged(record):
            said = recognition.warning(record)
            return Planned(receipts.to_keep_recognised(command, sent.command_id, record, said), duplicate=True)
        if mark.new:
            return self._plan(sent, life.begin(row, sent.at))
        receipt = insertion.receipt(command, row, mark)
        if receipt.status == "stored" and command.command_id is not None and life.carried is not None:
            first = min(life.records.values(), key=lambda one: one.version)
            kept = receipts.to_keep(command, sent.command_id, first)
            return Planned({**kept, "created_at": first.known.start}, duplicate=True)
        return receipt

    def _plan(self, sent: Sent, record: Record) -> Planned:
        return Planned({**receipts.to_keep(sent.command, sent.command_id, record), "created_at": sent.at})

    def _mark(self, life: Life, command: Remember | Relate) -> Mark:
        """What a new memory or link finds in its place."""
        ends = (command.source_id, command.target_id) if isinstance(command, Relate) else ()
        here = [self._stands(end) for end in ends]
        carried = life.carried
        if carried is None:
            mark = Mark(life.id, all(here), 0, None, 1, None, None, None, END_OF_TIME)
        else:
            told = min(life.records.values(), key=lambda one: one.version) if is_open(carried) else carried
            times = (*told.valid, told.known.start, carried.known.end)
            mark = Mark(life.id, False, 0, life.fingerprint, told.version, *times)
        return mark._replace(has_source=here[0], has_target=here[1]) if here else mark

    def _unchanged(self, record: Record) -> bool:
        life = self._life(record.id, link=False)
        return not life.touched and record.version in life.stored

    def _stands(self, memory_id: str) -> bool:
        carried = self._life(memory_id, link=False).carried
        return carried is not None and is_open(carried)

    def _life(self, identity: str, *, link: bool) -> Life:
        key = (link, identity)
        if key not in self._lives:
            name = records.link_name(identity) if link else None
            self._lives[key] = Life.of(identity, self._found[link].get(identity), name)
        return self._lives[key]


def is_of_link(command: Command) -> bool:
    """Whether the command writes to a link."""
    return isinstance(command, Relate) or (
        isinstance(command, ChangeCommand) and not isinstance(command, OF_MEMORIES)
    )


def _row(command: Remember | Relate, ids: tuple[str, str], now: Instant) -> dict[str, Any]:
    make = records.link_row if isinstance(command, Relate) else records.memory_row
    return make(command, ids, now)  # type: ignore[arg-type]
