"""The findings of a sweep, the tasks that repair them, their summary (003, 6, "during maintenance")."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Discriminator, Field, field_serializer, model_validator

from schemas.base import (
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
from schemas.collectives import AnyGraphRequest, GraphRequest, GraphsRequest
from schemas.commands import Correct, Retract, WriteReceipt
from schemas.intention import ALL_LEVELS
from schemas.memory import (
    Collective,
    Grade,
    GraphKey,
    InGraph,
    Level,
    MetadataValidationReport,
    ResolutionState,
    graph_key,
)
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME

Kind = Literal[
    "link_invalid", "memory_invalid", "overlap", "embedding_missing", "embedding_stale", "passages_missing",
    "passages_stray", "closed_end", "duplicate", "junk", "essay_emotion", "unreadable", "unset_default",
]  # fmt: skip
Severity = Literal["error", "warning", "info"]
LinkId = Annotated[ShortText, Field(min_length=1)]
"""The id of a link; one without an id of its own is `source|TYPE|target`."""
StoredInstant = Annotated[Whole, Field(gt=BEGINNING_OF_TIME, lt=END_OF_TIME)]


class Task(GraphRequest):
    """The graph of a repair task. A task names the record that was checked, so that it undoes no later change."""


class ApplyCommand(Request):
    """Apply a command; it carries its own level, citizen, expected version and command id."""

    action: Literal["apply"] = "apply"
    command: Annotated[Retract | Correct, Discriminator("command")]

    @field_serializer("command")
    def _dump_set_fields(self, command: Retract | Correct) -> dict[str, Any]:
        return {"command": command.command, **command.model_dump(mode="json", exclude_unset=True)}


class ReEmbed(Task):
    """Compute the embedding of a memory again; add the missing passages of its text, erase those of no text."""

    action: Literal["re-embed"] = "re-embed"
    id: Identifier
    version: Annotated[Whole, Field(ge=1)]


class LinkTask(Task):
    """The id and ends of a link, and the transaction time of the record that was seen."""

    id: LinkId
    source_id: Identifier
    target_id: Identifier
    seen: StoredInstant


class RetractLink(LinkTask):
    """Close the record of a link: it was true until the instant `until`, or never."""

    action: Literal["retract-link"] = "retract-link"
    until: StoredInstant | None = None


class ReviseLink(LinkTask):
    """Close the record of a link and open one with other metadata; fields left out stay."""

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
    """A finding of a sweep, and the task that repairs it; None when a person must decide."""

    kind: Kind
    severity: Severity
    level: Level
    collective: Collective = None
    id: str
    message: str
    repair: RepairTask | None = None


class GraphCounts(Frozen):
    """The contents of the graph when the sweep began."""

    memories: int = 0
    past_versions: int = 0
    traces: int = 0
    past_traces: int = 0
    links: int = 0
    past_links: int = 0


class SweepReport(InGraph, Frozen):
    """The state of one graph.

    `findings_by_kind` counts all findings, `findings` lists the first of each kind. `report` is the quality report
    of 003 over all links: its counts and ids are those of links. `important_missing` counts the links that lack
    each IMPORTANT field. Changes made during the sweep may or may not be seen.
    """

    level: Level
    collective: Collective = None
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


class SweepRequest(GraphsRequest):
    """The graphs to check. Without `levels`: N2, N3, and N1 when a citizen is named.

    `findings_per_kind` limits the findings of each kind that are listed; all are counted. With `limit` the answer
    covers at most that many memories; its `next` is the `after` of the next batch. A batch checks its memories,
    the links that begin at them, and duplicates among them; duplicates in the whole graph, and memories by the
    links that end at them, are found only without a limit.
    """

    findings_per_kind: Annotated[Whole, Field(ge=0, le=1000)] = 100
    limit: Annotated[Whole, Field(ge=1, le=10_000)] | None = None
    after: Annotated[str, Field(pattern=r"^N[123](:[A-Za-z0-9][A-Za-z0-9_.-]{0,63})?:\d{1,15}$")] | None = None

    @model_validator(mode="after")
    def _goes_on_in_batches(self) -> Self:
        if self.after is not None and self.limit is None:
            raise ValueError("after continues a sweep in batches: give its limit too")
        return self

    def chosen(self) -> tuple[GraphKey, ...]:
        """The graphs to check, without repeats."""
        if self.collective is not None:
            return (graph_key(Level.N2, self.collective),)
        if self.levels is not None:
            return tuple(dict.fromkeys(self.levels))
        return tuple(level for level in ALL_LEVELS if level is not Level.N1 or self.citizen_id is not None)


class SweepAnswer(Frozen):
    """One report per graph. `next`: where the next batch begins, None after the last.

    `notes`: why the summary of a graph was not kept.
    """

    reports: tuple[SweepReport, ...]
    next: str | None = None
    notes: tuple[str, ...] = ()


class ReembedReport(Frozen):
    """`graphs` now have the vectors of `model`; `records` were embedded again."""

    model: str
    dimension: int
    graphs: tuple[str, ...] = ()
    records: int = 0
    seconds: float = 0.0


class RepairRequest(Request):
    """The task of a finding, to run."""

    task: RepairTask


class RepairOutcome(Frozen):
    """The result of a task. `gone`: the record changed since it was seen, and nothing was done."""

    action: str
    status: Literal["done", "gone", "refused"]
    level: Level
    collective: Collective = None
    id: str
    detail: str = ""
    problem: Literal["invalid-request", "not-found", "conflict", "not-trusted", "not-author"] | None = None
    receipt: WriteReceipt | None = None


MOST_SUMMARIES: Final = 500
"""At most this many summaries of a graph are kept."""


class QualitySummary(Frozen):
    """What one sweep of a whole graph found. Its figures are those of the sweep's `MetadataValidationReport`.

    `quality_grade` by the thresholds of 003: excellent, above .9 complete and no errors; good, above .75 and fewer
    than 10 % of the memories with errors; acceptable, above .6 and fewer than 25 %; else poor; null when nobody
    gave any metadata.
    """

    swept_at: datetime
    quality_grade: Grade | None = None
    average_completeness: Unit = 0.0
    total_memories: int = 0
    graded_memories: int = 0
    fully_valid_memories: int = 0
    memories_with_warnings: int = 0
    memories_with_errors: int = 0
    findings_by_kind: dict[Kind, int] = Field(default_factory=dict)
    findings_by_severity: dict[Severity, int] = Field(default_factory=dict)


class QualitySeries(InGraph, Frozen):
    """The summaries of one graph, oldest first.

    `fallen_from`: the best grade of the 30 days before the last sweep, when the last grade is lower; else null.
    """

    level: Level
    collective: Collective = None
    citizen_id: str | None = None
    summaries: tuple[QualitySummary, ...] = ()
    fallen_from: Grade | None = None


class QualityRequest(AnyGraphRequest):
    """Whose quality. Without `level`: N2, N3, and N1 when a citizen is named.

    `limit`: the newest of each graph.
    """

    limit: Annotated[int, Field(ge=1, le=MOST_SUMMARIES)] = 100

    def chosen(self) -> tuple[GraphKey, ...]:
        """The graphs that are asked for."""
        if self.level is not None:
            return (graph_key(self.level, self.collective),)
        return tuple(level for level in ALL_LEVELS if level is not Level.N1 or self.citizen_id is not None)


class QualityAnswer(Frozen):
    """One series for each graph that exists."""

    series: tuple[QualitySeries, ...] = ()
