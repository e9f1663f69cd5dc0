"""Questions to a citizen's memory (003, component 1)."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import Annotated, Literal, Self
from uuid import uuid4
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, model_validator

from schemas.base import (
    VISIBLE_TEXT_PATTERN,
    AtMost,
    CitizenId,
    Emotions,
    Flag,
    Identifier,
    Name,
    Request,
    ShortText,
    Text,
    Unit,
    Whole,
)
from schemas.collectives import AsksGraphs
from schemas.memory import Level, Source
from schemas.temporal import AskedMoment, EndMoment, Instant, KnownMoment, Moment, Scope, TemporalMode

type Prefer = Literal["general", "concrete"]
type EmotionsMatch = Literal["any", "all"]
type Form = Literal["full", "compact", "references"]
"""How a stream is sent: as 003 has it, as text, or with each memory and link once."""
type Part = Literal[
    "levels", "activation_tiers", "traversal_graph", "energy", "temporal_dissonances", "resolution_patterns",
    "offers", "rules", "state", "consciousness_summary", "metadata_validation", "timings",
]  # fmt: skip
"""A section of a stream."""
Parts = Annotated[tuple[Part, ...], AtMost(24)]
type Rerank = Literal["mmr", "rrf", "llm", "custom"]
ALL_LEVELS = (Level.N1, Level.N2, Level.N3)


def _check_label(label: str) -> str:
    if label.strip() in ("", ","):
        raise ValueError("a tag or bucket to filter by is more than a space or a comma")
    return label


Label = Annotated[ShortText, AfterValidator(_check_label)]
"""A tag or a bucket, as written in the memory."""

Labels = Annotated[tuple[Label, ...], AtMost(16)]
Names = Annotated[tuple[Name, ...], AtMost(16)]


class Filters(Request):
    """Only memories of one of `node_types`, `speakers`, `episodes` and `sources`, with all `tags` and `buckets`.

    `valid_from` and `valid_to`: only what began to be true in `[valid_from, valid_to)`; a message began when it
    was said. A field that is left out does not filter. They apply to everything that a question finds: by
    likeness, by words, by name, over links, and past records.
    """

    node_types: Names = ()
    tags: Labels = ()
    buckets: Labels = ()
    speakers: Names = ()
    episodes: Annotated[tuple[Identifier, ...], AtMost(16)] = Field(
        default=(), description="Ids of conversations and files."
    )
    sources: Annotated[tuple[Source, ...], AtMost(16)] = ()
    valid_from: Moment | None = None
    valid_to: EndMoment | None = None

    @property
    def empty(self) -> bool:
        """True when every memory passes."""
        return not any(getattr(self, name) for name in Filters.model_fields)

    @model_validator(mode="after")
    def _range_has_a_length(self) -> Self:
        if self.valid_from is not None and self.valid_to is not None and self.valid_to <= self.valid_from:
            raise ValueError("valid_to must lie after valid_from")
        return self


class Filtered(Request):
    """`filters` narrow what is found, whatever the way of asking."""

    filters: Filters | None = None


class AsOf(Request):
    """`as_of_time` sets both time axes, `known_at` the transaction axis alone; without either it is now."""

    as_of_time: AskedMoment | None = None
    known_at: KnownMoment | None = None

    def scope(self, now: Instant) -> Scope:
        """The moment to read at."""
        return Scope.resolve_datetimes(self.as_of_time, self.known_at, now)


Candidates = Annotated[Whole, Field(ge=0, le=100)]
Days = Annotated[float, Field(strict=True, gt=0.0, le=36_500.0, allow_inf_nan=False)]


class Plurality(Request):
    """The number of candidates of each pool, and the spread of the answer over time (004).

    Pool A: the `recent` newest memories of the last `recent_days`. Pool B: of the older ones, the `matching` most
    important that contain words of the question. Pool C: of the older ones, `chance` drawn at random, the same for
    the same request. At most `per_week` memories of one ISO week come first in each tier, then the rest fills it.
    Recency halves after `half_life_days`. `importance_floor` is the least importance that counts.
    """

    recent: Candidates = 30
    matching: Candidates = 15
    chance: Candidates = 5
    recent_days: Days = 7.0
    per_week: Annotated[Whole, Field(ge=1, le=100)] = 2
    half_life_days: Days = 30.0
    importance_floor: Unit = 0.3


class Plural(Request):
    """`plurality` adds recent, older and random candidates, and spreads the answer over weeks; `{}`: defaults."""

    plurality: Plurality | None = None


def check_not_blank(text: str) -> str:
    """The text. Raises ValueError for a blank one."""
    if not text.strip():
        raise ValueError("the query is empty; say what context is needed, or wake from a state instead")
    return text


QueryText = Annotated[
    Text,
    Field(max_length=20_000, json_schema_extra={"pattern": VISIBLE_TEXT_PATTERN}),
    AfterValidator(check_not_blank),
]


def find_zone(name: str) -> tzinfo:
    """The zone of this name; UTC is known on every machine. Raises KeyError, ValueError or OSError for no zone."""
    return UTC if name == "UTC" else ZoneInfo(name)


def _check_time_zone(name: str) -> str:
    """The name. Raises ValueError when the machine knows no zone of this name."""
    try:
        find_zone(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as unknown:
        raise ValueError(f"{name!r} is no time zone; give a name such as Europe/Berlin, or UTC") from unknown
    return name


TimeZone = Annotated[ShortText, AfterValidator(_check_time_zone)]
"""The name of a time zone in the IANA database."""


Levels = Annotated[
    tuple[Level, ...], Field(min_length=1), AtMost(16), AfterValidator(lambda levels: tuple(dict.fromkeys(levels)))
]
"""The levels to search, without repeats, in the order given."""


class StreamRequest(Plural, Filtered, AsksGraphs):
    """Options of the answer that retrieving and waking share.

    `explain` adds each term of each score. `max_tokens` limits what is sent, most active memories first. `form`:
    `references` sends each memory and each link once, `compact` a text for a prompt in place of them, of 1,500
    tokens unless `max_tokens` names others. `parts`: the sections that are sent, default: all, with `compact` the
    text alone. `require_valid` keeps only memories and links with fully valid metadata.
    `apply_feedback` lets the stream change the citizen's own energy (003, component 5c). `reality_pressure`: how
    much presses from outside; without it .5, in a waking what the state keeps or what is due makes it.
    """

    citizen_id: CitizenId
    explain: Flag = False
    max_tokens: Annotated[Whole, Field(ge=1)] | None = None
    form: Form = "full"
    parts: Parts | None = None
    require_valid: Flag = False
    apply_feedback: Flag = False
    reality_pressure: Unit | None = None


class RetrievalIntention(StreamRequest):
    """A question in words (003, component 1).

    `as_of_time` sets both time axes, `known_at` the transaction axis alone; without `as_of_time` it asks what
    is true now, as known then. Either makes the mode `point_in_time` where none is named. `time_range_*` limit
    the transaction time of `evolution` and `full_history` (003): a change at the start belongs to the range,
    one at the end does not. `time_zone` is that of the asker ("Europe/Berlin"): "yesterday" ends at midnight
    there. Limits are per query and level. `current_*` is the state that weighs links.
    `rerank` reorders the best: `mmr` by different words, `rrf` by the ranks in each channel, `llm` by the
    language model, `custom` by the reranker of the service.
    `required_emotions`: only memories that feel all of these, or with `emotions_match: any` at least one.
    `prefer`: what upkeep made of several memories is shown too: with `general` first, with `concrete` behind the
    memories that it stands for. Without it only these are shown.
    `conversation`: the one that goes on, in which the question was heard: its message with these words, or with
    the `message_id` that the sender or the service gave it, is not shown.
    """

    query_text: QueryText
    temporal_mode: TemporalMode = TemporalMode.CURRENT
    as_of_time: AskedMoment | None = None
    known_at: KnownMoment | None = None
    time_range_start: Moment | None = None
    time_range_end: EndMoment | None = None
    query_levels: Levels = ALL_LEVELS
    max_results_per_level: Annotated[Whole, Field(ge=1, le=100)] = 20
    time_zone: TimeZone = "UTC"
    min_energy: Unit | None = None
    min_confidence: Unit | None = None
    required_emotions: Annotated[tuple[ShortText, ...], AtMost(16)] | None = None
    emotions_match: EmotionsMatch = "all"
    current_goal: ShortText | None = None
    current_emotions: Emotions | None = None
    current_energy: Unit | None = None
    rerank: Rerank | None = None
    prefer: Prefer | None = None
    conversation: Identifier | None = None
    message_id: Identifier | None = None
    intention_id: Identifier = Field(default_factory=lambda: uuid4().hex)
    generated_at: Moment = Field(default_factory=lambda: datetime.now(UTC))
    generated_by: ShortText = "unknown"

    @model_validator(mode="after")
    def _times_fit_the_mode(self) -> Self:
        if "temporal_mode" not in self.model_fields_set and (self.as_of_time or self.known_at) is not None:
            self.__dict__["temporal_mode"] = TemporalMode.POINT_IN_TIME
        momentary = self.temporal_mode is TemporalMode.POINT_IN_TIME
        if momentary and self.as_of_time is None and self.known_at is None:
            raise ValueError("temporal_mode point_in_time needs as_of_time or known_at")
        if not momentary and (self.as_of_time is not None or self.known_at is not None):
            raise ValueError("as_of_time and known_at need temporal_mode point_in_time")
        ranged = self.temporal_mode in (TemporalMode.EVOLUTION, TemporalMode.FULL_HISTORY)
        if not ranged and (self.time_range_start or self.time_range_end):
            raise ValueError("time_range_start and time_range_end need temporal_mode evolution or full_history")
        if self.message_id is not None and self.conversation is None:
            raise ValueError("message_id needs the conversation that it is a message of")
        start, end = self.time_range_start, self.time_range_end
        if start is not None and end is not None and end <= start:
            raise ValueError("time_range_end must lie after time_range_start")
        return self


class QueryMode(StrEnum):
    """The kinds of memories that waking looks for (003, component 1)."""

    RELATED_UNRESOLVED = "find_related_unresolved"
    SIMILAR_STATE = "find_similar_state"
    WHAT_I_WAS_DOING = "find_what_i_was_doing"
    RESOLUTION_PATTERNS = "find_resolution_patterns"


EMOTIONAL_MODES = (QueryMode.SIMILAR_STATE, QueryMode.RESOLUTION_PATTERNS)


class StateBasedRetrieval(StreamRequest):
    """Waking: retrieval by a state, without a question (003, component 1).

    `current_energy`, `current_emotions` and `current_goal` that are left out (or null) are those of the citizen's
    kept state, else derived from its memories of the last days, else the default; a derived goal does not narrow
    the waking. Emotions given as `{}` are none: nothing is compared by emotion then, and a note says so.
    `temporal_scope`: `recent` lets a memory count less the longer ago it last changed, `all_time` does not;
    find_what_i_was_doing looks back 30 days in both.
    """

    current_energy: Unit | None = None
    current_emotions: Emotions | None = None
    current_goal: ShortText | None = None
    query_mode: QueryMode = QueryMode.RELATED_UNRESOLVED
    include_only_unresolved: Flag = True
    temporal_scope: Literal["recent", "all_time"] = "recent"
    as_of_time: AskedMoment | None = None
    known_at: KnownMoment | None = None
    query_levels: Levels = ALL_LEVELS
    max_results_per_level: Annotated[Whole, Field(ge=1, le=100)] = 20
    state_id: Identifier = Field(default_factory=lambda: uuid4().hex)
    generated_at: Moment = Field(default_factory=lambda: datetime.now(UTC))
