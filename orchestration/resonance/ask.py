"""Wave retrieval: finds the memories that resonate with a signal, by one statement for each graph (000, 002)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, NamedTuple

from orchestration.dependencies import Deps
from orchestration.graph_queries import six_queries
from orchestration.graph_queries.execution import QueryRequest, QueryResult, check_answered, run_all
from orchestration.graph_queries.existing_graphs import NO_EMBEDDER, View, open_view
from orchestration.graph_queries.filters import read_filters
from orchestration.graph_queries.six_queries import draw, memory_ids
from orchestration.mind.decay import Decay
from orchestration.reranking import RERANKED, Reranked, order_items, reorder
from orchestration.resonance import ranking
from orchestration.resonance.ranking import Echo
from orchestration.resonance.signal import PreparedSignal, prepare_signal
from orchestration.writing.appraised_rows import NO_STATEMENTS
from schemas.errors import Fault, InvalidRequest, StoreTimeout, Unavailable
from schemas.language_model import ModelCall
from schemas.memory import GraphKey, Level, describe_unreadable, level_of
from schemas.stream import LEVEL_NAMES
from schemas.temporal import Instant, Scope, to_instant
from schemas.wave_signal import CHANNELS, Channel, Resonance, Resonances, Resonate
from substrate.emotions import emotion_vector, kindred
from substrate.graphs.graph import Search
from substrate.language.text import stems
from substrate.store.filters import GENERALISED, filter_values
from substrate.store.resonance import (
    RESONATE_FITTING_NOW,
    RESONATE_FITTING_THEN,
    RESONATE_NOW,
    RESONATE_THEN,
    ResolvedNames,
    read_resonances,
    resolve_names,
)
from substrate.store.surroundings import read_names

MIN_CANDIDATES: Final = 60
"""At least this many candidates of each kind, and at least this many results to choose from."""
PLURAL_FACTOR: Final = 16
"""With plurality the limit of a query is multiplied by this, so that memories of each week can be shown."""
NO_MEMORY: Final = [""]
"""The ids for an end of a relation that names no memory. No memory has an empty id, so nothing matches."""


class Embedding(NamedTuple):
    """The vector of the signal; None without one, with a note why if it was wanted."""

    vector: list[float] | None
    notes: tuple[str, ...] = ()


class Found(NamedTuple):
    """What was found: the answers of the queries and of the pools, all echoes, the model calls of a reranking."""

    results: Sequence[QueryResult]
    drawn: Sequence[QueryResult]
    echoes: Mapping[Level, Sequence[Echo]]
    calls: tuple[ModelCall, ...]


@dataclass(frozen=True, slots=True)
class _Sending:
    """A signal that is ready to send: the graphs (`view`), the embedding, the effective weight of each channel."""

    request: Resonate
    view: View
    signal: PreparedSignal
    embedding: Embedding
    weights: Mapping[Channel, float]
    filter_notes: tuple[str, ...]


async def resonate(request: Resonate, deps: Deps, now: Instant, *, diverse: bool = True) -> Resonances:
    """The memories that resonate with a signal, with the score of each channel (000, 002).

    With `by: shape` those around which the same happened as around the memory `id`, in other words (004).

    Raises InvalidRequest when no channel of the signal has a weight, Unavailable when no graph answered; by shape
    as the feature says. A level whose graph does not exist is empty; one whose query failed is named in
    `degraded`. If not `diverse`, the strongest alone.
    """
    if request.by == "shape":
        by_shape: Resonances | None = await deps.features.read("by_shape", request, deps, now)
        if by_shape is None:
            raise InvalidRequest("by: this service does not compare shapes")
        return by_shape
    _check_dimension(request, deps)
    scope = Scope.resolve_datetimes(request.as_of_time, request.known_at, now)
    view = await open_view(request.citizen_id, request.graphs, scope, deps, now=now)
    signal = await prepare_signal(request, view, deps)
    request = signal.request
    embedding = await _embed(request, signal, deps) if view.targets else Embedding(None)
    weights = _weigh_channels(request, signal, embedding.vector)
    filtered = await read_filters(request.filters, view)
    sending = _Sending(request, view, signal, embedding, weights, filtered.notes)
    signal_names = list(signal.sent.nodes)
    for relation in signal.sent.relations:
        signal_names += filter(None, (relation.source, relation.target))
    signal_names = list(dict.fromkeys(signal_names))
    resolved = await asyncio.gather(
        *(resolve_names(target, signal_names, scope, request.filters) for target in view.targets.values())
    )
    pools = [(target, signal.terms.get(level, ())) for level, target in view.targets.items()]
    drawn = await draw(request, pools, scope.bounds(), request.filters)
    shared = _shared_values(sending)
    requests = [_build_query(sending, names, shared, memory_ids(drawn, names.target.key)) for names in resolved]
    async with deps.connection.questions.turn():
        results = await run_all(requests)
        check_answered(results)
        echoes = _read_echoes(results, sending)
    if diverse:
        chosen, calls = await _choose(sending, echoes, deps)
    else:
        most = request.max_results_per_level
        chosen, calls = {level: list(found[:most]) for level, found in echoes.items()}, ()
    shown = await _in_context(chosen, view, Decay(deps.half_lives, scope.valid.start))
    return _respond(sending, Found(results, drawn, echoes, calls), shown)


async def _choose(
    sending: _Sending, echoes: Mapping[Level, Sequence[Echo]], deps: Deps
) -> tuple[dict[Level, list[Echo]], tuple[ModelCall, ...]]:
    """The echoes to show, and the model calls that ordered them.

    To be reranked, twice as many are chosen: what only a reader finds fitting must be among them (002, stage 3).
    """
    request = sending.request
    limit, per_week = request.max_results_per_level, None
    if request.plurality is not None:
        per_week = request.plurality.per_week
    if request.rerank is None:
        return {level: ranking.choose(found, limit, per_week) for level, found in echoes.items()}, ()
    return await _rerank(
        sending, {level: ranking.choose(found, 2 * limit, per_week) for level, found in echoes.items()}, deps
    )


async def _rerank(
    sending: _Sending, chosen: Mapping[Level, Sequence[Echo]], deps: Deps
) -> tuple[dict[Level, list[Echo]], tuple[ModelCall, ...]]:
    """The best of each level in their new order. A model may take seconds: nobody waits for it with a turn."""
    request, text = sending.request, sending.signal.text
    bests = [found[:RERANKED] for found in chosen.values()]
    method = request.rerank or "mmr"
    orders = await asyncio.gather(
        *(order_items(list(map(_reranked, best)), deps, method=method, text=text) for best in bests)
    )
    shown = {
        level: [*reorder(best, order.positions), *found[RERANKED:]][: request.max_results_per_level]
        for (level, found), best, order in zip(chosen.items(), bests, orders, strict=True)
    }
    return shown, tuple(order.call for order in orders if order.call is not None)


def _reranked(echo: Echo) -> Reranked:
    memory = echo.resonance.memory
    text = " ".join(filter(None, (memory.name, memory.description)))
    channels = {str(name): value for name, value in echo.resonance.channels.items()}
    shown = f"{memory.speaker}: {memory.description}" if memory.speaker else text
    return Reranked(shown, stems(text), echo.resonance.resonance, channels)


async def _in_context(
    chosen: Mapping[Level, Sequence[Echo]], view: View, decay: Decay
) -> dict[Level, list[Resonance]]:
    """The echoes with the names of their nodes and edges; ids in their place where the engine is too slow."""
    ids: dict[GraphKey, set[str]] = {}
    for echo in chain.from_iterable(chosen.values()):
        ids.setdefault(echo.graph, set()).update(echo.ends())
    names = await asyncio.gather(*(_read_names(view, graph, own) for graph, own in ids.items()))
    by_graph = dict(zip(ids, names, strict=True))
    return {level: _named(echoes, by_graph, decay) for level, echoes in chosen.items()}


def _named(echoes: Sequence[Echo], names: Mapping[GraphKey, Mapping[str, str]], decay: Decay) -> list[Resonance]:
    memories = decay.show([echo.resonance.memory for echo in echoes])
    return [
        echo.in_context(names[echo.graph]).model_copy(update={"memory": memory})
        for echo, memory in zip(echoes, memories, strict=True)
    ]


async def _read_names(view: View, graph: GraphKey, ids: Iterable[str]) -> dict[str, str]:
    try:
        return await read_names(view.targets[graph], view.scope, sorted(ids))
    except (StoreTimeout, Fault):
        return {}


def _check_dimension(request: Resonate, deps: Deps) -> None:
    vector = request.query_embedding
    if vector is not None and len(vector) != deps.graphs.dimension:
        raise InvalidRequest(
            f"query_embedding has {len(vector)} numbers, the store's embeddings have {deps.graphs.dimension}",
            remedy=f"Embed it with {deps.graphs.model}, or send query_text.",
        )


async def _embed(request: Resonate, signal: PreparedSignal, deps: Deps) -> Embedding:
    """Embed the signal; no vector when likeness has weight 0, the signal has no text, or no embedder exists."""
    if request.query_embedding is not None:
        return Embedding(list(request.query_embedding))
    if not request.weights.likeness or not signal.text:
        return Embedding(None)
    try:
        vector = await deps.embedder.embed_query(signal.text)
    except (Unavailable, Fault) as error:
        return Embedding(None, (f"likeness of meaning was not used: {error.detail}",))
    return Embedding(vector) if vector else Embedding(None, (NO_EMBEDDER,))


def _weigh_channels(
    request: Resonate, signal: PreparedSignal, embedding: list[float] | None
) -> dict[Channel, float]:
    """The effective weights. Raises InvalidRequest when all are 0."""
    sent = signal.sent
    has_value: dict[Channel, bool] = {
        "nodes": bool(sent.nodes),
        "relations": bool(sent.relations),
        "emotion": sent.emotion is not None,
        "result": sent.result is not None,
        "likeness": embedding is not None,
        "words": signal.words is not None,
        "beside": signal.words is not None,
    }
    silent = frozenset(channel for channel in CHANNELS if not has_value.get(channel, True))
    weights = ranking.effective_weights(request.weights, silent, sent.intensity, signal.biases)
    if not any(weights.values()):
        possible = ", ".join(channel for channel in CHANNELS if channel not in silent)
        raise InvalidRequest(
            "every channel that the signal has a value for has weight 0",
            remedy=f"Give a weight to one of: {possible}.",
        )
    return weights


def _shared_values(sending: _Sending) -> dict[str, Any]:
    """The parameters of the statement that are the same for all graphs.

    `embeddings` and `felt_names` are lists of none or one: the statement searches once for each item.
    """
    request, sent, plurality = sending.request, sending.signal.sent, sending.request.plurality
    pool = max(MIN_CANDIDATES, 4 * request.max_results_per_level)
    feeling = emotion_vector({sent.emotion: 1.0}) if sent.emotion else None
    embedding, now = sending.embedding.vector, sending.view.now
    shown: dict[str, float] = {}  # the memories of the window, the factor of those of the last 24 hours below 1
    for item in request.window:
        if item.id is not None:
            at = now if item.shown_at is None else to_instant(item.shown_at)
            shown[item.id] = ranking.suppression(at, now)
    return {
        **sending.view.scope.bounds(),
        **filter_values(request.filters),
        **GENERALISED,
        "moment": sending.view.scope.valid.start,
        "pool": pool,
        "limit": pool if plurality is None else PLURAL_FACTOR * pool,
        "half_life": 1.0 if plurality is None else plurality.half_life_days,
        "importance_floor": 0.0 if plurality is None else plurality.importance_floor,
        "max_level": sent.max_level,
        "names": sorted((*NO_STATEMENTS, "actor", "self")),
        "in_words": embedding is not None and sending.signal.words is not None,
        "of_memory": request.overlap == "memory",
        "emotion": sent.emotion or "",
        "kindred": sorted(kindred(sent.emotion or "")),
        "result": sent.result or "",
        "suppress_recent": request.suppress_recent,
        "shown": [[memory_id, factor] for memory_id, factor in shown.items() if factor < 1.0],
        "embedding": embedding,
        "embeddings": [] if embedding is None else [embedding],
        "felt_names": [] if feeling is None else [sent.emotion],
        "feeling": feeling,
        "all_weights": sum(sending.weights.values()),
        **{f"w_{channel}": weight for channel, weight in sending.weights.items()},
    }


def _build_query(
    sending: _Sending, resolved: ResolvedNames, shared: Mapping[str, Any], plural_ids: Sequence[str]
) -> QueryRequest:
    sent, ids, target = sending.signal.sent, resolved.ids, resolved.target

    def end(name: str | None) -> Sequence[str]:
        return [] if name is None else ids[name] or NO_MEMORY

    values = {
        **shared,
        "ids": sorted(set().union(*ids.values())),
        "groups": [ids[name] for name in sent.nodes],
        "triples": [
            [relation.relation_type, end(relation.source), end(relation.target)] for relation in sent.relations
        ],
        "types": sorted({relation.relation_type for relation in sent.relations}),
        "words": "|".join(sending.signal.terms.get(target.key, ())),
        "newest": resolved.newest.start,
        "until": resolved.newest.end,
        "plural": list(plural_ids),
    }
    if shared["unfiltered"]:
        k = six_queries.OVERFETCH * shared["pool"]
        values["near"] = Search(shared["embedding"] or [], k, open_only=not target.past)
        statement = RESONATE_THEN if target.past else RESONATE_NOW
    else:
        statement = RESONATE_FITTING_THEN if target.past else RESONATE_FITTING_NOW
    return QueryRequest("resonance", target, statement, values)


def _respond(sending: _Sending, found: Found, shown: Mapping[Level, Sequence[Resonance]]) -> Resonances:
    request = sending.request
    failed = [result.request.name for result in (*found.results, *found.drawn) if result.timing.failure]
    failed += [f"{call.purpose}: {call.failure}" for call in found.calls if call.failure is not None]
    memories = [resonance.memory for resonances in shown.values() for resonance in resonances]
    return Resonances(
        citizen_id=request.citizen_id,
        signal=sending.signal.sent,
        weights=dict(sending.weights),
        levels={LEVEL_NAMES[level]: tuple(shown.get(level, ())) for level in map(level_of, request.graphs)},
        rules=ranking.active_rules(chain.from_iterable(shown.values())),
        model_calls=found.calls,
        notes=_notes(sending, found.results, found.echoes),
        degraded=(*failed, *describe_unreadable(memories)),
    )


def _read_echoes(results: Iterable[QueryResult], sending: _Sending) -> dict[Level, list[Echo]]:
    """The echoes of each level, strongest first."""
    echoes: defaultdict[Level, list[Echo]] = defaultdict(list)
    words = sending.signal.words
    for result in results:
        found = [*map(Echo.from_row, read_resonances(result.rows, result.key, result.request.known_to))]
        if words is not None:
            found = ranking.complete(found, words, sending.weights, result.key)
        echoes[level_of(result.key)] += found
    for of_level in echoes.values():
        of_level.sort(key=lambda echo: -echo.resonance.resonance)
    return dict(echoes)


def _notes(
    sending: _Sending, results: Sequence[QueryResult], echoes: Mapping[Level, Sequence[Echo]]
) -> tuple[str, ...]:
    sent = sending.signal.sent
    notes = [
        *sending.signal.notes, *sending.embedding.notes, *sending.view.notes, *sending.filter_notes
    ]  # fmt: skip
    related = any(echo.resonance.channels["relations"] for echo in chain.from_iterable(echoes.values()))
    if sending.request.relations and not sending.view.notes and not related:
        notes.append("no memory found has any of the relations; check that their types are spelt as in the links")
    of_graphs = [result.request.values["groups"] for result in results]
    unnamed = [name for name, *groups in zip(sent.nodes, *of_graphs, strict=True) if not any(groups)]
    if results and unnamed:
        notes.append(f"no memory has the name or id {', '.join(map(repr, unnamed[:8]))}")
    return tuple(dict.fromkeys(notes))
