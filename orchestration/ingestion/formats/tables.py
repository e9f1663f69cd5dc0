"""`csv`: tables with a header, separated by commas, semicolons, tabs or bars. Pure.

What a column holds is guessed by its name, and said in a note. Rows with a speaker are messages of a conversation;
other rows are memories. The text of a row names all its columns, whatever was guessed: a date may be a deadline.
Of messages with a time of day, which a program wrote, it has the words, the title and the tags.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Final, NamedTuple

from orchestration.identifiers import identifier
from orchestration.ingestion.formats.command_files import CommandFile
from orchestration.ingestion.formats.conversations import Chat, SaidMessage, parse_chats
from orchestration.ingestion.formats.reader import (
    File,
    FileSet,
    Format,
    ParsedFiles,
    Reader,
    fault,
    join,
    short_name,
)
from orchestration.ingestion.written_times import Numbers
from schemas.base import MAX_TEXT
from schemas.commands import Command
from schemas.errors import InvalidRequest
from schemas.memory import Source
from substrate.language.text import count_of

FORM: Final = Format("csv", "a table whose first line names its columns", (".csv", ".tsv", ".txt"))
DELIMITERS: Final = ",;\t|"
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("text", "message", "content", "body", "note", "notes", "entry", "transcript", "comment",
             "description", "nachricht", "inhalt", "notiz", "beschreibung"),
    "time": ("timestamp", "datetime", "created_at", "created at", "sent_at", "sent at", "date", "time",
             "created", "sent", "when", "day", "datum", "zeit", "zeitpunkt"),
    "speaker": ("speaker", "role", "sender", "author", "from", "user", "username", "who", "sprecher", "absender",
                "autor", "von"),
    "id": ("id", "message_id", "message id", "uuid", "key"),
    "title": ("title", "subject", "name", "task", "titel", "betreff", "aufgabe"),
    "tags": ("tags", "labels", "categories", "schlagworte"),
    "conversation": ("conversation", "conversation_id", "thread", "thread_id", "channel", "chat", "session"),
}  # fmt: skip
"""The names of columns by what they hold, the likeliest first."""
_DATE: Final = re.compile(r"(?P<a>\d{1,4})(?P<mark>[./-])(?P<b>\d{1,2})(?P=mark)(?P<c>\d{1,4})(?!\d)")
_SECONDS: Final = re.compile(r"(?=.{9})\d+\.?\d*")
_CLOCK: Final = ("time", "zeit", "uhrzeit")
csv.field_size_limit(64 * MAX_TEXT)  # the module's own limit is 131,072 characters


class _Row(NamedTuple):
    line: int
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Table:
    """The rows of a file. `columns`: the column of each thing that one holds, `clock` of the time of a day.

    `order`: of the numbers in its dates, such as `dmy`.
    """

    columns: Mapping[str, str]
    clock: str | None
    rows: Sequence[_Row]
    order: str = "dmy"

    def cell(self, row: _Row, thing: str) -> str:
        return row.cells.get(self.columns.get(thing, ""), "").strip()

    def rest(self, row: _Row) -> dict[str, str]:
        """Return the cells that hold nothing known."""
        known = {*self.columns.values(), self.clock}
        return {name: value for name, value in row.cells.items() if name not in known and value.strip()}

    def named(self, row: _Row, left_out: Collection[str] = ()) -> str:
        """Return the cells of all but these columns, each with the name of its column."""
        cells = ((name, value.strip()) for name, value in row.cells.items() if name not in left_out)
        return "\n".join(f"{name}: {value}" for name, value in cells if value)

    @property
    def has_hours(self) -> bool:
        """True when a row has a time of day, or seconds since 1970."""
        times = (self.cell(row, "time") for row in self.rows)
        return self.clock is not None or any(":" in time or _SECONDS.fullmatch(time) for time in times)


def parse(files: FileSet) -> ParsedFiles:
    """Parse each file to conversations, or without a column of speakers to memories.

    A row that cannot be read is a fault. Raises InvalidRequest when no row can be read.
    """
    parts: list[ParsedFiles] = []
    errors: list[InvalidRequest] = []
    for file in files.files:
        reader = Reader(FORM, file.name, zone=files.zone)
        try:
            reader.check_text(file)
            table = _table(reader, file)
            alone = FileSet(files.name, (file,), files.citizen_id, files.zone)
            talks = "speaker" in table.columns and "text" in table.columns
            parts.append(_talk(alone, reader, table) if talks else _memories(alone, reader, table))
        except InvalidRequest as error:
            errors.append(error)
        except csv.Error as error:
            errors.append(fault(FORM, file.name, "", f"is no table ({error})"))
    if not parts:
        raise errors[0]
    return join([*parts, ParsedFiles((), faults=tuple(error.detail for error in errors))])


def _table(reader: Reader, file: File) -> _Table:
    text = file.text.removeprefix("\ufeff")
    first = text.split("\n", 1)[0].strip()
    named = first[4:5] if first.lower().startswith("sep=") else ""
    text = text.split("\n", 1)[1] if named and "\n" in text else text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = csv.reader(io.StringIO(text), delimiter=named or delimiter_of(text))
    header = [" ".join(name.split()) for name in next(lines, [])]
    names = [name or f"column {number}" for number, name in enumerate(header, start=1)]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        reader.fail("line 1", f"names the column {repeated[0]!r} twice")
    rows: list[_Row] = []
    begun = lines.line_num + 1
    for cells in lines:
        with reader.item():
            if len(cells) > len(names):
                reader.fail(f"line {begun}", f"has {len(cells):,} cells for {len(names):,} columns")
            if any(cell.strip() for cell in cells):
                rows.append(_Row(begun, dict(zip(names, cells, strict=False))))
        begun = lines.line_num + 1
    if rows and len(rows[-1].cells) < len(names) and not text.endswith("\n"):
        last = rows.pop()
        with reader.item():
            reader.fail(f"line {last.line}", f"is cut: it has {len(last.cells):,} of {len(names):,} cells")
    known = {name.lower(): name for name in reversed(names)}
    columns: dict[str, str] = {}
    for thing, words in _NAMES.items():
        found = next((known[word] for word in words if word in known), None)
        if found is not None:
            columns[thing] = found
    clock = next((known[word] for word in _CLOCK if word in known and known[word] != columns.get("time")), None)
    told = ", ".join(f"{thing} from {name!r}" for thing, name in columns.items())
    others = len(names) - len(columns) - (clock is not None)
    rest = (
        f"; {count_of(others, 'other column')} kept as {'it is' if others == 1 else 'they are'}" if others else ""
    )
    reader.counts[f"by the names of its columns: {told or 'nothing known'}{rest}"] += len(rows)
    times = (row.cells.get(columns.get("time", ""), "") for row in rows)
    dates = list(filter(None, (_DATE.match(time.strip()) for time in times)))
    unclear = any(date["mark"] == "/" for date in dates)  # then the month may come first
    return _Table(columns, clock, rows, reader.date_order(dates, month_first=False, unclear=unclear))


def delimiter_of(text: str) -> str:
    """Return the character that separates the cells of the first line."""
    first = text.split("\n", 1)[0]
    return max(
        DELIMITERS, key=lambda one: (len(next(csv.reader([first], delimiter=one), [])), -DELIMITERS.index(one))
    )


def _time(reader: Reader, table: _Table, row: _Row) -> datetime | None:
    day = table.cell(row, "time")
    clock = row.cells.get(table.clock or "", "").strip()
    if not day:
        return None
    place = f"line {row.line}, column {table.columns['time']}"
    if _SECONDS.fullmatch(day):
        return reader.moment(float(day), place)
    if date := _DATE.match(day):
        year, month, number = Numbers.of(date).in_order(table.order)
        day = f"{year:04}-{month:02}-{number:02}{day[date.end() :]}"
    return reader.moment(f"{day} {clock}".strip(), place)


def _digest(seen: Counter[str], *parts: str) -> str:
    """Return an id made of the content, which equal rows share but for their number."""
    digest = blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
    seen[digest] += 1
    return digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def _talk(files: FileSet, reader: Reader, table: _Table) -> ParsedFiles:
    """Parse rows with a speaker to conversations, one for each value of a column that names them."""
    stem = files.files[0].name.rpartition("/")[2].rpartition(".")[0] or files.name
    seen: Counter[str] = Counter()
    chats: dict[str, list[SaidMessage]] = {}
    bare = {table.columns.get(thing, "") for thing in ("text", "speaker", "id", "conversation")}
    if table.has_hours:
        labels = {table.columns.get("title"), table.columns.get("tags")}
        bare = {name for row in table.rows for name in row.cells.keys() - labels}
    for row in table.rows:
        with reader.item():
            text, speaker = table.cell(row, "text"), table.cell(row, "speaker")
            if not text:
                reader.left_out["rows without text"] += 1
                continue
            own_id = table.cell(row, "id") or _digest(seen, table.cell(row, "time"), speaker, text)
            said = SaidMessage(
                id=reader.name(own_id, f"line {row.line}, id"),
                speaker=reader.name(speaker, f"line {row.line}, column {table.columns['speaker']}"),
                text=reader.text("\n".join(filter(None, (text, table.named(row, bare)))), f"line {row.line}"),
                time=_time(reader, table, row),
                extra=reader.extra(table.rest(row), f"line {row.line}"),
            )
            chats.setdefault(table.cell(row, "conversation"), []).append(said)

    def read(target: Reader, _: File) -> Iterator[Chat]:
        target.counts, target.left_out, target.faults = reader.counts, reader.left_out, reader.faults
        for name, said in chats.items():
            title = name or stem
            yield Chat(f"{stem}/{name}" if name else stem, title, said)

    return parse_chats(files, FORM, read)


def _memories(files: FileSet, reader: Reader, table: _Table) -> ParsedFiles:
    citizen_id = reader.owner(files.citizen_id)
    stem = files.files[0].name.rpartition("/")[2].rpartition(".")[0] or files.name
    seen: Counter[str] = Counter()
    commands: list[Command] = []
    rows_of = Counter(table.cell(row, "id") for row in table.rows)
    for row in table.rows:
        with reader.item():
            text, whole = table.cell(row, "text"), table.named(row)
            is_alone = whole == f"{table.columns.get('text')}: {text}"
            title = table.cell(row, "title")
            tags = [part.strip(" #") for part in table.cell(row, "tags").replace(";", ",").split(",")]
            time = _time(reader, table, row)
            fields = {
                "command": "remember",
                "name": reader.name(title, f"line {row.line}") if title else short_name(text or whole),
                "description": reader.text(text if is_alone else whole, f"line {row.line}"),
                "source": Source.INGESTION,
                "tags": list(filter(None, tags))[:64],
                "extra": reader.extra(table.rest(row) if text else {}, f"line {row.line}"),
                **({} if time is None else {"valid_at": time}),
            }
            own_id = table.cell(row, "id") if rows_of[table.cell(row, "id")] == 1 else ""
            memory_id = identifier(f"csv:{stem}:{own_id or _digest(seen, *row.cells.values())}")
            named = {"citizen_id": citizen_id, "id": memory_id, "command_id": memory_id}
            commands.append(reader.command(f"line {row.line}", {**named, **fields}))
    if not commands:
        reader.fail("", reader.faults[0] if reader.faults else "has no row below its header")
    item = CommandFile(reader.file, citizen_id, tuple(commands), are_rows=True)
    return ParsedFiles((item,), reader.notes(), tuple(reader.faults))
