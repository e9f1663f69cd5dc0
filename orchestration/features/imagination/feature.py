"""What imagination adds to the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from orchestration.feature import Feature
from orchestration.features.imagination.operations import OPERATIONS
from orchestration.features.imagination.predictions import answer_prediction, read_score, shown
from orchestration.features.imagination.queries import UNANSWERED, forget_predictions_naming, prediction_of
from schemas.temporal import Instant
from substrate.store.kept import Kept


def _check(properties: Mapping[str, Any]) -> None:
    shown(prediction_of(properties))


def _as_known(properties: Mapping[str, Any], known_at: Instant) -> Mapping[str, Any] | None:
    """Without what came of it, where that was told later."""
    if properties["created_at"] > known_at:
        return None
    if (properties.get("answered_at") or 0) > known_at:
        return {name: properties[name] for name in UNANSWERED}
    return properties


FEATURE: Final = Feature(
    "imagination",
    operations=OPERATIONS,
    kept=(
        Kept(
            "Prediction",
            "predictions",
            forget_predictions_naming,
            is_carried=True,
            check=_check,
            as_known=_as_known,
        ),
    ),
    sections={"calibration": read_score, "outcome": answer_prediction},
)
