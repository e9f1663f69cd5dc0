"""What ranking reads of a memory and its text, each thing once: words, stems, what it gives and tells. Pure.

A record never changes, and most questions find memories that earlier ones found. So what was read of a memory is
kept with its record, in `Candidate.derived`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, cached_property
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
    NODE_PLACE[column]
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
    """A text with what was read of it so far: each thing is read when it is first asked for, and kept.

    `parts`: texts whose words, one after the other, are its words. `was_searched`: it was found by a question
    before.
    """

    def __init__(self, text: str, parts: Sequence[ReadText | str] = ()) -> None:
        self.text = text
        self.was_searched = False
        self._parts = parts

    @cached_property
    def flat(self) -> str:
        """Its words in normal form, in order, with one blank before, between and after them."""
        return flat_text(self.text)

    @property
    def words(self) -> list[str]:
        """Its words in normal form, in order."""
        return self.flat.split()

    @cached_property
    def voice(self) -> Voice:
        """Whether it speaks of a change, of the one who says it, of what might be."""
        return read_voice(self.text)

    @cached_property
    def own_words(self) -> bool:
        """The same in any language."""
        return has_own_words(self.text)

    @cached_property
    def bids(self) -> bool:
        """Whether it is a standing instruction with a word such as `always`."""
        return _may_instruct().search(self.text) is not None and is_standing_instruction(self.text)

    @cached_property
    def is_spaced(self) -> bool:
        """Whether its words stand between blanks."""
        return self.text.isascii() or not has_unspaced(normal_text(self.text))

    @cached_property
    def clauses(self) -> tuple[ReadText, ...]:
        """Its clauses that are not blank; an empty one where there is none."""
        found = (clause for clause in CLAUSE.split(self.text[:MOST_READ_FOR_CLAUSES]) if clause.strip())
        return tuple(map(ReadText, found)) or (ReadText(""),)

    @cached_property
    def _counts(self) -> dict[str, Mapping[str, int]]:
        return {}

    def counts(self, language: str = DEFAULT_LANGUAGE) -> Mapping[str, int]:
        """How often it has each stem, without the stop words of the language."""
        found = self._counts.get(language)
        if found is not None:
            return found
        counted = Counter[str]() if self._parts else count_stems(self.words, language)
        for part in self._parts:
            counted.update(count_stems(words(part), language) if isinstance(part, str) else part.counts(language))
        self._counts[language] = counted
        return counted

    def stems(self, language: str = DEFAULT_LANGUAGE) -> AbstractSet[str]:
        """The stems of its words, without the stop words of the language."""
        return self.counts(language).keys()

    @cached_property
    def _roots(self) -> dict[str, Sequence[str]]:
        return {}

    def roots(self, language: str = DEFAULT_LANGUAGE) -> Sequence[str]:
        """The stems of its first words, in their order, stop words too."""
        found = self._roots.get(language)
        if found is None:
            found = self._roots[language] = [stem(word, language) for word in self.words[:MOST_ROOTS]]
        return found

    @cached_property
    def _given(self) -> dict[AskedKind, NamesGiven]:
        return {}

    def gives(self, asked: AskedKind, asked_stems: frozenset[str]) -> bool:
        """Whether it gives a thing of the kind asked for, other than those that the question names."""
        given = self._given.get(asked)
        if given is None:
            given = self._given[asked] = names_given(asked, self.text)
        return answers(asked, given, asked_stems)


def flatten(texts: Iterable[ReadText]) -> None:
    """Read the words of these texts together: one by one they take twice as long."""
    unread = [text for text in texts if "flat" not in vars(text)]
    for text, flat in zip(unread, flat_texts([text.text for text in unread]), strict=True):
        text.flat = flat


class MemoryText:
    """What a memory tells, with what was read of it so far.

    `speaker`: whose words it is, by `name_key`; `by` the same, else its author, else empty. `began`: when it began
    to hold. `silent_at`: it speaks until then; from the beginning of time on where it has no words of its own, or
    ended. `lexical`: the text that is compared by words. `manner`: its type and feelings, which two memories
    that say the same have in common.
    """

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

    @cached_property
    def said(self) -> tuple[str, str, str] | None:
        """Type, feelings and words, the same for two memories that say the same; None for too few words."""
        flat = self.lexical.flat
        return (*self.manner, flat) if flat.count(" ") > LEAST_SAID else None

    @cached_property
    def days(self) -> tuple[Period, ...]:
        """The days of which it tells: "yesterday" is the day before it began."""
        read = self.text.text[:MOST_READ_FOR_DAYS]
        return tuple(read_told_times(read, to_datetime(self.began)))

    @cached_property
    def plans(self) -> tuple[Period, ...]:
        """The days to come that it names, seen from when it began; not those that come back."""
        began, read = to_datetime(self.began), self.text.text[:MOST_READ_FOR_DAYS]
        named = read_planned_times(read, began, began, is_work=True)
        return tuple(each.period for each in named if not each.recurring)

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
