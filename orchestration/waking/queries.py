"""The six queries of a waking mind as values (003, component 1, state-based retrieval).

Likeness of emotion stands in the vector place, the mode's own text in the place of the traversal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from orchestration.graph_queries import six_queries
from orchestration.graph_queries.execution import QueryRequest
from orchestration.graph_queries.existing_graphs import View
from orchestration.graph_queries.plural_pools import build_pool_queries
from orchestration.graph_queries.six_queries import MIN_POOL
from orchestration.ranking.plurality import DAY
from orchestration.waking import scoring
from schemas.intention import QueryMode, StateBasedRetrieval
from schemas.memory import ResolutionState
from schemas.temporal import BEGINNING_OF_TIME, Instant, Scope, to_instant
from substrate.emotions import emotion_vector
from substrate.store import waking as store
from substrate.store.filters import felt_values
from substrate.text import query_words

WINDOW: Final = int(scoring.WINDOW_DAYS) * DAY
NEAR_IN_MEANING = 20
"""A memory may be about the goal when it is among so many nearest of its graph."""
NEAR_IN_FEELING = 2000
"""So many nearest of the emotion index are asked which of them are recent enough and near in energy."""
PATTERNS = 10
"""Resolution patterns of each query and level at most (003)."""
COLLISIONS = 0.1
"""How far a distance of hashed emotion vectors may lie from the exact one before a candidate is lost."""
EXPANDED = 8
"""Of so many answers the strongest links come too."""

_UNRESOLVED = [ResolutionState.IN_PROGRESS.value, ResolutionState.BLOCKED.value]
_RESOLVED = ResolutionState.RESOLVED.value
_NAMES: Final[Mapping[QueryMode, tuple[str, str]]] = {
    QueryMode.RELATED_UNRESOLVED: ("felt", "like_in_energy"),
    QueryMode.SIMILAR_STATE: ("felt_near", "felt_new"),
    QueryMode.WHAT_I_WAS_DOING: ("felt", "doing"),
    QueryMode.RESOLUTION_PATTERNS: ("resolved_alike", "resolved_by_impact"),
}
"""By mode: the text in the vector place, and the one in the traversal place."""
_BY_GOAL: Final[Mapping[QueryMode, tuple[str, str]]] = {
    QueryMode.RELATED_UNRESOLVED: ("unresolved", "unresolved_by_words"),
    QueryMode.RESOLUTION_PATTERNS: ("resolved_by_goal", "resolved_by_words"),
}
"""The text in the traversal place for a goal: with its meaning, and where only its words are known."""


class Meaning(NamedTuple):
    """A goal as a vector, and how far a memory may lie from it to be about it. Empty: it has words only."""

    vector: list[float]
    far: float = 0.0


def goes_by_goal(state: StateBasedRetrieval) -> bool:
    """Whether the mode compares goals and the state has one that says something."""
    modes = (QueryMode.RELATED_UNRESOLVED, QueryMode.RESOLUTION_PATTERNS)
    return state.query_mode in modes and bool(scoring.plain_goal(state.current_goal or ""))


def scope_of(state: StateBasedRetrieval, now: Instant) -> Scope:
    """The moment of waking: now, or `as_of_time` on both axes, with `known_at` apart."""
    as_of, known = (None if said is None else to_instant(said) for said in (state.as_of_time, state.known_at))
    return Scope.resolve(as_of, known, now)


def six(state: StateBasedRetrieval, view: View, meaning: Meaning | None) -> list[QueryRequest]:
    """The queries of a state: two for each graph that exists, one where the state has no emotions."""
    scope = view.scope
    felt, goalless = _NAMES[state.query_mode]
    values = {**_shape(state, scope), **_bounds(state, scope), **_goal_values(state, meaning)}
    emotion = emotion_vector(state.current_emotions)
    own = goalless if meaning is None else _BY_GOAL[state.query_mode][not meaning.vector]
    requests = []
    for target in view.targets.values():
        texts = store.THEN if target.past else store.NOW
        if emotion is not None:
            values["emotion"] = emotion
            requests.append(QueryRequest("vector", target, getattr(texts, felt), values))
        requests.append(QueryRequest("graph", target, getattr(texts, own), values))
        words = query_words(state.current_goal or "")
        requests += build_pool_queries(state, target, words, values, moment=scope.valid.start)
    return requests


def _shape(state: StateBasedRetrieval, scope: Scope) -> dict[str, Any]:
    """Scope and reach, the same in every mode."""
    pool = max(MIN_POOL, 2 * state.max_results_per_level)
    reach = six_queries.Reach(pool=pool)
    return {
        **scope.bounds(),
        **felt_values(),
        "moment": scope.valid.start,
        "window": float(WINDOW),
        "energy": state.current_energy,
        "k": NEAR_IN_FEELING,
        "limit": pool,
        "patterns": PATTERNS,
        "expanded": EXPANDED,
        "first_hop": reach.first_hop,
        "second_hop": reach.second_hop,
    }


def _bounds(state: StateBasedRetrieval, scope: Scope) -> dict[str, Any]:
    """What a mode may answer with, and what may stand beside its answers."""
    mode = state.query_mode
    recent = state.temporal_scope == "recent" or mode is QueryMode.WHAT_I_WAS_DOING
    since = scope.valid.start - WINDOW if recent else BEGINNING_OF_TIME
    whole = mode is QueryMode.RESOLUTION_PATTERNS
    near = mode is QueryMode.SIMILAR_STATE
    only = mode is QueryMode.RELATED_UNRESOLVED and state.include_only_unresolved
    return {
        "since": since,
        "states": _states(state),
        "least_energy": round(state.current_energy - scoring.NEAR, 9) if near else 0.0,
        "most_energy": round(state.current_energy + scoring.NEAR, 9) if near else 1.0,
        "felt_far": 1.0 - scoring.floor(mode) + COLLISIONS,
        "beside_since": BEGINNING_OF_TIME if whole else since,
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


def _goal_values(state: StateBasedRetrieval, meaning: Meaning | None) -> dict[str, Any]:
    if meaning is None:
        return {}
    plain = scoring.plain_goal(state.current_goal or "")
    words = query_words(plain)
    return {
        "goal": state.current_goal,
        "plain_goal": f" {plain} ",
        "goal_words": [f" {word} " for word in words],
        "shared_words": max(1, -(-len(words) // 3)),
        "near": NEAR_IN_MEANING,
        "goal_embedding": meaning.vector,
        "far": meaning.far,
    }
