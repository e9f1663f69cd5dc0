"""The consciousness stream and its parts (003, component 4)."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from schemas.base import Frozen
from schemas.language_model import ModelCall
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, Level
from schemas.mind.feedback import LearnedFactors
from schemas.mind.state import CitizenState
from schemas.stream_parts import (
    EnergyShare,
    ResolutionPattern,
    StreamRule,
    TemporalDissonance,
    TraversalGraph,
)
from schemas.temporal import TemporalMode
from schemas.upkeep.offers import Offer
from schemas.validation import MetadataValidationReport

LEVEL_NAMES: dict[Level, str] = {
    Level.N1: "n1_personal",
    Level.N2: "n2_collective",
    Level.N3: "n3_ecosystem",
}
LISTS: Final = ("vector_results", "graph_results", "relationships")
"""The lists of a level."""


class ConsciousnessLevelResults(Frozen):
    """The memories found on one level.

    `vector_results` are nearest to the query, nearest first; `graph_results` were reached by name, by word or over
    links, most active first. `relationships` connect memories in the stream, strongest first.
    `omitted`: how many more entries each of the three lists has, where the stream is too large to show all.
    """

    vector_results: tuple[ConsciousnessNode, ...] = ()
    graph_results: tuple[ConsciousnessNode, ...] = ()
    relationships: tuple[ConsciousnessRelationship, ...] = ()
    omitted: dict[str, int] | None = None


class ActivationTiers(Frozen):
    """Memories by activation: up to 5 in focus, 20 peripheral, 50 in the background.

    Where nothing fits a question, at most standing instructions for its answer are in focus, and the periphery
    begins with what is nearest to it.
    A memory that does not fit leaves its place empty; others keep their tier.
    """

    focus: tuple[ConsciousnessNode, ...] = ()
    peripheral: tuple[ConsciousnessNode, ...] = ()
    background: tuple[ConsciousnessNode, ...] = ()

    def ordered(self) -> tuple[ConsciousnessNode, ...]:
        """All nodes, most active first."""
        return self.focus + self.peripheral + self.background


class ConsciousnessSummary(Frozen):
    """A few numbers about all memories found. An empty stream has zeros and no times."""

    dominant_energy: float = 0.0
    emotional_themes: tuple[str, ...] = ()
    confidence_average: float = 0.0
    earliest_memory: datetime | None = None
    latest_memory: datetime | None = None
    n1_result_count: int = 0
    n2_result_count: int = 0
    n3_result_count: int = 0
    total_results: int = 0
    active_vs_historical_ratio: float = 0.0


class QueryTiming(Frozen):
    """The course of one of the six queries. `milliseconds` is wall time in the service."""

    query: str
    milliseconds: float
    rows: int = 0
    asked_again: bool = False
    failure: str | None = None


class Degradation(Frozen):
    """A missing part of the stream, and why."""

    query: str
    reason: str


class EnergyFeedback(Frozen):
    """A citizen's energy before and after a stream, and the ordinary one to which it returns, all in [0, 1].

    (003, component 5c)
    """

    before: float
    after: float
    baseline: float


class TokenCounts(Frozen):
    """What a stream costs a language model: as it was `sent`, and in each form that carries its memories.

    `counter`: `estimate` is one token for every 3.3 bytes; another name is that of the vocabulary that counted
    what was `sent`. A form that was not sent is always estimated. The compact form has `sent` and `text`, which is
    that of its text, always counted by the vocabulary.
    """

    sent: int
    text: int | None = None
    full: int | None = None
    references: int | None = None
    counter: str = "estimate"


ALWAYS_SENT: Final = ("stream_id", "nothing_fits", "degraded", "omitted", "form")
"""Fields with a default that every stream has, whatever sections and however few tokens it was asked for."""


def _require_always_sent(schema: dict[str, Any]) -> None:
    required = (*schema.get("required", ()), *(name for name in ALWAYS_SENT if name in schema["properties"]))
    schema["required"] = list(dict.fromkeys(required))


class StreamFrame(Frozen):
    """What every form of a stream has beside its memories and links."""

    model_config = ConfigDict(
        json_schema_serialization_defaults_required=False, json_schema_extra=_require_always_sent
    )

    stream_id: str = ""
    intention_id: str
    citizen_id: str
    temporal_mode: TemporalMode
    retrieved_at: datetime
    answer_confidence: float | None = None
    nothing_fits: bool = False
    energy_feedback_potential: float = 0.0
    relative_potential: float = 0.5
    energy_shares: tuple[EnergyShare, ...] = ()
    energy_feedback: EnergyFeedback | None = None
    citizen_energy: float | None = None
    temporal_dissonances: tuple[TemporalDissonance, ...] = ()
    metadata_validation: MetadataValidationReport = MetadataValidationReport()
    resolution_patterns: tuple[ResolutionPattern, ...] = ()
    offers: tuple[Offer, ...] = ()
    rules: tuple[StreamRule, ...] = ()
    consciousness_summary: ConsciousnessSummary = ConsciousnessSummary()
    text: str | None = None
    retrieval_latency_ms: float = 0.0
    query_count: int = 0
    timings: tuple[QueryTiming, ...] = ()
    stage_ms: dict[str, float] = Field(default_factory=dict)
    degraded: tuple[Degradation, ...] = ()
    notes: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    omitted: int = 0
    model_calls: tuple[ModelCall, ...] = ()
    state: CitizenState | None = None
    learned: LearnedFactors | None = None
    token_counts: TokenCounts | None = None


class ConsciousnessStream(StreamFrame):
    """The answer to a citizen (003, component 4).

    A field that is null is left out, and of a memory, a link, a node or an edge each optional field that has its
    default. A section that `parts` does not name is left out.

    `stream_id` is the service's own: under it the stream can be asked again; `intention_id` is the asker's.

    `answer_confidence` is the probability, in [0, 1], that the memories found answer the question; a waking, which
    asks nothing, has none. `nothing_fits`: it is so low that the focus holds at most standing instructions.

    `energy_feedback_potential` in [0, 1] says how much energy the links might re-activate; with `explain`,
    `energy_shares` gives the part of each link. `relative_potential` is the share, in [0, 1], of the most that
    these very links could give: above 0.5 they wake, below they calm; 0.5 without links that tell of work.
    `energy_feedback` is what it did to the citizen's own energy, if requested. `citizen_energy`, that energy, and
    `rules`, those in force, are read for the compact form, and where `parts` names `energy` or `rules`.

    `text` is the compact form, which is sent as a `ReferencedStream`.

    `degraded` names queries that failed or were late, whose results are missing, and as `fields` the fields that
    cannot be shown. `notes` says what was assumed or left out. `omitted` counts memories that stand nowhere: they
    did not fit; energy, dissonances, metadata report, summary, paths, hubs, themes and density include them.
    `model_calls` lists the calls of a language model. `state` is the state that a waking began with, with the
    memories from which what was neither given nor kept was derived; a question has none. With `explain`, `learned`
    is what the feedback of the citizen did to its question. `offers`: a few open offers of upkeep, in the waking
    of a citizen now. `token_counts`: what the stream costs.
    """

    form: Literal["full"] = "full"
    levels: dict[str, ConsciousnessLevelResults] = Field(default_factory=dict)
    activation_tiers: ActivationTiers = ActivationTiers()
    traversal_graph: TraversalGraph = TraversalGraph()
