"""A generated set of facts that change in chats: the same for the same seed. Pure."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, TypeAdapter

from benchmarks.chat import Change, Chat, Former, Kind, Manner
from benchmarks.life import Message

SUBJECTS: Final = Path(__file__).parent / "facts" / "subjects.json"
FACTS_IN_A_CHAT: Final = 12
MANNERS: Final[tuple[Manner, ...]] = ("plain", "plain", "passing", "passing", "return", "twice")
"""They take turns."""
START: Final = datetime(2025, 1, 6, 7, 0, tzinfo=UTC)
PEOPLE: Final = ("Noor", "Wes", "Ulrike", "Bela", "Agnes", "my cousin", "the neighbour", "Tomasz")
BEFORE: Final = ("before", "at first", "in the beginning", "originally")
SMALL_TALK: Final = (
    "slept badly, the gulls again",
    "is it true that bananas float?",
    "made soup out of everything that was left",
    "rain since four, the cellar smells of dog",
    "what rhymes with orange, for a card?",
    "watched the snooker until one",
    "my hands are cold all the time, is that the blood?",
    "the tomatoes on the sill are finally red",
    "how many litres does a bath hold?",
    "found a glove on the way, the left one",
    "quiet week, nothing to tell",
    "the radio says storm, I say wind",
)
ANSWERS: Final = ("That sounds like a day.", "Good to hear.", "Try it slowly.", "I would wait until tomorrow.")
CORRECTION: Final = (
    "scrap what I said this morning. ",
    "correction from earlier today: ",
    "no wait, they called again. ",
)


class Subject(BaseModel):
    """Something that changes in a life, with ways to say it: `{v}` is its value, `{old}` the one before."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    name: str
    values: tuple[str, ...]
    first: tuple[str, ...]
    plain: tuple[str, ...]
    passing: tuple[str, ...]
    back: tuple[str, ...]
    present: str
    past: str
    other: str
    maybe: str
    quote: str


class _Said(NamedTuple):
    """A message to be: when, by whom, what; `value` is its place among the values of its fact."""

    time: datetime
    role: str
    text: str
    fact: int = -1
    value: int = -1


def read_subjects() -> list[Subject]:
    """Read benchmarks/facts/subjects.json."""
    return TypeAdapter(list[Subject]).validate_json(SUBJECTS.read_text(encoding="utf-8"))


def generate_chats(facts: int, seed: int) -> list[Chat]:
    """So many changed facts, in chats of `FACTS_IN_A_CHAT`; the last one may have fewer."""
    chance = random.Random(seed)
    manners = cycle(MANNERS)
    sizes = [min(FACTS_IN_A_CHAT, facts - start) for start in range(0, facts, FACTS_IN_A_CHAT)]
    return [
        _chat(f"facts-{seed}-{number}", list(islice(manners, size)), chance) for number, size in enumerate(sizes)
    ]


def _chat(name: str, manners: Sequence[Manner], chance: random.Random) -> Chat:
    chosen = chance.sample(read_subjects(), len(manners))
    said = list(_small_talk(chance))
    for fact, (subject, manner) in enumerate(zip(chosen, manners, strict=True)):
        said += _tell(fact, subject, manner, chance)
    said.sort(key=lambda each: each.time)
    ids = [f"m{number:04}" for number in range(1, len(said) + 1)]
    values: list[list[str]] = [[] for _ in chosen]
    for message_id, each in zip(ids, said, strict=True):
        if each.fact >= 0:
            values[each.fact].append(message_id)
    messages = [
        Message.model_validate({"id": message_id, "time": each.time, "role": each.role, "text": each.text})
        for message_id, each in zip(ids, said, strict=True)
    ]
    changes = [
        _change(subject, manner, tuple(told), chance)
        for subject, manner, told in zip(chosen, manners, values, strict=True)
    ]
    return Chat(
        id=name,
        language="en",
        citizen_id=name,
        messages=tuple(messages),
        questions=(),
        changes=tuple(changes),
        unanswerable=(),
        time_phrases=(),
        instructions=(),
    )


def _change(subject: Subject, manner: Manner, told: tuple[str, ...], chance: random.Random) -> Change:
    past = subject.past.format(when=chance.choice(BEFORE))
    # After a return the first value is also the present one: only the one between is a former value.
    first = told[1] if manner == "return" else told[0]
    asked = () if manner == "return" else (Former(question=past, first=first),)
    return Change(kind=subject.kind, manner=manner, values=told, present=(subject.present,), past=asked)


def _tell(fact: int, subject: Subject, manner: Manner, chance: random.Random) -> Iterator[_Said]:
    """Yield the messages that give the values of a fact, and those that only name the same things."""
    old, new, other, unreal, last = chance.sample(subject.values, 5)
    day = chance.randrange(0, 60)
    first = _moment(day, chance)
    yield _Said(first, "user", chance.choice(subject.first).format(v=old), fact, 0)
    yield _Said(first + timedelta(minutes=1), "assistant", subject.quote.format(v=old))
    day += chance.randrange(40, 120)
    changed = _moment(day, chance)
    how = subject.passing if manner == "passing" else subject.plain
    yield _Said(changed, "user", chance.choice(how).format(v=new, old=old), fact, 1)
    if manner == "return":
        later = _moment(day + chance.randrange(20, 90), chance)
        yield _Said(later, "user", chance.choice(subject.back).format(v=old, old=new), fact, 2)
    elif manner == "twice":
        text = chance.choice(CORRECTION) + chance.choice(subject.plain).format(v=last, old=new)
        yield _Said(changed + timedelta(hours=chance.randrange(3, 9)), "user", text, fact, 2)
    yield from _distract(subject, (other, unreal, old), day, chance)


def _distract(subject: Subject, values: tuple[str, str, str], day: int, chance: random.Random) -> Iterator[_Said]:
    """Yield what somebody else has, what might be, and the old value in the mouth of the assistant."""
    other, unreal, old = values
    about = chance.choice(PEOPLE)
    theirs = _moment(day + chance.randrange(5, 100), chance)
    yield _Said(theirs, "user", subject.other.format(p=about, w=other))
    yield _Said(_moment(day + chance.randrange(5, 100), chance), "user", subject.maybe.format(w=unreal))
    quoted = _moment(day + chance.randrange(91, 120), chance)
    yield _Said(quoted, "assistant", subject.quote.format(v=old))


def _small_talk(chance: random.Random) -> Iterator[_Said]:
    for day in range(0, 300, 6):
        when = _moment(day, chance)
        yield _Said(when, "user", chance.choice(SMALL_TALK))
        yield _Said(when + timedelta(minutes=1), "assistant", chance.choice(ANSWERS))


def _moment(day: int, chance: random.Random) -> datetime:
    return START + timedelta(days=day, seconds=chance.randrange(0, 30_000))
