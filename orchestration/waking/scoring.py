"""Scores how well a memory fits the state of a citizen, for the four modes of 003, component 1. Pure.

A memory that fits the mode is an answer: its base relevance is the score of the mode, in [0, 1]. A memory that is
only linked to answers gets a share of the activation that spreads from them. The formula of 003, component 5, is
applied to both, with the emotions and the pressure of the moment. Answers come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import orjson

from orchestration.graph_queries.execution import QueryResult, kept_records
from orchestration.ranking import consciousness_score
from orchestration.ranking.activation import Activation
from orchestration.ranking.candidates import Candidate, Candidates, Key
from orchestration.ranking.consciousness_score import DAY, Score, recency
from orchestration.ranking.spreading import SpreadWeights, spread
from orchestration.traversal.paths import NO_STATE, OTHER_GOAL, PART_OF_GOAL, State, goal_match
from schemas.intention import EMOTIONAL_MODES, QueryMode
from schemas.memory import GraphKey, Level
from schemas.temporal import Instant
from substrate.emotions import cosine_similarity, normal_emotions
from substrate.language.text import query_words
from substrate.store.rows import NODE_PLACE
from substrate.store.search import FoundRow

SIMILAR_STATE_LIKENESS = 0.7
"""A state is similar when the cosine of emotions is above this (003, find_similar_state)."""
LEAST_LIKENESS = 0.6
"""A memory feels like now when the cosine of emotions is above this (003, find_resolution_patterns)."""
ENERGY_RANGE = 0.25
"""Energies are similar when they differ by at most this; low, middle and high stay apart (no number in 003)."""
OTHER_PERSON_SHARE: Final = 0.5
"""What a person did or said who is not known to be the citizen: it may be somebody else."""
WINDOW_DAYS = 30.0
"""Recent means within this many days (003); recency in find_what_i_was_doing is 0.5 after as many."""
SHARED_WORDS = 0.5
"""Goals are alike when their Dice coefficient of words is at least this."""
SHARED_MEANING = 0.3
"""A memory is about the goal when the cosine of their embeddings is at least this."""
DISCOVERY_ENERGY = 0.5
"""Discovery energy of a memory that stores none (003)."""
SPREAD_WEIGHTS = SpreadWeights(gain=1.5, answer=0.0)
"""How much activation spreads from answers. `answer` is 0: without a question no turn is the answer to it."""
NOTHING_TOLD: Final[Mapping[Key, Mapping[str, float]]] = {}
SPREAD_SHARE = 0.5
"""How much of the activation that spreads to it counts for a memory that is only linked to answers."""


_GOAL, _EMOTIONS = NODE_PLACE["goal"], NODE_PLACE["emotion_vector"]


@dataclass(frozen=True, slots=True)
class WakingRow:
    """A row of one of the queries of `substrate.store.waking`. `found.hop`: 0 for a possible answer of the mode, 1
    to 3 for what is linked to an answer, -1 for a past record of a blockage. `found.score`: for hop 0 the distance
    or the weight by which the query ordered its rows.
    """

    graph: GraphKey
    found: FoundRow

    @property
    def key(self) -> tuple[GraphKey, str, int]:
        return self.graph, self.found.id, self.found.version

    @property
    def goal(self) -> str | None:
        goal: str | None = self.found.memory.row[_GOAL]
        return goal

    @property
    def emotions(self) -> dict[str, float]:
        """Intensities by emotion name in normal form."""
        stored = self.found.memory.row[_EMOTIONS]
        return normal_emotions(orjson.loads(stored)) if stored else {}

    def with_score(self, score: float) -> WakingRow:
        return WakingRow(self.graph, self.found._replace(score=score))


@dataclass(frozen=True, slots=True)
class WakingState:
    """The present state of the citizen, with emotion names in normal form.

    `citizen`: its id. `half_life`: the days after which what is not recent counts half; None where age does not
    count. `link_state`: goal and emotions again, in the form that `traversal.probability` needs.
    """

    mode: QueryMode
    energy: float
    emotions: Mapping[str, float]
    goal: str | None
    moment: Instant
    citizen: str = ""
    half_life: float | None = None
    pressure: float = consciousness_score.REALITY_PRESSURE
    link_state: State = NO_STATE


@dataclass(frozen=True, slots=True)
class Answer:
    """How well a memory fits: cosine of emotions, and cosine of meaning to the goal (0 unless it is near)."""

    emotional: float
    meaning: float = 0.0


def plain_goal(goal: str) -> str:
    """A goal for comparison: in lower case, with spaces for `_` and `-`."""
    return " ".join(goal.lower().replace("_", " ").replace("-", " ").split())


def goal_likeness(stored: str | None, current: str, meaning: float = 0.0) -> float:
    """How alike two goals are, in [0.3, 1].

    `goal_match` of the plain goals, by whole words. For goals that do not match, 0.3 + 0.4 × likeness. Likeness is
    the greater of the Dice coefficient of words (0 below 0.5) and the cosine of meaning (0 below 0.3).
    """
    plain_stored, plain_current = plain_goal(stored or ""), plain_goal(current)
    match = goal_match(_spaced(plain_stored), _spaced(plain_current))
    if match > OTHER_GOAL:
        return match
    words, others = query_words(plain_stored), query_words(plain_current)
    shared = len(set(words) & set(others))
    common = 2.0 * shared / (len(words) + len(others)) if words and others else 0.0
    likeness = max(common if common >= SHARED_WORDS else 0.0, meaning if meaning >= SHARED_MEANING else 0.0)
    return OTHER_GOAL + (PART_OF_GOAL - OTHER_GOAL) * min(1.0, likeness)


def _spaced(goal: str) -> str:
    """Add a space on both sides, so that a goal contains another only by whole words."""
    return f" {goal} " if goal else ""


def recency_weight(changed_at: Instant, waking: WakingState) -> float:
    """How much a record counts that last changed then: 1 within the last 30 days, before that half for each
    half-life; in (0, 1] (003: recent is the last 30 days, and weighs).

    find_what_i_was_doing has a recency of its own.
    """
    if waking.half_life is None or waking.mode is QueryMode.WHAT_I_WAS_DOING:
        return 1.0
    return recency((waking.moment - changed_at) / DAY - WINDOW_DAYS, waking.half_life)


def energy_nearness(energy: float, other: float) -> float:
    """1 for equal energies, 0 for the two ends of the scale."""
    return 1.0 - abs(energy - other)


def likeness_when_blocked(rows: Iterable[WakingRow], emotions: Mapping[str, float]) -> dict[str, float]:
    """By memory id, the greatest cosine between `emotions` and those of its records from when it was blocked.

    Memories without such records, or with no emotions in them, are left out.
    """
    likeness: dict[str, float] = {}
    for row in rows:
        felt = row.emotions if row.found.hop < 0 else None
        if felt:
            cosine = cosine_similarity(felt, emotions)
            likeness[row.found.id] = max(cosine, likeness.get(row.found.id, 0.0))
    return likeness


def measure(row: WakingRow, when_blocked: Mapping[str, float], waking: WakingState, *, by_emotion: bool) -> Answer:
    """Compute the exact measures of a row of hop 0. `by_emotion`: the row comes from the query by emotion.

    For a resolved blockage the emotions from when it was blocked count, `when_blocked`, not its later ones (003).
    """
    emotional = when_blocked.get(row.found.id)
    if emotional is None:
        emotional = cosine_similarity(row.emotions, waking.emotions)
    return Answer(emotional, 0.0 if by_emotion or waking.goal is None else 1.0 - float(row.found.score))


def least_likeness(mode: QueryMode) -> float:
    """A memory is an answer of the mode when its cosine of emotions is above this."""
    return SIMILAR_STATE_LIKENESS if mode is QueryMode.SIMILAR_STATE else LEAST_LIKENESS


def is_answer(row: WakingRow, answer: Answer, waking: WakingState, *, by_emotion: bool) -> bool:
    """True when a row of hop 0 fits the mode by its exact measures: the query itself is approximate."""
    emotional = by_emotion or waking.mode in EMOTIONAL_MODES
    if emotional and answer.emotional <= least_likeness(waking.mode):
        return False
    if by_emotion or waking.mode in (QueryMode.SIMILAR_STATE, QueryMode.WHAT_I_WAS_DOING):
        return True
    return _is_under_goal(row.goal, answer, waking)


def is_like_now(memory: Candidate, answer: Answer, waking: WakingState) -> bool:
    """True when a blockage feels like now (003: cosine above 0.6) and has a similar goal."""
    return answer.emotional > LEAST_LIKENESS and _is_under_goal(memory.get("goal"), answer, waking)


def _is_under_goal(stored: str | None, answer: Answer, waking: WakingState) -> bool:
    return waking.goal is None or goal_likeness(stored, waking.goal, answer.meaning) > OTHER_GOAL


def keep_linked(rows: Sequence[WakingRow], answers: Sequence[WakingRow]) -> list[WakingRow]:
    """The answers, smallest score first, followed by the rows that links connect to them within three hops."""
    linked_rows = sorted(answers, key=lambda row: float(row.found.score))
    reached = {row.found.id for row in linked_rows}
    for hop in (1, 2, 3):
        next_rows = [row for row in rows if row.found.hop == hop and not reached.isdisjoint(row.found[2:4])]
        linked_rows += next_rows
        reached.update(row.found.id for row in next_rows)
    return linked_rows


@dataclass(slots=True)
class CollectedAnswers:
    """The candidates, the answers among them, and the memories with a past record from when they were blocked."""

    candidates: Candidates
    answers: dict[Key, Answer] = field(default_factory=dict)
    once_blocked: set[tuple[GraphKey, str]] = field(default_factory=set)


def collect_answers(results: Iterable[QueryResult], waking: WakingState, known_to: Instant) -> CollectedAnswers:
    """Collect the rows that fit the mode by exact measures, and the rows linked to them."""
    results = list(results)
    collected = CollectedAnswers(Candidates(known_to=known_to, kept=kept_records(results)))
    for result in results:
        if result.request.kind == "pools":
            collected.candidates.add(result.key, result.rows, likeness=False)
        else:
            _collect(collected, result, waking)
    return collected


def _collect(collected: CollectedAnswers, result: QueryResult, waking: WakingState) -> None:
    level, by_emotion = result.key, result.request.kind == "vector"
    rows = [WakingRow(level, FoundRow.of(row)) for row in result.rows]
    when_blocked = likeness_when_blocked(rows, waking.emotions)
    collected.once_blocked.update((level, memory_id) for memory_id in when_blocked)
    accepted = []
    for row in rows:
        if row.found.hop != 0:
            continue
        answer = measure(row, when_blocked, waking, by_emotion=by_emotion)
        if is_answer(row, answer, waking, by_emotion=by_emotion):
            accepted.append(row.with_score(1.0 - answer.emotional if by_emotion else 0.0))
            known = collected.answers.get(row.key, answer)
            collected.answers[row.key] = Answer(answer.emotional, max(answer.meaning, known.meaning))
    columns = [row.found for row in keep_linked(rows, accepted)]
    collected.candidates.add(level, columns, likeness=by_emotion)


def mode_score(memory: Candidate, answer: Answer, waking: WakingState) -> float:
    """The score of an answer in [0, 1], by mode (003, component 1), × `_weight`.

    find_related_unresolved: energy × goal likeness; without a goal the mean of the cosine of emotions and the
    nearness of energies. find_similar_state: cosine of emotions. find_what_i_was_doing: energy × recency.
    find_resolution_patterns: discovery energy × goal likeness (1 without a goal).
    """
    return _weight(memory, waking) * _fit(memory, answer, waking)


def _weight(memory: Candidate, waking: WakingState) -> float:
    """`recency_weight`; for what was being done, half where another citizen shared it."""
    if waking.mode is QueryMode.WHAT_I_WAS_DOING and memory.key[0] != Level.N1:
        return 1.0 if memory.get("author") == waking.citizen else OTHER_PERSON_SHARE
    return recency_weight(memory.get("valid_at"), waking)


def _fit(memory: Candidate, answer: Answer, waking: WakingState) -> float:
    energy = float(memory.get("energy"))
    match = goal_likeness(memory.get("goal"), waking.goal, answer.meaning) if waking.goal else None
    if waking.mode is QueryMode.SIMILAR_STATE:
        return answer.emotional
    if waking.mode is QueryMode.WHAT_I_WAS_DOING:
        return energy * recency((waking.moment - memory.get("valid_at")) / DAY, WINDOW_DAYS)
    if waking.mode is QueryMode.RESOLUTION_PATTERNS:
        return discovery_energy(memory) * (1.0 if match is None else match)
    return (answer.emotional + energy_nearness(energy, waking.energy)) / 2.0 if match is None else energy * match


def discovery_energy(memory: Candidate) -> float:
    """The discovery energy of a memory, 0.5 if it stores none (003)."""
    stored = memory.get("discovery_energy")
    return DISCOVERY_ENERGY if stored is None else float(stored)


def activate(
    candidates: Candidates,
    scores: Mapping[Key, float],
    waking: WakingState,
    told: Mapping[Key, Mapping[str, float]] = NOTHING_TOLD,
) -> Activation:
    """Score the candidates by the formula of 003, component 5, answers first. `scores`: those of the answers.

    `told`: the parts of the scores of what was told in plain words, for `explain`; their age is in them.

    An answer keeps the score of its mode, because the number of its links does not matter for the mode; its age
    weighs all else as well. Another memory gets half of what spreads to it, at most the score of the best answer.
    """
    memories = candidates.memories
    base = {**dict.fromkeys(memories, 0.0), **scores}
    best = max(base.values(), default=0.0)
    received = zip(
        memories, spread(candidates, list(base.values()), SPREAD_WEIGHTS, waking.link_state), strict=True
    )
    shares = {key: min(best, SPREAD_SHARE * amount) for key, amount in received if key not in scores}
    activations = (shares.get(key, base[key]) for key in memories)
    rated = consciousness_score.consciousness_scores(
        memories.values(), activations, waking.emotions, waking.pressure
    )
    parts = {key: {"mode": base[key], "spread": shares.get(key, 0.0), **told.get(key, {})} for key in memories}
    weighed: list[Score] = []
    for score in rated:
        # What was told in plain words has its age in its relevance. How it felt counts in find_similar_state
        # alone: open work need not feel as the present state does, and a way out does not.
        if score.key in told and score.key in scores and waking.mode is not QueryMode.SIMILAR_STATE:
            felt = score.terms["emotional_resonance"]
            score = score._replace(total=score.total - felt, terms={**score.terms, "emotional_resonance": 0.0})
        elif score.key in scores and score.key not in told:
            # The term `age`, at most 0, weighs what is not relevance, whose age is in it already.
            weight = _weight(memories[score.key], waking)
            if weight != 1.0:
                age = -(1.0 - weight) * (score.total - score.activation)
                score = score._replace(total=score.total + age, terms={**score.terms, "age": age})
        weighed.append(score)
    order = sorted(consciousness_score.in_rank_order(weighed), key=lambda score: score.key not in scores)
    return Activation(tuple(order), parts)
