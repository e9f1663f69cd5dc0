"""Reads every belief of a citizen that changed, page by page (003, component 2)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

from orchestration.dependencies import Deps
from orchestration.features.identity import queries as store
from orchestration.features.identity.queries import Closing, ClosingPosition, HeldBelief
from orchestration.features.identity.values import LearningMoments, LearningPage, count_again
from orchestration.mind.dissonance import (
    BeliefChange,
    find_belief_changes,
    infer_dissonances,
    one_of_each,
    unbroken_start,
)
from orchestration.mind.stream_notes import store_notes_of
from orchestration.ranking.learned import NOTHING_LEARNED
from schemas.base import CitizenId
from schemas.memory import ConsciousnessNode, Level
from schemas.paging import MOST, decode_cursor, encode_cursor
from schemas.stream import TemporalDissonance
from schemas.temporal import ALL_KNOWN, END_OF_TIME, Instant, Period, Scope, TemporalMode, to_datetime, to_instant
from substrate.graphs.graph import Graph
from substrate.store import reader
from substrate.store.stream_notes import read_moments

LAST: Final = ClosingPosition(END_OF_TIME)
MAX_CLOSINGS: Final = 500
"""At most this many closed records in one read. Many of them were closed without a change of the belief."""


type _PageStart = tuple[ClosingPosition, Instant, Instant]
"""The position after which a page begins; before when all its records were opened, its changes inferred."""


async def learning_page(citizen_id: CitizenId, page: LearningPage, deps: Deps, now: Instant) -> LearningMoments:
    """The beliefs that changed, a page at a time, and how often each correction pattern recurs among them.

    `Substrate-Notes` lists what was assumed.

    Raises InvalidRequest for an invalid cursor.
    """
    graph = await deps.graph_if_any(Level.N1, citizen_id)
    if graph is None:
        return LearningMoments(citizen_id=citizen_id)
    await store_notes_of(graph.name, deps)
    start = await _page_start(page, graph, now)
    until, known_to, _ = start
    inferred = await _inferred(graph, start, citizen_id, deps)
    answer: dict[str, Any] = {"citizen_id": citizen_id}
    dissonances: list[TemporalDissonance] = []
    limit = min(MAX_CLOSINGS, page.limit + 1)
    after = until
    while until != LAST:
        closings = await store.read_closings(graph, until, known_to=known_to, limit=limit)
        limit = min(MAX_CLOSINGS, 2 * limit)
        until = closings[-1].position if closings else LAST
        groups = await _dissonances_at(closings, graph, known_to) if closings else {}
        for change in inferred:
            if after < (position := _position(change)) <= until:
                groups.setdefault(position, []).append(change)
        for position in sorted(groups):
            if dissonances and len(dissonances) + len(groups[position]) > page.limit:
                answer["next"] = encode_cursor(*after, *start[1:])
                return count_again(LearningMoments(**answer, dissonances=tuple(dissonances)))
            dissonances += groups[position]
            after = position
        after = until
    return count_again(LearningMoments(**answer, dissonances=tuple(dissonances)))


async def _inferred(graph: Graph, start: _PageStart, citizen_id: str, deps: Deps) -> list[TemporalDissonance]:
    """The changes that streams inferred between versions that are believed, without those that were denied."""
    _, known_to, inferred_to = start
    kept = await read_moments(graph, inferred_to)
    if not kept:
        return []
    told_before = Scope(Period(inferred_to, inferred_to + 1), Period(inferred_to - 1, inferred_to))
    learned = await deps.features.read("learned", citizen_id, told_before, deps) or NOTHING_LEARNED
    spans: dict[str, Period] = {}
    for pair in kept:
        spans[pair.earlier] = spans[pair.later] = Period(known_to, known_to)
    nodes = await store.read_around(graph, spans, known_to)
    known = {(node.node_id, node.version): node for node in nodes}
    pairs: list[tuple[ConsciousnessNode, ConsciousnessNode]] = []
    for earlier, version, later, later_version in kept:
        one, other = known.get((earlier, version)), known.get((later, later_version))
        if one is not None and other is not None and (earlier, later) not in learned.not_changed:
            pairs.append((one, other))
    return infer_dissonances(pairs, TemporalMode.EVOLUTION)


async def learning_moments(citizen_id: str, deps: Deps, now: Instant) -> LearningMoments:
    """Every changed belief of the citizen, read page by page."""
    page = await learning_page(citizen_id, LearningPage(limit=MOST), deps, now)
    dissonances = list(page.dissonances)
    while page.next is not None:
        page = await learning_page(citizen_id, LearningPage(limit=MOST, cursor=page.next), deps, now)
        dissonances += page.dissonances
    return count_again(page.model_copy(update={"dissonances": tuple(dissonances)}))


def _position(change: TemporalDissonance) -> ClosingPosition:
    return ClosingPosition(to_instant(change.belief_held_until), change.node_id)


async def _page_start(page: LearningPage, graph: Graph, now: Instant) -> _PageStart:
    if page.cursor is not None:
        ended_at, memory_id, *known_to = decode_cursor(page.cursor, int, str, int, int)
        return ClosingPosition(ended_at, memory_id), *known_to
    clock, asked = await reader.read_clock(graph, now), to_instant(page.known_at or ALL_KNOWN)
    return ClosingPosition(), min(asked, clock) + 1, min(asked, max(clock, now)) + 1


async def _dissonances_at(
    closings: Sequence[Closing], graph: Graph, known_to: Instant
) -> dict[ClosingPosition, list[TemporalDissonance]]:
    spans = _spans(closings)
    nodes = await store.read_around(graph, spans, known_to)
    changes: dict[ClosingPosition, list[BeliefChange]] = {closing.position: [] for closing in closings}
    for change in await _without_quarantined(find_belief_changes(nodes), graph, known_to):
        position = _position(change.dissonance)
        if position in changes:
            changes[position].append(change)
    older = []  # those that began with the first record that was read, or before: older records matter
    for change in chain.from_iterable(changes.values()):
        if to_instant(change.dissonance.belief_held_from) <= spans[change.closed.node_id].start:
            older.append(change)
    starts = await _read_starts(older, graph)
    found: dict[ClosingPosition, list[TemporalDissonance]] = {}
    for position, group in changes.items():
        held: list[TemporalDissonance] = []
        for change in group:
            dissonance, since = change.dissonance, starts.get(_key(change))
            if since is not None:
                held_from = to_datetime(since)
                seconds = (dissonance.belief_held_until - held_from).total_seconds()
                dissonance = dissonance.model_copy(update={"belief_held_from": held_from, "held_seconds": seconds})
            held.append(dissonance)
        found[position] = one_of_each(held)
    return found


async def _without_quarantined(
    changes: Sequence[BeliefChange], graph: Graph, known_to: Instant
) -> list[BeliefChange]:
    """The changes without those to a belief that a quarantine hid: one that was released held again."""
    doubtful = [change for change in changes if change.is_quarantined]
    new = [change.replaced_by for change in doubtful]
    beliefs = [HeldBelief(node.node_id, node.name, node.description, to_instant(node.created_at)) for node in new]
    held = await store.read_held(graph, beliefs, known_to) if beliefs else frozenset()
    hidden = [change for place, change in enumerate(doubtful) if place not in held]
    return [change for change in changes if change not in hidden]


def _spans(closings: Sequence[Closing]) -> dict[str, Period]:
    """By memory id, the transaction time over which its records are needed, both ends included."""
    spans: dict[str, Period] = {}
    for closing in closings:
        span = spans.get(closing.memory_id, Period(closing.known_at, closing.ended_at))
        start, end = min(span.start, closing.known_at), max(span.end, closing.ended_at)
        spans[closing.memory_id] = Period(start, end)
    return spans


type _Key = tuple[str, int, Instant]
"""A belief that ended: its memory, its version, and its earliest known start in the records read."""


def _key(change: BeliefChange) -> _Key:
    return change.closed.node_id, change.closed.version, to_instant(change.dissonance.belief_held_from)


async def _read_starts(changes: Sequence[BeliefChange], graph: Graph) -> dict[_Key, Instant]:
    """When beliefs that may be older than the records read really began."""
    if not changes:
        return {}
    beliefs = []
    for change in changes:
        closed, since = change.closed, to_instant(change.dissonance.belief_held_from)
        beliefs.append(HeldBelief(closed.node_id, closed.name, closed.description, since))
    earlier = await store.read_earlier(graph, beliefs)
    return {
        _key(change): unbroken_start(belief.known_at, periods)
        for change, belief, periods in zip(changes, beliefs, earlier, strict=True)
    }
