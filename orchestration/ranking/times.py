"""How well a candidate fits the time that a question names: its periods, the latest or earliest of some. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from orchestration.question.time_expressions import NamedPeriod, Seeking
from orchestration.ranking.candidates import Candidate, Key
from orchestration.ranking.texts import told_by
from schemas.temporal import END_OF_TIME, Period

GRACE: Final = timedelta(days=7) // timedelta(microseconds=1)
"""People tell what happened within days: what was said so long after a period, in microseconds, may be of it."""
AFTERWARDS: Final = 0.4
"""What counts right after a period; it falls to 0 over the grace."""
TOLD: Final = 0.9
"""What counts a text that was said later and names a day of the period ("on Friday", "yesterday")."""
REMARKED: Final = 0.5
"""What counts something said in a period of which the question asks what is planned."""
TOLD_WITHIN: Final = timedelta(days=35) // timedelta(microseconds=1)
_DAY: Final = timedelta(days=1) // timedelta(microseconds=1)
SHARPNESS: Final = ((10 * _DAY, 1.0), (32 * _DAY, 0.5), (END_OF_TIME * 2, 0.2))
"""Up to so many microseconds a period counts for this share."""
SESSION: Final = "Session"
"""The type of a memory that stands for a conversation: its text is a date, which is said by nobody."""
ABOUT: Final = 0.8
"""Of the greatest base relevance: a candidate with this share is about what the question asks the latest of."""


def period_fits(
    memories: Mapping[Key, Candidate],
    periods: Sequence[NamedPeriod],
    *,
    alone: bool = False,
    plans: bool = False,
) -> dict[Key, float]:
    """How well each candidate fits one of the periods, in (0, 1]; those that fit none are left out.

    A long period counts less, unless the question is of the time `alone`: "what did I drive in autumn" may have
    been told long before. `plans`: it asks what is planned then, which was said before ("in two weeks").
    """
    weighed = [each if alone else each._replace(weight=each.weight * sharpness(each.period)) for each in periods]
    fits: dict[Key, float] = {}
    for key, memory in memories.items():
        fit = max((_fit(memory, each, plans=plans) for each in weighed), default=0.0)
        if fit > 0.0 and memory.get("node_type") != SESSION:
            fits[key] = fit
    return fits


def sharpness(period: Period) -> float:
    """What a period counts by its length, in (0, 1]."""
    return next(share for longest, share in SHARPNESS if period.end - period.start <= longest)


def is_of_time(memory: Candidate, periods: Sequence[NamedPeriod]) -> bool:
    """Whether a memory began in one of the periods, or names or plans a day of it: not only said soon after."""
    return any(_fit(memory, each._replace(weight=1.0), plans=True) > AFTERWARDS for each in periods)


def _fit(memory: Candidate, named: NamedPeriod, *, plans: bool) -> float:
    told, period = told_by(memory), named.period
    began = told.began
    if plans and 0 < period.start - began < TOLD_WITHIN and any(day.overlaps(period) for day in told.plans):
        return named.weight
    if period.contains(began):
        return named.weight * (REMARKED if plans and told.speaker is not None else 1.0)
    late = began - period.end
    if not 0 <= late < TOLD_WITHIN:
        return 0.0
    if any(day.overlaps(period) for day in told.days):
        return named.weight * TOLD
    return named.weight * AFTERWARDS * max(0.0, 1.0 - late / GRACE)


def seeking_fits(
    memories: Mapping[Key, Candidate], base: Mapping[Key, float], seeking: Seeking | None
) -> dict[Key, float]:
    """For candidates about what is asked, their place in time as a share, in (0, 1]; the one sought has 1."""
    if seeking is None:
        return {}
    least = ABOUT * max(base.values(), default=0.0)
    about = [key for key, relevance in base.items() if relevance >= least > 0.0]
    about.sort(key=lambda key: (int(memories[key].get("valid_at")), key), reverse=seeking == "earliest")
    return {key: place / len(about) for place, key in enumerate(about, 1)}
