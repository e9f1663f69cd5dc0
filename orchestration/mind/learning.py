"""A citizen's learning moments: every belief that changed, a page at a time (003, component 2)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from orchestration.dependencies import Deps
from orchestration.mind.dissonance import closed_beliefs, recurring
from schemas.citizen import LearningMoments, OfLearning
from schemas.memory import ConsciousnessNode, Level
from schemas.paging import MOST, cursor_of, parts_of
from schemas.stream_parts import TemporalDissonance
from schemas.temporal import Instant, to_datetime, to_instant
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import learning, records
from substrate.store.learning import Closing, Place
from substrate.store.rows import node

LOOKED_AT: Final = 500
"""Closed records that are looked at in one read at most: many were closed for a change of something else."""


class _View(NamedTuple):
    """A graph, and where its known side ends."""

    graph: str
    known_to: Instant


async def learning_page(citizen_id: str, asked: OfLearning, deps: Deps, now: Instant) -> LearningMoments:
    """Beliefs of the citizen that changed, in the order of their end. Raises InvalidRequest for a strange cursor.

    A page is longer than its limit only where one command changed more beliefs of one memory.
    """
    graph = graph_name(Level.N1, citizen_id)
    if not await deps.graphs.for_reading(graph):
        return LearningMoments(citizen_id=citizen_id)
    start, view = await _begun(asked, graph, deps, now)
    found: list[TemporalDissonance] = []
    connection, looked_at = deps.connection, min(LOOKED_AT, asked.limit + 1)
    while closings := await learning.closings(Graph(connection, graph), start, (view.known_to, looked_at)):
        looked_at = min(LOOKED_AT, 2 * looked_at)
        for place, changes in (await _changes(closings, view, deps)).items():
            if found and len(found) + len(changes) > asked.limit:
                return _page(citizen_id, found, cursor_of(*start, view.known_to))
            found += changes
            start = place
        start = closings[-1].place
    return _page(citizen_id, found, None)


async def learning_moments(citizen_id: str, deps: Deps, now: Instant) -> LearningMoments:
    """Every belief of the citizen that changed."""
    page = await learning_page(citizen_id, OfLearning(limit=MOST), deps, now)
    found = list(page.dissonances)
    while page.next is not None:
        page = await learning_page(citizen_id, OfLearning(limit=MOST, cursor=page.next), deps, now)
        found += page.dissonances
    return _page(citizen_id, found, None)


def _page(citizen_id: str, found: Sequence[TemporalDissonance], after: str | None) -> LearningMoments:
    return LearningMoments(
        citizen_id=citizen_id, dissonances=tuple(found), recurring=tuple(recurring(found)), next=after
    )


async def _begun(asked: OfLearning, graph: str, deps: Deps, now: Instant) -> tuple[Place, _View]:
    if asked.cursor is not None:
        ended_at, memory_id, known_to = parts_of(asked.cursor, int, str, int)
        return Place(ended_at, memory_id), _View(graph, known_to)
    if asked.known_at is not None:
        return Place(), _View(graph, to_instant(asked.known_at) + 1)
    return Place(), _View(graph, await records.clock(deps.graph(graph), now) + 1)


type _Change = tuple[ConsciousnessNode, TemporalDissonance]
type _Spans = dict[str, dict[str, int | str]]


async def _changes(closings: Sequence[Closing], view: _View, deps: Deps) -> dict[Place, list[TemporalDissonance]]:
    """What was believed otherwise after each closing, by its place, in their order."""
    spans = _spans(closings)
    rows = await learning.around(deps.graph(view.graph), list(spans.values()), view.known_to)
    found: dict[Place, list[_Change]] = {closing.place: [] for closing in closings}
    for closed, change in closed_beliefs(node(row, Level.N1, view.known_to) for row in rows):
        place = Place(to_instant(change.belief_held_until), change.node_id)
        if place in found:
            found[place].append((closed, change))
    edges = [one for some in found.values() for one in some if _at_edge(one[1], spans)]
    begun = await _begun_earlier(edges, view, deps)
    return {place: sorted((_held_from(one, begun) for one in some), key=_order) for place, some in found.items()}


def _order(change: TemporalDissonance) -> tuple[datetime, str, str]:
    """The order of what one command changed of one memory, whatever of it was read."""
    return change.belief_held_from, change.original_belief, change.corrected_belief


def _spans(closings: Sequence[Closing]) -> _Spans:
    """From when to when the records of each memory are needed."""
    spans: _Spans = {}
    for closing in closings:
        since, until = closing.known_at, closing.ended_at
        span = spans.setdefault(closing.memory_id, {"id": closing.memory_id, "since": since, "until": until})
        span["since"], span["until"] = min(int(span["since"]), since), max(int(span["until"]), until)
    return spans


def _at_edge(change: TemporalDissonance, spans: _Spans) -> bool:
    """Whether the belief was held since the first of the records that were read, and may be older."""
    return to_instant(change.belief_held_from) <= int(spans[change.node_id]["since"])


type _Begun = dict[tuple[str, int, Instant], Instant]
"""Since when a belief was held: by memory, version that was closed, and since when as far as was read."""


async def _begun_earlier(changes: Sequence[_Change], view: _View, deps: Deps) -> _Begun:
    """The true beginning of beliefs that may be older than what was read of them."""
    if not changes:
        return {}
    beliefs = [
        {
            "place": place,
            "id": closed.node_id,
            "name": closed.name,
            "description": closed.description,
            "begun": to_instant(change.belief_held_from),
        }
        for place, (closed, change) in enumerate(changes)
    ]
    ends: dict[int, dict[Instant, Instant]] = {}
    for place, created_at, ended_at in await learning.held_before(deps.graph(view.graph), beliefs):
        before = ends.setdefault(place, {})
        before[ended_at] = min(created_at, before.get(ended_at, created_at))
    return {
        _key(one): _first(to_instant(one[1].belief_held_from), ends.get(place, {}))
        for place, one in enumerate(changes)
    }


def _key(change: _Change) -> tuple[str, int, Instant]:
    closed, told = change
    return closed.node_id, closed.version, to_instant(told.belief_held_from)


def _first(begun: Instant, ends: dict[Instant, Instant]) -> Instant:
    while begun in ends:
        begun = ends[begun]
    return begun


def _held_from(change: _Change, begun: _Begun) -> TemporalDissonance:
    told, first = change[1], begun.get(_key(change))
    if first is None:
        return told
    start = to_datetime(first)
    held = (told.belief_held_until - start).total_seconds()
    return told.model_copy(update={"belief_held_from": start, "held_seconds": held})
