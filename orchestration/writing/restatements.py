"""A retrieved text that is written back is known again, so that no second memory is made of it. Pure.

The rule: what a new memory says (its description, or its name when it has none) is, in normal form, word for word
what a memory that holds now says, and has `records.FEWEST_WORDS` words or more: shorter texts ("Thanks!") are said
again for good reasons. It may come as it was shown: as a line of the compact form, or with speaker or name in
front, which then must be those of that memory. Not recognised is what names another speaker or another beginning,
what belongs to an episode, what is sent with `restate`, and what names an id of its own: whoever gives a memory an
id will look for it there.

What a source that weighs more says again becomes its word, by a record of its own: else whoever said it first
could still change it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from orchestration.writing import records, trust
from schemas.commands import Remember
from schemas.memory import Source
from schemas.temporal import to_instant
from substrate.bitemporal import Record
from substrate.text import words

MOST_SPLITS: Final = 3
"""Colons at which a text is tried as `who: text`."""
_SHOWN: Final = re.compile(r"(?:[-*] )?\[[^\]]*\] (?P<told>.*) \(.*\)", re.DOTALL)


_NOBODYS: Final = {"source": None, "author": None}


class Reading(NamedTuple):
    """One way to read a text: its words in normal form, and whom it names in front, also in normal form."""

    words: str
    by: str | None


def readings(command: Remember) -> dict[int, Reading]:
    """What the command may say again, by the key under which it is found; nothing for one that is not held."""
    own = command.restate or command.id is not None or command.episode_id is not None
    if own or command.source is Source.INGESTION:
        return {}
    text = command.description or command.name
    found: dict[int, Reading] = {}
    for reading in _readings(text.strip()):
        key = records.words_key(reading.words)
        if key is not None:
            found.setdefault(key, reading)
    return found


def _readings(text: str) -> Iterator[Reading]:
    yield Reading(" ".join(words(text)), None)
    shown = _SHOWN.fullmatch(text) if text.endswith(")") else None  # else it would be tried at each bracket
    told = shown["told"] if shown else text
    if shown:
        yield Reading(" ".join(words(told)), None)
    place = 0
    for _ in range(MOST_SPLITS):
        place = told.find(": ", place) + 2
        if place < 2:
            return
        yield Reading(" ".join(words(told[place:])), " ".join(words(told[: place - 2])))


def says_again(command: Remember, read: Mapping[int, Reading], record: Record) -> bool:
    """Whether one of the readings of the command is what the record says."""
    content = record.content
    said = " ".join(words(content.get("description") or content["name"]))
    reading = next((one for one in read.values() if one.words == said), None)
    if reading is None:
        return False
    speaker = content.get("speaker")
    names = {" ".join(words(name)) for name in (speaker, content["name"]) if name}
    return (
        (reading.by is None or reading.by in names)
        and (command.speaker is None or command.speaker == speaker)
        and (command.valid_at is None or to_instant(command.valid_at) == record.valid.start)
    )


def same_words(one: Record, other: Record) -> bool:
    """Whether two records say the same, whoever said it."""
    return {**one.content, **_NOBODYS} == {**other.content, **_NOBODYS}


def raises(command: Remember, record: Record) -> bool:
    """Whether the command weighs more than what it says again: the record becomes the word of its source."""
    return trust.outweighs(command.source, Source(record.content.get("source", Source.CITIZEN)))


def raised_warning(record: Record, source: Source) -> str:
    """What the receipt says of that."""
    before = record.content.get("source", Source.CITIZEN)
    return (
        f"recognised: memory {record.id} says this, word for word, as the word of {before}; now it is of {source}"
    )


def warning(record: Record) -> str:
    """What the receipt says of it."""
    return f"recognised: memory {record.id} says this, word for word; nothing was stored. restate stores it anyway"
