"""What came of an action before, and how right predictions were: shares of results and feelings (002). Pure.

A kernel estimate (Nadaraya 1964, Watson 1964) over past cases, by nearness and age, drawn to what is usual by
pseudo-counts. Predictions are rated by the score of Brier (1950) over all results.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Final, NamedTuple

from orchestration.features.imagination.values import Calibration, CalibrationPeriod, Prediction, ReliabilityBin
from schemas.memory import ConsciousnessNode, ResolutionState
from schemas.temporal import Instant, to_instant
from schemas.wave_signal import Channel
from substrate.emotions import normal_emotions

NEIGHBOURS: Final = 32
"""At most this many cases count, the heaviest."""
LIKE_ENOUGH: Final = 0.3
"""Cosine, or share of the action's words, from which a past context is a case of the action at all."""
SHARES: Final[Mapping[Channel, float]] = {"likeness": 2.0, "nodes": 1.0, "emotion": 1.0}
"""How much each channel of a resonance counts for nearness: the action itself before what surrounds it."""
BREADTH: Final = 0.1
"""A case that is by so much less near than the nearest weighs 1/e of it."""
HALF_LIFE_DAYS: Final = 90.0
"""A case so old counts half: the world that it tells of changes."""
USUAL_CASES: Final = 1.0
"""What is usual counts like this many cases of today."""
NEEDED: Final = 3.0
"""Below so much evidence it is too few to say."""
NEAREST: Final = 3
_DAY: Final = 86_400_000_000

OUTCOMES: Final[Mapping[ResolutionState, str]] = {
    ResolutionState.RESOLVED: "positive",
    ResolutionState.BLOCKED: "negative",
}
"""What the state of finished or stuck work says came of it, where no result is stored."""


class Case(NamedTuple):
    """A past context that resonates. `nearness` and `likeness` in [0, 1], `age` in days."""

    nearness: float
    likeness: float
    age: float
    result: str | None
    emotions: Mapping[str, float]


class WeighedCase(NamedTuple):
    """A case by its place in the list that was given, and its weight in (0, 1]."""

    place: int
    weight: float


class Experience(NamedTuple):
    """What came of it before: `known` cases with a result, and as how many equal ones they count (`evidence`)."""

    known: int
    evidence: float
    results: dict[str, float]
    emotions: dict[str, float]
    usual: dict[str, float]
    weighed: tuple[WeighedCase, ...]

    @property
    def enough(self) -> bool:
        return self.evidence >= NEEDED


def nearness(channels: Mapping[Channel, float], likeness: float, filled: Iterable[Channel]) -> float:
    """How near a context is, in [0, 1]: the mean of the filled channels by `SHARES`, with this likeness."""
    scores = {**channels, "likeness": likeness}
    counted = {channel: SHARES[channel] for channel in ("likeness", *filled) if channel in SHARES}
    return sum(share * scores.get(channel, 0.0) for channel, share in counted.items()) / sum(counted.values())


def outcome_of(memory: ConsciousnessNode, *, solved: bool = False, replied: str | None = None) -> str | None:
    """What came of a context: its result, else what the state of its work says, else that something solved it,
    else what was `replied` to it."""
    told = (memory.result or "").strip().lower()
    if told:
        return told
    state = ResolutionState.RESOLVED if solved and memory.resolution_state is None else memory.resolution_state
    return replied if state is None else OUTCOMES.get(state, replied)


def age_of(memory: ConsciousnessNode, moment: Instant) -> float:
    """Days from the beginning of a context to the moment of the question; 0 for one that begins later."""
    return max(0, moment - to_instant(memory.valid_at)) / _DAY


def recency(age: float) -> float:
    """The share of its weight that a case of this age keeps, in (0, 1]."""
    return math.exp2(-age / HALF_LIFE_DAYS)


def imagine(cases: Sequence[Case]) -> Experience:
    """The shares of results and feelings over the cases of an action.

    Each weighs exp((nearness − nearest) / BREADTH) × recency. A share of a result is
    (weight with it + USUAL_CASES × its usual share) / (weight of all + USUAL_CASES).
    """
    weighed = weigh(cases)
    known = [one for one in weighed if cases[one.place].result is not None]
    usual = _shares((case.result, recency(case.age)) for case in cases if case.result is not None)
    counted = evidence([one.weight for one in known])
    drawn = [(cases[one.place].result, one.weight) for one in known]
    drawn += [(result, USUAL_CASES * share) for result, share in usual.items()]
    felt: list[tuple[str | None, float]] = []
    for one in weighed:  # each case gives its weight to its feelings by their strengths
        emotions = normal_emotions(cases[one.place].emotions)
        whole = sum(emotions.values())
        felt += [(name, one.weight * strength / whole) for name, strength in emotions.items() if strength > 0.0]
    enough = counted >= NEEDED
    return Experience(
        known=len(known),
        evidence=counted,
        results=_shares(drawn) if enough else {},
        emotions=_shares(felt) if enough else {},
        usual=usual,
        weighed=weighed,
    )


