"""Reads benchmarks/pairs and lays each case among filler: the conversations of one citizen, with their questions.

What lies where is drawn from a seed made of the case's own id, so a case is the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from pathlib import Path
from random import Random
from typing import Final, Literal, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict, Field

from benchmarks.life import USER, Message
from substrate.language.text import words

DIRECTORY: Final = Path(__file__).parent / "pairs"
SETS: Final = ("tune", "sealed")
CHANGES, TWO, THREE, NOT = "changes", "two_things", "three_in_a_row", "not_changes"
KINDS: Final = (CHANGES, TWO, THREE, NOT)
START: Final = datetime(2025, 1, 6, 7, 0, tzinfo=UTC)
FILLER: Final = (8, 12)
"""The least and the greatest number of unrelated messages of the speaker around a case."""
REPLIED: Final = 0.6
"""The share of messages, of what is told one after another of the last, that the assistant answers."""
SHARED: Final = 4
"""A filler is unrelated when no longer word of it begins like a longer word of the case."""

type Role = Literal["user", "assistant"]
type Conversations = tuple[tuple[Message, ...], ...]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Told(_Value):
    id: str
    language: str


class Changed(_Told):
    """What was, and what is now since `days` later; `across` two conversations or within one."""

    manner: str
    across: bool
    days: int
    earlier: str
    later: str
    present: tuple[str, ...]
    past: str


class TwoThings(_Told):
    """Two things of one kind that both hold, told with `days` between, each with a question for it."""

    kind: str
    across: bool
    days: int
    things: tuple[str, str]
    questions: tuple[str, str]


class ThreeInARow(_Told):
    """Three things told one right after another: the one that the question asks for, and the others."""

    kind: str
    asked: str
    others: tuple[str, str]
    question: str


class Said(_Value):
    """A message, so many days after the one before; 0 is the same conversation."""

    text: str
    days: int
    role: Role = "user"


class NoChange(_Told):
    """What looks like a change and is none. `expected`: the places of the messages of which one must be first."""

    kind: str
    question: str
    expected: tuple[int, ...]
    messages: tuple[Said, ...]


class Cases(_Value):
    """One set of cases."""

    changes: tuple[Changed, ...] = ()
    two_things: tuple[TwoThings, ...] = ()
    three_in_a_row: tuple[ThreeInARow, ...] = ()
    not_changes: tuple[NoChange, ...] = ()


class Filler(_Value):
    """Unrelated messages, and short replies of the assistant, in two languages."""

    en: tuple[str, ...]
    de: tuple[str, ...]
    replies_en: tuple[str, ...] = Field(alias="replies en")
    replies_de: tuple[str, ...] = Field(alias="replies de")


class Ask(NamedTuple):
    """A question. `expected`: of these messages one must be first; `part`: what of the case it asks for."""

    part: str
    question: str
    expected: tuple[str, ...]


class Laid(NamedTuple):
    """A case laid among filler, for a citizen of its own. `told`: the ids of its messages, in order of time."""

    id: str
    kind: str
    language: str
    span: str
    manner: str
    conversations: Conversations
    told: tuple[str, ...]
    asks: tuple[Ask, ...]

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages in order of time."""
        return tuple(message for conversation in self.conversations for message in conversation)

    @property
    def end(self) -> datetime:
        """When its questions are asked: a day after the last message."""
        return self.messages[-1].time + timedelta(days=1)


def read_cases(name: str, directory: Path = DIRECTORY) -> Cases:
    """Read the set of this name. Raises pydantic's ValidationError for another shape."""
    return Cases.model_validate_json((directory / f"{name}.json").read_bytes())


def read_filler(directory: Path = DIRECTORY) -> Filler:
    """Read the filler. Raises pydantic's ValidationError for another shape."""
    return Filler.model_validate(orjson.loads((directory / "filler.json").read_bytes()))


def lay_all(cases: Cases, filler: Filler) -> Iterator[Laid]:
    """Yield each case laid among filler: two things in either order, three in a row at each place."""
    for changed in cases.changes:
        yield _lay_change(changed, filler)
    for two in cases.two_things:
        yield from (_lay_two(two, filler, turned=turned) for turned in (False, True))
    for three in cases.three_in_a_row:
        yield from (_lay_three(three, filler, place) for place in range(3))
    for none in cases.not_changes:
        yield _lay_none(none, filler)


def _lay_change(case: Changed, filler: Filler) -> Laid:
    said = (Said(text=case.earlier, days=0), Said(text=case.later, days=case.days))
    questions = (*case.present, case.past)
    scene = _Scene(case, filler, (*questions, case.earlier, case.later))
    conversations, told = scene.lay(said, across=case.across)
    asks = (*(Ask("present", text, told[1:]) for text in case.present), Ask("past", case.past, told[:1]))
    return Laid(case.id, CHANGES, case.language, _span(across=case.across), case.manner, conversations, told, asks)


