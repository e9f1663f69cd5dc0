"""What imagination adds to the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from orchestration.feature import Feature
from orchestration.features.imagination import flow
from orchestration.features.imagination.flow import answer_prediction, read_score, to_prediction
from orchestration.features.imagination.queries import UNANSWERED, forget_predictions_naming, prediction_of
from schemas.operation import Method, Operation, citizen_may, group
from schemas.temporal import Instant
from substrate.store.kept import Kept


def _as_known(properties: Mapping[str, Any], known_at: Instant) -> Mapping[str, Any] | None:
    """Without what came of it, where that was told later."""
    if properties["created_at"] > known_at:
        return None
    if (properties.get("answered_at") or 0) > known_at:
        return {name: properties[name] for name in UNANSWERED}
    return properties


ASKS: Final = citizen_may(
    "read", "citizen:ID:read; also :write with keep; LEVEL:read for N2 and N3", also="keep", narrows=True
)
OPERATIONS: Final = group(
    "mind",
    Operation("imagine", "POST /v1/imagine", "Imagine what comes of an action", ASKS, flow.imagine,
              call=Method(says="What came of an action before; with `keep` the prediction is kept, to be "
                               "compared with its outcome.", once="keep")),
    Operation("list_predictions", "GET /v1/citizens/{citizen_id}/predictions", "List kept predictions",
              citizen_may("read"), flow.list_predictions,
              call=Method("predictions", "The kept predictions and what came of them, the newest first.")),
    Operation("get_calibration", "GET /v1/citizens/{citizen_id}/calibration", "Read how right predictions were",
              citizen_may("read"), flow.read_calibration, call=Method("calibration")),
)  # fmt: skip
FEATURE: Final = Feature(
    "imagination", operations=OPERATIONS, sections={"calibration": read_score, "outcome": answer_prediction},
    kept=(Kept("Prediction", "predictions", forget_predictions_naming, is_carried=True, as_known=_as_known,
               check=lambda properties: to_prediction(prediction_of(properties))),),
)  # fmt: skip