def weigh(cases: Sequence[Case]) -> tuple[WeighedCase, ...]:
    """The cases that are like the action, heaviest first, at most `NEIGHBOURS`; those with a result come first."""
    like = [place for place, case in enumerate(cases) if case.likeness >= LIKE_ENOUGH]
    if not like:
        return ()
    nearest = max(cases[place].nearness for place in like)
    weights = {
        place: math.exp((cases[place].nearness - nearest) / BREADTH) * recency(cases[place].age) for place in like
    }
    ordered = sorted(like, key=lambda place: (cases[place].result is None, -weights[place], place))
    return tuple(WeighedCase(place, weights[place]) for place in ordered[:NEIGHBOURS])


def evidence(weights: Sequence[float]) -> float:
    """As how many equal cases weighed ones count: (Σw)² / Σw² (Kish 1965)."""
    squares = sum(weight * weight for weight in weights)
    return sum(weights) ** 2 / squares if squares > 0.0 else 0.0


def _shares(amounts: Iterable[tuple[str | None, float]]) -> dict[str, float]:
    """Amounts added up by name as shares of the whole, the largest first."""
    sums: defaultdict[str, float] = defaultdict(float)
    for name, amount in amounts:
        if name is not None:
            sums[name] += amount
    whole = sum(sums.values())
    if whole <= 0.0:
        return {}
    ordered = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    return {name: round(amount / whole, 4) for name, amount in ordered}


BINS: Final = 5
"""Shares are compared in this many bins of equal width."""


def brier(shares: Mapping[str, float], result: str) -> float:
    """The sum over all results of (share − whether it came)², in [0, 2]; an unforeseen result has the share 0."""
    return sum((shares.get(name, 0.0) - (name == result)) ** 2 for name in {*shares, result})


def score(prediction: Prediction) -> float | None:
    """The Brier score of a prediction; None while it has no outcome, and where there was too little to say."""
    if prediction.result is None or not prediction.results:
        return None
    return round(brier(prediction.results, prediction.result), 4)


def calibrate(citizen_id: str, predictions: Sequence[Prediction]) -> Calibration:
    """How right the predictions of a citizen were."""
    answered = [one for one in predictions if one.result is not None]
    said = [one for one in answered if one.results]
    scores = [brier(one.results, str(one.result)) for one in said]
    times = Counter(str(one.result) for one in said)
    usual = 1.0 - sum((count / len(said)) ** 2 for count in times.values())  # who always tells the frequencies
    bins: defaultdict[int, list[tuple[float, bool]]] = defaultdict(list)
    for one in said:
        for result, share in one.results.items():
            bins[min(BINS - 1, int(share * BINS))].append((share, result == one.result))
    found: list[ReliabilityBin] = []
    for place, told in sorted(bins.items()):
        shares, came = zip(*told, strict=True)
        ends = {"from_share": place / BINS, "to_share": (place + 1) / BINS}
        means = {"predicted": round(fmean(shares), 4), "happened": round(fmean(came), 4)}
        found.append(ReliabilityBin(**ends, count=len(told), **means))
    months: defaultdict[str, list[float]] = defaultdict(list)
    for one, value in zip(said, scores, strict=True):
        if one.answered_at is not None:
            months[f"{one.answered_at:%Y-%m}"].append(value)
    over_time: list[CalibrationPeriod] = []
    for month, values in sorted(months.items()):
        over_time.append(CalibrationPeriod(month=month, answered=len(values), brier=round(fmean(values), 4)))
    return Calibration(
        citizen_id=citizen_id,
        kept=len(predictions),
        waiting=len(predictions) - len(answered),
        unsaid=len(answered) - len(said),
        answered=len(said),
        brier=round(fmean(scores), 4) if scores else None,
        usual_brier=round(usual, 4) if said else None,
        reliability=tuple(found),
        over_time=tuple(over_time),
    )
