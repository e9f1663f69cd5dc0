"""The six tools: their arguments, the call of the client, and the answer as text and as values."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, NamedTuple

from pydantic import AfterValidator, Field

from api.client import AsyncSubstrate
from api.mcp import answers
from orchestration.assembly.compact import REASONS, compact
from orchestration.assembly.displayed_text import attribution, one_line
from schemas.base import CitizenId, Emotions, Flag, Frozen, Identifier, Name, Request, ShortText, Text, Unit, Whole
from schemas.citizen import Identity
from schemas.commands import Tags, WriteReceipt
from schemas.field_names import NAMES_OF_REST, Names
from schemas.intention import check_not_blank
from schemas.memory import Level, Source
from schemas.stream import ConsciousnessStream
from schemas.temporal import END_OF_TIME, Moment, to_datetime

MAX_TOKENS: Final = 2000
AS_KNOWN_NOW: Final = to_datetime(END_OF_TIME - 1)
"""A `known_at` that sees all that is known now."""

CitizenArgument = Annotated[CitizenId, Field(description="The id of the citizen whose memory it is.")]
MemoryIdArgument = Annotated[Identifier, Field(description="The memory's id, as recall and remember return it.")]
LevelArgument = Annotated[
    Level,
    Field(description="N1: the citizen's own memory. N2: the memory of all citizens. N3: what the world knows."),
]
EmotionsArgument = Annotated[
    Emotions | None, Field(description='Emotions by name, each from 0 to 1: {"joy": 0.8}.')
]
CommandIdArgument = Annotated[
    Identifier | None,
    Field(description="Your own id for this call: a call repeated with it is applied only once."),
]
MaxTokensArgument = Annotated[
    Whole, Field(ge=1, description="About how many tokens of memories the answer may have.")
]
AsOfArgument = Annotated[
    Moment | None,
    Field(description="Ask what was true at this time, as it is known now: 2025-07-20T14:30:00Z. Default: now."),
]
KnownAtArgument = Annotated[
    Moment | None,
    Field(description="Ask only for what was already known at this time. Default: all that is known now."),
]
QuotedArgument = Annotated[Flag, Field(description="True: you fetched or quote it; it is not your own statement.")]


class Arguments(Request):
    """The arguments of a tool. The names of REST are taken too."""

    other_names: ClassVar[Names] = NAMES_OF_REST


class _StreamArguments(Arguments):
    citizen_id: CitizenArgument
    max_tokens: MaxTokensArgument = MAX_TOKENS


class RecallArguments(_StreamArguments):
    query: Annotated[
        Text,
        Field(min_length=1, max_length=20_000, description="What to think of, as a question or in a few words."),
        AfterValidator(check_not_blank),
    ]
    as_of_time: AsOfArgument = None
    known_at: KnownAtArgument = None


class WakeArguments(_StreamArguments):
    """The citizen's state; fields left out are read from its stored state."""

    energy: Annotated[
        Unit | None, Field(description="How awake the citizen is, from 0 to 1. Default: its stored energy.")
    ] = None
    emotions: EmotionsArgument = None
    goal: Annotated[ShortText | None, Field(description="What the citizen wants. Default: its stored goal.")] = (
        None
    )


class RememberArguments(Arguments):
    citizen_id: CitizenArgument
    name: Annotated[Name, Field(description="What it is about, in a few words.")]
    text: Annotated[Text, Field(description="What is remembered, in full sentences.")] = ""
    node_type: Annotated[Name, Field(description="The kind of thing it is, such as Memory, Person or Goal.")] = (
        "Memory"
    )
    level: LevelArgument = Level.N1
    energy: Annotated[Unit, Field(description="How strongly it is on the citizen's mind, from 0 to 1.")] = 0.5
    confidence: Annotated[Unit, Field(description="How sure it is, from 0 to 1.")] = 0.5
    emotions: EmotionsArgument = None
    tags: Annotated[Tags, Field(description="Words that it shares with related memories.")] = ()
    valid_at: Annotated[
        Moment | None, Field(description="Since when it is true: 2025-07-20T14:30:00Z. Default: now.")
    ] = None
    quoted: QuotedArgument = False
    command_id: CommandIdArgument = None


