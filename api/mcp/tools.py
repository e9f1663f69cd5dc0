"""The six tools: what each takes, what it asks the client, and the answer as text and as values."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, NamedTuple

from pydantic import AfterValidator, Field

from api.client import AsyncSubstrate
from api.mcp import answers
from orchestration.assembly.compact import REASONS, compact
from orchestration.assembly.displayed_text import one_line, whose
from schemas.base import CitizenId, Emotions, Flag, Frozen, Identifier, Name, Request, ShortText, Text, Unit, Whole
from schemas.commands import Tags, WriteReceipt
from schemas.identity import Identity
from schemas.intention import says_something
from schemas.memory import Level, Source
from schemas.stream import ConsciousnessStream
from schemas.temporal import END_OF_TIME, Moment, to_datetime

MAX_TOKENS: Final = 2000
AS_KNOWN_NOW: Final = to_datetime(END_OF_TIME - 1)
"""The moment of knowing that sees whatever was learnt last."""

Whose = Annotated[CitizenId, Field(description="The id of the citizen whose memory it is.")]
WhichId = Annotated[Identifier, Field(description="The memory's id, as recall and remember say it.")]
Where = Annotated[
    Level, Field(description="N1: the citizen's own memory. N2: that of all citizens. N3: what the world knows.")
]
Emotion = Annotated[Emotions | None, Field(description='Emotions by name, each from 0 to 1: {"joy": 0.8}.')]
Once = Annotated[
    Identifier | None,
    Field(description="An id of your own for this call: sent again with it, it is done only once."),
]
Tokens = Annotated[Whole, Field(ge=1, description="About how many tokens of memories the answer may have.")]
When = Annotated[
    Moment | None,
    Field(description="Ask what was true at this time, as it is known now: 2025-07-20T14:30:00Z. Else: now."),
]
Known = Annotated[
    Moment | None, Field(description="Ask only for what was already known at this time. Else: all known now.")
]
Quoted = Annotated[Flag, Field(description="True: you fetched or quote it; it is not your own word.")]


class _Streamed(Request):
    citizen_id: Whose
    max_tokens: Tokens = MAX_TOKENS


class Recall(_Streamed):
    """What to recall."""

    query: Annotated[
        Text,
        Field(min_length=1, max_length=20_000, description="What to think of, as a question or in a few words."),
        AfterValidator(says_something),
    ]
    as_of_time: When = None
    known_at: Known = None


class Wake(_Streamed):
    """How the citizen is; what is left out is read from its kept state."""

    energy: Annotated[
        Unit | None, Field(description="How awake the citizen is, from 0 to 1. Else: as its state says.")
    ] = None
    emotions: Emotion = None
    goal: Annotated[ShortText | None, Field(description="What the citizen wants. Else: as its state says.")] = None


class Remembered(Request):
    """A new memory: `name` in a few words, `text` in full."""

    citizen_id: Whose
    name: Annotated[Name, Field(description="What it is about, in a few words.")]
    text: Annotated[Text, Field(description="What is remembered, in full sentences.")] = ""
    node_type: Annotated[Name, Field(description="What kind of thing it is, such as Memory, Person or Goal.")] = (
        "Memory"
    )
    level: Where = Level.N1
    energy: Annotated[Unit, Field(description="How strongly it is on the citizen's mind, from 0 to 1.")] = 0.5
    confidence: Annotated[Unit, Field(description="How sure it is, from 0 to 1.")] = 0.5
    emotions: Emotion = None
    tags: Annotated[Tags, Field(description="Words by which it is found together with others.")] = ()
    valid_at: Annotated[
        Moment | None, Field(description="Since when it is true: 2025-07-20T14:30:00Z. Else: since now.")
    ] = None
    quoted: Quoted = False
    command_id: Once = None


class Corrected(Request):
    """A memory that is to say something else. `changed`: it was true, and the world changed; else it never was."""

    citizen_id: Whose
    id: WhichId
    level: Where = Level.N1
    name: Annotated[Name | None, Field(description="What it is about, if that changes.")] = None
    text: Annotated[Text | None, Field(description="What it is to say now, in full sentences.")] = None
    changed: Annotated[
        Flag, Field(description="True: it was right until now, and the world changed. False: it never was right.")
    ] = False
    quoted: Quoted = False
    command_id: Once = None


class Story(Request):
    """Which memory."""

    citizen_id: Whose
    id: WhichId
    level: Where = Level.N1


class Who(Request):
    """Who, and as of when."""

    citizen_id: Whose
    as_of_time: When = None
    known_at: Known = None


class Said(NamedTuple):
    """An answer: as text for a mind, as values for a program."""

    text: str
    values: Frozen


class Tool(NamedTuple):
    """A tool: `takes` are its arguments, `gives` its values, `reads` says that nothing changes.

    `destroys`: a belief ends.
    """

    name: str
    title: str
    said: str
    takes: type[Request]
    gives: type[Frozen]
    does: Callable[[AsyncSubstrate, Any], Awaitable[Said]]
    reads: bool = True
    destroys: bool = False


async def recall(client: AsyncSubstrate, asked: Recall) -> Said:
    """The stream for a question."""
    then = _when(asked)
    if then:
        then["temporal_mode"] = "point_in_time"
    stream = await client.retrieve(
        citizen_id=asked.citizen_id, query_text=asked.query, max_tokens=asked.max_tokens, **then
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
    )
    return _streamed(stream)


async def remember(client: AsyncSubstrate, said: Remembered) -> Said:
    """A memory stored."""
    given = said.model_dump(exclude_none=True, exclude={"quoted"})
    renamed = {"text": "description", "emotions": "emotion_vector"}
    fields = {renamed.get(name, name): value for name, value in given.items()}
    receipt = await client.remember(**fields, **_source(said))
    return _received("remembered", receipt)


async def correct(client: AsyncSubstrate, said: Corrected) -> Said:
    """A memory revised."""
    given = said.model_dump(exclude_none=True, exclude={"changed", "quoted"})
    fields = {"description" if name == "text" else name: value for name, value in given.items()} | _source(said)
    if said.changed:
        return _received("superseded", await client.supersede(**fields))
    return _received("corrected", await client.correct(**fields))


async def history(client: AsyncSubstrate, asked: Story) -> Said:
    """All records of a memory."""
    told = await client.history(asked.id, citizen_id=asked.citizen_id, level=asked.level)
    records = tuple(map(answers.Record.of, told.records))
    lines = map(_line, records, map(whose, told.records))
    return Said("\n".join(lines), answers.Story(id=told.id, records=records, degraded=told.degraded))


async def identity(client: AsyncSubstrate, asked: Who) -> Said:
    """Who the citizen is."""
    found = await client.identity(citizen_id=asked.citizen_id, **_when(asked))
    return Said(_who(found), answers.Who.of(found))


TOOLS: Final[Sequence[Tool]] = (
    Tool(
        "recall",
        "Recall",
        "What a citizen remembers that matters for a question, now or at a time; each memory with its id.",
        Recall,
        answers.Stream,
        recall,
    ),
    Tool(
        "wake",
        "Wake",
        "What comes to a citizen's mind from how it is, with no question asked; each memory with its id.",
        Wake,
        answers.Stream,
        wake,
    ),
    Tool(
        "remember",
        "Remember",
        "Store a new memory of a citizen. Answers its id.",
        Remembered,
        answers.Receipt,
        remember,
        reads=False,
    ),
    Tool(
        "correct",
        "Correct a memory",
        "Say that a memory was wrong, or with `changed` that the world changed; what was believed stays known.",
        Corrected,
        answers.Receipt,
        correct,
        reads=False,
        destroys=True,
    ),
    Tool(
        "history",
        "History of a memory",
        "All that was ever believed of one memory: when it held, when it was known, and why that ended.",
        Story,
        answers.Story,
        history,
    ),
    Tool(
        "identity",
        "Who a citizen is",
        "Who a citizen is, or was: what most of its memories point to, and its state.",
        Who,
        answers.Who,
        identity,
    ),
)


def _when(asked: Recall | Who) -> dict[str, Any]:
    """The two times of a question: what was true then is asked as it is known now, unless `known_at` says when."""
    times = {"as_of_time": asked.as_of_time, "known_at": asked.known_at}
    if asked.as_of_time is not None and asked.known_at is None:
        times["known_at"] = AS_KNOWN_NOW
    return {name: time for name, time in times.items() if time is not None}


def _source(said: Remembered | Corrected) -> dict[str, Source]:
    """What is quoted is a tool's; else it is the word of whoever calls."""
    return {"source": Source.TOOL} if said.quoted else {}


