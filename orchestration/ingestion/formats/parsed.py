"""The values that a parser takes and returns. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Any, Protocol, cast

from schemas.commands import Command
from schemas.memory import GraphKey, Level, graph_fields


@dataclass(frozen=True, slots=True)
class File:
    """A text and its path, which errors name; for a note the path inside its folder.

    `raw`: the bytes of the file, for formats that are no text or have encodings of their own. `encoding`: the one
    that was assumed because the file is not UTF-8.
    """

    name: str
    text: str
    modified: datetime | None = None
    raw: bytes = b""
    encoding: str | None = None

    @property
    def stem(self) -> str:
        """Its name without folders and ending."""
        return self.name.rpartition("/")[2].rsplit(".", 1)[0] or self.name

    @property
    def start(self) -> str:
        """The beginning of its text, which tells its format."""
        return self.text[:4096]


@dataclass(frozen=True, slots=True)
class FileSet:
    """The files to parse, and the citizen whose memories they become.

    `name` becomes the id of the episode or notebook when the format has no id. `zone`: of times that name none;
    without it they are taken as UTC. `unread`: files beside these that could not be read, each with the reason.
    """

    name: str
    files: tuple[File, ...]
    citizen_id: str | None = None
    zone: tzinfo | None = None
    unread: Mapping[str, str] = field(default_factory=dict)


class Ingestible(Protocol):
    """A list of commands to store: a conversation, a notebook, or a file of commands."""

    @property
    def id(self) -> str: ...

    @property
    def citizen_id(self) -> str | None:
        """None when each command names its citizen."""

    @property
    def graph(self) -> GraphKey:
        """The graph of those of its commands that name none."""

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


def commands_of(item: Ingestible) -> Iterator[Command]:
    """The commands of an item, for the graph in which it is stored."""
    return (move(command, item.graph) for command in item.commands())


def move[C: Command](command: C, graph: GraphKey) -> C:
    """The command for a shared graph; unchanged for N1, and if it names a graph itself.

    It then names no citizen, so that whoever sends the same, sends the same command. Its writer has the author.
    """
    if graph == Level.N1 or "level" in command.model_fields_set or command.collective is not None:
        return command
    return command.model_copy(update={"citizen_id": None, **graph_fields(graph)}).assuming("citizen_id")


@dataclass(frozen=True, slots=True)
class ParsedFiles:
    """The parsed items of some files, and notes on what the parser assumed or left out.

    `faults`: what could not be read, one line with file, place and reason each; the items hold the rest.
    `formats`: the names of the formats, in the order of the files.
    """

    items: tuple[Ingestible, ...]
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()

    def into(self, graph: GraphKey) -> ParsedFiles:
        """The same items, to be stored in this graph."""
        return replace(self, items=tuple(replace(cast(Any, item), graph=graph) for item in self.items))


def join(parts: Iterable[ParsedFiles]) -> ParsedFiles:
    """Return several parsed files as one."""
    known = tuple(parts)
    return ParsedFiles(
        tuple(item for part in known for item in part.items),
        tuple(note for part in known for note in part.notes),
        tuple(fault for part in known for fault in part.faults),
        tuple(dict.fromkeys(form for part in known for form in part.formats)),
    )


type Parser = Callable[[FileSet], ParsedFiles]
