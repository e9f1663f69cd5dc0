"""Scores what was told in plain words: memories whose writer gave no state, goal or feeling. Pure.

003's formulas need what a writer gives. What a chat says is appraised at writing, or says nothing of the kind. So
each such memory is weighed by channels, which the table of its mode lists; its score is their weighted mean. What
is not the citizen's own counts for nothing: the words of an assistant, and texts that are quoted or pasted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import orjson

from orchestration.appraisal.names import own_words
from orchestration.mind.derived_state import is_own
from orchestration.question.reading import ASKING
from orchestration.ranking.candidates import Candidate, CandidateLink, Candidates, Key
from orchestration.ranking.consciousness_score import DAY, recency
from orchestration.ranking.spreading import Identity
from orchestration.ranking.times import SESSION_GAP
from orchestration.waking.scoring import (
    OTHER_PERSON_SHARE,
    WINDOW_DAYS,
    CollectedAnswers,
    WakingState,
    discovery_energy,
    is_like_now,
    recency_weight,
)
from schemas.intention import QueryMode
from schemas.memory import SOLVING, ResolutionState, graph_fields
from schemas.stream import ResolutionPattern
from schemas.temporal import Instant
from substrate.emotions import NEGATIVE, POSITIVE, kindred, normal_emotions
from substrate.language.text import stems
from substrate.store.rows import shown_name
from substrate.store.told import Earlier

FELT_FIELDS: Final = ("goal", "resolution_state", "emotion_vector")
"""A memory is told in plain words when its writer gave none of these."""
SPOKEN_TYPES: Final = frozenset(("Turn", "Memory", "Note"))
"""Types of memories that tell something; others name something, unless their words say how it stands."""
WORDS_OF_SUBSTANCE: Final = 6
"""A text with this many different words or more is no small talk."""
TOLD_WITHIN: Final = 6
"""What is told up to this many own memories after another may belong to it."""
FADING: Final = 0.9
"""It belongs to it less with each memory between them."""
FRESH_DAYS: Final = 2.0
ACTIVE_DAYS: Final = 7.0
RECENT_DAYS: Final = 30.0
"""Half-lives: of a matter that is too new to be a solution, of an activity, of a matter."""
INSTRUCTION_SHARE: Final = 0.5
"""A standing instruction to an assistant is no matter of the citizen's: it counts half."""

NOTHING_EARLIER: Final[Mapping[str, Earlier]] = {}
OF_ONE_SESSION: Final = 4
CROWDED_SHARE: Final = 0.7


@dataclass(frozen=True, slots=True)
class TellingMemory:
    """A memory told in plain words, with all that a channel reads.

    `about`: how much it is about the goal or the feelings of the state. `before`: how much that is so of what was
    told shortly before it, or of what it resolved. Both in [0, 1]. `emotions`: those in its words. `own`: the
    share of the text that is neither quoted nor pasted. `was_open`: its work was open once, so that it tells of a
    problem and not of its solution.
    """

    memory: Candidate
    about: float
    before: float
    emotions: Mapping[str, float] = field(default_factory=dict)
    own: float = 1.0
    was_open: bool = False

    @property
    def state(self) -> str | None:
        """The resolution state that its words tell."""
        state: str | None = self.memory.get("resolution_state")
        return state

    def feels(self, emotions: frozenset[str]) -> bool:
        """Whether it feels one of these."""
        return any(name in emotions for name, amount in self.emotions.items() if amount)


def is_told(memory: Candidate) -> bool:
    """Whether a memory is the citizen's own words alone, with a text and nothing given."""
    found: bool | None = memory.derived.get("is_told")
    if found is None:
        unset = frozenset((memory.get("unset") or "").split(","))
        said = frozenset(name for name in FELT_FIELDS if memory.get(name) not in (None, "{}"))
        speaker = memory.get("speaker")
        spoken = bool(said) or bool(speaker) or memory.get("node_type") in SPOKEN_TYPES
        own_text = is_own(speaker) and bool((memory.get("description") or "").strip())
        found = memory.derived["is_told"] = own_text and said <= unset and spoken
    return found


def own_share(text: str) -> float:
    """The share of a text that is neither quoted nor pasted, in [0, 1]; 1 for an empty one."""
    whole = sum(map(len, text.split()))
    return sum(map(len, own_words(text).split())) / whole if whole else 1.0


