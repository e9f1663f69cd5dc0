"""Finds memories around which the same happened as around another, and looks at a question in three ways (004).

The ways are by meaning, by shape and by feeling; no memory is shown twice.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from orchestration.appraisal.feelings import read_emotions
from orchestration.dependencies import Deps
from orchestration.feature import Feature
from orchestration.features.shape import queries as store
from orchestration.features.shape.shape import TOO_LITTLE, Likeness, Neighbourhood, compare
from orchestration.features.shape.values import Look, Perspectives
from orchestration.graph_queries.existing_graphs import NO_EMBEDDER, View, open_view, read_filters
from orchestration.mind.energy import Decay
from orchestration.resonance import ranking
from orchestration.resonance.ask import resonate
from orchestration.resonance.ranking import dominant_emotion
from schemas.errors import Fault, NotFound, StoreTimeout, Unavailable
from schemas.intention import Filters
from schemas.memory import GraphKey, Level, describe_unreadable, level_of
from schemas.operation import ASKS, Method, Operation, group
from schemas.stream import LEVEL_NAMES
from schemas.temporal import Instant, Scope
from schemas.wave_signal import CHANNELS, Resonance, Resonances, Resonate, SentSignal, Weights
from substrate.emotions import normal_emotion
from substrate.graphs.graph import GraphTarget


class _Probe(NamedTuple):
    """The memory whose shape is sought, where it stands, and what lies within two links of it."""

    memory_id: str
    key: GraphKey
    marks: Mapping[str, store.Mark]
    steps: Sequence[store.Step]

    def sought(self) -> store.Sought:
        own = [step for step in self.steps if step.memory_id == self.memory_id]
        near = sorted({step.other_id for step in own} & self.marks.keys())
        types = frozenset(step.relation_type for step in own)
        return store.Sought(self.marks[self.memory_id], [self.marks[one] for one in near], types)


type _Compared = tuple[GraphKey, Sequence[Likeness] | None, str | None]
"""The memories of a graph of such a shape; None where it says too little. Last why there are none."""


async def resonate_by_shape(request: Resonate, deps: Deps, now: Instant) -> Resonances:
    """The memories of each level whose shape is like that of `request.id`, the most alike first.

    Raises NotFound when no level has that memory at the moment, Unavailable when no graph answered.
    """
    scope = Scope.resolve_datetimes(request.as_of_time, request.known_at, now)
    view = await open_view(request.citizen_id, request.graphs, scope, deps, now=now)
    filtered = await read_filters(request.filters, view)
    async with deps.connection.questions.turn():
        probe = await _find_probe(request.id or "", view)
        targets = view.targets.values()
        compared = await asyncio.gather(*(_compare(probe, target, scope, request.filters) for target in targets))
        if compared and all(failure for *_, failure in compared):
            raise Unavailable("no graph was asked in time", remedy="Try again in a moment.")
        limit = request.max_results_per_level
        shown: defaultdict[Level, list[Resonance]] = defaultdict(list)
        for key, found, _ in compared:
            shown[level_of(key)] += await _show(view.targets[key], list(found or ())[:limit], view, deps)
    levels: dict[Level, tuple[Resonance, ...]] = {}
    for level in map(level_of, request.graphs):
        levels[level] = tuple(sorted(shown[level], key=lambda one: (-one.resonance, one.memory.node_id))[:limit])
    too_little = [TOO_LITTLE for _, found, failure in compared if found is None and failure is None]
    notes = [*request.notes, *view.notes, *filtered.notes, *too_little]
    return Resonances(
        citizen_id=request.citizen_id,
        signal=SentSignal(),
        weights={},
        levels={LEVEL_NAMES[level]: found for level, found in levels.items()},
        rules=ranking.active_rules(chain.from_iterable(levels.values())),
        notes=tuple(dict.fromkeys(notes)),
        degraded=(
            *(f"{key}_shape" for key, _, failure in compared if failure),
            *describe_unreadable(one.memory for one in chain.from_iterable(levels.values())),
        ),
    )


async def _find_probe(memory_id: str, view: View) -> _Probe:
    """The probe in the first level that has it. Raises NotFound."""
    for key, target in view.targets.items():
        if memory_id in await store.read_marks(target, view.scope, [memory_id]):
            steps = await _read_two_steps(target, view.scope, [memory_id])
            marks = await store.read_marks(
                target, view.scope, sorted({memory_id, *(step.other_id for step in steps)})
            )
            return _Probe(memory_id, key, marks, steps)
    raise NotFound(
        f"there is no memory {memory_id!r} in these levels at that moment",
        remedy="Send the `id` of a memory that can be read.",
    )


async def _compare(probe: _Probe, target: GraphTarget, scope: Scope, filters: Filters | None) -> _Compared:
    try:
        candidates = await store.read_candidates(target, scope, filters, probe.sought())
        steps = await _read_two_steps(target, scope, candidates)
        marks = await store.read_marks(target, scope, sorted({*candidates, *(step.other_id for step in steps)}))
    except (StoreTimeout, Fault) as error:
        return target.key, (), error.detail
    if target.key == probe.key:
        around = Neighbourhood.of({**marks, **probe.marks}, [*probe.steps, *steps])
        return target.key, compare(probe.memory_id, candidates, around), None
    own = {_beside(memory_id): mark for memory_id, mark in probe.marks.items()}
    moved = [
        step._replace(memory_id=_beside(step.memory_id), other_id=_beside(step.other_id)) for step in probe.steps
    ]
    around = Neighbourhood.of({**marks, **own}, [*moved, *steps])
    return target.key, compare(_beside(probe.memory_id), candidates, around), None


def _beside(memory_id: str) -> str:
    """An id of the probe's graph beside those of another graph: no stored id begins with this character."""
    return f"\x00{memory_id}"


