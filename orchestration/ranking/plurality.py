"""Plurality: recent and important memories count more, and the answer is spread over weeks (004). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Final

from orchestration.ranking import consciousness_score
from orchestration.ranking.activation import Activation
from orchestration.ranking.candidates import Candidate, Key
from orchestration.ranking.consciousness_score import Score
from schemas.intention import Plurality
from schemas.temporal import Instant, to_datetime

DAY: Final = 86_400_000_000
"""Microseconds."""
HALF_LIFE_DAYS: Final = 30.0
"""After this many days a memory counts half (004), in a waking of scope `recent` so many more than its window."""
RECENCY_SHARE: Final = 0.2
"""The most that importance × recency adds to a score: as much as full confidence does."""
DRAWS: Final = 400
"""How many places are drawn for the random pool; most of them hold no memory of the scope."""

type Week = tuple[int, int]


def recency(days: float, half_life_days: float = HALF_LIFE_DAYS) -> float:
    """1 / (1 + days / half-life), in (0, 1]: ½ after one half-life, ⅓ after two (004, change 3).

    `days` is the age; a memory of the future counts as of today.
    """
    return 1.0 / (1.0 + max(0.0, days) / half_life_days)


def week(instant: Instant) -> Week:
    """ISO year and week, UTC."""
    year, number, _ = to_datetime(instant).isocalendar()
    return year, number


def seeded_numbers(seed: str, count: int = DRAWS) -> list[float]:
    """Random numbers in [0, 1), the same for the same seed."""
    return [
        int.from_bytes(blake2b(f"{seed}|{place}".encode(), digest_size=6).digest()) / 2**48
        for place in range(count)
    ]


def with_plurality(
    activation: Activation, memories: Mapping[Key, Candidate], plurality: Plurality, moment: Instant
) -> Activation:
    """The activation with the term `plurality` in every score, spread over weeks; ages count from `moment`."""
    scores = []
    for score in activation.order:
        memory = memories[score.key]
        importance = float(memory.get("importance") or 0.0)
        added = plurality_term(int(memory.get("valid_at")), importance, plurality, moment)
        terms = {**score.terms, "plurality": added}
        scores.append(score._replace(total=score.total + added, terms=terms))
    order = spread_over_weeks(consciousness_score.ranked(scores), memories, plurality)
    return replace(activation, order=tuple(order))


def plurality_term(valid_at: Instant, importance: float | None, plurality: Plurality, moment: Instant) -> float:
    """0.2 × importance, at least the floor, × recency; in [0, 0.2] (004)."""
    age = recency((moment - valid_at) / DAY, plurality.half_life_days)
    return RECENCY_SHARE * max(plurality.importance_floor, importance or 0.0) * age


def spread_over_weeks(
    order: Sequence[Score], memories: Mapping[Key, Candidate], plurality: Plurality
) -> list[Score]:
    """The order with each tier spread over weeks: at most `per_week` of one week first, then others (004, change
    1).

    Only what stands out competes for the focus: spreading puts nothing there that is not about the question.
    """
    greatest = max((score.activation for score in order), default=0.0)
    outstanding = [score for score in order if consciousness_score.stands_out(score, greatest)]
    chosen = _week_by_week(outstanding, memories, plurality.per_week)[: consciousness_score.FOCUS]
    for size in (consciousness_score.PERIPHERAL, consciousness_score.BACKGROUND):
        rest = _without(order, chosen)
        chosen += _week_by_week(rest, memories, plurality.per_week)[:size]
    return chosen + _without(order, chosen)


def _without(order: Iterable[Score], chosen: Iterable[Score]) -> list[Score]:
    taken = {score.key for score in chosen}
    return [score for score in order if score.key not in taken]


def _week_by_week(order: Iterable[Score], memories: Mapping[Key, Candidate], per_week: int) -> list[Score]:
    first, rest = split_by_week(order, lambda score: int(memories[score.key].get("valid_at")), per_week)
    return first + rest


def split_by_week[T](
    items: Iterable[T], valid_at: Callable[[T], Instant], per_week: int
) -> tuple[list[T], list[T]]:
    """The first `per_week` items of each ISO week, and the others; both in the order given (004, change 1)."""
    seen: Counter[Week] = Counter()
    first: list[T] = []
    rest: list[T] = []
    for item in items:
        its_week = week(valid_at(item))
        seen[its_week] += 1
        (first if seen[its_week] <= per_week else rest).append(item)
    return first, rest