def _streamed(stream: ConsciousnessStream) -> Said:
    shown = {(one.level, one.node_id) for one in stream.activation_tiers.ordered()}
    changes = [one for one in stream.temporal_dissonances if (one.level, one.node_id) in shown]
    return Said(compact(stream, changes, ids=True), answers.Stream.of(stream))


def _received(done: str, receipt: WriteReceipt) -> Said:
    again = " (it was before)" if receipt.duplicate else ""
    return Said(f"{done} {receipt.id}{again}", answers.Receipt.of(receipt))


def _line(record: answers.Record, word: str) -> str:
    """One record with both its periods, exactly, why each ended, and whose word it is."""
    held = _period("held", (record.valid_at, record.invalid_at), record.invalidation_reason)
    known = _period("known", (record.created_at, record.expired_at), record.closed_reason)
    return one_line(f"- {record.name}: {record.text} ({held}; {known}; {word})")


def _period(what: str, times: tuple[datetime, datetime | None], reason: str | None) -> str:
    start, end = times
    if end is None:
        return f"{what} from {_exactly(start)}"
    why = f", {REASONS[reason]}" if reason is not None else ""
    return f"{what} from {_exactly(start)} to {_exactly(end)}{why}"


def _exactly(time: datetime) -> str:
    """As the values say it, so that it can be asked about."""
    return time.isoformat().replace("+00:00", "Z")


def _who(found: Identity) -> str:
    said = (f"- {one.name} ({one.node_type}): in {one.appearances} memories" for one in found.entities)
    lines = [one_line(line) for line in said]
    return "\n".join(lines) or "Nobody yet: nothing was lived."
