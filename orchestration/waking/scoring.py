"""How strongly a memory answers a waking mind: the four modes of 003, component 1, as numbers. Pure.

What a mode asks for is an answer and gets the mode's score in [0, 1] instead of base relevance; what only hangs
on an answer has a share of what spreads from it. Both then go through 003's consciousness-aware formula
(component 5) with the emotions and the pressure of the moment. Answers stand before what hangs on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from orchestration.ranking import consciousness_score
from orchestration.ranking.activation import Activation
from orchestration.ranking.candidates import Candidate, Candidates, Key
from orchestration.ranking.plurality import DAY, recency
from orchestration.ranking.spreading import SpreadWeights, spread
from orchestration.traversal.probability import NO_STATE, OTHER_GOAL, PART_OF_GOAL, State, goal_match
from schemas.intention import EMOTIONAL_MODES, QueryMode
from schemas.memory import Level
from schemas.temporal import Instant
from substrate.emotions import cosine_similarity, normal_emotions
from substrate.store.rows import NODE_PLACE
from substrate.store.search import HOP, NODE_START, SCORE, SOURCE, TARGET
from substrate.text import query_words

SIMILAR = 0.7
"""A state is similar above this cosine of emotions (003, find_similar_state)."""
ALIKE = 0.6
"""Work is felt alike above this cosine (003, find_resolution_patterns)."""
NEAR = 0.25
"""Energies are near within a quarter of the scale: low, middle and high stay apart (003 names no number)."""
WINDOW_DAYS = 30.0
"""What is recent, and how fast the past pales (003: the last 30 days, days / 30)."""
SHARED_WORDS = 0.5
"""Goals are alike from this share of common words (Dice)."""
SHARED_MEANING = 0.3
"""A memory is about the goal from this cosine of embeddings, if it is among the nearest at all."""
DISCOVERY = 0.5
"""Discovery energy where none was written (003)."""
SPREAD_WEIGHTS = SpreadWeights(gain=1.5, answer=0.0)
"""How much spreads from what the mode asks for; no words were asked, so no turn is an answer to one."""
SPREAD_SHARE = 0.5
"""How much of it counts for a memory that is only linked to what the mode asks for."""
_BLOCKED = -1

type Row = Sequence[Any]
type Feelings = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Sought:
    """The state a mind wakes in, as scoring needs it: emotion names in normal form, `moment` as an instant.

    `state` is the same as links are weighed from it.
    """

    mode: QueryMode
    energy: float
    emotions: Feelings
    goal: str | None
    moment: Instant
    pressure: float = consciousness_score.REALITY_PRESSURE
    state: State = NO_STATE


@dataclass(frozen=True, slots=True)
class Answer:
    """How a memory answers: cosine of emotions, and 1 − distance of meaning to the goal where it is near."""

    felt: float
    meant: float = 0.0


def plain_goal(goal: str) -> str:
    """A goal for comparison: lower case, `_` and `-` as spaces."""
    return " ".join(goal.lower().replace("_", " ").replace("-", " ").split())


def graded_goal_match(stored: str | None, current: str, meant: float = 0.0) -> float:
    """`goal_match` by whole words, in [0.3, 1]; a similar goal lies between another one (0.3) and a part (0.7).

    It has 0.3 + 0.4 × likeness: by common words (Dice, from 0.5) or by meaning (`meant`, from 0.3), whichever is
    greater.
    """
    one, other = plain_goal(stored or ""), plain_goal(current)
    match = goal_match(one and f" {one} ", other and f" {other} ")
    if match > OTHER_GOAL:
        return match
    common = _dice(query_words(one), query_words(other))
    likeness = max(common if common >= SHARED_WORDS else 0.0, meant if meant >= SHARED_MEANING else 0.0)
    return OTHER_GOAL + (PART_OF_GOAL - OTHER_GOAL) * min(1.0, likeness)


def _dice(one: Sequence[str], other: Sequence[str]) -> float:
    return 2.0 * len(set(one) & set(other)) / (len(one) + len(other)) if one and other else 0.0


def nearness(one: float, other: float) -> float:
    """1 for equal energies, 0 for the two ends of the scale."""
    return 1.0 - abs(one - other)


def feelings(row: Row) -> dict[str, float]:
    """The emotions of a row's memory, names in normal form."""
    felt = row[NODE_START + NODE_PLACE["emotion_vector"]]
    return normal_emotions(orjson.loads(felt)) if felt else {}


def identity(row: Row) -> str:
    """The id of a row's memory."""
    return str(row[NODE_START + NODE_PLACE["id"]])


def felt_when_blocked(rows: Iterable[Row], emotions: Feelings) -> dict[str, float]:
    """By identity, the greatest likeness to now of the records from when it was blocked; without feelings none."""
    likeness: dict[str, float] = {}
    for row in rows:
        felt = feelings(row) if row[HOP] == _BLOCKED else None
        if felt:
            likeness[identity(row)] = max(cosine_similarity(felt, emotions), likeness.get(identity(row), 0.0))
    return likeness


