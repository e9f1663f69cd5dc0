"""Names in a query → memories to start from, and what the graphs know of its words (003, task 3).

By words alone; a language model, when one is configured, may add names, and never takes any away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from orchestration.dependencies import Deps
from orchestration.graph_queries.existing_graphs import View
from orchestration.question import entity_prompt
from orchestration.question.lexicon import (
    Entity,
    Lexicon,
    called,
    holding,
    named_alike,
    phrases,
    read_lexicon,
    sounding,
)
from schemas.errors import Fault, StoreTimeout
from schemas.language_model import ModelCall
from schemas.memory import Level
from substrate.connection.errors import GraphMissing
from substrate.connection.pool import Row
from substrate.cypher.query import Query
from substrate.cypher.search import LEXICON_NOW, LEXICON_THEN
from substrate.graphs.graph import Graph
from substrate.inference.language.model import Question
from substrate.store.vocabulary import Vocabulary, merged, read_vocabulary
from substrate.text import query_words


async def look_up(graph: Graph, query_text: str, words: Sequence[str], *, past: bool) -> Lexicon:
    """The lexicon of one graph; an unknown one when it was late or failed, and likeness carries the level.

    Only for words that it does not hold the graph is asked again, for names that sound alike.
    Raises Unavailable when the engine does not answer.
    """
    try:
        rows = await _rows(graph, _lexicon(past), query_text, words)
    except GraphMissing:
        return Lexicon()
    except (StoreTimeout, Fault):
        return Lexicon.unknown(words)
    return read_lexicon(rows, query_text)


async def look_up_words(text: str, view: View) -> dict[Level, Lexicon]:
    """What each graph of the view knows of the words of a text."""
    words = query_words(text)
    looks = (look_up(target.graph, text, words, past=target.past) for target in view.targets.values())
    return dict(zip(view.targets, await asyncio.gather(*looks), strict=True))


async def _vocabulary(graph: Graph) -> Vocabulary:
    """The kinds in a graph; none when it was late or failed, and the model is asked without them."""
    try:
        return await read_vocabulary(graph)
    except (StoreTimeout, Fault):
        return Vocabulary()


class Suggestion(NamedTuple):
    """The names that a language model finds in a query, and what it took; nothing when there is none to ask."""

    names: tuple[str, ...] = ()
    calls: tuple[ModelCall, ...] = ()


async def suggest(query_text: str, view: View, deps: Deps) -> Suggestion:
    """Ask the language model, if there is one, which names the query means; no longer than its deadline."""
    model = deps.language_model
    if model is None or not model.question_seconds or not view.targets:
        return Suggestion()
    kinds = await asyncio.gather(*(_vocabulary(target.graph) for target in view.targets.values()))
    question = Question("entities", entity_prompt.messages(query_text, merged(kinds)), model.question_seconds)
    value, call = await model.ask(question, entity_prompt.Names)
    found = () if value is None else tuple(dict.fromkeys(value.entities))[: entity_prompt.MAX_NAMES]
    return Suggestion(found, (call,))


async def with_suggested(
    lexicons: dict[Level, Lexicon], suggestion: Suggestion, view: View
) -> dict[Level, Lexicon]:
    """The lexicons with the memories that the suggested names mean; a name that no memory has means nothing."""
    if not suggestion.names:
        return lexicons

    targets = [view.targets[level] for level in lexicons]
    found = await asyncio.gather(
        *(memories_named(suggestion.names, target.graph, past=target.past) for target in targets)
    )
    return {
        level: lexicon.with_named(_joined(lexicon.named(), more))
        for (level, lexicon), more in zip(lexicons.items(), found, strict=True)
    }


def _joined(known: Sequence[Entity], more: Sequence[Entity]) -> tuple[Entity, ...]:
    ids = {entity.id for entity in known}
    return (*known, *(entity for entity in more if entity.id not in ids))


async def memories_named(sought: Sequence[str], graph: Graph, *, past: bool) -> tuple[Entity, ...]:
    """The memories of a graph that the names mean; none when the graph was late or failed."""
    text = " ".join(sought)
    try:
        rows = await _rows(graph, _lexicon(past), text, query_words(text))
    except (GraphMissing, StoreTimeout, Fault):
        return ()
    return named_alike(rows, sought)


async def memories_called(name: str, node_type: str, graph: Graph) -> str | None:
    """The id of the memory of a graph that has just this name, or alias, and this type; None when none has."""
    rows = await _rows(graph, LEXICON_NOW, name, query_words(name))
    return called(rows, name, node_type)


def _lexicon(past: bool) -> Query:
    return LEXICON_THEN if past else LEXICON_NOW


async def _rows(graph: Graph, query: Query, text: str, words: Sequence[str]) -> list[Row]:
    """What the graph knows of the words, and of names that sound like a word that it does not hold."""
    rows = await graph.read(query, words=list(words), phrases=phrases(text), sounds=holding(words))
    heard = {row[1] for row in rows if row[0] in ("word", "was") and row[2]}
    unheard = [word for word in words if word not in heard]
    if sounds := sounding(unheard):
        rows = [*rows, *await graph.read(query, words=[], phrases=[], sounds=sounds)]
    return rows