class CorrectArguments(Arguments):
    """New content for a memory. With `changed` the old content was true until now, otherwise it never was."""

    citizen_id: CitizenArgument
    id: MemoryIdArgument
    level: LevelArgument = Level.N1
    name: Annotated[Name | None, Field(description="What it is about, if that changes.")] = None
    text: Annotated[Text | None, Field(description="The new text, in full sentences.")] = None
    changed: Annotated[
        Flag, Field(description="True: it was right until now, and the world changed. False: it was never right.")
    ] = False
    quoted: QuotedArgument = False
    command_id: CommandIdArgument = None


class HistoryArguments(Arguments):
    citizen_id: CitizenArgument
    id: MemoryIdArgument
    level: LevelArgument = Level.N1


class IdentityArguments(Arguments):
    citizen_id: CitizenArgument
    as_of_time: AsOfArgument = None
    known_at: KnownAtArgument = None


class ToolAnswer(NamedTuple):
    """An answer: text for a model, values for a program."""

    text: str
    values: Frozen


class Tool(NamedTuple):
    """`read_only`: it changes nothing. `destructive`: it ends a belief."""

    name: str
    title: str
    description: str
    arguments: type[Request]
    answer: type[Frozen]
    call: Callable[[AsyncSubstrate, Any], Awaitable[ToolAnswer]]
    read_only: bool = True
    destructive: bool = False


async def recall(client: AsyncSubstrate, arguments: RecallArguments) -> ToolAnswer:
    times = _time_fields(arguments)
    if times:
        times["temporal_mode"] = "point_in_time"
    stream = await client.retrieve(
        citizen_id=arguments.citizen_id, query_text=arguments.query, max_tokens=arguments.max_tokens, **times
    )
    return _stream_answer(stream)


async def wake(client: AsyncSubstrate, arguments: WakeArguments) -> ToolAnswer:
    state = await client.state(arguments.citizen_id)
    stream = await client.wake(
        citizen_id=arguments.citizen_id,
        current_energy=state.energy if arguments.energy is None else arguments.energy,
        current_emotions=state.emotion_vector if arguments.emotions is None else arguments.emotions,
        current_goal=state.goal if arguments.goal is None else arguments.goal,
        max_tokens=arguments.max_tokens,
    )
    return _stream_answer(stream)


async def remember(client: AsyncSubstrate, arguments: RememberArguments) -> ToolAnswer:
    values = arguments.model_dump(exclude_none=True, exclude={"quoted"})
    renamed = {"text": "description", "emotions": "emotion_vector"}
    fields = {renamed.get(name, name): value for name, value in values.items()}
    receipt = await client.remember(**fields, **_source_field(arguments))
    return _receipt_answer("remembered", receipt)


async def correct(client: AsyncSubstrate, arguments: CorrectArguments) -> ToolAnswer:
    """Correct the memory, or supersede it if the world changed. Raises what the client raises."""
    values = arguments.model_dump(exclude_none=True, exclude={"changed", "quoted"})
    fields = {"description" if name == "text" else name: value for name, value in values.items()}
    fields |= _source_field(arguments)
    if arguments.changed:
        return _receipt_answer("superseded", await client.supersede(**fields))
    return _receipt_answer("corrected", await client.correct(**fields))


async def history(client: AsyncSubstrate, arguments: HistoryArguments) -> ToolAnswer:
    answer = await client.history(arguments.id, citizen_id=arguments.citizen_id, level=arguments.level)
    records = tuple(map(answers.RecordValues.of, answer.records))
    lines = map(_record_line, records, map(attribution, answer.records))
    return ToolAnswer(
        "\n".join(lines), answers.HistoryValues(id=answer.id, records=records, degraded=answer.degraded)
    )


