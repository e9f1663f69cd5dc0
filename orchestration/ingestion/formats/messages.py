"""`messages`: a chat as JSON or JSON lines. Pure.

Each file is one conversation. Known fields are `speaker` or `role`, `text` or `content`, and optionally
`timestamp` or `time`, and `session`; all others go to `extra` of the turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from orchestration.ingestion.episodes import Episode, Session, Turn
from orchestration.ingestion.formats.parsed import File, FileSet, ParsedFiles
from orchestration.ingestion.formats.reader import Format, Reader, entries, type_name

FORM: Final = Format(
    "messages",
    'a list or lines of {"role" or "speaker", "content" or "text", and if known "timestamp"}',
)
_SPEAKER = ("speaker", "role")
_TEXT = ("text", "content")
_TIME = ("timestamp", "time")
_KNOWN = frozenset((*_SPEAKER, *_TEXT, *_TIME, "session"))


def parse(files: FileSet) -> ParsedFiles:
    """Parse each file to one episode; when there are several files, the episode's id contains the file's name.

    Raises InvalidRequest with the first entry that is no message, has no speaker, or has an invalid time.
    """
    episodes: list[Episode] = []
    notes: list[str] = []
    for file in files.files:
        name = files.name if len(files.files) == 1 else f"{files.name}/{file.name}"
        reader = Reader(FORM, file.name)
        episodes.append(_episode(reader, file, name, files.citizen_id))
        notes += reader.notes()
    return ParsedFiles(tuple(episodes), tuple(notes))


def _episode(reader: Reader, file: File, name: str, citizen_id: str | None) -> Episode:
    if citizen_id is None:
        reader.fail("", "has no owner: name a citizen")
    titles: dict[str, list[Turn]] = {}
    numbers: dict[str, int] = {}
    for place, entry in entries(FORM, file, "messages"):
        title = _session_title(reader, entry, place, next(reversed(titles), "session 1"))
        turns = titles.setdefault(title, [])
        number = numbers.setdefault(title, len(titles))
        text = _text(reader, entry, place)
        if text is None:
            reader.counts["messages without text were left out"] += 1
            continue
        turns.append(_turn(reader, entry, text, key=f"D{number}:{len(turns) + 1}", place=place))
    sessions = tuple(
        Session(f"session_{number}", title, turns[0].time, tuple(turns))
        for number, (title, turns) in enumerate(titles.items(), start=1)
        if turns
    )
    if not sessions:
        reader.fail("", "holds no message with a text")
    return Episode(name, citizen_id, sessions)


def _session_title(reader: Reader, entry: Mapping[str, Any], place: str, last: str) -> str:
    """Return the session of a message: its own, else that of the previous message."""
    value = entry.get("session")
    if value is None:
        return last
    if isinstance(value, int) and not isinstance(value, bool):
        return f"session {value}"
    return reader.name(value, f"{place}, field session")[:200]


def _turn(reader: Reader, entry: Mapping[str, Any], text: str, *, key: str, place: str) -> Turn:
    speaker = _first(entry, _SPEAKER)
    if speaker is None:
        reader.fail(place, "has no speaker")
    time = _first(entry, _TIME)
    unknown = {name: value for name, value in entry.items() if name not in _KNOWN}
    return Turn(
        key=key,
        speaker=reader.name(speaker, f"{place}, speaker"),
        text=text,
        time=None if time is None else reader.moment(time, f"{place}, time"),
        extra=reader.extra(unknown, place),
    )


def _text(reader: Reader, entry: Mapping[str, Any], place: str) -> str | None:
    """Return the text of a message, or the texts of its parts; None when it has none."""
    if not any(name in entry for name in _TEXT):
        reader.fail(place, "has no text")
    content = _first(entry, _TEXT)
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and "text" in part]
        content = "\n".join(reader.text(part["text"], f"{place}, text") for part in parts)
    if content is None:
        return None
    if not isinstance(content, str):
        reader.fail(f"{place}, text", f"is {type_name(content)}, not a text")
    return reader.text(content, f"{place}, text").strip() or None


def _first(entry: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((entry[name] for name in names if entry.get(name) is not None), None)
