"""Prepares a signal: the fields of the request, completed from window, focus, state and drives (002)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
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
from orchestration.graph_queries.existing_graphs import View
from orchestration.mind.state import felt_state, read_state
from orchestration.question.lexicon import Lexicon, discriminative_terms, embedding_text, join_lexicons
from orchestration.question.reading import ANSWERING, read_question
from orchestration.ranking.relevance import word_weights
from orchestration.resonance.ranking import PAIN, UNSATISFIED, SignalWords
from schemas.errors import InvalidRequest, Unavailable
from schemas.memory import GraphKey, Level
from schemas.mind.state import CitizenState, Drive
from schemas.temporal import Instant, to_datetime
from schemas.wave_signal import EMPTY_SIGNAL, Channel, Relation, Resonate, SentSignal, WindowItem
from substrate.emotions import NEGATIVE, POSITIVE, VOCABULARY, normal_emotion, normal_emotions
from substrate.language.text import name_key, query_words, word_language, words
from substrate.store.lexicon import DOCUMENT_CAP
from substrate.store.surroundings import Surroundings, read_surroundings, read_words

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


class WindowText(NamedTuple):
    """The words of window and focus that are read; `cut` when there were more."""

    text: str
    cut: bool


class Feeling(NamedTuple):
    """The emotion of a signal, if any, and its intensity in [0, 1]."""

    emotion: str | None
    intensity: float


class SignalRelations(NamedTuple):
    """The relations of a signal, with a note when likeness of meaning could not be used."""

    relations: tuple[Relation, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SignalSources:
    """The values from which a signal is completed.

    `text`: the text of the request, else that of the window. `entities`: known names that the text contains.
    """

    window: WindowText
    text: str
    state: CitizenState
    lexicons: Lexicons
    entities: Sequence[str]
    surroundings: Surroundings


async def prepare_signal(request: Resonate, view: View, deps: Deps) -> PreparedSignal:
    """Complete the signal of a request, with the citizen's state at the moment of the view.

    Raises InvalidRequest when it asks nothing, and the state has nothing to ask with.
    """
    state = await _read_state(request, view, deps)
    if request.asks_nothing:
        request = with_kept(request, state, await _read_shown(state, view))
    sources = await _collect_sources(request, state, view)
    drives = unsatisfied_drives(request, sources.state)
    named = await _find_relations(request, sources, deps)
    sent = build_signal(request, sources, drives, named.relations)
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
        notes=(*_notes(request, sources, sent.emotion), *named.notes),
    )


def with_kept(request: Resonate, state: CitizenState, texts: Mapping[str, str]) -> Resonate:
    """The request with the window, senses and focus that the state keeps, read in this order.

    `texts`: the words of the memories of the window by id. A pain above `PAIN` is the emotion `hurt` with a
    negative result (002). Raises InvalidRequest where the state keeps none of them, no emotion and no low drive.
    """
    shown = [
        item if item.id is None else item.model_copy(update={"text": texts.get(item.id)}) for item in state.window
    ]
    senses = [WindowItem(text=sense.text) for sense in state.senses.values() if (sense.text or "").strip()]
    low = {name: drive.satisfaction for name, drive in state.drives.items() if drive.satisfaction < UNSATISFIED}
    fields: dict[str, Any] = {"window": (*shown, *senses), "focus": state.focus, "drive_bias": low}
    pain = state.pain
    if pain > PAIN:
        fields |= {"emotion": "hurt", "intensity": pain, "result": "negative"}
    kept = request.model_copy(update=fields)
    says = (kept.window, kept.focus, pain > PAIN, low, *state.emotion_vector.values())
    if not any(says):
        raise InvalidRequest(EMPTY_SIGNAL, remedy="Or keep a window or a focus: PUT /v1/citizens/{id}/state.")
    return kept


async def _read_shown(state: CitizenState, view: View) -> dict[str, str]:
    """The words of the memories in the kept window, by id; none of those that are not there any more."""
    ids = [item.id for item in state.window if item.id is not None]
    found = await asyncio.gather(*(read_words(target, view.scope, ids) for target in view.targets.values()))
    return {memory_id: words for by_id in found for memory_id, words in by_id.items()}


async def _collect_sources(request: Resonate, state: CitizenState, view: View) -> SignalSources:
    window = read_window(request)
    text = (request.query_text or "").strip() or window.text
    # What is asked stands last: of a long text the last words are looked up.
    looked_up = " ".join(filter(None, (window.text, request.query_text)))
    lexicons = await _look_up_lexicons(looked_up, text, view)
    if not request.built:
        return SignalSources(window, text, state, lexicons, [], Surroundings([], []))
    named = [entity.name for lexicon in lexicons.values() for entity in lexicon.entities]
    surroundings = await _read_surroundings(request, view, lexicons)
    return SignalSources(window, text, state, lexicons, _distinct(named), surroundings)


async def _find_relations(request: Resonate, sources: SignalSources, deps: Deps) -> SignalRelations:
    """The relations of the request; without any, those that the text of the window names: by the meaning of words,
    only by their forms without an embedder, or when it fails."""
    types = sources.surroundings.relation_types
    if request.relations or not types or not sources.entities:
        return SignalRelations(request.relations)
    text, names = sources.window.text, sources.entities
    if not deps.embedder.dimension:
        return SignalRelations(read_relations(text, names, types, has_same_stem))
    candidates = relation_words(text, names)
    searched = set(query_words(" ".join(candidates)))
    phrases = [word for word in candidates if word in searched] + list(map(relation_phrase, types))
    try:
        vectors = dict(zip(phrases, await deps.embedder.embed_texts(phrases), strict=True))
    except Unavailable as error:
        note = f"relations were read only by the forms of words: {error.detail}"
        return SignalRelations(read_relations(text, names, types, has_same_stem), (note,))
    return SignalRelations(read_relations(text, names, types, match_by_meaning(vectors, RELATION_LIKENESS)))


def build_signal(
    request: Resonate, sources: SignalSources, drives: Mapping[str, Drive], relations: tuple[Relation, ...]
) -> SentSignal:
    """The request completed from its sources. Nodes of the request come first, then those of text and drives."""
    nodes = [*request.nodes, *sources.entities, *sources.surroundings.names]
    for drive in drives.values():
        nodes += drive.nodes
    feeling = read_feeling(request, sources.window.text, sources.state)
    result = request.result or read_result(sources.window.text) or ""
    return SentSignal(
        nodes=tuple(_distinct(nodes)[:MAX_NODES]),
        relations=relations,
        emotion=feeling.emotion,
        intensity=feeling.intensity,
        result=result.strip().lower() or None,
        max_level=request.max_level,
        drives=tuple(drives),
    )


def read_window(request: Resonate) -> WindowText:
    """The last `READ_WORDS` words of the window followed by the focus."""
    texts = [item.text for item in request.window if item.text] + ([request.focus] if request.focus else [])
    window_words = " \n".join(texts).split()
    return WindowText(" ".join(window_words[-READ_WORDS:]), len(window_words) > READ_WORDS)


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


def read_feeling(request: Resonate, text: str, state: CitizenState) -> Feeling:
    """The emotion of the request, else of the text, else the strongest of the state; with its intensity."""
    intensity = 1.0 if request.intensity is None else request.intensity
    if request.emotion is not None:
        return Feeling(normal_emotion(request.emotion), intensity)
    text_emotion = next(iter(read_emotions(text)), None)
    if text_emotion is not None:
        return Feeling(text_emotion, intensity)
    felt = normal_emotions(state.emotion_vector) if request.built else {}
    if not any(felt.values()):
        return Feeling(None, intensity)
    strongest = min(felt, key=lambda emotion: (-felt[emotion], emotion))
    return Feeling(strongest, felt[strongest] if request.intensity is None else intensity)


def describe_signal(sent: SentSignal) -> str:
    """The nodes, relations, emotion and result of a signal as a text to embed (002, signal construction)."""
    relations = [
        " ".join(filter(None, (relation.source, relation_phrase(relation.relation_type), relation.target)))
        for relation in sent.relations
    ]
    return ". ".join([*sent.nodes, *relations, *filter(None, (sent.emotion, sent.result))])


async def _read_state(request: Resonate, view: View, deps: Deps) -> CitizenState:
    """The state as it was set; where only the state is asked, also what is derived."""
    if request.asks_nothing:
        target = view.targets.get(Level.N1)
        return await felt_state(request.citizen_id, deps, view.scope, view.now, target=target)
    if request.built or request.drive_bias:
        return await read_state(request.citizen_id, deps, view.scope)
    return CitizenState(citizen_id=request.citizen_id)


async def _look_up_lexicons(text: str, said: str, view: View) -> Lexicons:
    """Look up a text in each graph, `LOOKUP_WORDS` words at a time: its names, and the words that were `said`."""
    language, lookups = word_language(said), []
    parts = list(map(" ".join, batched(text.split()[-READ_WORDS:], LOOKUP_WORDS)))
    for target in view.targets.values():
        for part in parts:
            asked = query_words(part, language)
            lookups.append(look_up_lexicon(target.graph, part, asked, past=target.past, language=language))
    found = iter(await asyncio.gather(*lookups))
    return {level: join_lexicons(islice(found, len(parts)), query_words(said, language)) for level in view.targets}


def _read_words(text: str, lexicons: Lexicons, now: Instant) -> SignalWords:
    """The weight of each word of the text in each graph. The names of those who speak are no words of a turn."""
    language, weights = word_language(text), {}
    names = words(" ".join(chain.from_iterable(lexicon.speakers() for lexicon in lexicons.values())))
    for level, lexicon in lexicons.items():
        counted = {**(lexicon.frequencies or {}), **dict.fromkeys(names, 0)}
        weights[level] = word_weights(counted, lexicon.memories, language)
    others = read_question(text, to_datetime(now)).others
    return SignalWords(weights, language, frozenset() if others else ANSWERING)


async def _read_surroundings(request: Resonate, view: View, lexicons: Lexicons) -> Surroundings:
    """The entities of the memories in the window; the types of the links around them and the named entities."""
    shown = [item.id for item in request.window if item.id is not None]
    reads = []
    for level, target in view.targets.items():
        named = [entity.id for entity in lexicons[level].entities]
        reads.append(read_surroundings(target, view.scope, shown=shown, named=named))
    by_level = await asyncio.gather(*reads)
    names = [name for surroundings in by_level for name in surroundings.names]
    relation_types = [name for surroundings in by_level for name in surroundings.relation_types]
    return Surroundings(_distinct(names), _distinct(relation_types))


def _notes(request: Resonate, sources: SignalSources, emotion: str | None) -> list[str]:
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
