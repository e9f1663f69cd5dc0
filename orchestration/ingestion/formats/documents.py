"""Files that are one document each: texts, web pages and PDF files. Pure.

`html`: a section for each heading. Scripts, styles, navigation and hidden elements are left out, and quotations
get a `>` before each line. `pdf`: a section for each page, with the text as it was written into the file; a page
that was scanned has none.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from html.parser import HTMLParser
from itertools import islice
from typing import Any, Final, NamedTuple

from orchestration.ingestion.formats.notebook import Document, Notebook, Section, day_of, free_key
from orchestration.ingestion.formats.reader import (
    DAMAGE,
    File,
    FileSet,
    Format,
    ParsedFiles,
    Reader,
    read_readable,
)
from schemas.errors import InvalidRequest
from substrate.inference.providers import import_with
from substrate.language.text import count_of


class Passage(NamedTuple):
    """A part of a page: its heading, and the text below it."""

    heading: str
    text: str


class Page(NamedTuple):
    """What a file says: a title and a date if it has one, the text before its parts, its parts."""

    title: str | None
    date: datetime | None
    text: str
    parts: tuple[Passage, ...] = ()


def parse_documents(files: FileSet, form: Format, read: Callable[[Reader, File], Page]) -> ParsedFiles:
    """Build a notebook of the documents that `read` finds. A file that cannot be read is a fault.

    A document without a date has the day at the start of its name (`2024-03-01 Standup.txt`), else the time at
    which its file was changed. Raises InvalidRequest when no file can be read, and without a citizen.
    """
    documents: list[Document] = []

    def collect(reader: Reader, file: File) -> None:
        page = read(reader, file)
        own_date = page.date or day_of(file.stem)
        title = reader.name(page.title, "title") if page.title and page.title.strip() else file.stem
        sections: list[Section] = []
        keys: dict[str, int] = {}
        for part in page.parts:
            heading = reader.name(part.heading, "heading")
            text = reader.text(part.text.strip(), f"section {heading}")
            sections.append(Section(free_key(heading, keys), heading, text))
        documents.append(
            Document(
                path=file.name,
                title=title,
                text=reader.text(page.text.strip(), "text"),
                date=own_date or file.modified,
                sections=tuple(sections),
                aliases=() if title == file.stem else (file.stem,),
                dated=own_date is not None,
            )
        )

    in_order = tuple(sorted(files.files, key=lambda file: file.name))
    found = read_readable(replace(files, files=in_order), form, collect)
    if not documents or files.citizen_id is None:
        detail = f"{found.faults[0]}; {form.name} expects {form.shape}"
        raise InvalidRequest(detail, remedy="Nothing was stored.")
    return replace(found, items=(Notebook(files.name, files.citizen_id, tuple(documents)),))


TEXT: Final = Format("text", "a text in UTF-8, UTF-16 or Windows-1252", (".txt", ".text"), documents=True)


def _read_text(reader: Reader, file: File) -> Page:
    reader.check_text(file)
    return Page(None, None, file.text.replace("\r\n", "\n").replace("\f", "\n"))


parse_texts: Final = partial(parse_documents, form=TEXT, read=_read_text)


_PAGE: Final = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?>(?><!--.*?-->\s*)*)<(?:!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
HTML: Final = Format(
    "html",
    "a web page",
    (".html", ".htm"),
    looks=lambda file: _PAGE.match(file.start) is not None,
    rank=5,
    documents=True,
)
_SKIPPED: Final = frozenset(("script", "style", "template", "noscript", "svg", "head", "nav", "select", "button"))
_VOID: Final = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
_BLOCKS: Final = frozenset(
    ("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt",
     "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html", "li", "main", "ol", "p", "pre",
     "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul")
)  # fmt: skip
_PARAGRAPHS: Final = frozenset(("p", "blockquote", "pre", "table", "ul", "ol", "dl", "figure"))
_HEADINGS: Final = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_HIDDEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_DATES: Final = frozenset(("article:published_time", "date", "dc.date", "dcterms.date", "datepublished"))
_UNSEEN: Final = re.compile(
    r"<(script|style)\b[^>]*+(?:(?<!/)>.*?(?:</\1\b[^>]*(?:>|\Z)|\Z)|\Z)|<!--.*?(?:-->|\Z)|<[!?][^>]*(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
"""Scripts, comments and declarations, as browsers end them. The library seeks an end to the end for each."""
_TAG: Final = re.compile("<[a-zA-Z/][^>]*+(>?)")
MOST_TAGS: Final = 500_000
MOST_ATTRIBUTES: Final = 10_000
DEEPEST_QUOTE: Final = 100
_SPACES: Final = re.compile(r"[ \t\r\n\f\u00a0]+")
_GAPS: Final = re.compile(r"\n{3,}")


def _read_html(reader: Reader, file: File) -> Page:
    reader.check_text(file)
    try:
        page = read_page(file.text)
    except ValueError as error:
        reader.fail("", str(error))
    parts = [Passage(part.heading, part.text) for part in page.parts if part.heading]
    before = page.parts[0].text
    if not before.strip() and not parts:
        reader.fail("", "has no text outside of scripts and navigation")
    title = page.title or None
    if not before.strip() and parts and page.depths[1] == "h1":
        title, before = title or parts[0].heading, parts[0].text
        parts = parts[1:]
    date = reader.moment(page.date, "its date") if page.date else None
    return Page(title, date, before, tuple(parts))


parse_html: Final = partial(parse_documents, form=HTML, read=_read_html)


def to_text(markup: str) -> str:
    """Return the text of a page, with headings on lines of their own."""
    page = read_page(markup)
    texts = (f"{part.heading}\n{part.text}".strip() for part in page.parts)
    return "\n\n".join(filter(None, texts))


@dataclass(frozen=True, slots=True)
class PageText:
    """The title of a page, its date as it stands there, and its parts; the first one has no heading."""

    title: str
    date: str
    parts: tuple[Passage, ...]
    depths: tuple[str, ...]
    """The element of the heading of each part, such as `h2`."""


def read_page(markup: str) -> PageText:
    """Read any markup, however broken; what is never closed ends with the text, and a tag without end is a text.

    Raises ValueError for more than `MOST_TAGS` tags, and for quotations deeper than `DEEPEST_QUOTE`.
    """
    if markup.count("<") > MOST_TAGS:
        raise ValueError(f"has {markup.count('<'):,} tags; at most {MOST_TAGS:,} are read")
    seen = _UNSEEN.sub("", markup)
    end = len(seen)
    for tag in _TAG.finditer(seen):
        if len(tag[0]) > MOST_ATTRIBUTES and len(tag[0].split()) > MOST_ATTRIBUTES:
            raise ValueError(f"has a tag of more than {MOST_ATTRIBUTES:,} attributes")
        end = end if tag[1] else tag.start()
    reader = _PageReader()
    reader.feed(seen[:end] + seen[end:].replace("<", "&lt;"))
    reader.close()
    parts = tuple(Passage(_line("".join(part.heading)), part.text()) for part in reader.parts)
    return PageText(_line("".join(reader.title)), reader.date, parts, tuple(part.element for part in reader.parts))


def _line(text: str) -> str:
    return " ".join(text.split())


@dataclass(slots=True)
class _Draft:
    element: str = ""
    heading: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    def text(self) -> str:
        lines = (line.rstrip() for line in "".join(self.pieces).split("\n"))
        return _GAPS.sub("\n\n", "\n".join(lines)).strip("\n")


class _PageReader(HTMLParser):
    """Collects the text of the elements that a reader sees."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title: list[str] = []
        self.date = ""
        self.parts = [_Draft()]
        self._skipped = ""
        self._skipped_depth = 0
        self._in_title = False
        self._in_heading = False
        self._kept_spaces = 0
        self._quotes = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        if tag == "meta" and (known.get("property") or known.get("name") or "").lower() in _DATES:
            self.date = self.date or known.get("content", "")
        self._in_title = tag == "title" and self._skipped in ("", "head")
        if self._is_skipped(tag, known):
            return
        if tag in _HEADINGS:
            self.parts.append(_Draft(tag))
            self._in_heading = True
        elif tag == "br":
            self._end_line()
        elif tag in _BLOCKS:
            self._begin_block(tag)
        elif tag in ("td", "th"):
            self._add(" ")

    def _is_skipped(self, tag: str, attributes: dict[str, str]) -> bool:
        """Begin, deepen or end what is skipped; True while it lasts."""
        if self._skipped == "head" and tag == "body":
            self._skipped, self._skipped_depth = "", 0
        if self._skipped:
            self._skipped_depth += tag == self._skipped
            return True
        is_hidden = "hidden" in attributes or _HIDDEN.search(attributes.get("style", "")) is not None
        if tag in _SKIPPED or (is_hidden and tag not in _VOID):
            self._skipped, self._skipped_depth = tag, 1
        return bool(self._skipped)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if self._skipped:
            self._skipped_depth -= tag == self._skipped
            self._skipped = self._skipped if self._skipped_depth else ""
            return
        if tag in _HEADINGS:
            self._in_heading = False
        elif tag in _BLOCKS:
            self._end_block(tag)
            self._quotes = max(0, self._quotes - (tag == "blockquote"))
            self._kept_spaces = max(0, self._kept_spaces - (tag == "pre"))

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._skipped:
            self._add(data if self._kept_spaces else _SPACES.sub(" ", data))

    def _add(self, text: str) -> None:
        part = self.parts[-1]
        if self._in_heading:
            part.heading.append(text)
            return
        begins = not part.pieces or part.pieces[-1].endswith("\n")
        if begins and not self._kept_spaces:
            text = text.lstrip(" ")
        if not text:
            return
        quote = "> " * self._quotes
        text = text.replace("\n", f"\n{quote}")
        part.pieces.append(f"{quote}{text}" if begins else text)

    def _end_line(self) -> None:
        if self._in_heading:
            self.parts[-1].heading.append(" ")
        elif self.parts[-1].pieces:
            self.parts[-1].pieces.append("\n")

    def _begin_block(self, tag: str) -> None:
        self._end_block(tag)
        self._quotes += tag == "blockquote"
        if self._quotes > DEEPEST_QUOTE:
            raise ValueError(f"has quotations in more than {DEEPEST_QUOTE:,} others")
        self._kept_spaces += tag == "pre"
        if tag == "li":
            self._add("- ")

    def _end_block(self, tag: str) -> None:
        self._in_heading = False
        pieces = self.parts[-1].pieces
        if pieces and not pieces[-1].endswith("\n"):
            pieces.append("\n")
        if tag in _PARAGRAPHS and len(pieces) > 1 and pieces[-2:] != ["\n", "\n"]:
            pieces.append("\n")


PDF: Final = Format(
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


def parse_pdf(files: FileSet) -> ParsedFiles:
    """Parse each file to one document. Raises InvalidRequest when none has a text, or without pypdf."""
    library = import_with("pdf", "pypdf")  # slow to load
    return parse_documents(files, PDF, partial(_read_pdf, library))


def _read_pdf(library: Any, reader: Reader, file: File) -> Page:
    if not file.raw.strip():
        reader.fail("", "is empty")
    damage = (library.errors.PyPdfError, *DAMAGE)
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
    try:
        date = getattr(facts, "creation_date", None)
        made = date.astimezone(UTC) if isinstance(date, datetime) and date.tzinfo else None
    except damage:
        made = None
    return Page(title, made, "", parts)


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
