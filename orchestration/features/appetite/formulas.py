"""How much there is to wake for: each formula takes plain numbers and gives one in [0, 1] (003, S6). Pure.

003 names context hunger and unresolved tension and gives them thresholds, but no formulas; these are ours. Each is
monotone in what it reads, and `docs/appetite.md` states them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final

from orchestration.mind.energy import MOST_MULTIPLIED, MULTIPLIERS
from schemas.memory import ResolutionState
from schemas.temporal import Instant, Period
from substrate.emotions import normal_emotions

HOUR: Final = 3_600_000_000
DAY: Final = 24 * HOUR
"""Microseconds."""
HUNGER_HOURS: Final = 12.0
"""After this many hours without a stream half the hunger has come back: .7 is passed after 21 hours."""
HUNGER_NEWS: Final = 4.0
"""This many new memories of others make as much hunger as those hours."""
CHANGES: Final = 3.0
REVALUATIONS: Final = 10.0
"""This many changes that touch a goal, and this many memories to judge anew, amount to one half."""
DUE_DAYS: Final = 1.0
"""What is planned counts half for each day that it is away."""
OVER: Final = 0.5
"""Of what was planned and is over nobody says whether it was done."""
SATISFIED: Final = 0.3
"""A drive with less satisfaction than this wants something (002)."""
CALM: Final = 0.5
"""The reality pressure where nothing is due (003)."""
PAINFUL: Final = frozenset(
    ("hurt", "pain", "grief", "despair", "dread", "existential dread", "loneliness", "sadness", "shame", "guilt",
     "regret", "disappointment")
)  # fmt: skip
"""Emotions that are a pain, whatever caused them; anger and frustration belong to what is blocked."""
DOMINANT: Final = 0.5
MOST_DOMINANT: Final = 3
"""An emotion is dominant with at least this share of the strongest; at most this many are."""


def halves(count: float, half: float) -> float:
    """1 − 2^(−count ÷ half): 0 of nothing, one half of `half`, 1 of endlessly much."""
    return 1.0 - math.exp2(-max(0.0, count) / half)


def hunger(since: Instant | None, news: int) -> float:
    """How much a citizen lacks context: 1 − 2^(−(hours ÷ 12 + news ÷ 4)).

    `since`: microseconds since its last stream; None for a citizen that never had one, which lacks all. `news`:
    memories of others that are new in the shared levels since.
    """
    return 1.0 if since is None else halves(since / HOUR / HUNGER_HOURS + news / HUNGER_NEWS, 1.0)


def pull(energy: float, state: str) -> float:
    """How much open work pulls: its energy × 1 if it is blocked, × 2/3 in progress, × 1/5 resolved (003, 5c)."""
    return energy * MULTIPLIERS[ResolutionState(state)] / MOST_MULTIPLIED


def tension(pulls: Iterable[float]) -> float:
    """1 − Π (1 − pull ÷ 2^place), the strongest at place 0: the first counts whole, each further one half as much.

    So one piece of work tells most, and a hundred small ones are no crisis.
    """
    strongest = sorted(pulls, reverse=True)
    return 1.0 - math.prod(1.0 - min(1.0, each) / 2.0**place for place, each in enumerate(strongest[:50]))


def pain(emotions: Mapping[str, float]) -> tuple[str, float]:
    """The strongest painful emotion and its intensity; "" and 0 without one."""
    felt = [(amount, name) for name, amount in normal_emotions(emotions).items() if name in PAINFUL and amount]
    amount, name = max(felt, default=(0.0, ""))
    return name, min(1.0, amount)


def lack(satisfaction: float) -> float:
    """How much a drive lacks: (.3 − satisfaction) ÷ .3; 0 from a satisfaction of .3 on (002)."""
    return max(0.0, (SATISFIED - satisfaction) / SATISFIED)


def nearness(planned: Period, now: Instant) -> float:
    """How due a planned time is: 2^(−days until it begins), 1 while it lasts; once over ½ × 2^(−days since)."""
    if now > planned.end:
        return OVER * math.exp2(-(now - planned.end) / DAY / DUE_DAYS)
    return math.exp2(-max(0, planned.start - now) / DAY / DUE_DAYS)


def touched(changes: int) -> float:
    """How much has changed about the goals: 1 − 2^(−changes ÷ 3)."""
    return halves(changes, CHANGES)


def to_judge(offered: int) -> float:
    """How much there is to judge anew: 1 − 2^(−memories ÷ 10)."""
    return halves(offered, REVALUATIONS)


def pressure(due: float) -> float:
    """The reality pressure where none was given (003, `get_current_pressure`): .5 + .5 × what is due."""
    return CALM + (1.0 - CALM) * due


def dominant(emotions: Mapping[str, float]) -> tuple[str, ...]:
    """The emotions with at least half the intensity of the strongest, at most three, strongest first."""
    felt = {name: amount for name, amount in normal_emotions(emotions).items() if amount > 0.0}
    least = DOMINANT * max(felt.values(), default=0.0)
    strong = sorted((-amount, name) for name, amount in felt.items() if amount >= least)
    return tuple(name for _, name in strong[:MOST_DOMINANT])
