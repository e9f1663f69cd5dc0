"""What reaches beyond one command of the oracle: a list that is all or nothing, and the forgetting of a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from schemas.commands import ChangeCommand, Command, Undoing
from tests.oracle.held import Held, Refused, Told, told
from tests.oracle.store import OF_LINKS, Oracle, is_elsewhere, said


def together(oracle: Oracle, commands: Sequence[Command], now: int, at: int) -> list[Told]:
    """Carry out all of the commands, told `now` and known from `at` on, or none.

    When one is refused, the others are told that they were not applied, but for those that were before. When they
    leave a link at whose end there never was a memory, all are refused.
    """
    thought = Thought(deepcopy(oracle), now, at)
    receipts = [thought.next(command) for command in commands]
    if not any(one.status == "refused" for one in receipts):
        if loose(thought.oracle):
            return [Told("refused", "conflict") for _ in receipts]
        vars(oracle).update(vars(thought.oracle))
        return receipts
    return [
        one if one.status == "refused" or command.command_id in oracle.done else Told("refused", "not-applied")
        for command, one in zip(commands, receipts, strict=True)
    ]


def loose(oracle: Oracle) -> bool:
    """Whether a link joins a memory of which there is no record."""
    return not {end for one in oracle.records for end in one.ends or ()} <= {one.id for one in oracle.records}


def able(oracle: Oracle, commands: Sequence[Command], now: int) -> list[Command]:
    """The commands of a list but those that would be refused, so that it is carried out."""
    thought = Thought(deepcopy(oracle), now, max(now, oracle.clock + 1))
    return [command for command in commands if thought.next(command).status == "stored"]


@dataclass
class Thought:
    """An oracle in which the commands of one list are tried, and what each identity was before each of them."""

    oracle: Oracle
    now: int
    at: int
    before: dict[str, list[list[Held]]] = field(default_factory=dict)
    names: dict[str, str | None] = field(default_factory=dict)

    def next(self, command: Command) -> Told:
        """The next command of the list."""
        identity = identity_of(command)
        was = deepcopy(self.oracle.records_of(identity))
        if isinstance(command, Undoing) and self.before.get(identity):
            receipt = self.taken_back(command)
        else:
            receipt = self.oracle.at(command, self.now, self.at)
        if receipt.problem == "not-found" and isinstance(command, ChangeCommand) and self.was_there(command):
            receipt = receipt._replace(problem="conflict")
        if receipt.status == "stored" and not receipt.duplicate:
            self.never_known(identity)
            self.before.setdefault(identity, []).append(was)
            self.names[identity] = command.command_id
        return receipt

    def taken_back(self, command: Undoing) -> Told:
        """The last command of the list on this identity is as if it had not been."""
        known = self.oracle.done.get(command.command_id or "")
        if known is not None:
            return self.oracle.at(command, self.now, self.at)
        was, left = self.before[command.id][-1], self.oracle.believed(command.id)
        try:
            if self.oracle.records_of(command.id):
                self.oracle.expected(command, self.now)
            elif command.expected_version not in (None, self.began(command.id)):
                raise Refused("conflict")
        except Refused as refusal:
            return Told("refused", str(refusal))
        if not self.began(command.id) or command.undoes not in (None, self.names[command.id]):
            return Told("refused", "conflict")
        self.oracle.records = [one for one in self.oracle.records if one.id != command.id] + deepcopy(was)
        held = self.oracle.believed(command.id)
        back = [one for one in held if one.version not in {other.version for other in left}]
        gone = [one for one in left if one.version not in {other.version for other in held}]
        receipt = told(back[-1] if back else gone[0])._replace(created_at=self.at)
        receipt = receipt._replace(elsewhere=is_elsewhere(command, receipt, self.now))
        self.oracle.clock = self.at
        if command.command_id is not None:
            self.oracle.done[command.command_id] = (said(command), receipt)
        return receipt

    def began(self, identity: str) -> int:
        """The highest version that there was of it before a command of the list; 0 where there was nothing."""
        before = self.before.get(identity, [])
        return max((one.version for was in before for one in was), default=0)

    def was_there(self, command: ChangeCommand) -> bool:
        """Whether a command of the list met what this one is about: a memory and a link may share an id."""
        before = (one for was in self.before.get(command.id, []) for one in was)
        return any((one.ends is not None) is isinstance(command, OF_LINKS) for one in before)

    def never_known(self, identity: str) -> None:
        """What one command of the list opened and a later one closed was never known."""
        self.oracle.records = [
            one
            for one in self.oracle.records
            if one.id != identity or not (one.created_at == self.at == one.expired_at)
        ]


def erase(oracle: Oracle, memory_id: str) -> None:
    """Forget a memory, its links, and all that was ever said of them. Raises Refused for one that is unknown."""
    if not oracle.records_of(memory_id):
        raise Refused("not-found")
    gone = {record.id for record in oracle.records if record.id == memory_id or memory_id in (record.ends or ())}
    oracle.records = [record for record in oracle.records if record.id not in gone]
    oracle.done = {name: kept for name, kept in oracle.done.items() if of(kept[0]) not in gone}


def of(said: Mapping[str, Any]) -> str:
    """The memory or link that a command, as the oracle keeps it, is about."""
    own = said.get("id")
    return own or f"{said['source_id']}|{said['relation_type']}|{said['target_id']}"


def identity_of(command: Command) -> str:
    """The memory or link that a command is about."""
    return of(command.model_dump())
