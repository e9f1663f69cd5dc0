"""The kind of thing that a question asks for, and whether a text gives one. Pure.

"Who", "where", "when", "how many" and "why" ask for a person, a place, a time, a number and a reason (the answer
types of Li and Roth, "Learning Question Classifiers", 2002, as far as plain words tell them). The words of each
language stand in its file in `languages/`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Final, NamedTuple

from orchestration.appraisal.languages import CODES
from substrate.text import normal_text, stem, stems, word_language

MORE_CODES: Final = ("fr",)
"""Languages whose words count for a question in that language alone."""
MOST_READ: Final = 4000
"""Only so many characters of a text are read."""


class AnswerKind(StrEnum):
    """What a question asks for."""

    PERSON = "person"
    TIME = "time"
    PLACE = "place"
    NUMBER = "number"
    REASON = "reason"
    NAME = "name"
    """Whom or what a name stands for: "Who is Betty?" is answered by "my car, called Betty"."""


_NAME: Final = r"[A-ZÀ-ÖØ-Þ][\w'’-]*\w"
_NAMES: Final = rf"({_NAME}(?: {_NAME})*)"
_INSIDE: Final = rf"(?<=[\w,;:'’)] )({_NAME})"
"""A capitalised word inside a sentence."""
_DIGITS: Final = r"\d"
_CLOCK_OR_DATE: Final = r"\d{1,2}(?::\d\d|\.\d{1,2}\.|st\b|nd\b|rd\b|th\b)|\b(?:19|20)\d\d\b"
_WORD: Final = re.compile(r"\w+")


class AskedKind(NamedTuple):
    """The kind that a question asks for, and the language whose words say so."""

    kind: AnswerKind
    language: str


type NamesGiven = bool | tuple[frozenset[str], ...]
"""What a text gives of a kind: whether, or the names."""


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The patterns of a language: `asked` finds what a question asks for, `given` what a text gives.

    `attributes`: sets of stems of which one answers a question for another.
    """

    asked: Mapping[AnswerKind, re.Pattern[str]]
    given: Mapping[AnswerKind, re.Pattern[str]]
    attributes: Sequence[frozenset[str]]


def asked_kind(question: str) -> AskedKind | None:
    """The kind of thing that a question asks for by the earliest of its words; None when no word says it."""
    text = question[:MOST_READ]
    spoken = word_language(text)
    codes = (*CODES, spoken) if spoken in MORE_CODES else CODES
    found: list[tuple[int, AskedKind]] = []
    for code in codes:
        for kind, pattern in _patterns(code).asked.items():
            if match := pattern.search(text):
                found.append((match.start(), AskedKind(kind, code)))
    return min(found)[1] if found else None  # of two at one place that of a name, which takes the whole question


def gives_kind(asked: AskedKind, text: str, asked_stems: frozenset[str]) -> bool:
    """Whether a text gives a thing of the kind asked for, other than those that the question names.

    `asked_stems`: the stems of the question's words, which answer nothing.
    """
    return answers(asked, names_given(asked, text), asked_stems)


def answers(asked: AskedKind, given: NamesGiven, asked_stems: frozenset[str]) -> bool:
    """The same of what a text gives. A name that is asked about is one of those that the question names."""
    if isinstance(given, bool):
        return given
    return any(name <= asked_stems if asked.kind is AnswerKind.NAME else name - asked_stems for name in given)


def names_given(asked: AskedKind, text: str) -> NamesGiven:
    """What a text gives of a kind: of a person, a place or a name the stems of each, else whether it gives one."""
    kind, patterns = asked.kind, _patterns(asked.language)
    read, pattern = text[:MOST_READ], patterns.given[kind]
    if kind not in (AnswerKind.PERSON, AnswerKind.PLACE, AnswerKind.NAME):
        return pattern.search(read) is not None
    return tuple(frozenset(_stems(name)) for name in pattern.findall(read))


def _stems(name: str) -> set[str]:
    return {stem(word) for word in _WORD.findall(normal_text(name))}


def same_attributes(question: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """By stem of a question, the stems of other words for the same attribute: "flat", "moved" for "live"."""
    spoken = word_language(question)
    alike: dict[str, frozenset[str]] = {}
    for attribute in _patterns(spoken).attributes if spoken in CODES else ():
        alike |= dict.fromkeys(attribute & stems(question, spoken), attribute)
    return tuple(alike.items())


@cache
def _patterns(code: str) -> _Patterns:
    """The patterns of a language. Raises FileNotFoundError for one without a file."""
    text = resources.files("orchestration.question").joinpath("languages", f"{code}.toml").read_text("utf-8")
    table = tomllib.loads(text)
    given = table["given"]
    texts = {
        AnswerKind.PERSON: _after(given["before_a_person"]) if "before_a_person" in given else _INSIDE,
        AnswerKind.TIME: rf"{_CLOCK_OR_DATE}|(?i:{_choice(given['time'])})",
        AnswerKind.PLACE: _after(given["before_a_place"]),
        AnswerKind.NUMBER: rf"{_DIGITS}|(?i:{_choice(given['number'])})",
        AnswerKind.REASON: rf"(?i:{_choice(given['reason'])})",
        AnswerKind.NAME: rf"(?i:{given['before_a_name']}) {_NAMES}",
    }
    asked = {kind: re.compile(rf"(?i:{_choice(table['asked'][kind])})") for kind in AnswerKind}
    asked[AnswerKind.NAME] = re.compile(rf"^\W*{asked[AnswerKind.NAME].pattern} {_NAMES}\W*$")
    return _Patterns(
        asked=asked,
        given={kind: re.compile(text) for kind, text in texts.items()},
        attributes=[stems(line, code) for line in table.get("attributes", {}).get("words", ())],
    )


def _after(words: str) -> str:
    """The pattern for a name after one of these words, perhaps with an article between."""
    return rf"(?i:{_choice(words)}) (?:(?i:the|der|die|das|dem|den|le|la|les) )?({_NAME})"


def _choice(phrases: str) -> str:
    """The pattern for any of the phrases of a list, as whole words."""
    words = ("\\s+".join(map(re.escape, phrase.split())) for phrase in phrases.split(","))
    return rf"\b(?:{'|'.join(filter(None, words))})\b"
