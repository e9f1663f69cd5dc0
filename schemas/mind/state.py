"""The state of a citizen: what it feels and wants, and since when."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, TypeAdapter, model_validator

from schemas.base import (
    AtMost,
    CitizenId,
    Emotions,
    Frozen,
    Name,
    Request,
    ShortText,
    Unit,
    rewrite_map_schema,
)
from schemas.memory import Source
from schemas.temporal import Moment
from schemas.wave_signal import CHANNELS, Channel, WindowItem

Factor = Annotated[float, Field(strict=True, ge=0.0, le=100.0, allow_inf_nan=False)]


MOST_SHOWN = 64
"""The most items of a kept window."""
LONGEST_SHOWN = 20_000
"""The most characters that the texts of a kept window have together."""


class Drive(Request):
    """A drive of a citizen: its satisfaction, its nodes, and its effect on channels.

    Below a satisfaction of 0.3 its nodes are added to every signal that is built (002), and `bias` multiplies the
    weights of channels (000).
    """

    satisfaction: Unit = 1.0
    nodes: Annotated[tuple[Name, ...], AtMost(32)] = ()
    bias: Annotated[dict[Channel, Factor], AtMost(len(CHANNELS))] = Field(default_factory=dict)


Drives = Annotated[dict[Name, Drive], AtMost(64), Field(json_schema_extra=rewrite_map_schema)]


def _keep_window(items: tuple[WindowItem, ...]) -> tuple[WindowItem, ...]:
    """A memory is kept by its id alone: its words are read when they are needed, and erased with it."""
    kept = [WindowItem(id=item.id, shown_at=item.shown_at) if item.id is not None else item for item in items]
    if sum(len(item.text or "") for item in kept) > LONGEST_SHOWN:
        raise ValueError(f"the texts of the window have more than {LONGEST_SHOWN} characters; keep the latest")
    last = {item.id: place for place, item in enumerate(kept) if item.id is not None}
    return tuple(item for place, item in enumerate(kept) if item.id is None or last[item.id] == place)


KeptWindow = Annotated[
    tuple[WindowItem, ...], Field(fail_fast=True), AtMost(MOST_SHOWN), AfterValidator(_keep_window)
]
"""What a citizen saw in a cycle: memories by id, each once, where it was shown last, and texts."""


class Sense(Request):
    """What a citizen senses: a text, a strength, or both. A text or a number alone stands for either."""

    text: ShortText | None = None
    intensity: Unit = 1.0

    @model_validator(mode="before")
    @classmethod
    def _wrap_plain(cls, raw: Any) -> Any:
        if isinstance(raw, str):
            return {"text": raw}
        return {"intensity": raw} if isinstance(raw, int | float) and not isinstance(raw, bool) else raw


def _rewrite_senses_schema(schema: dict[str, Any]) -> None:
    """Say that a text or a number alone stands for a sense, too."""
    rewrite_map_schema(schema)
    alone = [TypeAdapter(kind).json_schema() for kind in (ShortText, Unit)]
    schema["additionalProperties"] = {"anyOf": [schema["additionalProperties"], *alone]}


Senses = Annotated[dict[Name, Sense], AtMost(32), Field(json_schema_extra=_rewrite_senses_schema)]


def is_pain(sense: str) -> bool:
    """Whether the sense of this name is pain (002)."""
    return sense.strip().lower() == "pain"


class Felt(Frozen):
    """The content of a state. The defaults are the state of a citizen that has none.

    `window` and `focus` are what the citizen saw and thought of in its last cycle, which ended at `last_cycle_at`;
    `senses`: what it senses, by name; `pain` is one of them (002).
    `reality_pressure`, in [0, 1]: how much presses from outside, where the citizen said so; null where it did not,
    and then what is due says it.
    """

    energy: float = 0.5
    emotion_vector: dict[str, float] = Field(default_factory=dict)
    goal: str | None = None
    drives: dict[str, Drive] = Field(default_factory=dict)
    window: tuple[WindowItem, ...] = ()
    focus: str | None = None
    senses: dict[str, Sense] = Field(default_factory=dict)
    last_cycle_at: datetime | None = None
    reality_pressure: float | None = None
    last_stream_id: str | None = None

    @property
    def pain(self) -> float:
        """How strong the sense `pain` is, in [0, 1]; 0 without one."""
        return max((sense.intensity for name, sense in self.senses.items() if is_pain(name)), default=0.0)


class StateSource(Frozen):
    """Where a derived part of a state comes from: the memories `memory_ids`, newest first.

    `name`: the emotion, the goal, or `energy`. `amount`, in [0, 1]: the derived value of an emotion or of energy;
    of a goal, how present it is. Open goals that did not become the goal of the state have a source too.
    """

    field: Literal["emotion_vector", "energy", "goal"]
    name: str
    amount: float
    memory_ids: tuple[str, ...]


class StateWriter(Frozen):
    """Whose word a field of a state is: source and key of the change that set it, when it was sent (`at`), and the
    version of the state `over` which (0: the default).

    A `quarantine` had the field say again what this writer said, in place of what the version `held` says.
    """

    source: Source | None = None
    key_id: str | None = None
    at: datetime | None = None
    over: int = 0
    quarantine: str | None = None
    held: int | None = None


class CitizenState(Felt):
    """The state at one moment: valid from `valid_at`, known since `updated_at`; both null when none was set.

    What nobody set is derived from the memories of the last days that say it: then `derived` is true, and
    `sources` names them. What no memory says has its default.

    `energy` is that of the moment. `baseline` is the ordinary energy to which it returns after feedback: the one
    that the citizen set, else the derived one; null where all of the state was given with a request.

    `writers`: by name of a field that was set, the source of that change.
    """

    citizen_id: CitizenId
    baseline: float | None = None
    valid_at: datetime | None = None
    updated_at: datetime | None = None
    derived: bool = False
    sources: tuple[StateSource, ...] = ()
    writers: dict[str, Source] = Field(default_factory=dict)


class CitizenPage(Frozen):
    """Ids of citizens of whom something is stored, in their order; `next` is the cursor of the next page."""

    citizens: tuple[str, ...]
    next: str | None = None


class CitizenUsage(Frozen):
    """What a citizen has, and its quotas, null where there is none."""

    citizen_id: CitizenId
    memories: int = Field(description="Also those that hold no longer, until they are erased.")
    links: int
    bytes: int = Field(description="About what they take in the engine; a graph is counted in whole mebibytes.")
    requests: int = Field(description="Requests about the citizen since this process of the service started.")
    most_memories: int | None = None
    most_bytes: int | None = None


class StateRecord(Felt):
    """One record of a state, as it was written, with its valid time and its transaction time; null: no end.

    `feedback_at`: when the feedback of a stream set the energy, which has been returning to the ordinary one since
    then; null where the citizen set it. `baseline`: what the citizen had set before that feedback. `writers`: by
    name of a field, who set it; feedback of a stream sets none.
    """

    version: int
    baseline: Unit | None = None
    feedback_at: datetime | None = None
    writers: dict[str, StateWriter] = Field(default_factory=dict)
    valid_at: datetime
    invalid_at: datetime | None = None
    created_at: datetime
    expired_at: datetime | None = None


class StateHistory(Frozen):
    """Records of a state in the order they became known; `next` is the cursor of the next page."""

    citizen_id: CitizenId
    records: tuple[StateRecord, ...]
    next: str | None = None


class EnergyPoint(Frozen):
    """The energy from `valid_at` on, as one record of the state has it, known from `created_at` on; null: no end.

    `stream_id` and `feedback_at`: the stream whose feedback set it, and when; null where the citizen set it, which
    `energy` null says that it did not. `baseline`: the ordinary energy that the citizen had set before the
    feedback.
    """

    version: int
    valid_at: datetime
    invalid_at: datetime | None = None
    created_at: datetime
    expired_at: datetime | None = None
    energy: float | None = None
    baseline: float | None = None
    stream_id: str | None = None
    feedback_at: datetime | None = None


class EnergySeries(Frozen):
    """The energy of a citizen `now`, its `ordinary` one, and a page of the records that set it.

    Between two records the energy returns from what feedback made of it to the ordinary one, half the way in 12
    hours.
    """

    citizen_id: CitizenId
    now: float
    ordinary: float
    points: tuple[EnergyPoint, ...]
    next: str | None = None


class StateChange(Request):
    """Fields to set; others stay, null clears one. `drives`, `senses` and `window` replace those kept.

    Saving a `window`, also an empty one, is the end of a cycle (002): `last_cycle_at` becomes `valid_at`. Its
    items were shown then, unless they say when. A memory in it is kept by its id.

    The energy that is set is the ordinary one from then on: it stays until a stream with feedback changes it, and
    returns to it afterwards.

    It is valid from `valid_at` (default: now) on, and replaces what was stored for that time. `source`: whose word
    it is, at most the highest that the key may claim.
    """

    energy: Unit | None = None
    emotion_vector: Emotions | None = None
    goal: ShortText | None = None
    drives: Drives | None = None
    window: KeptWindow | None = None
    focus: ShortText | None = None
    senses: Senses | None = None
    reality_pressure: Unit | None = None
    valid_at: Moment | None = None
    source: Source = Source.CITIZEN


class CalibrationScore(Frozen):
    """How right the predictions of a citizen were: the mean Brier score of those `answered`, in [0, 2].

    `usual_brier`: that of always telling how often each result came, known only afterwards. `brier` below it says
    that the predictions tell the cases apart.
    """

    answered: int = 0
    brier: float | None = None
    usual_brier: float | None = None
