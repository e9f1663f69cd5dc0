"""Reads benchmarks/lives: chats of a person with an assistant, and what a reader would want back of each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict

from schemas.intention import QueryMode
from schemas.memory import ResolutionState

DIRECTORY: Final = Path(__file__).parent / "lives"
USER: Final = "user"
MOST_EXPECTED: Final = 6


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Message(_Value):
    """One message; `id` is unique in its life."""

    id: str
    time: AwareDatetime
    role: Literal["user", "assistant"]
    text: str


class Person(_Value):
    """Who the citizen is: `roles` are accepted words for the job, `people` those that matter to it."""

    name: str
    roles: tuple[str, ...]
    people: tuple[str, ...]


class Waking(_Value):
    """A moment to wake at. `expected`: what a reader would want back; `not_first`: what must not come first."""

    mode: QueryMode
    at: AwareDatetime
    goal: str | None
    emotions: dict[str, float] | None
    energy: float | None
    expected: tuple[str, ...]
    not_first: tuple[str, ...]


class Thread(_Value):
    """A message that opens something, the one that tells it solved, and the steps between them by their type."""

    open: str
    solved: str | None
    steps: dict[str, Literal["Decision", "Action", "Learning"]]


class Asked(_Value):
    """A question, and the messages that answer it."""

    question: str
    at: AwareDatetime
    evidence: tuple[str, ...]


class Life(_Value):
    """A chat in the order of time, with its labels. `states`, `goals` and `feelings` are the citizen's own."""

    id: str
    language: str
    citizen_id: str
    messages: tuple[Message, ...]
    identity: Person
    wakings: tuple[Waking, ...]
    threads: tuple[Thread, ...]
    states: dict[str, ResolutionState]
    goals: tuple[str, ...]
    feelings: dict[str, tuple[str, ...]]
    instructions: tuple[str, ...]
    questions: tuple[Asked, ...]


def load_lives(names: Collection[str] = (), directory: Path = DIRECTORY) -> list[Life]:
    """Read the lives of these names, or all, by name.

    Raises FileNotFoundError when one is missing or there is none, pydantic's ValidationError for another shape.
    """
    files = [directory / f"{name}.json" for name in names] or sorted(directory.glob("*.json"))
    if not files:
        raise FileNotFoundError(f"no life (*.json) in {directory}")
    return [Life.model_validate_json(file.read_text(encoding="utf-8")) for file in files]


def find_faults(life: Life) -> list[str]:
    """Say in one line each what is wrong with the ids and times of a life."""
    return [*_order_faults(life.messages), *_id_faults(life), *_probe_faults(life), *_thread_faults(life)]


def _order_faults(messages: Sequence[Message]) -> Iterator[str]:
    if len({message.id for message in messages}) < len(messages):
        yield "two messages have one id"
    for earlier, later in pairwise(messages):
        if later.time <= earlier.time:
            yield f"{later.id} is not later than {earlier.id}"


def _id_faults(life: Life) -> Iterator[str]:
    """Labels name messages of the user alone: nothing is felt, open or told to do in the assistant's words."""
    own = {message.id for message in life.messages if message.role == USER}
    for name in ("states", "goals", "feelings", "instructions"):
        for label in getattr(life, name):
            if label not in own:
                yield f"{name}: {label} is no message of the user"


def _probe_faults(life: Life) -> Iterator[str]:
    times = {message.id: message.time for message in life.messages}
    probes = [(waking.at, (*waking.expected, *waking.not_first), "a waking") for waking in life.wakings]
    probes += [(asked.at, asked.evidence, "a question") for asked in life.questions]
    for at, ids, kind in probes:
        for label in ids:
            if label not in times:
                yield f"{kind} at {at:%Y-%m-%d} names {label}, which is no message"
            elif times[label] >= at:
                yield f"{kind} at {at:%Y-%m-%d} names {label}, which is not before it"
    for waking in life.wakings:
        if not 1 <= len(waking.expected) <= MOST_EXPECTED:
            yield f"the waking at {waking.at:%Y-%m-%d} expects {len(waking.expected)} messages"
        if set(waking.expected) & set(waking.not_first):
            yield f"the waking at {waking.at:%Y-%m-%d} expects what must not come first"


def _thread_faults(life: Life) -> Iterator[str]:
    times = {message.id: message.time for message in life.messages}
    for thread in life.threads:
        ids = {thread.open, *thread.steps, *([thread.solved] if thread.solved else [])}
        if missing := sorted(ids - times.keys()):
            yield f"the thread of {thread.open} names {', '.join(missing)}, no message"
        elif any(times[each] < times[thread.open] for each in ids):
            yield f"the thread of {thread.open} has a step before it"
