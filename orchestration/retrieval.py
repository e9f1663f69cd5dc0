"""Flux 2: an intention in, a consciousness stream out. The only place where the order of stages is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestration.assembly.options import intention_options
from orchestration.assembly.stream import RetrievalReport, assemble
from orchestration.dependencies import Deps
from orchestration.entity_extraction import Extraction, extract
from orchestration.graph_queries import six_queries
from orchestration.graph_queries.execution import QueryRequest, QueryResult, run_all
from orchestration.graph_queries.existing_graphs import NO_EMBEDDER, View, open_view
from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import Question, read_question
from orchestration.ranking.activation import Asker, activate
from orchestration.ranking.candidates import Candidates
from orchestration.ranking.plurality import with_plurality
from orchestration.reranking import rerank
from orchestration.stream_completion import (
    AddedVersions,
    Feedback,
    StageTimer,
    add_versions,
    complete,
    let_others_run,
)
from schemas.errors import Unavailable
from schemas.intention import RetrievalIntention
from schemas.language_model import ModelCall
from schemas.memory import Level
from schemas.stream import ConsciousnessStream
from schemas.temporal import Instant, to_datetime


async def retrieve_consciousness_context(
    intention: RetrievalIntention, deps: Deps, now: Instant
) -> ConsciousnessStream:
    """The stream for an intention (003, component 7, task 2).

    A level whose graph does not exist is empty; a query that fails or is late is named in `degraded`.
    Raises Unavailable when the engine does not answer at all, StoreMisfit when it holds other embeddings,
    InvalidRequest when it is to be ordered by a model that is not configured.
    """
    timer = StageTimer()
    scope = six_queries.choose_scope(intention, now)
    view = await open_view(intention.citizen_id, intention.query_levels, scope, deps, now=now)
    timer.end("open")
    question = read_question(intention.query_text, to_datetime(view.moment))
    extraction = await extract(question.text, view, deps)
    timer.end("embed_and_extract")
    requests = await prepare_queries(intention, question, extraction, view, far=deps.far)
    asker = build_asker(intention, question)
    async with deps.connection.questions.turn():
        results = await run_all(requests)
        timer.end("six_queries")
        candidates = collect_candidates(results, extraction.lexicons, view)
        activation = activate(candidates, extraction.lexicons, asker, deps.channel_weights)
        if intention.plurality is not None:
            activation = with_plurality(activation, candidates.memories, intention.plurality, view.moment)
    # A model may take seconds: whoever waits for it holds no turn.
    activation, model_calls = await rerank(intention, activation, candidates, deps)
    await let_others_run()
    timer.end("activation")
    async with deps.connection.questions.turn():
        versions = await add_versions(intention, asker, candidates, activation, view=view)
        timer.end("records")
        report = build_report(intention, view, extraction, results, versions=versions, model_calls=model_calls)
        stream = assemble(intention_options(intention), candidates, versions.activation, report)
        await let_others_run()
        timer.end("assembly")
        feedback = Feedback(intention.current_energy) if intention.apply_feedback else None
        return await complete(stream, view, deps, timer=timer, feedback=feedback)


async def prepare_queries(
    intention: RetrievalIntention, question: Question, extraction: Extraction, view: View, *, far: int
) -> list[QueryRequest]:
    """The queries of an intention. Reads first which label of its filters is the rarest in each graph."""
    embedding, limit = extraction.embedding, intention.max_results_per_level
    reach = six_queries.choose_reach(question, limit, far, by_words_alone=not embedding)
    labels = await six_queries.find_rarest_labels(intention.filters, view)
    return six_queries.build_queries(
        intention, view, extraction.lexicons, reach, embedding=embedding, labels=labels
    )


def build_asker(intention: RetrievalIntention, question: Question) -> Asker:
    """The asker, as ranking needs it."""
    return Asker(
        intention.query_text,
        intention.current_emotions,
        intention.reality_pressure,
        question,
        intention.current_goal,
    )


def collect_candidates(
    results: Sequence[QueryResult], lexicons: Mapping[Level, Lexicon], view: View
) -> Candidates:
    """The rows of all results, each memory and link once. Raises Unavailable when every query failed."""
    if results and all(result.timing.failure for result in results):
        raise Unavailable("none of the six queries was answered", remedy="Try again in a moment.")
    candidates = Candidates(known_to=view.scope.known.end)
    for result in results:
        kind = result.request.kind
        named = {entity.id for entity in lexicons[result.level].entities} if kind == "graph" else ()
        candidates.add(result.level, result.rows, likeness=kind == "vector", named=named)
    return candidates


def build_report(
    intention: RetrievalIntention,
    view: View,
    extraction: Extraction,
    results: Sequence[QueryResult],
    *,
    versions: AddedVersions,
    model_calls: Sequence[ModelCall],
) -> RetrievalReport:
    """How the retrieval went: times of its queries, notes, entities, calls of models."""
    lexicons = extraction.lexicons
    return RetrievalReport(
        retrieved_at=to_datetime(view.now),
        timings=[result.timing for result in (*results, *versions.results)],
        notes=[
            *intention.notes,
            *view.notes,
            *(note for level, lexicon in lexicons.items() for note in lexicon.notes(level)),
            *(() if extraction.embedding else (NO_EMBEDDER,)),
            *six_queries.note_unfollowed(results),
            *versions.notes,
        ],
        entities=[entity.name for lexicon in lexicons.values() for entity in lexicon.entities],
        model_calls=(*extraction.model_calls, *model_calls),
    )
