"""Flux 2: an intention in, a consciousness stream out. The only place where the order of stages is written."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from orchestration.assembly.options import of_intention
from orchestration.assembly.stream import Account, assemble
from orchestration.dependencies import Deps
from orchestration.entity_extraction import look_up_words, suggest, with_suggested
from orchestration.graph_queries import plural_pools, six_queries
from orchestration.graph_queries.execution import QueryRequest, run_all
from orchestration.graph_queries.existing_graphs import NO_EMBEDDER, View, open_view
from orchestration.graph_queries.six_queries import MIN_POOL, Reach
from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import Question, read, without_names
from orchestration.ranking.activation import Asker, activate
from orchestration.ranking.candidates import Candidates
from orchestration.ranking.channels import ChannelWeights
from orchestration.ranking.plurality import lifted
from orchestration.reranking import rerank
from orchestration.stream_completion import ActsOn, Stages, completed, others
from orchestration.versions import with_versions
from orchestration.writing.records import tag_names
from schemas.errors import Fault, StoreTimeout, Unavailable
from schemas.intention import RetrievalIntention
from schemas.memory import Level
from schemas.stream import ConsciousnessStream
from schemas.temporal import Instant, Scope, to_datetime, to_instant
from substrate.cypher.filters import Narrow
from substrate.graphs.graph import Graph
from substrate.store import reader

_INSTANTS = ("as_of_time", "known_at", "time_range_start", "time_range_end")


async def retrieve_consciousness_context(
    intention: RetrievalIntention, deps: Deps, now: Instant
) -> ConsciousnessStream:
    """The stream for an intention (003, component 7, task 2).

    A level whose graph does not exist is empty; a query that fails or is late is named in `degraded`.
    Raises Unavailable when the engine does not answer at all, StoreMisfit when it holds other embeddings,
    InvalidRequest when it is to be ordered by a model that is not configured.
    """
    stages = Stages()
    view = await view_of(intention, deps, now)
    stages.end("open")
    question = read(intention.query_text, to_datetime(view.moment))
    (lexicons, embedding), suggestion = await asyncio.gather(
        look_up_and_embed(question, view, deps), suggest(intention.query_text, view, deps)
    )
    lexicons = await with_suggested(lexicons, suggestion, view)
    stages.end("embed_and_extract")
    reach = reach_of(intention, question, embedding, deps)
    narrow = await narrowed(intention, view)
    requests = six(intention, (lexicons, narrow), embedding, view, reach)
    asker = asker_of(intention, question)
    async with deps.connection.questions.turn():
        results = await run_all(requests)
        stages.end("six_queries")
        if results and all(result.timing.failure for result in results):
            raise Unavailable("none of the six queries was answered", remedy="Try again in a moment.")
        found = Candidates(known_to=view.scope.known.end)
        for result in results:
            found.add(result.level, result.rows, likeness=result.request.kind == "vector")
        activation = activate(found, lexicons, asker, deps.channel_weights)
        if intention.plurality is not None:
            activation = lifted(activation, found.memories, intention.plurality, view.moment)
    # A model may take seconds: whoever waits for it holds no turn.
    activation, reranking = await rerank(intention, activation, found, deps)
    await others()
    stages.end("activation")
    async with deps.connection.questions.turn():
        where = (view.targets, six_queries.shared_values(intention, view.scope))
        whole = await with_versions(intention, asker, (found, activation), where)
        stages.end("records")
        account = Account(
            retrieved_at=to_datetime(now),
            timings=[result.timing for result in (*results, *whole.results)],
            notes=[
                *_notes(intention, view, lexicons),
                *([] if embedding else [NO_EMBEDDER]),
                *six_queries.unfollowed(results),
                *whole.notes,
            ],
            entities=[entity.name for lexicon in lexicons.values() for entity in lexicon.entities],
            model_calls=(*suggestion.calls, *reranking),
        )
        stream = assemble(of_intention(intention), found, whole.activation, account)
        await others()
        stages.end("assembly")
        acts_on = ActsOn(intention.current_energy) if intention.apply_feedback else None
        return await completed(stream, (view, deps), stages, acts_on)


async def view_of(intention: RetrievalIntention, deps: Deps, now: Instant) -> View:
    """How the intention sees the graphs of its levels."""
    return await open_view(intention.citizen_id, intention.query_levels, _scope(intention, now), deps, now=now)


def asker_of(intention: RetrievalIntention, question: Question) -> Asker:
    """Who asks: the intention as activation needs it."""
    return Asker(
        intention.query_text,
        intention.current_emotions,
        intention.reality_pressure,
        question,
        intention.current_goal,
    )


async def look_up_and_embed(
    question: Question, view: View, deps: Deps
) -> tuple[dict[Level, Lexicon], list[float]]:
    """What each graph knows of the words, and the embedding of the question, which depends on it."""
    lexicons = await look_up_words(question.text, view)
    return lexicons, await deps.embedder.embed_query(likened(question, lexicons, deps.channel_weights))


def likened(question: Question, lexicons: Mapping[Level, Lexicon], weights: ChannelWeights) -> str:
    """The text to which memories are likened: the question without the names of those who speak.

    A turn says much about its content and, by its speaker, little: who spoke is known exactly.
    """
    names = {name for lexicon in lexicons.values() for name in lexicon.speakers()}
    return without_names(question.text, names if weights.named_apart else ())


def reach_of(intention: RetrievalIntention, question: Question, embedding: Sequence[float], deps: Deps) -> Reach:
    """How far the queries of an intention look."""
    pool = max(MIN_POOL, 2 * intention.max_results_per_level)
    return replace(six_queries.reach(question, pool, by_words_alone=not embedding), far=deps.far)


async def narrowed(intention: RetrievalIntention, view: View) -> dict[Level, Narrow]:
    """In each graph the rarest label that the filters of the intention demand; none where it was not to be had."""
    filters = intention.filters
    names = [] if filters is None else tag_names(filters.tags, filters.buckets)
    if not names:
        return {}

    async def rarest(graph: Graph) -> Narrow | None:
        try:
            return await reader.rarest_label(graph, names)
        except (StoreTimeout, Fault):
            return None

    labels = await asyncio.gather(*(rarest(target.graph) for target in view.targets.values()))
    return {level: label for level, label in zip(view.targets, labels, strict=True) if label is not None}


def six(
    intention: RetrievalIntention,
    known: tuple[Mapping[Level, Lexicon], Mapping[Level, Narrow]],
    embedding: Sequence[float],
    view: View,
    reach: Reach,
) -> list[QueryRequest]:
    """The queries of an intention: two for each graph that exists, one where there is no embedding.

    One more where plurality is asked for. `known` of each graph: its words, and the label to which it is narrowed.
    """
    lexicons, narrow = known
    shared = six_queries.shared_values(intention, view.scope)
    requests = []
    for level, lexicon in lexicons.items():
        target = view.targets[level]
        if embedding:
            alike = {**shared, "embedding": list(embedding)}
            requests.append(six_queries.vector_query(target, lexicon, alike, reach, narrow.get(level)))
        requests.append(six_queries.graph_query(target, lexicon, shared, reach))
        words = six_queries.telling_words(lexicon)
        requests += plural_pools.pools(intention, target, words, shared, view.moment)
    return requests


def _scope(intention: RetrievalIntention, now: Instant) -> Scope:
    instants = {name: _instant(getattr(intention, name)) for name in _INSTANTS}
    return six_queries.scope_of(intention, instants, now)


def _instant(moment: object) -> Instant | None:
    return None if moment is None else to_instant(moment)  # type: ignore[arg-type]  # a datetime field


def _notes(intention: RetrievalIntention, view: View, lexicons: Mapping[Level, Lexicon]) -> list[str]:
    notes = list(intention.notes)
    if Level.N1 in intention.query_levels and Level.N1 not in view.targets:
        notes.append(f"citizen {intention.citizen_id} is not known here: nothing was remembered for it yet")
    return notes + [note for level, lexicon in lexicons.items() for note in lexicon.notes(level)]
