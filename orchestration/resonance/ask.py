"""Flux: a wave signal in, what resonates out; one statement for each graph (000, 002)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from orchestration.dependencies import Deps
from orchestration.graph_queries import six_queries
from orchestration.graph_queries.execution import QueryRequest, QueryResult, run_all
from orchestration.graph_queries.existing_graphs import NO_EMBEDDER, open_view
from orchestration.graph_queries.plural_pools import draw
from orchestration.resonance import ranking
from orchestration.resonance.name_resolution import Whereabouts, look_around
from orchestration.resonance.signal import Built, build
from schemas.errors import Fault, InvalidRequest, Unavailable
from schemas.memory import Level, describe_unreadable
from schemas.stream import LEVEL_NAMES
from schemas.temporal import Instant, Scope, to_instant
from schemas.wave_signal import CHANNELS, Channel, Resonances, Resonate
from substrate.cypher.resonance import RESONATE_NOW, RESONATE_THEN
from substrate.emotions import emotion_vector, kindred
from substrate.store.search import ID

MIN_POOL: Final = 60
"""Candidates of each kind at least; what is shown is chosen among the best as many."""
EVERY: Final = 16
"""Pools of candidates at most: with plurality all come back, so that each week may be shown."""
NOBODY: Final = [""]
"""Ids of an end that no memory has: no id is empty, so nothing is like it."""


async def resonate(request: Resonate, deps: Deps, now: Instant) -> Resonances:
    """What resonates with a signal at each level.

    A level whose graph does not exist is empty; one whose query failed is named in `degraded`. Raises
    InvalidRequest when no channel that the signal speaks on has a weight, Unavailable when no graph answered.
    """
    _fits(request, deps)
    scope = Scope.resolve_datetimes(request.as_of_time, request.known_at, now)
    view = await open_view(request.citizen_id, request.query_levels, scope, deps, now=now)
    bounds = scope.bounds()
    built = await build(request, view, deps)
    embedding = await _embedding(request, built, deps) if view.targets else None
    weights = _weights(request, built, embedding)
    shared = {**bounds, **_values(request, built, now), **_vectors(embedding, built)}
    shared |= {f"w_{channel}": weight for channel, weight in weights.items()}
    shared |= {"all_weights": sum(weights.values()), "moment": scope.valid.start}
    around = (look_around(target, _names(built), scope) for target in view.targets.values())
    known = await asyncio.gather(*around)
    pools = [(here.target, built.words.get(here.target.level, ())) for here in known]
    drawn = await draw(request, pools, bounds)
    asked = [_asked(here, drawn, shared, built) for here in known]
    async with deps.connection.questions.turn():
        answers = await run_all(asked)
        if answers and all(answer.timing.failure for answer in answers):
            raise Unavailable("no graph was asked in time", remedy="Try again in a moment.")
        built.notes.extend(view.notes)
        return _told(request, (built, weights), answers, drawn)


def _fits(request: Resonate, deps: Deps) -> None:
    given = request.query_embedding
    if given is not None and len(given) != deps.graphs.dimension:
        raise InvalidRequest(
            f"query_embedding has {len(given)} numbers, the store's embeddings have {deps.graphs.dimension}",
            remedy=f"Embed it with {deps.graphs.model}, or send query_text.",
        )


async def _embedding(request: Resonate, built: Built, deps: Deps) -> list[float] | None:
    """The signal as a vector; None when likeness has no weight, nothing to go by, or no embedder."""
    if request.query_embedding is not None:
        return list(request.query_embedding)
    if not request.weights.likeness or not built.text:
        return None
    try:
        vector = await deps.embedder.embed_query(built.text)
    except (Unavailable, Fault) as error:
        built.notes.append(f"likeness of meaning was not asked for: {error.detail}")
        return None
    if not vector:
        built.notes.append(NO_EMBEDDER)
    return vector or None


def _weights(request: Resonate, built: Built, embedding: list[float] | None) -> dict[Channel, float]:
    sent = built.sent
    says: dict[Channel, bool] = {
        "nodes": bool(sent.nodes),
        "relations": bool(sent.relations),
        "emotion": sent.emotion is not None,
        "result": sent.result is not None,
        "likeness": embedding is not None,
    }
    silent = frozenset(channel for channel in CHANNELS if not says.get(channel, True))
    weights = ranking.effective_weights(request.weights, silent, sent.intensity, built.biases)
    if not any(weights.values()):
        spoken = ", ".join(channel for channel in CHANNELS if channel not in silent)
        raise InvalidRequest(
            "no channel on which the signal speaks has a weight", remedy=f"Give a weight to one of: {spoken}."
        )
    return weights


def _values(request: Resonate, built: Built, now: Instant) -> dict[str, Any]:
    pool, plural = max(MIN_POOL, 4 * request.max_results_per_level), request.plurality
    shown = {
        item.id: ranking.suppression(now if item.shown_at is None else to_instant(item.shown_at), now)
        for item in request.window
        if item.id is not None
    }
    return {
        "pool": pool,
        "k": six_queries.OVERFETCH * pool,
        "limit": pool if plural is None else EVERY * pool,
        "half_life": 1.0 if plural is None else plural.half_life_days,
        "importance_floor": 0.0 if plural is None else plural.importance_floor,
        "max_level": built.sent.max_level,
        "of_memory": request.overlap == "memory",
        "emotion": built.sent.emotion or "",
        "kindred": sorted(kindred(built.sent.emotion or "")),
        "result": built.sent.result or "",
        "shown": [[memory_id, factor] for memory_id, factor in shown.items() if factor < 1.0],
    }


def _vectors(embedding: list[float] | None, built: Built) -> dict[str, Any]:
    """Vectors as lists of none or one: an index is asked once for each."""
    feeling = emotion_vector({built.sent.emotion: 1.0}) if built.sent.emotion else None
    return {
        "embedding": embedding,
        "embeddings": [] if embedding is None else [embedding],
        "feelings": [] if feeling is None else [feeling],
    }


def _names(built: Built) -> list[str]:
    ends = [end for relation in built.sent.relations for end in (relation.source, relation.target) if end]
    return list(dict.fromkeys((*built.sent.nodes, *ends)))


def _asked(
    here: Whereabouts, drawn: Sequence[QueryResult], shared: Mapping[str, Any], built: Built
) -> QueryRequest:
    ids = {name: here.ids(name) for name in _names(built)}

    def end(name: str | None) -> list[str]:
        return [] if name is None else ids[name] or NOBODY

    own = {
        "ids": sorted({memory_id for found in ids.values() for memory_id in found}),
        "groups": [ids[name] for name in built.sent.nodes],
        "triples": [[r.relation_type, end(r.source), end(r.target)] for r in built.sent.relations],
        "types": sorted({relation.relation_type for relation in built.sent.relations}),
        "words": "|".join(built.words.get(here.target.level, ())),
        "newest": here.newest,
        "until": here.until,
        "plural": [row[ID] for answer in drawn if answer.level is here.target.level for row in answer.rows],
    }
    query = RESONATE_THEN if here.target.past else RESONATE_NOW
    return QueryRequest("resonance", here.target, query, {**shared, **own})


def _told(
    request: Resonate,
    sent: tuple[Built, dict[Channel, float]],
    answers: Sequence[QueryResult],
    drawn: Sequence[QueryResult],
) -> Resonances:
    built, weights = sent
    echoes = {
        answer.level: [ranking.read_echo(row, answer.level, answer.request.known_to) for row in answer.rows]
        for answer in answers
    }
    per_week = None if request.plurality is None else request.plurality.per_week
    levels = {
        LEVEL_NAMES[level]: tuple(ranking.shown(echoes.get(level, []), request.max_results_per_level, per_week))
        for level in request.query_levels
    }
    notes = list(built.notes)
    is_known = Level.N1 in echoes or Level.N1 not in request.query_levels
    if (
        is_known
        and built.sent.relations
        and not any(e.resonance.channels["relations"] for es in echoes.values() for e in es)
    ):
        notes.append("no memory found says any of the relations; is their type spelt as the links have it?")
    unnamed = [
        name
        for place, name in enumerate(built.sent.nodes)
        if not any(answer.request.values["groups"][place] for answer in answers)
    ]
    if answers and unnamed:
        notes.append(f"no memory has the name or id {', '.join(map(repr, unnamed[:8]))}")
    return Resonances(
        citizen_id=request.citizen_id,
        signal=built.sent,
        weights=weights,
        levels=levels,
        notes=tuple(dict.fromkeys(notes)),
        degraded=(
            *(answer.request.name for answer in (*answers, *drawn) if answer.timing.failure),
            *describe_unreadable(one.memory for found in levels.values() for one in found),
        ),
    )
