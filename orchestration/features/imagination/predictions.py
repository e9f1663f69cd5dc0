"""Predictions that a citizen keeps: as they are stored, as they are shown, and how right they were."""

from __future__ import annotations

from typing import Any

from orchestration.dependencies import Deps
from orchestration.features.imagination import queries as store
from orchestration.features.imagination.formulas import calibrate, score
from orchestration.features.imagination.queries import Outcome, StoredPrediction
from orchestration.features.imagination.values import (
    Calibration,
    Imagination,
    Imagine,
    Prediction,
    PredictionPage,
    PredictionQuery,
)
from schemas.base import CitizenId
from schemas.errors import Conflict
from schemas.memory import Level
from schemas.mind.state import CalibrationScore
from schemas.paging import decode_cursor, encode_cursor
from schemas.temporal import AFTER_ALL, Instant, Scope, to_datetime
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name


def to_store(told: Imagination, request: Imagine, now: Instant) -> StoredPrediction:
    """An imagination as the prediction that is kept of it. Only what is told is kept, no case."""
    asked: dict[str, Any] = {"action": request.action, "nodes": list(request.nodes), "feeling": request.emotion}
    shares = {"enough": told.enough, "results": told.results, "emotions": told.emotions}
    return StoredPrediction(str(told.prediction_id), now, asked, shares)


def shown(kept: StoredPrediction) -> Prediction:
    """A prediction as the answer shows it. Raises pydantic's ValidationError for one that nobody can keep."""
    prediction = Prediction(
        prediction_id=kept.id,
        made_at=to_datetime(kept.created_at),
        **kept.asked,
        **kept.told,
        answered_at=None if kept.answered_at is None else to_datetime(kept.answered_at),
        context_id=kept.context_id,
        result=kept.result,
        emotion=kept.emotion,
    )
    return prediction.model_copy(update={"brier": score(prediction)})


async def list_predictions(citizen_id: CitizenId, query: PredictionQuery, deps: Deps) -> PredictionPage:
    """The kept predictions of a citizen and what came of them, the newest first; `open` for those without.

    Raises InvalidRequest for an invalid cursor.
    """
    before = None if query.cursor is None else decode_cursor(query.cursor, int, str)
    kept = [
        one
        for one in await _read(citizen_id, deps)
        if (before is None or (one.created_at, one.id) < before) and not (query.open and one.context_id)
    ]
    page = kept[: query.limit]
    more = len(kept) > len(page)
    return PredictionPage(
        citizen_id=citizen_id,
        predictions=tuple(map(shown, page)),
        next=encode_cursor(page[-1].created_at, page[-1].id) if more else None,
    )


async def read_calibration(citizen_id: CitizenId, deps: Deps) -> Calibration:
    """How right the kept predictions were: the Brier score, over time and by bins of shares."""
    return calibrate(citizen_id, list(map(shown, await _read(citizen_id, deps))))


async def read_score(citizen_id: str, deps: Deps, scope: Scope) -> CalibrationScore | None:
    """The score alone, of what was answered by the known time of a scope; None without such predictions."""
    until = AFTER_ALL if scope.is_present else scope.known.end
    kept = [
        one for one in await _read(citizen_id, deps) if one.answered_at is not None and one.answered_at < until
    ]
    found = calibrate(citizen_id, list(map(shown, kept)))
    if not found.answered:
        return None
    return CalibrationScore(answered=found.answered, brier=found.brier, usual_brier=found.usual_brier)


async def _read(citizen_id: str, deps: Deps) -> list[StoredPrediction]:
    name = graph_name(Level.N1, citizen_id)
    if not await deps.graphs.for_reading(name):
        return []
    return await store.read_predictions(deps.graph(name))


async def answer_prediction(
    graph: Graph,
    prediction_id: str,
    context_id: str,
    *,
    result: str | None = None,
    emotion: str | None = None,
    now: Instant = 0,
) -> str | None:
    """Keep the `result` of a prediction, which the context tells; without one only look whether it may.

    Returns the prediction's id, None for an unknown one. Raises Conflict for one that another context answered.
    """
    if result is not None:
        outcome = Outcome(context_id, result, emotion, now)
        return prediction_id if await store.answer_prediction(graph, prediction_id, outcome) else None
    kept = await store.read_prediction(graph, prediction_id)
    if kept is not None and kept.context_id not in (None, context_id):
        raise Conflict(
            f"prediction {prediction_id} was answered by context {kept.context_id}",
            remedy="Leave outcome_of out, or correct the result of that context.",
        )
    return None if kept is None else prediction_id