async def identity(client: AsyncSubstrate, arguments: IdentityArguments) -> ToolAnswer:
    citizen = await client.identity(citizen_id=arguments.citizen_id, **_time_fields(arguments))
    return ToolAnswer(_identity_text(citizen), answers.IdentityValues.of(citizen))


TOOLS: Final[Sequence[Tool]] = (
    Tool(
        "recall",
        "Recall",
        "Find the memories of a citizen that matter for a question, now or at a time; each with its id.",
        RecallArguments,
        answers.StreamValues,
        recall,
    ),
    Tool(
        "wake",
        "Wake",
        "Find the memories that fit a citizen's state, without a question; each with its id.",
        WakeArguments,
        answers.StreamValues,
        wake,
    ),
    Tool(
        "remember",
        "Remember",
        "Store a new memory of a citizen. Returns its id.",
        RememberArguments,
        answers.ReceiptValues,
        remember,
        read_only=False,
    ),
    Tool(
        "correct",
        "Correct a memory",
        "Correct a memory that was wrong, or with `changed` one that is outdated; its history keeps both.",
        CorrectArguments,
        answers.ReceiptValues,
        correct,
        read_only=False,
        destructive=True,
    ),
    Tool(
        "history",
        "History of a memory",
        "List all records of one memory: when each was true, when it was known, and why it ended.",
        HistoryArguments,
        answers.HistoryValues,
        history,
    ),
    Tool(
        "identity",
        "Who a citizen is",
        "Show who a citizen is, or was: the entities that most of its memories point to, and its state.",
        IdentityArguments,
        answers.IdentityValues,
        identity,
    ),
)


def _time_fields(arguments: RecallArguments | IdentityArguments) -> dict[str, Any]:
    """The times of a question. `as_of_time` alone asks what was true then, as known now."""
    times = {"as_of_time": arguments.as_of_time, "known_at": arguments.known_at}
    if arguments.as_of_time is not None and arguments.known_at is None:
        times["known_at"] = AS_KNOWN_NOW
    return {name: time for name, time in times.items() if time is not None}


def _source_field(arguments: RememberArguments | CorrectArguments) -> dict[str, Source]:
    """The source `tool` for quoted content; no field otherwise, so that the caller's default applies."""
    return {"source": Source.TOOL} if arguments.quoted else {}


def _stream_answer(stream: ConsciousnessStream) -> ToolAnswer:
    shown = {(memory.level, memory.node_id) for memory in stream.activation_tiers.ordered()}
    changes = [change for change in stream.temporal_dissonances if (change.level, change.node_id) in shown]
    return ToolAnswer(compact(stream, changes, ids=True), answers.StreamValues.of(stream))


def _receipt_answer(verb: str, receipt: WriteReceipt) -> ToolAnswer:
    again = " (already stored)" if receipt.duplicate else ""
    return ToolAnswer(f"{verb} {receipt.id}{again}", answers.ReceiptValues.of(receipt))


def _record_line(record: answers.RecordValues, source: str) -> str:
    """One record with its two periods, why each ended, and its source."""
    held = _period_text("held", record.valid_at, record.invalid_at, record.invalidation_reason)
    known = _period_text("known", record.created_at, record.expired_at, record.closed_reason)
    return one_line(f"- {record.name}: {record.text} ({held}; {known}; {source})")


def _period_text(verb: str, start: datetime, end: datetime | None, reason: str | None) -> str:
    if end is None:
        return f"{verb} from {_iso_time(start)}"
    suffix = f", {REASONS[reason]}" if reason is not None else ""
    return f"{verb} from {_iso_time(start)} to {_iso_time(end)}{suffix}"


def _iso_time(time: datetime) -> str:
    """The time as in the values, so that a model can send it back."""
    return time.isoformat().replace("+00:00", "Z")


def _identity_text(identity: Identity) -> str:
    lines = [
        one_line(f"- {entity.name} ({entity.node_type}): in {entity.appearances} memories")
        for entity in identity.entities
    ]
    return "\n".join(lines) or "No identity yet: nothing was remembered."
