"""A retrieved text that is written back is recognised, so that no second memory is made of it. Pure.

The rule: the text of a new memory (its description, or its name when it has none) is, in normal form, word for
word the text of a memory that holds now, and has `records.FEWEST_WORDS` words or more: shorter texts ("Thanks!")
are said again for good reasons. It may come as it was shown: as a line of the compact form, or with speaker or
name in front, which then must be those of that memory.

Not recognised are commands that name another speaker or another beginning, belong to an episode, are sent with
`restate`, or name an id of their own: whoever gives a memory an id will look for it there.

A text that a source of more weight repeats becomes the word of that source, in a record of its own: else whoever
wrote it first could still change it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from orchestration.writing import records
from orchestration.writing.changes import outweighs, record_source
from schemas.commands import Remember
from schemas.memory import Source
from schemas.temporal import to_instant
from substrate.bitemporal import Record
from substrate.text import words

MOST_SPLITS: Final = 3
"""Colons at which a text is tried as `who: text`."""
_SHOWN: Final = re.compile(r"(?:[-*] )?\[[^\]]*\] (?P<text>.*) \(.*\)", re.DOTALL)
_NO_WRITER: Final = {"source": None, "author": None}


class Reading(NamedTuple):
    """One way to read a text: its words, and the name in front of them, both in normal form."""

    words: str
    by: str | None


def readings(command: Remember) -> dict[int, Reading]:
    """The readings of the command's text, by `records.words_key`; empty where it may not be recognised."""
    own = command.restate or command.id is not None or command.episode_id is not None
    if own or command.source is Source.INGESTION:
        return {}
    text = command.description or command.name
    by_key: dict[int, Reading] = {}
    for reading in _readings(text.strip()):
        key = records.words_key(reading.words)
        if key is not None:
            by_key.setdefault(key, reading)
    return by_key


def _readings(text: str) -> Iterator[Reading]:
    yield Reading(_normal(text), None)
    shown = _SHOWN.fullmatch(text) if text.endswith(")") else None  # else it would be tried at each bracket
    bare = shown["text"] if shown else text
    if shown:
        yield Reading(_normal(bare), None)
    place = 0
    for _ in range(MOST_SPLITS):
        place = bare.find(": ", place) + 2
        if place < 2:
            return
        yield Reading(_normal(bare[place:]), _normal(bare[: place - 2]))


def _normal(text: str) -> str:
    return " ".join(words(text))


def first_repeated(
    command: Remember, by_key: Mapping[int, Reading], candidates: Sequence[Record]
) -> Record | None:
    """The first of the records that the command repeats; `by_key` are its `readings`."""
    if not by_key:
        return None
    return next((record for record in candidates if repeats(command, by_key, record)), None)


def repeats(command: Remember, by_key: Mapping[int, Reading], record: Record) -> bool:
    """Whether one of the readings of the command is the text of the record."""
    content = record.content
    text = _normal(content.get("description") or content["name"])
    reading = next((reading for reading in by_key.values() if reading.words == text), None)
    if reading is None:
        return False
    speaker = content.get("speaker")
    names = {_normal(name) for name in (speaker, content["name"]) if name}
    return (
        (reading.by is None or reading.by in names)
        and (command.speaker is None or command.speaker == speaker)
        and (command.valid_at is None or to_instant(command.valid_at) == record.valid.start)
    )


def same_content(one: Record, other: Record) -> bool:
    """Whether two records have the same content, whoever wrote them."""
    return {**one.content, **_NO_WRITER} == {**other.content, **_NO_WRITER}


def raises_source(command: Remember, record: Record) -> bool:
    """Whether the command's source weighs more than that of the record it repeats."""
    return outweighs(command.source, record_source(record))


def raised_warning(record: Record, source: Source) -> str:
    """The warning in the receipt of a command that raises the source of a record to `source`."""
    before = record.content.get("source", Source.CITIZEN)
    return (
        f"recognised: memory {record.id} says this, word for word, as the word of {before}; now it is of {source}"
    )


def repeated_warning(record: Record) -> str:
    """The warning in the receipt of a command that only repeats a record."""
    return f"recognised: memory {record.id} says this, word for word; nothing was stored. restate stores it anyway"
