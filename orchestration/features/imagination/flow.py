"""Imagines what comes of an action, keeps that as a prediction, and tells how right predictions were (002)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final
from uuid import uuid4

from orchestration.appraisal.feelings import read_reply
from orchestration.appraisal.names import Kind
from orchestration.dependencies import Deps
from orchestration.features.imagination import formulas
from orchestration.features.imagination import queries as store
from orchestration.features.imagination.formulas import Case, Experience, calibrate, score
from orchestration.features.imagination.values import (
    Calibration,
    Imagination,
    Imagine,
    PastCase,
    Prediction,
    PredictionPage,
    PredictionQuery,
)
from orchestration.graph_queries.existing_graphs import open_plain_view
from orchestration.ranking.spreading import FOLLOWING
from orchestration.resonance.ask import resonate
from orchestration.resonance.ranking import dominant_emotion
from orchestration.writing.appraised_rows import replied_to
from schemas.base import CitizenId
from schemas.errors import Conflict, Fault, StoreTimeout
from schemas.memory import ConsciousnessNode, GraphKey, Level
from schemas.mind.state import CalibrationScore
from schemas.paging import decode_cursor, first_page
from schemas.temporal import AFTER_ALL, Instant, Scope, to_datetime, to_instant
from schemas.wave_signal import Channel, Resonance, Resonate, Weights
from substrate.connection.errors import GraphMissing
from substrate.graphs.graph import Graph
from substrate.language.text import name_key, stems
from substrate.store.naming import SELF_TYPE
from substrate.store.surroundings import read_spoken
from substrate.store.threads import RESOLVED_BY

THINGS: Final = frozenset((*(kind.value for kind in Kind), "Session", SELF_TYPE))
"""Types of what episodes are about: no episodes themselves."""
CANDIDATES: Final = 50
"""This many memories of each level that resonate are looked at."""
SEARCH: Final = Weights(likeness=2.0, words=0.0, beside=0.0, importance=0.0, recency=0.01)
"""How candidates are found. Age counts by itself, and recency keeps a signal without a vector from being empty."""


async def imagine(request: Imagine, deps: Deps, now: Instant) -> Imagination:
    """What came of an action before: results and feelings of the past contexts that are most like it (002).

    With `keep` the prediction is kept, and a context with `outcome_of` says what came of it.

    Raises as `resonate` does.
    """
    asked = {**request.model_dump(exclude={"action", "keep"}), "query_text": request.action}
    signal = Resonate(**asked, weights=SEARCH, max_results_per_level=CANDIDATES, suppress_recent=False)
    found = await resonate(signal, deps, now, diverse=False)  # shares are of all that is near
    moment = now if request.as_of_time is None else to_instant(request.as_of_time)
    by_meaning = found.weights["likeness"] > 0.0
    every = chain.from_iterable(found.levels.values())
    resonances = [one for one in every if one.memory.node_type not in THINGS]
    late: list[str] = []
    replies = await _read_replies(resonances, request, deps, now, notes=late)
    cases: list[Case] = []
    for one in resonances:
        replied = replies.get((one.memory.graph_key, one.memory.node_id))
        cases.append(_case(one, request, moment, replied, by_meaning=by_meaning))
    imagined = formulas.imagine(cases)
    few = (
        f"too few to say: {len(imagined.weighed)} past contexts are like this action, {imagined.known} of them "
        f"with a result; they count like {imagined.evidence:.1f} cases, and {formulas.NEEDED:g} are needed"
    )
    answer = Imagination(
        citizen_id=request.citizen_id,
        action=request.action,
        enough=imagined.enough,
        cases=imagined.known,
        evidence=round(imagined.evidence, 2),
        needed=formulas.NEEDED,
        results=imagined.results,
        emotions=imagined.emotions,
        usual=imagined.usual,
        nearest=_nearest(resonances, cases, imagined),
        notes=(*request.notes, *([] if imagined.enough else [few]), *found.notes, *late),
        degraded=found.degraded,
    )
    return await _keep(request, answer, deps, now) if request.keep else answer


async def _read_replies(
    resonances: Sequence[Resonance], request: Imagine, deps: Deps, now: Instant, *, notes: list[str]
) -> dict[tuple[GraphKey, str], str | None]:
    """What the next turn of the other side says came of each turn, by its graph and id."""
    acts: dict[GraphKey, dict[str, list[ConsciousnessNode]]] = {}
    for one in resonances:
        for edge in one.edges:
            if edge.relation_type == FOLLOWING and edge.source_id == one.memory.node_id:
                by_reply = acts.setdefault(one.memory.graph_key, {})
                by_reply.setdefault(edge.target_id, []).append(one.memory)
    scope = Scope.resolve_datetimes(request.as_of_time, request.known_at, now)
    view = await open_plain_view(request.citizen_id, tuple(acts), scope, deps, now=now)
    replies: dict[tuple[GraphKey, str], str | None] = {}
    for key, target in view.targets.items():
        try:
            spoken = await read_spoken(target, scope, list(acts[key]))
        except (GraphMissing, StoreTimeout, Fault):
            notes.append(f"what was replied to them in {key} was not read in time")
            continue
        for reply_id, (speaker, text) in spoken.items():
            for act in acts[key][reply_id]:
                replies[key, act.node_id] = replied_to(act.speaker, speaker, text)
    return replies


def _case(found: Resonance, request: Imagine, moment: Instant, replied: str | None, *, by_meaning: bool) -> Case:
    """A memory as a case; without `by_meaning` there are no vectors, and shared words stand for likeness."""
    memory = found.memory
    likeness = found.channels["likeness"]
    if not by_meaning:
        own = stems(request.action)
        likeness = len(own & stems(f"{memory.name} {memory.description}")) / max(1, len(own))
    given: dict[Channel, bool] = {"nodes": bool(request.nodes), "emotion": request.emotion is not None}
    filled = [channel for channel, is_given in given.items() if is_given]
    solved, answers = False, False
    for edge in found.edges:
        solved = solved or (edge.relation_type == RESOLVED_BY and edge.source_id == memory.node_id)
        answers = answers or (edge.relation_type == FOLLOWING and edge.target_id == memory.node_id)
    outcome = formulas.outcome_of(memory, solved=solved, replied=replied)
    is_given = memory.result is not None and "result" not in memory.unset
    if answers and not is_given and read_reply(memory.description):
        outcome = replied  # what it tells came of the turn before, not of itself
    near = formulas.nearness(found.channels, likeness, filled)
    return Case(near, likeness, formulas.age_of(memory, moment), outcome, memory.emotion_vector or {})


def _nearest(resonances: Sequence[Resonance], cases: Sequence[Case], imagined: Experience) -> tuple[PastCase, ...]:
    ordered = sorted(imagined.weighed, key=lambda one: (-one.weight, one.place))[: formulas.NEAREST]
    nearest: list[PastCase] = []
    for one in ordered:
        found = resonances[one.place]
        kept = found.memory.model_dump(include={"level", "name", "description", "valid_at", "rule"})
        kept |= {"result": cases[one.place].result, "emotion": dominant_emotion(found.memory)}
        weight = round(one.weight, 4)
        nearest.append(PastCase(memory_id=found.memory.node_id, **kept, resonance=found.resonance, weight=weight))
    return tuple(nearest)


async def _keep(request: Imagine, answer: Imagination, deps: Deps, now: Instant) -> Imagination:
    """The answer with the id under which its prediction is kept, beside what the citizen remembers."""
    graph = await deps.graph_if_any(Level.N1, request.citizen_id)
    if graph is None:
        note = f"not kept: nothing was remembered for {request.citizen_id} yet"
        return answer.model_copy(update={"notes": (*answer.notes, note)})
    kept = answer.model_copy(update={"prediction_id": f"p_{uuid4().hex[:20]}"})
    named = list(filter(None, chain.from_iterable((name, name_key(name)) for name in request.nodes)))
    await store.keep_prediction(graph, to_store(kept, request, now), named)
    return kept


def to_store(told: Imagination, request: Imagine, now: Instant) -> store.StoredPrediction:
    """An imagination as the prediction that is kept of it. Only what is told is kept, no case."""
    asked: dict[str, Any] = {"action": request.action, "nodes": list(request.nodes), "feeling": request.emotion}
    shares = {"enough": told.enough, "results": told.results, "emotions": told.emotions}
    return store.StoredPrediction(str(told.prediction_id), now, asked, shares)


def to_prediction(kept: store.StoredPrediction) -> Prediction:
    """A prediction as the answer shows it. Raises pydantic's ValidationError for one that nobody can keep."""
    prediction = Prediction(
        prediction_id=kept.id,
        made_at=to_datetime(kept.created_at),
        **kept.asked,
        **kept.told,
        answered_at=None if kept.answered_at is None else to_datetime(kept.answered_at),
        context_id=kept.context_id,
        result=kept.result,
        emotion=kept.emotion,
    )
    return prediction.model_copy(update={"brier": score(prediction)})


