"""What reaches beyond one command of the oracle: a list that is all or nothing, and the forgetting of a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from schemas.commands import Command
from tests.oracle.store import Oracle, Refused, Told


def together(oracle: Oracle, commands: Sequence[Command], now: int) -> list[Told]:
    """Carry out all of the commands, each a microsecond after the one before, or none.

    When one is refused, the others are told that they were not applied, but for those that were before.
    """
    before = deepcopy(oracle)
    told = [oracle.apply(command, now + place) for place, command in enumerate(commands)]
    if not any(one.status == "refused" for one in told):
        return told
    vars(oracle).update(vars(before))
    return [
        one if one.status == "refused" or command.command_id in before.done else Told("refused", "not-applied")
        for command, one in zip(commands, told, strict=True)
    ]


def erase(oracle: Oracle, memory_id: str) -> None:
    """Forget a memory, its links, and all that was ever said of them. Raises Refused for one that is unknown."""
    if not oracle.records_of(memory_id):
        raise Refused("not-found")
    gone = {record.id for record in oracle.records if record.id == memory_id or memory_id in (record.ends or ())}
    oracle.records = [record for record in oracle.records if record.id not in gone]
    oracle.firsts = {identity: first for identity, first in oracle.firsts.items() if identity not in gone}
    oracle.changes = {identity: changes for identity, changes in oracle.changes.items() if identity not in gone}
    oracle.done = {name: kept for name, kept in oracle.done.items() if of(kept[0]) not in gone}


def of(said: Mapping[str, Any]) -> str:
    """The memory or link that a command, as the oracle keeps it, is about."""
    own = said.get("id")
    return own or f"{said['source_id']}|{said['relation_type']}|{said['target_id']}"
