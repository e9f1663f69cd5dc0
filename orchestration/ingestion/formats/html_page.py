"""`html`: web pages, each one document with a section for each heading. Pure.

Scripts, styles, navigation and hidden elements are left out, and quotations get a `>` before each line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

from orchestration.ingestion.formats.notebook import Page, Passage, parse_documents
from orchestration.ingestion.formats.parsed import File, FileSet, ParsedFiles
from orchestration.ingestion.formats.reader import Format, Reader

_PAGE: Final = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?>(?><!--.*?-->\s*)*)<(?:!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
FORM: Final = Format(
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


def parse(files: FileSet) -> ParsedFiles:
    """Parse each page to one document. Raises InvalidRequest when none has a text."""
    return parse_documents(files, FORM, _read)


def _read(reader: Reader, file: File) -> Page:
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
