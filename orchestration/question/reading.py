"""Reads a question by English patterns: whose words it asks for, how broadly, of which time. Pure.

In a conversation of roles the asker is `user`: "my plan" is what the user said, "what did you recommend" what the
assistant answered. Two people who talk have names, and the names tell whose words are meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestration.question.answer_kind import AskedKind, asked_kind
from orchestration.question.time_expressions import find_time_words, find_windows
from schemas.temporal import Period

ASKING: Final = frozenset(("user", "human"))
ANSWERING: Final = frozenset(("assistant", "ai"))
ROLES: Final = ASKING | ANSWERING | {"system", "tool"}
"""Speakers that are roles: in a question such a word is nobody's name."""
INSTRUCTION_WORDS: Final = "always|never|prefer|whenever"
"""The full-text query for turns that may be standing instructions."""

_SELF: Final = re.compile(r"\b(i|my|me|mine|we|our|us)\b")
_OTHER: Final = re.compile(
    r"\b(?:did|have|had|were) you\b|\byou (?:said|told|recommend|suggest|gave|help|mention|advise|explain|propos)"
)
_BROAD: Final = re.compile(
    r"\b(?:summar\w+|overview|recap|throughout|across|over time|so far|history of|progress\w*|evol\w+)\b"
)
_ORDER: Final = re.compile(
    r"\bin order\b(?! (?:to|that)\b)"
    r"|\b(?:order in which|in (?:what|which) order|sequence of|chronolog\w*|timeline)\b"
)
_WHOLE: Final = re.compile(r"\b(?:summar\w+|overview|recap)\b")
_RECALLS: Final = re.compile(
    r"\b(?:(?:did|have|had) (?:i|we|you)|how (?:many|long|much)|i (?:mention|said|brought))"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what its words say.

    `own`: it is about the asker. `others`: it asks what the other side said. `broad`: its answer is spread over a
    conversation. `whole`: it asks for a summary, so that the words of every speaker count. `orders`: it asks in
    which order things came up. `seeks_action`: it asks for something to be done, so that standing instructions of
    the asker apply. `windows`: the periods that it names; `time_words`: the words by which it names them.
    `answer_kind`: the kind of thing that it asks for, if its words say so.
    """

    text: str
    own: bool = False
    others: bool = False
    broad: bool = False
    whole: bool = False
    orders: bool = False
    seeks_action: bool = False
    windows: tuple[Period, ...] = ()
    time_words: frozenset[str] = frozenset()
    answer_kind: AskedKind | None = None


def read_question(text: str, now: datetime) -> Question:
    """The question as it is asked at `now`: "yesterday" is the day before."""
    lower = text.lower()
    own, whole, orders = (bool(pattern.search(lower)) for pattern in (_SELF, _WHOLE, _ORDER))
    broad = orders or bool(_BROAD.search(lower))
    return Question(
        text,
        own=own,
        others=bool(_OTHER.search(lower)),
        broad=broad,
        whole=whole,
        orders=orders and not whole,
        seeks_action=own and not broad and not _RECALLS.search(lower),
        windows=find_windows(text, now),
        time_words=find_time_words(text),
        answer_kind=asked_kind(text),
    )
