"""Conversations as lists of messages. Pure.

`messages`: a chat as JSON or JSON lines, whole or grown, or its newest messages. Known fields are `speaker` or
`role`, `text` or `content`, and optionally `id`, `timestamp` or `time`, `session`, `edited_at` and `deleted`; all
others go to `extra` of the turn, and so does `id`. `locomo`: the conversations of the LoCoMo benchmark, without
its questions and summaries, which are about the conversation, not part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from orchestration.ingestion.episodes import FIRST_TITLE, Episode, Message, Session, Turn
from orchestration.ingestion.formats.reader import (
    JSON,
    File,
    FileSet,
    Format,
    ParsedFiles,
    Reader,
    is_citizen_id,
    parse_each,
)
from orchestration.ingestion.injected import without_blocks
from orchestration.ingestion.written_times import parse_time, type_name

_SPEAKER: Final = ("speaker", "role")
_TEXT: Final = ("text", "content")
_TIME: Final = ("timestamp", "time")
FORM: Final = Format(
    "messages",
    'a list or lines of {"role" or "speaker", "content" or "text", and if known "timestamp"}',
    JSON,
    holds=lambda names: names.near(*_SPEAKER, depth=3) and names.near(*_TEXT, depth=3),
    rank=4,
)
MAX_PARTS: Final = 10_000
INJECTED: Final = "injected"
"""The field of a turn with the blocks of memories that its host had put into the message."""
STAMP: Final = "timestamp"
"""The field of `extra` with the time that was sent, where that was ahead of the clock."""
_KNOWN = frozenset((*_SPEAKER, *_TEXT, *_TIME, "session", "edited_at", "deleted"))


def parse(files: FileSet) -> ParsedFiles:
    """Parse each file to one episode; when there are several files, the episode's id contains the file's name.

    Raises InvalidRequest with the first entry that is no message, has no speaker, or has an invalid time.
    """

    def read(reader: Reader, file: File) -> Iterator[Episode]:
        name = files.name if len(files.files) == 1 else f"{files.name}/{file.name}"
        citizen_id = reader.owner(files.citizen_id)
        messages: list[Message] = []
        for place, entry in reader.entries(file, "messages"):
            message = read_message(reader, entry, place)
            if message.turn.text or (message.deleted and message.id is not None):
                messages.append(message)
            else:
                reader.counts["messages without text were left out"] += 1
        if not messages:
            reader.fail("", "holds no message with a text")
        yield Episode(name, citizen_id, _sessions(messages), messages=tuple(messages))

    return parse_each(files, FORM, read, files.zone)


def _sessions(messages: Sequence[Message]) -> tuple[Session, ...]:
    """Group the messages by the session that each names, else by that of the message before it."""
    titles: dict[str, list[Turn]] = {}
    numbers: dict[str, int] = {}
    title = FIRST_TITLE
    for message in messages:
        title = message.session or title
        if not message.deleted:
            turns = titles.setdefault(title, [])
            number = numbers.setdefault(title, len(titles))
            turns.append(replace(message.turn, key=f"D{number}:{len(turns) + 1}"))
    return tuple(
        Session(f"session_{number}", title, turns[0].time, tuple(turns))
        for number, (title, turns) in enumerate(titles.items(), start=1)
    )


def read_message(reader: Reader, entry: Mapping[str, Any], place: str) -> Message:
    """Read one message; its text is empty when it has none. Raises InvalidRequest for an invalid field."""
    deleted = entry.get("deleted") or False
    if not isinstance(deleted, bool):
        reader.fail(f"{place}, field deleted", f"is {type_name(deleted)}, not true or false")
    if not deleted and not any(name in entry for name in _TEXT):
        reader.fail(place, "has no text")
    speaker, time = _first(entry, _SPEAKER), _first(entry, _TIME)
    if speaker is None and not (deleted and entry.get("id") is not None):
        reader.fail(place, "has no speaker")
    spoken = without_blocks(_text(reader, entry, place))
    turn = Turn(
        key="",
        speaker="" if speaker is None else reader.name(speaker, f"{place}, speaker"),
        text=spoken.text,
        time=None if time is None else reader.moment(time, f"{place}, time"),
        extra=reader.extra({**entry, INJECTED: list(spoken.blocks)} if spoken.blocks else entry, place, _KNOWN),
    )
    session = entry.get("session")
    if isinstance(session, int) and not isinstance(session, bool):
        session = f"session {session}"
    elif session is not None:
        session = reader.name(session, f"{place}, field session")[:200]
    return Message(
        turn,
        id=read_id(entry.get("id")),
        session=session,
        edited_at=reader.moment_of(entry, "edited_at", place),
        deleted=deleted,
    )


def read_id(value: Any) -> str | None:
    """The sender's id of a message. Anything else under this name stays in `extra` alone."""
    is_id = isinstance(value, str | int) and not isinstance(value, bool) and value != ""
    return str(value) if is_id else None


