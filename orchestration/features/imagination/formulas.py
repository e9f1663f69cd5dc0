"""What came of an action before: shares of results and feelings over past cases, by nearness and age (002). Pure.

A kernel estimate (Nadaraya 1964, Watson 1964) over categories, drawn to what is usual by pseudo-counts.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from schemas.memory import ConsciousnessNode, ResolutionState
from schemas.temporal import Instant, to_instant
from schemas.wave_signal import Channel
from substrate.emotions import normal_emotions

NEIGHBOURS: Final = 32
"""At most so many cases count, the heaviest."""
LIKE_ENOUGH: Final = 0.3
"""Cosine, or share of the action's words, from which a past context is a case of the action at all."""
SHARES: Final[Mapping[Channel, float]] = {"likeness": 2.0, "nodes": 1.0, "emotion": 1.0}
"""How much each channel of a resonance counts for nearness: the action itself before what surrounds it."""
BREADTH: Final = 0.1
"""A case that is by so much less near than the nearest weighs 1/e of it."""
HALF_LIFE_DAYS: Final = 90.0
"""A case so old counts half: the world that it tells of changes."""
USUAL_CASES: Final = 1.0
"""What is usual counts like so many cases of today."""
NEEDED: Final = 3.0
"""Below so much evidence it is too few to say."""
NEAREST: Final = 3
_DAY: Final = 86_400_000_000

OUTCOMES: Final[Mapping[ResolutionState, str]] = {
    ResolutionState.RESOLVED: "positive",
    ResolutionState.BLOCKED: "negative",
}
"""What the state of finished or stuck work says came of it, where no result is stored."""


class Case(NamedTuple):
    """A past context that resonates. `nearness` and `likeness` in [0, 1], `age` in days."""

    nearness: float
    likeness: float
    age: float
    result: str | None
    emotions: Mapping[str, float]


class Weighed(NamedTuple):
    """A case by its place in the list that was given, and its weight in (0, 1]."""

    place: int
    weight: float


class Imagined(NamedTuple):
    """What came of it before: `known` cases with a result, and as how many equal ones they count (`evidence`)."""

    known: int
    evidence: float
    results: dict[str, float]
    emotions: dict[str, float]
    usual: dict[str, float]
    weighed: tuple[Weighed, ...]

    @property
    def enough(self) -> bool:
        return self.evidence >= NEEDED


def nearness(channels: Mapping[Channel, float], likeness: float, filled: Iterable[Channel]) -> float:
    """How near a context is, in [0, 1]: the mean of the filled channels by `SHARES`, with this likeness."""
    scores = {**channels, "likeness": likeness}
    counted = {channel: SHARES[channel] for channel in ("likeness", *filled) if channel in SHARES}
    return sum(share * scores.get(channel, 0.0) for channel, share in counted.items()) / sum(counted.values())


def outcome_of(memory: ConsciousnessNode, *, solved: bool = False, replied: str | None = None) -> str | None:
    """What came of a context: its result, else what the state of its work says, else that something solved it,
    else what was `replied` to it."""
    told = (memory.result or "").strip().lower()
    if told:
        return told
    state = ResolutionState.RESOLVED if solved and memory.resolution_state is None else memory.resolution_state
    return replied if state is None else OUTCOMES.get(state, replied)


def age_of(memory: ConsciousnessNode, moment: Instant) -> float:
    """Days from the beginning of a context to the moment of the question; 0 for one that begins later."""
    return max(0, moment - to_instant(memory.valid_at)) / _DAY


def recency(age: float) -> float:
    """The share of its weight that a case of this age keeps, in (0, 1]."""
    return math.exp2(-age / HALF_LIFE_DAYS)


def imagine(cases: Sequence[Case]) -> Imagined:
    """The shares of results and feelings over the cases of an action.

    Each weighs exp((nearness − nearest) / BREADTH) × recency. A share of a result is
    (weight with it + USUAL_CASES × its usual share) / (weight of all + USUAL_CASES).
    """
    weighed = weigh(cases)
    known = [one for one in weighed if cases[one.place].result is not None]
    usual = _shares((case.result, recency(case.age)) for case in cases if case.result is not None)
    counted = evidence([one.weight for one in known])
    drawn = [(cases[one.place].result, one.weight) for one in known]
    drawn += [(result, USUAL_CASES * share) for result, share in usual.items()]
    enough = counted >= NEEDED
    return Imagined(
        known=len(known),
        evidence=counted,
        results=_shares(drawn) if enough else {},
        emotions=_feelings(cases, weighed) if enough else {},
        usual=usual,
        weighed=weighed,
    )


def weigh(cases: Sequence[Case]) -> tuple[Weighed, ...]:
    """The cases that are like the action, heaviest first, at most `NEIGHBOURS`; those with a result come first."""
    like = [place for place, case in enumerate(cases) if case.likeness >= LIKE_ENOUGH]
    if not like:
        return ()
    nearest = max(cases[place].nearness for place in like)
    weights = {
        place: math.exp((cases[place].nearness - nearest) / BREADTH) * recency(cases[place].age) for place in like
    }
    ordered = sorted(like, key=lambda place: (cases[place].result is None, -weights[place], place))
    return tuple(Weighed(place, weights[place]) for place in ordered[:NEIGHBOURS])


def evidence(weights: Sequence[float]) -> float:
    """As how many equal cases weighed ones count: (Σw)² / Σw² (Kish 1965)."""
    squares = sum(weight * weight for weight in weights)
    return sum(weights) ** 2 / squares if squares > 0.0 else 0.0


def _feelings(cases: Sequence[Case], weighed: Iterable[Weighed]) -> dict[str, float]:
    """The shares of feelings; each case gives its weight to its feelings by their strengths."""
    felt: list[tuple[str | None, float]] = []
    for one in weighed:
        emotions = normal_emotions(cases[one.place].emotions)
        whole = sum(emotions.values())
        felt += [(name, one.weight * strength / whole) for name, strength in emotions.items() if strength > 0.0]
    return _shares(felt)


def _shares(amounts: Iterable[tuple[str | None, float]]) -> dict[str, float]:
    """Amounts added up by name as shares of the whole, the largest first."""
    sums: defaultdict[str, float] = defaultdict(float)
    for name, amount in amounts:
        if name is not None:
            sums[name] += amount
    whole = sum(sums.values())
    if whole <= 0.0:
        return {}
    ordered = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    return {name: round(amount / whole, 4) for name, amount in ordered}
