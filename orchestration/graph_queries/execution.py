"""Queries of a question as values: run at once, each within its deadline; then their rows as candidates.

A query that fails or is late costs its level that part, never the answer.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Final, Literal, NamedTuple

from orchestration.question.lexicon import Lexicon
from orchestration.ranking.candidates import Candidates
from orchestration.ranking.relevance import show_best_passages
from schemas.errors import SubstrateError, Unavailable
from schemas.memory import GENERALISATION, GraphKey
from schemas.stream import QueryTiming
from schemas.temporal import Instant
from substrate.connection.errors import GraphMissing
from substrate.connection.graph_columns import GraphColumns, LinkEnd, Version
from substrate.connection.kept import Record
from substrate.connection.pool import Row
from substrate.connection.together import together
from substrate.graphs.graph import GraphTarget, Query
from substrate.store import waking
from substrate.store.filters import EVERY_MEMORY
from substrate.store.found_records import read_links, read_memories
from substrate.store.neighbours import Neighbours, find_nearest, undisturbed
from substrate.store.rows import NODE_PLACE
from substrate.store.search import NOW, SCORE, THIN, THIN_NAME, FoundRow, count_starts

GRACE_SECONDS = 0.25

type QueryKind = Literal[
    "vector", "graph", "period", "pools", "records", "anchors", "walk", "resonance",
    "cue", "words", "lately", "after", "solved", "event_words", "event_likeness", "passages",
]  # fmt: skip
type Reading = Callable[[GraphTarget, Mapping[str, Any]], Awaitable[list[Row]]]


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """A query to send to one graph.

    `wanted` and `wider`: with fewer starts than `wanted` in the rows, the `wider` queries are sent in turn.
    `reading`: reads the rows of the query, of which this process may keep a part.
    """

    kind: QueryKind
    target: GraphTarget
    query: Query
    values: Mapping[str, Any]
    wanted: int = 0
    wider: tuple[tuple[Query, Mapping[str, Any]], ...] = ()
    reading: Reading | None = None

    @property
    def name(self) -> str:
        """What timings and `degraded` call it: its graph and its kind."""
        return f"{self.target.key}_{self.kind}"

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
    def key(self) -> GraphKey:
        """The graph that was asked."""
        return self.request.target.key


async def run_all(requests: Sequence[QueryRequest]) -> list[QueryResult]:
    """The results in the order of the requests, which are sent at once, each when it is its turn.

    What the searches of the present found in a graph is followed when all of its searches have answered.
    """
    results = list(await together(*map(_run, requests)))
    thin: dict[tuple[GraphKey, Following], list[int]] = {}
    for place, result in enumerate(results):
        following = _FOLLOWING.get(result.request.query.name)
        if result.rows and following is not None:
            thin.setdefault((result.key, following), []).append(place)
    ways = ((list(map(results.__getitem__, places)), way) for (_, way), places in thin.items())
    followed = await together(*(_follow(own, way) for own, way in ways))
    for places, whole in zip(thin.values(), followed, strict=True):
        for place, result in zip(places, whole, strict=True):
            results[place] = result
    return results


async def _follow(results: Sequence[QueryResult], following: Following) -> list[QueryResult]:
    """The results of one graph with what is around them; without anything when that fails or is late."""
    target = results[0].request.target
    searches = [SearchRows(result.request.values, result.rows) for result in results]
    rows: list[list[Row]] = [[] for _ in results]

    async def send() -> None:
        rows[:] = await following(target, searches)

    milliseconds, failure = await _in_time(target, send)
    followed: list[QueryResult] = []
    for result, own in zip(results, rows, strict=True):
        spent = round(result.timing.milliseconds + milliseconds, 3)
        after = {"milliseconds": spent, "rows": len(own), "failure": failure}
        followed.append(replace(result, rows=own, timing=result.timing.model_copy(update=after)))
    return followed


def collect_candidates(
    results: Sequence[QueryResult], lexicons: Mapping[GraphKey, Lexicon], known_to: Instant, asked: str
) -> Candidates:
    """The rows of the queries of this question, each memory and link once. Raises Unavailable when all failed."""
    if results and all(result.timing.failure for result in results):
        raise Unavailable("none of the six queries was answered", remedy="Try again in a moment.")
    candidates = Candidates(known_to=known_to, kept=kept_records(results))
    for result in results:
        kind = result.request.kind
        if kind == "passages":
            continue
        named = {entity.id for entity in lexicons[result.key].entities} if kind == "graph" else ()
        if kind == "period":
            candidates.add_begun(result.key, result.rows)
        else:
            candidates.add(result.key, result.rows, likeness=kind == "vector", named=named)
    for result in results:
        if result.request.kind == "passages":
            likeness = "embedding" in result.request.values
            candidates.add_passages(result.key, result.rows, likeness=likeness)
    candidates.drop_hidden(asked)
    show_best_passages(candidates, lexicons)
    return candidates


def kept_records(results: Iterable[QueryResult]) -> dict[GraphKey, GraphColumns]:
    """What this process holds of the present of the graphs that were asked."""
    targets = (result.request.target for result in results)
    return {target.key: target.columns for target in targets if target.columns is not None}


def note_unfollowed(results: Iterable[QueryResult]) -> list[str]:
    """A note on queries that followed a second link from only some of their starts, if they found links at all."""
    cut = []
    for result in results:
        far, starts = result.request.values.get("far"), count_starts(result.rows)
        if far is not None and far < starts < len(result.rows):
            cut.append(f"{far} of {starts} ({result.request.name})")
    return [f"what is two links away was looked for from the first starts only: {', '.join(cut)}"] if cut else []


def check_answered(results: Sequence[QueryResult]) -> None:
    """Raises Unavailable when every query failed."""
    if results and all(result.timing.failure for result in results):
        raise Unavailable("no graph was asked in time", remedy="Try again in a moment.")


async def _run(request: QueryRequest) -> QueryResult:
    rows: list[Row] = []
    again = False

    async def send() -> None:
        nonlocal rows, again
        if request.reading is None:
            rows = await find_starts(request.target, request.query, request.values)
        else:
            rows = await request.reading(request.target, request.values)
        for query, values in request.wider:
            if count_starts(rows) >= request.wanted:
                break
            again = True
            rows = await find_starts(request.target, query, values)

    milliseconds, failure = await _in_time(request.target, send)
    timing = QueryTiming(
        query=request.name, milliseconds=milliseconds, rows=len(rows), asked_again=again, failure=failure
    )
    return QueryResult(request, rows, timing)


async def _in_time(target: GraphTarget, send: Callable[[], Awaitable[None]]) -> tuple[float, str | None]:
    """How long it took, and why it failed. Its deadline, and its time, begin with its turn."""
    connection = target.graph.connection
    deadline = connection.timeout_ms / 1000 + GRACE_SECONDS

    async def run() -> tuple[float, str | None]:
        begun, failure = time.perf_counter(), None
        try:
            async with asyncio.timeout(deadline):
                await send()
        except GraphMissing:
            pass
        except TimeoutError:
            failure = f"no answer within {deadline:.2f} s"
        except SubstrateError as error:
            failure = error.detail
        return round((time.perf_counter() - begun) * 1000, 3), failure

    return await connection.reads.run(run)


async def find_starts(target: GraphTarget, query: Query, values: Mapping[str, Any]) -> list[Row]:
    """The rows of one query of a graph, before anything is followed. Raises as `Graph.read` does."""
    if query is NOW.nearest:
        return await find_nearest(target, values)
    return await target.graph.read(query, **values)


AHEAD = 3
"""So many more memories between are read than a second link is followed from: the strongest may be hubs."""


class SearchRows(NamedTuple):
    """What one search found: its parameters, and its rows, as those of `search.THIN`."""

    values: Mapping[str, Any]
    rows: Sequence[Row]

    def slots(self, limit: str, columns: GraphColumns) -> list[int]:
        """The memories from which links are followed, by the name of the parameter that limits them."""
        return [columns.slot(row[THIN_NAME]) for row in self.rows[: self.values[limit]]]


type Steps = list[tuple[int, LinkEnd]]
"""The links that were followed from what a search found, and how many links away from it each leads."""


async def follow(target: GraphTarget, searches: Sequence[SearchRows]) -> list[list[Row]]:
    """The rows of each search with those around them, in the columns of `substrate.store.search`: one link from
    its first starts, two from the very first.

    Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    groups: dict[str, list[int]] = {}
    for place, search in enumerate(searches):
        groups.setdefault(repr([search.values[name] for name in EVERY_MEMORY]), []).append(place)
    found: list[list[Row]] = [[] for _ in searches]
    for places in groups.values():
        own = [searches[place] for place in places]
        rows = await undisturbed(target, own[0].values, partial(_follow_all, own))
        for place, each in zip(places, rows, strict=True):
            found[place] = each
    return found


