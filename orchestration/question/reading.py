"""Reads a question by the patterns of each language: whose words it asks for, how broadly, of which time. Pure.

In a conversation of roles the asker is `user`: "my plan" is what the user said, "what did you recommend" what the
assistant answered. Two people who talk have names, and the names tell whose words are meant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestration.question.answer_kind import AskedKind, asked_kind, same_attributes
from orchestration.question.languages import asking_patterns, single_blanks
from orchestration.question.requests import Request, asks, read_request
from orchestration.question.tense import Tense, read_tense
from orchestration.question.time_expressions import Event, NamedPeriod, Seeking, read_times
from schemas.temporal import to_instant
from substrate.language.languages import Language

ASKING: Final = frozenset(("user", "human"))
ANSWERING: Final = frozenset(("assistant", "ai"))
ROLES: Final = ASKING | ANSWERING | {"system", "tool"}
"""Speakers that are roles: in a question such a word is nobody's name."""
_ASKING: Final = ("self", "others", "whole", "order", "broad", "course", "asked", "wish", "plan")


def instruction_words() -> str:
    """The full-text query for turns that may tell a preference or a rule that nobody has read in them."""
    return "|".join(Language.gather("telling.searched"))


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what its words say.

    `own`: it is about the asker. `others`: it asks what the other side said, not for its advice now. `broad`: its
    answer is spread over a conversation. `whole`: it asks for a summary, or how something developed, so that the
    words of every speaker count. `orders`: it asks in which order things came up. `asked`: what was
    asked before. `wishes`: it asks for no fact, but for what there is on something. `request`: whether standing
    instructions of the asker shape the answer. `answer_kind`: the kind of thing that it asks for, and `tense`: for
    when, if its words say so. `alike`: by stem of its words those of other words for the same attribute.
    `periods`: those that it names; `content`: the question without the phrases that name them, which no text is
    compared with; `of_time_alone`: beside them it names no subject; `general`: it names none, with a time or
    without. `seeking`: it asks for the latest or the earliest of some memories. `event`: the event before, after
    or on which it asks. `plans`: it asks what is planned, or of a time to come.
    """

    text: str
    own: bool = False
    others: bool = False
    broad: bool = False
    whole: bool = False
    orders: bool = False
    asked: bool = False
    wishes: bool = False
    request: Request = Request.NONE
    answer_kind: AskedKind | None = None
    alike: tuple[tuple[str, frozenset[str]], ...] = ()
    tense: Tense | None = None
    periods: tuple[NamedPeriod, ...] = ()
    content: str = ""
    of_time_alone: bool = False
    general: bool = False
    seeking: Seeking | None = None
    event: Event | None = None
    plans: bool = False


def read_question(text: str, now: datetime) -> Question:
    """The question as it is asked at `now`, in the zone of `now`: "yesterday" is the day before.

    It is read with single blanks; its `text` is as it was asked.
    """
    said = single_blanks(text)
    patterns = asking_patterns(said)
    own, others, whole, orders, broad, course, asked, wish, plans = (
        _says(name, said, patterns) for name in _ASKING
    )
    whole = whole or (course and not orders)
    broad = broad or orders or whole
    times, request = read_times(said, now), read_request(said)
    plans = plans or (bool(times.periods) and times.periods[0].period.start > to_instant(now))
    return Question(
        text,
        own=own,
        others=others and request is not Request.SURE,
        broad=broad,
        whole=whole,
        orders=orders and not whole,
        asked=asked,
        wishes=wish or not asks(said),
        request=Request.NONE if broad else request,
        answer_kind=asked_kind(said),
        alike=same_attributes(said),
        tense=read_tense(said),
        periods=times.periods,
        content=times.rest,
        of_time_alone=times.alone,
        general=times.general or wish,
        seeking=times.seeking,
        event=times.event,
        plans=plans,
    )


def _says(name: str, text: str, patterns: Sequence[Mapping[str, re.Pattern[str]]]) -> bool:
    return any(language[name].search(text) for language in patterns)
