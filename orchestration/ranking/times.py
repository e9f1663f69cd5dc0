"""How candidates stand in time: in the periods that a question names, and in their sessions. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Final

import numpy as np

from orchestration.question.time_expressions import NamedPeriod
from orchestration.ranking.candidates import Candidate, Key
from orchestration.ranking.texts import MemoryText, told_by
from schemas.memory import GraphKey
from schemas.temporal import END_OF_TIME

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
"""Up to this many microseconds a period counts for this share."""
SESSION: Final = "Session"
"""The type of a memory that stands for a conversation: its text is a date, which is said by nobody."""


def fit_to_periods(
    memories: Iterable[Candidate], periods: Iterable[NamedPeriod], *, alone: bool = False, plans: bool = False
) -> list[float]:
    """How well each candidate fits one of the periods, in [0, 1].

    A long period counts less, unless the question is of the time `alone`: "what did I drive in autumn" may have
    been told long before. `plans`: it asks what is planned then, which was said before ("in two weeks").
    """
    weighed: list[NamedPeriod] = []
    for each in periods:
        length = each.period.end - each.period.start
        share = 1.0 if alone else next(share for longest, share in SHARPNESS if length <= longest)
        weighed.append(each._replace(weight=each.weight * share))
    fits: list[float] = []
    for memory in memories:
        fit = max([_fit(memory, each, plans=plans) for each in weighed], default=0.0)
        fits.append(fit if fit > 0.0 and memory.get("node_type") != SESSION else 0.0)
    return fits


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


SESSION_GAP: Final = 3_600_000_000
"""An hour, in microseconds: a memory that begins later than this after the one before begins a new session."""
TURN: Final = "Turn"
LENGTH: Final = 0.5
"""What a turn of the median length or longer counts beside its place in the session, which counts up to 1."""
SHARE: Final = 0.5
"""What the session with the most candidates counts so, for a summary."""
_APART: Final = 4 * END_OF_TIME
"""Levels are sorted so far from each other that none of their moments meet."""
_NUMBER: Final = re.compile(r"(\d+)")


def session_numbers(keys: Iterable[Key], told: Iterable[MemoryText]) -> list[int]:
    """The session of each memory, from 0 on: within a level, in the order of `valid_at`."""
    offsets: dict[GraphKey, int] = {}
    begun = [
        offsets.setdefault(key[0], len(offsets) * _APART) + each.began
        for key, each in zip(keys, told, strict=True)
    ]
    sessions = [0] * len(begun)
    session, latest = -1, -_APART
    for place in sorted(range(len(begun)), key=begun.__getitem__):
        if begun[place] - latest > SESSION_GAP:
            session += 1
        latest = begun[place]
        sessions[place] = session
    return sessions


def in_time(memories: Mapping[Key, Candidate]) -> list[Key]:
    """The keys by level and `valid_at`; of one moment, as where only the day is known, by the ids."""
    return sorted(memories, key=lambda key: (key[0], int(memories[key].get("valid_at")), _natural(key[1]), key[2]))


def _natural(text: str) -> tuple[tuple[int, str], ...]:
    """An id as it is sorted: "turn 9" before "turn 10"."""
    parts = _NUMBER.split(text)
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in parts)


class Sessions:
    """The turns among the candidates, in the order in which they were said, and the session of each."""

    def __init__(self, memories: Mapping[Key, Candidate]) -> None:
        self.memories = memories
        numbers = session_numbers(memories, map(told_by, memories.values()))
        self.number: dict[Key, int] = dict(zip(memories, numbers, strict=True))
        self.turns = [key for key in in_time(memories) if memories[key].get("node_type") == TURN]

    def openings(self, asked: Collection[Key], *, whole: bool) -> dict[Key, float]:
        """How well each of the `asked` turns may open a subject, in (0, 2].

        Its place in its session, from 1 for the first turn down to above 0; half of its length as a share of the
        median, up to 1; for a summary (`whole`) half of the size of its session, by that of the greatest.
        """
        sizes = Counter(self.number[key] for key in self.turns)
        lengths = {key: len(self.memories[key].get("description") or "") for key in asked}
        usual = max(1.0, float(np.median(list(lengths.values())))) if lengths else 1.0
        found = Counter(self.number[key] for key in asked)
        most = max(found.values(), default=1)
        before: Counter[int] = Counter()
        openings: dict[Key, float] = {}
        for key in self.turns:
            session = self.number[key]
            if key in lengths:
                place = 1.0 - before[session] / sizes[session]
                share = SHARE * found[session] / most if whole else 0.0
                openings[key] = place + LENGTH * min(1.0, lengths[key] / usual) + share
            before[session] += 1
        return openings

    def answers(self, asked: Collection[Key]) -> dict[Key, Key]:
        """The turn after each of the `asked` ones in its session, where that one is not asked too."""
        return {
            turn: after
            for turn, after in pairwise(self.turns)
            if turn in asked and after not in asked and self.number[turn] == self.number[after]
        }


def with_answers(order: Iterable[Key], answers: Mapping[Key, Key]) -> list[Key]:
    """The keys in their order, but each answer directly behind the turn that it answers."""
    behind = set(answers.values())
    placed: list[Key] = []
    for key in order:
        if key not in behind:
            placed.append(key)
            if key in answers:
                placed.append(answers[key])
    return placed
