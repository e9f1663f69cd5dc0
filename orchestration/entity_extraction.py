"""What the graphs know of a question: its words, and the memories that it names (003, task 3).

Names are found by words; a language model, when one is configured, may add names and never takes any away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from orchestration.dependencies import Deps
from orchestration.graph_queries.existing_graphs import View
from orchestration.graph_queries.recall import recalled_lexicon
from orchestration.question import lexicon as entity_prompt
from orchestration.question.lexicon import (
    Entity,
    Lexicon,
    build_fuzzy_queries,
    build_lexicon,
    build_name_queries,
    embedding_text,
    find_named,
    list_phrases,
    match_names,
)
from orchestration.question.reading import Question
from schemas.errors import Fault, StoreTimeout
from schemas.language_model import ModelCall
from schemas.memory import GraphKey
from substrate.connection.errors import GraphMissing
from substrate.connection.kept import Reads
from substrate.connection.together import together
from substrate.graphs.graph import UNKEPT, Graph
from substrate.inference.language import ModelRequest
from substrate.language.languages import DEFAULT_LANGUAGE
from substrate.language.text import query_words, search_form, word_language
from substrate.store.lexicon import LexiconRows, look_up
from substrate.store.vocabulary import Vocabulary, merge_vocabularies, read_vocabulary


class Extraction(NamedTuple):
    """A lexicon for each graph, the embedding of the question, and the calls of the language model.

    `embedding` is empty when no embedder is configured.
    """

    lexicons: Mapping[GraphKey, Lexicon]
    embedding: list[float]
    model_calls: tuple[ModelCall, ...] = ()


class Suggestion(NamedTuple):
    """The names that a language model finds in a question, and its call; nothing when there is no model to ask."""

    names: tuple[str, ...] = ()
    calls: tuple[ModelCall, ...] = ()


async def extract(question: Question, view: View, deps: Deps) -> Extraction:
    """Look the words of a question up in each graph, embed it, and add the names that a language model finds.

    Words and embedding are those of its content: the day on which something was said is no word of it.

    Raises Unavailable when the engine or the embedder does not answer.
    """
    (lexicons, embedding), suggestion = await together(
        _look_up_and_embed(question, view, deps), suggest_names(question.text, view, deps)
    )
    if suggestion.names:
        lexicons = await add_suggested(lexicons, suggestion.names, view)
    return Extraction(lexicons, embedding, suggestion.calls)


async def _look_up_and_embed(
    question: Question, view: View, deps: Deps
) -> tuple[dict[GraphKey, Lexicon], list[float]]:
    """Which names are left out of the embedding depends on the lexicons."""
    lexicons = await look_up_lexicons(question.text, view, content=question.content)
    apart = lexicons.values() if deps.channel_weights.named_apart else ()
    return lexicons, await deps.embedder.embed_query(embedding_text(question.content, apart))


async def look_up_lexicons(text: str, view: View, *, content: str | None = None) -> dict[GraphKey, Lexicon]:
    """The lexicon of each graph of the view. Names are looked for in the text, words in its `content`."""
    language = word_language(text)
    words = query_words(text if content is None else content, language)
    lookups = (
        look_up_lexicon(target.graph, text, words, past=target.past, language=language, reads=target.reads)
        for target in view.targets.values()
    )
    lexicons = dict(zip(view.targets, await together(*lookups), strict=True))
    if view.recall is None:
        return lexicons
    then = view.recall.words
    return {key: recalled_lexicon(lexicon, then.get(key)) for key, lexicon in lexicons.items()}


async def look_up_lexicon(
    graph: Graph,
    text: str,
    words: Sequence[str],
    *,
    past: bool,
    language: str = DEFAULT_LANGUAGE,
    reads: Reads = UNKEPT,
) -> Lexicon:
    """The lexicon of one graph; a fallback when the lookup failed or was late, so that likeness carries the level.

    `reads`: what is kept of the graph.

    Raises Unavailable when the engine does not answer.
    """
    try:
        rows = await _look_up_rows(graph, text, words, past=past, language=language, reads=reads)
    except GraphMissing:
        return Lexicon()
    except (StoreTimeout, Fault):
        return replace(Lexicon.fallback(words), language=language)
    return replace(build_lexicon(rows, text), language=language)


async def _look_up_rows(
    graph: Graph,
    text: str,
    words: Sequence[str],
    *,
    past: bool,
    language: str = DEFAULT_LANGUAGE,
    reads: Reads = UNKEPT,
) -> LexiconRows:
    """Only for words that the graph does not hold it is asked again: for names that sound alike."""
    phrases, queries = list_phrases(text), build_name_queries(words)
    forms = {word: search_form(word, language) for word in words}
    searched = list(dict.fromkeys(forms.values()))
    rows = await look_up(graph, words=searched, phrases=phrases, name_queries=queries, past=past, reads=reads)
    rows = rows._replace(
        records={word: rows.records[form] for word, form in forms.items() if form in rows.records},
        past_records={word: rows.past_records[form] for word, form in forms.items() if form in rows.past_records},
    )
    unknown = [word for word in words if not rows.records.get(word) and not rows.past_records.get(word)]
    if queries := build_fuzzy_queries(unknown, text):
        more = await look_up(graph, words=(), phrases=(), name_queries=queries, past=past, reads=reads)
        return rows._replace(names=rows.names + more.names)
    return rows


async def suggest_names(text: str, view: View, deps: Deps) -> Suggestion:
    """Ask the language model, if there is one, which names the question means; no longer than its deadline."""
    model = deps.language_model
    if model is None or not model.question_seconds or not view.targets or view.recall is not None:
        return Suggestion()
    kinds = await together(*(_read_vocabulary(target.graph) for target in view.targets.values()))
    question = ModelRequest(
        "entities", entity_prompt.build_messages(text, merge_vocabularies(kinds)), model.question_seconds
    )
    value, call = await model.ask(question, entity_prompt.Names)
    names = () if value is None else tuple(dict.fromkeys(value.entities))[: entity_prompt.MAX_NAMES]
    return Suggestion(names, (call,))


async def _read_vocabulary(graph: Graph) -> Vocabulary:
    """The kinds of memories and links in a graph; none when the read failed or was late."""
    try:
        return await read_vocabulary(graph)
    except (StoreTimeout, Fault):
        return Vocabulary()


async def add_suggested(
    lexicons: dict[GraphKey, Lexicon], names: Sequence[str], view: View
) -> dict[GraphKey, Lexicon]:
    """The lexicons with the memories that these names mean; a name that no memory has means nothing."""
    targets = [view.targets[level] for level in lexicons]
    entities = await together(*(find_similar_names(names, target.graph, past=target.past) for target in targets))
    found: dict[GraphKey, Lexicon] = {}
    for (level, lexicon), more in zip(lexicons.items(), entities, strict=True):
        known = lexicon.all_named()
        ids = {entity.id for entity in known}
        found[level] = lexicon.with_named((*known, *(entity for entity in more if entity.id not in ids)))
    return found


async def find_similar_names(names: Sequence[str], graph: Graph, *, past: bool) -> tuple[Entity, ...]:
    """The memories of a graph that the names mean, up to spelling; none when the lookup failed or was late."""
    text = " ".join(names)
    try:
        rows = await _look_up_rows(graph, text, query_words(text), past=past)
    except (GraphMissing, StoreTimeout, Fault):
        return ()
    return match_names(rows.names, names)


async def find_exact_name(name: str, node_type: str, graph: Graph) -> str | None:
    """The id of the memory of a graph that has exactly this name, or alias, and this type; None when none has.

    Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    rows = await _look_up_rows(graph, name, query_words(name), past=False)
    return find_named(rows.names, name, node_type)
