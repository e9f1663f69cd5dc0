"""What all formats share: files and what they become, texts in any encoding, and a reader of JSON and of values.

Every error of it is one line with its place. Pure.
"""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, NamedTuple, NoReturn, Protocol, cast

from pydantic import TypeAdapter, ValidationError

from orchestration.ingestion.written_times import Numbers, order_of, parse_time, type_name
from schemas.base import MAX_LONG_TEXT, CitizenId, check_storable_json
from schemas.commands import ANY_COMMAND, Command
from schemas.errors import InvalidRequest
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
    `others`: the names of those that no format reads, or that stand beside the conversations of an export.
    """

    name: str
    files: tuple[File, ...]
    citizen_id: str | None = None
    zone: tzinfo | None = None
    unread: Mapping[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()


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


_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks and their encodings; the longer ones first, because one begins with another."""
_LOOKED_AT: Final = 4096
"""Bytes by which UTF-16 without a mark, and files that are no text, are recognised."""
_LONGEST: Final = 4
"""Bytes of the longest character in UTF-8."""


class DecodedText(NamedTuple):
    """A text, or None for a file that is none; and the encoding, when it had to be assumed."""

    text: str | None
    assumed: str | None = None


def decode(raw: bytes) -> DecodedText:
    """Decode UTF-8, UTF-16 and UTF-32 with or without a mark, and anything else as Windows-1252.

    A last character of which only a part is there is left out, if others show that it is UTF-8: the file was cut.
    """
    marked = next((name for mark, name in _MARKS if raw.startswith(mark)), None)
    if marked is not None:
        return DecodedText(raw.decode(marked, "replace").rstrip("\ufffd"))
    # UTF-16 without a mark: in most texts every second byte is zero, and few of the others.
    start = raw[:_LOOKED_AT]
    even, odd = start[0::2].count(0), start[1::2].count(0)
    if max(even, odd) >= max(2, len(start) // 5) and min(even, odd) <= len(start) // 20:
        wide = "utf-16-be" if even > odd else "utf-16-le"
        return DecodedText(raw.decode(wide, "replace").rstrip("\ufffd"), wide.upper())
    try:
        return DecodedText(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        whole = raw[: error.start]
        if error.reason == "unexpected end of data" and len(raw) - len(whole) < _LONGEST and not whole.isascii():
            return DecodedText(whole.decode("utf-8"))
    if b"\0" in raw[:_LOOKED_AT]:
        return DecodedText(None)
    return DecodedText(raw.decode("latin-1").translate(_WINDOWS), "Windows-1252")


_WINDOWS: Final = {
    byte: character for byte in range(128, 160) if (character := bytes([byte]).decode("cp1252", "ignore"))
}
"""What Windows-1252 has where Latin-1 has control characters; five of these stay, and are left out later."""


DAMAGE: Final = (
    ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError, RecursionError, TypeError,
    ValueError,
)  # fmt: skip
"""What parsers and libraries raise for files that no program should write."""
NOTHING_SAID: Final = "holds no message with a text"
"""The fault of a file that can be read, but in which nobody says anything."""
MAX_NAME: Final = 1000
MOST_FAULTS: Final = 10_000
"""A file with more holds something else."""
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_CITIZEN: Final[TypeAdapter[str]] = TypeAdapter(CitizenId)
LOOKED_AT: Final = 1 << 18
"""The characters of a JSON file whose names say what it is."""
JSON: Final = (".json", ".jsonl", ".ndjson")
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|["{}\[\]]', re.DOTALL)
_KEY: Final = re.compile(r"\s*:")
_CLOSING: Final = {"[": "]", "{": "}"}


class Name(NamedTuple):
    """A name in a document, and the number of lists and objects around it."""

    depth: int
    name: str


class Names(frozenset[Name]):
    """The names at the beginning of a JSON document; none for another file."""

    def has(self, *wanted: str) -> bool:
        """True when all of these names stand there."""
        return set(wanted) <= {name.name for name in self}

    def near(self, *wanted: str, depth: int = 2) -> bool:
        """True when one of the names stands near the top: in the document, or in the items of its list."""
        return any(name.name in wanted and name.depth <= depth for name in self)


@dataclass(frozen=True, slots=True)
class Format:
    """What is known of a format before its files are parsed: its name, and the shape that its errors name.

    `endings`: of its files; without any, those of all formats. `holds`: whether a file is one, by the names in it.
    `looks`: the same by how it begins. `rank`: the lower ones are asked first, because what the higher ones look
    for stands in files of others too. Without `holds` and `looks`, its files are known by their endings.
    `documents`: each file is one, and is named by its place in its folder. `of_store`: it holds commands, or what
    another store had of many; no upload takes it, since commands have an address of their own.
    """

    name: str
    shape: str
    endings: tuple[str, ...] = ()
    holds: Callable[[Names], bool] | None = None
    looks: Callable[[File], bool] | None = None
    rank: int = 0
    documents: bool = False
    of_store: bool = False


def fault(form: Format, file: str, place: str, problem: str) -> InvalidRequest:
    """Return the error for a file in another format: the place, the problem, the expected shape."""
    where = f"{file}, {place}" if place else file
    return InvalidRequest(f"{where}: {problem}; {form.name} expects {form.shape}", remedy="Nothing was stored.")


def invalid_field(error: ValidationError, *, skip: int = 0) -> tuple[str, str]:
    """Return the first field that pydantic refused, and why, without the first `skip` parts of its path."""
    first = error.errors(include_url=False)[0]
    return ".".join(map(str, first["loc"][skip:])), first["msg"].removeprefix("Value error, ").rstrip(".")


@dataclass
class Reader:
    """Reads the values of one file and counts its assumptions. Raises InvalidRequest with the place of a fault.

    `zone`: of times that name none. `left_out`: what is not read, by kind. `faults`: of items that cannot be read.
    """

    form: Format
    file: str
    removed: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    zone: tzinfo | None = None
    left_out: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    @contextmanager
    def item(self) -> Iterator[None]:
        """Read one item of several: its fault is kept in `faults`, and the rest of the item is not read."""
        try:
            yield
        except InvalidRequest as error:
            self.faults.append(error.detail.partition(f"; {self.form.name} expects")[0])
            if len(self.faults) == MOST_FAULTS:
                self.fail("", f"has more than {MOST_FAULTS:,} faults")

    def fail(self, place: str, problem: str) -> NoReturn:
        raise fault(self.form, self.file, place, problem)

    def owner(self, citizen_id: str | None) -> str:
        """Return the citizen. Raises InvalidRequest when none is named."""
        return citizen_id if citizen_id is not None else self.fail("", "has no owner: name a citizen")

    def check_text(self, file: File) -> None:
        """Raises InvalidRequest for a file that is empty or is no text."""
        if not file.text.strip():
            self.fail("", "is no text" if file.raw.strip() else "is empty")

    def text(self, value: Any, place: str, *, limit: int = MAX_LONG_TEXT) -> str:
        """Return a text of at most `limit` characters, without its control characters."""
        if not isinstance(value, str):
            self.fail(place, f"is {type_name(value)}, not a text")
        plain, removed = _UNSTORABLE.subn("", value)
        self.removed += removed
        if len(plain) > limit:
            self.fail(place, f"has {len(plain):,} characters; at most {limit:,} are allowed")
        return plain

    def name(self, value: Any, place: str) -> str:
        """Return a text on one line, not empty, of at most `MAX_NAME` characters."""
        plain = " ".join(self.text(value, place, limit=MAX_NAME).split())
        return plain or self.fail(place, "is empty")

    def moment(self, value: Any, place: str) -> datetime:
        """Return a time in UTC, as `parse_time` reads it."""
        try:
            time = parse_time(value)
            return time.at if time.zoned else self.local(time.at.replace(tzinfo=None))
        except (ValueError, OverflowError) as error:
            raise fault(self.form, self.file, place, f"{repr(value)[:60]} is no time ({error})"[:200]) from error

    def moment_of(self, entry: Mapping[str, Any], name: str, place: str) -> datetime | None:
        """Return the time in a field that may be missing."""
        value = entry.get(name)
        return None if value is None else self.moment(value, f"{place}, {name}")

    def local(self, time: datetime) -> datetime:
        """Return a time without a zone in UTC; it is one of `zone`."""
        if self.zone is None:
            self.counts["times without a zone were taken as UTC"] += 1
            return time.replace(tzinfo=UTC)
        return time.replace(tzinfo=self.zone).astimezone(UTC)

    def date_order(self, dates: Sequence[re.Match[str]], *, month_first: bool, unclear: bool = True) -> str:
        """Return the order of the numbers in the dates of the file; of two that fit, the one that is given.

        `unclear`: whether that is an assumption.
        """
        order = order_of(list(map(Numbers.of, dates)), month_first=month_first)
        if unclear and not order.is_certain:
            first = "month" if month_first else "day"
            note = f"dates fit day and month in either order; the {first} was taken to come first"
            self.counts[note] += len(dates)
        return order.order

    def extra(self, fields: Mapping[str, Any], place: str, known: Collection[str] = frozenset()) -> dict[str, Any]:
        """Return the fields but the known ones, unchanged, after checking that they can be stored."""
        try:
            return check_storable_json({name: value for name, value in fields.items() if name not in known})
        except ValueError as error:
            raise fault(self.form, self.file, place, f"its other fields cannot be stored ({error})") from error

    def facts(self, place: str, **values: Any) -> dict[str, Any]:
        """Return those of the values that are not empty, to be kept beside a message."""
        return self.extra({name: value for name, value in values.items() if value}, place)

    def command(self, place: str, fields: Mapping[str, Any]) -> Command:
        """Build a command. Raises InvalidRequest with the place and the first invalid field."""
        try:
            return ANY_COMMAND.validate_python(dict(fields))
        except ValidationError as error:
            field, message = invalid_field(error, skip=1)
            self.fail(", ".join(filter(None, (place, field))), message)

    def document(self, file: File, depths: Collection[int] = ()) -> Any:
        """Parse a file as one JSON value. When its end is missing, return what is whole, and keep the fault.

        `depths`: how many lists and objects stand around an item of the lists whose last, incomplete item is
        dropped; without any, the document must be whole. Raises InvalidRequest for a file that is empty, is not
        JSON, or holds no whole item.
        """
        self.check_text(file)
        try:
            return load_json(file.text)
        except json.JSONDecodeError as error:
            place, problem = f"line {error.lineno}, column {error.colno}", error.msg
            kept = _whole_part(file.text[: error.pos], depths)
            if kept is None:
                self.fail(place, f"is not JSON ({problem})")
        except (ValueError, RecursionError) as error:
            self.fail("", f"is not JSON ({error})")
        with self.item():
            self.fail(place, f"is cut or damaged ({problem}); only what stands before was read")
        return kept

    def entries(self, file: File, key: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the objects of the file with their places. It is JSON lines, a JSON list, or `{key: [...]}`.

        Raises InvalidRequest, during the iteration, for an empty file, for one that is not JSON or has no entry,
        and for an entry that is no object.
        """
        self.check_text(file)
        try:
            first = load_json(file.text.lstrip().split("\n", 1)[0])
        except (ValueError, RecursionError):
            first = None
        is_lines = isinstance(first, dict) and not isinstance(first.get(key), list)
        is_empty = True
        for place, value in self._lines(file) if is_lines else self._items(file, key):
            is_empty = False
            if not isinstance(value, dict):
                self.fail(place, f"is {type_name(value)}, not an object")
            yield place, value
        if is_empty:
            self.fail("", "holds no entry")

    def _items(self, file: File, key: str) -> Iterator[tuple[str, Any]]:
        value = self.document(file)
        items = value.get(key) if isinstance(value, dict) else value
        if not isinstance(items, list):
            named = f"field {key!r} " if isinstance(value, dict) else ""
            self.fail("", f"{named}is {type_name(items)}, not a list")
        for number, item in enumerate(items, start=1):
            yield f"entry {number}", item

    def _lines(self, file: File) -> Iterator[tuple[str, Any]]:
        for number, line in enumerate(file.text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                yield f"line {number}", load_json(line)
            except (ValueError, RecursionError) as error:
                reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
                self.fail(f"line {number}", f"is not JSON ({reason})")

    def notes(self) -> tuple[str, ...]:
        """Return notes on what was assumed or left out, with counts."""
        notes = [f"{self.file}: {assumption} ({count:,})" for assumption, count in self.counts.items()]
        kinds = ", ".join(f"{kind} ({count:,})" for kind, count in self.left_out.items() if count)
        if kinds:
            notes.append(f"{self.file}: left out: {kinds}")
        if self.removed:
            notes.append(f"{self.file}: control characters were left out ({self.removed:,})")
        return tuple(notes)


def as_map(value: Any) -> Mapping[str, Any]:
    """The value, or an empty object for one that is none."""
    return value if isinstance(value, dict) else {}


def first_of(entry: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The first of these fields that the entry has."""
    return next((entry[name] for name in names if entry.get(name) is not None), None)


def short_name(text: str) -> str:
    """Return the text on one line, cut to 120 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 120 else f"{line[:119]}…"


def is_citizen_id(text: str) -> bool:
    """True for a valid citizen id: letters, digits, `_`, `.` and `-`, at most 64."""
    try:
        _CITIZEN.validate_python(text)
    except ValidationError:
        return False
    return True


def parse_each(
    files: FileSet,
    form: Format,
    read: Callable[[Reader, File], Iterable[Ingestible]],
    zone: tzinfo | None = None,
) -> ParsedFiles:
    """Return what `read` finds in each file. Raises InvalidRequest with the first fault."""
    items: list[Ingestible] = []
    notes: list[str] = []
    for file in files.files:
        reader = Reader(form, file.name, zone=zone)
        items += read(reader, file)
        notes += reader.notes()
    return ParsedFiles(tuple(items), tuple(notes))


def read_readable(files: FileSet, form: Format, read: Callable[[Reader, File], None]) -> ParsedFiles:
    """Read each file. Return what was assumed, and as faults what cannot be read.

    Raises InvalidRequest without a citizen.
    """
    faults: list[str] = []

    def read_one(reader: Reader, file: File) -> tuple[()]:
        reader.owner(files.citizen_id)
        with reader.item():
            read(reader, file)
        faults.extend(reader.faults)
        return ()

    return replace(parse_each(files, form, read_one, files.zone), faults=tuple(faults))


def load_json(text: str) -> Any:
    """Parse a JSON text. Raises ValueError, of which JSONDecodeError is one, or RecursionError."""

    def refuse(name: str) -> NoReturn:
        raise ValueError(f"{name} is not a number")

    return json.loads(text, parse_constant=refuse)


def names_in(text: str, most: int = LOOKED_AT) -> Names:
    """Return the names in the first `most` characters of a document, each with its depth."""
    found: set[Name] = set()
    depth = 0
    text = text[:most]
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
        elif _KEY.match(text, match.end()):
            found.add(Name(depth, token[1:-1]))
    return Names(found)


def _whole_part(text: str, depths: Collection[int]) -> Any:
    """Return the document up to its last whole item of the lists, or None without any."""
    last = next(iter(deque(_ends_of_items(text, depths), maxlen=1)), None)
    if last is None:
        return None
    end, around = last
    try:
        return load_json(text[:end] + "".join(_CLOSING[opening] for opening in reversed(around)))
    except (ValueError, RecursionError):
        return None


def _ends_of_items(text: str, depths: Collection[int]) -> Iterator[tuple[int, str]]:
    """The place behind each item of the lists, and the lists and objects that are open there."""
    opened: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "{[":
            opened.append(token)
        elif token in "}]" and opened:
            opened.pop()
            if len(opened) in depths and opened[-1] == "[":
                yield match.end(), "".join(opened)
        elif token == '"':
            return  # a text whose end is missing: what follows are its characters
