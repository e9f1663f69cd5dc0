"""Looks at one question by meaning, by shape and by feeling, and shows no memory twice (004)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from orchestration.appraisal.feelings import read_emotions
from orchestration.dependencies import Deps
from orchestration.features.shape.shape import TOO_LITTLE
from orchestration.features.shape.values import Look, Perspectives
from orchestration.graph_queries.existing_graphs import NO_EMBEDDER
from orchestration.resonance.ask import resonate
from orchestration.resonance.ranking import dominant_emotion
from schemas.temporal import Instant
from schemas.wave_signal import CHANNELS, Resonance, Resonances, Resonate, Weights
from substrate.emotions import normal_emotion

TRIED: Final = 5
"""Of the memories nearest in meaning so many are tried until one has a shape."""
MOST_PER_LEVEL: Final = 100


class _Shape(NamedTuple):
    """The memory whose shape was sought, and what was found; None where no memory has a shape."""

    probe: str | None
    found: Resonances | None


async def look(request: Look, deps: Deps, now: Instant) -> Perspectives:
    """The three perspectives on a question. Raises NotFound for an unknown `id`, Unavailable without an answer."""
    sight = Sight(request, deps, now)
    meaning = await sight.by_meaning()
    nearest = _ordered(meaning)
    shape = await sight.by_shape(nearest)
    emotion = _sought_emotion(request, nearest)
    feeling = None if emotion is None else await sight.resonate("emotion", emotion=emotion)
    shares = share_out([nearest, _ordered(shape.found), _ordered(feeling)], request.each)
    answers = [answer for answer in (meaning, shape.found, feeling) if answer is not None]
    notes = [*request.notes, *chain.from_iterable(answer.notes for answer in answers)]
    notes += [f"by meaning: {NO_EMBEDDER}"] if meaning is None else []
    notes += [f"by shape: {TOO_LITTLE}"] if shape.found is None else []
    notes += ["by feeling: neither the question nor what it is about tells a feeling"] if emotion is None else []
    return Perspectives(
        citizen_id=request.citizen_id,
        probe=shape.probe,
        emotion=emotion,
        by_meaning=shares[0],
        by_shape=shares[1],
        by_feeling=shares[2],
        notes=tuple(dict.fromkeys(notes)),
        degraded=tuple(dict.fromkeys(chain.from_iterable(answer.degraded for answer in answers))),
    )


class Sight(NamedTuple):
    """A question and what is needed to look at it."""

    request: Look
    deps: Deps
    now: Instant

    async def by_meaning(self) -> Resonances | None:
        """What is nearest in meaning; None without an embedder."""
        if not self.deps.embedder.dimension:
            return None
        return await self.resonate("likeness", query_text=self.request.query_text)

    async def by_shape(self, nearest: Sequence[Resonance]) -> _Shape:
        """What has the shape of the memory named, else of the first of the nearest that has a shape."""
        named = self.request.id
        ids = [one.memory.node_id for one in nearest[:TRIED]] if named is None else [named]
        for memory_id in ids:
            found = await resonate(self._asked(by="shape", id=memory_id), self.deps, self.now)
            if TOO_LITTLE not in found.notes:
                return _Shape(memory_id, found)
        return _Shape(named, None)

    async def resonate(self, channel: str, **signal: Any) -> Resonances:
        """What resonates by one channel alone."""
        weights = Weights(**{name: float(name == channel) for name in CHANNELS})
        return await resonate(self._asked(**signal, weights=weights, suppress_recent=False), self.deps, self.now)

    def _asked(self, **fields: Any) -> Resonate:
        request = self.request
        return Resonate(
            citizen_id=request.citizen_id,
            as_of_time=request.as_of_time,
            known_at=request.known_at,
            query_levels=request.query_levels,
            filters=request.filters,
            max_results_per_level=min(MOST_PER_LEVEL, 3 * request.each),
            **fields,
        )


def share_out(ways: Sequence[Sequence[Resonance]], each: int) -> list[tuple[Resonance, ...]]:
    """For each way its best, at most `each`; they take turns, and a memory goes to the first that takes it."""
    taken: set[str] = set()
    shares: list[list[Resonance]] = [[] for _ in ways]
    rest = list(map(iter, ways))
    for _ in range(each):
        for share, left in zip(shares, rest, strict=True):
            chosen = next((one for one in left if one.memory.node_id not in taken), None)
            if chosen is not None:
                taken.add(chosen.memory.node_id)
                share.append(chosen)
    return list(map(tuple, shares))


def _ordered(found: Resonances | None) -> list[Resonance]:
    """What was found at all levels, the strongest first; without mere names and what has no strength."""
    everything = chain.from_iterable(found.levels.values()) if found is not None else ()
    named = (one for one in everything if one.memory.description or one.memory.node_type == "Memory")
    telling = (one for one in named if one.total > 0.0)
    return sorted(telling, key=lambda one: (-one.resonance, one.memory.node_id))


def _sought_emotion(request: Look, nearest: Sequence[Resonance]) -> str | None:
    if request.emotion is not None:
        return normal_emotion(request.emotion)
    said = next(iter(read_emotions(request.query_text)), None)
    felt = (dominant_emotion(one.memory) for one in nearest[:TRIED])
    return said or next((emotion for emotion in felt if emotion is not None), None)
