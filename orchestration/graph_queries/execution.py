"""Queries of a question as values: run at once, each within its deadline; then their rows as candidates.

A query that fails or is late costs its level that part, never the answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from orchestration.question.lexicon import Lexicon
from orchestration.ranking.candidates import Candidates
from orchestration.ranking.passages import show_best_passages
from schemas.errors import SubstrateError, Unavailable
from schemas.memory import Level
from schemas.stream import QueryTiming
from schemas.temporal import Instant
from substrate.connection.errors import GraphMissing
from substrate.connection.pool import Row
from substrate.graphs.graph import GraphTarget, Query
from substrate.store import search

GRACE_SECONDS = 0.25

type QueryKind = Literal[
    "vector", "graph", "period", "pools", "records", "anchors", "walk", "resonance",
    "cue", "words", "lately", "after", "solved", "event_words", "event_likeness", "passages",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """A query to send to one graph.

    `wanted` and `wider`: with fewer starts than `wanted` in the rows, the `wider` queries are sent in turn.
    """

    kind: QueryKind
    target: GraphTarget
    query: Query
    values: Mapping[str, Any]
    wanted: int = 0
    wider: tuple[tuple[Query, Mapping[str, Any]], ...] = ()

    @property
    def name(self) -> str:
        """What timings and `degraded` call it: its level and its kind."""
        return f"{self.target.level}_{self.kind}"

    @property
    def known_to(self) -> int:
        """Where the known side of the scope ends."""
        return int(self.values["known_to"])


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows of a request; none when it failed, and `timing.failure` says why."""

    request: QueryRequest
    rows: list[Row]
    timing: QueryTiming

    @property
    def level(self) -> Level:
        """The level of the graph that was asked."""
        return self.request.target.level


async def run_all(requests: Sequence[QueryRequest]) -> list[QueryResult]:
    """The results in the order of the requests, which are sent at once, each when it is its turn."""
    return list(await asyncio.gather(*(_run(request) for request in requests)))


def collect_candidates(
    results: Sequence[QueryResult], lexicons: Mapping[Level, Lexicon], known_to: Instant
) -> Candidates:
    """The rows of the queries of an intention, each memory and link once. Raises Unavailable when all failed."""
    if results and all(result.timing.failure for result in results):
        raise Unavailable("none of the six queries was answered", remedy="Try again in a moment.")
    candidates = Candidates(known_to=known_to)
    for result in results:
        kind = result.request.kind
        if kind == "passages":
            continue
        named = {entity.id for entity in lexicons[result.level].entities} if kind == "graph" else ()
        if kind == "period":
            candidates.add_begun(result.level, result.rows)
        else:
            candidates.add(result.level, result.rows, likeness=kind == "vector", named=named)
    for result in results:
        if result.request.kind == "passages":
            likeness = "embedding" in result.request.values
            candidates.add_passages(result.level, result.rows, likeness=likeness)
    candidates.drop_quarantined()
    show_best_passages(candidates, lexicons)
    return candidates


def note_unfollowed(results: Iterable[QueryResult]) -> list[str]:
    """A note on queries that followed a second link from only some of their starts, if they found links at all."""
    cut = []
    for result in results:
        far, starts = result.request.values.get("far"), search.count_starts(result.rows)
        if far is not None and far < starts < len(result.rows):
            cut.append(f"{far} of {starts} ({result.request.name})")
    return [f"what is two links away was looked for from the first starts only: {', '.join(cut)}"] if cut else []


def check_answered(results: Sequence[QueryResult]) -> None:
    """Raises Unavailable when every query failed."""
    if results and all(result.timing.failure for result in results):
        raise Unavailable("no graph was asked in time", remedy="Try again in a moment.")


async def _run(request: QueryRequest) -> QueryResult:
    """Its deadline, and its time, begin with its turn."""
    return await request.target.graph.connection.reads.run(lambda: _run_in_time(request))


async def _run_in_time(request: QueryRequest) -> QueryResult:
    begun = time.perf_counter()
    deadline = request.target.graph.connection.timeout_ms / 1000 + GRACE_SECONDS
    rows: list[Row] = []
    again, failure = False, None
    try:
        async with asyncio.timeout(deadline):
            rows, again = await _send(request)
    except GraphMissing:
        pass
    except TimeoutError:
        failure = f"no answer within {deadline:.2f} s"
    except SubstrateError as error:
        failure = error.detail
    milliseconds = round((time.perf_counter() - begun) * 1000, 3)
    timing = QueryTiming(
        query=request.name, milliseconds=milliseconds, rows=len(rows), asked_again=again, failure=failure
    )
    return QueryResult(request, rows, timing)


async def _send(request: QueryRequest) -> tuple[list[Row], bool]:
    graph = request.target.graph
    rows = await graph.read(request.query, **request.values)
    again = False
    for query, values in request.wider:
        if search.count_starts(rows) >= request.wanted:
            break
        again = True
        rows = await graph.read(query, **values)
    return rows, again
