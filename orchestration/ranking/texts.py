"""What ranking reads of a memory and its text, each thing once: words, stems, what it gives and tells. Pure.

A record never changes, and most questions find memories that earlier ones found. So what was read of a memory is
kept with its record, in `Candidate.derived`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain
from typing import Final

from orchestration.appraisal.standing_rules import is_standing_instruction
from orchestration.question.answer_kind import AskedKind, NamesGiven, names_given
from orchestration.question.reading import INSTRUCTION_WORDS
from orchestration.question.tense import Voice, has_own_words, read_voice
from orchestration.question.time_expressions import read_told_times
from orchestration.ranking.candidates import Candidate
from schemas.temporal import END_OF_TIME, Instant, Period, to_datetime
from substrate.text import DEFAULT_LANGUAGE, count_stems, has_unspaced, name_key, normal_text, words

CLAUSE: Final = re.compile(r"(?<=[.!?;:])\s+|\n+| [-–—] |, ")
BARE_TYPES: Final = frozenset(("Session", "Person"))
"""Memories of these types have no words of their own: they answer nothing."""
MOST_READ_FOR_DAYS: Final = 2_000
MOST_READ_FOR_CLAUSES: Final = 4_000
"""Only so many characters of a text are read for the days that it names, and clause by clause."""
LEAST_SAID: Final = 4
"""A text of fewer words is no duplicate of another."""
_MAY_INSTRUCT: Final = re.compile(rf"\b(?:{INSTRUCTION_WORDS})\b", re.IGNORECASE)


class ReadText:
    """A text with what was read of it so far. `parts`: texts whose words, one after the other, are its words."""

    def __init__(self, text: str, parts: Sequence[ReadText] = ()) -> None:
        self.text = text
        self._parts = parts
        self._counts: dict[str, Mapping[str, int]] = {}
        self._given: dict[AskedKind, NamesGiven] = {}

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words in normal form, in order."""
        if self._parts:
            return tuple(chain.from_iterable(part.words for part in self._parts))
        return tuple(words(self.text))

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
        return _MAY_INSTRUCT.search(self.text) is not None and is_standing_instruction(self.text)

    @cached_property
    def is_spaced(self) -> bool:
        """Whether its words stand between blanks."""
        return self.text.isascii() or not has_unspaced(normal_text(self.text))

    @cached_property
    def clauses(self) -> tuple[ReadText, ...]:
        """Its clauses that are not blank; an empty one where there is none."""
        found = (clause for clause in CLAUSE.split(self.text[:MOST_READ_FOR_CLAUSES]) if clause.strip())
        return tuple(map(ReadText, found)) or (ReadText(""),)

    def counts(self, language: str = DEFAULT_LANGUAGE) -> Mapping[str, int]:
        """How often it has each stem, without the stop words of the language."""
        found = self._counts.get(language)
        if found is None:
            found = self._counts[language] = self._count(language)
        return found

    def _count(self, language: str) -> Mapping[str, int]:
        if self._parts:
            counted = Counter[str]()
            for part in self._parts:
                counted.update(part.counts(language))
            return counted
        return count_stems(self.words, language)

    def stems(self, language: str = DEFAULT_LANGUAGE) -> AbstractSet[str]:
        """The stems of its words, without the stop words of the language."""
        return self.counts(language).keys()

    def gives(self, asked: AskedKind, asked_stems: frozenset[str]) -> bool:
        """Whether it gives a thing of the kind asked for, other than those that the question names."""
        given = self._given.get(asked)
        if given is None:
            given = self._given[asked] = names_given(asked, self.text)
        return given if isinstance(given, bool) else any(name - asked_stems for name in given)


class Told:
    """What a memory tells, with what was read of it so far.

    `speaker`: whose words it is, by `name_key`; `by` the same, else its author, else empty. `began`: when it began
    to hold. `bare`: it has no words of its own. `lexical`: the text that is compared by words.
    """

    def __init__(self, memory: Candidate) -> None:
        get = memory.get
        self.began = int(get("valid_at"))
        self.kind: str = get("node_type")
        self.bare = self.kind in BARE_TYPES or not get("description")
        self.ended = int(get("invalid_at")) != END_OF_TIME
        self.expired_at = int(get("expired_at"))
        speaker = get("speaker")
        self.speaker = name_key(speaker) if speaker else None
        self.by = name_key(speaker or get("author") or "")
        self.text = ReadText(get("description") or "")
        self.lexical = self.text
        if not speaker:  # the name of a turn is only its beginning
            name = f"{get('name')}"
            self.lexical = ReadText(f"{name} {self.text.text}", (ReadText(name), self.text))
        self._felt = str(get("emotion_vector"))

    @cached_property
    def said(self) -> str | None:
        """Type, feelings and words, the same for two memories that say the same; None for too few words."""
        found = self.lexical.words
        return None if len(found) < LEAST_SAID else "\n".join((self.kind, self._felt, *found))

    @cached_property
    def days(self) -> tuple[Period, ...]:
        """The days of which it tells: "yesterday" is the day before it began."""
        return tuple(read_told_times(self.text.text[:MOST_READ_FOR_DAYS], to_datetime(self.began)))

    def speaks(self, known_to: Instant) -> bool:
        """Whether it has words of its own and nothing ended it: what was superseded says so itself.

        What was closed from `known_to` on had not ended for this question.
        """
        return not (self.bare or self.ended or self.expired_at < known_to)


def told_by(memory: Candidate) -> Told:
    """What a memory tells; kept with its record."""
    found: Told | None = memory.derived.get("told")
    if found is None:
        found = memory.derived["told"] = Told(memory)
    return found
