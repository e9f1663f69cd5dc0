"""Reads and writes the predictions that a citizen keeps: `Prediction` nodes in its own graph, beside its records.

A prediction is no memory and has no versions. It goes when the citizen is erased, or a memory that it names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from schemas.temporal import Instant
from substrate.connection.pool import Row
from substrate.cypher.fragments import columns_of
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.derived import change_count

MOST_KEPT: Final = 1000
"""This many predictions of a citizen are kept; the oldest fall out."""

_COLUMNS: Final = ("id", "created_at", "asked", "told", "answered_at", "context_id", "result", "emotion")
UNANSWERED: Final = ("id", "created_at", "asked", "told", "named")
"""The stored properties of a prediction before anything came of it."""
PREDICTIONS: Final = Query("predictions", f"MATCH (p:Prediction) RETURN {columns_of('p', _COLUMNS)}")
PREDICTION: Final = Query(
    "prediction", f"MATCH (p:Prediction) WHERE p.id = $id RETURN {columns_of('p', _COLUMNS)}"
)
KEEP_PREDICTION: Final = Query(
    "keep_prediction",
    "MATCH (m:SubstrateMeta {key: 'stamp'}) WITH m LIMIT 1 "
    "OPTIONAL MATCH (o:Prediction) WITH m, o ORDER BY o.created_at DESC, o.id "
    "WITH m, [x IN collect(o)[$most..] | x] AS gone FOREACH (o IN gone | DELETE o) "
    "CREATE (p:Prediction) SET p = $record RETURN p.id",
)
ANSWER_PREDICTION: Final = Query(
    "answer_prediction",
    "MATCH (p:Prediction) WHERE p.id = $id AND (p.context_id IS NULL OR p.context_id = $context) "
    "SET p.context_id = $context, p.result = $result, p.emotion = $emotion, p.answered_at = $at, "
    "p.named = [x IN p.named WHERE x <> $context] + [$context] RETURN p.id",
)
"""Returns no row for a prediction that another context has answered, or that is gone."""
FORGET_PREDICTIONS: Final = Query(
    "forget_predictions",
    "MATCH (n:ConsciousnessNode) WHERE n.id IN $ids WITH collect(n.name_key) + $ids AS gone_names "
    "MATCH (p:Prediction) WHERE any(x IN p.named WHERE x IN gone_names) "
    "WITH collect(p) AS gone FOREACH (p IN gone | DELETE p) RETURN size(gone)",
)


class StoredPrediction(NamedTuple):
    """One prediction. `asked`: action, nodes and feeling; `told`: the shares; both as values of JSON."""

    id: str
    created_at: Instant
    asked: Mapping[str, Any]
    told: Mapping[str, Any]
    answered_at: Instant | None = None
    context_id: str | None = None
    result: str | None = None
    emotion: str | None = None


def prediction_of(properties: Mapping[str, Any]) -> StoredPrediction:
    """A prediction from its stored properties. Raises KeyError, TypeError or ValueError for other properties."""
    return _prediction(list(map(properties.get, _COLUMNS)))


def _prediction(row: Row) -> StoredPrediction:
    id_, created_at, asked, told, answered_at, *outcome = row
    answered = None if answered_at is None else int(answered_at)
    return StoredPrediction(id_, int(created_at), orjson.loads(asked), orjson.loads(told), answered, *outcome)


async def read_predictions(graph: Graph) -> list[StoredPrediction]:
    """All predictions of the citizen, the newest first."""
    kept = map(_prediction, await graph.read_typed(PREDICTIONS))
    return sorted(kept, key=lambda one: (one.created_at, one.id), reverse=True)


async def read_prediction(graph: Graph, prediction_id: str) -> StoredPrediction | None:
    """One prediction; None when there is none with this id."""
    rows = await graph.read_typed(PREDICTION, id=prediction_id)
    return _prediction(rows[0]) if rows else None


async def keep_prediction(graph: Graph, prediction: StoredPrediction, named: Sequence[str]) -> None:
    """Keep a prediction, and drop the oldest of too many.

    `named`: ids or name keys of the memories with which it goes.
    """
    asked, told = (orjson.dumps(each).decode() for each in (prediction.asked, prediction.told))
    known = {"id": prediction.id, "created_at": prediction.created_at}
    record = {**known, "asked": asked, "told": told, "named": list(named)}
    await graph.write(KEEP_PREDICTION, record=record, most=MOST_KEPT - 1)


async def answer_prediction(graph: Graph, prediction_id: str, **outcome: str | int | None) -> bool:
    """Say what came of a prediction: the id of the `context` that says so, a `result`, an `emotion`, and `at`.

    False when another context said it before, or the prediction is gone.
    """
    return bool(await graph.write(ANSWER_PREDICTION, id=prediction_id, **outcome))


async def forget_predictions_naming(graph: Graph, ids: Sequence[str]) -> int:
    """Remove every prediction that names one of these memories; returns how many."""
    return await change_count(graph, FORGET_PREDICTIONS, ids=list(ids))
