"""Erasing: the one command that forgets, and what it says of what it did."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from schemas.base import CitizenId, Frozen, Identifier, Request
from schemas.commands.memories import Command
from schemas.memory import Level


class EraseMemory(Command):
    """Remove one memory with every record of it, its links on both sides and all that points to it."""

    id: Identifier


class EraseEpisode(Request):
    """Remove one conversation: its memories, its links, and the people whom only it knew."""

    command_id: Identifier | None = None
    citizen_id: CitizenId
    episode_id: Identifier


class EraseCitizen(Request):
    """Remove the whole personal memory of one citizen."""

    command_id: Identifier | None = None
    citizen_id: CitizenId


type Erase = EraseMemory | EraseEpisode | EraseCitizen


class Removed(Frozen):
    """How much was removed, by kind. `records` are past ones; `states` are those of the citizen's own state."""

    memories: int = 0
    records: int = 0
    traces: int = 0
    links: int = 0
    past_links: int = 0
    tags: int = 0
    receipts: int = 0
    states: int = 0


class ErasureReport(Frozen):
    """What an erasure did.

    `log_rewritten`: no file of the engine holds the removed any more. `duplicate`: the same command had been
    carried out before, and nothing was left to do. What backups and exports hold is not reached.
    """

    command_id: str
    erased: Literal["memory", "episode", "citizen"]
    erased_at: datetime
    level: Level = Level.N1
    removed: Removed = Removed()
    log_rewritten: bool
    duplicate: bool = False
    notes: tuple[str, ...] = ()
