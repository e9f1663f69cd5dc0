"""The operations on imagination: what came of an action before, kept predictions, how right they were."""

from __future__ import annotations

from typing import Final

from orchestration.features.imagination import flow, predictions
from schemas.operation import Called, Operation, citizen_may, group

ASKS: Final = citizen_may(
    "read", "citizen:ID:read; also :write with keep; LEVEL:read for N2 and N3", also="keep", narrows=True
)
OPERATIONS: Final = group(
    "mind",
    Operation("imagine", "POST /v1/imagine", "Imagine what comes of an action", ASKS, flow.imagine,
              call=Called(says="What came of an action before; with `keep` the prediction is kept, to be "
                               "compared with its outcome.", once="keep")),
    Operation("list_predictions", "GET /v1/citizens/{citizen_id}/predictions", "List kept predictions",
              citizen_may("read"), predictions.list_predictions,
              call=Called("predictions", "The kept predictions and what came of them, the newest first.")),
    Operation("get_calibration", "GET /v1/citizens/{citizen_id}/calibration", "Read how right predictions were",
              citizen_may("read"), predictions.read_calibration, call=Called("calibration")),
)  # fmt: skip