async def _read_two_steps(target: GraphTarget, scope: Scope, ids: Sequence[str]) -> list[store.Step]:
    """The links of these memories and those of their neighbours; of hubs none."""
    first = await store.read_steps(target, scope, ids)
    ways = {step.other_id for step in first}
    return [*first, *await store.read_steps(target, scope, sorted(ways - set(ids)))]


async def _show(target: GraphTarget, found: Sequence[Likeness], view: View, deps: Deps) -> list[Resonance]:
    if not found:
        return []
    memories = await store.read_alike(target, view.scope, [one.memory_id for one in found])
    shown = [one for one in found if one.memory_id in memories]
    decayed = Decay(deps.half_lives, view.scope.valid.start).show([memories[one.memory_id] for one in shown])
    resonances: list[Resonance] = []
    for one, memory in zip(shown, decayed, strict=True):
        alike = round(one.likeness, 6)
        scored = memory.model_copy(update={"relevance_score": alike})
        fixed: dict[str, Any] = {"channels": {}, "suppression": 1.0, "level_boost": 1.0}
        resonances.append(Resonance(memory=scored, resonance=alike, total=alike, **fixed, shared=one.shared))
    return resonances


TRIED: Final = 5
"""Of the memories nearest in meaning this many are tried until one has a shape."""
MOST_PER_LEVEL: Final = 100


async def look(request: Look, deps: Deps, now: Instant) -> Perspectives:
    """One question looked at by meaning, by shape and by feeling; no memory stands in two of them (004).

    Raises NotFound for an unknown `id`, Unavailable without an answer.
    """
    sight = Sight(request, deps, now)
    by_meaning = deps.embedder.dimension > 0
    meaning = await sight.resonate("likeness", query_text=request.query_text) if by_meaning else None
    nearest = _ordered(meaning)
    probe, shape = await sight.by_shape(nearest)
    emotion = _sought_emotion(request, nearest)
    feeling = None if emotion is None else await sight.resonate("emotion", emotion=emotion)
    shares = share_out([nearest, _ordered(shape), _ordered(feeling)], request.each)
    answers = [answer for answer in (meaning, shape, feeling) if answer is not None]
    notes = [*request.notes, *chain.from_iterable(answer.notes for answer in answers)]
    notes += [f"by meaning: {NO_EMBEDDER}"] if meaning is None else []
    notes += [f"by shape: {TOO_LITTLE}"] if shape is None else []
    notes += ["by feeling: neither the question nor what it is about tells a feeling"] if emotion is None else []
    return Perspectives(
        citizen_id=request.citizen_id,
        probe=probe,
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

    async def by_shape(self, nearest: Sequence[Resonance]) -> tuple[str | None, Resonances | None]:
        """The memory named, else the first of the nearest that has a shape, and what has that; None for none."""
        named = self.request.id
        ids = [one.memory.node_id for one in nearest[:TRIED]] if named is None else [named]
        for memory_id in ids:
            found = await self.ask(by="shape", id=memory_id)
            if TOO_LITTLE not in found.notes:
                return memory_id, found
        return named, None

    async def resonate(self, channel: str, **signal: Any) -> Resonances:
        """What resonates by one channel alone."""
        weights = Weights(**{name: float(name == channel) for name in CHANNELS})
        return await self.ask(**signal, weights=weights, suppress_recent=False)

    async def ask(self, **fields: Any) -> Resonances:
        """What resonates with these fields of a request, for whom and when this question is asked."""
        names = {"citizen_id", "as_of_time", "known_at", "query_levels"}
        fields |= {**self.request.model_dump(include=names), "filters": self.request.filters}
        most = min(MOST_PER_LEVEL, 3 * self.request.each)
        return await resonate(Resonate(**fields, max_results_per_level=most), self.deps, self.now)


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


OPERATIONS: Final = group(
    "retrieval",
    Operation("perspectives", "POST /v1/perspectives", "Look at a question in three ways", ASKS, look,
              call=Method(says="A question looked at by meaning, by shape and by feeling; no memory stands in "
                               "two of them.")),
)  # fmt: skip
FEATURE: Final = Feature("shape", operations=OPERATIONS, sections={"by_shape": resonate_by_shape})
