"""The six tools: what each takes, what it asks the client, and the answer as text and as values."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field

from api.client import AsyncSubstrate
from schemas.base import CitizenId, Emotions, Flag, Identifier, Name, Request, ShortText, Text, Unit, Whole
from schemas.command import Tags, WriteReceipt
from schemas.identity import Identity
from schemas.memory import Level, MemoryRecord
from schemas.stream import ConsciousnessStream
from schemas.temporal import Moment

MAX_TOKENS: Final = 2000


class _Streamed(Request):
    citizen_id: CitizenId
    max_tokens: Annotated[Whole, Field(ge=1)] = MAX_TOKENS


class Recall(_Streamed):
    """What to recall; with `as_of_time` what was true, and known, then."""

    query: Annotated[Text, Field(min_length=1, max_length=20_000)]
    as_of_time: Moment | None = None


class Wake(_Streamed):
    """How the citizen is; what is left out is read from its kept state."""

    energy: Unit | None = None
    emotions: Emotions | None = None
    goal: ShortText | None = None


class Remembered(Request):
    """A new memory: `name` in a few words, `text` in full."""

    citizen_id: CitizenId
    name: Name
    text: Text = ""
    node_type: Name = "Memory"
    level: Level = Level.N1
    energy: Unit = 0.5
    confidence: Unit = 0.5
    emotions: Emotions | None = None
    tags: Tags = ()
    valid_at: Moment | None = None
    command_id: Identifier | None = None


class Corrected(Request):
    """A memory that is to say something else. `changed`: it was true, and the world changed; else it never was."""

    citizen_id: CitizenId
    id: Identifier
    level: Level = Level.N1
    name: Name | None = None
    text: Text | None = None
    changed: Flag = False
    command_id: Identifier | None = None


class Story(Request):
    """Which memory."""

    citizen_id: CitizenId
    id: Identifier
    level: Level = Level.N1


class Who(Request):
    """Who, and as of when."""

    citizen_id: CitizenId
    as_of_time: Moment | None = None


class Said(NamedTuple):
    """An answer: as text for a mind, as values for a program."""

    text: str
    values: dict[str, Any]


class Tool(NamedTuple):
    """A tool: `takes` are its arguments, `reads` says that nothing changes, `destroys` that a belief ends."""

    name: str
    said: str
    takes: type[Request]
    does: Callable[[AsyncSubstrate, Any], Awaitable[Said]]
    reads: bool = True
    destroys: bool = False


async def recall(client: AsyncSubstrate, asked: Recall) -> Said:
    """The stream for a question."""
    then = {} if asked.as_of_time is None else {"temporal_mode": "point_in_time", "as_of_time": asked.as_of_time}
    stream = await client.retrieve(
        citizen_id=asked.citizen_id, query_text=asked.query, max_tokens=asked.max_tokens, form="compact", **then
    )
    return _streamed(stream)


async def wake(client: AsyncSubstrate, asked: Wake) -> Said:
    """The stream for a state."""
    state = await client.state(asked.citizen_id)
    stream = await client.wake(
        citizen_id=asked.citizen_id,
        current_energy=state.energy if asked.energy is None else asked.energy,
        current_emotions=state.emotion_vector if asked.emotions is None else asked.emotions,
        current_goal=state.goal if asked.goal is None else asked.goal,
        max_tokens=asked.max_tokens,
        form="compact",
    )
    return _streamed(stream)


async def remember(client: AsyncSubstrate, said: Remembered) -> Said:
    """A memory stored."""
    given = said.model_dump(exclude_none=True)
    renamed = {"text": "description", "emotions": "emotion_vector"}
    receipt = await client.remember(**{renamed.get(name, name): value for name, value in given.items()})
    return _received("remembered", receipt)


async def correct(client: AsyncSubstrate, said: Corrected) -> Said:
    """A memory revised."""
    given = said.model_dump(exclude_none=True, exclude={"changed"})
    fields = {"description" if name == "text" else name: value for name, value in given.items()}
    if said.changed:
        return _received("superseded", await client.supersede(**fields))
    return _received("corrected", await client.correct(**fields))


async def history(client: AsyncSubstrate, asked: Story) -> Said:
    """All records of a memory."""
    told = await client.history(asked.id, citizen_id=asked.citizen_id, level=asked.level)
    return Said("\n".join(map(_line, told.records)), told.model_dump(mode="json", exclude_none=True))


async def identity(client: AsyncSubstrate, asked: Who) -> Said:
    """Who the citizen is."""
    found = await client.identity(citizen_id=asked.citizen_id, as_of_time=asked.as_of_time)
    return Said(_who(found), found.model_dump(mode="json"))


TOOLS: Final[Sequence[Tool]] = (
    Tool("recall", "What a citizen remembers that matters for a question, now or at a moment.", Recall, recall),
    Tool("wake", "What comes to a citizen's mind from how it is, with no question asked.", Wake, wake),
    Tool("remember", "Store a new memory of a citizen.", Remembered, remember, reads=False),
    Tool(
        "correct",
        "Say that a memory was wrong, or with `changed` that the world changed; what was believed stays known.",
        Corrected,
        correct,
        reads=False,
        destroys=True,
    ),
    Tool("history", "All that was ever believed of one memory, and over which time it held.", Story, history),
    Tool("identity", "Who a citizen is, or was: what most of its memories point to.", Who, identity),
)


def _streamed(stream: ConsciousnessStream) -> Said:
    shown = [
        {"id": one.node_id, "level": one.level, "type": one.node_type, "name": one.name, "text": one.description,
         "valid_at": one.valid_at.isoformat(), "score": one.consciousness_adjusted_score}
        for one in stream.activation_tiers.ordered()
    ]  # fmt: skip
    degraded = [one.model_dump() for one in stream.degraded]
    values = {"memories": shown, "notes": list(stream.notes), "degraded": degraded, "omitted": stream.omitted}
    return Said(stream.text or "Nothing comes to mind.", values)


def _received(done: str, receipt: WriteReceipt) -> Said:
    again = " (it was before)" if receipt.duplicate else ""
    return Said(f"{done} {receipt.id}{again}", receipt.model_dump(mode="json", exclude_none=True))


def _line(record: MemoryRecord) -> str:
    held = f"from {record.valid_at:%Y-%m-%d}" + (f" to {record.invalid_at:%Y-%m-%d}" if record.invalid_at else "")
    known = f"known from {record.created_at:%Y-%m-%d}"
    until = f" until {record.expired_at:%Y-%m-%d}" if record.expired_at else ""
    return f"- {record.name}: {record.description} (held {held}; {known}{until})"


def _who(found: Identity) -> str:
    lines = [f"- {one.name} ({one.node_type}): in {one.appearances} memories" for one in found.entities]
    return "\n".join(lines) or "Nobody yet: nothing was lived."
