"""Files that are each one document, such as a text or a page: together they are a notebook. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Final, NamedTuple

from orchestration.ingestion.formats.notebook import Document, Notebook, Section, free_key
from orchestration.ingestion.formats.parsed import File, FileSet, ParsedFiles
from orchestration.ingestion.formats.reader import Format, Reader
from orchestration.ingestion.written_times import parse_time
from schemas.errors import InvalidRequest

TEXT: Final = Format("text", "a text in UTF-8, UTF-16 or Windows-1252")
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")
ENDINGS: Final = (".md", ".markdown", ".txt", ".text", ".html", ".htm", ".pdf")
"""The endings of files that are documents, which are named by their place in their folder."""


class Part(NamedTuple):
    """A part of a document: its heading, and the text below it."""

    heading: str
    text: str


class Page(NamedTuple):
    """What a file says: a title and a date if it has one, the text before its parts, its parts."""

    title: str | None
    date: datetime | None
    text: str
    parts: tuple[Part, ...] = ()


def parse_documents(files: FileSet, form: Format, read: Callable[[Reader, File], Page]) -> ParsedFiles:
    """Build a notebook of the documents that `read` finds. A file that cannot be read is a fault.

    A document without a date has the day at the start of its name (`2024-03-01 Standup.txt`), else the time at
    which its file was changed. Raises InvalidRequest when no file can be read, and without a citizen.
    """
    documents: list[Document] = []
    readers: list[Reader] = []
    for file in sorted(files.files, key=lambda file: file.name):
        reader = Reader(form, file.name, zone=files.zone)
        readers.append(reader)
        if files.citizen_id is None:
            reader.fail("", "has no owner: name a citizen")
        with reader.item():
            documents.append(_document(reader, file, read(reader, file)))
    faults = tuple(fault for reader in readers for fault in reader.faults)
    if not documents or files.citizen_id is None:
        detail = f"{faults[0]}; {form.name} expects {form.shape}"
        raise InvalidRequest(detail, remedy="Nothing was stored.")
    notes = tuple(note for reader in readers for note in reader.notes())
    return ParsedFiles((Notebook(files.name, files.citizen_id, tuple(documents)),), notes, faults)


def parse_texts(files: FileSet) -> ParsedFiles:
    """Parse each file as a plain text. Raises InvalidRequest when none is a text."""
    return parse_documents(files, TEXT, _read_text)


def _read_text(reader: Reader, file: File) -> Page:
    reader.check_text(file)
    return Page(None, None, file.text.replace("\r\n", "\n").replace("\f", "\n"))


def _document(reader: Reader, file: File, page: Page) -> Document:
    stem = file.name.rpartition("/")[2].rsplit(".", 1)[0] or file.name
    own_date = page.date or day_of(stem)
    title = reader.name(page.title, "title") if page.title and page.title.strip() else stem
    return Document(
        path=file.name,
        title=title,
        text=reader.text(page.text.strip(), "text"),
        date=own_date or file.modified,
        sections=tuple(_sections(reader, page.parts)),
        aliases=() if title == stem else (stem,),
        dated=own_date is not None,
    )


def _sections(reader: Reader, parts: Iterable[Part]) -> Iterator[Section]:
    keys: dict[str, int] = {}
    for part in parts:
        heading = reader.name(part.heading, "heading")
        yield Section(free_key(heading, keys), heading, reader.text(part.text.strip(), f"section {heading}"))


def day_of(stem: str) -> datetime | None:
    """Return the day at the start of the name of a file, in UTC; None when there is none."""
    day = _DAY.match(stem)
    if day is None:
        return None
    try:
        return parse_time(day[0]).at
    except ValueError:
        return None
