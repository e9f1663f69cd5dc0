"""The arguments of the tools, each described for a model."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, Field

from schemas.base import (
    CitizenId,
    Emotions,
    Flag,
    Identifier,
    LongText,
    Name,
    Request,
    ShortText,
    Text,
    Unit,
    Whole,
)
from schemas.citizen import MemoryIds
from schemas.commands import CASCADE, RelationType, Tags
from schemas.field_names import NAMES_OF_REST, Names
from schemas.intention import Filters, Prefer, QueryMode, TimeZone, check_not_blank
from schemas.memory import Level, ResolutionState
from schemas.temporal import KnownMoment, Moment

MAX_TOKENS: Final = 2000
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
    Field(description="True at this time, as known now: 2025-07-20T14:30:00Z. Default: now."),
]
KnownAtArgument = Annotated[
    KnownMoment | None,
    Field(description="Only what was already known at this time. Default, and `now`: all known now."),
]
FiltersArgument = Annotated[
    Filters | None,
    Field(
        description="Only memories that pass: of these types, speakers and episodes, with all tags, begun then."
    ),
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
    time_zone: Annotated[
        TimeZone,
        Field(description='The zone of who asks, such as Europe/Berlin: "yesterday" ends at midnight there.'),
    ] = "UTC"
    filters: FiltersArgument = None
    prefer: Annotated[
        Prefer | None,
        Field(
            description="`general`: what was made of several memories first; `concrete`: behind them. Else absent."
        ),
    ] = None


class WakeArguments(_StreamArguments):
    """The citizen's state; what is left out is read from its kept state, else from its memories."""

    mode: Annotated[
        QueryMode,
        Field(description="What to look for: open work, a similar mood, the latest work, or how work was solved."),
    ] = QueryMode.RELATED_UNRESOLVED
    energy: Annotated[
        Unit | None, Field(description="How awake the citizen is, from 0 to 1. Default: its own.")
    ] = None
    emotions: EmotionsArgument = None
    goal: Annotated[ShortText | None, Field(description="What the citizen wants. Default: its own.")] = None
    as_of_time: AsOfArgument = None
    filters: FiltersArgument = None


class RememberArguments(Arguments):
    citizen_id: CitizenArgument
    name: Annotated[Name, Field(description="What it is about, in a few words.")]
    text: Annotated[LongText, Field(description="What is remembered, in full sentences.")] = ""
    node_type: Annotated[Name, Field(description="The kind of thing it is, such as Memory, Person or Goal.")] = (
        "Memory"
    )
    level: LevelArgument = Level.N1
    energy: Annotated[Unit | None, Field(description="How strongly it is on the citizen's mind, from 0 to 1.")] = (
        None
    )
    confidence: Annotated[Unit | None, Field(description="How sure it is, from 0 to 1.")] = None
    emotions: EmotionsArgument = None
    goal: Annotated[ShortText | None, Field(description="The goal that it serves.")] = None
    resolution_state: Annotated[
        ResolutionState | None, Field(description="Of work: whether it is done, going on, or blocked.")
    ] = None
    importance: Annotated[Unit | None, Field(description="How much it matters in the long run, from 0 to 1.")] = (
        None
    )
    rule: Annotated[Text | None, Field(description="What to do from now on, if that follows from it.")] = None
    tags: Annotated[Tags, Field(description="Words that it shares with related memories.")] = ()
    about: Annotated[Tags, Field(description="Names of the people, places and projects that it is about.")] = ()
    valid_at: Annotated[
        Moment | None, Field(description="Since when it is true: 2025-07-20T14:30:00Z. Default: now.")
    ] = None
    quoted: QuotedArgument = False
    command_id: CommandIdArgument = None


