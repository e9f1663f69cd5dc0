"""The arguments of the tools, each described for a model."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from orchestration.assembly.budget import COMPACT_TOKENS
from schemas.base import (
    CitizenId,
    Emotions,
    Flag,
    Identifier,
    LongText,
    Name,
    RelationType,
    Request,
    ShortText,
    Text,
    Unit,
    Whole,
)
from schemas.commands import Tags
from schemas.field_names import NAMES_OF_REST, Names
from schemas.intention import Filters, Prefer, TimeZone, check_not_blank
from schemas.memory import Level, ResolutionState, Severity
from schemas.mind.feedback import MemoryIds
from schemas.temporal import AskedMoment, EndMoment, KnownMoment, Moment

WakeMode = Literal[
    "find_related_unresolved", "find_similar_state", "find_what_i_was_doing", "find_resolution_patterns", "auto"
]
"""The modes of a waking (`QueryMode`), and the one in which the appetite decides."""
CitizenArgument = Annotated[CitizenId, Field(description="Whose memory it is.")]
MemoryIdArgument = Annotated[Identifier, Field(description="Its id, as recall or remember gave it.")]
LevelArgument = Annotated[
    Level,
    Field(description="N1: its own. N2: that of all. N3: what the world knows."),
]
CollectiveArgument = Annotated[str | None, Field(description="Of N2, beside the common one.")]
EmotionsArgument = Annotated[Emotions | None, Field(description='Emotions by name, each 0 to 1: {"joy": 0.8}.')]
CommandIdArgument = Annotated[
    Identifier | None,
    Field(description="Your id of this call: repeated, it is applied once."),
]
MaxTokensArgument = Annotated[Whole, Field(ge=1, description="About how many tokens the answer may have.")]
AsOfArgument = Annotated[
    AskedMoment | None,
    Field(description="True at this time, as known now: 2025-07-20T14:30:00Z. Default: now."),
]
KnownAtArgument = Annotated[
    KnownMoment | None,
    Field(description="Only what was known then. Default, and `now`: all known now."),
]
FiltersArgument = Annotated[
    Filters | None,
    Field(
        description="Only memories that pass: of these types, speakers and episodes, with all tags, begun then."
    ),
]
QuotedArgument = Annotated[Flag, Field(description="True: fetched or quoted, not your own statement.")]


class Arguments(Request):
    """The arguments of a tool. The names of REST are taken too."""

    other_names: ClassVar[Names] = NAMES_OF_REST
    citizen_id: CitizenArgument


ConversationArgument = Annotated[Identifier, Field(description="A name for the conversation, the same each time.")]


class _StreamArguments(Arguments):
    max_tokens: MaxTokensArgument = COMPACT_TOKENS


class RecallArguments(_StreamArguments):
    query: Annotated[
        Text,
        Field(min_length=1, max_length=20_000, description="A question, or a few words."),
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
    conversation: Annotated[
        Identifier | None,
        Field(description="The one that goes on, as given to `hear`: its message with these words is left out."),
    ] = None
    message_id: Annotated[
        Identifier | None, Field(description="The id of that message, where the query has other words.")
    ] = None


class WakeArguments(_StreamArguments):
    """The citizen's state; what is left out is read from its kept state, else from its memories."""

    mode: Annotated[
        WakeMode,
        Field(
            description="What to look for: open work, a similar mood, the latest work, or how work was solved. "
            "`auto`: what most needs attention decides; without energy, emotions, goal, time and filters."
        ),
    ] = "find_related_unresolved"
    energy: Annotated[Unit | None, Field(description="How awake it is, 0 to 1. Default: its own.")] = None
    emotions: EmotionsArgument = None
    goal: Annotated[ShortText | None, Field(description="What the citizen wants. Default: its own.")] = None
    as_of_time: AsOfArgument = None
    filters: Annotated[
        Filters | None, Field(description="Those of `recall`."), WithJsonSchema({"type": "object"})
    ] = None

    @model_validator(mode="after")
    def _auto_decides_alone(self) -> Self:
        given = self.model_fields_set - {"mode", "citizen_id", "max_tokens"}
        if self.mode == "auto" and any(getattr(self, name) is not None for name in given):
            raise ValueError("mode auto decides by the citizen's own state: leave out " + ", ".join(sorted(given)))
        return self


