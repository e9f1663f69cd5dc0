"""What a parser is given and what it gives. Pure values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from schemas.commands import Command


@dataclass(frozen=True, slots=True)
class File:
    """A text and its name: the path by which faults name it, for notes the path inside their folder."""

    name: str
    text: str
    modified: datetime | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """What is to be ingested.

    `name` is the id of the episode or notebook where the format has none of its own; `citizen_id` is whose
    memory it becomes.
    """

    name: str
    files: tuple[File, ...]
    citizen_id: str | None = None


class Ingestible(Protocol):
    """Something that can be ingested: a conversation, a notebook, a file of commands."""

    @property
    def id(self) -> str:
        """What it is called."""

    @property
    def citizen_id(self) -> str | None:
        """Whose it is; None when its commands say so themselves."""

    @property
    def command_id(self) -> str | None:
        """Of the one command of which all its commands are parts; None when each stands for itself."""

    @property
    def size(self) -> int:
        """The number of its commands."""

    def shared(self) -> frozenset[str]:
        """Ids of memories that others may have made before: to find them stored is no fault."""

    def commands(self) -> Iterator[Command]:
        """Its commands in the order in which they are to be applied, the same whenever asked."""


@dataclass(frozen=True, slots=True)
class Intake:
    """What a parser read, and in `notes` what it had to assume or leave out."""

    items: tuple[Ingestible, ...]
    notes: tuple[str, ...] = ()


type Parser = Callable[[Given], Intake]
