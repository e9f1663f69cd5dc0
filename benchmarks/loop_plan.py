"""The plan of a life in the loop: what is told, what is asked between, and when it is looked back. Pure.

A conversation is cut into `DAYS` parts of like size. After each part some questions are heard, each with a reply;
after a third, two thirds and all of them it is looked back: everything that can be answered by then is asked, and
nothing is stored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import Final, Literal, NamedTuple

from benchmarks.chat import Chat
from benchmarks.datasets import MIDNIGHT_UTC, Conversation, Question, Turn
from benchmarks.life import Life

DAYS: Final = 24
LOOKS: Final = 3
"""How often in a life it is looked back, at like distances; the last time at its end."""
MOST_TIMES: Final = 3
"""How often one question is heard in a life, at most."""
SECOND: Final = timedelta(seconds=1)
MINUTE: Final = timedelta(minutes=1)

type Kind = Literal["unsure", "echo", "thanks", "fact"]
KINDS: Final[tuple[Kind, ...]] = ("unsure", "echo", "thanks", "fact")
OFTEN: Final = (3, 4, 1, 2)
"""How often each kind of reply comes beside the others."""
UNSURE: Final = ("I am not sure.", "I don't know, sorry.", "I have nothing on that.")
ECHOES: Final = ("You said: ", "You told me: ", "As far as I know: ", "What I remember is this: ")
THANKS: Final = ("Thanks, noted.", "Got it.", "You're welcome!", "Okay, I'll keep that in mind.")
THINGS: Final = (
    "storage locker", "rental van", "wine tasting", "sewing machine", "eye test", "chess club", "parcel",
    "ice rink", "boiler check", "choir ticket", "bike lane survey", "print order", "museum pass", "sauna slot",
    "tax form", "piano tuner", "seed swap", "blood donation", "sledge hire", "night train", "passport photo",
    "carpet cleaner", "tennis court", "kayak tour",
)  # fmt: skip
"""What an assistant booked by itself: things that the conversations do not speak of."""


class Told(NamedTuple):
    """Turns in their order, with the times at which they are said."""

    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that is heard on a day, for the `time`-th time; without evidence it was never said.

    `reply`: the words of the reply; of an echo those before the memory. `teaches`: the question that a fact of the
    assistant's own answers, with the id of the reply as evidence.
    """

    id: str
    question: Question
    day: int
    time: int
    at: datetime
    kind: Kind
    reply: str
    teaches: Question | None = None

    @property
    def reply_id(self) -> str:
        """The id of the message that answers it."""
        return f"{self.id}-reply"


class Look(NamedTuple):
    """It is looked back for the `part`-th time; by then so many turns were told."""

    part: int
    told: int
    at: datetime


type Step = Told | Asked | Look


class Split(NamedTuple):
    """The questions of a conversation that are heard, and those that are kept for looking back alone."""

    heard: tuple[Question, ...]
    kept: tuple[Question, ...]


def as_conversation(chat: Chat | Life, never_said: Sequence[str] = ()) -> Conversation:
    """Our own chat or life. Of a fact that changes the present is asked. `never_said`: more without an answer."""
    turns = tuple(Turn(each.id, each.role, each.text, each.time, "") for each in chat.messages)
    questions = [Question(each.question, "answerable", frozenset(each.evidence)) for each in chat.questions]
    unanswerable = [*never_said]
    if isinstance(chat, Chat):
        for change in chat.changes:
            questions += [Question(text, "present", frozenset(change.values[-1:])) for text in change.present]
        unanswerable += [each.question for each in chat.unanswerable]
    return Conversation(chat.id, turns, tuple(questions), tuple(unanswerable))


def shorten(conversation: Conversation, most: int | None) -> Conversation:
    """The first turns of a conversation, and the questions that they answer."""
    turns = conversation.turns[:most]
    told = {turn.id for turn in turns}
    questions = tuple(question for question in conversation.questions if question.evidence <= told)
    return replace(conversation, turns=turns, questions=questions)


