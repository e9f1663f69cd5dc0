"""`text`: plain texts, each one document. Pure."""

from __future__ import annotations

from typing import Final

from orchestration.ingestion.formats.documents import Page, parse_documents
from orchestration.ingestion.formats.parsed import File, FileSet, ParsedFiles
from orchestration.ingestion.formats.reader import Format, Reader

FORM: Final = Format("text", "a text in UTF-8, UTF-16 or Windows-1252")


def parse(files: FileSet) -> ParsedFiles:
    """Parse each file to one document. Raises InvalidRequest when none is a text."""
    return parse_documents(files, FORM, _read)


def _read(reader: Reader, file: File) -> Page:
    reader.check_text(file)
    return Page(None, None, file.text.replace("\r\n", "\n").replace("\f", "\n"))
