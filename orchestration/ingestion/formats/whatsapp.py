"""`whatsapp`: the text file of "Export chat", from Android and iOS, in any language. Pure.

The program writes dates as the phone shows them. Whether the day or the month comes first is decided over the
whole file, because a single date often fits both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Final, NamedTuple

from orchestration.ingestion.formats.conversations import Chat, SaidMessage, parse_chats
from orchestration.ingestion.formats.reader import File, FileSet, Format, ParsedFiles, Reader
from orchestration.ingestion.written_times import Numbers

_DATE: Final = r"(?P<a>\d{1,4})(?P<mark>[./-])\s?(?P<b>\d{1,2})[./-]\s?(?P<c>\d{1,4})"
_TIME: Final = (
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?(?:\s?(?P<half>[^\W\d]\.?\s?m\.?))?"
)
_HEAD: Final = re.compile(
    rf"(?P<open>\[)?{_DATE},?\s(?:[^\W\d]+\s)?{_TIME}(?(open)\]\s?|\s[-–]\s)(?P<rest>.*)\Z", re.IGNORECASE
)
"""The beginning of a message: a date, maybe a word such as `klo`, a time, then a dash, or a bracket on iOS."""
_SPEAKER: Final = re.compile(r'(?P<name>[^:"“”]{1,200}?):(?: (?P<text>.*))?\Z', re.DOTALL)
_MARK: Final = "\u200e"
"""Stands before what the program writes itself: on iOS always, on Android before attached files."""
_MARKS: Final = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_MARKED_NOTE: Final = re.compile(f"(?<!\\s)\\s*{_MARK}<[^<>\\n]+>")
_MEDIA: Final = re.compile(r"\A<[^<>\n]+[ :][^<>\n]+>\Z")
"""What stands for media, in any language: nothing but words in angle brackets."""
_FILE: Final = re.compile(rf"\A{_MARK}?[^\s:]+\.\w{{2,5}} \([^()\n]+\)\n?")
_EDITED: Final = re.compile(r"(?<!\s)\s*<(?:This message was edited|Diese Nachricht wurde bearbeitet)>\Z")
_DELETED: Final = re.compile(
    r"(?:This message was deleted|You deleted this message|Diese Nachricht wurde gelöscht"
    r"|Du hast diese Nachricht gelöscht|Se eliminó este mensaje|Eliminaste este mensaje|null)\.?\Z"
)
_TITLE: Final = re.compile(
    r"(?:\S+ )*?(?:de |do )?WhatsApp[- ]?(?:Chat)?(?: (?:with|mit|con|com|avec|-))? +(?=\S)", re.IGNORECASE
)
_COPY: Final = re.compile(r" ?\(\d+\)\Z")
_UNNAMED: Final = re.compile(r"_?chat\Z", re.IGNORECASE)
_SPACES: Final = str.maketrans("\u00a0\u202f\u2009", "   ")


def is_message(line: str) -> bool:
    """True for a line with which a message begins."""
    return _head(line) is not None


def _head(line: str) -> re.Match[str] | None:
    return _HEAD.match(_MARKS.sub("", line).translate(_SPACES))


def _is_chat(file: File) -> bool:
    """True when a message begins in the first lines that are not empty."""
    lines = [line for line in file.start.splitlines() if line.strip()]
    return any(map(is_message, lines[:5]))


FORM: Final = Format(
    "whatsapp",
    'lines of "25/12/2024, 18:05 - Name: text" or "[25/12/2024, 18:05:30] Name: text"',
    (".txt",),
    looks=_is_chat,
    rank=5,
)


class _Entry(NamedTuple):
    """A message as the file has it. `line`: of its beginning, from 1 on; `notice`: the program wrote it."""

    line: int
    head: re.Match[str]
    speaker: str | None
    text: str
    notice: bool


def parse(files: FileSet) -> ParsedFiles:
    """Parse each file to one episode. Notices, media, deleted messages are counted in the notes.

    Times are local times of the phone. Raises InvalidRequest for a file in another format.
    """
    names = {file.name: title_of(file.name, files.name) for file in files.files}
    return parse_chats(files, FORM, lambda reader, file: _read(reader, file, names[file.name]))


def title_of(file: str, collection: str) -> str | None:
    """Return the name of the chat in the name of its file, folder or archive; None when there is none."""
    folder, _, name = file.rpartition("/")
    stems = (name.rpartition(".")[0] or name, folder.rpartition("/")[2].removesuffix(".zip"), collection)
    for stem in stems:
        plain = _COPY.sub("", stem)
        if plain and not _UNNAMED.match(plain):
            return _TITLE.sub("", plain, count=1) or plain
    return None


def _read(reader: Reader, file: File, title: str | None) -> Iterator[Chat]:
    entries = list(_entries(reader, file))
    if not entries:
        reader.fail("line 1", "is no message")
    heads = [entry.head for entry in entries]
    american = any(head["half"] and head["mark"] == "/" for head in heads)  # AM and PM with slashes
    order = reader.date_order(heads, month_first=american)
    said: list[SaidMessage] = []
    seen: Counter[tuple[datetime, str]] = Counter()
    for entry in entries:
        with reader.item():
            time = _time(reader, entry, order)
            reason = _reason_to_leave_out(entry)
            speaker = entry.speaker or ""
            seen[time, speaker] += 1
            if reason is not None:
                reader.left_out[reason] += 1
                continue
            who = blake2b(speaker.encode(), digest_size=4).hexdigest()
            said.append(
                SaidMessage(
                    id=f"{time:%Y%m%dT%H%M%S}-{who}-{seen[time, speaker]}",  # an edited message keeps it
                    speaker=reader.name(speaker, f"line {entry.line}, name"),
                    text=reader.text(entry.text, f"line {entry.line}"),
                    time=reader.local(time),
                )
            )
    people = sorted({one.speaker for one in said})
    name = title or ", ".join(people[:5])
    yield Chat(name, name, said)


def _entries(reader: Reader, file: File) -> Iterator[_Entry]:
    """Yield the messages; a line that begins none continues the one before it."""
    head: re.Match[str] | None = None
    lines: list[str] = []
    begun = before = 0
    for number, line in enumerate(file.text.replace("\r\n", "\n").split("\n"), start=1):
        match = _head(line)
        if match is None:
            lines.append(line)
            before += head is None and bool(line.strip())
            continue
        if head is not None:
            yield _entry(head, lines, begun)
        head, lines, begun = match, [_from(line, match.start("rest"))], number
    if head is not None:
        yield _entry(head, lines, begun)
    if before and head is not None:
        reader.left_out["lines before the first message"] += before


def _from(line: str, start: int) -> str:
    """Return the line from its character number `start` on; marks are not counted, and stay."""
    plain = 0
    for place, character in enumerate(line):
        if plain == start:
            return line[place:]
        plain += _MARKS.match(character) is None
    return ""


def _entry(head: re.Match[str], lines: Sequence[str], number: int) -> _Entry:
    named = _SPEAKER.match("\n".join(lines))
    if named is None:
        return _Entry(number, head, None, "", notice=True)
    text, files = _FILE.subn("", named["text"] or "")
    text = _MARKED_NOTE.sub("", text)
    notice = text.startswith(_MARK) and not files
    text = _EDITED.sub("", _MARKS.sub("", text).strip())
    speaker = " ".join(_MARKS.sub("", named["name"]).translate(_SPACES).lstrip("~ ").split())
    return _Entry(number, head, speaker or None, _MEDIA.sub("", text), notice)


def _reason_to_leave_out(entry: _Entry) -> str | None:
    """Say what an entry is, if it is nothing that a person said."""
    if entry.speaker is None:
        return "notices of the program"
    if _DELETED.match(entry.text):
        return "deleted messages"
    if not entry.text:
        return "media without words"
    return "notices of the program and media" if entry.notice else None


def _time(reader: Reader, entry: _Entry, order: str) -> datetime:
    head = entry.head
    hour, half = int(head["hour"]), (head["half"] or "").lower()
    if half:
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    try:
        return datetime(*Numbers.of(head).in_order(order), hour, int(head["minute"]), int(head["second"] or 0))  # noqa: DTZ001
    except ValueError as error:
        reader.fail(f"line {entry.line}", f"its date is no date ({error})")
