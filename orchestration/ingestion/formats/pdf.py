"""`pdf`: PDF files, each one document with a section for each page. Pure.

The text is read as it was written into the file; a page that was scanned has none.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from itertools import islice
from typing import Any, Final

from orchestration.ingestion.formats.notebook import Page, Passage, parse_documents
from orchestration.ingestion.formats.parsed import File, FileSet, ParsedFiles
from orchestration.ingestion.formats.reader import Format, Reader
from schemas.errors import InvalidRequest
from substrate.language.text import count_of

FORM: Final = Format(
    "pdf",
    "a PDF file with text",
    (".pdf",),
    looks=lambda file: file.raw.startswith(b"%PDF-"),
    rank=-1,
    documents=True,
)
MOST_PAGES: Final = 5000
MOST_TEXTS: Final = 50_000
"""Texts that one page may show. A dense page, each letter set by itself, has 8,000."""
_SHOWS: Final = re.compile(rb"T[jJ]\b")
_DAMAGE: Final = (
    ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError, RecursionError, TypeError,
    ValueError,
)  # fmt: skip
"""What pypdf raises, beside its own errors, for files that do not follow the standard."""


def parse(files: FileSet) -> ParsedFiles:
    """Parse each file to one document.

    Raises InvalidRequest when none has a text, and when pypdf is not installed.
    """
    try:
        library = import_module("pypdf")  # an extra, and slow to load
    except ImportError as error:
        raise InvalidRequest(
            "PDF files are read by pypdf, which is not installed",
            remedy="Install it: pip install 'consciousness-substrate[pdf]'.",
        ) from error
    return parse_documents(files, FORM, lambda reader, file: _read(library, reader, file))


def _read(library: Any, reader: Reader, file: File) -> Page:
    if not file.raw.strip():
        reader.fail("", "is empty")
    damage = (library.errors.PyPdfError, *_DAMAGE)
    try:
        document = library.PdfReader(io.BytesIO(file.raw))
        if document.is_encrypted and not document.decrypt(""):
            reader.fail("", "is locked by a password")
        pages = list(islice(document.pages, MOST_PAGES + 1))
        facts = document.metadata
    except (library.errors.DependencyError, library.errors.FileNotDecryptedError):
        reader.fail("", "is locked")
    except damage as error:
        reader.fail("", f"is damaged, cut, or no PDF ({error})"[:200])
    if len(pages) > MOST_PAGES:
        reader.fail("", f"has more than {MOST_PAGES:,} pages")
    parts = tuple(_parts(reader, pages, damage))
    if not parts:
        held = count_of(len(pages), "page")
        reader.fail("", f"has {held} without any text: scans, of which the text must be recognised first")
    title = getattr(facts, "title", None)
    title = title.replace("\0", "") if isinstance(title, str) else None
    return Page(title, _date(facts, damage), "", parts)


def _parts(reader: Reader, pages: list[Any], damage: tuple[type[Exception], ...]) -> Iterator[Passage]:
    for number, page in enumerate(pages, start=1):
        try:
            drawn = page.get_contents()
            if drawn is not None and len(_SHOWS.findall(drawn.get_data())) > MOST_TEXTS:
                raise ValueError(f"it shows more than {MOST_TEXTS:,} texts")
            text = page.extract_text().strip()
        except damage as error:
            reader.faults.append(f"{reader.file}, page {number}: its text cannot be read ({error})"[:300])
            continue
        if text:
            yield Passage(f"page {number}", text)
        else:
            reader.left_out["pages without text, such as scans"] += 1


def _date(facts: Any, damage: tuple[type[Exception], ...]) -> datetime | None:
    """Return when the document was made, if the file says so in a form that can be read."""
    try:
        date = getattr(facts, "creation_date", None)
        return date.astimezone(UTC) if isinstance(date, datetime) and date.tzinfo else None
    except damage:
        return None
