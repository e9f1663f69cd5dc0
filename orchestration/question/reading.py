"""What a question says beside its content: who asks, of whose words, how broadly, of which time. Pure.

In a conversation of roles the one who asks is `user`: "my plan" is what the user said, "what did you
recommend" what the assistant answered. Two people who talk have names, and these say it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestration.question.time_expressions import windows, words_of_time
from schemas.temporal import Period
from substrate.text import name_key

ASKING: Final = frozenset(("user", "human"))
ANSWERING: Final = frozenset(("assistant", "ai"))
ROLES: Final = ASKING | ANSWERING | {"system", "tool"}
"""Speakers that are roles: such a word in a question names nobody."""
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
_WISH: Final = re.compile(
    r"(?:^|[.!?\n]\s*)(?:please\s+)?(?:always|never)\b|\bwhen(?:ever)? i ask\b|\bfrom now on\b"
    r"|\bi(?:['’]d| would)?(?: really| always| usually)? prefer\b|\bmy preference\b"
)
_WISH_WITHIN: Final = 1200


@dataclass(frozen=True, slots=True)
class Question:
    """A question read. `broad`: its answer lies spread over a conversation; `whole`: everybody's words count.

    `orders`: it asks in which order things came up. `wishes`: it asks for something to be done, so that what the
    asker once wished for bears on it.
    """

    text: str
    own: bool = False
    others: bool = False
    broad: bool = False
    whole: bool = False
    orders: bool = False
    wishes: bool = False
    windows: tuple[Period, ...] = ()
    time_words: frozenset[str] = frozenset()


def read_question(text: str, now: datetime) -> Question:
    """The question, asked at `now`."""
    said = text.lower()
    own, whole, orders = (bool(pattern.search(said)) for pattern in (_SELF, _WHOLE, _ORDER))
    broad = orders or bool(_BROAD.search(said))
    return Question(
        text,
        own=own,
        others=bool(_OTHER.search(said)),
        broad=broad,
        whole=whole,
        orders=orders and not whole,
        wishes=own and not broad and not _RECALLS.search(said),
        windows=windows(text, now),
        time_words=words_of_time(text),
    )


def is_wish(text: str) -> bool:
    """Whether a text says how its writer wants things done, now and later."""
    return bool(_WISH.search(text[:_WISH_WITHIN].lower()))


def is_asking(text: str) -> bool:
    """Whether a text ends by asking, so that what follows it is an answer."""
    return "?" in text[-60:]


def without_names(text: str, names: Collection[str]) -> str:
    """The text without the names, for likeness: who spoke is known of a turn and need not be meant by it.

    The text itself where nothing would be left to say.
    """
    if not names:
        return text
    whole = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    left = " ".join(re.sub(rf"\b(?:{whole})(?:['’]s)?(?!\w)", " ", text, flags=re.IGNORECASE).split())
    return left if name_key(left) else text