# --- the channels


def _about(told: TellingMemory, waking: WakingState) -> float:
    return told.about


def _before(told: TellingMemory, waking: WakingState) -> float:
    return told.before


_OPENNESS: Final = {ResolutionState.BLOCKED.value: 1.0, ResolutionState.IN_PROGRESS.value: 0.8}


def _open(told: TellingMemory, waking: WakingState) -> float:
    """How open a matter is, in [0, 1]: as its words say; a goal or a bad feeling is a sign of it."""
    if told.state is not None:
        return _OPENNESS.get(told.state, 0.0)
    if told.memory.get("goal"):
        return 0.6
    if told.feels(NEGATIVE):
        return 0.4
    return 0.0 if told.feels(POSITIVE) else 0.2


def _solved(told: TellingMemory, waking: WakingState) -> float:
    """How much it tells of a solution, in [−0.5, 1]: by its state, as a step, by a good feeling and no bad one."""
    if told.was_open:
        return -0.3
    if told.state is not None:
        return 1.0 if told.state == ResolutionState.RESOLVED else -0.5
    if told.memory.get("step") in SOLVING:
        return 0.6
    return 0.3 if told.feels(POSITIVE) else -0.3 if told.feels(NEGATIVE) else 0.0


def _kindred(told: TellingMemory, waking: WakingState) -> float:
    """1 for one of the same emotions, 0.5 for one of the same valence (002, emotion match)."""
    felt = [name for name, amount in told.emotions.items() if amount]
    matches = (
        1.0 if name in waking.emotions else 0.5 if not kindred(name).isdisjoint(waking.emotions) else 0.0
        for name in felt
    )
    return max(matches, default=0.0)


def _recent(told: TellingMemory, waking: WakingState) -> float:
    return recency(_age(told, waking), RECENT_DAYS) if waking.half_life is not None else 0.0


def _active(told: TellingMemory, waking: WakingState) -> float:
    return recency(_age(told, waking), ACTIVE_DAYS)


def _ripe(told: TellingMemory, waking: WakingState) -> float:
    """Low for what was told just now: that is the matter itself, not how it was solved."""
    return 1.0 - recency(_age(told, waking), FRESH_DAYS)


def _substance(told: TellingMemory, waking: WakingState) -> float:
    """Low for small talk: the share of `WORDS_OF_SUBSTANCE` different words that it has."""
    return min(1.0, told.own * len(stems(told.memory.get("description"))) / WORDS_OF_SUBSTANCE)


def _age(told: TellingMemory, waking: WakingState) -> float:
    """In days, since its last change."""
    return float((waking.moment - told.memory.get("valid_at")) / DAY)


class Channel(NamedTuple):
    """A channel of a mode: its name in `explain`, its score, at most 1, and its weight."""

    name: str
    score: Callable[[TellingMemory, WakingState], float]
    weight: float


CHANNELS: Final[Mapping[QueryMode, Sequence[Channel]]] = {
    QueryMode.RELATED_UNRESOLVED: (
        Channel("about", _about, 0.75),
        Channel("before", _before, 0.5),
        Channel("open", _open, 0.35),
        Channel("recent", _recent, 0.35),
        Channel("kindred", _kindred, 0.15),
        Channel("substance", _substance, 0.2),
    ),
    QueryMode.SIMILAR_STATE: (
        Channel("about", _about, 0.7),
        Channel("kindred", _kindred, 0.4),
        Channel("open", _open, 0.2),
        Channel("recent", _recent, 0.2),
        Channel("substance", _substance, 0.2),
    ),
    QueryMode.WHAT_I_WAS_DOING: (
        Channel("active", _active, 1.0),
        Channel("open", _open, 0.8),
        Channel("substance", _substance, 0.2),
    ),
    QueryMode.RESOLUTION_PATTERNS: (
        Channel("about", _about, 0.75),
        Channel("before", _before, 0.6),
        Channel("solved", _solved, 0.3),
        Channel("ripe", _ripe, 0.4),
        Channel("substance", _substance, 0.3),
    ),
}
"""For a state that says what it is about."""

