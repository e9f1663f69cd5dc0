"""Derives the state of a citizen from its memories of the last days, where nobody set one. Pure.

Only the citizen's own words count. Each memory counts by its recency, from the newest of them on: whoever comes
back after a month wakes as it fell asleep.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from orchestration.question.reading import ASKING, ROLES
from schemas.memory import STORED_DEFAULTS, ResolutionState
from schemas.mind.state import StateSource
from substrate.store.feelings import FeltMemory

DAY: Final = 86_400_000_000
"""Microseconds."""
DAYS: Final = 7.0
"""Memories count up to this many days before the newest one with a feeling, a goal or open work."""
HALF_LIFE_DAYS: Final = 2.0
"""A memory counts half after this many days: a mood passes faster than a matter."""
MOST_EMOTIONS: Final = 6
MOST_GOALS: Final = 5
UNSAID: Final = 0.5
"""A goal of which no memory says that it is being worked on counts half."""
LEAST_EMOTION: Final = 0.05
"""Weaker emotions are no part of a mood."""


class DerivedState(NamedTuple):
    """What the memories say of a state; None or empty for what they do not say."""

    energy: float | None
    emotions: dict[str, float]
    goal: str | None
    sources: tuple[StateSource, ...]


NOTHING_DERIVED: Final = DerivedState(None, {}, None, ())


class _WeighedMemory(NamedTuple):
    """A memory and how much it counts, in (0, 1]."""

    memory: FeltMemory
    weight: float


def is_own(speaker: str | None) -> bool:
    """Whether the words of a memory are those of a citizen or of a person, not of an assistant, tool or system."""
    role = (speaker or "").strip().lower()
    return role in ASKING or role not in ROLES


def derive_state(memories: Iterable[FeltMemory]) -> DerivedState:
    """The state that the citizen's own memories of the last days tell."""
    own = [memory for memory in memories if is_own(memory.speaker)]
    newest = max((memory.valid_at for memory in own), default=0)
    weighed = [
        # 1 / (1 + days / half-life), in (0, 1] (004, change 3).
        _WeighedMemory(memory, 1.0 / (1.0 + (newest - memory.valid_at) / DAY / HALF_LIFE_DAYS))
        for memory in sorted(own, key=lambda memory: (-memory.valid_at, memory.memory_id))
        if newest - memory.valid_at <= DAYS * DAY
    ]
    emotions, energy, goals = _emotions(weighed), _energy(weighed), _goals(weighed)
    return DerivedState(
        energy=energy[0].amount if energy else None,
        emotions={source.name: source.amount for source in emotions},
        goal=goals[0].name if goals else None,
        sources=(*emotions, *energy, *goals),
    )


def _emotions(weighed: Sequence[_WeighedMemory]) -> list[StateSource]:
    """The mean of each emotion over the memories that feel anything, strongest first."""
    feeling = [one for one in weighed if any(one.memory.emotions.values())]
    whole = sum(one.weight for one in feeling)
    names = {name for one in feeling for name in one.memory.emotions}
    present = []
    for name in names:
        having = [one for one in feeling if one.memory.emotions.get(name)]
        amount = round(sum(one.weight * one.memory.emotions[name] for one in having) / whole, 4)
        if amount >= LEAST_EMOTION:
            present.append(StateSource(field="emotion_vector", name=name, amount=amount, memory_ids=_ids(having)))
    return sorted(present, key=lambda source: (-source.amount, source.name))[:MOST_EMOTIONS]


def _energy(weighed: Sequence[_WeighedMemory]) -> list[StateSource]:
    """The mean energy of the memories that say one: a default says nothing."""
    saying = [
        one
        for one in weighed
        if "energy" not in one.memory.unset or one.memory.energy != STORED_DEFAULTS["energy"]
    ]
    whole = sum(one.weight for one in saying)
    if not saying:
        return []
    amount = sum(one.weight * one.memory.energy for one in saying) / whole
    return [StateSource(field="energy", name="energy", amount=round(amount, 4), memory_ids=_ids(saying))]


def _goals(weighed: Sequence[_WeighedMemory]) -> list[StateSource]:
    """The goals that are not reached, the most present first: by energy and recency of their memories."""
    having: defaultdict[str, list[_WeighedMemory]] = defaultdict(list)
    for one in weighed:
        if one.memory.goal and one.memory.work != ResolutionState.RESOLVED.value:
            having[one.memory.goal].append(one)
    sources = []
    for goal, ones in having.items():
        amount = max(one.weight * one.memory.energy * (1.0 if one.memory.work else UNSAID) for one in ones)
        sources.append(StateSource(field="goal", name=goal, amount=round(amount, 4), memory_ids=_ids(ones)))
    return sorted(sources, key=lambda source: (-source.amount, source.name))[:MOST_GOALS]


def _ids(weighed: Iterable[_WeighedMemory]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.memory.memory_id for one in weighed))
