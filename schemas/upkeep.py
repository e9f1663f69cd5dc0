"""Upkeep: what a sweep finds, and the tasks that repair it (003, component 6, "during maintenance")."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, field_serializer, model_validator

from schemas.base import (
    AtMost,
    CitizenId,
    Emotions,
    Frozen,
    Identifier,
    JsonMap,
    Request,
    ShortText,
    Text,
    Unit,
    Whole,
)
from schemas.commands.memories import Correct, Retract, WriteReceipt
from schemas.intention import ALL_LEVELS
from schemas.memory import Level, ResolutionState
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME
from schemas.validation import MetadataValidationReport

Kind = Literal[
    "link_invalid",
    "memory_invalid",
    "overlap",
    "embedding_missing",
    "embedding_stale",
    "closed_end",
    "duplicate",
    "junk",
    "essay_emotion",
    "unreadable",
    "unset_default",
]
Severity = Literal["error", "warning", "info"]
LinkId = Annotated[ShortText, Field(min_length=1)]
"""The id of a link; one that was given none is called `source|TYPE|target`."""
StoredInstant = Annotated[Whole, Field(gt=BEGINNING_OF_TIME, lt=END_OF_TIME)]


class Task(Request):
    """What all repair tasks share: in which graph. A task names what it saw, so that it never undoes others."""

    level: Level = Level.N1
    citizen_id: CitizenId | None = None

    @model_validator(mode="after")
    def _personal_needs_a_citizen(self) -> Self:
        if self.level is Level.N1 and self.citizen_id is None:
            raise ValueError("level N1 is personal: name its citizen_id")
        return self


class ApplyCommand(Request):
    """Apply a command; it carries its own level, citizen, expected version and command id."""

    action: Literal["apply"] = "apply"
    command: Annotated[Retract | Correct, Discriminator("command")]

    @field_serializer("command")
    def _as_it_was_said(self, command: Retract | Correct) -> dict[str, Any]:
        said = command.model_dump(mode="json", exclude_unset=True)
        return {"command": command.command, **said}


class ReEmbed(Task):
    """Make the embedding of a memory anew."""

    action: Literal["re-embed"] = "re-embed"
    id: Identifier
    version: Annotated[Whole, Field(ge=1)]


class LinkTask(Task):
    """What names a link: its id, its ends, and the transaction time of the record that was seen."""

    id: LinkId
    source_id: Identifier
    target_id: Identifier
    seen: StoredInstant


class RetractLink(LinkTask):
    """Close a link's record: it held until the instant `until`, or never."""

    action: Literal["retract-link"] = "retract-link"
    until: StoredInstant | None = None


class ReviseLink(LinkTask):
    """Close a link's record and open one with other metadata; what is left out stays."""

    action: Literal["revise-link"] = "revise-link"
    emotion_vector: Emotions | None = None
    emotion_description: Text | None = None
    energy_transfer_coefficient: Unit | None = None
    resolution_state: ResolutionState | None = None
    extra: JsonMap | None = None
    sensory_details: JsonMap | None = None


class CloseRecord(Task):
    """Close a past version that was left open when another record replaced it at the instant `at`."""

    action: Literal["close-record"] = "close-record"
    id: Identifier
    version: Whole
    seen: StoredInstant
    at: StoredInstant


RepairTask = Annotated[ApplyCommand | ReEmbed | RetractLink | ReviseLink | CloseRecord, Discriminator("action")]


class Finding(Frozen):
    """Something that a sweep found, and the task that repairs it; None where only a person can say how."""

    kind: Kind
    severity: Severity
    level: Level
    id: str
    message: str
    repair: RepairTask | None = None


class GraphCounts(Frozen):
    """How much the graph held when the sweep began."""

    memories: int = 0
    past_versions: int = 0
    traces: int = 0
    past_traces: int = 0
    links: int = 0
    past_links: int = 0


class SweepReport(Frozen):
    """The state of one graph.

    `findings_by_kind` counts all findings, `findings` lists the first of each kind. `report` is 003's quality
    report over all links, which are what its three tiers are about: its counts and ids are of links.
    `important_missing` counts the links that lack each IMPORTANT field. Changes made while the sweep ran may
    or may not be seen.
    """

    level: Level
    citizen_id: str | None = None
    counts: GraphCounts = GraphCounts()
    findings_by_kind: dict[Kind, int] = Field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    report: MetadataValidationReport = MetadataValidationReport()
    important_missing: dict[str, int] = Field(default_factory=dict)
    pages: int = 0
    scanned_nodes: int = 0
    scanned_links: int = 0
    seconds: float = 0.0


class SweepRequest(Request):
    """Which graphs to go over: without `levels`, those that can be named; N1 needs the citizen.

    `findings_per_kind` bounds how many findings of each kind are listed; all are counted. With `limit` the
    answer is about at most so many memories, and `next` is the `after` of the batch that follows. A batch judges
    its memories by what they carry and by the links that begin at them, and compares them with one another:
    duplicates over the whole graph, and memories by the links that end at them, are told without a limit.
    """

    citizen_id: CitizenId | None = None
    levels: Annotated[tuple[Level, ...], Field(min_length=1), AtMost(16)] | None = None
    findings_per_kind: Annotated[Whole, Field(ge=0, le=1000)] = 100
    limit: Annotated[Whole, Field(ge=1, le=10_000)] | None = None
    after: Annotated[str, Field(pattern=r"^N[123]:\d{1,15}$")] | None = None

    @model_validator(mode="after")
    def _personal_needs_a_citizen(self) -> Self:
        if self.levels and Level.N1 in self.levels and self.citizen_id is None:
            raise ValueError("level N1 is personal: name its citizen_id")
        if self.after is not None and self.limit is None:
            raise ValueError("after goes on with a sweep in batches: name its limit")
        return self

    def chosen(self) -> tuple[Level, ...]:
        """The levels to go over, each once."""
        if self.levels is not None:
            return tuple(dict.fromkeys(self.levels))
        return tuple(level for level in ALL_LEVELS if level is not Level.N1 or self.citizen_id is not None)


class SweepAnswer(Frozen):
    """One report for each graph; of a batch one, and where the next begins, None behind the last."""

    reports: tuple[SweepReport, ...]
    next: str | None = None


class ReembedReport(Frozen):
    """What a store was given: `graphs` have the vectors of `model` now, which `records` of them needed."""

    model: str
    dimension: int
    graphs: tuple[str, ...] = ()
    records: int = 0
    seconds: float = 0.0


class RepairRequest(Request):
    """A task of a finding, to be run."""

    task: RepairTask


class RepairOutcome(Frozen):
    """What became of a task. `gone`: what it was to repair is no longer as it was seen; nothing was changed."""

    action: str
    status: Literal["done", "gone", "refused"]
    level: Level
    id: str
    detail: str = ""
    problem: Literal["invalid-request", "not-found", "conflict", "not-trusted"] | None = None
    receipt: WriteReceipt | None = None
