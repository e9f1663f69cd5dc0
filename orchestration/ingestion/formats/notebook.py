"""A folder of notes: its documents, and the commands that they become. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, pairwise
from typing import Any, Final, NamedTuple

from orchestration.identifiers import identifier, ingestion_id
from orchestration.ingestion.episodes import build_link, valid_at_field
from orchestration.ingestion.written_times import parse_time
from schemas.commands import Command, Relate, Remember
from schemas.memory import GraphKey, Level, ResolutionState, Source

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")
WHOLE: Final = "keep the note whole"
REFERENCES: Final = "keep what refers to what"


def natural_note_id(notebook_id: str, path: str, key: str | None = None) -> str:
    """The id that a note, or with a key one of its sections, has from its place in its folder."""
    return identifier(f"{notebook_id}:{path}" + (f"#{key}" if key else ""))


def content_of(text: str, sections: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The headings and the texts of a note, by which it is known again, whatever the order of its sections.

    Its title is left out: that may be the name of its file.
    """
    return (text, *chain.from_iterable(sorted(sections)))


def free_key(heading: str, keys: dict[str, int]) -> str:
    """The key of a section: its heading, with a number where that is taken.

    Adds it to `keys`, each with the last number that was tried for it.
    """
    key, number = heading, keys.get(heading, 1)
    while key in keys:
        number += 1
        key = f"{heading}~{number}"
    keys[heading] = number
    keys.setdefault(key, 1)
    return key


@dataclass(frozen=True, slots=True)
class Section:
    """The text under one heading, or a task. `key` is unique in its document; `state` is that of a task."""

    key: str
    heading: str
    text: str
    tags: tuple[str, ...] = ()
    state: ResolutionState | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One note. `path` is its path in the folder; `mentions` are the paths of the notes that it links to.

    `dated` is True when the note itself has the date. Otherwise `date` is the time of change of its file, which
    differs for every copy. `modified` is always that time. `author` is who wrote the note, if it says so.
    """

    path: str
    title: str
    text: str
    date: datetime | None
    sections: tuple[Section, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    dated: bool = True
    modified: datetime | None = None
    author: str | None = None

    @property
    def content(self) -> tuple[str, ...]:
        """The texts of the note, as `content_of`."""
        return content_of(self.text, ((section.heading, section.text) for section in self.sections))

    @property
    def buckets(self) -> tuple[str, ...]:
        """The folder of the note; empty for a note in the top folder."""
        folder, _, _ = self.path.rpartition("/")
        return (folder,) if folder else ()


class Part(NamedTuple):
    """A command of a notebook and the note that it is of."""

    document: Document
    command: Remember | Relate


@dataclass(frozen=True, slots=True)
class Notebook:
    """The notes of one folder. The same `id` is the same folder.

    `ids`: ids of memories that are stored under another id than the path and the heading give. `graph`: where they
    are stored.
    """

    id: str
    citizen_id: str
    documents: tuple[Document, ...]
    ids: Mapping[str, str] = field(default_factory=dict)
    graph: GraphKey = Level.N1

    @property
    def command_id(self) -> str:
        return ingestion_id(self.id)

    @property
    def size(self) -> int:
        return sum(1 for _ in self.parts())

    def shared(self) -> frozenset[str]:
        return frozenset()

    def commands(self) -> Iterator[Command]:
        return (part.command for part in self.parts())

    def parts(self) -> Iterator[Part]:
        """Yield documents, then their sections, then links; a link comes after both of its ends.

        When only the file dates a note, `valid_at` is marked as assumed: if the file later has another time of
        change, its commands still count as the ones that are stored already.
        """

        def part(document: Document, command: Remember | Relate) -> Part:
            return Part(document, command if document.dated else command.assuming("valid_at"))

        for document in self.documents:
            yield part(
                document,
                self._remember(
                    document,
                    id=self.memory_id(document.path),
                    node_type="Document",
                    name=document.title,
                    description=document.text,
                    aliases=document.aliases,
                    tags=document.tags,
                ),
            )
        for document in self.documents:
            for section in document.sections:
                own = {"name": section.heading, "description": section.text, "tags": section.tags}
                named = {"id": self.memory_id(document.path, section.key), "node_type": "Note"}
                state = {} if section.state is None else {"resolution_state": section.state}
                yield part(document, self._remember(document, **named, **own, **state))
                ends = (self.memory_id(document.path, section.key), "PART_OF", self.memory_id(document.path))
                yield part(document, build_link(self, *ends, goal=WHOLE, time=document.date))
            headed = (section for section in document.sections if section.state is None)
            for first, second in pairwise(headed):
                former, latter = (self.memory_id(document.path, one.key) for one in (first, second))
                yield part(document, build_link(self, former, "NEXT", latter, goal=WHOLE, time=document.date))
        for document in self.documents:
            for path in document.mentions:
                ends = (self.memory_id(document.path), "MENTIONS", self.memory_id(path))
                yield part(document, build_link(self, *ends, goal=REFERENCES, time=document.date))

    def memory_id(self, path: str, key: str | None = None) -> str:
        """The id of a note, or with a key of one of its sections."""
        own = natural_note_id(self.id, path, key)
        return self.ids.get(own, own)

    def _remember(self, document: Document, **content: Any) -> Remember:
        return Remember(
            command_id=ingestion_id(self.id),
            citizen_id=self.citizen_id,
            buckets=document.buckets,
            source=Source.INGESTION,
            episode_id=identifier(self.id),
            **({"speaker": document.author} if document.author else {}),
            **content,
            **valid_at_field(document.date),
        )


def day_of(stem: str) -> datetime | None:
    """Return the day at the start of the name of a file, in UTC; None when there is none."""
    day = _DAY.match(stem)
    if day is None:
        return None
    try:
        return parse_time(day[0]).at
    except ValueError:
        return None
