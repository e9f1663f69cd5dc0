"""Whether a question needs the past side of a graph, and from when it counts ages."""

from __future__ import annotations

from typing import cast

import pytest

from orchestration.graph_queries.existing_graphs import open_target
from schemas.errors import StoreTimeout
from schemas.temporal import END_OF_TIME, Scope
from substrate.connection.kept_reads import KeptReads
from substrate.connection.pool import Connection, Row
from substrate.connection.record_cache import RecordCache
from substrate.graphs.graph import Graph, Query

NOW = 1_700_000_000_000_000


class Pending:
    """A connection to a graph whose last scheduled change takes effect at `until`; late for None."""

    def __init__(self, until: int | None) -> None:
        self.until = until
        self.records, self.kept = RecordCache(), KeptReads()

    async def read(self, _graph: str, _query: Query, _header: str) -> list[Row]:
        if self.until is None:
            raise StoreTimeout("too slow")
        return [[self.until, 0, 0, 0, 0, 0]]


def graph(until: int | None) -> Graph:
    return Graph(cast(Connection, Pending(until)), "citizen_ada")


async def needs_past(asked: Graph, scope: Scope) -> bool:
    return (await open_target("N1", asked, None, scope, now=NOW)).past


@pytest.mark.parametrize(("until", "past"), [(0, False), (NOW, False), (NOW + 1, True), (None, True)])
async def test_the_present_needs_the_past_side_until_the_last_scheduled_change(
    until: int | None, past: bool
) -> None:
    assert await needs_past(graph(until), Scope.current(NOW)) is past


async def test_every_other_scope_needs_the_past_side() -> None:
    assert await needs_past(graph(0), Scope.at(NOW - 1, NOW))
    assert await needs_past(graph(0), Scope.history(None, None))


async def test_what_held_before_now_needs_the_past_side_even_as_it_is_known_now() -> None:
    known_now = END_OF_TIME - 1
    assert await needs_past(graph(0), Scope.at(NOW - 1, known_now))
    assert not await needs_past(graph(0), Scope.at(NOW, known_now))
