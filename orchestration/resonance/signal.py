"""The signal as it is sent: what the request gives, and what window, focus, state and drives add (002)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched, chain, islice
from typing import Final, NamedTuple

from orchestration.appraisal.text_signals import (
    has_same_stem,
    match_by_meaning,
    read_emotions,
    read_relations,
    read_result,
    relation_phrase,
    relation_words,
)
from orchestration.dependencies import Deps
from orchestration.entity_extraction import look_up_lexicon
from orchestration.graph_queries.existing_graphs import View
from orchestration.mind.state import read_state
from orchestration.question.lexicon import Entity, Lexicon, discriminative_terms
from orchestration.resonance.ranking import UNSATISFIED
from schemas.citizen import CitizenState, Drive
from schemas.errors import Unavailable
from schemas.memory import Level
from schemas.temporal import Scope
from schemas.wave_signal import Channel, Relation, Resonate, SentSignal
from substrate.emotions import NEGATIVE, POSITIVE, VOCABULARY, normal_emotion, normal_emotions
from substrate.store.lexicon import DOCUMENT_CAP
from substrate.store.resonance import Surroundings, read_surroundings
from substrate.text import name_key, query_words

READ_WORDS: Final = 288
"""The last so many words of window and focus are read for names, relations, emotion and result."""
LOOKUP_WORDS: Final = 36
"""Words of one lookup: a lexicon reads the first words of its text."""
MAX_NODES: Final = 64
RELATION_LIKENESS: Final = 0.55
"""Cosine from which a word means a relation.

