"""A wave signal, as it is sent: what is given, read from window and focus, felt, and injected by drives (002)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

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
from orchestration.question.lexicon import Lexicon, discriminative_terms
from orchestration.resonance.ranking import UNSATISFIED
from schemas.citizen import CitizenState, Drive
from schemas.errors import Unavailable
from schemas.memory import Level
from schemas.temporal import Scope
from schemas.wave_signal import Channel, Relation, Resonate, SentSignal
from substrate.cypher.resonance import SURROUNDINGS_NOW, SURROUNDINGS_THEN
from substrate.emotions import NEGATIVE, POSITIVE, VOCABULARY, normal_emotion, normal_emotions
from substrate.graphs.graph import GraphTarget
from substrate.store.lexicon import DOCUMENT_CAP
from substrate.text import name_key, query_words

READ_WORDS: Final = 288
"""The last so many words of window and focus are read for names, relations, emotion and result."""
A_LOOK: Final = 36
MAX_NODES: Final = 64
LIKE_A_RELATION: Final = 0.55
"""Cosine from which a word means a relation.

With the local model 9 of 16 pairs of synonyms lie above it, and none of 10 pairs that mean something else: created
and destroyed .52, likes and hates .51, criticized and praised .48.
"""


@dataclass(slots=True)
class Built:
    """A signal with what it takes to send it.

    `text` is what likeness and full text go by; `words` the words of it that tell, by level.
    """

    sent: SentSignal
    text: str
    words: Mapping[Level, list[str]] = field(default_factory=dict)
    biases: Sequence[Mapping[Channel, float]] = ()
    notes: list[str] = field(default_factory=list)


async def build(request: Resonate, view: View, deps: Deps) -> Built:
    """The signal of a request, with the state that the citizen had in the scope of the view."""
    read, cut = window_text(request) if request.built else ("", False)
    state = await _state(request, deps, view.scope)
    drives = unsatisfied(request, state)
    text = (request.query_text or "").strip() or read
    lexicons = await _lexicons(read or text, view, deps)
    named = [entity.name for level in lexicons.values() for one in level for entity in one.entities]
    shown, types = await _surroundings(request, (view, lexicons), deps) if request.built else ([], [])
    entities = _distinct(named) if request.built else []
    injected = [node for drive in drives.values() for node in drive.nodes]
    emotion, intensity = felt(request, read, state)
    notes = _notes(request, state, emotion)
    if cut:
        notes.append(f"of window and focus the last {READ_WORDS} words were read")
    relations = request.relations
    if not relations and types and entities:
        relations = await _relations(read, entities, types, deps, notes)
    sent = SentSignal(
        nodes=tuple(_distinct([*request.nodes, *entities, *shown, *injected])[:MAX_NODES]),
        relations=relations,
        emotion=emotion,
        intensity=intensity,
        result=(request.result or read_result(read) or "").strip().lower() or None,
        max_level=request.max_level,
        drives=tuple(drives),
    )
    words = {level: _telling(text, found) for level, found in lexicons.items()}
    return Built(sent, text or components(sent), words, [drive.bias for drive in drives.values()], notes)


def window_text(request: Resonate) -> tuple[str, bool]:
    """The last words of the window, then of the focus, and whether there were more."""
    texts = [item.text for item in request.window if item.text] + ([request.focus] if request.focus else [])
    said = " \n".join(texts).split()
    return " ".join(said[-READ_WORDS:]), len(said) > READ_WORDS


def unsatisfied(request: Resonate, state: CitizenState) -> dict[str, Drive]:
    """The drives that take part, least satisfied first: those kept below 0.3, or said to be by the request."""
    found = {}
    for name, drive in state.drives.items():
        satisfaction = request.drive_bias.get(name, drive.satisfaction if request.built else 1.0)
        if satisfaction < UNSATISFIED:
            found[name] = drive.model_copy(update={"satisfaction": satisfaction})
    return dict(sorted(found.items(), key=lambda item: (item[1].satisfaction, item[0])))


def felt(request: Resonate, read: str, state: CitizenState) -> tuple[str | None, float]:
    """The emotion and its intensity: as said, else as the texts name it, else the strongest of the state."""
    given = 1.0 if request.intensity is None else request.intensity
    if request.emotion is not None:
        return normal_emotion(request.emotion), given
    for named in read_emotions(read):
        return named, given
    kept = normal_emotions(state.emotion_vector) if request.built else {}
    if not any(kept.values()):
        return None, given
    strongest = min(kept, key=lambda emotion: (-kept[emotion], emotion))
    return strongest, kept[strongest] if request.intensity is None else given


def components(sent: SentSignal) -> str:
    """A signal without a text of its own, in words, for likeness (002, signal construction)."""
    said = [" ".join(filter(None, (r.source, relation_phrase(r.relation_type), r.target))) for r in sent.relations]
    return ". ".join([*sent.nodes, *said, *filter(None, (sent.emotion, sent.result))])


async def _state(request: Resonate, deps: Deps, scope: Scope) -> CitizenState:
    if request.built or request.drive_bias:
        return await read_state(request.citizen_id, deps, scope)
    return CitizenState(citizen_id=request.citizen_id)


async def _lexicons(text: str, view: View, deps: Deps) -> dict[Level, list[Lexicon]]:
    """What each graph knows of a text, a stretch at a time: a lexicon reads the first words of what it gets."""
    said = text.split()[-READ_WORDS:]
    parts = [" ".join(said[start : start + A_LOOK]) for start in range(0, len(said), A_LOOK)]
    looks = [
        look_up_lexicon(target.graph, part, query_words(part), past=target.past)
        for target in view.targets.values()
        for part in parts
    ]
    found = await asyncio.gather(*looks)
    size = len(parts)
    return {level: list(found[i * size : (i + 1) * size]) for i, level in enumerate(view.targets)}


def _telling(text: str, lexicons: Sequence[Lexicon]) -> list[str]:
    """The words of a text to search by, as in retrieval; one of very many memories finds only what is anywhere."""
    asked = query_words(text)
    known = {word: count for one in lexicons for word, count in (one.frequencies or {}).items()}
    memories = max((one.memories for one in lexicons), default=0)
    few = discriminative_terms(Lexicon(memories, frequencies={w: known[w] for w in asked if w in known}))
    return [word for word in few if known[word] < DOCUMENT_CAP]


async def _surroundings(
    request: Resonate,
    known: tuple[View, Mapping[Level, list[Lexicon]]],
    deps: Deps,
) -> tuple[list[str], list[str]]:
    """What the memories of the window are about, and the relation types around all that is named."""
    view, lexicons = known
    shown = [item.id for item in request.window if item.id is not None]

    async def around(target: GraphTarget) -> Sequence[Sequence[Any]]:
        near = [entity.id for one in lexicons.get(target.level, ()) for entity in one.entities]
        if not near and not shown:
            return []
        query = SURROUNDINGS_THEN if target.past else SURROUNDINGS_NOW
        return await target.graph.read(query, **view.scope.bounds(), shown=shown, near=near + shown)

    rows = [row for part in await asyncio.gather(*map(around, view.targets.values())) for row in part]
    return (
        _distinct([row[2] for row in rows if row[0] == "node"]),
        _distinct([row[2] for row in rows if row[0] == "type"]),
    )


async def _relations(
    read: str, names: Sequence[str], types: Sequence[str], deps: Deps, notes: list[str]
) -> tuple[Relation, ...]:
    """By likeness where there is an embedder, else by forms of the word."""
    if not deps.embedder.dimension:
        return read_relations(read, names, types, has_same_stem)
    sought = set(query_words(" ".join(relation_words(read, names))))
    texts = [word for word in relation_words(read, names) if word in sought] + [
        relation_phrase(kind) for kind in types
    ]
    try:
        vectors = dict(zip(texts, await deps.embedder.embed_texts(texts), strict=True))
    except Unavailable as error:
        notes.append(f"relations were read by the forms of words only: {error.detail}")
        return read_relations(read, names, types, has_same_stem)
    return read_relations(read, names, types, match_by_meaning(vectors, LIKE_A_RELATION))


def _notes(request: Resonate, state: CitizenState, emotion: str | None) -> list[str]:
    notes = list(request.notes)
    unknown = sorted(request.drive_bias.keys() - state.drives.keys())
    if unknown:
        notes.append(f"citizen {request.citizen_id} has no drive {', '.join(unknown)}: see PUT .../state, drives")
    if emotion is not None and emotion not in {*VOCABULARY, *POSITIVE, *NEGATIVE}:
        notes.append(f"{emotion} is not in the vocabulary of emotions: only memories that name it are alike")
    return notes


def _distinct(names: Sequence[str]) -> list[str]:
    """Each name once, however it is written; the first way of writing stays."""
    return list({name_key(name) or name: name for name in reversed(names)}.values())[::-1]
