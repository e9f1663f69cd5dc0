"""Recognises a new memory that only repeats the text of a stored one, so that none is stored twice. Pure.

A new memory repeats a stored one when, in normal form, its text (description, or name without one) is word for
word the text of a memory that holds now, and has at least `records.FEWEST_WORDS` words. The text may have the form
in which it was shown: a line of the compact form, or with the speaker or name of that memory in front.

Never recognised are commands with another speaker or another `valid_at`, commands of an episode, commands sent
with `restate`, and commands that name an id: their sender expects a memory under that id.

When the new source outweighs that of the stored record, the record is rewritten with the new source: otherwise
the first writer could still change it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from orchestration.writing import records
from orchestration.writing.changes import may_change_as, outweighs, record_source
from schemas.commands import Remember
from schemas.memory import Source
from schemas.temporal import to_instant
from substrate.bitemporal import Record
from substrate.language.text import words

MOST_SPLITS: Final = 3
"""How many colons of a text are tried as the end of a name, as in `Ada: text`."""
_SHOWN: Final = re.compile(r"(?:[-*] )?\[[^\]]*\] ")
"""Begins a line of the compact form."""
_NO_WRITER: Final = {"source": None, "author": None}


class Reading(NamedTuple):
    """One way to read a text: its words, and the name `by` in front of them if any, both in normal form."""

    words: str
    by: str | None


def readings(command: Remember) -> dict[int, Reading]:
    """The readings of the command's text, by `records.words_key`; empty when it must be stored in any case."""
    is_always_new = command.restate or command.id is not None or command.episode_id is not None
    if is_always_new or command.source is Source.INGESTION:
        return {}
    text = command.description or command.name
    by_key: dict[int, Reading] = {}
    text = text.strip()
    shown = _SHOWN.match(text)
    bare = text[shown.end() :] if shown else text
    found = [Reading(_normal(text), None), *_named_readings(bare)]
    if shown and text.endswith(")"):  # with a remark
        found += _named_readings(text[shown.end() : text.rfind(" (")])
    for reading in found:
        key = records.words_key(reading.words)
        if key is not None:
            by_key.setdefault(key, reading)
    return by_key


def _named_readings(text: str) -> Iterator[Reading]:
    """The text, alone and with a name in front."""
    yield Reading(_normal(text), None)
    place = 0
    for _ in range(MOST_SPLITS):
        place = text.find(": ", place) + 2
        if place < 2:
            return
        yield Reading(_normal(text[place:]), _normal(text[: place - 2]))


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
    """True when one of the readings of the command is the text of the record."""
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


def same_content(record: Record, other: Record) -> bool:
    """True when two records have the same content, apart from source and author."""
    return {**record.content, **_NO_WRITER} == {**other.content, **_NO_WRITER}


def raises_source(command: Remember, record: Record) -> bool:
    """True when the source of the command outweighs that of the record it repeats, which the writer may change."""
    is_allowed = may_change_as(command.writer, record.content.get("author"), command.level)
    return is_allowed and outweighs(command.source, record_source(record))


def raised_warning(record: Record, source: Source) -> str:
    """The warning in the receipt of a command that replaces the weaker source of a record by `source`."""
    before = record.content.get("source", Source.CITIZEN)
    return (
        f"recognised: memory {record.id} has this text word for word; its source was {before} and is now {source}"
    )


def repeated_warning(record: Record) -> str:
    """The warning in the receipt of a command that only repeats a record."""
    return (
        f"recognised: memory {record.id} has this text word for word; not stored again (restate stores it anyway)"
    )
