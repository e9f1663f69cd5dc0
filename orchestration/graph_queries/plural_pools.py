"""The queries for plural candidates: one more for each graph, beside the six."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from orchestration.graph_queries.execution import QueryRequest, QueryResult, run_all
from orchestration.ranking.plurality import DAY, seeded_numbers
from schemas.intention import Filters, Plural, Plurality
from schemas.memory import GraphKey
from schemas.temporal import Instant
from substrate.graphs.graph import GraphTarget
from substrate.store import search
from substrate.store.filters import EVERY_MEMORY, filter_values
from substrate.store.search import ID, NODE_START

_NEW_EACH_TIME = {"collectives", "intention_id", "state_id", "generated_at", "generated_by"}
_PRESENTATION = {"explain", "form", "max_tokens", "parts"}


def lot_seed(request: Plural) -> str:
    """The seed of the lots: the request without what is new each time it is sent and how the answer is shown."""
    return request.model_dump_json(exclude=_NEW_EACH_TIME | _PRESENTATION)


def build_pool_query(
    request: Plural,
    plurality: Plurality,
    target: GraphTarget,
    words: Sequence[str],
    *,
    values: Mapping[str, Any],
    moment: Instant,
) -> QueryRequest:
    """The query for the three pools of one graph.

    `values`: the parameters of time scope and filters. A memory is recent as seen from `moment`.
    """
    pool_values = {
        **values,
        **plurality.model_dump(include={"recent", "matching", "chance", "importance_floor"}),
        "words": "|".join(words),
        "lots": seeded_numbers(f"{target.key}|{lot_seed(request)}"),
        "recent_from": moment - int(plurality.recent_days * DAY),
    }
    return QueryRequest("pools", target, (search.THEN if target.past else search.NOW).pools, pool_values)


async def draw(
    request: Plural,
    targets: Iterable[tuple[GraphTarget, Sequence[str]]],
    bounds: Mapping[str, int],
    filters: Filters | None,
) -> list[QueryResult]:
    """The pools of each graph, given with its discriminative terms.

    `bounds`: the parameters of the time scope. Empty when the request asks for no plurality.
    """
    if request.plurality is None:
        return []
    values, moment = {**bounds, **EVERY_MEMORY, **filter_values(filters)}, bounds["valid_from"]
    requests = [
        build_pool_query(request, request.plurality, target, words, values=values, moment=moment)
        for target, words in targets
    ]
    return await run_all(requests)


def memory_columns(result: QueryResult) -> list[Sequence[Any]]:
    """The memories of a result, each in the order of `NODE_COLUMNS`."""
    return [row[NODE_START:] for row in result.rows]


def memory_ids(results: Iterable[QueryResult], graph: GraphKey) -> list[str]:
    """The ids of the memories of one graph."""
    own = [result for result in results if result.key == graph]
    return [row[ID] for result in own for row in result.rows]