WITHOUT_A_GOAL: Final[Sequence[Channel]] = (
    Channel("open", _open, 0.8),
    Channel("recent", _recent, 0.8),
    Channel("kindred", _kindred, 0.2),
    Channel("substance", _substance, 0.2),
)
"""For find_related_unresolved without a goal."""


def channels_of(waking: WakingState) -> Sequence[Channel]:
    """The channels of the mode."""
    if waking.mode is QueryMode.RELATED_UNRESOLVED and waking.goal is None:
        return WITHOUT_A_GOAL
    return CHANNELS[waking.mode]


def may_answer(told: TellingMemory, waking: WakingState, *, unresolved: bool) -> bool:
    """Whether the mode may show it. `unresolved`: find_related_unresolved is asked for open work alone."""
    if waking.mode is QueryMode.WHAT_I_WAS_DOING:
        return _age(told, waking) <= WINDOW_DAYS
    if waking.mode is QueryMode.RELATED_UNRESOLVED:
        return told.state != ResolutionState.RESOLVED or not unresolved
    return True


def told_parts(told: TellingMemory, waking: WakingState, known: float = 1.0) -> dict[str, float]:
    """The part of each channel in the score of a memory, which is their sum, in [0, 1].

    `known`: how much the words of the cue say of where to look. Where what is similar is sought, so much
    counts all that is not about it; in the other modes how a matter stands says as much as ever.
    """
    channels = channels_of(waking)
    beside = known if waking.mode is QueryMode.SIMILAR_STATE else 1.0
    weights = [one.weight * (1.0 if one.score is _about else beside) for one in channels]
    whole = sum(weights)
    speaker = (told.memory.get("speaker") or "").lower()
    is_own = not speaker or speaker in ASKING or speaker == waking.citizen.lower()
    whose = 1.0 if is_own else OTHER_PERSON_SHARE
    share = told.own * (INSTRUCTION_SHARE if told.memory.get("rule") else 1.0) * whose
    weighed = zip(channels, weights, strict=True)
    parts = {one.name: share * weight * one.score(told, waking) / whole for one, weight in weighed}
    return parts if sum(parts.values()) > 0.0 else {}


def thin_out(
    parts: Mapping[Key, Mapping[str, float]], told: Mapping[Key, TellingMemory]
) -> dict[Key, Mapping[str, float]]:
    """The parts of scores where what a session tells beyond its best `OF_ONE_SESSION` memories counts less.

    So a long talk does not hide what else the citizen was doing.
    """
    numbers: dict[Key, int] = {}
    number, before = 0, None
    memories = [told[key].memory for key in parts]
    for memory in sorted(memories, key=lambda memory: (memory.get("valid_at"), memory.key)):
        # another session begins after a pause
        number += before is not None and memory.get("valid_at") - before > SESSION_GAP
        before = memory.get("valid_at")
        numbers[memory.key] = number
    seen: Counter[int] = Counter()
    thinned: dict[Key, Mapping[str, float]] = {}
    for key in sorted(parts, key=lambda key: (-sum(parts[key].values()), key)):
        seen[numbers[key]] += 1
        share = 1.0 if seen[numbers[key]] <= OF_ONE_SESSION else CROWDED_SHARE
        thinned[key] = {name: share * part for name, part in parts[key].items()}
    return thinned


# --- what was told before what


def read_told(
    memories: Iterable[Candidate],
    about: Mapping[Key, float],
    solutions: Iterable[CandidateLink] = (),
    earlier: Mapping[str, Earlier] = NOTHING_EARLIER,
) -> dict[Key, TellingMemory]:
    """The memories told in plain words, oldest first, each with what was told before it.

    `about`: how much each memory is about the state. `earlier`: what the earlier records of a memory say, by its
    id: what was closed later is still told when it was told first. A memory gets the greatest share of those told
    up to `TOLD_WITHIN` memories and `WINDOW_DAYS` days before it, fading with each between, and the whole of what
    it resolved.
    """
    told: list[_Telling] = []
    relevance: dict[str, float] = {}
    for memory in filter(is_told, memories):
        begun = int(memory.get("valid_at"))
        first = earlier.get(memory.key[1])
        told.append(_Telling(memory, begun if first is None else min(begun, first.begun)))
        relevance[memory.key[1]] = about.get(memory.key, 0.0)
    in_time = sorted(told, key=lambda one: (one.begun, one.memory.key))
    resolved: dict[str, float] = {}
    for link in solutions:
        resolved[link.target] = max(relevance.get(link.source, 0.0), resolved.get(link.target, 0.0))
    found: dict[Key, TellingMemory] = {}
    for place, one in enumerate(in_time):
        key, said = one.memory.key, _say(one.memory)
        before = max(_passed_on(in_time, place, about), resolved.get(key[1], 0.0))
        was_open = key[1] in earlier and earlier[key[1]].was_open
        found[key] = TellingMemory(one.memory, about.get(key, 0.0), before, said.emotions, said.own, was_open)
    return found


