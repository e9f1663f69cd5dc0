"""The commands that erase for good, and their report."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field

from schemas.base import AtMost, CitizenId, Flag, Frozen, Identifier, Request
from schemas.collectives import CollectiveId
from schemas.commands.base import Command
from schemas.memory import Collective, Level

WITH_COPIES: Final = "Erase the copies too that the citizen shared; else the report only names them."
WithCopies = Annotated[Flag, Field(description=WITH_COPIES)]


MOST_ALSO: Final = 100
"""At most this many memories can go with the one that an erasure names."""


class EraseMemory(Command):
    """Remove one memory with all its records, its links in both directions, and everything that points to it.

    `also`: other memories of the same graph that go with it, such as those that repeat it. `dry_run`: only name
    these, and the copies.
    """

    id: Identifier
    dry_run: Flag = False
    also: Annotated[tuple[Identifier, ...], AtMost(MOST_ALSO)] = ()
    with_copies: WithCopies = False


class EraseEpisode(Command):
    """Remove one conversation: its memories, its links, and the people that only it mentions."""

    episode_id: Identifier
    with_copies: WithCopies = False


class EraseCitizen(Request):
    """Remove the whole personal memory of one citizen."""

    command_id: Identifier | None = None
    citizen_id: CitizenId
    with_copies: WithCopies = False


class EraseCollective(Request):
    """Remove one collective beside the default one, with all that anybody wrote there."""

    command_id: Identifier | None = None
    collective: CollectiveId


type Erase = EraseMemory | EraseEpisode | EraseCitizen | EraseCollective


class Removed(Frozen):
    """The number of removed items.

    `records`: past records; `passages`: parts of long texts; `states`: records of the citizen's own state;
    `feedback`: what the citizen told of answers that named such a memory. `context_notes`: what was kept beside
    written contexts, such as the notes of agents. `predictions`: those that named such a memory.
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
    context_notes: int = 0
    predictions: int = 0


class ErasedCopy(Frozen):
    """A copy on a shared level of something that was erased; `erased` where it went too."""

    level: Level
    collective: Collective = None
    id: str
    erased: bool = False


class ErasureReport(Frozen):
    """The result of an erasure.

    `log_rewritten`: no file of the engine holds the removed data any more. `duplicate`: the same command was
    applied before, and nothing was left to remove. `copies`: what was shared of it, the first 1,000, and
    `further_copies` counts the rest. `repeats`: memories with the rare words or numbers of what was named, which
    stay. After a `dry_run` nothing was removed. Backups and exports are not changed.
    """

    command_id: str
    erased: Literal["memory", "episode", "citizen", "collective"]
    erased_at: datetime
    level: Level = Level.N1
    collective: Collective = None
    removed: Removed = Removed()
    log_rewritten: bool
    duplicate: bool = False
    copies: tuple[ErasedCopy, ...] = ()
    further_copies: int = 0
    repeats: tuple[str, ...] = ()
    dry_run: bool = False
    notes: tuple[str, ...] = ()