def _lay_two(case: TwoThings, filler: Filler, *, turned: bool) -> Laid:
    places = (1, 0) if turned else (0, 1)
    said = [Said(text=case.things[place], days=case.days * number) for number, place in enumerate(places)]
    scene = _Scene(case, filler, (*case.things, *case.questions))
    conversations, told = scene.lay(said, across=case.across)
    asks = (
        Ask("right told first", case.questions[places[0]], told[:1]),
        Ask("right told last", case.questions[places[1]], told[1:]),
    )
    name = f"{case.id}{'b' if turned else 'a'}"
    return Laid(name, TWO, case.language, _span(across=case.across), case.kind, conversations, told, asks)


def _lay_three(case: ThreeInARow, filler: Filler, place: int) -> Laid:
    texts = list(case.others)
    texts.insert(place, case.asked)
    scene = _Scene(case, filler, (*texts, case.question))
    conversations, told = scene.lay([Said(text=text, days=0) for text in texts], across=False)
    ask = Ask(("at the beginning", "in the middle", "at the end")[place], case.question, (told[place],))
    name = f"{case.id}{'abc'[place]}"
    return Laid(name, THREE, case.language, _span(across=False), case.kind, conversations, told, (ask,))


def _lay_none(case: NoChange, filler: Filler) -> Laid:
    across = any(each.days for each in case.messages)
    scene = _Scene(case, filler, (case.question, *(each.text for each in case.messages)))
    if across:
        conversations, told = scene.lay(case.messages, across=True)
    else:
        later = [each.model_copy(update={"days": 3}) for each in case.messages[1:]]
        conversations, told = scene.lay((case.messages[0], *later), across=False)
    ask = Ask("present", case.question, tuple(told[place] for place in case.expected))
    return Laid(case.id, NOT, case.language, _span(across=across), case.kind, conversations, told, (ask,))


def _span(*, across: bool) -> str:
    return "across" if across else "within"


class _Scene:
    """Lays the messages of one case, its filler and replies on a line of time."""

    def __init__(self, case: _Told, filler: Filler, texts: Sequence[str]) -> None:
        self._chance = Random(case.id)
        german = case.language == "de"
        pool = filler.de if german else filler.en
        self._replies = filler.replies_de if german else filler.replies_en
        stems = {stem for text in texts for stem in _stems(text)}
        unrelated = [text for text in pool if not stems & _stems(text)]
        self._filler = iter(self._chance.sample(unrelated, len(unrelated)))
        self._moment = START + timedelta(minutes=self._chance.randrange(600))
        self._conversations: list[list[Message]] = [[]]

    def lay(self, said: Sequence[Said], *, across: bool) -> tuple[Conversations, tuple[str, ...]]:
        """The conversations, and the ids of what was said, with filler before, between where days lie, and behind.

        With `across` each message that is days later begins another conversation.
        """
        starts = [0, *(place for place, each in enumerate(said) if place and each.days), len(said)]
        told: list[str] = []
        sizes = self._share(len(starts))
        for size, (start, stop) in zip(sizes, pairwise(starts), strict=False):
            self._fill(size // 2)
            if start:
                self._wait(said[start].days, across=across)
            self._fill(size - size // 2)
            told += [self._say(each.role, each.text) for each in said[start:stop]]
            if said[stop - 1].role == USER:
                self._reply()
        self._fill(sizes[-1])
        return tuple(map(tuple, self._conversations)), tuple(told)

    def _share(self, parts: int) -> list[int]:
        """How many filler messages lie in each part: at least two, 8 to 12 in all where that suffices."""
        sizes = [2] * parts
        for _ in range(self._chance.randint(*FILLER) - sum(sizes)):
            sizes[self._chance.randrange(parts)] += 1
        return sizes

    def _wait(self, days: int, *, across: bool) -> None:
        self._moment += timedelta(days=days, minutes=self._chance.randrange(60))
        if across:
            self._conversations.append([])

    def _fill(self, count: int) -> None:
        for text in islice(self._filler, count):
            self._say("user", text)
            self._reply()

    def _reply(self) -> None:
        if self._chance.random() < REPLIED:
            self._say("assistant", self._chance.choice(self._replies))

    def _say(self, role: Role, text: str) -> str:
        """Say it a few minutes later, and return its id."""
        self._moment += timedelta(minutes=self._chance.randint(1, 9))
        name = f"m{1 + sum(map(len, self._conversations)):03}"
        self._conversations[-1].append(Message(id=name, time=self._moment, role=role, text=text))
        return name


def _stems(text: str) -> set[str]:
    """The beginnings of the longer words of a text."""
    return {word[: SHARED + 1] for word in words(text) if len(word) > SHARED}
