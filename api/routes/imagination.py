"""Imagination: what came of an action before, predictions that are kept, and how right they were."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from api.dependencies import Now, OpenRuntime
from api.request_parsing.strict_json import StrictRoute
from api.security.mind_permissions import IMAGINATION
from api.security.permissions import citizen_may, requires
from orchestration.features.imagination import flow as imagining
from orchestration.features.imagination import predictions
from orchestration.features.imagination.values import (
    Calibration,
    Imagination,
    Imagine,
    PredictionPage,
    PredictionQuery,
)
from schemas.base import CitizenId

router = APIRouter(prefix="/v1", tags=["mind"], route_class=StrictRoute)


@router.post("/imagine", operation_id="imagine")
@requires(IMAGINATION)
async def imagine(request: Imagine, runtime: OpenRuntime, now: Now) -> Imagination:
    """What came of an action before: results and feelings of the past contexts that are most like it (002).

    With `keep` the prediction is kept, and a context with `outcome_of` says what came of it.
    """
    return await imagining.imagine(request, runtime.deps, now)


@router.get("/citizens/{citizen_id}/predictions", operation_id="list_predictions")
@requires(citizen_may("read"))
async def list_predictions(
    citizen_id: CitizenId, query: Annotated[PredictionQuery, Query()], runtime: OpenRuntime
) -> PredictionPage:
    """The kept predictions of a citizen and what came of them, the newest first; `open` for those without."""
    return await predictions.list_predictions(citizen_id, query, runtime.deps)


@router.get("/citizens/{citizen_id}/calibration", operation_id="get_calibration")
@requires(citizen_may("read"))
async def calibration(citizen_id: CitizenId, runtime: OpenRuntime) -> Calibration:
    """How right the kept predictions were: the Brier score, over time and by bins of shares."""
    return await predictions.read_calibration(citizen_id, runtime.deps)
