"""Imagines what comes of an action: past contexts by resonance, and a prediction that may be kept (002)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final, NamedTuple
from uuid import uuid4

from orchestration.appraisal.names import Kind
from orchestration.dependencies import Deps
from orchestration.mind import imagination
from orchestration.mind.imagination import Case, Imagined
from orchestration.mind.predictions import to_store
from orchestration.resonance.ask import resonate
from orchestration.resonance.ranking import dominant_emotion
from schemas.memory import Level
from schemas.mind.imagination import Imagination, Imagine, PastCase
from schemas.temporal import Instant, to_instant
from schemas.wave_signal import Channel, Resonance, Resonate, Weights
from substrate.graphs.names import graph_name
from substrate.store import predictions
from substrate.store.identity import SELF_TYPE
from substrate.store.work_links import RESOLVED_BY
from substrate.text import name_key, stems

THINGS: Final = frozenset((*(kind.value for kind in Kind), "Session", SELF_TYPE))
"""Types of what episodes are about: no episodes themselves."""
CANDIDATES: Final = 50
"""So many memories of each level that resonate are looked at."""
SEARCH: Final = Weights(likeness=2.0, words=0.0, beside=0.0, importance=0.0, recency=0.01)
"""How candidates are found. Age counts by itself, and recency keeps a signal without a vector from being empty."""


class _Echo(NamedTuple):
    """A memory that resonates, as a case."""

    found: Resonance
    case: Case


async def imagine(request: Imagine, deps: Deps, now: Instant) -> Imagination:
    """What came of an action before. Raises as `resonate` does."""
    found = await resonate(_signal(request), deps, now)
    moment = now if request.as_of_time is None else to_instant(request.as_of_time)
    by_meaning = found.weights["likeness"] > 0.0
    every = chain.from_iterable(found.levels.values())
    resonances = [one for one in every if one.memory.node_type not in THINGS]
    echoes = [_echo(one, request, moment, by_meaning=by_meaning) for one in resonances]
    imagined = imagination.imagine([echo.case for echo in echoes])
    answer = Imagination(
        citizen_id=request.citizen_id,
        action=request.action,
        enough=imagined.enough,
        cases=imagined.known,
        evidence=round(imagined.evidence, 2),
        needed=imagination.NEEDED,
        results=imagined.results,
        emotions=imagined.emotions,
        usual=imagined.usual,
        nearest=_nearest(echoes, imagined),
        notes=(*request.notes, *_told(imagined), *found.notes),
        degraded=found.degraded,
    )
    return await _keep(request, answer, deps, now) if request.keep else answer


def _signal(request: Imagine) -> Resonate:
    return Resonate(
        citizen_id=request.citizen_id,
        query_text=request.action,
        nodes=request.nodes,
        emotion=request.emotion,
        weights=SEARCH,
        query_levels=request.query_levels,
        collectives=request.collectives,
        as_of_time=request.as_of_time,
        known_at=request.known_at,
        max_results_per_level=CANDIDATES,
        suppress_recent=False,
    )


def _echo(found: Resonance, request: Imagine, moment: Instant, *, by_meaning: bool) -> _Echo:
    """A memory as a case; without `by_meaning` there are no vectors, and shared words stand for likeness."""
    memory = found.memory
    likeness = found.channels["likeness"]
    if not by_meaning:
        likeness = _shared_words(request.action, f"{memory.name} {memory.description}")
    given: dict[Channel, bool] = {"nodes": bool(request.nodes), "emotion": request.emotion is not None}
    filled = [channel for channel, is_given in given.items() if is_given]
    solved = any(edge.relation_type == RESOLVED_BY and edge.source_id == memory.node_id for edge in found.edges)
    return _Echo(
        found,
        Case(
            imagination.nearness(found.channels, likeness, filled),
            likeness,
            imagination.age_of(memory, moment),
            imagination.outcome_of(memory, solved=solved),
            memory.emotion_vector or {},
        ),
    )


def _shared_words(action: str, text: str) -> float:
    """The share of the words of the action that the text has, in [0, 1], by their stems."""
    own = stems(action)
    return len(own & stems(text)) / len(own) if own else 0.0


def _nearest(echoes: Sequence[_Echo], imagined: Imagined) -> tuple[PastCase, ...]:
    ordered = sorted(imagined.weighed, key=lambda one: (-one.weight, one.place))[: imagination.NEAREST]
    return tuple(_past_case(echoes[one.place], one.weight) for one in ordered)


def _past_case(echo: _Echo, weight: float) -> PastCase:
    memory = echo.found.memory
    return PastCase(
        memory_id=memory.node_id,
        level=memory.level,
        name=memory.name,
        description=memory.description,
        valid_at=memory.valid_at,
        result=echo.case.result,
        emotion=dominant_emotion(memory),
        rule=memory.rule,
        resonance=echo.found.resonance,
        weight=round(weight, 4),
    )


def _told(imagined: Imagined) -> tuple[str, ...]:
    if imagined.enough:
        return ()
    like = len(imagined.weighed)
    return (
        f"too few to say: {like} past contexts are like this action, {imagined.known} of them with a result; "
        f"they count like {imagined.evidence:.1f} cases, and {imagination.NEEDED:g} are needed",
    )


async def _keep(request: Imagine, answer: Imagination, deps: Deps, now: Instant) -> Imagination:
    """The answer with the id under which its prediction is kept, beside what the citizen remembers."""
    graph = graph_name(Level.N1, request.citizen_id)
    if not await deps.graphs.for_reading(graph):
        note = f"not kept: nothing was remembered for {request.citizen_id} yet"
        return answer.model_copy(update={"notes": (*answer.notes, note)})
    kept = answer.model_copy(update={"prediction_id": f"p_{uuid4().hex[:20]}"})
    named = list(filter(None, chain.from_iterable((name, name_key(name)) for name in request.nodes)))
    await predictions.keep_prediction(deps.graph(graph), to_store(kept, request, now), named)
    return kept