async def list_predictions(citizen_id: CitizenId, query: PredictionQuery, deps: Deps) -> PredictionPage:
    """The kept predictions of a citizen and what came of them, the newest first; `open` for those without.

    Raises InvalidRequest for an invalid cursor.
    """
    before = None if query.cursor is None else decode_cursor(query.cursor, int, str)
    kept = await _read(citizen_id, deps)
    kept = [one for one in kept if before is None or (one.created_at, one.id) < before]
    kept = [one for one in kept if not (query.open and one.context_id)]
    shown, after = first_page(kept, query.limit, lambda one: (one.created_at, one.id))
    return PredictionPage(citizen_id=citizen_id, predictions=tuple(map(to_prediction, shown)), next=after)


async def read_calibration(citizen_id: CitizenId, deps: Deps) -> Calibration:
    """How right the kept predictions were: the Brier score, over time and by bins of shares."""
    return calibrate(citizen_id, list(map(to_prediction, await _read(citizen_id, deps))))


async def read_score(citizen_id: str, deps: Deps, scope: Scope) -> CalibrationScore | None:
    """The score alone, of what was answered by the known time of a scope; None without such predictions."""
    until = AFTER_ALL if scope.is_present else scope.known.end
    kept = await _read(citizen_id, deps)
    answered = [to_prediction(one) for one in kept if one.answered_at is not None and one.answered_at < until]
    found = calibrate(citizen_id, answered)
    if not found.answered:
        return None
    return CalibrationScore(answered=found.answered, brier=found.brier, usual_brier=found.usual_brier)


async def _read(citizen_id: str, deps: Deps) -> list[store.StoredPrediction]:
    graph = await deps.graph_if_any(Level.N1, citizen_id)
    return [] if graph is None else await store.read_predictions(graph)


async def answer_prediction(
    graph: Graph,
    prediction_id: str,
    context_id: str,
    *,
    result: str | None = None,
    emotion: str | None = None,
    now: Instant = 0,
) -> str | None:
    """Keep the `result` of a prediction, which the context tells; without one only look whether it may.

    Returns the prediction's id, None for an unknown one. Raises Conflict for one that another context answered.
    """
    if result is not None:
        outcome = {"context": context_id, "result": result, "emotion": emotion, "at": now}
        return prediction_id if await store.answer_prediction(graph, prediction_id, **outcome) else None
    kept = await store.read_prediction(graph, prediction_id)
    if kept is not None and kept.context_id not in (None, context_id):
        raise Conflict(
            f"prediction {prediction_id} was answered by context {kept.context_id}",
            remedy="Leave outcome_of out, or correct the result of that context.",
        )
    return None if kept is None else prediction_id
