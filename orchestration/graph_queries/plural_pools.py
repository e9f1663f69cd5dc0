"""The queries for plural candidates: one more for each graph, beside the six."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from orchestration.graph_queries.existing_graphs import Where
from orchestration.graph_queries.six_queries import Answered, Asked, run
from orchestration.ranking.plurality import DAY, lots
from schemas.plurality import Plural
from schemas.temporal import Instant
from substrate.connection.pool import Connection
from substrate.cypher import plurality as cypher
from substrate.cypher.filters import UNFILTERED

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
    request: Plural, where: Where, words: Sequence[str], shared: Mapping[str, Any], moment: Instant
) -> list[Asked]:
    """The query for the three pools of one graph; none when the request asks for no plurality.

    `shared`: time scope and felt filters as for the six. What is recent is seen from `moment`.
    """
    asked = request.plurality
    if asked is None:
        return []
    own = {
        **asked.model_dump(include={"recent", "matching", "chance", "importance_floor"}),
        "words": "|".join(words),
        "lots": lots(f"{where.level}|{seed_of(request)}"),
        "recent_from": moment - int(asked.recent_days * DAY),
    }
    query = cypher.POOLS_THEN if where.past else cypher.POOLS_NOW
    return [Asked(f"{where.level}_pools", where.level, where.graph, query, {**shared, **own})]


async def draw(
    request: Plural,
    graphs: Iterable[tuple[Where, Sequence[str]]],
    bounds: Mapping[str, int],
    connection: Connection,
) -> list[Answered]:
    """The pools of each graph, given with the words that tell there, for a way of asking without felt filters.

    `bounds`: the time scope. Nothing is asked when the request asks for no plurality.
    """
    shared = {**bounds, **_NO_FILTER}
    asked = [one for at, words in graphs for one in pools(request, at, words, shared, bounds["valid_from"])]
    return await run(asked, connection)