def split(conversation: Conversation, most: int, chance: Random) -> Split:
    """Half of the questions are heard, at most so many, and of those that nothing answers half as many."""
    never_said = [Question(text, "never said", frozenset()) for text in conversation.unanswerable]
    heard: list[Question] = []
    kept: list[Question] = []
    for questions, bound in ((list(conversation.questions), most), (never_said, max(1, most // 2))):
        distinct = list({question.text: question for question in questions}.values())
        chance.shuffle(distinct)
        half = min(bound, (len(distinct) + 1) // 2)
        heard += distinct[:half]
        kept += distinct[half : half + bound]
    return Split(tuple(heard), tuple(kept))


def told_after(conversation: Conversation) -> dict[str, int]:
    """For each turn the number of turns that are told once it is."""
    return {turn.id: number for number, turn in enumerate(conversation.turns, start=1)}


def is_told(question: Question, turns: int, places: Mapping[str, int]) -> bool:
    """True when all evidence of a question is among the first so many turns."""
    return all(places[each] <= turns for each in question.evidence)


def plan(conversation: Conversation, questions: Split, chance: Random, only: Kind | None = None) -> list[Step]:
    """The steps of a life in the order of time. `only`: the one kind of all replies.

    Every time is later than the one before: where a conversation names one time for many turns, they are a second
    apart, and a question comes a minute after what was told.
    """
    ends = [-(-len(conversation.turns) * day // DAYS) for day in range(1, DAYS + 1)]
    heard = _days_of_questions(conversation, questions.heard, ends, chance)
    replies = _Replies(chance, only)
    steps: list[Step] = []
    clock, begin = conversation.turns[0].time or MIDNIGHT_UTC, 0
    for day, end in enumerate(ends, start=1):
        told = []
        for turn in conversation.turns[begin:end]:
            clock = max(clock + SECOND, turn.time or clock)
            told.append(replace(turn, time=clock))
        steps.append(Told(tuple(told)))
        for place, (question, time) in enumerate(heard[day]):
            clock += MINUTE
            steps.append(replies.add(Asked(f"asked-{day}-{place}", question, day, time, clock, "unsure", "")))
            clock += SECOND
        if day * LOOKS % DAYS == 0:
            clock += MINUTE
            steps.append(Look(day * LOOKS // DAYS, end, clock))
        begin = end
    return steps


def _days_of_questions(
    conversation: Conversation, questions: Sequence[Question], ends: Sequence[int], chance: Random
) -> Mapping[int, list[tuple[Question, int]]]:
    """By day the questions that are heard then, each with the number of times that it was heard by then."""
    places = told_after(conversation)
    heard: defaultdict[int, list[tuple[Question, int]]] = defaultdict(list)
    for question in questions:
        possible = [day for day, end in enumerate(ends, start=1) if is_told(question, end, places)]
        days = sorted(chance.sample(possible, min(len(possible), chance.randint(1, MOST_TIMES))))
        for time, day in enumerate(days, start=1):
            heard[day].append((question, time))
    for together in heard.values():
        chance.shuffle(together)
    return heard


class _Replies:
    """Chooses the replies, by chance; each thing is booked once."""

    def __init__(self, chance: Random, only: Kind | None) -> None:
        self._chance, self._only = chance, only
        self._things = iter(chance.sample(THINGS, len(THINGS)))

    def add(self, asked: Asked) -> Asked:
        """The question with its reply."""
        kind = self._only or self._chance.choices(KINDS, OFTEN)[0]
        thing = next(self._things, None) if kind == "fact" else None
        if thing is not None:
            number = self._chance.randint(1000, 9999)
            taught = Question(
                f"What is the booking number of the {thing}?", "own fact", frozenset([asked.reply_id])
            )
            reply = f"I booked the {thing} meanwhile, the booking number is {number}."
            return replace(asked, kind=kind, reply=reply, teaches=taught)
        words: Mapping[Kind, Sequence[str]] = {"echo": ECHOES, "thanks": THANKS}
        return replace(asked, kind=kind, reply=self._chance.choice(words.get(kind, UNSURE)))
