"""When what a question asks for holds: now, before something else, or once; and texts that tell of a change. Pure.

"Where do I live?" asks for the present, "where did I live before?" for what held formerly, "what did I buy?" for
an event. The words of each language stand in its file (`substrate/language`).
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from typing import Final, NamedTuple

from orchestration.question.languages import read_codes
from schemas.bounded_cache import cached_within
from substrate.language.languages import Language
from substrate.language.text import language_of, pattern_of, word_finder, words

MOST_READ: Final = 4000
"""At most this many characters of a text are read."""
FIRST_WORDS: Final = 2
"""A text that names a person among this many of its first words tells of that person."""
_find_words: Final = word_finder(r"[^\W\d_]")
_OWN: Final = ("own_subjects", "own_objects", "own_possessives")
"""The lists of words by which one speaks of oneself."""
QUESTION_MARKS: Final = ("?", "？")


class Tense(StrEnum):
    """When what is asked for holds."""

    PRESENT = "present"
    FORMER = "former"
    EVENT = "event"


def read_tense(question: str) -> Tense | None:
    """The tense of a question; None when no word tells it, or when something is to be done."""
    return _read_tense(question[:MOST_READ])


@cached_within(1 << 20)
def _read_tense(question: str) -> Tense | None:
    text = question.lower()
    likeliest = language_of(text).code
    for code in sorted(read_codes(), key=lambda code: code != likeliest):
        if pattern_of(code, "tense.acts").search(text) or pattern_of(code, "tense.bids").match(text.lstrip()):
            return None
        if pattern_of(code, "tense.former").search(text):
            return Tense.FORMER
        if pattern_of(code, "tense.past", "participle").search(text):
            return Tense.EVENT
        if pattern_of(code, "tense.now").search(text):
            return Tense.PRESENT
    return Tense.PRESENT if text.rstrip().endswith(QUESTION_MARKS) else None


class Voice(NamedTuple):
    """How a text speaks.

    `verbs`: how many of its words say what became of something, "moved", "cancelled"; `changes`: how many only
    that time went on, "now", "again". `own`: it has a word by which one speaks of oneself; `unreal`: it has one
    for what might be, "if", "would", "perhaps". `unmeant`: what it says is supposed, hoped or a jest. `other`: the
    person of whom it tells, by the word with which it begins ("my brother", "Mum"), and not of the speaker.
    """

    verbs: int
    changes: int
    own: bool
    unreal: bool
    unmeant: bool
    other: str = ""


def read_voice(text: str) -> Voice:
    """How a text speaks, by the words of its language."""
    read = text[:MOST_READ].lower().replace("’", "'")
    said = _find_words(read)
    spoken, held = language_of(read), frozenset(said)
    may_change = not changing_words(spoken.code).isdisjoint(held)
    verbs, changes = pattern_of(spoken.code, "change.verbs"), pattern_of(spoken.code, "change.words")
    words = spoken.telling.words
    people, own = words["people"], words["own_subjects"] | words["own_objects"]
    first = next((word for word in said[:FIRST_WORDS] if word in people), "")
    return Voice(
        verbs=len(set(verbs.findall(read))) if may_change else 0,
        changes=len(set(changes.findall(read))) if may_change else 0,
        own=any(not words[name].isdisjoint(held) for name in _OWN),
        unreal=not words["hypothetical"].isdisjoint(held),
        unmeant=pattern_of(spoken.code, "change.unmeant").search(read) is not None,
        other=first if own.isdisjoint(said) else "",
    )


def has_own_words(text: str) -> bool:
    """Whether a text has a word by which one speaks of oneself in any language: in a hundredth of the time."""
    read = text[:MOST_READ]
    if read.isascii():
        return not _own_words().isdisjoint(words(read))
    return _own_pattern().search(read) is not None


@cache
def _own_words() -> frozenset[str]:
    return frozenset().union(*(language.telling.words[name] for language in Language.all() for name in _OWN))


@cache
def _own_pattern() -> re.Pattern[str]:
    return re.compile(rf"(?i)\b(?:{'|'.join(map(re.escape, sorted(_own_words())))})\b")


@cache
def changing_words(code: str) -> frozenset[str]:
    """One word of each phrase of a change, the least common: a text without all of these tells of none."""
    change = Language.of(code).change
    found = map(_find_words, (*change["verbs"], *change["words"]))
    return frozenset(min(words, key=lambda word: (-len(word), word)) for words in found)