def read_stamp(extra: Mapping[str, Any]) -> datetime | None:
    """The time under `STAMP`; None where there is none."""
    try:
        return parse_time(extra[STAMP]).at
    except (KeyError, ValueError, OverflowError):
        return None


def _text(reader: Reader, entry: Mapping[str, Any], place: str) -> str:
    """Return the text of a message, or the texts of its parts; empty when it has none."""
    content = _first(entry, _TEXT)
    if isinstance(content, list):
        if len(content) > MAX_PARTS:
            reader.fail(f"{place}, text", f"has {len(content):,} parts, and at most {MAX_PARTS:,} are read")
        parts = filter(lambda part: isinstance(part, dict) and "text" in part, content)
        content = "\n".join(reader.text(part["text"], f"{place}, text") for part in parts)
    if content is None:
        return ""
    if not isinstance(content, str):
        reader.fail(f"{place}, text", f"is {type_name(content)}, not a text")
    return reader.text(content, f"{place}, text").strip()


def _first(entry: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((entry[name] for name in names if entry.get(name) is not None), None)


LOCOMO: Final = Format(
    "locomo",
    'a list of {"sample_id", "conversation": {"session_1": [{"dia_id", "speaker", "text"}], '
    '"session_1_date_time"}}',
    JSON,
    holds=lambda names: names.near("conversation") and names.has("session_1"),
    of_store=True,
)
_SESSION_KEY = re.compile(r"session_(\d{1,6})\Z")
_TURN_KNOWN = frozenset(("dia_id", "speaker", "text", "blip_caption"))


def parse_locomo(files: FileSet) -> ParsedFiles:
    """Parse each sample to one episode, of the given citizen, or of a citizen with the name of the sample.

    Raises InvalidRequest with the place of the first sample, session or turn in another format.
    """
    known: set[str] = set()

    def read(reader: Reader, file: File) -> Iterator[Episode]:
        value = reader.document(file)
        samples = value if isinstance(value, list) else [value]
        if not samples:
            reader.fail("", "holds no sample")
        for number, sample in enumerate(samples, start=1):
            if not isinstance(sample, dict) or not isinstance(sample.get("conversation"), dict):
                problem = "has no conversation" if isinstance(sample, dict) else f"is {type_name(sample)}"
                reader.fail(f"sample {number}", problem)
        for number, sample in enumerate(samples, start=1):
            episode = _sample(reader, sample, f"sample {number}", files.citizen_id)
            if episode.id in known:
                reader.fail(f"sample {number}", f"has the sample_id {episode.id} of another sample")
            known.add(episode.id)
            yield episode

    return parse_each(files, LOCOMO, read)


def _sample(reader: Reader, sample: Mapping[str, Any], place: str, citizen_id: str | None) -> Episode:
    name = reader.name(sample.get("sample_id"), f"{place}, sample_id")
    if citizen_id is None and not is_citizen_id(name):
        reader.fail(place, f"has the sample_id {name!r}, which cannot name a citizen")
    conversation = sample["conversation"]
    numbers = sorted(int(match[1]) for key in conversation if (match := _SESSION_KEY.match(key)))
    keys: set[str] = set()
    sessions = []
    for number in numbers:
        session = _session(reader, conversation, f"{name}, session_{number}", number)
        for turn in session.turns:
            if turn.key in keys:
                reader.fail(f"{name}, session_{number}", f"has the dia_id {turn.key} twice")
            keys.add(turn.key)
        if session.turns:
            sessions.append(session)
    if not sessions:
        reader.fail(name, "holds no turn")
    return Episode(name, citizen_id or name, tuple(sessions))


def _session(reader: Reader, conversation: Mapping[str, Any], place: str, number: int) -> Session:
    key = f"session_{number}"
    entries = conversation[key]
    if not isinstance(entries, list):
        reader.fail(place, f"is {type_name(entries)}, not a list of turns")
    date_text = conversation.get(f"{key}_date_time")
    began = None if date_text is None else reader.moment(date_text, f"{place}_date_time")
    turns = [_turn(reader, turn, f"{place}, turn {order}") for order, turn in enumerate(entries, start=1)]
    return Session(key, f"session {number}", began, tuple(turns))


def _turn(reader: Reader, turn: Any, place: str) -> Turn:
    if not isinstance(turn, dict):
        reader.fail(place, f"is {type_name(turn)}, not a turn")
    text = reader.text(turn.get("text"), f"{place}, text")
    caption = turn.get("blip_caption")
    if caption:
        picture = reader.text(caption, f"{place}, blip_caption")
        text = reader.text(f"{text} [shares {picture}]", f"{place}, text")
    return Turn(
        key=reader.name(turn.get("dia_id"), f"{place}, dia_id"),
        speaker=reader.name(turn.get("speaker"), f"{place}, speaker"),
        text=text,
        extra=reader.extra(turn, place, _TURN_KNOWN),
    )
