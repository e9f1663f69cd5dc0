"""When what a question asks for holds: now, before something else, or once; and texts that tell of a change. Pure.

"Where do I live?" asks for the present, "where did I live before?" for what held formerly, "what did I buy?" for
an event. The words of each language stand in its file in `languages/`.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from importlib import resources
from typing import Final

from orchestration.appraisal.languages import CODES, language, language_of

MOST_READ: Final = 4000
"""Only so many characters of a text are read."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_OWN: Final = ("own_subjects", "own_objects", "own_possessives")
"""The lists of words by which one speaks of oneself."""
_NONE: Final = r"(?!)"
"""Matches nothing."""


class Tense(StrEnum):
    """When what is asked for holds."""

    PRESENT = "present"
    FORMER = "former"
    EVENT = "event"


@dataclass(frozen=True, slots=True)
class _Patterns:
    former: re.Pattern[str]
    past: re.Pattern[str]
    now: re.Pattern[str]
    acts: re.Pattern[str]
    bids: re.Pattern[str]
    change: re.Pattern[str]


@lru_cache(maxsize=1024)
def read_tense(question: str) -> Tense | None:
    """The tense of a question; None when no word tells it, or when something is to be done."""
    text = question[:MOST_READ].lower()
    likeliest = language_of(text).code
    for code in (likeliest, *(each for each in CODES if each != likeliest)):
        patterns = _patterns(code)
        if patterns.acts.search(text) or patterns.bids.match(text.lstrip()):
            return None
        if tense := _find_tense(text, patterns):
            return tense
    return None


def _find_tense(text: str, patterns: _Patterns) -> Tense | None:
    if patterns.former.search(text):
        return Tense.FORMER
    if patterns.past.search(text):
        return Tense.EVENT
    return Tense.PRESENT if patterns.now.search(text) else None


@lru_cache(maxsize=8192)
def count_changes(text: str) -> int:
    """How many words of a text say that something is no longer as it was."""
    read = text[:MOST_READ].lower()
    return len(_patterns(language_of(read).code).change.findall(read))


@lru_cache(maxsize=8192)
def speaks_of_self(text: str) -> bool:
    """Whether a text has a word by which one speaks of oneself."""
    return _has_word(text, *_OWN)


def has_own_words(text: str) -> bool:
    """Whether a text has a word by which one speaks of oneself in any language: in a hundredth of the time."""
    return _own_words().search(text[:MOST_READ]) is not None


@cache
def _own_words() -> re.Pattern[str]:
    lists = (language(code).words[name] for code in CODES for name in _OWN)
    words = sorted(set().union(*lists))
    return re.compile(rf"(?i)\b(?:{'|'.join(map(re.escape, words))})\b")


@lru_cache(maxsize=8192)
def is_unreal(text: str) -> bool:
    """Whether a text has a word for what might be: "if", "would", "perhaps"."""
    return _has_word(text, "hypothetical")


def _has_word(text: str, *lists: str) -> bool:
    read = text[:MOST_READ].lower()
    words = language_of(read).words
    return any(not words[name].isdisjoint(_WORD.findall(read)) for name in lists)


@cache
def _patterns(code: str) -> _Patterns:
    """The patterns of a language. Raises FileNotFoundError for one without a file."""
    text = resources.files("orchestration.question").joinpath("languages", f"{code}.toml").read_text("utf-8")
    table = tomllib.loads(text)
    tense = table["tense"]
    return _Patterns(
        former=_choice(tense["former"]),
        past=_choice(tense["past"], tense.get("participle", _NONE)),
        now=_choice(tense["now"]),
        acts=_choice(tense["acts"]),
        bids=_choice(tense["bids"]),
        change=_choice(table["change"]["words"]),
    )


def _choice(phrases: str, more: str = _NONE) -> re.Pattern[str]:
    """Any of the phrases of a list, as whole words, or what the pattern `more` finds."""
    words = ("\\s+".join(map(re.escape, phrase.split())) for phrase in phrases.split(","))
    return re.compile(rf"\b(?:{'|'.join(filter(None, words))}|{more})\b")
