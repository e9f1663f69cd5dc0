"""Wave signals, and the memories that resonate with them (000, 002)."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from schemas.base import (
    AtMost,
    CitizenId,
    Flag,
    Frozen,
    Identifier,
    Name,
    RelationType,
    Request,
    ShortText,
    Text,
    Unit,
    Whole,
    rewrite_map_schema,
)
from schemas.collectives import AsksGraphs
from schemas.intention import ALL_LEVELS, Filtered, Plural, Rerank
from schemas.language_model import ModelCall
from schemas.memory import Abstraction, ConsciousnessNode, Level
from schemas.temporal import AskedMoment, KnownMoment, Moment

Channel = Literal[
    "nodes", "relations", "emotion", "result", "likeness", "words", "beside", "importance", "recency"
]
CHANNELS: tuple[Channel, ...] = get_args(Channel)
WORKING_MEMORY = 7
"""The number of memories that reach the agents (002, retrieval pipeline)."""
MAX_WINDOW = 256
MAX_WINDOW_TEXT = 100_000
EMPTY_SIGNAL = "the signal is empty; give it nodes, relations, an emotion, a result, a query, a window or a focus"
LONGEST_TYPE = 1000
"""The most characters of a relation type before it is normalized."""

Weight = Annotated[float, Field(strict=True, ge=0.0, le=1e6, allow_inf_nan=False)]


def normalize_relation_type(text: Any) -> Any:
    """The stored form of a relation type: `was criticized` becomes `WAS_CRITICIZED`."""
    if not isinstance(text, str) or len(text) > LONGEST_TYPE:
        return text
    return re.sub(r"[^A-Z0-9]+", "_", text.strip().upper()).strip("_")


def parse_relation(raw: Any) -> Any:
    if not isinstance(raw, str):
        return raw
    parts = [part.strip() or None for part in raw.split("|", 3)]
    if len(parts) == 1:
        return {"relation_type": parts[0] or ""}
    if len(parts) != 3:
        raise ValueError("write a relation as `TYPE` or as `source|TYPE|target`")
    return {"source": parts[0], "relation_type": parts[1] or "", "target": parts[2]}


def _check_direction(numbers: tuple[float, ...]) -> tuple[float, ...]:
    if not any(numbers) or not math.isfinite(sum(number * number for number in numbers)):
        raise ValueError("an embedding of zeros, or of too large numbers, has no direction")
    return numbers


class Weights(Request):
    """The weight of each channel. 002 weighs its channels equally; recency has 0.2 from 000, and importance the
    same, because both count for every memory, whatever the signal. Words and what stands beside a memory only
    complete likeness, and have half its weight.
    """

    nodes: Weight = 1.0
    relations: Weight = 1.0
    emotion: Weight = 1.0
    result: Weight = 1.0
    likeness: Weight = 1.0
    words: Weight = 0.5
    beside: Weight = 0.5
    importance: Weight = 0.2
    recency: Weight = 0.2

    @model_validator(mode="after")
    def _check_any_weight(self) -> Self:
        if not any(getattr(self, channel) for channel in CHANNELS):
            raise ValueError("all weights are zero: give at least one channel a weight")
        return self


class Relation(Request):
    """A typed triple; an end left out matches anything. Ends are names or ids."""

    relation_type: Annotated[RelationType, BeforeValidator(normalize_relation_type)]
    source: Name | None = None
    target: Name | None = None


class WindowItem(Request):
    """An item that the citizen sees: a memory, a text, or both. `shown_at` defaults to now."""

    id: Identifier | None = None
    text: Text | None = None
    shown_at: Moment | None = None

    @model_validator(mode="before")
    @classmethod
    def _wrap_plain_text(cls, raw: Any) -> Any:
        return {"text": raw} if isinstance(raw, str) else raw

    @model_validator(mode="after")
    def _check_id_or_text(self) -> Self:
        if self.id is None and self.text is None:
            raise ValueError("an item of the window has an id, a text, or both")
        return self


class WaveSignal(Request):
    """A signal (002), complete or to be built.

    `nodes` are names or ids. `intensity` scales the weight of emotion. `max_level` is the highest abstraction of
    the answer. `drive_bias` overrides the stored satisfaction of drives, 0 to 1. With a `window` or a `focus`,
    fields left out are read from those texts and from the state of the citizen.

    A signal without any of these is that of the citizen's state: its kept window, senses and focus stand for those
    of the request.
    """

    nodes: Annotated[tuple[Name, ...], AtMost(64)] = ()
    relations: Annotated[
        tuple[Annotated[Relation, BeforeValidator(parse_relation)], ...], Field(fail_fast=True), AtMost(32)
    ] = ()
    emotion: Name | None = None
    intensity: Unit | None = None
    result: Name | None = None
    max_level: Annotated[Abstraction, BeforeValidator(lambda raw: f"L{raw}" if type(raw) is int else raw)] = "L3"
    drive_bias: Annotated[dict[ShortText, Unit], AtMost(64), Field(json_schema_extra=rewrite_map_schema)] = Field(
        default_factory=dict
    )
    query_text: Annotated[Text, Field(max_length=20_000)] | None = None
    query_embedding: (
        Annotated[
            tuple[Annotated[float, Field(strict=True, allow_inf_nan=False)], ...],
            Field(min_length=1, fail_fast=True),
            AtMost(4096),
            AfterValidator(_check_direction),
        ]
        | None
    ) = None
    window: Annotated[tuple[WindowItem, ...], Field(fail_fast=True), AtMost(MAX_WINDOW)] = ()
    focus: Annotated[Text, Field(max_length=20_000)] | None = None
    weights: Weights = Field(default_factory=Weights)

    @property
    def needs_signal(self) -> bool:
        """True when a signal that says nothing is refused."""
        return True

    @property
    def built(self) -> bool:
        """True when fields left out are read from a window, a focus or the state."""
        return bool(self.window or self.focus) or self.asks_nothing

    @property
    def asks_nothing(self) -> bool:
        """True when neither a signal nor a window was given: the state is asked."""
        return not any((*self._values(), self.query_text, self.focus, self.window))

    def _values(self) -> tuple[Any, ...]:
        return (self.nodes, self.relations, self.emotion, self.result, self.drive_bias, self.query_embedding)

    @model_validator(mode="after")
    def _check_says_something(self) -> Self:
        if not self.needs_signal:
            return self
        texts = (self.query_text, self.focus, *(item.id or item.text for item in self.window))
        if not self.asks_nothing and not any(self._values()) and not any(text and text.strip() for text in texts):
            raise ValueError(EMPTY_SIGNAL)
        if sum(len(item.text or "") for item in self.window) > MAX_WINDOW_TEXT:
            raise ValueError(
                f"the texts of the window have more than {MAX_WINDOW_TEXT} characters; send the latest"
            )
        return self


class Resonate(WaveSignal, Plural, Filtered, AsksGraphs):
    """A signal to the memory of a citizen at a moment.

    `overlap`: the node channel divides by the nodes of the signal (002) or of the memory (000). With `plurality`,
    recency halves after its half-life instead of a day, and importance has its floor.

    `suppress_recent`: what became true within the last 24 hours resonates less, as what the window shows does: an
    echo of the present is no memory. `rerank` reorders the best, as for a question: `mmr` by different words,
    `rrf` by the ranks in each channel, `llm` by the language model, `custom` by the reranker of the service.

    `by: shape` sends no signal: it finds memories around which the same happened as around the memory `id`, in
    other words (docs/rules.md).
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"citizen_id": "kai", "nodes": ["Kai", "Egor"], "emotion": "loneliness"}]}
    )

    citizen_id: CitizenId
    by: Literal["signal", "shape"] = "signal"
    id: Identifier | None = Field(default=None, description="With `by: shape`, the memory whose shape is sought.")
    overlap: Literal["signal", "memory"] = "signal"
    as_of_time: AskedMoment | None = None
    known_at: KnownMoment | None = None
    query_levels: Annotated[tuple[Level, ...], Field(min_length=1), AtMost(16)] = ALL_LEVELS
    max_results_per_level: Annotated[Whole, Field(ge=1, le=100)] = WORKING_MEMORY
    suppress_recent: Flag = True
    rerank: Rerank | None = None

    @property
    def needs_signal(self) -> bool:
        """True unless shapes are compared."""
        return self.by == "signal"

    @model_validator(mode="after")
    def _check_probe(self) -> Self:
        if self.by == "signal":
            if self.id is not None:
                raise ValueError("`id` names the memory whose shape is sought: send it with `by: shape`")
            return self
        if self.id is None:
            raise ValueError("`by: shape` needs the `id` of a memory whose shape is sought")
        usual = type(self).defaults()
        given = {name for name in self.model_fields_set - _OF_A_SHAPE if getattr(self, name) != usual[name]}
        if given:
            raise ValueError(f"`by: shape` takes no {', '.join(sorted(given))}: it sends no signal")
        return self


