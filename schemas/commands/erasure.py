"""The commands that erase for good, and their report."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from schemas.base import CitizenId, Frozen, Identifier, Request
from schemas.commands.memories import Command
from schemas.memory import Level


class EraseMemory(Command):
    """Remove one memory with all its records, its links in both directions, and everything that points to it."""

    id: Identifier


class EraseEpisode(Request):
    """Remove one conversation: its memories, its links, and the people that only it mentions."""

    command_id: Identifier | None = None
    citizen_id: CitizenId
    episode_id: Identifier


class EraseCitizen(Request):
    """Remove the whole personal memory of one citizen."""

    command_id: Identifier | None = None
    citizen_id: CitizenId


type Erase = EraseMemory | EraseEpisode | EraseCitizen


class Removed(Frozen):
    """The number of removed items.

    `records`: past records; `passages`: parts of long texts; `states`: records of the citizen's own state;
    `feedback`: what the citizen told of answers that named such a memory.
    """

    memories: int = 0
    records: int = 0
    traces: int = 0
    passages: int = 0
    links: int = 0
    past_links: int = 0
    tags: int = 0
    receipts: int = 0
    states: int = 0
    feedback: int = 0


class ErasureReport(Frozen):
    """The result of an erasure.

    `log_rewritten`: no file of the engine holds the removed data any more. `duplicate`: the same command was
    applied before, and nothing was left to remove. Backups and exports are not changed.
    """

    command_id: str
    erased: Literal["memory", "episode", "citizen"]
    erased_at: datetime
    level: Level = Level.N1
    removed: Removed = Removed()
    log_rewritten: bool
    duplicate: bool = False
    notes: tuple[str, ...] = ()
