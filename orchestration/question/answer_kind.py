"""The kind of thing that a question asks for, and whether a text gives one. Pure.

"Who", "where", "when", "how many" and "why" ask for a person, a place, a time, a number and a reason (the answer
types of Li and Roth, "Learning Question Classifiers", 2002, as far as plain words tell them). The words of each
language stand in its file (`substrate/language`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import chain
from typing import Final, NamedTuple

from substrate.language.languages import AskedLanguage, Language
from substrate.language.text import any_of, normal_text, stem, stems, word_language

MOST_READ: Final = 4000
"""At most this many characters of a text are read."""


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
_WORD: Final = re.compile(r"\w+")


class AskedKind(NamedTuple):
    """The kind that a question asks for, and the language whose words say so."""

    kind: AnswerKind
    language: str


type NamesGiven = bool | tuple[frozenset[str], ...]
"""What a text gives of a kind: whether, or the names."""


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The patterns of a language: `asked` finds what a question asks for, `given` what a text gives."""

    asked: Mapping[AnswerKind, re.Pattern[str]]
    given: Mapping[AnswerKind, re.Pattern[str]]


def asked_kind(question: str) -> AskedKind | None:
    """The kind of thing that a question asks for by the earliest of its words; None when no word says it."""
    text = question[:MOST_READ]
    codes = [language.code for language in Language.all()]
    spoken = AskedLanguage.of(word_language(text))
    if spoken.code not in codes and spoken.kinds is not None:
        codes.append(spoken.code)
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
    for attribute in _attributes(spoken):
        alike |= dict.fromkeys(attribute & stems(question, spoken), attribute)
    return tuple(alike.items())


@cache
def _attributes(code: str) -> Sequence[frozenset[str]]:
    """Sets of stems of which one answers a question for another."""
    kinds = AskedLanguage.of(code).kinds
    return [stems(line, code) for line in kinds.attributes] if kinds else ()


@cache
def _patterns(code: str) -> _Patterns:
    """The patterns of a language. Raises LookupError for one that does not say what a question asks for."""
    known = {language.code: language.kinds for language in AskedLanguage.all()}
    kinds = known.get(code)
    if kinds is None:
        raise LookupError(f"no file says what a question asks for in the language {code}")
    given = kinds.given
    all_given = [each.given for each in known.values() if each is not None]  # a text may mix languages
    articles = "|".join(chain.from_iterable(each["articles"] for each in all_given))
    ordinals = "|".join(chain.from_iterable(each["ordinals"] for each in all_given))
    clock_or_date = rf"\d{{1,2}}(?::\d\d|\.\d{{1,2}}\.|(?:{ordinals})\b)|\b(?:19|20)\d\d\b"

    def after(words: Sequence[str]) -> str:
        """The pattern for a name after one of these words, perhaps with an article between."""
        return rf"(?i:{any_of(words)}) (?:(?i:{articles}) )?({_NAME})"

    texts = {
        AnswerKind.PERSON: after(given["before_a_person"]) if "before_a_person" in given else _INSIDE,
        AnswerKind.TIME: rf"{clock_or_date}|(?i:{any_of(given['time'])})",
        AnswerKind.PLACE: after(given["before_a_place"]),
        AnswerKind.NUMBER: rf"{_DIGITS}|(?i:{any_of(given['number'])})",
        AnswerKind.REASON: rf"(?i:{any_of(given['reason'])})",
        AnswerKind.NAME: rf"(?i:{AskedLanguage.of(code).patterns['before_a_name']}) {_NAMES}",
    }
    asked = {kind: re.compile(rf"(?i:{any_of(kinds.asked[kind])})") for kind in AnswerKind}
    asked[AnswerKind.NAME] = re.compile(rf"^\W*{asked[AnswerKind.NAME].pattern} {_NAMES}\W*$")
    return _Patterns(asked, {kind: re.compile(text) for kind, text in texts.items()})
