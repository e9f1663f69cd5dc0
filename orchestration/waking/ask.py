"""Builds the stream for the state of a citizen: memories that fit it (003, component 1, state-based retrieval).

It sends two queries to each graph: one by likeness of emotion, one by the mode. Two deviations from 003: Recency
is computed from `valid_at`, because all memories of one import have the same `created_at`. Modes that search only
some resolution states compare emotions with all memories in these states, because the nearest in the vector index
would mostly be in other states; find_similar_state has no such limit and uses the index and the newest memories.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from orchestration.assembly.options import state_options
from orchestration.assembly.stream import RetrievalReport, assemble
from orchestration.dependencies import Deps
from orchestration.graph_queries.execution import QueryResult, run_all
from orchestration.graph_queries.existing_graphs import View, open_view
from orchestration.ranking.candidates import Candidates, Key
from orchestration.ranking.plurality import with_plurality
from orchestration.stream_completion import StageTimer, complete, let_others_run
from orchestration.traversal.probability import State
from orchestration.waking import resolutions, scoring
from orchestration.waking.queries import GoalMeaning, build_queries, compares_goals
from orchestration.waking.resolutions import Resolution
from orchestration.waking.scoring import Answer, WakingState
from schemas.errors import Unavailable
from schemas.intention import QueryMode, StateBasedRetrieval
from schemas.memory import ConsciousnessNode, Level
from schemas.stream import ConsciousnessStream
from schemas.temporal import Instant, Scope, to_datetime
from substrate.emotions import normal_emotions
from substrate.store.waking import WakingRow


async def retrieve_consciousness_context_from_state(
    state: StateBasedRetrieval, deps: Deps, now: Instant
) -> ConsciousnessStream:
    """The stream for a state (003, component 1); resolution patterns come highest discovery energy first.

    Raises as `retrieve_consciousness_context` does. A level without a graph is empty; a query that fails or is
    late is named in `degraded`. Without current emotions no query by emotion is sent, and a note says so.
    """
    timer = StageTimer()
    notes: list[str] = []
    scope = Scope.resolve_datetimes(state.as_of_time, state.known_at, now)
    view = await open_view(state.citizen_id, state.query_levels, scope, deps, now=now)
    timer.end("open")
    meaning = await _goal_meaning(state, view, deps, notes)
    timer.end("embed")
    waking = _waking_state(state, scope)
    async with deps.connection.questions.turn():
        results = await run_all(build_queries(state, view, meaning))
        timer.end("six_queries")
        collected = collect_answers(results, waking)
        resolved = _resolutions(collected, waking)
        memories = collected.candidates.memories
        own = {key: scoring.mode_score(memories[key], answer, waking) for key, answer in collected.answers.items()}
        scores = resolutions.pass_scores_on(own, resolved)
        activation = scoring.activate(collected.candidates, scores, waking)
        if state.plurality is not None:
            activation = with_plurality(activation, memories, state.plurality, waking.moment)
        await let_others_run()
        timer.end("activation")
        report = _report(results, collected, resolved, notes=_notes(state, view) + notes, now=now)
        stream = _in_mode_order(assemble(state_options(state), collected.candidates, activation, report), scores)
        await let_others_run()
        timer.end("assembly")
        return await complete(stream, state, view, deps, timer=timer)


def _report(
    results: Iterable[QueryResult],
    collected: CollectedAnswers,
    resolved: Iterable[Resolution],
    *,
    notes: list[str],
    now: Instant,
) -> RetrievalReport:
    likeness = {key: answer.emotional for key, answer in collected.answers.items()}
    return RetrievalReport(
        retrieved_at=to_datetime(now),
        timings=[result.timing for result in results],
        notes=notes,
        entities=[],
        patterns=[resolutions.show_pattern(one, likeness[one.blockage.key]) for one in resolved],
    )


def _waking_state(state: StateBasedRetrieval, scope: Scope) -> WakingState:
    goal = state.current_goal
    return WakingState(
        mode=state.query_mode,
        energy=state.current_energy,
        emotions=normal_emotions(state.current_emotions),
        goal=goal if goal is not None and scoring.plain_goal(goal) else None,
        moment=scope.valid.start,
        pressure=state.reality_pressure,
        link_state=State(state.current_goal, state.current_emotions),
    )


async def _goal_meaning(
    state: StateBasedRetrieval, view: View, deps: Deps, notes: list[str]
) -> GoalMeaning | None:
    """The vector of the goal: None if the mode compares no goals, empty if the goal cannot be embedded."""
    if not view.targets or not compares_goals(state):
        return None
    try:
        vector = await deps.embedder.embed_query(scoring.plain_goal(state.current_goal or ""))
    except Unavailable as error:
        notes.append(f"goals were compared by their words only: {error.detail}")
        return GoalMeaning([])
    if not vector:
        notes.append("goals were compared by their words only: no embedder is configured")
    return GoalMeaning(vector, 1.0 - scoring.SHARED_MEANING)


@dataclass(slots=True)
class CollectedAnswers:
    """The candidates, the answers among them, and the memories with a past record from when they were blocked."""

    candidates: Candidates = field(default_factory=Candidates)
    answers: dict[Key, Answer] = field(default_factory=dict)
    once_blocked: set[tuple[Level, str]] = field(default_factory=set)


def collect_answers(results: Iterable[QueryResult], waking: WakingState) -> CollectedAnswers:
    """Collect the rows that fit the mode by exact measures, and the rows linked to them."""
    collected = CollectedAnswers()
    for result in results:
        collected.candidates.known_to = result.request.known_to
        if result.request.kind == "pools":
            collected.candidates.add(result.level, result.rows, likeness=False)
        else:
            _collect(collected, result, waking)
    return collected


def _collect(collected: CollectedAnswers, result: QueryResult, waking: WakingState) -> None:
    by_emotion = result.request.kind == "vector"
    rows = [WakingRow(result.level, columns) for columns in result.rows]
    when_blocked = scoring.likeness_when_blocked(rows, waking.emotions)
    collected.once_blocked.update((result.level, memory_id) for memory_id in when_blocked)
    accepted = []
    for row in rows:
        if row.hop != 0:
            continue
        answer = scoring.measure(row, when_blocked, waking, by_emotion=by_emotion)
        if scoring.is_answer(row, answer, waking, by_emotion=by_emotion):
            accepted.append(row.with_score(1.0 - answer.emotional if by_emotion else 0.0))
            _keep_answer(collected.answers, row.key, answer)
    columns = [row.columns for row in scoring.keep_linked(rows, accepted)]
    collected.candidates.add(result.level, columns, likeness=by_emotion)


def _keep_answer(answers: dict[Key, Answer], key: Key, answer: Answer) -> None:
    known = answers.get(key)
    answers[key] = answer if known is None else Answer(answer.emotional, max(answer.meaning, known.meaning))


def _resolutions(collected: CollectedAnswers, waking: WakingState) -> list[Resolution]:
    """The resolutions: highest discovery energy first; of equal ones first those with a record as blocked."""
    if waking.mode is not QueryMode.RESOLUTION_PATTERNS:
        return []
    memories = collected.candidates.memories
    blockages = [
        key for key, answer in collected.answers.items() if scoring.is_like_now(memories[key], answer, waking)
    ]
    return sorted(
        resolutions.find_resolutions(collected.candidates, blockages),
        key=lambda resolution: (
            -scoring.discovery_energy(resolution.blockage),
            resolution.blockage.key[:2] not in collected.once_blocked,
            -collected.answers[resolution.blockage.key].emotional,
            resolution.blockage.key,
            resolution.link.get("id"),
        ),
    )


def _in_mode_order(stream: ConsciousnessStream, scores: Mapping[Key, float]) -> ConsciousnessStream:
    """Sort the graph results of each level by mode score; the tiers keep the order of activation."""

    def order(node: ConsciousnessNode) -> tuple[bool, float]:
        key = (node.level, node.node_id, node.version)
        return key not in scores, -scores.get(key, 0.0)

    levels = {
        name: level.model_copy(update={"graph_results": tuple(sorted(level.graph_results, key=order))})
        for name, level in stream.levels.items()
    }
    return stream.model_copy(update={"levels": levels})


def _notes(state: StateBasedRetrieval, view: View) -> list[str]:
    notes = [*state.notes, *view.notes]
    if not any(state.current_emotions.values()):
        notes.append("the state has no emotions: likeness of emotion was not used")
    if state.query_mode is QueryMode.WHAT_I_WAS_DOING and state.temporal_scope == "all_time":
        notes.append("find_what_i_was_doing looks back 30 days, whatever the temporal_scope")
    return notes
