"""Builds the queries of state-based retrieval (003, component 1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from orchestration.dependencies import Deps
from orchestration.graph_queries import six_queries
from orchestration.graph_queries.execution import QueryKind, QueryRequest
from orchestration.graph_queries.existing_graphs import View
from orchestration.graph_queries.six_queries import MIN_POOL, build_pool_query
from orchestration.ranking.plurality import DAY
from orchestration.waking import scoring
from orchestration.waking.scoring import WakingState
from schemas.errors import Unavailable
from schemas.intention import EMOTIONAL_MODES, QueryMode, StateBasedRetrieval
from schemas.memory import ResolutionState
from schemas.temporal import BEGINNING_OF_TIME, Scope
from substrate.emotions import emotion_vector, normal_emotions
from substrate.graphs.graph import GraphTarget, Query, Search
from substrate.language.text import query_words
from substrate.store import waking as store
from substrate.store.filters import EVERY_MEMORY, filter_values
from substrate.store.waking import WakingQueries

WINDOW: Final = int(scoring.WINDOW_DAYS) * DAY
NO_HALF_LIFE: Final = 1e30
"""Microseconds: so long a half-life weighs nothing."""
NEAREST_IN_MEANING = 20
"""Only the this many memories nearest to the goal in each graph can be about it."""
NEAREST_IN_EMOTION = 2000
"""The this many memories nearest in emotion are read."""
MAX_PATTERNS = 10
"""At most this many resolution patterns for each query and level (003)."""
HASH_ERROR = 0.1
"""Added to the distance limit of emotion queries: hashed emotion vectors give distances with errors up to this."""
MAX_EXPANDED = 8
"""For the this many best answers, their strongest links are returned too."""

_UNRESOLVED = [ResolutionState.IN_PROGRESS.value, ResolutionState.BLOCKED.value]
_RESOLVED = ResolutionState.RESOLVED.value


class _Pair(NamedTuple):
    """The two queries of a graph: one by emotion, where retrieval uses vectors, and one by the mode."""

    by_emotion: Query
    by_mode: Query


_PAIRS: Final[Mapping[QueryMode, Callable[[WakingQueries], _Pair]]] = {
    QueryMode.RELATED_UNRESOLVED: lambda queries: _Pair(queries.felt, queries.like_in_energy),
    QueryMode.SIMILAR_STATE: lambda queries: _Pair(queries.felt_near, queries.felt_new),
    QueryMode.WHAT_I_WAS_DOING: lambda queries: _Pair(queries.felt, queries.doing),
    QueryMode.RESOLUTION_PATTERNS: lambda queries: _Pair(queries.resolved_alike, queries.resolved_by_impact),
}
_BY_GOAL: Final[Mapping[QueryMode, Callable[[WakingQueries], Query]]] = {
    QueryMode.RELATED_UNRESOLVED: lambda queries: queries.unresolved,
    QueryMode.RESOLUTION_PATTERNS: lambda queries: queries.resolved_by_goal,
}
"""Replaces `by_mode` when the goal has an embedding."""
_BY_GOAL_WORDS: Final[Mapping[QueryMode, Callable[[WakingQueries], Query]]] = {
    QueryMode.RELATED_UNRESOLVED: lambda queries: queries.unresolved_by_words,
    QueryMode.RESOLUTION_PATTERNS: lambda queries: queries.resolved_by_words,
}
"""Replaces `by_mode` when the goal could not be embedded."""


class GoalMeaning(NamedTuple):
    """The vector of a goal, and the distance up to which a memory is about it. No vector: only words count."""

    vector: list[float]
    max_distance: float = 0.0


def compares_goals(waking: WakingState) -> bool:
    """True when the mode compares goals and the state has a goal that is not empty."""
    return waking.mode in (QueryMode.RELATED_UNRESOLVED, QueryMode.RESOLUTION_PATTERNS) and bool(waking.goal)


async def embed_goal(waking: WakingState, view: View, deps: Deps, notes: list[str]) -> GoalMeaning | None:
    """The vector of the goal: None if the mode compares no goals, empty if the goal cannot be embedded.

    In the second case `notes` gains the reason.
    """
    if not view.targets or not compares_goals(waking):
        return None
    try:
        vector = await deps.embedder.embed_query(scoring.plain_goal(waking.goal or ""))
    except Unavailable as error:
        notes.append(f"goals were compared by their words only: {error.detail}")
        return GoalMeaning([])
    if not vector:
        notes.append("goals were compared by their words only: no embedder is configured")
    return GoalMeaning(vector, 1.0 - scoring.SHARED_MEANING)


def build_queries(
    state: StateBasedRetrieval, waking: WakingState, view: View, meaning: GoalMeaning | None
) -> list[QueryRequest]:
    """Two queries for each graph, and the pools of plurality; without emotions only those that compare none."""
    scope = view.scope
    goal = waking.link_state.goal or ""
    values = {
        **_shared_values(state, waking, scope),
        **_mode_values(state, waking, scope),
        **_goal_values(goal, meaning),
    }
    emotion = emotion_vector(waking.emotions)
    now, then = (
        (store.NOW, store.THEN)
        if state.filters is None or state.filters.empty
        else (store.FITTING_NOW, store.FITTING_THEN)
    )
    requests = []
    for target in view.targets.values():
        pair = _pair(state.query_mode, meaning, then if target.past else now)
        near: dict[str, Search] = {}
        if values["unfiltered"] and meaning is not None and meaning.vector:
            near["near"] = Search(meaning.vector, NEAREST_IN_MEANING, open_only=not target.past)
        if emotion is not None:
            values["emotion"] = emotion
            values["felt_names"] = sorted(normal_emotions(waking.emotions))
            requests.append(_request("vector", target, pair.by_emotion, values))
        if emotion is not None or waking.mode not in EMOTIONAL_MODES:
            requests.append(_request("graph", target, pair.by_mode, {**values, **near}))
        if state.plurality is not None:
            words, moment = query_words(goal), scope.valid.start
            pools = build_pool_query(state, state.plurality, target, words, values=values, moment=moment)
            requests.append(pools)
    return requests


def _request(kind: QueryKind, target: GraphTarget, query: Query, values: Mapping[str, Any]) -> QueryRequest:
    reading = partial(store.read_given, query) if query.name in store.OF_GIVEN else None
    return QueryRequest(kind, target, query, values, reading=reading)


def _pair(mode: QueryMode, meaning: GoalMeaning | None, queries: WakingQueries) -> _Pair:
    pair = _PAIRS[mode](queries)
    if meaning is None:
        return pair
    by_goal = _BY_GOAL if meaning.vector else _BY_GOAL_WORDS
    return pair._replace(by_mode=by_goal[mode](queries))


def _shared_values(state: StateBasedRetrieval, waking: WakingState, scope: Scope) -> dict[str, Any]:
    """The parameters that are the same in every mode."""
    pool = max(MIN_POOL, 2 * state.max_results_per_level)
    reach = six_queries.Reach(pool=pool)
    return {
        **scope.bounds(),
        **EVERY_MEMORY,
        **filter_values(state.filters),
        "moment": scope.valid.start,
        "window": float(WINDOW),
        "recent_from": scope.valid.start - WINDOW,
        "half_life": NO_HALF_LIFE if waking.half_life is None else waking.half_life * DAY,
        "energy": waking.energy,
        "k": NEAREST_IN_EMOTION,
        "limit": pool,
        "patterns": MAX_PATTERNS,
        "expanded": MAX_EXPANDED,
        "first_hop": reach.first_hop,
        "second_hop": reach.second_hop,
    }


def _mode_values(state: StateBasedRetrieval, waking: WakingState, scope: Scope) -> dict[str, Any]:
    """The parameters of a mode: which memories may be answers, and which linked memories are shown with them."""
    mode = state.query_mode
    since = scope.valid.start - WINDOW if mode is QueryMode.WHAT_I_WAS_DOING else BEGINNING_OF_TIME
    near = mode is QueryMode.SIMILAR_STATE
    only = mode is QueryMode.RELATED_UNRESOLVED and state.include_only_unresolved
    return {
        "since": since,
        "states": _states(state),
        "least_energy": round(waking.energy - scoring.ENERGY_RANGE, 9) if near else 0.0,
        "most_energy": round(waking.energy + scoring.ENERGY_RANGE, 9) if near else 1.0,
        "felt_far": 1.0 - scoring.least_likeness(mode) + HASH_ERROR,
        "beside_since": since,
        "beside_states": _UNRESOLVED if only else [],
    }


def _states(state: StateBasedRetrieval) -> list[str]:
    if state.query_mode is QueryMode.SIMILAR_STATE:
        return []
    if state.query_mode is QueryMode.WHAT_I_WAS_DOING:
        return [ResolutionState.IN_PROGRESS.value]
    if state.query_mode is QueryMode.RESOLUTION_PATTERNS:
        return [_RESOLVED]
    return _UNRESOLVED if state.include_only_unresolved else [*_UNRESOLVED, _RESOLVED]


def _goal_values(goal: str, meaning: GoalMeaning | None) -> dict[str, Any]:
    if meaning is None:
        return {}
    plain = scoring.plain_goal(goal)
    words = query_words(plain)
    return {
        "goal": goal,
        "plain_goal": f" {plain} ",
        "goal_words": [f" {word} " for word in words],
        "shared_words": max(1, -(-len(words) // 3)),
        "nearest": NEAREST_IN_MEANING,
        "goal_embedding": meaning.vector,
        "far": meaning.max_distance,
    }