class RememberArguments(Arguments):
    name: Annotated[Name, Field(description="What it is about, in a few words.")]
    text: Annotated[LongText, Field(description="What is remembered, in full sentences.")] = ""
    node_type: Annotated[Name, Field(description="What kind of thing it is: Memory, Person, Goal.")] = "Memory"
    level: LevelArgument = Level.N1
    collective: CollectiveArgument = None
    energy: Annotated[Unit | None, Field(description="How strongly it is on its mind, 0 to 1.")] = None
    confidence: Annotated[Unit | None, Field(description="How sure it is, 0 to 1.")] = None
    emotions: EmotionsArgument = None
    goal: Annotated[ShortText | None, Field(description="The goal that it serves.")] = None
    resolution_state: Annotated[
        ResolutionState | None, Field(description="Of work: whether it is done, going on, or blocked.")
    ] = None
    importance: Annotated[Unit | None, Field(description="How much it matters in the long run, 0 to 1.")] = None
    rule: Annotated[Text | None, Field(description="What to do from now on, if that follows from it.")] = None
    severity: Annotated[Severity | None, Field(description="What breaking the rule leads to.")] = None
    tags: Annotated[Tags, Field(description="Words that it shares with related memories.")] = ()
    about: Annotated[Tags, Field(description="Names of whom and what it is about.")] = ()
    valid_at: Annotated[Moment | None, Field(description="Since when it is true. Default: now.")] = None
    quoted: QuotedArgument = False
    command_id: CommandIdArgument = None


class HistoryArguments(Arguments):
    other_names: ClassVar[Names] = {**NAMES_OF_REST, "memory_id": ("id",), "node_id": ("id",)}
    id: MemoryIdArgument
    level: Annotated[Level, Field(description="The level it is on.")] = Level.N1


class CorrectArguments(HistoryArguments):
    """New content for a memory. With `changed` the old content was true until now, otherwise it never was.

    `reason`, `emotions` and `energy` are those of the learning moment.
    """

    name: Annotated[Name | None, Field(description="What it is about, if that changes.")] = None
    text: Annotated[LongText | None, Field(description="The new text, in full sentences.")] = None
    reason: Annotated[
        Name | None,
        Field(description="What showed it, in a few words; the same each time for the same kind of mistake."),
    ] = None
    emotions: Annotated[Emotions | None, Field(description='How that felt, each 0 to 1: {"surprise": 0.8}.')] = (
        None
    )
    energy: Annotated[
        Unit | None, Field(description="How strongly it struck, 0 to 1. Default: the strongest emotion.")
    ] = None
    changed: Annotated[
        Flag, Field(description="True: it was right until now, and the world changed. False: it was never right.")
    ] = False
    quoted: QuotedArgument = False
    command_id: CommandIdArgument = None


class _ChangeArguments(HistoryArguments):
    """A change of one memory."""

    command_id: CommandIdArgument = None


class ResolveArguments(_ChangeArguments):
    resolution_state: Annotated[ResolutionState, Field(description="The state of the work from now on.")] = (
        ResolutionState.RESOLVED
    )
    cascade: Annotated[
        bool, Field(description="Do what follows too: close the problem and its links, unblock what waited.")
    ] = False
    quoted: QuotedArgument = False


class RetractArguments(_ChangeArguments):
    until: Annotated[EndMoment | None, Field(description="Until when it was true. Default: it never was.")] = None
    quoted: QuotedArgument = False


class UndoArguments(_ChangeArguments):
    pass


class RelateArguments(Arguments):
    source_id: Annotated[Identifier, Field(description="The memory where the link begins.")]
    relation: Annotated[RelationType, Field(description="What one is to the other, such as CAUSED_BY.")]
    target_id: Annotated[Identifier, Field(description="The memory where the link ends.")]
    goal: Annotated[Name, Field(description="Why the link matters to the citizen.")]
    mindstate: Annotated[Name, Field(description="The state of mind behind the link.")]
    emotions: Annotated[Emotions, Field(description='Emotions by name, each 0 to 1: {"joy": 0.8}.')]
    energy: Annotated[Unit, Field(description="How urgent the link is, 0 to 1.")]
    confidence: Annotated[Unit, Field(description="How sure it is, 0 to 1.")]
    level: LevelArgument = Level.N1
    quoted: QuotedArgument = False
    command_id: CommandIdArgument = None


class HearArguments(Arguments):
    other_names: ClassVar[Names] = {
        **NAMES_OF_REST, "episode_id": ("conversation",), "timestamp": ("time",), "id": ("message_id",),
        "role": ("speaker",), "content": ("text",),
    }  # fmt: skip
    conversation: ConversationArgument
    speaker: Annotated[Name, Field(description="Who says it: a name, or user, assistant, tool.")]
    text: Annotated[LongText, Field(min_length=1, description="What is said, word for word.")]
    level: LevelArgument = Level.N1
    collective: CollectiveArgument = None
    time: Annotated[Moment | None, Field(description="When it was said. Default: now.")] = None
    message_id: Annotated[
        Identifier | None, Field(description="Its id, if it has one: sent again it is stored once.")
    ] = None


class SetStateArguments(Arguments):
    """What the citizen feels and wants from now on; fields left out stay."""

    energy: Annotated[Unit | None, Field(description="How awake it is, 0 to 1.")] = None
    emotions: EmotionsArgument = None
    goal: Annotated[ShortText | None, Field(description="What the citizen wants now.")] = None
    window: Annotated[
        MemoryIds | None, Field(description="Ids of memories seen in this cycle, which ends now.")
    ] = None
    focus: Annotated[ShortText | None, Field(description="What to keep in mind for the next cycle.")] = None
