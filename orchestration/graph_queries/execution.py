"""Queries of a question as values: run at once, each within its deadline; then their rows as candidates.

A query that fails or is late costs its level that part, never the answer.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, Final, Literal, NamedTuple

from orchestration.question.lexicon import Lexicon
from orchestration.ranking.candidates import Candidates
from orchestration.ranking.relevance import show_best_passages
from schemas.errors import SubstrateError, Unavailable
from schemas.memory import GENERALISATION, GraphKey
from schemas.stream import QueryTiming
from schemas.temporal import Instant
from substrate.connection.errors import GraphMissing
from substrate.connection.kept import FoundRow, GraphRecords, Record, RecordName
from substrate.connection.pool import Row
from substrate.connection.together import together
from substrate.graphs.graph import GraphTarget, Query
from substrate.store import waking
from substrate.store.filters import EVERY_MEMORY
from substrate.store.found_records import read_both
from substrate.store.neighbours import NearLink, Neighbours, find_nearest, undisturbed
from substrate.store.rows import NODE_PLACE
from substrate.store.search import NOW, SCORE, THIN, THIN_NAME, count_starts

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


def kept_records(results: Iterable[QueryResult]) -> dict[GraphKey, GraphRecords]:
    """What this process keeps of the records of the graphs that were asked."""
    return {result.key: result.request.target.graph.records for result in results}


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

    def ids(self, limit: str) -> list[str]:
        """The memories from which links are followed, by the name of the parameter that limits them."""
        return [row[THIN_NAME] for row in self.rows[: self.values[limit]]]

    def names(self) -> list[RecordName]:
        """The names of what it found."""
        return [RecordName("memory", *row[THIN_NAME:]) for row in self.rows]


type Steps = list[tuple[int, NearLink]]
"""The links that were followed from what a search found, and how many links away from it each leads."""


async def follow(target: GraphTarget, searches: Sequence[SearchRows]) -> list[list[Row]]:
    """The rows of each search with those around them, in the columns of `substrate.store.search`.

    Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    groups: dict[str, list[int]] = {}
    for place, search in enumerate(searches):
        groups.setdefault(repr([search.values[name] for name in EVERY_MEMORY]), []).append(place)
    steps: dict[int, Steps] = {}
    for places in groups.values():
        steps |= zip(places, await _walk(target, [searches[place] for place in places]), strict=True)
    return await _rows(target, searches, [steps[place] for place in range(len(searches))])


async def _rows(
    target: GraphTarget,
    searches: Sequence[SearchRows],
    steps: Sequence[Steps],
    *,
    is_shown: Callable[[Record], bool] | None = None,
) -> list[list[Row]]:
    """The rows of each search, then those of its steps. `is_shown`: only some memories."""
    names = [search.names() for search in searches]
    near = [link for _, link in chain.from_iterable(steps)]
    ends = {each.link: (each.source, each.target) for each in near}
    memories, links = await read_both(target, chain(*names, (each.other for each in near)), ends)
    found: list[list[Row]] = []
    for search, own, taken in zip(searches, names, steps, strict=True):
        rows: list[Row] = []
        for row, name in zip(search.rows, own, strict=True):
            if name in memories:
                rows.append(FoundRow((0, row[SCORE], None, None), None, memories[name]))
        for hop, each in taken:
            link, memory = links.get(each.link), memories.get(each.other)
            if link is not None and memory is not None and (is_shown is None or is_shown(memory)):
                rows.append(FoundRow((hop, None, each.source, each.target), link, memory))
        found.append(rows)
    return found


async def follow_beside(target: GraphTarget, searches: Sequence[SearchRows]) -> list[list[Row]]:
    """The rows of each search of a waking with the strongest links of its first answers; raises as `follow`.

    Links are chosen before it is asked whether the memory at the other end may be shown beside the answer.
    """
    values = searches[0].values
    ids = [name for search in searches for name in search.ids("expanded")]
    most = values["first_hop"]

    async def choose(neighbours: Neighbours) -> list[Steps]:
        if ids:
            await neighbours.read(ids, most)
        steps: list[Steps] = []
        for search in searches:
            names = dict.fromkeys(search.ids("expanded"))
            steps.append([(1, near) for name in names for near in neighbours.strongest(name, most)])
        return steps

    steps = await undisturbed(target, values, choose, followed=False)

    def is_shown(memory: Record) -> bool:
        row, states = memory.row, values["beside_states"]
        return (
            row[NODE_PLACE["node_type"]] != GENERALISATION
            and row[NODE_PLACE["valid_at"]] >= values["beside_since"]
            and (not states or row[NODE_PLACE["resolution_state"]] in states)
        )

    return await _rows(target, searches, steps, is_shown=is_shown)


async def _walk(target: GraphTarget, searches: Sequence[SearchRows]) -> list[Steps]:
    """The steps of each search: one link from its first starts, two from the very first."""
    first = max(search.values["first_hop"] for search in searches)
    ids: list[str] = []
    for search in searches:
        ids += [*search.ids("expanded"), *search.ids("far")]
    if not ids:
        return [[] for _ in searches]

    async def choose(neighbours: Neighbours) -> list[Steps]:
        await neighbours.read(ids, first)
        while True:
            unknown: set[str] = set()
            for search in searches:
                for name in search.ids("far"):
                    unknown.update(neighbours.uncrowded(name, search.values["second_starts"] + AHEAD))
            unknown -= neighbours.known
            if not unknown:
                return [_steps_of(search, neighbours) for search in searches]
            await neighbours.read(unknown, 0)

    return await undisturbed(target, searches[0].values, choose)


def _steps_of(search: SearchRows, neighbours: Neighbours) -> Steps:
    """The strongest links of each start, and of what these lead to; none leads back, and none through a hub.

    A start that was found twice counts each link twice, up to the limit.
    """
    steps: Steps = []
    for name, times in Counter(search.ids("expanded")).items():
        taken = neighbours.strongest(name, -(-search.values["first_hop"] // times))
        links = {near.link: near for near in taken}
        steps += [(1, near) for near in links.values()]
    for name, times in Counter(search.ids("far")).items():
        for other in neighbours.uncrowded(name, -(-search.values["second_starts"] // times)):
            onward = (number for number in neighbours.holding(other) if neighbours.columns.other(number) != name)
            for number in islice(onward, search.values["second_hop"]):
                steps.append((2, neighbours.near_link(number, other)))
    return steps


type Following = Callable[[GraphTarget, Sequence[SearchRows]], Awaitable[list[list[Row]]]]
_FOLLOWING: Final[Mapping[str, Following]] = {
    **dict.fromkeys(THIN, follow),
    **dict.fromkeys(waking.THIN, follow_beside),
}
"""By the name of a query whose rows are names: how what is around them is read."""
