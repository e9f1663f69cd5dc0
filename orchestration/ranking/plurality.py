"""Plurality: scoring sees more than what is recent or alike, and the answer is spread over weeks (004). Pure."""

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
from schemas.plurality import Plurality
from schemas.temporal import Instant, to_datetime

DAY: Final = 86_400_000_000
"""Microseconds."""
RECENCY_SHARE: Final = 0.2
"""How much importance times recency adds to a score: as much as full confidence does."""
LOTS: Final = 400
"""Places drawn for the pool of chance; most hold something that is no memory of the scope."""

type Week = tuple[int, int]


def recency(days: float, half_life_days: float = 30.0) -> float:
    """1 / (1 + days / half-life), in (0, 1]: a half after the half-life, a third after two (004, change 3).

    `days` is the age; what lies ahead counts as of today.
    """
    return 1.0 / (1.0 + max(0.0, days) / half_life_days)


def week(instant: Instant) -> Week:
    """ISO year and week, UTC."""
    year, number, _ = to_datetime(instant).isocalendar()
    return year, number


def lots(seed: str, count: int = LOTS) -> list[float]:
    """Numbers in [0, 1) that follow from the seed alone."""
    return [
        int.from_bytes(blake2b(f"{seed}|{place}".encode(), digest_size=6).digest()) / 2**48
        for place in range(count)
    ]


def lifted(
    activation: Activation, found: Mapping[Key, Candidate], asked: Plurality, moment: Instant
) -> Activation:
    """The activation with the term `plurality` in every score: importance × recency (004), seen from `moment`."""
    order = [_lifted(score, found[score.key], asked, moment) for score in activation.order]
    return replace(activation, order=tuple(spread(consciousness_score.ranked(order), found, asked)))


def term(valid_at: Instant, importance: float | None, asked: Plurality, moment: Instant) -> float:
    """What plurality adds to a score, in [0, 0.2]: a share of importance, at least the floor, × recency (004)."""
    age = recency((moment - valid_at) / DAY, asked.half_life_days)
    return RECENCY_SHARE * max(asked.importance_floor, importance or 0.0) * age


def _lifted(score: Score, memory: Candidate, asked: Plurality, moment: Instant) -> Score:
    added = term(int(memory.get("valid_at")), float(memory.get("importance") or 0.0), asked, moment)
    return score._replace(total=score.total + added, terms={**score.terms, "plurality": added})


def spread(order: Sequence[Score], found: Mapping[Key, Candidate], asked: Plurality) -> list[Score]:
    """The order with each tier spread over weeks: at most `per_week` of one week first, then filled (004, 1).

    Only what stands out competes for the focus: spreading puts nothing there that is not about the question.
    """
    greatest = max((score.activation for score in order), default=0.0)
    outstanding = [
        score for score in order if score.activation >= consciousness_score.STANDING_OUT * greatest > 0.0
    ]
    focus = _plural(outstanding, found, asked.per_week)[: consciousness_score.FOCUS]
    spread_so_far = list(focus)
    for size in (consciousness_score.PERIPHERAL, consciousness_score.BACKGROUND):
        taken = {score.key for score in spread_so_far}
        rest = [score for score in order if score.key not in taken]
        spread_so_far += _plural(rest, found, asked.per_week)[:size]
    taken = {score.key for score in spread_so_far}
    return spread_so_far + [score for score in order if score.key not in taken]


def _plural(order: Iterable[Score], found: Mapping[Key, Candidate], per_week: int) -> list[Score]:
    first, rest = over_weeks(order, lambda score: int(found[score.key].get("valid_at")), per_week)
    return first + rest


def over_weeks[T](order: Iterable[T], valid_at: Callable[[T], Instant], per_week: int) -> tuple[list[T], list[T]]:
    """The first `per_week` of each ISO week, and the others; both in the order given (004, change 1)."""
    seen: Counter[Week] = Counter()
    first: list[T] = []
    rest: list[T] = []
    for one in order:
        its_week = week(valid_at(one))
        seen[its_week] += 1
        (first if seen[its_week] <= per_week else rest).append(one)
    return first, rest
