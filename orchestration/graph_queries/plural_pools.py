"""The queries for plural candidates: one more for each graph, beside the six."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from orchestration.graph_queries.execution import QueryRequest, QueryResult, run_all
from orchestration.ranking.plurality import DAY, lots
from schemas.plurality import Plural
from schemas.temporal import Instant
from substrate.cypher import plurality as cypher
from substrate.cypher.filters import UNFILTERED
from substrate.graphs.graph import GraphTarget

_OF_ONE_SENDING = {"intention_id", "state_id", "generated_at", "generated_by"}
_OF_THE_TELLING = {"explain", "form", "max_tokens"}

_NO_FILTER: Final[Mapping[str, Any]] = {
    "min_energy": 0.0,
    "min_confidence": 0.0,
    "required_emotions": [],
    **UNFILTERED,
}


def seed_of(request: Plural) -> str:
    """What of a request decides the lots: all but what is new each time it is sent, and how much is told of it."""
    return request.model_dump_json(exclude=_OF_ONE_SENDING | _OF_THE_TELLING)


def pools(
    request: Plural, target: GraphTarget, words: Sequence[str], shared: Mapping[str, Any], moment: Instant
) -> list[QueryRequest]:
    """The query for the three pools of one graph; none when the request asks for no plurality.

    `shared`: time scope and felt filters as for the six. What is recent is seen from `moment`.
    """
    plurality = request.plurality
    if plurality is None:
        return []
    own = {
        **plurality.model_dump(include={"recent", "matching", "chance", "importance_floor"}),
        "words": "|".join(words),
        "lots": lots(f"{target.level}|{seed_of(request)}"),
        "recent_from": moment - int(plurality.recent_days * DAY),
    }
    query = cypher.POOLS_THEN if target.past else cypher.POOLS_NOW
    return [QueryRequest("pools", target, query, {**shared, **own})]


async def draw(
    request: Plural,
    targets: Iterable[tuple[GraphTarget, Sequence[str]]],
    bounds: Mapping[str, int],
) -> list[QueryResult]:
    """The pools of each graph, given with the words that tell there, for a way of asking without felt filters.

    `bounds`: the time scope. Nothing is asked when the request asks for no plurality.
    """
    shared = {**bounds, **_NO_FILTER}
    moment = bounds["valid_from"]
    requests = [query for target, words in targets for query in pools(request, target, words, shared, moment)]
    return await run_all(requests)
