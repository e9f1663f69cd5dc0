"""`locomo`: the conversations of the LoCoMo benchmark. Pure.

A file is a list of samples; each has `session_1`, `session_1_date_time`, and so on. Questions and summaries are
skipped: they are about the conversation, not part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from orchestration.ingestion.episodes import Episode, Session, Turn
from orchestration.ingestion.formats.parsed import File, FileSet, ParsedFiles
from orchestration.ingestion.formats.reader import JSON, Format, Reader, is_citizen_id, parse_each
from orchestration.ingestion.written_times import type_name

FORM: Final = Format(
    "locomo",
    'a list of {"sample_id", "conversation": {"session_1": [{"dia_id", "speaker", "text"}], '
    '"session_1_date_time"}}',
    JSON,
    holds=lambda names: names.near("conversation") and names.has("session_1"),
    of_store=True,
)
_SESSION = re.compile(r"session_(\d{1,6})\Z")
_KNOWN = frozenset(("dia_id", "speaker", "text", "blip_caption"))


def parse(files: FileSet) -> ParsedFiles:
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
            episode = _episode(reader, sample, f"sample {number}", files.citizen_id)
            if episode.id in known:
                reader.fail(f"sample {number}", f"has the sample_id {episode.id} of another sample")
            known.add(episode.id)
            yield episode

    return parse_each(files, FORM, read)


def _episode(reader: Reader, sample: Mapping[str, Any], place: str, citizen_id: str | None) -> Episode:
    name = reader.name(sample.get("sample_id"), f"{place}, sample_id")
    if citizen_id is None and not is_citizen_id(name):
        reader.fail(place, f"has the sample_id {name!r}, which cannot name a citizen")
    conversation = sample["conversation"]
    numbers = sorted(int(match[1]) for key in conversation if (match := _SESSION.match(key)))
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
        extra=reader.extra(turn, place, _KNOWN),
    )
