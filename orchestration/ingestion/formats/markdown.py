"""`markdown`: a folder of notes. Pure.

Each file is a document, each heading a section of it. Understood are front matter (`title`, `date`, `tags`,
`aliases`), `#tags`, `[[wikilinks]]` and relative links to other notes; what stands in code is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count
from posixpath import dirname, normpath
from posixpath import join as join_path
from typing import Final, NamedTuple
from urllib.parse import unquote

from markdown_it import MarkdownIt

from orchestration.ingestion.formats.front_matter import front_matter
from orchestration.ingestion.formats.notebook import Document, Notebook, Section
from orchestration.ingestion.formats.parsed import File, Given, Intake
from orchestration.ingestion.formats.reader import Format, Reader, fault, moment

FORM: Final = Format("markdown", "a folder of notes, UTF-8 texts whose names end in .md")
MAX_TAGS: Final = 64
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)\Z")
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_TAG = re.compile(r"(?:^|(?<=\s))#([^\W\d][\w/-]*|\d+[^\W\d][\w/-]*)")
_WIKILINK = re.compile(r"\[\[([^\[\]|#\n]+)(?:[|#][^\[\]\n]*)?\]\]")
_LINK = re.compile(r"\]\(<?([^()<>\s#?]+\.md)(?:#[^()\s]*)?>?(?:\s+\"[^\"\n]*\")?\)", re.IGNORECASE)

# The id of a section is made of its heading, so what counts as a heading must not change: an underlined line is
# none, and a line between HTML tags can be one.
_PARSER: Final = MarkdownIt("commonmark").disable(["lheading", "html_block", "reference"])
_PARSER.core.ruler.enableOnly(["normalize", "block"])


class _Block(NamedTuple):
    """A heading and the lines below it. `number`: its line in the file; `depth`: 1 to 6, 0 without a heading."""

    number: int
    depth: int
    heading: str
    lines: list[str]
    prose: list[str]
    """The lines without code: where tags and links are looked for."""


def parse(given: Given) -> Intake:
    """One notebook of all files. The date of a note is its front matter's `date`, else the day with which its
    name begins (`2024-03-01 Standup.md`), else the time at which its file was changed.

    Raises InvalidRequest naming the first file that is empty, too long in one section, or badly dated.
    """
    if given.citizen_id is None:
        raise fault(FORM, given.name, "", "does not say whose notes they are: name a citizen")
    notes: list[str] = []
    read: list[tuple[Document, str]] = []
    for file in sorted(given.files, key=lambda file: file.name):
        reader = Reader(FORM, file.name)
        read.append(_document(reader, file))
        notes += reader.notes()
    places = _places([document for document, _ in read])
    documents = []
    for document, prose in read:
        targets, lost = _mentions(document.path, prose, places)
        documents.append(replace(document, mentions=targets))
        if lost:
            notes.append(f"{document.path}: links lead to no note here, such as {lost[0]} ({len(lost)})")
    return Intake((Notebook(given.name, given.citizen_id, tuple(documents)),), tuple(notes))


def _document(reader: Reader, file: File) -> tuple[Document, str]:
    """The document of a file, and its prose: the text without code, where links are looked for."""
    text = reader.text(file.text, "", limit=len(file.text)).replace("\r\n", "\n")
    if not text.strip():
        reader.fail("", "is empty")
    head, body, first_line = front_matter(text)
    blocks = _blocks(body, first_line)
    stem = file.name.rpartition("/")[2].rsplit(".", 1)[0] or file.name
    title, opening, rest = _titled(blocks, stem)
    said = reader.name(head["title"][0], "front matter, title") if head.get("title") else title
    aliases = tuple(dict.fromkeys(name for name in (*head.get("aliases", ()), stem) if name != said))
    said_when = reader.moment(head["date"][0], "front matter, date") if head.get("date") else _day(stem)
    prose = "\n".join(line for block in blocks for line in _prose_of(block))
    document = Document(
        path=file.name,
        title=said,
        text=reader.text("\n".join(opening.lines).strip(), f"line {first_line}"),
        date=said_when or file.modified,
        sections=tuple(_sections(reader, rest)),
        tags=_tags(reader, opening.prose, head.get("tags", ())),
        aliases=aliases[:MAX_TAGS],
        dated=said_when is not None,
    )
    return document, prose


def _day(stem: str) -> datetime | None:
    """The day with which the name of a note begins, in UTC; None for a name like any other."""
    written = _DAY.match(stem)
    if written is None:
        return None
    try:
        return moment(written[0])[0]
    except ValueError:
        return None


def _titled(blocks: Sequence[_Block], stem: str) -> tuple[str, _Block, Sequence[_Block]]:
    """Title, opening and sections. A level-1 heading at the very top is the title, not a section."""
    opening, *rest = blocks
    if rest and rest[0].depth == 1 and not "".join(opening.lines).strip():
        return rest[0].heading, rest[0], rest[1:]
    return stem, opening, rest


def _blocks(body: str, first_line: int) -> list[_Block]:
    """What stands before the first heading, and under each heading."""
    heading_lines, code_lines = _marked_lines(body)
    blocks = [_Block(first_line, 0, "", [], [])]
    for number, line in enumerate(body.split("\n")):
        match = _HEADING.match(line) if number in heading_lines else None
        heading = match[2].rstrip(" \t").rstrip("#").rstrip(" \t") if match else ""
        if match and heading:
            blocks.append(_Block(first_line + number, len(match[1]), heading, [], []))
            continue
        blocks[-1].lines.append(line)
        if number not in code_lines:
            blocks[-1].prose.append(_INLINE_CODE.sub(" ", line))
    return blocks


def _marked_lines(body: str) -> tuple[set[int], set[int]]:
    """The numbers of the lines that are headings, and of those in fenced code; the first line is 0."""
    headings: set[int] = set()
    code: set[int] = set()
    for token in _PARSER.parse(body.replace("\r", " ")):  # a lone carriage return ends no line here
        if token.type == "heading_open" and token.map:
            headings.add(token.map[0])
        elif token.type == "fence" and token.map:
            code.update(range(*token.map))
    return headings, code


def _sections(reader: Reader, blocks: Sequence[_Block]) -> Iterator[Section]:
    keys: set[str] = set()
    for block in blocks:
        heading = reader.name(block.heading, f"line {block.number}, heading")
        key = next(key for n in count(1) if (key := heading if n == 1 else f"{heading}~{n}") not in keys)
        keys.add(key)
        yield Section(
            key=key,
            heading=heading,
            text=reader.text("\n".join(block.lines).strip(), f"line {block.number}, section {heading}"),
            tags=_tags(reader, _prose_of(block)),
        )


def _prose_of(block: _Block) -> list[str]:
    return [_INLINE_CODE.sub(" ", block.heading), *block.prose]


def _tags(reader: Reader, prose: Sequence[str], more: Sequence[str] = ()) -> tuple[str, ...]:
    found = [tag.lstrip("#") for tag in more]
    for line in prose:
        found += _TAG.findall(line)
    distinct = list(dict.fromkeys(tag.rstrip("/-") for tag in found if tag.rstrip("/-")))
    if len(distinct) > MAX_TAGS:
        reader.counts[f"notes had more than {MAX_TAGS} tags, of which the first were kept"] += 1
    return tuple(distinct[:MAX_TAGS])


def _places(documents: Sequence[Document]) -> dict[str, str]:
    """What a wikilink may call a note, in lower case → its path. The first note of a name has it."""
    places = {document.path.lower(): document.path for document in documents}
    for document in documents:
        without = document.path.rsplit(".", 1)[0]
        for name in (without, without.rpartition("/")[2], *document.aliases, document.title):
            places.setdefault(name.lower(), document.path)
    return places


def _mentions(path: str, prose: str, places: Mapping[str, str]) -> tuple[tuple[str, ...], list[str]]:
    """Paths of the notes that the prose links to, each once and never itself; and links that lead nowhere."""
    asked = [(name.strip(), name.strip().lower()) for name in _WIKILINK.findall(prose)]
    for target in _LINK.findall(prose):
        if "://" not in target:
            asked.append((target, normpath(join_path(dirname(path), unquote(target))).lower()))
    found = dict.fromkeys(places[key] for _, key in asked if key in places)
    return tuple(place for place in found if place != path), [name for name, key in asked if key not in places]
