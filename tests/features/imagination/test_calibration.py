"""How right kept predictions were."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.imagination.formulas import brier, calibrate, score
from orchestration.features.imagination.values import Prediction

NOW = datetime(2026, 1, 10, tzinfo=UTC)
shares = st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3).map(
    lambda drawn: dict(zip(("a", "b", "c"), (one / sum(drawn) for one in drawn), strict=True))
)


def a_prediction(results: dict[str, float], result: str | None, at: datetime | None = NOW) -> Prediction:
    return Prediction(
        prediction_id="p",
        made_at=NOW,
        action="wait",
        enough=bool(results),
        results=results,
        answered_at=at if result else None,
        result=result,
    )


def test_the_score_is_that_of_brier() -> None:
    assert brier({"rain": 0.7, "dry": 0.3}, "rain") == pytest.approx(0.18)
    assert brier({"rain": 1.0}, "rain") == 0.0
    assert brier({"rain": 1.0}, "snow") == 2.0


@given(shares, st.sampled_from("abc"))
def test_the_score_lies_between_0_and_2(told: dict[str, float], result: str) -> None:
    assert 0.0 <= brier(told, result) <= 2.0


@given(shares, shares)
def test_telling_the_truth_scores_best_in_the_mean(truth: dict[str, float], told: dict[str, float]) -> None:
    def mean(said: dict[str, float]) -> float:
        return sum(rate * brier(said, name) for name, rate in truth.items())

    assert mean(truth) <= mean(told) + 1e-9


def test_what_was_not_answered_or_not_said_has_no_score() -> None:
    assert score(a_prediction({"positive": 1.0}, None)) is None
    assert score(a_prediction({}, "positive")) is None
    assert score(a_prediction({"positive": 0.5, "negative": 0.5}, "positive")) == 0.5


def test_a_calibration_counts_scores_and_bins_the_predictions() -> None:
    kept = [
        a_prediction({"positive": 0.9, "negative": 0.1}, "positive"),
        a_prediction({"positive": 0.9, "negative": 0.1}, "negative", datetime(2026, 2, 1, tzinfo=UTC)),
        a_prediction({"positive": 0.9, "negative": 0.1}, None),
        a_prediction({}, "positive"),
    ]
    found = calibrate("kai", kept)
    assert (found.kept, found.answered, found.waiting, found.unsaid) == (4, 2, 1, 1)
    assert found.brier == pytest.approx((0.02 + 1.62) / 2)
    assert found.usual_brier == 0.5
    low, high = found.reliability
    assert (low.from_share, low.count, low.predicted, low.happened) == (0.0, 2, 0.1, 0.5)
    assert (high.to_share, high.count, high.predicted, high.happened) == (1.0, 2, 0.9, 0.5)
    assert [(one.month, one.brier) for one in found.over_time] == [("2026-01", 0.02), ("2026-02", 1.62)]


def test_without_predictions_there_is_no_score() -> None:
    found = calibrate("kai", [])
    assert (found.kept, found.brier, found.usual_brier, found.reliability) == (0, None, None, ())
