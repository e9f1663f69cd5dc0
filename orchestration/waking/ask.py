"""Flux 2 from a state: a mind wakes and is given what fits how it is (003, component 1, state-based retrieval).

Six queries as for an intention: likeness of emotion in the vector place, the mode's own text in the place of
the traversal. Two deviations from 003: recency is measured on `valid_at` (when it was so), because all that is
taken in at once has one `created_at`; and where a mode holds few memories by their state of work, emotions are
compared by an exact scan of those, because an index of everything would bring others; find_similar_state holds
everything, and asks the index and the newest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from orchestration.assembly.options import state_options
from orchestration.assembly.stream import RetrievalReport, assemble
from orchestration.dependencies import Deps
from orchestration.graph_queries.execution import QueryResult, run_all
from orchestration.graph_queries.existing_graphs import View, open_view
from orchestration.ranking.candidates import Candidates, Key
from orchestration.ranking.plurality import with_plurality
from orchestration.stream_completion import Feedback, StageTimer, complete, let_others_run
from orchestration.traversal.probability import State
from orchestration.waking import resolutions, scoring
from orchestration.waking.queries import Meaning, goes_by_goal, scope_of, six
from orchestration.waking.resolutions import Resolution
from orchestration.waking.scoring import Answer, Sought
from schemas.errors import Unavailable
from schemas.intention import QueryMode, StateBasedRetrieval
from schemas.memory import ConsciousnessNode, Level
from schemas.stream import ConsciousnessStream
from schemas.temporal import Instant, Scope, to_datetime
from substrate.emotions import normal_emotions
from substrate.store.search import HOP


async def retrieve_consciousness_context_from_state(
    state: StateBasedRetrieval, deps: Deps, now: Instant
) -> ConsciousnessStream:
    """The stream for a state (003, component 1), patterns with the highest discovery energy first.

    Raises as `retrieve_consciousness_context` does. A level whose graph does not exist is empty; a query that
    fails or is late is named in `degraded`; without current emotions the three queries of emotion are left
    out, and a note says so.
    """
    timer = StageTimer()
    notes: list[str] = []
    view = await open_view(state.citizen_id, state.query_levels, scope_of(state, now), deps, now=now)
    timer.end("open")
    meaning = await _meaning(state, view, deps, notes)
    timer.end("embed")
    sought = _sought(state, view.scope)
    async with deps.connection.questions.turn():
        answers = await run_all(six(state, view, meaning))
        timer.end("six_queries")
        gathered = gather(answers, sought)
        resolved = _resolved(gathered, sought)
        memories = gathered.found.memories
        own = {key: scoring.mode_score(memories[key], answer, sought) for key, answer in gathered.answers.items()}
        scores = resolutions.passed_on(own, resolved)
        activation = scoring.activate(gathered.found, scores, sought)
        if state.plurality is not None:
            activation = with_plurality(activation, memories, state.plurality, sought.moment)
        await let_others_run()
        timer.end("activation")
        report = RetrievalReport(
            retrieved_at=to_datetime(now),
            timings=[answer.timing for answer in answers],
            notes=_notes(state, view) + notes,
            entities=[],
            patterns=[resolutions.pattern(one, gathered.answers[one.blockage.key].felt) for one in resolved],
        )
        stream = _in_mode_order(assemble(state_options(state), gathered.found, activation, report), scores)
        await let_others_run()
        timer.end("assembly")
        feedback = Feedback(state.current_energy) if state.apply_feedback else None
        return await complete(stream, view, deps, timer=timer, feedback=feedback)


def _sought(state: StateBasedRetrieval, scope: Scope) -> Sought:
    goal = state.current_goal
    return Sought(
        mode=state.query_mode,
        energy=state.current_energy,
        emotions=normal_emotions(state.current_emotions),
        goal=goal if goal is not None and scoring.plain_goal(goal) else None,
        moment=scope.valid.start,
        pressure=state.reality_pressure,
        state=State(state.current_goal, state.current_emotions),
    )


async def _meaning(state: StateBasedRetrieval, view: View, deps: Deps, notes: list[str]) -> Meaning | None:
    """The meaning of the goal where a mode asks for one; where there is none, goals are compared by words."""
    if not view.targets or not goes_by_goal(state):
        return None
    try:
        vector = await deps.embedder.embed_query(scoring.plain_goal(state.current_goal or ""))
    except Unavailable as error:
        notes.append(f"goals were compared by their words only: {error.detail}")
        return Meaning([])
    if not vector:
        notes.append("goals were compared by their words only: no embedder is configured")
    return Meaning(vector, 1.0 - scoring.SHARED_MEANING)


@dataclass(slots=True)
class Gathered:
    """What the queries found, how each answer answers, and which blockages are known to have been blocked."""

    found: Candidates = field(default_factory=Candidates)
    answers: dict[Key, Answer] = field(default_factory=dict)
    blocked: set[tuple[Level, str]] = field(default_factory=set)


def gather(answered: Sequence[QueryResult], sought: Sought) -> Gathered:
    """The rows of all queries, sifted by the exact measures of the mode; likeness is cosine of emotions."""
    gathered = Gathered()
    for one in answered:
        gathered.found.known_to = one.request.known_to
        level, alike = one.level, one.request.kind == "vector"
        if one.request.kind == "pools":
            gathered.found.add(level, one.rows, likeness=False)
            continue
        once = scoring.felt_when_blocked(one.rows, sought.emotions)
        gathered.blocked.update((level, place) for place in once)
        starts = []
        for row in one.rows:
            answer = scoring.answer_of(row, once, sought, alike=alike) if row[HOP] == 0 else None
            if answer is not None and scoring.accepted(row, answer, sought, alike=alike):
                starts.append((1.0 - answer.felt if alike else 0.0, row))
                _keep(gathered.answers, scoring.key_of(level, row), answer)
        gathered.found.add(level, scoring.sift(one.rows, starts), likeness=alike)
    return gathered


def _keep(answers: dict[Key, Answer], key: Key, answer: Answer) -> None:
    known = answers.get(key)
    answers[key] = answer if known is None else Answer(answer.felt, max(answer.meant, known.meant))


def _resolved(gathered: Gathered, sought: Sought) -> list[Resolution]:
    """Highest discovery energy first; of equal ones those that are known to have been blocked."""
    if sought.mode is not QueryMode.RESOLUTION_PATTERNS:
        return []
    memories = gathered.found.memories
    alike = [key for key, answer in gathered.answers.items() if scoring.is_like(memories[key], answer, sought)]
    return sorted(
        resolutions.resolutions(gathered.found, alike),
        key=lambda one: (
            -scoring.discovery(one.blockage),
            one.blockage.key[:2] not in gathered.blocked,
            -gathered.answers[one.blockage.key].felt,
            one.blockage.key,
            one.link.get("id"),
        ),
    )


def _in_mode_order(stream: ConsciousnessStream, scores: Mapping[Key, float]) -> ConsciousnessStream:
    """Each level's own query in the order of its mode; the tiers keep the order of activation."""

    def place(node: ConsciousnessNode) -> tuple[bool, float]:
        key = (node.level, node.node_id, node.version)
        return key not in scores, -scores.get(key, 0.0)

    ordered = {
        name: level.model_copy(update={"graph_results": tuple(sorted(level.graph_results, key=place))})
        for name, level in stream.levels.items()
    }
    return stream.model_copy(update={"levels": ordered})


def _notes(state: StateBasedRetrieval, view: View) -> list[str]:
    notes = [*state.notes, *view.notes]
    if not any(state.current_emotions.values()):
        notes.append("the state says no emotions: likeness of emotion was not asked for")
    if state.query_mode is QueryMode.WHAT_I_WAS_DOING and state.temporal_scope == "all_time":
        notes.append("find_what_i_was_doing looks back 30 days, whatever the temporal_scope")
    return notes