class _Telling(NamedTuple):
    """A memory and when it was told."""

    memory: Candidate
    begun: Instant


def _passed_on(in_time: Sequence[_Telling], place: int, about: Mapping[Key, float]) -> float:
    """The greatest share that a memory gets of those told before it."""
    here = in_time[place].begun
    before = in_time[max(0, place - TOLD_WITHIN) : place]
    shares = (
        about.get(one.memory.key, 0.0) * FADING ** (len(before) - nth)
        for nth, one in enumerate(before)
        if here - one.begun <= WINDOW_DAYS * DAY
    )
    return max(shares, default=0.0)


def _say(memory: Candidate) -> _Words:
    said: _Words | None = memory.derived.get("said")
    if said is None:
        emotions = memory.get("emotion_vector")
        felt = normal_emotions(orjson.loads(emotions)) if emotions else {}
        said = memory.derived["said"] = _Words(felt, own_share(memory.get("description")))
    return said


class _Words(NamedTuple):
    """What the words of a memory say, whatever is asked."""

    emotions: Mapping[str, float]
    own: float


STEP_SHARE = 0.8
"""A step gets the score of its resolution × this for each hop."""
MAX_STEPS = 8
"""At most this many steps in one pattern."""
MAX_TOLD = 10
"""At most this many patterns of what was told in plain words (003: at most 10 patterns)."""


class ResolutionStep(NamedTuple):
    """A step of a resolution; `hops` away from it: 1 or 2."""

    memory: Candidate
    hops: int


@dataclass(frozen=True, slots=True)
class Resolution:
    """A blockage, the link to its resolution, the resolution, and the steps of the resolution."""

    blockage: Candidate
    link: CandidateLink
    resolution: Candidate
    steps: tuple[ResolutionStep, ...]


def find_resolutions(candidates: Candidates, blockages: Iterable[Key]) -> list[Resolution]:
    """The resolutions of these blockages among the candidates, each with its steps."""
    memories = {key[:2]: memory for key, memory in candidates.memories.items()}
    neighbours: dict[Identity, list[tuple[float, str]]] = {}  # those of the strongest links sort first
    for link in candidates.links.values():
        strength = float(link.get("energy")) * float(link.get("confidence"))
        for near, far in ((link.source, link.target), (link.target, link.source)):
            neighbours.setdefault((link.graph_key, near), []).append((-strength, far))
    wanted = {key[:2] for key in blockages}
    resolutions = []
    for link in candidates.links.values():
        start, end = (link.graph_key, link.source), (link.graph_key, link.target)
        if start in wanted and end in memories and _resolves(link):
            steps = _steps(start, end, neighbours, memories)
            resolutions.append(Resolution(memories[start], link, memories[end], steps))
    return resolutions


def rank_resolutions(collected: CollectedAnswers, waking: WakingState) -> list[Resolution]:
    """The resolutions: highest discovery energy × recency first; of equals those known as blocked."""
    memories = collected.candidates.memories
    blockages = [key for key, answer in collected.answers.items() if is_like_now(memories[key], answer, waking)]
    return sorted(
        find_resolutions(collected.candidates, blockages),
        key=lambda resolution: (
            -discovery_energy(resolution.blockage) * recency_weight(resolution.blockage.get("valid_at"), waking),
            resolution.blockage.key[:2] not in collected.once_blocked,
            -collected.answers[resolution.blockage.key].emotional,
            resolution.blockage.key,
            resolution.link.get("id"),
        ),
    )


