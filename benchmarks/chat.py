"""Reads benchmarks/chats: chats in which facts change, with questions; and plain questions on the lives."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict

from benchmarks.life import Asked, Message, load_lives

DIRECTORY: Final = Path(__file__).parent / "chats"
HELD_BACK: Final = Path(__file__).parent / "held_back"
"""Chats on which no weight was fitted and no rule was tried before it stood."""
PLAIN: Final = Path(__file__).parent / "plain"
AFTER: Final = timedelta(days=1)
"""A question without a moment of its own is asked so long after the last message."""

type Kind = Literal["place", "number", "preference", "date", "job", "person", "plan", "possession"]
type Manner = Literal["plain", "passing", "return", "twice"]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Former(_Value):
    """A question for a former value, and the message that gives it."""

    question: str
    first: str


class Change(_Value):
    """A fact that changes. `values`: the messages that give it, in order; the last one is true now.

    `manner`: said plainly, in passing, with a return to a former value, or twice on one day.
    """

    kind: Kind
    manner: Manner
    values: tuple[str, ...]
    present: tuple[str, ...]
    past: tuple[Former, ...]


class Unanswerable(_Value):
    """A question about the people and topics of a chat whose answer was never said."""

    question: str
    at: AwareDatetime


class TimePhrase(_Value):
    """A question that names a time by `phrase`, and the messages of that time that answer it."""

    question: str
    at: AwareDatetime
    expected: tuple[str, ...]
    phrase: str


class Instruction(_Value):
    """A standing instruction, and requests that it must shape."""

    id: str
    questions: tuple[str, ...]


class Chat(_Value):
    """The chat of a person (role user) with an assistant, in the order of time, with its questions.

    `threads_note`: what a reader of the file should know.
    """

    id: str
    language: str
    citizen_id: str
    messages: tuple[Message, ...]
    questions: tuple[Asked, ...]
    changes: tuple[Change, ...]
    unanswerable: tuple[Unanswerable, ...]
    time_phrases: tuple[TimePhrase, ...]
    instructions: tuple[Instruction, ...]
    threads_note: str = ""

    @property
    def end(self) -> AwareDatetime:
        """The moment at which a question without one of its own is asked."""
        return self.messages[-1].time + AFTER


def load_chats(names: Collection[str] = (), directory: Path = DIRECTORY) -> list[Chat]:
    """Read the chats of these names, or all, by name.

    Raises FileNotFoundError when one is missing or there is none, pydantic's ValidationError for another shape.
    """
    files = [directory / f"{name}.json" for name in names] or sorted(directory.glob("*.json"))
    if not files:
        raise FileNotFoundError(f"no chat (*.json) in {directory}")
    return [Chat.model_validate_json(file.read_text(encoding="utf-8")) for file in files]


class _Answerable(_Value):
    question: str
    evidence: tuple[str, ...]


class _NeverSaid(_Value):
    question: str


class _Plain(_Value):
    """Plain questions on the life of this name."""

    id: str
    answerable: tuple[_Answerable, ...]
    unanswerable: tuple[_NeverSaid, ...]


def load_plain(directory: Path = PLAIN) -> list[Chat]:
    """Read the plain questions, as chats whose messages are those of the lives; raises as `load_chats` does."""
    plain = [_Plain.model_validate_json(file.read_bytes()) for file in sorted(directory.glob("*.json"))]
    return [_plain_chat(each) for each in plain]


def _plain_chat(plain: _Plain) -> Chat:
    (life,) = load_lives([plain.id])
    end = life.messages[-1].time + AFTER
    return Chat(
        id=life.id,
        language=life.language,
        citizen_id=life.citizen_id,
        messages=life.messages,
        questions=tuple(
            Asked(question=each.question, at=end, evidence=each.evidence) for each in plain.answerable
        ),
        changes=(),
        unanswerable=tuple(Unanswerable(question=each.question, at=end) for each in plain.unanswerable),
        time_phrases=(),
        instructions=(),
    )


def find_faults(chat: Chat) -> list[str]:
    """Say in one line each what is wrong with the ids and times of a chat."""
    return [*_order_faults(chat), *_id_faults(chat)]


def _order_faults(chat: Chat) -> Iterator[str]:
    if len({message.id for message in chat.messages}) < len(chat.messages):
        yield "two messages have one id"
    for earlier, later in pairwise(chat.messages):
        if later.time <= earlier.time:
            yield f"{later.id} is not later than {earlier.id}"


def _id_faults(chat: Chat) -> Iterator[str]:
    place = {message.id: number for number, message in enumerate(chat.messages)}
    times = {message.id: message.time for message in chat.messages}
    for change in chat.changes:
        places = [place.get(each, -1) for each in change.values]
        if -1 in places or len(places) < 2 or places != sorted(set(places)):
            yield f"the values {change.values} are no messages in order of time"
        if missing := {former.first for former in change.past} - set(change.values):
            yield f"a former value {missing} is no value of its change"
    asked = [(each.question, each.at, each.evidence) for each in chat.questions]
    asked += [(each.question, each.at, each.expected) for each in chat.time_phrases]
    asked += [(each.questions[0], chat.end, (each.id,)) for each in chat.instructions]
    for question, at, ids in asked:
        if not ids or any(each not in times or times[each] >= at for each in ids):
            yield f"{question!r}: {ids} are no messages before it"
