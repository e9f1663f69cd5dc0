"""Wave retrieval: finds the memories that resonate with a signal, by one statement for each graph (000, 002)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched, chain, islice
from typing import Any, Final, NamedTuple

from orchestration.appraisal.deeds import (
    has_same_stem,
    match_by_meaning,
    read_relations,
    relation_phrase,
    relation_words,
)
from orchestration.appraisal.feelings import read_emotions, read_result
from orchestration.dependencies import Deps
from orchestration.entity_extraction import look_up_lexicon
from orchestration.graph_queries.execution import QueryRequest, QueryResult, check_answered, run_all
from orchestration.graph_queries.existing_graphs import NO_EMBEDDER, View, open_view, read_filters
from orchestration.graph_queries.six_queries import OVERFETCH, draw, memory_ids
from orchestration.mind.energy import Decay
from orchestration.mind.state import felt_state, read_state
from orchestration.question.lexicon import Lexicon, discriminative_terms, embedding_text, join_lexicons
from orchestration.question.reading import ANSWERING, read_question
from orchestration.ranking.relevance import word_weights
from orchestration.reranking import RERANKED, RerankItem, order_items, reorder
from orchestration.resonance import ranking
from orchestration.resonance.ranking import PAIN, UNSATISFIED, Echo, SignalWords, low_drives, strongest_emotion
from orchestration.writing.appraised_rows import NO_STATEMENTS
from schemas.errors import Fault, InvalidRequest, StoreTimeout, Unavailable
from schemas.language_model import ModelCall
from schemas.memory import GraphKey, Level, describe_unreadable, level_of
from schemas.mind.state import CitizenState, Drive
from schemas.stream import LEVEL_NAMES
from schemas.temporal import Instant, Scope, to_datetime, to_instant
from schemas.wave_signal import (
    CHANNELS,
    EMPTY_SIGNAL,
    Channel,
    Relation,
    Resonance,
    Resonances,
    Resonate,
    SentSignal,
    WindowItem,
)
from substrate.emotions import (
    NEGATIVE,
    POSITIVE,
    VOCABULARY,
    emotion_vector,
    kindred,
    normal_emotion,
    normal_emotions,
)
from substrate.graphs.graph import Search
from substrate.language.text import name_key, query_words, stems, word_language, words
from substrate.store.filters import GENERALISED, filter_values
from substrate.store.lexicon import DOCUMENT_CAP
from substrate.store.resonance import (
    RESONATE,
    RESONATE_FITTING,
    ResolvedNames,
    read_resonances,
    resolve_names,
)
from substrate.store.surroundings import Surroundings, read_names, read_surroundings, read_words

MIN_CANDIDATES: Final = 60
"""At least this many candidates of each kind, and at least this many results to choose from."""
PLURAL_FACTOR: Final = 16
"""With plurality the limit of a query is multiplied by this, so that memories of each week can be shown."""
NO_MEMORY: Final = [""]
"""The ids for an end of a relation that names no memory. No memory has an empty id, so nothing matches."""
READ_WORDS: Final = 288
"""The last this many words of window and focus are read for names, relations, emotion and result."""
LOOKUP_WORDS: Final = 36
"""Words of one lookup. A lookup reads only the first words of its text, so a longer text is cut into parts."""
MAX_NODES: Final = 64
RELATION_LIKENESS: Final = 0.55
"""A word names a relation from this cosine on.

