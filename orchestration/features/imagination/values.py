"""Imagination: what came of an action before; predictions that are kept, and how right they were (002)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from schemas.base import AtMost, CitizenId, Flag, Frozen, Name
from schemas.collectives import AsksGraphs
from schemas.intention import ALL_LEVELS, Levels, check_not_blank
from schemas.memory import Level
from schemas.mind.state import CalibrationScore
from schemas.paging import Paged
from schemas.temporal import AskedMoment, KnownMoment


class Imagine(AsksGraphs):
    """What came of `action` before? `nodes` are names or ids, `emotion` is what the citizen feels now.

    With `keep` the prediction is kept under an id, and a context with `outcome_of` says what came of it.
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"citizen_id": "kai", "action": "show Egor the plan", "nodes": ["Egor"]}]}
    )

    citizen_id: CitizenId
    action: Annotated[Name, AfterValidator(check_not_blank)]
    nodes: Annotated[tuple[Name, ...], AtMost(64)] = ()
    emotion: Name | None = None
    query_levels: Levels = ALL_LEVELS
    as_of_time: AskedMoment | None = None
    known_at: KnownMoment | None = None
    keep: Flag = False


class PastCase(Frozen):
    """A past context: what was done, what came of it, and how much it counts.

    `result` is the stored one; where none is stored, what the state of its work or the next turn of the other side
    says. `weight`, in (0, 1]: 1 for a case as near as the nearest one and of today.
    """

    memory_id: str
    level: Level
    name: str
    description: str
    valid_at: datetime
    result: str | None = None
    emotion: str | None = None
    rule: str | None = None
    resonance: float
    weight: float


class Imagination(Frozen):
    """What came of an action before.

    `cases`: how many past contexts with a known result count, `evidence`: as how many equally near and recent ones
    they count. Below `needed` that is too few to say: `enough` is false, and both distributions are empty.
    `results` and `emotions` are shares that add up to 1, the largest first; `usual` is the share of results among
    all past contexts that resonate at all, to which few cases are drawn. `nearest`: up to three.
    """

    citizen_id: CitizenId
    action: str
    enough: bool
    cases: int = 0
    evidence: float = 0.0
    needed: float
    results: dict[str, float] = Field(default_factory=dict)
    emotions: dict[str, float] = Field(default_factory=dict)
    usual: dict[str, float] = Field(default_factory=dict)
    nearest: tuple[PastCase, ...] = ()
    prediction_id: str | None = None
    notes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


class Prediction(Frozen):
    """A kept prediction, and what came of it: `result` and `emotion` of the context that answered it, if any.

    `brier` compares the two, in [0, 2]: 0 for a certain and right prediction. Null while nothing came of it, and
    where there was too little to say.
    """

    prediction_id: str
    made_at: datetime
    action: str
    nodes: tuple[str, ...] = ()
    feeling: str | None = None
    enough: bool
    results: dict[str, float] = Field(default_factory=dict)
    emotions: dict[str, float] = Field(default_factory=dict)
    answered_at: datetime | None = None
    context_id: str | None = None
    result: str | None = None
    emotion: str | None = None
    brier: float | None = None


class PredictionQuery(Paged):
    """Which predictions: with `open` only those that nothing answered yet."""

    open: bool = False


class PredictionPage(Frozen):
    """Kept predictions of a citizen, the newest first; `next` is the cursor of the next page."""

    citizen_id: CitizenId
    predictions: tuple[Prediction, ...] = ()
    next: str | None = None


class ReliabilityBin(Frozen):
    """All shares from `from_share` to `to_share` that predictions gave to a result.

    `predicted` is their mean, `happened` how often the result came.
    """

    from_share: float
    to_share: float
    count: int
    predicted: float
    happened: float


class CalibrationPeriod(Frozen):
    """The predictions answered in one month, `month` as 2026-01, and their mean Brier score."""

    month: str
    answered: int
    brier: float


class Calibration(CalibrationScore):
    """How right the kept predictions of a citizen were, as the score of Brier (1950) over all results.

    `kept` predictions in all, `waiting` without an outcome, `unsaid`: answered, but there was too little to say.
    """

    citizen_id: CitizenId
    kept: int = 0
    waiting: int = 0
    unsaid: int = 0
    reliability: tuple[ReliabilityBin, ...] = ()
    over_time: tuple[CalibrationPeriod, ...] = ()
