"""A record of a memory and of a link, with all their metadata (003, components 4 and 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, NamedTuple, Protocol

from pydantic import ConfigDict, Field

from schemas.base import Frozen, Sparse, Unit


class Level(StrEnum):
    """The three graphs: personal, collective, ecosystem."""

    N1 = "N1"
    N2 = "N2"
    N3 = "N3"

    __hash__ = str.__hash__  # faster than Enum's, which runs in Python: each key of a memory contains a level


SharedLevel = Literal[Level.N2, Level.N3]


type GraphKey = str
"""One of the graphs of an answer: its level, and of a further collective its id too: `N1`, `N2`, `N2:atlas`."""


def graph_key(level: Level, collective: str | None) -> GraphKey:
    """The key of a graph of this level, in N2 of a collective; the level itself where it is the default one."""
    return level if collective is None else f"{level}:{collective}"


@lru_cache(maxsize=1024)
def level_of(key: GraphKey) -> Level:
    """The level of a graph."""
    return Level(key.partition(":")[0])


def collective_of(key: GraphKey) -> str | None:
    """The id of a further collective; None for every other graph."""
    return key.partition(":")[2] or None


@lru_cache(maxsize=1024)
def graph_fields(key: GraphKey) -> Mapping[str, Any]:
    """The fields of a record of that graph which say so."""
    return {"level": level_of(key), "collective": collective_of(key)}


class NamesGraph(Protocol):
    """Says which graph it is of."""

    @property
    def level(self) -> Level: ...
    @property
    def collective(self) -> str | None: ...


class InGraph:
    """A value that says by `level` and `collective` which graph it is of."""

    @property
    def graph_key(self: NamesGraph) -> GraphKey:
        """The key of its graph."""
        collective = self.collective
        return self.level if collective is None else graph_key(self.level, collective)


class ResolutionState(StrEnum):
    """The state of a piece of work; it decides how much energy a memory gives back."""

    RESOLVED = "resolved"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"

    __hash__ = str.__hash__  # as for Level: each link is looked up by its state


class HalfLives(NamedTuple):
    """After this many days half of the energy of a memory or link is left, by the state of its work."""

    blocked: float = 360.0
    in_progress: float = 180.0
    unset: float = 90.0
    resolved: float = 30.0


HALF_LIVES: Final = HalfLives()


class Source(StrEnum):
    """The origin of a record."""

    CITIZEN = "citizen"
    TOOL = "tool"
    SYSTEM = "system"
    INGESTION = "ingestion"
    UPKEEP = "upkeep"


InvalidationReason = Literal["reality_changed", "discovered_false"]
ClosedReason = Literal["reality_changed", "discovered_false", "quarantined", "undone"]
"""Why a record is no longer believed. `quarantined`: it came from a distrusted source and is hidden."""
Abstraction = Literal["L0", "L1", "L2", "L3"]
Severity = Literal["block", "warn", "note"]
"""What breaking a rule leads to: the action is stopped, warned of, or only noted with a warning."""
Silence = Literal["Question", "Courtesy", "Echo"]
"""Why a turn tells nothing: it only asks, gives thanks, or repeats to its hearer what was remembered."""
SILENCES: Final = ("Question", "Courtesy", "Echo")
SOLVING: Final = ("Decision", "Action", "Learning")
"""The steps of a solution."""
Step = Literal["Decision", "Action", "Learning", "Question", "Courtesy", "Echo"]
"""What a text is on the way to a solution."""
CONTEXT: Final = "Context"
"""The type of the memory of a context."""
TO_REMEMBER: Final = "remember what happened"
TELLING: Final = "telling what happened"
"""The goal and the mindstate of a link that a text makes."""
GENERALISATION: Final = "Generalisation"
"""The type of a memory that upkeep made of several others. A question finds it only where it asks for it."""
GENERALISED_KEY: Final = 0
"""The number under which all of them are counted; other texts are looked up by a hash of their words."""
STORED_DEFAULTS = {"energy": 0.5, "confidence": 0.5}
"""003, task 4: the energy and confidence of a memory without them."""


Unreadable = Annotated[
    tuple[str, ...],
    Field(description="Fields whose stored form cannot be shown; they are left out of the answer."),
]


class Passage(Frozen):
    """A part of a long text: its characters from `start` to before `end`, counted from 0, of `length` in all."""

    start: int
    end: int
    length: int


Collective = Annotated[
    str | None,
    Field(description="The id of the collective that holds it; null for the default one and in N1, N3."),
]


class SharedFrom(InGraph, Frozen):
    """Where a copy comes from: the record of a memory of this graph, and on N1 of this citizen."""

    level: Level
    citizen_id: str | None = None
    collective: Collective = None
    id: str
    version: int


class Contest(Frozen):
    """A link CONTESTS: who holds that a shared memory is wrong, since when, and why.

    `by` is the author of the link, `statement_id` the memory with the reason.
    """

    by: str | None = None
    reason: str = ""
    statement_id: str
    link_id: str
    since: datetime


class ConsciousnessNode(InGraph, Sparse):
    """One record of a memory with all its metadata (003, component 4).

    All scores and felt numbers are in [0, 1]; an open end of time is None. `relevance_score` is the score of the
    query that found it. `likeness` is the cosine of its vector and that of the question (in a waking, that of the
    goal or the feelings), in [−1, 1]; None where no search by likeness returned it. With `explain`, `score_terms`
    holds each part of the final score. `closed_reason` says why the record is no longer believed,
    `invalidation_reason` why its valid time ended, else why it was closed. `author` is the citizen who wrote it,
    if known, in N2 and N3. `effective_energy` is what time has left of `energy` at the moment of the answer.
    """

    node_id: str
    node_type: str
    name: str
    description: str

    valid_at: datetime
    invalid_at: datetime | None = None
    created_at: datetime
    expired_at: datetime | None = None
    version: int = 1

    invalidation_reason: InvalidationReason | None = None
    closed_reason: ClosedReason | None = None
    correction_pattern_id: str | None = None
    discovery_energy: float | None = None

    energy: float
    confidence: float
    emotion_vector: dict[str, float] | None = None
    felt_quality: str | None = None
    body_sensation: str | None = None

    goal: str | None = None
    resolution_state: ResolutionState | None = None
    tags: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    importance: float | None = None
    intensity: float | None = None
    result: str | None = None
    rule: str | None = None
    severity: Severity | None = None
    abstraction: Abstraction | None = None
    step: Step | None = None
    source: Source = Source.CITIZEN
    author: str | None = None
    shared_from: SharedFrom | None = Field(
        default=None, description="Of a copy in N2 or N3: what it was shared from."
    )
    episode_id: str | None = None
    speaker: str | None = None
    extra: dict[str, Any] = Field(default_factory=dict)
    unset: tuple[str, ...] = Field(
        default=(),
        description=(
            "Fields that the writer left out. What their words say was read from the text; energy, confidence and "
            "emotions that it does not tell have their defaults; `tags` were made at ingestion. "
            "`middle_of_description`: only its first and last part, 100,000 characters, were read for names."
        ),
    )
    unreadable: Unreadable = ()
    passage: Passage | None = Field(
        default=None,
        description=(
            "Set where a question shows only a part of a long text: `description` is then this part, the one that "
            "answers. The whole text is read by the id of the memory."
        ),
    )

    shortened: tuple[str, ...] = Field(
        default=(),
        description="Fields that were left out or cut for `max_tokens`; of `description` see `passage`.",
    )

    level: Level
    collective: Collective = None
    retrieval_source: str = ""
    relevance_score: float = 0.0
    likeness: float | None = None
    overtaken_by: str | None = Field(
        default=None,
        description=(
            "Inferred: the id of a later memory of the same voice that seems to tell what holds instead. "
            "Nobody superseded this one."
        ),
    )
    overtaken_at: datetime | None = Field(
        default=None, description="Inferred: since when the later memory holds, and so until when this one did."
    )
    duplicates: tuple[str, ...] = Field(
        default=(), description="The ids of other memories found with the same words, which are shown as this one."
    )
    contested: tuple[Contest, ...] = Field(
        default=(), description="Of a memory of N2 or N3: who contests it; filled in by streams."
    )
    effective_energy: float | None = None
    consciousness_adjusted_score: float | None = None
    score_terms: dict[str, float] | None = None


class ConsciousnessRelationship(InGraph, Sparse):
    """One record of a link with all its metadata (003, component 4).

    `effective_energy` is what time has left of `energy` at the moment of the answer.
    """

    link_id: str
    source_id: str
    target_id: str
    relation_type: str

    goal: str
    mindstate: str
    energy: float
    confidence: float
    formation_trigger: str | None = None
    emotion_vector: dict[str, float] | None = None
    energy_transfer_coefficient: float
    resolution_state: ResolutionState

    felt_quality: str | None = None
    emotion_description: str | None = None
    body_sensation: str | None = None
    spatial_context: str | None = None
    sensory_details: dict[str, Any] | None = None

    valid_at: datetime
    invalid_at: datetime | None = None
    created_at: datetime
    expired_at: datetime | None = None
    version: int = 1

    invalidation_reason: InvalidationReason | None = None
    closed_reason: ClosedReason | None = None

    source: Source = Source.CITIZEN
    author: str | None = None
    episode_id: str | None = None
    extra: dict[str, Any] = Field(default_factory=dict)
    unset: tuple[str, ...] = Field(
        default=(), description="Fields that were taken from the memories at its ends, not given by the writer."
    )
    unreadable: Unreadable = ()
    level: Level
    collective: Collective = None
    effective_energy: float | None = None


class _Logged(Sparse):
    command_id: str | None = None
    key_id: str | None = None
    closed_by: str | None = None
    closed_source: Source | None = None
    closed_key: str | None = None
    known_as_happened: bool = False
    run: str | None = None
    closed_run: str | None = None


class MemoryRecord(_Logged, ConsciousnessNode):
    """A memory record with the commands that opened and closed it, their keys, and the source of the closing.

    `known_as_happened`: an import declared that it was known when it began to be true. `run` and `closed_run`: the
    runs of upkeep that sent these commands, if any.
    """

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class LinkRecord(_Logged, ConsciousnessRelationship):
    """A link record with the commands that opened and closed it, their keys, and the source of the closing.

    `known_as_happened`: an import declared that it was known when it began to be true. `run` and `closed_run`: the
    runs of upkeep that sent these commands, if any.
    """

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


UNREADABLE_REMEDY: Final = "`substrate validate --fix unreadable` repairs it"
_MOST_UNREADABLE: Final = 100


def describe_unreadable(records: Iterable[ConsciousnessNode | ConsciousnessRelationship]) -> tuple[str, ...]:
    """One line for each record with unreadable fields: at most 100, then how many more there are."""
    lines: dict[str, None] = {}
    for each in records:
        if each.unreadable:
            subject = f"memory {each.node_id}" if isinstance(each, ConsciousnessNode) else f"link {each.link_id}"
            fields = ", ".join(each.unreadable)
            whose = f"{subject} of {each.level}, version {each.version}"
            lines[f"{whose}: {fields} cannot be shown and was left out; {UNREADABLE_REMEDY}"] = None
    first = tuple(lines)[:_MOST_UNREADABLE]
    return first if len(first) == len(lines) else (*first, f"and {len(lines) - len(first)} more")


REQUIRED: Final = (
    "energy", "confidence", "emotion_vector", "goal", "mindstate", "energy_transfer_coefficient",
    "resolution_state",
)  # fmt: skip
IMPORTANT: Final = ("formation_trigger", "felt_quality", "emotion_description")
CONDITIONAL: Final = ("body_sensation", "spatial_context", "sensory_details")


class ValidationResult(Frozen):
    """Errors and warnings on metadata, and its completeness in [0, 1]."""

    valid: bool
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    metadata_completeness: Unit


Grade = Literal["excellent", "good", "acceptable", "poor"]


class MetadataValidationReport(Frozen):
    """Metadata quality over the memories (and links) of a stream (003, component 6).

    What was given is graded: `average_completeness` and `quality_grade` are of the `graded_memories`, of which a
    writer gave metadata, in the memory or in one of its links; without any the grade is poor, and `nothing_given`.
    `inferred_fields`: how many memories and links have each field as the service filled it.
    """

    total_memories: int = 0
    fully_valid_memories: int = 0
    memories_with_warnings: int = 0
    memories_with_errors: int = 0
    average_completeness: Unit = 0.0
    incomplete_memory_ids: tuple[str, ...] = ()
    quality_grade: Grade = "poor"
    graded_memories: int = 0
    inferred_fields: dict[str, int] = Field(default_factory=dict)

    @property
    def nothing_given(self) -> bool:
        """Whether there are memories, and all that they have was inferred."""
        return bool(self.total_memories) and not self.graded_memories and not self.memories_with_errors