async def _follow_all(searches: Sequence[SearchRows], neighbours: Neighbours) -> list[list[Row]]:
    columns, first = neighbours.columns, max(search.values["first_hop"] for search in searches)
    starts: list[int] = []
    for search in searches:
        starts += [*search.slots("expanded", columns), *search.slots("far", columns)]
    unknown = set(starts)
    while unknown:
        await neighbours.read(unknown, first)
        first = 0
        unknown = set()
        for search in searches:
            for slot in search.slots("far", columns):
                unknown.update(neighbours.uncrowded(slot, search.values["second_starts"] + AHEAD))
        unknown -= neighbours.known
    return await _rows(neighbours, searches, [_steps_of(search, neighbours) for search in searches])


async def _rows(
    neighbours: Neighbours,
    searches: Sequence[SearchRows],
    steps: Sequence[Steps],
    *,
    is_shown: Callable[[Record], bool] | None = None,
) -> list[list[Row]]:
    """The rows of each search, then those of its steps. `is_shown`: only some memories."""
    columns, graph = neighbours.columns, neighbours.graph
    versions: list[Version] = []
    for search, own in zip(searches, steps, strict=True):
        versions += [(columns.slot(row[THIN_NAME]), *row[THIN_NAME + 1 : THIN_NAME + 4]) for row in search.rows]
        versions += [columns.version(other) for _, (_, other) in own]
    places = [place for own in steps for _, (place, _) in own]
    memories, links = await together(read_memories(graph, columns, versions), read_links(graph, columns, places))
    records, found = iter(memories), []
    for search, own in zip(searches, steps, strict=True):
        starts = [(row[SCORE], next(records)) for row in search.rows]
        rows: list[Row] = [
            FoundRow(0, score, None, None, None, each) for score, each in starts if each is not None
        ]
        for hop, (place, _) in own:
            memory, link = next(records), links.get(place)
            if link is not None and memory is not None and (is_shown is None or is_shown(memory)):
                rows.append(FoundRow(hop, None, *columns.ends(place), link, memory))
        found.append(rows)
    return found


