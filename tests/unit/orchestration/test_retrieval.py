"""What an intention may see."""

from __future__ import annotations

from typing import Any

from orchestration.retrieval import choose_scope
from schemas.intention import RetrievalIntention
from schemas.temporal import Scope, to_datetime

NOW = 1_700_000_000_000_000


def intention(**fields: Any) -> RetrievalIntention:
    return RetrievalIntention.model_validate({"query_text": "the bridge", "citizen_id": "ada", **fields})


def test_the_scope_follows_the_temporal_mode() -> None:
    then = NOW - 10**12
    assert choose_scope(intention(), NOW) == Scope.current(NOW)
    point = intention(temporal_mode="point_in_time", as_of_time=to_datetime(then))
    assert choose_scope(point, NOW) == Scope.resolve(then, None, NOW)
    assert choose_scope(intention(temporal_mode="full_history"), NOW) == Scope.history(None, None)
