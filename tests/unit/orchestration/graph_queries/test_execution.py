"""Queries that fail, come late or come back starved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from orchestration.graph_queries.execution import QueryRequest, run_all
from schemas.memory import Level
from substrate.connection.pool import Connection, Row
from substrate.graphs.graph import Graph, GraphTarget, Query

NARROW, WIDE = Query("narrow", "RETURN 1"), Query("wide", "RETURN 2")
START, LINKED = [0, "0.1"], [1, None]


class NoTurns:
    """Runs what is handed in at once."""

    async def run(self, work: Callable[[], Any]) -> Any:
        return await work()


class Answers:
    """A connection that answers each query with fixed rows, or fails with an error."""

    timeout_ms = 1000
    reads = NoTurns()

    def __init__(self, answers: dict[Query, Sequence[Row] | Exception]) -> None:
        self.answers = answers
        self.sent: list[Query] = []

    async def read(self, _graph: str, query: Query, _header: str) -> list[Row]:
        self.sent.append(query)
        answer = self.answers[query]
        if isinstance(answer, Exception):
            raise answer
        return list(answer)


def request(connection: Answers, **fields: Any) -> QueryRequest:
    target = GraphTarget(Level.N1, Graph(cast(Connection, connection), "citizen_ada"), past=False)
    return QueryRequest("graph", target, NARROW, {"far": 1}, **fields)


async def test_a_starved_query_is_sent_again_wider() -> None:
    connection = Answers({NARROW: [START], WIDE: [START, START]})
    [result] = await run_all([request(connection, wanted=2, wider=((WIDE, {}),))])
    assert (result.rows, result.timing.asked_again) == ([START, START], True)
    assert connection.sent == [NARROW, WIDE]
