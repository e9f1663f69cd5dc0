"""How right kept predictions were: the score of Brier (1950) over all results, and reliable shares. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final

from orchestration.features.imagination.values import Calibration, CalibrationPeriod, Prediction, ReliabilityBin

BINS: Final = 5
"""Shares are compared in so many bins of equal width."""


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
    return Calibration(
        citizen_id=citizen_id,
        kept=len(predictions),
        waiting=len(predictions) - len(answered),
        unsaid=len(answered) - len(said),
        answered=len(said),
        brier=round(fmean(scores), 4) if scores else None,
        usual_brier=round(usual, 4) if said else None,
        reliability=_reliability(said),
        over_time=_over_time(said, scores),
    )


def _reliability(said: Sequence[Prediction]) -> tuple[ReliabilityBin, ...]:
    bins: defaultdict[int, list[tuple[float, bool]]] = defaultdict(list)
    for one in said:
        for result, share in one.results.items():
            bins[min(BINS - 1, int(share * BINS))].append((share, result == one.result))
    found: list[ReliabilityBin] = []
    for place, told in sorted(bins.items()):
        shares, came = zip(*told, strict=True)
        predicted, happened = round(fmean(shares), 4), round(fmean(came), 4)
        ends = {"from_share": place / BINS, "to_share": (place + 1) / BINS}
        found.append(ReliabilityBin(**ends, count=len(told), predicted=predicted, happened=happened))
    return tuple(found)


def _over_time(said: Sequence[Prediction], scores: Sequence[float]) -> tuple[CalibrationPeriod, ...]:
    months: defaultdict[str, list[float]] = defaultdict(list)
    for one, value in zip(said, scores, strict=True):
        if one.answered_at is not None:
            months[f"{one.answered_at:%Y-%m}"].append(value)
    return tuple(
        CalibrationPeriod(month=month, answered=len(values), brier=round(fmean(values), 4))
        for month, values in sorted(months.items())
    )