With the local model 9 of 16 pairs of synonyms are above it, and none of 10 pairs with different meanings: created
and destroyed have .52, likes and hates .51, criticized and praised .48.
"""

NOTHING_AROUND: Final = Surroundings([], [])

type Lexicons = Mapping[GraphKey, Lexicon]
"""What each graph knows of the text."""


@dataclass(frozen=True, slots=True)
class PreparedSignal:
    """A signal with all that its queries need.

    `request`: with what the state keeps, where it asked nothing. `text`: the text to embed. `terms`: its
    discriminative terms by level. `words`: its words, as they are compared; None where the signal has no text.
    `biases`: for each drive that acts, factors by channel.
    """

    request: Resonate
    sent: SentSignal
    text: str
    terms: Mapping[GraphKey, Sequence[str]]
    words: SignalWords | None
    biases: Sequence[Mapping[Channel, float]] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Sending:
    """A signal that is ready to send: the graphs, its vector if any, the effective weight of each channel."""

    view: View
    signal: PreparedSignal
    vector: list[float] | None
    weights: Mapping[Channel, float]
    notes: tuple[str, ...]


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
    sending = await _prepare(request, view, deps)
    signal, request = sending.signal, sending.signal.request
    named = dict.fromkeys(signal.sent.nodes)
    for relation in signal.sent.relations:
        named |= dict.fromkeys(filter(None, (relation.source, relation.target)))
    resolved = await asyncio.gather(
        *(resolve_names(target, list(named), scope, request.filters) for target in view.targets.values())
    )
    pools = [(target, signal.terms.get(level, ())) for level, target in view.targets.items()]
    drawn = await draw(request, pools, scope.bounds(), request.filters)
    shared = _shared_values(sending)
    requests = [_build_query(signal, names, shared, memory_ids(drawn, names.target.key)) for names in resolved]
    async with deps.connection.questions.turn():
        results = await run_all(requests)
        check_answered(results)
        echoes = _read_echoes(results, sending)
    calls: tuple[ModelCall, ...] = ()
    if diverse:
        chosen, calls = await _choose(signal, echoes, deps)
    else:
        chosen = {level: found[: request.max_results_per_level] for level, found in echoes.items()}
    shown = await _in_context(chosen, view, Decay(deps.half_lives, scope.valid.start))
    failed = [result.request.name for result in (*results, *drawn) if result.timing.failure]
    failed += [f"{call.purpose}: {call.failure}" for call in calls if call.failure is not None]
    memories = [resonance.memory for resonance in chain.from_iterable(shown.values())]
    return Resonances(
        citizen_id=request.citizen_id,
        signal=signal.sent,
        weights=dict(sending.weights),
        levels={LEVEL_NAMES[level]: tuple(shown.get(level, ())) for level in map(level_of, request.graphs)},
        rules=ranking.active_rules(chain.from_iterable(shown.values())),
        model_calls=calls,
        notes=_notes(sending, results, echoes),
        degraded=(*failed, *describe_unreadable(memories)),
    )


def _check_dimension(request: Resonate, deps: Deps) -> None:
    vector = request.query_embedding
    if vector is not None and len(vector) != deps.graphs.dimension:
        raise InvalidRequest(
            f"query_embedding has {len(vector)} numbers, the store's embeddings have {deps.graphs.dimension}",
            remedy=f"Embed it with {deps.graphs.model}, or send query_text.",
        )


async def _prepare(request: Resonate, view: View, deps: Deps) -> _Sending:
    """The signal, its vector and its weights; notes on what of it is not used."""
    signal = await prepare_signal(request, view, deps)
    request, notes = signal.request, list(signal.notes)
    vector = list(request.query_embedding) if request.query_embedding is not None and view.targets else None
    if vector is None and view.targets and request.weights.likeness and signal.text:
        try:
            vector = await deps.embedder.embed_query(signal.text) or None
            notes += [] if vector else [NO_EMBEDDER]
        except (Unavailable, Fault) as error:
            notes.append(f"likeness of meaning was not used: {error.detail}")
    weights = _weigh_channels(signal, vector)
    filtered = await read_filters(request.filters, view)
    return _Sending(view, signal, vector, weights, (*notes, *view.notes, *filtered.notes))


def _weigh_channels(signal: PreparedSignal, vector: list[float] | None) -> dict[Channel, float]:
    """The effective weights. Raises InvalidRequest when all are 0."""
    sent = signal.sent
    has_value: dict[Channel, bool] = {
        "nodes": bool(sent.nodes),
        "relations": bool(sent.relations),
        "emotion": sent.emotion is not None,
        "result": sent.result is not None,
        "likeness": vector is not None,
        "words": signal.words is not None,
        "beside": signal.words is not None,
    }
    silent = frozenset(channel for channel in CHANNELS if not has_value.get(channel, True))
    weights = ranking.effective_weights(signal.request.weights, silent, sent.intensity, signal.biases)
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
    request, sent, embedding = sending.signal.request, sending.signal.sent, sending.vector
    plurality, scope, now = request.plurality, sending.view.scope, sending.view.now
    pool = max(MIN_CANDIDATES, 4 * request.max_results_per_level)
    feeling = emotion_vector({sent.emotion: 1.0}) if sent.emotion else None
    shown: dict[str, float] = {}  # the memories of the window, the factor of those of the last 24 hours below 1
    for item in request.window:
        if item.id is not None:
            at = now if item.shown_at is None else to_instant(item.shown_at)
            shown[item.id] = ranking.suppression(at, now)
    return {
        **scope.bounds(),
        **filter_values(request.filters),
        **GENERALISED,
        "moment": scope.valid.start,
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
    signal: PreparedSignal, resolved: ResolvedNames, shared: Mapping[str, Any], plural_ids: Sequence[str]
) -> QueryRequest:
    sent, ids, target = signal.sent, resolved.ids, resolved.target
    triples: list[list[Any]] = []
    for relation in sent.relations:
        ends = [[] if name is None else ids[name] or NO_MEMORY for name in (relation.source, relation.target)]
        triples.append([relation.relation_type, *ends])
    values = {
        **shared,
        "ids": sorted(set().union(*ids.values())),
        "groups": list(map(ids.__getitem__, sent.nodes)),
        "triples": triples,
        "types": sorted({relation.relation_type for relation in sent.relations}),
        "words": "|".join(signal.terms.get(target.key, ())),
        "newest": resolved.newest.start,
        "until": resolved.newest.end,
        "plural": list(plural_ids),
    }
    if shared["unfiltered"]:
        k = OVERFETCH * shared["pool"]
        values["near"] = Search(shared["embedding"] or [], k, open_only=not target.past)
    statement = RESONATE if shared["unfiltered"] else RESONATE_FITTING
    return QueryRequest("resonance", target, target.choose(statement), values)


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


async def _choose(
    signal: PreparedSignal, echoes: Mapping[Level, Sequence[Echo]], deps: Deps
) -> tuple[dict[Level, list[Echo]], tuple[ModelCall, ...]]:
    """The echoes to show, and the model calls that ordered them.

    To be reranked, twice as many are chosen: what only a reader finds fitting must be among them (002, stage 3).
    A model may take seconds: nobody waits for it with a turn.
    """
    request, limit, method = signal.request, signal.request.max_results_per_level, signal.request.rerank
    per_week = None if request.plurality is None else request.plurality.per_week
    chosen: dict[Level, list[Echo]] = {}
    for level, found in echoes.items():
        chosen[level] = ranking.choose(found, limit if method is None else 2 * limit, per_week)
    if method is None:
        return chosen, ()
    items = [list(map(_reranked, found[:RERANKED])) for found in chosen.values()]
    orders = await asyncio.gather(*(order_items(each, deps, method=method, text=signal.text) for each in items))
    for level, order in zip(chosen, orders, strict=True):
        found = chosen[level]
        chosen[level] = [*reorder(found[:RERANKED], order.positions), *found[RERANKED:]][:limit]
    return chosen, tuple(order.call for order in orders if order.call is not None)


def _reranked(echo: Echo) -> RerankItem:
    memory = echo.resonance.memory
    text = " ".join(filter(None, (memory.name, memory.description)))
    channels = {str(name): value for name, value in echo.resonance.channels.items()}
    shown = f"{memory.speaker}: {memory.description}" if memory.speaker else text
    return RerankItem(shown, stems(text), echo.resonance.resonance, channels)


async def _in_context(
    chosen: Mapping[Level, Sequence[Echo]], view: View, decay: Decay
) -> dict[Level, list[Resonance]]:
    """The echoes with the names of their nodes and edges; ids in their place where the engine is too slow."""
    ids: dict[GraphKey, set[str]] = {}
    for echo in chain.from_iterable(chosen.values()):
        ids.setdefault(echo.graph, set()).update(echo.ends())

    async def read(graph: GraphKey) -> dict[str, str]:
        try:
            return await read_names(view.targets[graph], view.scope, sorted(ids[graph]))
        except (StoreTimeout, Fault):
            return {}

    names = dict(zip(ids, await asyncio.gather(*map(read, ids)), strict=True))
    shown: dict[Level, list[Resonance]] = {}
    for level, echoes in chosen.items():
        memories = decay.show([echo.resonance.memory for echo in echoes])
        shown[level] = []
        for echo, memory in zip(echoes, memories, strict=True):
            shown[level].append(echo.in_context(names[echo.graph]).model_copy(update={"memory": memory}))
    return shown


def _notes(
    sending: _Sending, results: Sequence[QueryResult], echoes: Mapping[Level, Sequence[Echo]]
) -> tuple[str, ...]:
    request, notes = sending.signal.request, list(sending.notes)
    related = any(echo.resonance.channels["relations"] for echo in chain.from_iterable(echoes.values()))
    if request.relations and not sending.view.notes and not related:
        notes.append("no memory found has any of the relations; check that their types are spelt as in the links")
    of_graphs = [result.request.values["groups"] for result in results]
    unnamed = [
        name for name, *groups in zip(sending.signal.sent.nodes, *of_graphs, strict=True) if not any(groups)
    ]
    if results and unnamed:
        notes.append(f"no memory has the name or id {', '.join(map(repr, unnamed[:8]))}")
    return tuple(dict.fromkeys(notes))


# --- the signal: the fields of the request, completed from window, focus, state and drives (002)


class WindowText(NamedTuple):
    """The words of window and focus that are read; `cut` when there were more."""

    text: str
    cut: bool


@dataclass(frozen=True, slots=True)
class SignalSources:
    """The values from which a signal is completed.

    `text`: the text of the request, else that of the window. `entities`: known names that the text contains.
    """

    window: WindowText
    text: str
    state: CitizenState
    lexicons: Lexicons
    entities: Sequence[str] = ()
    surroundings: Surroundings = NOTHING_AROUND


async def prepare_signal(request: Resonate, view: View, deps: Deps) -> PreparedSignal:
    """Complete the signal of a request, with the citizen's state at the moment of the view.

    Raises InvalidRequest when it asks nothing, and the state has nothing to ask with.
    """
    state = await _read_state(request, view, deps)
    if request.asks_nothing:
        ids = [item.id for item in state.window if item.id is not None]
        found = await asyncio.gather(*(read_words(target, view.scope, ids) for target in view.targets.values()))
        texts: dict[str, str] = {}
        for by_id in found:
            texts |= by_id
        request = with_kept(request, state, texts)
    sources = await _collect_sources(request, state, view)
    drives = unsatisfied_drives(request, sources.state)
    relations, unread = await _find_relations(request, sources, deps)
    sent = build_signal(request, sources, drives, relations)
    # The discriminative terms, without those in `DOCUMENT_CAP` memories or more.
    terms: dict[GraphKey, list[str]] = {}
    for level, own in sources.lexicons.items():
        counts = own.frequencies or {}
        terms[level] = [term for term in discriminative_terms(own) if counts[term] < DOCUMENT_CAP]
    return PreparedSignal(
        request=request,
        sent=sent,
        text=embedding_text(sources.text, sources.lexicons.values()) or describe_signal(sent),
        terms=terms,
        words=_read_words(sources.text, sources.lexicons, view.now) if sources.text else None,
        biases=[drive.bias for drive in drives.values()],
        notes=(*_signal_notes(request, sources, sent.emotion), *unread),
    )


async def _read_state(request: Resonate, view: View, deps: Deps) -> CitizenState:
    """The state as it was set; where only the state is asked, also what is derived."""
    if request.asks_nothing:
        target = view.targets.get(Level.N1)
        return await felt_state(request.citizen_id, deps, view.scope, view.now, target=target)
    if request.built or request.drive_bias:
        return await read_state(request.citizen_id, deps, view.scope)
    return CitizenState(citizen_id=request.citizen_id)


def with_kept(request: Resonate, state: CitizenState, texts: Mapping[str, str]) -> Resonate:
    """The request with the window, senses and focus that the state keeps, read in this order.

    `texts`: the words of the memories of the window by id. A pain above `PAIN` is the emotion `hurt` with a
    negative result (002). Raises InvalidRequest where the state keeps none of them, no emotion and no low drive.
    """
    shown = [
        item if item.id is None else item.model_copy(update={"text": texts.get(item.id)}) for item in state.window
    ]
    senses = [WindowItem(text=sense.text) for sense in state.senses.values() if (sense.text or "").strip()]
    low = low_drives(state)
    fields: dict[str, Any] = {"window": (*shown, *senses), "focus": state.focus, "drive_bias": low}
    pain = state.pain
    if pain > PAIN:
        fields |= {"emotion": "hurt", "intensity": pain, "result": "negative"}
    kept = request.model_copy(update=fields)
    says = (kept.window, kept.focus, pain > PAIN, low, *state.emotion_vector.values())
    if not any(says):
        raise InvalidRequest(EMPTY_SIGNAL, remedy="Or keep a window or a focus: PUT /v1/citizens/{id}/state.")
    return kept


async def _collect_sources(request: Resonate, state: CitizenState, view: View) -> SignalSources:
    window = read_window(request)
    said = (request.query_text or "").strip() or window.text
    # What is asked stands last: of a long text the last words are looked up, `LOOKUP_WORDS` at a time.
    text = " ".join(filter(None, (window.text, request.query_text)))
    language, lookups = word_language(said), []
    parts = list(map(" ".join, batched(text.split()[-READ_WORDS:], LOOKUP_WORDS)))
    for target in view.targets.values():
        for part in parts:
            asked = query_words(part, language)
            lookups.append(look_up_lexicon(target.graph, part, asked, past=target.past, language=language))
    found = iter(await asyncio.gather(*lookups))
    lexicons: dict[GraphKey, Lexicon] = {}
    for level in view.targets:
        lexicons[level] = join_lexicons(islice(found, len(parts)), query_words(said, language))
    if not request.built:
        return SignalSources(window, said, state, lexicons)
    named = [entity.name for lexicon in lexicons.values() for entity in lexicon.entities]
    # The entities of the memories in the window; the types of the links around them and the named entities.
    shown = [item.id for item in request.window if item.id is not None]
    reads = []
    for level, target in view.targets.items():
        ids = [entity.id for entity in lexicons[level].entities]
        reads.append(read_surroundings(target, view.scope, shown=shown, named=ids))
    around = Surroundings([], [])
    for each in await asyncio.gather(*reads):
        around.names.extend(each.names)
        around.relation_types.extend(each.relation_types)
    around = Surroundings(_distinct(around.names), _distinct(around.relation_types))
    return SignalSources(window, said, state, lexicons, _distinct(named), around)


def read_window(request: Resonate) -> WindowText:
    """The last `READ_WORDS` words of the window followed by the focus."""
    texts = [item.text for item in request.window if item.text] + ([request.focus] if request.focus else [])
    window_words = " \n".join(texts).split()
    return WindowText(" ".join(window_words[-READ_WORDS:]), len(window_words) > READ_WORDS)


async def _find_relations(
    request: Resonate, sources: SignalSources, deps: Deps
) -> tuple[tuple[Relation, ...], tuple[str, ...]]:
    """The relations of the request; without any, those that the text of the window names: by the meaning of words,
    only by their forms without an embedder, or when it fails, which a note says."""
    types = sources.surroundings.relation_types
    if request.relations or not types or not sources.entities:
        return request.relations, ()
    text, names = sources.window.text, sources.entities
    is_named: Callable[[str, str], bool] = has_same_stem
    notes: tuple[str, ...] = ()
    if deps.embedder.dimension:
        candidates = relation_words(text, names)
        searched = set(query_words(" ".join(candidates)))
        phrases = [word for word in candidates if word in searched] + list(map(relation_phrase, types))
        try:
            vectors = dict(zip(phrases, await deps.embedder.embed_texts(phrases), strict=True))
            is_named = match_by_meaning(vectors, RELATION_LIKENESS)
        except Unavailable as error:
            notes = (f"relations were read only by the forms of words: {error.detail}",)
    return read_relations(text, names, types, is_named), notes


def build_signal(
    request: Resonate, sources: SignalSources, drives: Mapping[str, Drive], relations: tuple[Relation, ...]
) -> SentSignal:
    """The request completed from its sources. Nodes of the request come first, then those of text and drives."""
    nodes = [*request.nodes, *sources.entities, *sources.surroundings.names]
    for drive in drives.values():
        nodes += drive.nodes
    emotion, intensity = read_feeling(request, sources.window.text, sources.state)
    result = request.result or read_result(sources.window.text) or ""
    return SentSignal(
        nodes=tuple(_distinct(nodes)[:MAX_NODES]),
        relations=relations,
        emotion=emotion,
        intensity=intensity,
        result=result.strip().lower() or None,
        max_level=request.max_level,
        drives=tuple(drives),
    )


def unsatisfied_drives(request: Resonate, state: CitizenState) -> dict[str, Drive]:
    """The drives with a satisfaction below 0.3, which act on the signal; the least satisfied first.

    A satisfaction in the request counts before that in the state.
    """
    drives = {}
    for name, drive in state.drives.items():
        satisfaction = request.drive_bias.get(name, drive.satisfaction if request.built else 1.0)
        if satisfaction < UNSATISFIED:
            drives[name] = drive.model_copy(update={"satisfaction": satisfaction})
    return dict(sorted(drives.items(), key=lambda item: (item[1].satisfaction, item[0])))


def read_feeling(request: Resonate, text: str, state: CitizenState) -> tuple[str | None, float]:
    """The emotion of the request, else of the text, else the strongest of the state; its intensity, in [0, 1]."""
    intensity = 1.0 if request.intensity is None else request.intensity
    if request.emotion is not None:
        return normal_emotion(request.emotion), intensity
    text_emotion = next(iter(read_emotions(text)), None)
    if text_emotion is not None:
        return text_emotion, intensity
    felt = normal_emotions(state.emotion_vector) if request.built else {}
    strongest = strongest_emotion(felt)
    if strongest is None:
        return None, intensity
    return strongest, felt[strongest] if request.intensity is None else intensity


def describe_signal(sent: SentSignal) -> str:
    """The nodes, relations, emotion and result of a signal as a text to embed (002, signal construction)."""
    relations = [
        " ".join(filter(None, (relation.source, relation_phrase(relation.relation_type), relation.target)))
        for relation in sent.relations
    ]
    return ". ".join([*sent.nodes, *relations, *filter(None, (sent.emotion, sent.result))])


def _read_words(text: str, lexicons: Lexicons, now: Instant) -> SignalWords:
    """The weight of each word of the text in each graph. The names of those who speak are no words of a turn."""
    language, weights = word_language(text), {}
    names = words(" ".join(chain.from_iterable(map(Lexicon.speakers, lexicons.values()))))
    for level, lexicon in lexicons.items():
        counted = {**(lexicon.frequencies or {}), **dict.fromkeys(names, 0)}
        weights[level] = word_weights(counted, lexicon.memories, language)
    others = read_question(text, to_datetime(now)).others
    return SignalWords(weights, language, frozenset() if others else ANSWERING)


def _signal_notes(request: Resonate, sources: SignalSources, emotion: str | None) -> list[str]:
    notes = list(request.notes)
    unknown = sorted(request.drive_bias.keys() - sources.state.drives.keys())
    if unknown:
        notes.append(f"citizen {request.citizen_id} has no drive {', '.join(unknown)}: set it by PUT .../state")
    if emotion is not None and emotion not in {*VOCABULARY, *POSITIVE, *NEGATIVE}:
        notes.append(f"{emotion} is not in the vocabulary of emotions: it matches only memories with that name")
    if sources.window.cut:
        notes.append(f"only the last {READ_WORDS} words of window and focus were read")
    return notes


def _distinct(names: Sequence[str]) -> list[str]:
    """Each name once, compared in normal form; the first spelling stays."""
    return list({name_key(name) or name: name for name in reversed(names)}.values())[::-1]
