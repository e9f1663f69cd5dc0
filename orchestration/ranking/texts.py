"""What ranking reads of a memory and its text, each thing once: words, stems, what it gives and tells. Pure.

A record never changes, and most questions find memories that earlier ones found. So what was read of a memory is
kept with its record, in `Candidate.derived`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Final

from orchestration.appraisal.standing_rules import is_standing_instruction
from orchestration.question.reading import AskedKind, NamesGiven, answers, instruction_words, names_given
from orchestration.question.tense import Voice, has_own_words, read_voice
from orchestration.question.time_expressions import read_planned_times, read_told_times
from orchestration.ranking.candidates import Candidate, Candidates
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, Instant, Period, to_datetime
from substrate.language.languages import DEFAULT_LANGUAGE
from substrate.language.text import (
    count_stems,
    flat_text,
    flat_texts,
    has_unspaced,
    name_key,
    normal_text,
    stem,
    words,
)
from substrate.store import rows
from substrate.store.rows import NODE_PLACE
from substrate.store.search import NODE_START

CLAUSE: Final = re.compile(r"(?<=[.!?;:])\s+|\n+| [-–—] |, ")
BARE_TYPES: Final = frozenset(("Session", "Person"))
"""Memories of these types have no words of their own: they answer nothing."""
MOST_READ_FOR_DAYS: Final = 2_000
MOST_READ_FOR_CLAUSES: Final = 4_000
"""Only this many characters of a text are read for the days that it names, and clause by clause."""
MOST_ROOTS: Final = 100
"""This many words of a text are compared in their order with those of another."""
LEAST_SAID: Final = 4
"""A text of fewer words is no duplicate of another."""
_KIND, _BEGAN, _ENDED, _EXPIRED, _TEXT, _SPEAKER, _AUTHOR, _NAME, _FELT = (
    NODE_START + NODE_PLACE[column]
    for column in (
        "node_type", "valid_at", "invalid_at", "expired_at", "description", "speaker", "author", "name",
        "emotion_vector",
    )
)  # fmt: skip
"""Where a row has what is read of it."""


@cache
def _may_instruct() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{instruction_words()})\b", re.IGNORECASE)


class ReadText:
    """A text with what was read of it so far.

    `parts`: texts whose words, one after the other, are its words. `was_searched`: it was found by a question
    before.
    """

    __slots__ = (
        "_bids", "_clauses", "_counts", "_flat", "_given", "_language", "_other_counts", "_own_words", "_parts",
        "_spaced", "_voice", "text", "was_searched",
    )  # fmt: skip

    def __init__(self, text: str, parts: Sequence[ReadText | str] = ()) -> None:
        self.text = text
        self.was_searched = False
        self._parts = parts
        self._flat: str | None = None
        self._voice: Voice | None = None
        self._own_words: bool | None = None
        self._bids: bool | None = None
        self._spaced: bool | None = None
        self._clauses: tuple[ReadText, ...] | None = None
        # The language of nearly all questions is one: its counts take no further map to find.
        self._language = ""
        self._counts: Mapping[str, int] = {}
        self._other_counts: dict[str, Mapping[str, int]] | None = None
        self._given: dict[AskedKind, NamesGiven] | None = None

    @property
    def flat(self) -> str:
        """Its words in normal form, in order, with one blank before, between and after them."""
        if self._flat is None:
            self._flat = flat_text(self.text)
        return self._flat

    @property
    def words(self) -> list[str]:
        """Its words in normal form, in order."""
        return self.flat.split()

    @property
    def voice(self) -> Voice:
        """Whether it speaks of a change, of the one who says it, of what might be."""
        if self._voice is None:
            self._voice = read_voice(self.text)
        return self._voice

    @property
    def own_words(self) -> bool:
        """The same in any language."""
        if self._own_words is None:
            self._own_words = has_own_words(self.text)
        return self._own_words

    @property
    def bids(self) -> bool:
        """Whether it is a standing instruction with a word such as `always`."""
        if self._bids is None:
            self._bids = _may_instruct().search(self.text) is not None and is_standing_instruction(self.text)
        return self._bids

    @property
    def is_spaced(self) -> bool:
        """Whether its words stand between blanks."""
        if self._spaced is None:
            self._spaced = self.text.isascii() or not has_unspaced(normal_text(self.text))
        return self._spaced

    @property
    def clauses(self) -> tuple[ReadText, ...]:
        """Its clauses that are not blank; an empty one where there is none."""
        if self._clauses is None:
            found = (clause for clause in CLAUSE.split(self.text[:MOST_READ_FOR_CLAUSES]) if clause.strip())
            self._clauses = tuple(map(ReadText, found)) or (ReadText(""),)
        return self._clauses

    def counts(self, language: str = DEFAULT_LANGUAGE) -> Mapping[str, int]:
        """How often it has each stem, without the stop words of the language."""
        if language == self._language:
            return self._counts
        if not self._language:
            self._language, self._counts = language, self._count(language)
            return self._counts
        if self._other_counts is None:
            self._other_counts = {}
        found = self._other_counts.get(language)
        if found is None:
            found = self._other_counts[language] = self._count(language)
        return found

    def _count(self, language: str) -> Mapping[str, int]:
        if self._parts:
            counted = Counter[str]()
            for part in self._parts:
                read = count_stems(words(part), language) if isinstance(part, str) else part.counts(language)
                counted.update(read)
            return counted
        return count_stems(self.words, language)

    def stems(self, language: str = DEFAULT_LANGUAGE) -> AbstractSet[str]:
        """The stems of its words, without the stop words of the language."""
        return self.counts(language).keys()

    def roots(self, language: str = DEFAULT_LANGUAGE) -> list[str]:
        """The stems of its first words, in their order, stop words too."""
        return [stem(word, language) for word in self.words[:MOST_ROOTS]]

    def gives(self, asked: AskedKind, asked_stems: frozenset[str]) -> bool:
        """Whether it gives a thing of the kind asked for, other than those that the question names."""
        if self._given is None:
            self._given = {}
        given = self._given.get(asked)
        if given is None:
            given = self._given[asked] = names_given(asked, self.text)
        return answers(asked, given, asked_stems)


def flatten(texts: Iterable[ReadText]) -> None:
    """Read the words of these texts together: one by one they take twice as long."""
    unread = [text for text in texts if text._flat is None]
    for text, flat in zip(unread, flat_texts([text.text for text in unread]), strict=True):
        text._flat = flat


class MemoryText:
    """What a memory tells, with what was read of it so far.

    `speaker`: whose words it is, by `name_key`; `by` the same, else its author, else empty. `began`: when it began
    to hold. `silent_at`: it speaks until then; from the beginning of time on where it has no words of its own, or
    ended. `lexical`: the text that is compared by words. `manner`: its type and feelings, which two memories
    that say the same have in common.
    """

    __slots__ = ("_days", "_plans", "began", "by", "lexical", "manner", "silent_at", "speaker", "text")

    def __init__(self, memory: Candidate) -> None:
        row = memory.row
        kind, text, speaker = row[_KIND], row[_TEXT] or "", row[_SPEAKER]
        self.began = int(row[_BEGAN])
        silent = kind in BARE_TYPES or not text or int(row[_ENDED]) != END_OF_TIME
        self.silent_at: Instant = BEGINNING_OF_TIME if silent else int(row[_EXPIRED])
        self.speaker = name_key(speaker) if speaker else None
        self.by = self.speaker if self.speaker is not None else name_key(row[_AUTHOR] or "")
        self.text = self.lexical = ReadText(text)
        if not speaker:  # the name of a turn is only its beginning
            name = f"{row[_NAME]}"
            self.lexical = ReadText(f"{name} {text}", (name, self.text))
        self.manner = (kind, str(row[_FELT]))
        self._days: tuple[Period, ...] | None = None
        self._plans: tuple[Period, ...] | None = None

    @property
    def said(self) -> tuple[str, str, str] | None:
        """Type, feelings and words, the same for two memories that say the same; None for too few words."""
        flat = self.lexical.flat
        return (*self.manner, flat) if flat.count(" ") > LEAST_SAID else None

    @property
    def days(self) -> tuple[Period, ...]:
        """The days of which it tells: "yesterday" is the day before it began."""
        if self._days is None:
            read = self.text.text[:MOST_READ_FOR_DAYS]
            self._days = tuple(read_told_times(read, to_datetime(self.began)))
        return self._days

    @property
    def plans(self) -> tuple[Period, ...]:
        """The days to come that it names, seen from when it began; not those that come back."""
        if self._plans is None:
            began, read = to_datetime(self.began), self.text.text[:MOST_READ_FOR_DAYS]
            named = read_planned_times(read, began, began, is_work=True)
            self._plans = tuple(each.period for each in named if not each.recurring)
        return self._plans

    def speaks(self, known_to: Instant) -> bool:
        """Whether it has words of its own and nothing ended it: what was superseded says so itself.

        What was closed from `known_to` on had not ended for this question.
        """
        return self.silent_at >= known_to


def told_by(memory: Candidate) -> MemoryText:
    """What a memory tells; kept with its record."""
    found: MemoryText | None = memory.derived.get("told")
    if found is None:
        found = memory.derived["told"] = MemoryText(memory)
    return found


def drop_message(candidates: Candidates, episode_id: str, message_id: str | None, text: str) -> None:
    """Leave out the message of a conversation that is being answered: the one with the id that its sender or the
    service gave it; without an id those with the words of the `text`, with or without the blocks of a host."""
    words_asked = flat_text(text)
    for key, memory in list(candidates.memories.items()):
        if memory.get("episode_id") != episode_id or not memory.get("speaker"):
            continue
        extra = rows.read_map(memory.get("extra") or "{}")
        if message_id is None:
            said = told_by(memory).text.flat
            is_answered = said == words_asked or ("injected" in extra and words_asked.endswith(said))
        else:
            is_answered = message_id in (key[1], str(extra.get("id", "")))
        if is_answered:
            del candidates.memories[key]
