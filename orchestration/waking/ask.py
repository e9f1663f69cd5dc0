"""Builds the stream for the state of a citizen: memories that fit it (003, component 1, state-based retrieval).

It sends two queries to each graph: one by likeness of emotion, one by the mode. Two deviations from 003: Recency
is computed from `valid_at`, because all memories of one import have the same `created_at`. Modes that search only
some resolution states compare emotions with all memories in these states, because the nearest in the vector index
would mostly be in other states; find_similar_state has no such limit and uses the index and the newest memories.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from orchestration.assembly.stream import RetrievalReport, assemble, state_options
from orchestration.dependencies import Deps
from orchestration.graph_queries.execution import run_all
from orchestration.graph_queries.existing_graphs import View, open_view
from orchestration.graph_queries.filters import read_filters
from orchestration.graph_queries.recall import Recall, as_recalled, take_hits, take_words
from orchestration.mind.energy import Decay
from orchestration.mind.state import felt_state
from orchestration.ranking.activation import in_order
from orchestration.ranking.candidates import Key
from orchestration.ranking.consciousness_score import REALITY_PRESSURE
from orchestration.ranking.plurality import HALF_LIFE_DAYS, with_plurality
from orchestration.stream_completion import (
    StageTimer,
    complete,
    known_scope,
    let_others_run,
    read_contested,
    read_on_mind,
)
from orchestration.traversal.probability import State
from orchestration.waking.queries import build_queries, embed_goal
from orchestration.waking.recollection import Recollection, add_links, add_told, prepare_cue, recollect
from orchestration.waking.resolutions import pass_scores_on, rank_resolutions, show_pattern, told_resolutions
from orchestration.waking.scoring import WakingState, activate, collect_answers, mode_score, plain_goal
from schemas.intention import EMOTIONAL_MODES, QueryMode, StateBasedRetrieval
from schemas.memory import ConsciousnessNode, Level, Source
from schemas.mind.state import CitizenState
from schemas.stream import ConsciousnessStream, ResolutionPattern
from schemas.temporal import Instant, Scope, to_datetime
from substrate.emotions import cosine_similarity, normal_emotions


async def retrieve_consciousness_context_from_state(
    state: StateBasedRetrieval, deps: Deps, now: Instant, *, recall: Recall | None = None
) -> ConsciousnessStream:
    """The stream for a state (003, component 1); resolution patterns come highest discovery energy first.

    Raises as `retrieve_consciousness_context` does. A level without a graph is empty; a query that fails or is
    late is named in `degraded`. Without emotions no query by emotion is sent, and a note says so.
    `recall`: what it found when it was asked at `now` before, as for a question.
    """
    timer = StageTimer()
    notes: list[str] = []
    scope = Scope.resolve_datetimes(state.as_of_time, state.known_at, now)
    scope = scope if recall is None else recall.scope
    view = await open_view(state.citizen_id, state.graphs, scope, deps, now=now)
    view = view._replace(recall=recall)
    timer.end("open")
    then = None if recall is None else recall.state
    whole = await _whole_state(state, view, deps) if then is None else then
    pressure = state.reality_pressure
    if pressure is None:
        pressure = await deps.features.read("pressure", whole, view.targets.get(Level.N1), view.scope)
    pressure = REALITY_PRESSURE if pressure is None else pressure
    state = state.model_copy(update={"reality_pressure": pressure})
    waking = _waking_state(state, whole, scope, pressure=pressure)
    timer.end("state")
    meaning, filtered = await asyncio.gather(
        embed_goal(waking, view, deps, notes), read_filters(state.filters, view)
    )
    cue = await prepare_cue(state, waking, view, deps, meaning=meaning, fewest=filtered.fewest)
    timer.end("embed")
    async with deps.connection.questions.turn():
        asked = as_recalled(build_queries(state, waking, view, meaning), recall)
        answered = await run_all([*asked, *cue.requests])
        results = answered[: len(asked)]
        recollection = await recollect(
            cue, answered[len(asked) :], waking, unresolved=state.include_only_unresolved
        )
        timer.end("six_queries")
        collected = collect_answers(results, waking, scope.known.end)
        candidates, answers = collected.candidates, collected.answers
        resolutions = rank_resolutions(collected, waking)
        own = {key: mode_score(candidates.memories[key], answer, waking) for key, answer in answers.items()}
        passed = pass_scores_on(own, resolutions)
        scores = add_told(candidates, passed, recollection, state.max_results_per_level)
        activation = activate(candidates, scores, waking, recollection.parts)
        if state.plurality is not None:
            activation = with_plurality(activation, candidates.memories, state.plurality, waking.moment)
        if recall is not None:
            activation = in_order(activation, recall.order)
        activation = await add_links(candidates, activation, state, waking, view=view, notes=notes)
        timer.end("activation")
        patterns = [show_pattern(each, answers[each.blockage.key].emotional) for each in resolutions]
        patterns += _told_patterns(recollection, patterns, waking)
        offers = await deps.features.read("offers", state, view, notes) or []
        # What was recalled belongs into the report where something fits; else only what failed.
        recalled = [result for result in recollection.results if recollection.parts or result.timing.failure]
        report = RetrievalReport(
            retrieved_at=to_datetime(view.now),
            timings=[result.timing for result in (*results, *recalled)],
            notes=[*_notes(state, waking, whole, view), *filtered.notes, *notes],
            entities=[],
            patterns=patterns,
            offers=offers,
            decay=Decay(deps.half_lives, waking.moment),
            contested=await read_contested(state, candidates, activation, view, deps=deps),
            on_mind=await read_on_mind(state, activation, view),
        )
        stream = assemble(state_options(state, waking.link_state), candidates, activation, report)
        stream = _in_mode_order(stream.model_copy(update={"state": whole}), scores)
        await let_others_run()
        timer.end("assembly")
        if state.as_of_time is not None:
            state = state.model_copy(update={"current_energy": waking.energy})
        found = Recall(known_scope(view, candidates), take_hits(answered), take_words(cue.lexicons), (), whole)
        completed = await complete(
            stream, state, view, deps, timer=timer, found=found, links=candidates.links.values()
        )
        return completed.answer


async def _whole_state(state: StateBasedRetrieval, view: View, deps: Deps) -> CitizenState:
    """The state to wake from: what the request gives, else what is kept, else what the memories tell."""
    said = {
        "energy": state.current_energy,
        "emotion_vector": state.current_emotions,
        "goal": state.current_goal,
    }
    given = {name: value for name, value in said.items() if value is not None}
    if len(given) == len(said):
        return CitizenState(citizen_id=state.citizen_id, **given)
    own = view.targets.get(Level.N1)
    felt = await felt_state(state.citizen_id, deps, view.scope, view.now, target=own)
    sources = tuple(source for source in felt.sources if source.field not in given)
    writers = {name: source for name, source in felt.writers.items() if name not in given}
    return felt.model_copy(update={**given, "sources": sources, "writers": writers, "derived": bool(sources)})


def _told_patterns(
    recollection: Recollection, known: Sequence[ResolutionPattern], waking: WakingState
) -> list[ResolutionPattern]:
    """The patterns of what was told in plain words, without those that are known."""
    if waking.mode is not QueryMode.RESOLUTION_PATTERNS:
        return []
    seen = {pattern.link_id for pattern in known}
    told = told_resolutions(recollection.told, recollection.solutions, recollection.scores())
    likeness = {key: cosine_similarity(one.emotions, waking.emotions) for key, one in recollection.told.items()}
    shown = [show_pattern(each, likeness[each.blockage.key]) for each in told]
    return [pattern for pattern in shown if pattern.link_id not in seen]


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


def _waking_state(
    state: StateBasedRetrieval, whole: CitizenState, scope: Scope, *, pressure: float
) -> WakingState:
    """The state in the form of the scores. A derived goal is left out: other open work would not be found."""
    derived = {source.field for source in whole.sources}
    goal = None if "goal" in derived else whole.goal
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


def _in_mode_order(stream: ConsciousnessStream, scores: Mapping[Key, float]) -> ConsciousnessStream:
    """Sort the graph results of each level by mode score; the tiers keep the order of activation."""

    def order(node: ConsciousnessNode) -> tuple[bool, float]:
        key = (node.graph_key, node.node_id, node.version)
        return key not in scores, -scores.get(key, 0.0)

    levels = {
        name: level.model_copy(update={"graph_results": tuple(sorted(level.graph_results, key=order))})
        for name, level in stream.levels.items()
    }
    return stream.model_copy(update={"levels": levels})