def told_resolutions(
    told: Mapping[Key, TellingMemory], links: Iterable[CandidateLink], scores: Mapping[Key, float]
) -> list[Resolution]:
    """The resolutions of what was told in plain words, with the steps between; the best blockages first.

    `scores`: those of the told memories that answer.
    """
    by_id = {key[:2]: one.memory for key, one in told.items() if key in scores}
    resolutions = []
    for link in links:
        blockage, resolution = by_id.get((link.graph_key, link.source)), by_id.get((link.graph_key, link.target))
        if blockage is not None and resolution is not None and _resolves(link):
            steps = _told_steps(blockage, resolution, by_id.values())
            resolutions.append(Resolution(blockage, link, resolution, steps))
    best = sorted(resolutions, key=lambda one: (-scores[one.blockage.key], one.blockage.key, one.link.get("id")))
    return best[:MAX_TOLD]


def _told_steps(
    blockage: Candidate, resolution: Candidate, memories: Iterable[Candidate]
) -> tuple[ResolutionStep, ...]:
    """What was decided, done and learned in the same conversation between the two, in the order of time."""
    begun, ended = blockage.get("valid_at"), resolution.get("valid_at")
    steps: list[ResolutionStep] = []
    for memory in sorted(memories, key=lambda memory: (memory.get("valid_at"), memory.key)):
        is_between = begun < memory.get("valid_at") < ended
        if is_between and memory.get("episode_id") == blockage.get("episode_id") and _is_step(memory):
            steps.append(ResolutionStep(memory, 1))
    return tuple(steps[-MAX_STEPS:])


def _resolves(link: CandidateLink) -> bool:
    return bool(link.get("relation_type") == "RESOLVED_BY" and link.get("resolution_state") == "resolved")


def _steps(
    blockage: Identity,
    resolution: Identity,
    neighbours: Mapping[Identity, Sequence[tuple[float, str]]],
    memories: Mapping[Identity, Candidate],
) -> tuple[ResolutionStep, ...]:
    """The steps of a resolution: fewest hops first, then strongest links; no path goes through the blockage."""
    level = resolution[0]
    seen, ring = {blockage, resolution}, [resolution]
    steps: list[ResolutionStep] = []
    for hops in (1, 2):
        reached = sorted(neighbour for identity in ring for neighbour in neighbours.get(identity, ()))
        ring = []
        for identity in dict.fromkeys((level, memory_id) for _, memory_id in reached):
            if identity not in seen and identity in memories:
                seen.add(identity)
                ring.append(identity)
                if _is_step(memories[identity]):
                    steps.append(ResolutionStep(memories[identity], hops))
    return tuple(steps[:MAX_STEPS])


def _is_step(memory: Candidate) -> bool:
    """A turn is a step by what it tells, any other memory by its type."""
    return memory.get("step" if memory.get("node_type") == "Turn" else "node_type") in SOLVING


def show_pattern(resolution: Resolution, emotional_likeness: float) -> ResolutionPattern:
    """A resolution as the stream shows it. `emotional_likeness`: of its blockage to the present state."""
    steps = [step.memory for step in resolution.steps]
    return ResolutionPattern(
        **graph_fields(resolution.link.graph_key),
        blockage_id=resolution.link.source,
        blockage=_shown_name(resolution.blockage),
        resolution_id=resolution.link.target,
        resolution=_shown_name(resolution.resolution),
        steps=tuple(map(_shown_name, steps)),
        step_ids=tuple(step.get("id") for step in steps),
        link_id=resolution.link.get("id"),
        emotional_likeness=round(emotional_likeness, 6),
        discovery_energy=discovery_energy(resolution.blockage),
    )


def _shown_name(memory: Candidate) -> str:
    return shown_name(memory.get("id"), memory.get("name"), memory.get("speaker"), memory.get("description"))


def pass_scores_on(scores: Mapping[Key, float], resolutions: Iterable[Resolution]) -> dict[Key, float]:
    """Pass the score of each blockage on: whole to its resolution, × 0.8 per hop to the steps."""
    passed = dict(scores)
    for resolution in resolutions:
        own = scores[resolution.blockage.key]
        for memory, hops in (ResolutionStep(resolution.resolution, 0), *resolution.steps):
            passed[memory.key] = max(own * STEP_SHARE**hops, passed.get(memory.key, 0.0))
    return passed
