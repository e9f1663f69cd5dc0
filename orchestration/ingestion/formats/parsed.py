"""The values that a parser takes and returns. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from schemas.commands import Command


@dataclass(frozen=True, slots=True)
class File:
    """A text and its path, which errors name; for a note the path inside its folder."""

    name: str
    text: str
    modified: datetime | None = None


@dataclass(frozen=True, slots=True)
class FileSet:
    """The files to parse, and the citizen whose memories they become.

    `name` becomes the id of the episode or notebook when the format has no id.
    """

    name: str
    files: tuple[File, ...]
    citizen_id: str | None = None


class Ingestible(Protocol):
    """A list of commands to store: a conversation, a notebook, or a file of commands."""

    @property
    def id(self) -> str: ...

    @property
    def citizen_id(self) -> str | None:
        """None when each command names its citizen."""

    @property
    def command_id(self) -> str | None:
        """The id that all its commands share; None when each has its own."""

    @property
    def size(self) -> int:
        """The number of its commands."""

    def shared(self) -> frozenset[str]:
        """Return ids of memories that others may have stored before: then they are no conflict."""

    def commands(self) -> Iterator[Command]:
        """Return its commands in the order in which they are applied; each call returns the same."""


@dataclass(frozen=True, slots=True)
class ParsedFiles:
    """The parsed items of some files, and notes on what the parser assumed or left out."""

    items: tuple[Ingestible, ...]
    notes: tuple[str, ...] = ()


type Parser = Callable[[FileSet], ParsedFiles]
