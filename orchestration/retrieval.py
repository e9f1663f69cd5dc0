"""Flux 2: an intention in, a consciousness stream out. The only place where the order of stages is written."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from orchestration.appraisal.feelings import read_emotions
from orchestration.assembly.stream import RetrievalReport
from orchestration.dependencies import Deps
from orchestration.entity_extraction import Extraction, extract
from orchestration.graph_queries.execution import QueryResult, collect_candidates, note_unfollowed, run_all
from orchestration.graph_queries.existing_graphs import NO_EMBEDDER, FilterReading, open_view, read_filters
from orchestration.graph_queries.recall import Recall, as_recalled, take_hits, take_words
from orchestration.graph_queries.six_queries import prepare_queries, with_event_periods
from orchestration.identifiers import identifier
from orchestration.kept_streams import KeptStream, Retrieved, StreamPlace, find_place, holds, keep_stream, still_in
from orchestration.mind.energy import Decay
from orchestration.question.reading import Question, read_question
from orchestration.question.tense import Tense
from orchestration.question.time_expressions import NamedPeriod
from orchestration.ranking.activation import Activation, Asker, activate, in_order, with_plurality, with_preference
from orchestration.ranking.candidates import Candidates
from orchestration.ranking.confidence import Evidence, gather_evidence, rate_answer
from orchestration.ranking.consciousness_score import FOCUS, REALITY_PRESSURE
from orchestration.ranking.learned import NOTHING_LEARNED, Learned, learned_factors
from orchestration.ranking.texts import drop_message
from orchestration.reranking import rerank
from orchestration.stream_completion import (
    AddedVersions,
    Asking,
    Ordered,
    StageTimer,
    add_versions,
    complete,
    finish,
    known_scope,
    let_others_run,
    show,
    tells_mind,
    with_mind,
)
from orchestration.traversal.paths import State
from schemas.intention import RetrievalIntention, find_zone
from schemas.language_model import ModelCall
from schemas.memory import Level
from schemas.stream import ConsciousnessStream
from schemas.temporal import Instant, Scope, TemporalMode, to_datetime, to_instant
from substrate.connection.together import together
from substrate.connection.topology import replicas_may_answer
from substrate.emotions import normal_emotions
from substrate.language.text import count_of


@dataclass(frozen=True, slots=True)
class RankedCandidates:
    """The candidates of an intention and their order, with what the queries and models answered on the way.

    `evidence` is that of the ranking by relevance: another order answers the question as well. `forgotten`: how
    often the process had forgotten what it keeps when it began.
    """

    asking: Asking[RetrievalIntention]
    asker: Asker
    extraction: Extraction
    results: Sequence[QueryResult]
    candidates: Candidates
    activation: Activation
    evidence: Evidence
    model_calls: tuple[ModelCall, ...]
    filtered: FilterReading
    event_periods: tuple[NamedPeriod, ...]
    forgotten: int


async def retrieve_consciousness_context(
    intention: RetrievalIntention, deps: Deps, now: Instant, *, recall: Recall | None = None
) -> ConsciousnessStream:
    """The stream for an intention (003, component 7, task 2).

    A level whose graph does not exist is empty; a query that fails or is late is named in `degraded`.
    Raises Unavailable when the engine does not answer at all, StoreMisfit when it holds other embeddings,
    InvalidRequest when it is to be ordered by a model that is not configured. `recall`: what it found when it was
    asked at `now` before; such a stream is not noted and changes no energy.
    """
    return (await retrieve(intention, deps, now, recall=recall)).stream


async def retrieve(
    intention: RetrievalIntention, deps: Deps, now: Instant, *, recall: Recall | None = None
) -> Retrieved:
    """The same, with what is kept of the stream where it was found before (`orchestration.kept_streams`)."""
    may_ask_replicas = deps.connection.servers.reads_replicas and not intention.apply_feedback
    with replicas_may_answer() if may_ask_replicas else nullcontext():
        asking, question = await open_question(intention, deps, now, recall=recall)
        answers = deps.connection.answers
        place = find_place(asking, question)
        kept: KeptStream | None = None if place is None else answers.find(place.question, place.states)
        if place is not None and kept is not None:
            again = await _retrieve_again(kept, asking, place)
            if again is not None:
                answers.hits += 1
                return again
            # Its graphs may have been written to while it was looked at.
            asking, question = await open_question(intention, deps, now, recall=recall)
            place = find_place(asking, question)
        answers.misses += place is not None
        return await _complete_ranked(await _rank(asking, question), place)


async def open_question(
    intention: RetrievalIntention,
    deps: Deps,
    now: Instant,
    *,
    learned: Learned | None = None,
    recall: Recall | None = None,
) -> tuple[Asking[RetrievalIntention], Question]:
    """The graphs that the question asks, and what it says now in the zone of the asker.

    Raises StoreMisfit, Unavailable.

    `learned`: what feedback teaches; None for that of the citizen.
    """
    scope, timer = choose_scope(intention, now), StageTimer()
    view = await open_view(intention.citizen_id, intention.graphs, scope, deps, now=now, recall=recall)
    if learned is None:
        own = view.targets.get(Level.N1)
        changed_at = None if own is None else own.feedback_at
        learned = await deps.features.read(
            "learned", intention.citizen_id, view.scope, deps, changed_at=changed_at
        )
    timer.end("open")
    moment = to_datetime(view.scope.moment(now)).astimezone(find_zone(intention.time_zone))
    asking = Asking(intention, view, deps, timer, learned or NOTHING_LEARNED)
    return asking, read_question(intention.query_text, moment)


def choose_scope(intention: RetrievalIntention, now: Instant) -> Scope:
    """What the question may see on both axes of time."""
    if intention.temporal_mode is TemporalMode.CURRENT:
        return Scope.current(now)
    if intention.temporal_mode is TemporalMode.POINT_IN_TIME:
        return Scope.resolve_datetimes(intention.as_of_time, intention.known_at, now)
    ends = (intention.time_range_start, intention.time_range_end)
    return Scope.history(*(None if end is None else to_instant(end) for end in ends))


async def _retrieve_again(
    kept: KeptStream, asking: Asking[RetrievalIntention], place: StreamPlace
) -> Retrieved | None:
    """The kept stream as the answer to this question; None where it is not, or its graphs changed meanwhile."""
    intention, view, deps = asking.request, asking.view, asking.deps
    if not await holds(kept, view, deps):
        return None
    stream = kept.faded(view.scope.last_moment(view.now), deps)
    if tells_mind(intention):
        stream = await with_mind(stream, asking)
        if not await still_in(view):
            return None
    shown = kept.shown(stream, intention)
    own = {"intention_id": intention.intention_id, "retrieved_at": to_datetime(view.now)}
    asking.timer.end("kept")
    stream = await finish(shown.stream.model_copy(update=own), asking, kept.recalled(view))
    return Retrieved(stream, place, kept, shown, was_kept=True)


async def rank_candidates(
    intention: RetrievalIntention, deps: Deps, now: Instant, *, learned: Learned | None = None
) -> RankedCandidates:
    """From reading the question to the order of the memories that were found. Raises as the whole retrieval.

    `learned`: what feedback teaches; None for that of the citizen.
    """
    return await _rank(*await open_question(intention, deps, now, learned=learned))


async def _rank(asking: Asking[RetrievalIntention], question: Question) -> RankedCandidates:
    """Find, collect, order. Raises as the whole retrieval."""
    intention, view, deps, recall = asking.request, asking.view, asking.deps, asking.view.recall
    forgotten = deps.connection.answers.forgotten
    extraction, filtered = await together(extract(question, view, deps), read_filters(intention.filters, view))
    lexicons, model_calls = extraction.lexicons, extraction.model_calls
    named = len(question.periods)
    question, event_results = await with_event_periods(
        question, lexicons, view, deps, zone=find_zone(intention.time_zone)
    )
    asking.timer.end("embed_and_extract")
    requests = prepare_queries(
        intention, question, lexicons, view, embedding=extraction.embedding, far=deps.far, fewest=filtered.fewest
    )
    emotions = intention.current_emotions
    resonant = normal_emotions(emotions) if emotions else read_emotions(question.text)
    pressure = REALITY_PRESSURE if intention.reality_pressure is None else intention.reality_pressure
    asker = Asker(question, resonant, pressure, State(intention.current_goal, emotions))
    async with deps.connection.questions.turn():
        results = await run_all(as_recalled(requests, recall))
        asking.timer.end("six_queries")
        candidates = collect_candidates(results, lexicons, view.scope.known.end, question.text.strip())
        if intention.conversation is not None:
            running = identifier(intention.conversation)
            drop_message(candidates, running, intention.message_id, question.text)
        activation = activate(candidates, lexicons, asker, deps.channel_weights, learned=asking.learned)
        instructions = activation.instructions
        answers = [score for score in activation.order if score.key not in instructions]
        evidence = gather_evidence(question, candidates, answers, lexicons)
        if intention.prefer is not None:
            activation = with_preference(activation, candidates, intention.prefer)
        if intention.plurality is not None:
            moment = view.scope.moment(view.now)
            activation = with_plurality(activation, candidates.memories, intention.plurality, moment)
    # A model may take seconds: whoever waits for it holds no turn.
    if intention.rerank is not None:
        activation, calls = await rerank(activation, candidates, deps, method=intention.rerank, text=question.text)
        model_calls += calls
    if recall is not None:
        activation = in_order(activation, recall.order)
    return RankedCandidates(
        asking=asking,
        asker=asker,
        extraction=extraction,
        results=[*results, *event_results],
        candidates=candidates,
        activation=activation,
        evidence=evidence,
        model_calls=model_calls,
        filtered=filtered,
        event_periods=question.periods[named:],
        forgotten=forgotten,
    )


async def _complete_ranked(ranked: RankedCandidates, place: StreamPlace | None) -> Retrieved:
    """The stream of what was ranked; it is kept where it may be."""
    asking, candidates, activation = ranked.asking, ranked.candidates, ranked.activation
    view = asking.view
    await let_others_run()
    asking.timer.end("activation")
    async with asking.deps.connection.questions.turn():
        versions = await add_versions(asking, ranked.asker, candidates, activation)
        activation = versions.activation
        if view.recall is not None:
            activation = in_order(activation, view.recall.order)
        asking.timer.end("records")
        hits, words = take_hits(ranked.results), take_words(ranked.extraction.lexicons)
        ordered = Ordered(
            candidates=candidates,
            activation=activation,
            report=build_report(ranked, versions),
            found=Recall(known_scope(view, candidates), hits, words, ranked.event_periods),
        )
        stream = await show(asking, ordered)
        completed = await complete(asking, ordered, stream)
    if place is None:
        return Retrieved(completed.answer)
    return keep_stream(place, KeptStream(completed.found, ordered.found, view.now), completed.answer, asking)


def build_report(ranked: RankedCandidates, versions: AddedVersions) -> RetrievalReport:
    """How the retrieval went: times of its queries, notes, entities, calls of models, how well it answers."""
    intention, view, deps = ranked.asking.request, ranked.asking.view, ranked.asking.deps
    learned, lexicons = ranked.asking.learned, ranked.extraction.lexicons
    answer = rate_answer(ranked.evidence, deps.embedder.model)
    former: list[str] = []  # where a question asks for what was before: how that can be seen
    if ranked.asker.question.tense is Tense.FORMER and intention.temporal_mode is TemporalMode.CURRENT:
        memories, best = ranked.candidates.memories, ranked.activation.order[:FOCUS]
        if revised := sum(memories[score.key].get("version") > 1 for score in best):
            said = f"{count_of(revised, 'memory')} said something else before"
            former.append(f"{said}: ask with temporal_mode full_history")
    return RetrievalReport(
        retrieved_at=to_datetime(view.now),
        timings=[result.timing for result in (*ranked.results, *versions.results)],
        notes=[
            *intention.notes,
            *view.notes,
            *ranked.filtered.notes,
            *(note for level, lexicon in lexicons.items() for note in lexicon.notes(level)),
            *(() if ranked.extraction.embedding else (NO_EMBEDDER,)),
            *(note_unfollowed(ranked.results) if intention.explain else ()),
            *answer.notes,
            *((f"answer_confidence, in log-odds: {answer.why}",) if intention.explain and answer.why else ()),
            *former,
            *versions.notes,
            *learned.notes,
        ],
        entities=[entity.name for lexicon in lexicons.values() for entity in lexicon.entities],
        state=ranked.asker.state,
        model_calls=ranked.model_calls,
        answer=answer,
        learned=learned_factors(learned) if learned.lessons else None,
        decay=Decay(deps.half_lives, view.scope.last_moment(view.now)),
    )
