"""Whether a text asks for something that a standing instruction shapes, or for what is remembered. Pure.

A request wants something written, done, advised or explained, or tells a trouble to be listened to. "Write to the
school", "how does a mortgage work?" and "she wants half the boat" are requests; "where do I live?", "what did Anna
say?" ask for what was said before. The words of each language stand in its file (`substrate/language`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Final

from orchestration.question.languages import asking_patterns
from substrate.language.languages import Language
from substrate.language.words import any_of, likeliest

MOST_READ: Final = 2000
"""Only so many characters of a text are read."""
LEAST_STATEMENT: Final = 4
"""A text that asks nothing is a statement from so many function words on; with fewer it is a list of words."""

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_APOSTROPHE: Final = str.maketrans("’‘ʼ", "'''")


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The patterns of a language over lower-case text; see `[requests]` in its file."""

    opening: re.Pattern[str]
    recalling: re.Pattern[str]
    past: re.Pattern[str]
    helping: re.Pattern[str]
    general: re.Pattern[str]
    own: re.Pattern[str]
    choice: re.Pattern[str]
    questions: frozenset[str]
    named: re.Pattern[str] | None


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
    patterns = _patterns(spoken.code)
    if patterns.recalling.search(read.lower()):
        return Request.NONE
    parts = [part for part in _SENTENCE_END.split(read.strip()) if _WORD.search(part)]
    asked = [_read_question(part, patterns) for part in parts if _asks(part, patterns)]
    if asked:
        return max(asked, key=list(Request).index)
    if any(patterns.opening.match(part.lower()) or patterns.helping.search(part.lower()) for part in parts):
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
    patterns = _patterns(question_language(read).code)
    return any(_asks(part, patterns) for part in _SENTENCE_END.split(read.strip()))


def question_language(text: str) -> Language:
    """The language whose function and question words are most frequent; the default when undecided."""
    found = _WORD.findall(text[:MOST_READ].lower())
    known = {each.code: each.telling.function_words | each.requests.questions for each in Language.all()}
    return Language.of(likeliest(found, known))


def _asks(part: str, patterns: _Patterns) -> bool:
    """Whether a sentence is a question: by its mark, or by its first word."""
    first = _WORD.search(part.lower())
    is_opened = first is not None and first[0].partition("'")[0] in patterns.questions
    return is_opened or part.rstrip().endswith(("?", "？"))


def _read_question(part: str, patterns: _Patterns) -> Request:
    lower = part.lower()
    if patterns.opening.match(lower) or patterns.helping.search(lower):
        return Request.SURE
    # The subject may be a name: "what does Noreen drive?", "what is Bex's surname?".
    names_somebody = patterns.named is not None and patterns.named.search(part) is not None
    if patterns.past.search(lower) or patterns.own.search(lower) or names_somebody:
        return Request.NONE
    is_general = patterns.choice.match(lower) or patterns.general.search(lower)
    return Request.SURE if is_general else Request.POSSIBLE


@cache
def _patterns(code: str) -> _Patterns:
    requests = Language.of(code).requests
    return _Patterns(
        opening=re.compile(rf"\W*(?:{any_of(requests.polite)}\W+)*{any_of(requests.bids)}"),
        recalling=re.compile(any_of(requests.recalling)),
        past=re.compile(any_of(requests.past)),
        helping=re.compile(any_of(requests.helping)),
        general=re.compile(any_of(requests.general)),
        own=re.compile(any_of(requests.own)),
        choice=re.compile(requests.choice),
        questions=requests.questions,
        named=None if requests.named is None else re.compile(requests.named),
    )