def key_of(level: Level, row: Row) -> Key:
    """The key of a row's memory."""
    return level, identity(row), row[NODE_START + NODE_PLACE["version"]]


def answer_of(row: Row, once: Mapping[str, float], sought: Sought, *, alike: bool) -> Answer:
    """How a row of hop 0 answers; `alike` says that it comes from the query in the vector place.

    `once` is how the same memory felt when it was blocked: that counts before how it feels since (003).
    """
    felt = once.get(identity(row))
    if felt is None:
        felt = cosine_similarity(feelings(row), sought.emotions)
    meant = 0.0 if alike or sought.goal is None else 1.0 - float(row[SCORE])
    return Answer(felt, meant)


def floor(mode: QueryMode) -> float:
    """The cosine of emotions above which a mode calls a memory alike."""
    return SIMILAR if mode is QueryMode.SIMILAR_STATE else ALIKE


def accepted(row: Row, answer: Answer, sought: Sought, *, alike: bool) -> bool:
    """Whether a row of hop 0 is what the mode asks for, by its exact measures."""
    emotional = alike or sought.mode in EMOTIONAL_MODES
    if emotional and answer.felt <= floor(sought.mode):
        return False
    if alike or sought.mode in (QueryMode.SIMILAR_STATE, QueryMode.WHAT_I_WAS_DOING):
        return True
    return _is_under_goal(row[NODE_START + NODE_PLACE["goal"]], answer, sought)


def is_like(memory: Candidate, answer: Answer, sought: Sought) -> bool:
    """Whether a blockage is like the present one: felt alike (003: above 0.6), and under a goal like this one."""
    return answer.felt > ALIKE and _is_under_goal(memory.get("goal"), answer, sought)


def _is_under_goal(stored: str | None, answer: Answer, sought: Sought) -> bool:
    return sought.goal is None or graded_goal_match(stored, sought.goal, answer.meant) > OTHER_GOAL


def sift(rows: Sequence[Row], starts: Sequence[tuple[float, Row]]) -> list[Row]:
    """The starts by their distance, which replaces the engine's score, and the rows that hang on them.

    What hung only on a start that was not accepted goes with it.
    """
    kept: list[Row] = [[*row[:SCORE], apart, *row[SCORE + 1 :]] for apart, row in sorted(starts, key=_distance)]
    reached = {identity(row) for row in kept}
    for hop in (1, 2, 3):
        hanging = [row for row in rows if row[HOP] == hop and not reached.isdisjoint((row[SOURCE], row[TARGET]))]
        kept += hanging
        reached.update(identity(row) for row in hanging)
    return kept


def _distance(start: tuple[float, Row]) -> float:
    return start[0]


def mode_score(memory: Candidate, answer: Answer, sought: Sought) -> float:
    """What a mode gives to an answer, in [0, 1].

    find_related_unresolved: energy × goal match; without a goal the mean of both likenesses of state, emotion
    and energy. find_similar_state: cosine of emotions. find_what_i_was_doing: energy × recency.
    find_resolution_patterns: discovery energy × goal match (1 without a goal).
    """
    energy = float(memory.get("energy"))
    match = graded_goal_match(memory.get("goal"), sought.goal, answer.meant) if sought.goal else None
    if sought.mode is QueryMode.SIMILAR_STATE:
        return answer.felt
    if sought.mode is QueryMode.WHAT_I_WAS_DOING:
        return energy * recency((sought.moment - memory.get("valid_at")) / DAY, WINDOW_DAYS)
    if sought.mode is QueryMode.RESOLUTION_PATTERNS:
        return discovery(memory) * (1.0 if match is None else match)
    return (answer.felt + nearness(energy, sought.energy)) / 2.0 if match is None else energy * match


def discovery(memory: Candidate) -> float:
    """Discovery energy of a memory, one half where none was written (003)."""
    stored = memory.get("discovery_energy")
    return DISCOVERY if stored is None else float(stored)


def activate(found: Candidates, scores: Mapping[Key, float], sought: Sought) -> Activation:
    """Order what was found: answers by 003's formula, then by the same what hangs on them.

    An answer keeps the mode's score: how much is linked to it says nothing that the mode asks for. What hangs
    on answers has half of what spreads to it, at most as much as the best answer.
    """
    memories = found.memories
    base = {key: scores.get(key, 0.0) for key in memories}
    best = max(base.values(), default=0.0)
    received = spread(found, base, SPREAD_WEIGHTS, sought.state)
    hanging = {key: min(best, SPREAD_SHARE * gift) for key, gift in received.items() if key not in scores}
    activations = (hanging.get(key, base[key]) for key in memories)
    rated = consciousness_score.consciousness_scores(
        memories.values(), activations, sought.emotions, sought.pressure
    )
    parts = {key: {"mode": base[key], "spread": hanging.get(key, 0.0)} for key in memories}
    order = sorted(consciousness_score.ranked(rated), key=lambda score: score.key not in scores)
    return Activation(tuple(order), parts)