class CorrectArguments(Arguments):
    """New content for a memory. With `changed` the old content was true until now, otherwise it never was.

    `reason`, `emotions` and `energy` are those of the learning moment.
    """

    citizen_id: CitizenArgument
    id: MemoryIdArgument
    level: LevelArgument = Level.N1
    name: Annotated[Name | None, Field(description="What it is about, if that changes.")] = None
    text: Annotated[LongText | None, Field(description="The new text, in full sentences.")] = None
    reason: Annotated[
        Name | None,
        Field(
            description="What showed it, in a few words; the same words each time for the same kind of mistake."
        ),
    ] = None
    emotions: Annotated[
        Emotions | None, Field(description='How that felt, each from 0 to 1: {"surprise": 0.8}.')
    ] = None
    energy: Annotated[
        Unit | None, Field(description="How strongly it struck, from 0 to 1. Default: the strongest emotion.")
    ] = None
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


class _MemoryArguments(Arguments):
    """A change of one memory."""

    citizen_id: CitizenArgument
    id: MemoryIdArgument
    level: LevelArgument = Level.N1
    command_id: CommandIdArgument = None


class ResolveArguments(_MemoryArguments):
    resolution_state: Annotated[ResolutionState, Field(description="The state of the work from now on.")] = (
        ResolutionState.RESOLVED
    )
    cascade: Annotated[bool, Field(description=CASCADE)] = False
    quoted: QuotedArgument = False


class RetractArguments(_MemoryArguments):
    until: Annotated[
        Moment | None, Field(description="Until when it was true: 2025-07-20T14:30:00Z. Default: it never was.")
    ] = None
    quoted: QuotedArgument = False


class UndoArguments(_MemoryArguments):
    pass


class RelateArguments(Arguments):
    citizen_id: CitizenArgument
    source_id: Annotated[Identifier, Field(description="The id of the memory where the link begins.")]
    relation_type: Annotated[RelationType, Field(description="What one is to the other, such as CAUSED_BY.")]
    target_id: Annotated[Identifier, Field(description="The id of the memory where the link ends.")]
    goal: Annotated[Name, Field(description="Why the link matters to the citizen.")]
    mindstate: Annotated[Name, Field(description="The citizen's state of mind when it made the link.")]
    emotions: Annotated[Emotions, Field(description='Emotions by name, each from 0 to 1: {"joy": 0.8}.')]
    energy: Annotated[Unit, Field(description="How urgent the link is, from 0 to 1.")]
    confidence: Annotated[Unit, Field(description="How sure it is, from 0 to 1.")]
    level: LevelArgument = Level.N1
    quoted: QuotedArgument = False
    command_id: CommandIdArgument = None


class HearArguments(Arguments):
    citizen_id: CitizenArgument
    conversation: Annotated[Identifier, Field(description="A name for the conversation, the same each time.")]
    speaker: Annotated[Name, Field(description="Who says it: a name, or user, assistant, tool.")]
    text: Annotated[LongText, Field(min_length=1, description="What is said, word for word.")]
    time: Annotated[Moment | None, Field(description="When it was said. Default: now.")] = None
    message_id: Annotated[
        Identifier | None, Field(description="The id of the message, if it has one: sent again it is stored once.")
    ] = None


class FeedbackArguments(Arguments):
    citizen_id: CitizenArgument
    query: Annotated[
        Text,
        Field(min_length=1, max_length=20_000, description="The question, as it was recalled with."),
        AfterValidator(check_not_blank),
    ]
    used: Annotated[MemoryIds, Field(description="Ids of the recalled memories that answered it.")] = ()
    wrong: Annotated[MemoryIds, Field(description="Ids of those that were wrong for it.")] = ()
    as_of_time: AsOfArgument = None
    known_at: KnownAtArgument = None


class SetStateArguments(Arguments):
    """What the citizen feels and wants from now on; fields left out stay."""

    citizen_id: CitizenArgument
    energy: Annotated[Unit | None, Field(description="How awake the citizen is, from 0 to 1.")] = None
    emotions: EmotionsArgument = None
    goal: Annotated[ShortText | None, Field(description="What the citizen wants now.")] = None
