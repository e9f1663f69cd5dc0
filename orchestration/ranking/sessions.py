"""The sessions that candidates belong to: what opens them, and the exchanges of a chat in them. Pure.

Who sits down to talk begins with what it is about and then goes into it. So for an order of events and for a
summary the turns that open a session, and that tell something at length, say more than those that ask on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from typing import Final

import numpy as np

from orchestration.ranking.candidates import Candidate, Key
from orchestration.ranking.texts import told_by
from schemas.memory import GraphKey
from schemas.temporal import END_OF_TIME

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


def session_numbers(memories: Mapping[Key, Candidate]) -> list[int]:
    """The session of each memory, from 0 on: within a level, in the order of `valid_at`."""
    offsets: dict[GraphKey, int] = {}
    begun = [
        offsets.setdefault(key[0], len(offsets) * _APART) + told_by(memory).began
        for key, memory in memories.items()
    ]
    sessions = [0] * len(begun)
    session, latest = -1, -_APART
    for place in sorted(range(len(begun)), key=begun.__getitem__):
        began = begun[place]
        if began - latest > SESSION_GAP:
            session += 1
        latest = began
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
        self.number: dict[Key, int] = dict(zip(memories, session_numbers(memories), strict=True))
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