With the local model 9 of 16 pairs of synonyms lie above it, and none of 10 pairs that mean something else: created
and destroyed .52, likes and hates .51, criticized and praised .48.
"""

type Lexicons = Mapping[Level, Sequence[Lexicon]]
"""The lexicons of each level, one for each part of the text."""


@dataclass(frozen=True, slots=True)
class PreparedSignal:
    """A signal with everything that sending it takes.

    `text`: for likeness of meaning; `terms`: its discriminative terms by level; `biases`: of drives, by channel.
    """

    sent: SentSignal
    text: str
    terms: Mapping[Level, Sequence[str]]
    biases: Sequence[Mapping[Channel, float]] = ()
    notes: tuple[str, ...] = ()


class WindowText(NamedTuple):
    """The words of window and focus that are read, and whether there were more."""

    text: str
    cut: bool


class Feeling(NamedTuple):
    """The emotion of a signal, if any, and its intensity in [0, 1]."""

    emotion: str | None
    intensity: float


class FoundRelations(NamedTuple):
    """The relations of a signal, and a note when they were read without likeness of meaning."""

    relations: tuple[Relation, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SignalSources:
    """What a signal is made of beside its request.

    `text`: the text of the request, else that of the window. `entities`: names that the text contains.
    """

    window: WindowText
    text: str
    state: CitizenState
    lexicons: Lexicons
    entities: Sequence[str]
    surroundings: Surroundings


async def prepare_signal(request: Resonate, view: View, deps: Deps) -> PreparedSignal:
    """The signal of a request, with the state of the citizen at the moment of the view."""
    sources = await _collect_sources(request, view, deps)
    drives = unsatisfied_drives(request, sources.state)
    found = await _find_relations(request, sources, deps)
    sent = build_signal(request, sources, drives, found.relations)
    return PreparedSignal(
        sent=sent,
        text=sources.text or describe_signal(sent),
        terms={level: _search_terms(sources.text, own) for level, own in sources.lexicons.items()},
        biases=[drive.bias for drive in drives.values()],
        notes=(*_notes(request, sources, sent.emotion), *found.notes),
    )


async def _collect_sources(request: Resonate, view: View, deps: Deps) -> SignalSources:
    window = read_window(request)
    text = (request.query_text or "").strip() or window.text
    state = await _read_state(request, deps, view.scope)
    lexicons = await _look_up_lexicons(window.text or text, view)
    if not request.built:
        return SignalSources(window, text, state, lexicons, [], Surroundings([], []))
    named = [entity.name for entity in _entities(chain.from_iterable(lexicons.values()))]
    surroundings = await _read_surroundings(request, view, lexicons)
    return SignalSources(window, text, state, lexicons, _distinct(named), surroundings)


async def _find_relations(request: Resonate, sources: SignalSources, deps: Deps) -> FoundRelations:
    """The relations of the request, else those that the text of the window names."""
    types = sources.surroundings.relation_types
    if request.relations or not types or not sources.entities:
        return FoundRelations(request.relations)
    return await _read_relations(sources.window.text, sources.entities, types, deps)


def build_signal(
    request: Resonate, sources: SignalSources, drives: Mapping[str, Drive], relations: tuple[Relation, ...]
) -> SentSignal:
    """The request filled up from its sources: its own nodes, then those of text, window and drives."""
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
    """The drives below 0.3, by the request or else by the state, least satisfied first: they act on the signal."""
    drives = {}
    for name, drive in state.drives.items():
        satisfaction = request.drive_bias.get(name, drive.satisfaction if request.built else 1.0)
        if satisfaction < UNSATISFIED:
            drives[name] = drive.model_copy(update={"satisfaction": satisfaction})
    return dict(sorted(drives.items(), key=lambda item: (item[1].satisfaction, item[0])))


def read_feeling(request: Resonate, text: str, state: CitizenState) -> Feeling:
    """The emotion and its intensity: of the request, else of the text, else the strongest of the state."""
    given = 1.0 if request.intensity is None else request.intensity
    if request.emotion is not None:
        return Feeling(normal_emotion(request.emotion), given)
    named = next(iter(read_emotions(text)), None)
    if named is not None:
        return Feeling(named, given)
    felt = normal_emotions(state.emotion_vector) if request.built else {}
    if not any(felt.values()):
        return Feeling(None, given)
    strongest = min(felt, key=lambda emotion: (-felt[emotion], emotion))
    return Feeling(strongest, felt[strongest] if request.intensity is None else given)


def describe_signal(sent: SentSignal) -> str:
    """A signal without a text of its own, in words, for likeness of meaning (002, signal construction)."""
    relations = [
        " ".join(filter(None, (relation.source, relation_phrase(relation.relation_type), relation.target)))
        for relation in sent.relations
    ]
    return ". ".join([*sent.nodes, *relations, *filter(None, (sent.emotion, sent.result))])


async def _read_state(request: Resonate, deps: Deps, scope: Scope) -> CitizenState:
    if request.built or request.drive_bias:
        return await read_state(request.citizen_id, deps, scope)
    return CitizenState(citizen_id=request.citizen_id)


async def _look_up_lexicons(text: str, view: View) -> Lexicons:
    """What each graph knows of a text, `LOOKUP_WORDS` words at a time."""
    parts = [" ".join(part) for part in batched(text.split()[-READ_WORDS:], LOOKUP_WORDS)]
    lookups = []
    for target in view.targets.values():
        lookups += [look_up_lexicon(target.graph, part, query_words(part), past=target.past) for part in parts]
    lexicons = iter(await asyncio.gather(*lookups))
    return {level: list(islice(lexicons, len(parts))) for level in view.targets}


def _entities(lexicons: Iterable[Lexicon]) -> Iterator[Entity]:
    for lexicon in lexicons:
        yield from lexicon.entities


def _search_terms(text: str, lexicons: Sequence[Lexicon]) -> list[str]:
    """The discriminative terms of a text, without those of very many memories."""
    known: dict[str, int] = {}
    for lexicon in lexicons:
        known |= lexicon.frequencies or {}
    memories = max((lexicon.memories for lexicon in lexicons), default=0)
    frequencies = {word: known[word] for word in query_words(text) if word in known}
    terms = discriminative_terms(Lexicon(memories, frequencies=frequencies))
    return [term for term in terms if known[term] < DOCUMENT_CAP]


async def _read_surroundings(request: Resonate, view: View, lexicons: Lexicons) -> Surroundings:
    """The entities of the memories in the window, and the relation types around these and all that is named."""
    shown = [item.id for item in request.window if item.id is not None]
    reads = []
    for level, target in view.targets.items():
        named = [entity.id for entity in _entities(lexicons[level])]
        reads.append(read_surroundings(target, view.scope, shown=shown, named=named))
    by_level = await asyncio.gather(*reads)
    names = [name for surroundings in by_level for name in surroundings.names]
    relation_types = [name for surroundings in by_level for name in surroundings.relation_types]
    return Surroundings(_distinct(names), _distinct(relation_types))


async def _read_relations(text: str, names: Sequence[str], types: Sequence[str], deps: Deps) -> FoundRelations:
    """By likeness of meaning; by the forms of words only without an embedder, or with a note when it failed."""
    if not deps.embedder.dimension:
        return FoundRelations(read_relations(text, names, types, has_same_stem))
    candidates = relation_words(text, names)
    searched = set(query_words(" ".join(candidates)))
    phrases = [word for word in candidates if word in searched] + list(map(relation_phrase, types))
    try:
        vectors = dict(zip(phrases, await deps.embedder.embed_texts(phrases), strict=True))
    except Unavailable as error:
        note = f"relations were read by the forms of words only: {error.detail}"
        return FoundRelations(read_relations(text, names, types, has_same_stem), (note,))
    return FoundRelations(read_relations(text, names, types, match_by_meaning(vectors, RELATION_LIKENESS)))


def _notes(request: Resonate, sources: SignalSources, emotion: str | None) -> list[str]:
    notes = list(request.notes)
    unknown = sorted(request.drive_bias.keys() - sources.state.drives.keys())
    if unknown:
        notes.append(f"citizen {request.citizen_id} has no drive {', '.join(unknown)}: see PUT .../state, drives")
    if emotion is not None and emotion not in {*VOCABULARY, *POSITIVE, *NEGATIVE}:
        notes.append(f"{emotion} is not in the vocabulary of emotions: only memories that name it are alike")
    if sources.window.cut:
        notes.append(f"of window and focus the last {READ_WORDS} words were read")
    return notes


def _distinct(names: Sequence[str]) -> list[str]:
    """Each name once, however it is written; the first way of writing stays."""
    return list({name_key(name) or name: name for name in reversed(names)}.values())[::-1]
