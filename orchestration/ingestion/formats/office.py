"""Calendars, documents of Word, canvases of Obsidian, and what Claude keeps of a person. Pure.

`ics`: an event or a task is a memory, known by its UID. `docx`: a section for each heading, a line for each row of
a table. `canvas`: a section for each card, and the arrows between them. `claude-memories`: a document.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from functools import partial
from hashlib import blake2b
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree

from orchestration.identifiers import identifier
from orchestration.ingestion.formats.command_files import CommandFile
from orchestration.ingestion.formats.documents import Page, Passage, parse_documents
from orchestration.ingestion.formats.reader import (
    File,
    FileSet,
    Format,
    ParsedFiles,
    Reader,
    as_map,
    decode,
    read_readable,
    short_name,
)
from orchestration.ingestion.written_times import read_zone
from schemas.commands import Command
from schemas.errors import InvalidRequest
from schemas.memory import ResolutionState, Source

ICS: Final = Format(
    "ics",
    "a calendar with VEVENT, VTODO or VJOURNAL",
    (".ics", ".ical"),
    looks=lambda file: file.start.lstrip("\ufeff\r\n ").upper().startswith("BEGIN:VCALENDAR"),
)
_LINE: Final = re.compile(r'([\w-]+)((?:;[^=;:]+=(?:"[^"\n]*"|[^";:\n]*))*):(.*)')
_ZONE: Final = re.compile(r';TZID="?([^";]+)', re.IGNORECASE)
_KINDS: Final = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Entry"}
_ESCAPES: Final = re.compile(r"\\([nN,;\\])")
_TOLD: Final = (
    ("LOCATION", "Where"),
    ("ORGANIZER", "By"),
    ("ATTENDEE", "With"),
    ("RRULE", "Repeats"),
    ("URL", "See"),
)


class _Value(NamedTuple):
    given: str
    text: str


type _Entry = dict[str, list[_Value]]


def parse_ics(files: FileSet) -> ParsedFiles:
    """Parse each calendar to memories. Raises InvalidRequest when nothing can be read, and without a citizen."""
    items: list[CommandFile] = []

    def collect(reader: Reader, file: File) -> None:
        reader.check_text(file)
        commands: dict[str, Command] = {}
        for number, (kind, entry) in enumerate(read_entries(file.text), start=1):
            with reader.item():
                if value_of(entry, "STATUS") == "CANCELLED":
                    reader.left_out["cancelled events"] += 1
                    continue
                fields = read_event(reader, kind, entry, f"entry {number}")
                named = {"citizen_id": files.citizen_id, "command_id": fields["id"], **fields}
                commands[fields["id"]] = reader.command(f"entry {number}", named)
        if commands:
            items.append(CommandFile(file.name, files.citizen_id, tuple(commands.values()), are_rows=True))

    found = read_readable(files, ICS, collect)
    if not items:
        detail = found.faults[0] if found.faults else f"{files.files[-1].name}: holds no event"
        raise InvalidRequest(f"{detail}; {ICS.name} expects {ICS.shape}", remedy="Nothing was stored.")
    return replace(found, items=tuple(items))


def read_entries(text: str) -> Iterator[tuple[str, _Entry]]:
    """The events of a calendar with their values by name; alarms and the like inside of them are left out."""
    opened: list[str] = []
    entry: _Entry = {}
    for line in re.sub(r"\r?\n[ \t]", "", text).splitlines():
        match = _LINE.match(line)
        name, value = (match[1].upper(), match[3].strip()) if match else ("", "")
        if name == "BEGIN":
            opened.append(value.upper())
            entry = {} if value.upper() in _KINDS else entry
        elif name == "END" and opened:
            kind = opened.pop()
            if kind in _KINDS and entry:
                yield _KINDS[kind], entry
        elif match and opened and opened[-1] in _KINDS:
            entry.setdefault(name, []).append(_Value(match[2], _ESCAPES.sub(unescape, value)))


def unescape(found: re.Match[str]) -> str:
    """The character that an escape of a calendar stands for."""
    return "\n" if found[1] in "nN" else found[1]


def value_of(entry: _Entry, name: str) -> str:
    """The values of an entry under a name, without the address of a mail as a link."""
    return ", ".join(value.text.removeprefix("mailto:") for value in entry.get(name, ()))


def read_event(reader: Reader, kind: str, entry: _Entry, place: str) -> dict[str, Any]:
    """The fields of the memory of an event or a task."""
    title = value_of(entry, "SUMMARY") or short_name(value_of(entry, "DESCRIPTION")) or kind
    start, end, due = (read_moment(reader, entry, name, place) for name in ("DTSTART", "DTEND", "DUE"))
    times = " to ".join(moment.said for moment in (start, end) if moment)
    told = [title, f"When: {times}" if times else "", f"Due: {due.said}" if due else ""]
    told += [f"{label}: {value_of(entry, name)}" for name, label in _TOLD if entry.get(name)]
    done = value_of(entry, "STATUS") == "COMPLETED" or "COMPLETED" in entry
    state = ResolutionState.RESOLVED if done else ResolutionState.IN_PROGRESS
    since = start or read_moment(reader, entry, "CREATED", place)
    text = "\n".join(filter(None, (*told, value_of(entry, "DESCRIPTION"))))
    own = value_of(entry, "UID") or blake2b(text.encode(), digest_size=8).hexdigest()
    memory_id = identifier(f"ics:{own}:{value_of(entry, 'RECURRENCE-ID')}".rstrip(":"))
    tags = [tag.strip() for tag in value_of(entry, "CATEGORIES").split(",") if tag.strip()]
    return {
        "command": "remember",
        "id": memory_id,
        "source": Source.INGESTION,
        "node_type": kind,
        "name": short_name(reader.text(title, place)),
        "description": reader.text(text, place),
        "tags": tags[:64],
        **({"resolution_state": state} if kind == "Task" else {}),
        **({"valid_at": since.at} if since else {}),
    }


class _Moment(NamedTuple):
    at: datetime
    said: str


def read_moment(reader: Reader, entry: _Entry, name: str, place: str) -> _Moment | None:
    """A time of an event, and how it is said: in its own zone."""
    if not entry.get(name):
        return None
    given, text = entry[name][0]
    form = "%Y%m%dT%H%M%S" if "T" in text else "%Y%m%d"
    try:
        time = datetime.strptime(text.rstrip("Z"), form)  # noqa: DTZ007  # its zone stands beside it
    except ValueError:
        reader.fail(f"{place}, {name}", f"{text[:40]!r} is no time")
    zone: tzinfo | None = UTC if text.endswith("Z") or form == "%Y%m%d" else None
    named = _ZONE.search(given)
    if named and zone is None:
        try:
            zone = read_zone(named[1])
        except InvalidRequest:
            reader.counts[f"the time zone {named[1]!r} is not known"] += 1
    said = f"{time:%A %d %B %Y}" + (f" {time:%H:%M}" if "T" in text else "") + (f" ({named[1]})" if named else "")
    return _Moment(reader.local(time) if zone is None else time.replace(tzinfo=zone).astimezone(UTC), said)


DOCX: Final = Format(
    "docx", "a document of Word", (".docx",), looks=lambda file: is_docx(file.raw), rank=-1, documents=True
)
_BODY: Final = "word/document.xml"
_FACTS: Final = "docProps/core.xml"
MOST_XML: Final = 32 << 20
DEEPEST_XML: Final = 200
_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING: Final = re.compile(r"(?:heading|berschrift|titre|t[ií]?tulo|titolo|kop)\s*\d", re.IGNORECASE)
_READ: Final = frozenset(f"{_W}{tag}" for tag in ("p", "tc", "tr", "tbl"))
_SPACES: Final = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n"}
_BROKEN: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ElementTree.ParseError,
)


def is_docx(raw: bytes) -> bool:
    """True for the archive that a document of Word is."""
    if not raw.startswith(b"PK\x03\x04") or _BODY.encode() not in raw or raw.count(b"PK\x01\x02") > 5000:
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return _BODY in archive.namelist()
    except (*_BROKEN, ValueError):
        return False


def read_docx(reader: Reader, file: File) -> Page:
    """Raises InvalidRequest for a document that is damaged, cut or without text."""
    try:
        with zipfile.ZipFile(io.BytesIO(file.raw)) as archive:
            facts = {one.tag.partition("}")[2]: one.text for _, one in read_xml(reader, archive, _FACTS)}
            lines = list(read_paragraphs(read_xml(reader, archive, _BODY)))
    except (*_BROKEN, KeyError) as error:
        reader.fail("", f"is damaged or cut ({error})"[:200])
    parts: list[list[str]] = [[""]]
    for heading, text in lines:
        parts += [[text]] if heading else []
        parts[-1] += [] if heading else [text]
    made = facts.get("created")
    passages = tuple(Passage(short_name(one[0]), "\n".join(one[1:])) for one in parts[1:])
    text = "\n".join(parts[0][1:])
    if not text.strip() and not passages:
        reader.fail("", "has no text")
    return Page(facts.get("title"), reader.moment(made, "created") if made else None, text, passages)


def read_xml(reader: Reader, archive: zipfile.ZipFile, name: str) -> Iterator[tuple[str, ElementTree.Element]]:
    """The elements of a part as they start and end. Raises InvalidRequest for one that is too large."""
    if name not in archive.namelist():
        return
    with archive.open(name) as part:
        text = decode(part.read(MOST_XML + 1)).text or ""
    if len(text) > MOST_XML or "<!DOCTYPE" in text or "<!ENTITY" in text:
        reader.fail(name, f"has more than {MOST_XML >> 20} MiB, or defines entities")
    opened: list[ElementTree.Element] = []
    for event, element in ElementTree.iterparse(io.BytesIO(text.encode()), ("start", "end")):
        if event == "start":
            opened.append(element)
            if len(opened) > DEEPEST_XML:
                reader.fail(name, f"has elements in more than {DEEPEST_XML} others")
            yield event, element
            continue
        yield event, element
        opened.pop()
        if opened and element.tag in _READ:  # so that a long document is never in memory as a whole
            opened[-1].remove(element)


def read_paragraphs(elements: Iterator[tuple[str, ElementTree.Element]]) -> Iterator[tuple[bool, str]]:
    """Each paragraph, and each row of a table as one, with whether it is a heading."""
    cells: list[str] = []
    depth = 0
    for event, element in elements:
        tag = element.tag.removeprefix(_W)
        if tag == "tc":
            depth += 1 if event == "start" else -1
            cells += [""] if event == "start" and depth == 1 else []
        elif tag == "tr" and event == "end" and not depth:
            yield False, " | ".join(map(str.strip, cells))
            cells = []
        elif tag == "p" and event == "end":
            style, item = element.find(f"{_W}pPr/{_W}pStyle"), element.find(f"{_W}pPr/{_W}numPr")
            pieces = (one.text if one.tag == f"{_W}t" else _SPACES.get(one.tag) for one in element.iter())
            words = "".join(filter(None, pieces))
            heading = style is not None and _HEADING.match(style.get(f"{_W}val") or "") is not None
            if depth and cells:
                cells[-1] += f" {words}"
            elif words.strip():
                yield heading, f"- {words}" if item is not None and not heading else words


def read_canvas(reader: Reader, file: File) -> Page:
    """Raises InvalidRequest for a canvas without cards."""
    value = as_map(reader.document(file))
    nodes = [node for node in value.get("nodes") or () if isinstance(node, dict)]
    names: dict[str, str] = {}
    for node in nodes:
        held = next((node[key] for key in ("text", "label", "file", "url") if node.get(key)), "")
        names[str(node.get("id"))] = short_name(reader.text(held, "node").strip().partition("\n")[0].lstrip("# "))
    lines = [
        f"{node['type']}: {names[str(node.get('id'))]}" for node in nodes if node.get("type") in ("file", "link")
    ]
    for edge in map(as_map, value.get("edges") or ()):
        ends = [names.get(str(edge.get(end))) or "?" for end in ("fromNode", "toNode")]
        lines.append(" → ".join(ends) + (f": {edge['label']}" if edge.get("label") else ""))
    cards = (node for node in nodes if str(node.get("text") or "").strip())
    parts = tuple(Passage(names[str(card.get("id"))] or "card", card["text"]) for card in cards)
    if not parts and not lines:
        reader.fail("", "has no card")
    return Page(None, None, reader.text("\n".join(lines), "edges"), parts)


CANVAS: Final = Format(
    "canvas", '{"nodes": [{"id", "type", "text"}], "edges": [{"fromNode", "toNode"}]}', (".canvas",),
    holds=lambda names: names.near("nodes", depth=1) and names.has("x", "y", "width", "height"),
    documents=True,
)  # fmt: skip


def read_memories(reader: Reader, file: File) -> Page:
    """Raises InvalidRequest for a file without memories."""
    value = reader.document(file)
    texts: list[str] = []
    for entry in map(as_map, value if isinstance(value, list) else [value]):
        texts += filter(None, (entry.get("conversations_memory"), *as_map(entry.get("project_memories")).values()))
    if not texts:
        reader.fail("", "holds no memory")
    return Page("What Claude remembers", None, "\n\n".join(reader.text(text, "memory") for text in texts))


MEMORIES: Final = Format(
    "claude-memories", 'a list of {"conversations_memory", "project_memories"}', (".json",),
    holds=lambda names: names.near("conversations_memory", "project_memories"), documents=True,
)  # fmt: skip
parse_docx: Final = partial(parse_documents, form=DOCX, read=read_docx)
parse_canvas: Final = partial(parse_documents, form=CANVAS, read=read_canvas)
parse_memories: Final = partial(parse_documents, form=MEMORIES, read=read_memories)
