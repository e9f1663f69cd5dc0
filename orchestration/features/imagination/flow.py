"""Imagines what comes of an action, keeps that as a prediction, and tells how right predictions were (002)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final, NamedTuple
from uuid import uuid4

from orchestration.appraisal.feelings import read_reply
from orchestration.appraisal.names import Kind
from orchestration.dependencies import Deps
from orchestration.features.imagination import formulas
from orchestration.features.imagination import queries as store
from orchestration.features.imagination.formulas import Case, Imagined, calibrate, score
from orchestration.features.imagination.queries import Outcome, StoredPrediction
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
from schemas.paging import decode_cursor, encode_cursor
from schemas.temporal import AFTER_ALL, Instant, Scope, to_datetime, to_instant
from schemas.wave_signal import Channel, Resonance, Resonate, Weights
from substrate.connection.errors import GraphMissing
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
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


class _Echo(NamedTuple):
    """A memory that resonates, as a case."""

    found: Resonance
    case: Case


async def imagine(request: Imagine, deps: Deps, now: Instant) -> Imagination:
    """What came of an action before: results and feelings of the past contexts that are most like it (002).

    With `keep` the prediction is kept, and a context with `outcome_of` says what came of it.

    Raises as `resonate` does.
    """
    found = await resonate(_signal(request), deps, now, diverse=False)  # shares are of all that is near
    moment = now if request.as_of_time is None else to_instant(request.as_of_time)
    by_meaning = found.weights["likeness"] > 0.0
    every = chain.from_iterable(found.levels.values())
    resonances = [one for one in every if one.memory.node_type not in THINGS]
    late: list[str] = []
    replies = await _read_replies(resonances, request, deps, now, notes=late)
    echoes: list[_Echo] = []
    for one in resonances:
        replied = replies.get((one.memory.graph_key, one.memory.node_id))
        echoes.append(_echo(one, request, moment, replied, by_meaning=by_meaning))
    imagined = formulas.imagine([echo.case for echo in echoes])
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
        nearest=_nearest(echoes, imagined),
        notes=(*request.notes, *([] if imagined.enough else [few]), *found.notes, *late),
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


def _echo(found: Resonance, request: Imagine, moment: Instant, replied: str | None, *, by_meaning: bool) -> _Echo:
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
    return _Echo(
        found,
        Case(
            formulas.nearness(found.channels, likeness, filled),
            likeness,
            formulas.age_of(memory, moment),
            outcome,
            memory.emotion_vector or {},
        ),
    )


def _nearest(echoes: Sequence[_Echo], imagined: Imagined) -> tuple[PastCase, ...]:
    ordered = sorted(imagined.weighed, key=lambda one: (-one.weight, one.place))[: formulas.NEAREST]
    nearest: list[PastCase] = []
    for one in ordered:
        found, case = echoes[one.place]
        case_of = PastCase(
            memory_id=found.memory.node_id,
            level=found.memory.level,
            name=found.memory.name,
            description=found.memory.description,
            valid_at=found.memory.valid_at,
            result=case.result,
            emotion=dominant_emotion(found.memory),
            rule=found.memory.rule,
            resonance=found.resonance,
            weight=round(one.weight, 4),
        )
        nearest.append(case_of)
    return tuple(nearest)


async def _keep(request: Imagine, answer: Imagination, deps: Deps, now: Instant) -> Imagination:
    """The answer with the id under which its prediction is kept, beside what the citizen remembers."""
    graph = graph_name(Level.N1, request.citizen_id)
    if not await deps.graphs.for_reading(graph):
        note = f"not kept: nothing was remembered for {request.citizen_id} yet"
        return answer.model_copy(update={"notes": (*answer.notes, note)})
    kept = answer.model_copy(update={"prediction_id": f"p_{uuid4().hex[:20]}"})
    named = list(filter(None, chain.from_iterable((name, name_key(name)) for name in request.nodes)))
    await store.keep_prediction(deps.graph(graph), to_store(kept, request, now), named)
    return kept


def to_store(told: Imagination, request: Imagine, now: Instant) -> StoredPrediction:
    """An imagination as the prediction that is kept of it. Only what is told is kept, no case."""
    asked: dict[str, Any] = {"action": request.action, "nodes": list(request.nodes), "feeling": request.emotion}
    shares = {"enough": told.enough, "results": told.results, "emotions": told.emotions}
    return StoredPrediction(str(told.prediction_id), now, asked, shares)


def shown(kept: StoredPrediction) -> Prediction:
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
    kept = [
        one
        for one in await _read(citizen_id, deps)
        if (before is None or (one.created_at, one.id) < before) and not (query.open and one.context_id)
    ]
    page = kept[: query.limit]
    more = len(kept) > len(page)
    return PredictionPage(
        citizen_id=citizen_id,
        predictions=tuple(map(shown, page)),
        next=encode_cursor(page[-1].created_at, page[-1].id) if more else None,
    )


async def read_calibration(citizen_id: CitizenId, deps: Deps) -> Calibration:
    """How right the kept predictions were: the Brier score, over time and by bins of shares."""
    return calibrate(citizen_id, list(map(shown, await _read(citizen_id, deps))))


async def read_score(citizen_id: str, deps: Deps, scope: Scope) -> CalibrationScore | None:
    """The score alone, of what was answered by the known time of a scope; None without such predictions."""
    until = AFTER_ALL if scope.is_present else scope.known.end
    kept = [
        one for one in await _read(citizen_id, deps) if one.answered_at is not None and one.answered_at < until
    ]
    found = calibrate(citizen_id, list(map(shown, kept)))
    if not found.answered:
        return None
    return CalibrationScore(answered=found.answered, brier=found.brier, usual_brier=found.usual_brier)


async def _read(citizen_id: str, deps: Deps) -> list[StoredPrediction]:
    name = graph_name(Level.N1, citizen_id)
    if not await deps.graphs.for_reading(name):
        return []
    return await store.read_predictions(deps.graph(name))


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
        outcome = Outcome(context_id, result, emotion, now)
        return prediction_id if await store.answer_prediction(graph, prediction_id, outcome) else None
    kept = await store.read_prediction(graph, prediction_id)
    if kept is not None and kept.context_id not in (None, context_id):
        raise Conflict(
            f"prediction {prediction_id} was answered by context {kept.context_id}",
            remedy="Leave outcome_of out, or correct the result of that context.",
        )
    return None if kept is None else prediction_id
