"""Turns a folder of notes into commands: documents, their sections, and the links between notes. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

from orchestration.identifiers import identifier
from orchestration.ingestion.episodes import build_link, valid_at_field
from schemas.commands import Command, Remember
from schemas.memory import Source

WHOLE: Final = "keep the note whole"
REFERENCES: Final = "keep what refers to what"


@dataclass(frozen=True, slots=True)
class Section:
    """The text under one heading. `key` is unique in its document."""

    key: str
    heading: str
    text: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """One note. `path` is its path in the folder; `mentions` are the paths of the notes that it links to.

    `dated` is True when the note itself has the date. Otherwise `date` is the time of change of its file, which
    differs for every copy.
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

    @property
    def buckets(self) -> tuple[str, ...]:
        """The folder of the note; empty for a note in the top folder."""
        folder, _, _ = self.path.rpartition("/")
        return (folder,) if folder else ()


@dataclass(frozen=True, slots=True)
class Notebook:
    """The notes of one folder. The same `id` is the same folder."""

    id: str
    citizen_id: str
    documents: tuple[Document, ...]

    @property
    def command_id(self) -> str:
        return identifier(f"ingest:{self.id}")

    @property
    def size(self) -> int:
        return sum(
            1 + 2 * len(document.sections) + max(0, len(document.sections) - 1) + len(document.mentions)
            for document in self.documents
        )

    def shared(self) -> frozenset[str]:
        return frozenset()

    def commands(self) -> Iterator[Command]:
        """Yield documents, then their sections, then links; a link comes after both of its ends.

        When only the file dates a note, `valid_at` is marked as assumed: if the file later has another time of
        change, its commands still count as the ones that are stored already.
        """
        for document, command in self._commands():
            yield command if document.dated else command.assuming("valid_at")

    def _commands(self) -> Iterator[tuple[Document, Command]]:
        for document in self.documents:
            yield document, self._document(document)
        for document in self.documents:
            for section in document.sections:
                yield document, self._section(document, section)
                ends = (self._id(document, section), "PART_OF", self._id(document))
                yield document, build_link(self, *ends, goal=WHOLE, time=document.date)
            for first, second in pairwise(document.sections):
                ends = (self._id(document, first), "NEXT", self._id(document, second))
                yield document, build_link(self, *ends, goal=WHOLE, time=document.date)
        for document in self.documents:
            for path in document.mentions:
                ends = (self._id(document), "MENTIONS", identifier(f"{self.id}:{path}"))
                yield document, build_link(self, *ends, goal=REFERENCES, time=document.date)

    def _id(self, document: Document, section: Section | None = None) -> str:
        return identifier(f"{self.id}:{document.path}" + (f"#{section.key}" if section else ""))

    def _document(self, document: Document) -> Remember:
        return self._remember(
            document,
            id=self._id(document),
            node_type="Document",
            name=document.title,
            description=document.text,
            tags=document.tags,
            aliases=document.aliases,
        )

    def _section(self, document: Document, section: Section) -> Remember:
        return self._remember(
            document,
            id=self._id(document, section),
            node_type="Note",
            name=section.heading,
            description=section.text,
            tags=section.tags,
        )

    def _remember(self, document: Document, **content: Any) -> Remember:
        return Remember(
            command_id=identifier(f"ingest:{self.id}"),
            citizen_id=self.citizen_id,
            buckets=document.buckets,
            source=Source.INGESTION,
            episode_id=identifier(self.id),
            **content,
            **valid_at_field(document.date),
        )
