"""Reads a question by the patterns of each language: whose words it asks for, how broadly, of which time. Pure.

In a conversation of roles the asker is `user`: "my plan" is what the user said, "what did you recommend" what the
assistant answered. Two people who talk have names, and the names tell whose words are meant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum
from functools import cache
from itertools import chain
from typing import Final, NamedTuple

from orchestration.question.languages import asking_patterns, read_codes, single_blanks
from orchestration.question.tense import Tense, read_tense
from orchestration.question.time_expressions import Event, NamedPeriod, Seeking, read_times
from schemas.temporal import to_instant
from substrate.language.languages import AskedLanguage, Language
from substrate.language.text import any_of, likeliest, normal_text, pattern_of, stem, stems, word_language

ASKING: Final = frozenset(("user", "human"))
ANSWERING: Final = frozenset(("assistant", "ai"))
ROLES: Final = ASKING | ANSWERING | {"system", "tool"}
"""Speakers that are roles: in a question such a word is nobody's name."""
_ASKING: Final = ("self", "others", "whole", "order", "broad", "several", "course", "asked", "wish", "plan")


def instruction_words() -> str:
    """The full-text query for turns that may tell a preference or a rule that nobody has read in them."""
    return "|".join(Language.gather("telling.searched"))


REQUEST_READ: Final = 2000
"""At most this many characters of a text are read."""
LEAST_STATEMENT: Final = 4
"""A text that asks nothing is a statement from this many function words on; with fewer it is a list of words."""

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
    read = text[:REQUEST_READ].translate(_APOSTROPHE)
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
    read = text[:REQUEST_READ].translate(_APOSTROPHE).lower()
    for patterns in asking_patterns(read):
        if found := patterns["forget"].search(read):
            return next(group for group in found.groups() if group).strip()
    return None


def asks(text: str) -> bool:
    """Whether one of the sentences of a text is a question."""
    read = text[:REQUEST_READ].translate(_APOSTROPHE)
    spoken = question_language(read)
    return any(_asks(part, spoken) for part in _SENTENCE_END.split(read.strip()))


def question_language(text: str) -> Language:
    """The language whose function and question words are most frequent; the default when undecided."""
    found = _WORD.findall(text[:REQUEST_READ].lower())
    return likeliest(found, Language.all(), _asking_words)


def _asking_words(language: Language) -> frozenset[str]:
    return language.telling.function_words.union(language.requests["questions"])


def _asks(part: str, spoken: Language) -> bool:
    """Whether a sentence is a question: by its mark, or by its first word."""
    first = _WORD.search(part.lower())
    is_opened = first is not None and first[0].partition("'")[0] in spoken.requests["questions"]
    return is_opened or part.rstrip().endswith(("?", "？"))


def _bids(lower: str, code: str) -> bool:
    """Whether a sentence in small letters opens as a request, or asks for help."""
    return (
        _opening(code).match(lower) is not None or pattern_of(code, "requests.helping").search(lower) is not None
    )


def _read_question(part: str, spoken: Language) -> Request:
    lower, code = part.lower(), spoken.code
    if _bids(lower, code):
        return Request.SURE
    if any(pattern_of(code, f"requests.{name}").search(lower) for name in ("past", "own")):
        return Request.NONE
    named, choice = spoken.patterns.get("named"), spoken.patterns.get("choice")
    if named and re.search(named, part):  # the subject may be a name: "what does Noreen drive?"
        return Request.NONE
    is_general = (choice and re.match(choice, lower)) or pattern_of(code, "requests.general").search(lower)
    return Request.SURE if is_general else Request.POSSIBLE


@cache
def _opening(code: str) -> re.Pattern[str]:
    requests = Language.of(code).requests
    return re.compile(rf"\W*(?:{any_of(requests['polite'])}\W+)*{any_of(requests['bids'])}")


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what its words say.

    `own`: it is about the asker. `others`: it asks what the other side said, not for its advice now. `broad`: its
    answer is spread over a conversation. `several`: several memories answer it, each with a part. `whole`: it asks
    for a summary, or how something developed, so that the words of every speaker count. `orders`: it asks in which
    order things came up. `asked`: what was asked before. `wishes`: it asks for no fact, but for what there is on
    something. `request`: whether standing instructions of the asker shape the answer. `answer_kind`: the kind of
    thing that it asks for, and `tense`: for when, if its words say so. `alike`: by stem of its words those of
    other words for the same attribute. `periods`: those that it names; `content`: the question without the phrases
    that name them, which no text is compared with; `of_time_alone`: beside them it names no subject; `general`: it
    names none, with a time or without. `seeking`: it asks for the latest or the earliest of some memories.
    `event`: the event before, after or on which it asks. `plans`: it asks what is planned, or of a time to come.
    """

    text: str
    own: bool = False
    others: bool = False
    broad: bool = False
    several: bool = False
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

    def says(name: str) -> bool:
        return any(language[name].search(said) for language in patterns)

    own, others, whole, orders, broad, several, course, asked, wish, plans = map(says, _ASKING)
    whole = whole or (course and not orders)
    broad = broad or orders or whole
    times, request = read_times(said, now), read_request(said)
    plans = plans or (bool(times.periods) and times.periods[0].period.start > to_instant(now))
    return Question(
        text,
        own=own,
        others=others and request is not Request.SURE,
        broad=broad,
        several=several,
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
INSIDE_NAME: Final = rf"(?<=[\w,;:'’)] )({_NAME})"
"""A capitalised word inside a sentence."""
_DIGITS: Final = r"\d"
_NAME_WORD: Final = re.compile(r"\w+")


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
    text, codes = question[:MOST_READ], read_codes()
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
    return tuple(frozenset(map(stem, _NAME_WORD.findall(normal_text(name)))) for name in pattern.findall(read))


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
        AnswerKind.PERSON: after(given["before_a_person"]) if "before_a_person" in given else INSIDE_NAME,
        AnswerKind.TIME: rf"{clock_or_date}|(?i:{any_of(given['time'])})",
        AnswerKind.PLACE: after(given["before_a_place"]),
        AnswerKind.NUMBER: rf"{_DIGITS}|(?i:{any_of(given['number'])})",
        AnswerKind.REASON: rf"(?i:{any_of(given['reason'])})",
        AnswerKind.NAME: rf"(?i:{AskedLanguage.of(code).patterns['before_a_name']}) {_NAMES}",
    }
    asked = {kind: re.compile(rf"(?i:{any_of(kinds.asked[kind])})") for kind in AnswerKind}
    asked[AnswerKind.NAME] = re.compile(rf"^\W*{asked[AnswerKind.NAME].pattern} {_NAMES}\W*$")
    return _Patterns(asked, {kind: re.compile(text) for kind, text in texts.items()})
