"""Whether a text asks for something that a standing instruction shapes, or for what is remembered. Pure.

A request wants something written, done, advised or explained, or tells a trouble to be listened to. "Write to the
school", "how does a mortgage work?" and "she wants half the boat" are requests; "where do I live?", "what did Anna
say?" ask for what was said before. The words of each language stand in its file (`substrate/language`).
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cache
from typing import Final

from orchestration.question.languages import asking_patterns
from substrate.language.languages import Language
from substrate.language.text import any_of, likeliest, pattern_of

MOST_READ: Final = 2000
"""Only so many characters of a text are read."""
LEAST_STATEMENT: Final = 4
"""A text that asks nothing is a statement from so many function words on; with fewer it is a list of words."""

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_APOSTROPHE: Final = str.maketrans("’‘ʼ", "'''")


class Request(Enum):
    """`NONE`: the text asks for what is remembered. `POSSIBLE`: for that, or for what anybody may know."""

    NONE = "none"
    POSSIBLE = "possible"
    SURE = "sure"


def read_request(text: str) -> Request:
    """Whether a standing instruction of the asker shapes the answer to this text.

    A text of several sentences is a request when one of them asks for something and none for what was said before.
    """
    read = text[:MOST_READ].translate(_APOSTROPHE)
    spoken = question_language(read)
    if pattern_of(spoken.code, "requests.recalling").search(read.lower()):
        return Request.NONE
    parts = [part for part in _SENTENCE_END.split(read.strip()) if _WORD.search(part)]
    asked = [_read_question(part, spoken) for part in parts if _asks(part, spoken)]
    if asked:
        return max(asked, key=list(Request).index)
    if any(_bids(part.lower(), spoken.code) for part in parts):
        return Request.SURE
    words = _WORD.findall(read.lower())
    tells = sum(word in spoken.telling.function_words for word in words) >= LEAST_STATEMENT
    return Request.SURE if tells else Request.NONE


def asked_to_forget(text: str) -> str | None:
    """What a text asks to forget or to erase, in its words; None when it asks for no such thing."""
    read = text[:MOST_READ].translate(_APOSTROPHE).lower()
    for patterns in asking_patterns(read):
        if found := patterns["forget"].search(read):
            return next(group for group in found.groups() if group).strip()
    return None


def asks(text: str) -> bool:
    """Whether one of the sentences of a text is a question."""
    read = text[:MOST_READ].translate(_APOSTROPHE)
    spoken = question_language(read)
    return any(_asks(part, spoken) for part in _SENTENCE_END.split(read.strip()))


def question_language(text: str) -> Language:
    """The language whose function and question words are most frequent; the default when undecided."""
    found = _WORD.findall(text[:MOST_READ].lower())
    return likeliest(found, Language.all(), _asking_words)


def _asking_words(language: Language) -> frozenset[str]:
    return language.telling.function_words.union(language.requests["questions"])


def _asks(part: str, language: Language) -> bool:
    """Whether a sentence is a question: by its mark, or by its first word."""
    first = _WORD.search(part.lower())
    is_opened = first is not None and first[0].partition("'")[0] in language.requests["questions"]
    return is_opened or part.rstrip().endswith(("?", "？"))


def _bids(text: str, language: str) -> bool:
    """Whether a sentence in small letters opens as a request, or asks for help."""
    return (
        _opening(language).match(text) is not None
        or pattern_of(language, "requests.helping").search(text) is not None
    )


def _read_question(part: str, language: Language) -> Request:
    lower, code = part.lower(), language.code
    if _bids(lower, code):
        return Request.SURE
    if any(pattern_of(code, f"requests.{name}").search(lower) for name in ("past", "own")):
        return Request.NONE
    named, choice = language.patterns.get("named"), language.patterns.get("choice")
    if named and re.search(named, part):  # the subject may be a name: "what does Noreen drive?"
        return Request.NONE
    is_general = (choice and re.match(choice, lower)) or pattern_of(code, "requests.general").search(lower)
    return Request.SURE if is_general else Request.POSSIBLE


@cache
def _opening(code: str) -> re.Pattern[str]:
    requests = Language.of(code).requests
    return re.compile(rf"\W*(?:{any_of(requests['polite'])}\W+)*{any_of(requests['bids'])}")
