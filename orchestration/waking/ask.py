"""Builds the stream for the state of a citizen: memories that fit it (003, component 1, state-based retrieval).

It sends two queries to each graph: one by likeness of emotion, one by the mode. Two deviations from 003: Recency
is computed from `valid_at`, because all memories of one import have the same `created_at`. Modes that search only
some resolution states compare emotions with all memories in these states, because the nearest in the vector index
would mostly be in other states; find_similar_state has no such limit and uses the index and the newest memories.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from orchestration.assembly.stream import RetrievalReport
from orchestration.dependencies import Deps
from orchestration.graph_queries.execution import QueryKind, QueryRequest, run_all
from orchestration.graph_queries.existing_graphs import View, open_view, read_filters
from orchestration.graph_queries.recall import Recall, as_recalled, take_hits, take_words
from orchestration.graph_queries.six_queries import MIN_POOL, Reach, build_pool_query
from orchestration.mind.energy import Decay
from orchestration.mind.state import felt_state
from orchestration.ranking.activation import in_order, with_plurality
from orchestration.ranking.consciousness_score import DAY, HALF_LIFE_DAYS, REALITY_PRESSURE
from orchestration.stream_completion import Asking, Ordered, StageTimer, complete, known_scope, show
from orchestration.traversal.paths import State
from orchestration.waking.recollection import Recollection, add_links, add_told, prepare_cue, recollect
from orchestration.waking.scoring import (
    ENERGY_RANGE,
    LEAST_LIKENESS,
    SHARED_MEANING,
    SIMILAR_STATE_LIKENESS,
    WINDOW_DAYS,
    WakingState,
    activate,
    collect_answers,
    mode_score,
    plain_goal,
)
from orchestration.waking.told import pass_scores_on, rank_resolutions, show_pattern, told_resolutions
from schemas.base import without_nulls
from schemas.errors import Unavailable
from schemas.intention import EMOTIONAL_MODES, QueryMode, StateBasedRetrieval
from schemas.memory import Level, ResolutionState, Source
from schemas.mind.state import CitizenState
from schemas.stream import ConsciousnessStream, ResolutionPattern
from schemas.temporal import BEGINNING_OF_TIME, Instant, Scope, to_datetime
from substrate.emotions import cosine_similarity, emotion_vector, normal_emotions
from substrate.graphs.graph import GraphTarget, Query, Search
from substrate.language.text import query_words
from substrate.store import waking as store
from substrate.store.filters import EVERY_MEMORY, filter_values
from substrate.store.waking import WakingQueries

WINDOW: Final = int(WINDOW_DAYS) * DAY
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


async def retrieve_consciousness_context_from_state(
    state: StateBasedRetrieval, deps: Deps, now: Instant, *, recall: Recall | None = None
) -> ConsciousnessStream:
    """The stream for a state (003, component 1); resolution patterns come highest discovery energy first.

    Raises as `retrieve_consciousness_context` does. A level without a graph is empty; a query that fails or is
    late is named in `degraded`. Without emotions no query by emotion is sent, and a note says so.
    `recall`: what it found when it was asked at `now` before, as for a question.
    """
    timer = StageTimer()
    scope = Scope.resolve_datetimes(state.as_of_time, state.known_at, now)
    view = await open_view(state.citizen_id, state.graphs, scope, deps, now=now, recall=recall)
    timer.end("open")
    whole = await _whole_state(state, view, deps)
    pressure = state.reality_pressure
    if pressure is None:
        pressure = await deps.features.read("pressure", whole, view.targets.get(Level.N1), view.scope)
    pressure = REALITY_PRESSURE if pressure is None else pressure
    state = state.model_copy(update={"reality_pressure": pressure})
    waking = _waking_state(state, whole, view.scope, pressure=pressure)
    of_state, notes = _notes(state, waking, whole, view), list[str]()
    timer.end("state")
    meaning, filtered = await asyncio.gather(
        embed_goal(waking, view, deps, notes), read_filters(state.filters, view)
    )
    cue = await prepare_cue(state, waking, view, deps, meaning=meaning, fewest=filtered.fewest)
    timer.end("embed")
    async with deps.connection.questions.turn():
        asked = as_recalled(build_queries(state, waking, view, meaning), recall)
        answered = await run_all([*asked, *cue.requests])
        hits, words = take_hits(answered), take_words(cue.lexicons)
        results = answered[: len(asked)]
        recollection = await recollect(
            cue, answered[len(asked) :], waking, unresolved=state.include_only_unresolved
        )
        timer.end("six_queries")
        collected = collect_answers(results, waking, view.scope.known.end)
        candidates, answers = collected.candidates, collected.answers
        by_pattern = waking.mode is QueryMode.RESOLUTION_PATTERNS
        resolutions = rank_resolutions(collected, waking) if by_pattern else []
        own = {key: mode_score(candidates.memories[key], answer, waking) for key, answer in answers.items()}
        passed = pass_scores_on(own, resolutions) if resolutions else own
        scores = add_told(candidates, passed, recollection, state.max_results_per_level)
        activation = activate(candidates, scores, waking, recollection.parts)
        if state.plurality is not None:
            activation = with_plurality(activation, candidates.memories, state.plurality, waking.moment)
        if recall is not None:
            activation = in_order(activation, recall.order)
        activation = await add_links(candidates, activation, state, waking, view=view, notes=notes)
        timer.end("activation")
        patterns = [show_pattern(each, answers[each.blockage.key].emotional) for each in resolutions]
        if by_pattern:
            patterns += _told_patterns(recollection, patterns, waking)
        offers = await deps.features.read("offers", state, view, notes) or []
        # What was recalled belongs into the report where something fits; else only what failed.
        recalled = [result for result in recollection.results if recollection.parts or result.timing.failure]
        report = RetrievalReport(
            retrieved_at=to_datetime(view.now),
            timings=[result.timing for result in (*results, *recalled)],
            notes=[*of_state, *filtered.notes, *notes],
            state=waking.link_state,
            patterns=patterns,
            offers=offers,
            decay=Decay(deps.half_lives, waking.moment),
        )
        ordered = Ordered(
            candidates=candidates,
            activation=activation,
            report=report,
            found=Recall(known_scope(view, candidates), hits, words, state=whole),
            scores=scores,
        )
        asking = Asking(state, view, deps, timer)
        stream = await show(asking, ordered)
        if state.as_of_time is not None:
            asking = replace(asking, request=state.model_copy(update={"current_energy": waking.energy}))
        return (await complete(asking, ordered, stream)).answer


async def _whole_state(state: StateBasedRetrieval, view: View, deps: Deps) -> CitizenState:
    """The state to wake from: that of then, what the request gives, what is kept, or what the memories tell."""
    if view.recall is not None and view.recall.state is not None:
        return view.recall.state
    said = {"energy": state.current_energy, "emotion_vector": state.current_emotions, "goal": state.current_goal}
    given = without_nulls(said)
    if len(given) == len(said):
        return CitizenState(citizen_id=state.citizen_id, **given)
    own = view.targets.get(Level.N1)
    felt = await felt_state(state.citizen_id, deps, view.scope, view.now, target=own)
    sources = tuple(source for source in felt.sources if source.field not in given)
    writers = {name: source for name, source in felt.writers.items() if name not in given}
    return felt.model_copy(update={**given, "sources": sources, "writers": writers, "derived": bool(sources)})


def _waking_state(
    state: StateBasedRetrieval, whole: CitizenState, scope: Scope, *, pressure: float
) -> WakingState:
    """The state in the form of the scores. A derived goal is left out: other open work would not be found."""
    is_derived = any(source.field == "goal" for source in whole.sources)
    goal = None if is_derived else whole.goal
    return WakingState(
        mode=state.query_mode,
        energy=whole.energy,
        emotions=normal_emotions(whole.emotion_vector),
        goal=goal if goal is not None and plain_goal(goal) else None,
        moment=scope.valid.start,
        citizen=state.citizen_id,
        half_life=HALF_LIFE_DAYS if state.temporal_scope == "recent" else None,
        pressure=pressure,
        link_state=State(goal, whole.emotion_vector),
    )


def _told_patterns(
    recollection: Recollection, known: Sequence[ResolutionPattern], waking: WakingState
) -> list[ResolutionPattern]:
    """The patterns of what was told in plain words, without those that are known."""
    seen = {pattern.link_id for pattern in known}
    found: list[ResolutionPattern] = []
    for each in told_resolutions(recollection.told, recollection.solutions, recollection.scores()):
        emotions = recollection.told[each.blockage.key].emotions
        if each.link.get("id") not in seen:
            found.append(show_pattern(each, cosine_similarity(emotions, waking.emotions)))
    return found


def _notes(state: StateBasedRetrieval, waking: WakingState, whole: CitizenState, view: View) -> list[str]:
    notes = [*state.notes, *view.notes]
    for name, source in whole.writers.items():
        if source not in (Source.CITIZEN, Source.SYSTEM):
            notes.append(f"{name} of the state is the word of a source {source}, not of the citizen")
    if not any(waking.emotions.values()):
        sought = f", and {waking.mode} looks for it" if waking.mode in EMOTIONAL_MODES else ""
        notes.append(f"the state has no emotions: likeness of emotion was not used{sought}")
    if state.query_mode is QueryMode.WHAT_I_WAS_DOING and state.temporal_scope == "all_time":
        notes.append("find_what_i_was_doing always looks back 30 days; temporal_scope was ignored")
    return notes


async def embed_goal(waking: WakingState, view: View, deps: Deps, notes: list[str]) -> list[float] | None:
    """The vector of the goal: None if the mode compares no goals, empty if the goal cannot be embedded.

    In the second case only words count, and `notes` gains the reason.
    """
    compares = waking.mode in (QueryMode.RELATED_UNRESOLVED, QueryMode.RESOLUTION_PATTERNS)
    if not view.targets or not compares or not waking.goal:
        return None
    try:
        vector = await deps.embedder.embed_query(plain_goal(waking.goal))
    except Unavailable as error:
        notes.append(f"goals were compared by their words only: {error.detail}")
        return []
    if not vector:
        notes.append("goals were compared by their words only: no embedder is configured")
    return vector


def build_queries(
    state: StateBasedRetrieval, waking: WakingState, view: View, meaning: list[float] | None
) -> list[QueryRequest]:
    """Two queries for each graph, and the pools of plurality; without emotions only those that compare none.

    `meaning`: the vector of the goal, as `embed_goal` makes it.
    """
    scope, goal = view.scope, waking.link_state.goal or ""
    values = {} if meaning is None else _goal_values(goal, meaning)
    values |= _values(state, waking, scope)
    emotion = emotion_vector(waking.emotions)
    if emotion is not None:
        values["emotion"], values["felt_names"] = emotion, sorted(normal_emotions(waking.emotions))
    requests = []
    for target in view.targets.values():
        if state.filters is None or state.filters.empty:
            queries = store.THEN if target.past else store.NOW
        else:
            queries = store.FITTING_THEN if target.past else store.FITTING_NOW
        by_emotion, by_mode = _choose_queries(state.query_mode, meaning, queries)
        if emotion is not None:
            requests.append(_request("vector", target, by_emotion, values))
        if emotion is not None or waking.mode not in EMOTIONAL_MODES:
            near: dict[str, Search] = {}
            if values["unfiltered"] and meaning:
                near["near"] = Search(meaning, NEAREST_IN_MEANING, open_only=not target.past)
            requests.append(_request("graph", target, by_mode, {**values, **near}))
        if state.plurality is not None:
            words, moment = query_words(goal), scope.valid.start
            pools = build_pool_query(state, state.plurality, target, words, values=values, moment=moment)
            requests.append(pools)
    return requests


def _request(kind: QueryKind, target: GraphTarget, query: Query, values: Mapping[str, Any]) -> QueryRequest:
    reading = partial(store.read_given, query) if query.name in store.OF_GIVEN else None
    return QueryRequest(kind, target, query, values, reading=reading)


def _choose_queries(mode: QueryMode, meaning: list[float] | None, queries: WakingQueries) -> tuple[Query, Query]:
    """The query by emotion, where retrieval uses vectors, and the one by the mode, or by the goal."""
    if mode is QueryMode.SIMILAR_STATE:
        return queries.felt_near, queries.felt_new
    if mode is QueryMode.WHAT_I_WAS_DOING:
        return queries.felt, queries.doing
    if mode is QueryMode.RELATED_UNRESOLVED:
        by_goal = queries.unresolved if meaning else queries.unresolved_by_words
        return queries.felt, queries.like_in_energy if meaning is None else by_goal
    by_goal = queries.resolved_by_goal if meaning else queries.resolved_by_words
    return queries.resolved_alike, queries.resolved_by_impact if meaning is None else by_goal


def _values(state: StateBasedRetrieval, waking: WakingState, scope: Scope) -> dict[str, Any]:
    """The parameters of time and filters; which memories may be answers, and which are shown beside them."""
    mode, pool = state.query_mode, max(MIN_POOL, 2 * state.max_results_per_level)
    since = scope.valid.start - WINDOW if mode is QueryMode.WHAT_I_WAS_DOING else BEGINNING_OF_TIME
    near, open_alone = mode is QueryMode.SIMILAR_STATE, state.include_only_unresolved
    states: dict[QueryMode, list[str]] = {
        QueryMode.SIMILAR_STATE: [],
        QueryMode.WHAT_I_WAS_DOING: [ResolutionState.IN_PROGRESS.value],
        QueryMode.RESOLUTION_PATTERNS: [_RESOLVED],
        QueryMode.RELATED_UNRESOLVED: _UNRESOLVED if open_alone else [*_UNRESOLVED, _RESOLVED],
    }
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
        "first_hop": Reach(pool).first_hop,
        "second_hop": Reach(pool).second_hop,
        "since": since,
        "states": states[mode],
        "least_energy": round(waking.energy - ENERGY_RANGE, 9) if near else 0.0,
        "most_energy": round(waking.energy + ENERGY_RANGE, 9) if near else 1.0,
        "felt_far": 1.0 - (SIMILAR_STATE_LIKENESS if near else LEAST_LIKENESS) + HASH_ERROR,
        "beside_since": since,
        "beside_states": _UNRESOLVED if mode is QueryMode.RELATED_UNRESOLVED and open_alone else [],
    }


def _goal_values(goal: str, meaning: list[float]) -> dict[str, Any]:
    plain = plain_goal(goal)
    words = query_words(plain)
    return {
        "goal": goal,
        "plain_goal": f" {plain} ",
        "goal_words": [f" {word} " for word in words],
        "shared_words": max(1, -(-len(words) // 3)),
        "nearest": NEAREST_IN_MEANING,
        "goal_embedding": meaning,
        "far": 1.0 - SHARED_MEANING if meaning else 0.0,
    }