_OF_A_SHAPE = frozenset(
    ("citizen_id", "by", "id", "as_of_time", "known_at", "query_levels", "collectives", "max_results_per_level",
     "filters")
)  # fmt: skip


class SentSignal(Frozen):
    """The signal that was sent: the fields given, those read from texts, and those added by drives."""

    nodes: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    emotion: str | None = None
    intensity: float = 1.0
    result: str | None = None
    max_level: Abstraction = "L3"
    drives: tuple[str, ...] = Field(default=(), description="Drives below a satisfaction of 0.3, which take part.")


class ContextNode(Frozen):
    """An entity with which a memory is linked."""

    node_id: str
    name: str


class ContextEdge(Frozen):
    """A link of a memory, or one that it states between others; `source` and `target` are names."""

    relation_type: str
    source_id: str
    source: str
    target_id: str
    target: str


class Resonance(Frozen):
    """One memory that resonates, with its `nodes` and `edges` (002: a context).

    Each channel lies in [0, 1]. `total` is their weighted sum (000), `resonance` the total as a share of all
    weights × `suppression` × `level_boost` (002), in [0, 1.15]. `nodes`, at most 32, by id; `edges`, at most 64.
    """

    memory: ConsciousnessNode
    resonance: float
    total: float
    channels: dict[Channel, float]
    suppression: float
    level_boost: float
    nodes: tuple[ContextNode, ...] = ()
    edges: tuple[ContextEdge, ...] = ()
    shared: tuple[str, ...] = Field(
        default=(), description="By shape: what the two shapes share, that which weighs most first."
    )


class Resonances(Frozen):
    """The memories that resonate at each level: the strongest first, then the strongest that differ from those
    before.

    `weights` are those used: 0 for a channel that the signal does not fill; none by shape, where `resonance` and
    `total` are the cosine of the two shapes. `rules`: the rules of the memories
    shown, each once, in their order (002: the active rules). `model_calls`: those that `rerank` made.
    """

    citizen_id: str
    signal: SentSignal
    weights: dict[Channel, float]
    levels: dict[str, tuple[Resonance, ...]]
    rules: tuple[str, ...] = ()
    model_calls: tuple[ModelCall, ...] = ()
    notes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