async def follow_beside(target: GraphTarget, searches: Sequence[SearchRows]) -> list[list[Row]]:
    """The rows of each search of a waking with the strongest links of its first answers; raises as `follow`.

    Links are chosen before it is asked whether the memory at the other end may be shown beside the answer.
    """
    values = searches[0].values
    most = values["first_hop"]

    def is_shown(memory: Record) -> bool:
        row, states = memory.row, values["beside_states"]
        return (
            row[NODE_PLACE["node_type"]] != GENERALISATION
            and row[NODE_PLACE["valid_at"]] >= values["beside_since"]
            and (not states or row[NODE_PLACE["resolution_state"]] in states)
        )

    async def choose(neighbours: Neighbours) -> list[list[Row]]:
        starts = [dict.fromkeys(search.slots("expanded", neighbours.columns)) for search in searches]
        slots = [slot for own in starts for slot in own]
        if slots:
            await neighbours.read(slots, most)
        steps: list[Steps] = []
        for own in starts:
            steps.append([(1, end) for slot in own for end in neighbours.holding(slot)[:most]])
        return await _rows(neighbours, searches, steps, is_shown=is_shown)

    return await undisturbed(target, values, choose, followed=False)


def _steps_of(search: SearchRows, neighbours: Neighbours) -> Steps:
    """The strongest links of each start, and of what these lead to; none leads back, and none through a hub.

    A start that was found twice counts each link twice, up to the limit.
    """
    steps: Steps = []
    for slot, times in Counter(search.slots("expanded", neighbours.columns)).items():
        taken = neighbours.holding(slot)[: -(-search.values["first_hop"] // times)]
        steps += [(1, end) for end in dict.fromkeys(taken)]
    for slot, times in Counter(search.slots("far", neighbours.columns)).items():
        for other in neighbours.uncrowded(slot, -(-search.values["second_starts"] // times)):
            onward = (end for end in neighbours.holding(other) if end[1] != slot)
            steps += [(2, end) for end in islice(onward, search.values["second_hop"])]
    return steps


type Following = Callable[[GraphTarget, Sequence[SearchRows]], Awaitable[list[list[Row]]]]
_FOLLOWING: Final[Mapping[str, Following]] = {
    **dict.fromkeys(THIN, follow),
    **dict.fromkeys(waking.THIN, follow_beside),
}
"""By the name of a query whose rows are names: how what is around them is read."""
