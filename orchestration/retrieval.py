"""Flux 2: an intention in, a consciousness stream out. The only place where the order of stages is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from orchestration.appraisal.feelings import read_emotions
from orchestration.assembly.stream import RetrievalReport, assemble, intention_options
from orchestration.dependencies import Deps
from orchestration.entity_extraction import Extraction, extract
from orchestration.graph_queries.events import with_event_periods
from orchestration.graph_queries.execution import QueryResult, collect_candidates, note_unfollowed, run_all
from orchestration.graph_queries.existing_graphs import NO_EMBEDDER, View, open_view
from orchestration.graph_queries.filters import FilterReading, read_filters
from orchestration.graph_queries.recall import Recall, as_recalled, take_hits, take_words
from orchestration.graph_queries.six_queries import prepare_queries
from orchestration.identifiers import identifier
from orchestration.kept_streams import (
    KeptStream,
    Place,
    Retrieved,
    find_place,
    holds,
    keep_stream,
    still_in,
)
from orchestration.mind.decay import Decay
from orchestration.question.reading import Question, read_question
from orchestration.question.tense import Tense
from orchestration.question.time_expressions import NamedPeriod
from orchestration.ranking.activation import Activation, Asker, activate, in_order, with_preference
from orchestration.ranking.candidates import Candidates
from orchestration.ranking.confidence import Evidence, gather_evidence, rate_answer
from orchestration.ranking.consciousness_score import FOCUS, REALITY_PRESSURE
from orchestration.ranking.learned import NOTHING_LEARNED, Learned, learned_factors
from orchestration.ranking.plurality import with_plurality
from orchestration.ranking.texts import drop_message
from orchestration.reranking import rerank
from orchestration.stream_completion import (
    AddedVersions,
    StageTimer,
    add_versions,
    complete,
    finish,
    known_scope,
    let_others_run,
    read_contested,
    read_on_mind,
    tells_mind,
    with_mind,
)
from orchestration.traversal.probability import State
from schemas.intention import RetrievalIntention, find_zone
from schemas.language_model import ModelCall
from schemas.memory import Level
from schemas.stream import ConsciousnessStream
from schemas.temporal import Instant, Scope, TemporalMode, to_datetime, to_instant
from substrate.connection.together import together
from substrate.emotions import normal_emotions
from substrate.language.text import count_of


class Asking(NamedTuple):
    """A question as it is asked at a moment. `learned`: from the feedback of the citizen, or what was given."""

    view: View
    question: Question
    learned: Learned
    timer: StageTimer


class RankedCandidates(NamedTuple):
    """The candidates of an intention and their order, with what the queries and models answered on the way.

    `evidence` is that of the ranking by relevance: another order answers the question as well. `learned`: from the
    feedback of the citizen. `forgotten`: how often the process had forgotten what it keeps when it began.
    """

    view: View
    asker: Asker
    extraction: Extraction
    results: Sequence[QueryResult]
    candidates: Candidates
    activation: Activation
    evidence: Evidence
    model_calls: tuple[ModelCall, ...]
    timer: StageTimer
    filtered: FilterReading
    learned: Learned = NOTHING_LEARNED
    event_periods: tuple[NamedPeriod, ...] = ()
    forgotten: int = 0


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
    asking = await open_question(intention, deps, now, recall=recall)
    answers = deps.connection.answers
    place = find_place(intention, asking.question, asking.view, deps, learned=asking.learned)
    kept: KeptStream | None = None if place is None else answers.find(place.question, place.states)
    if place is not None and kept is not None:
        again = await _retrieve_again(kept, asking, intention, deps, place=place)
        if again is not None:
            answers.hits += 1
            return again
        # Its graphs may have been written to while it was looked at.
        asking = await open_question(intention, deps, now, recall=recall)
        place = find_place(intention, asking.question, asking.view, deps, learned=asking.learned)
    answers.misses += place is not None
    return await _complete_ranked(await _rank(asking, intention, deps), intention, deps, place)


async def _retrieve_again(
    kept: KeptStream, asking: Asking, intention: RetrievalIntention, deps: Deps, *, place: Place
) -> Retrieved | None:
    """The kept stream as the answer to this question; None where it is not, or its graphs changed meanwhile."""
    view, timer = asking.view, asking.timer
    if not await holds(kept, view, deps):
        return None
    stream = kept.faded(view.scope.last_moment(view.now), deps)
    if tells_mind(intention):
        stream = await with_mind(stream, intention, view, deps)
        if not await still_in(view):
            return None
    shown = kept.shown(stream, intention)
    own = {"intention_id": intention.intention_id, "retrieved_at": to_datetime(view.now)}
    stream, found = shown.stream.model_copy(update=own), kept.recalled(view)
    timer.end("kept")
    stream = await finish(stream, intention, view, deps, timer=timer, found=found, learned=kept.learned)
    return Retrieved(stream, place, kept, shown, was_kept=True)


async def _complete_ranked(
    ranked: RankedCandidates, intention: RetrievalIntention, deps: Deps, place: Place | None
) -> Retrieved:
    """The stream of what was ranked; it is kept where it may be."""
    view, candidates, timer, recall = ranked.view, ranked.candidates, ranked.timer, ranked.view.recall
    await let_others_run()
    timer.end("activation")
    async with deps.connection.questions.turn():
        versions = await add_versions(intention, ranked.asker, candidates, ranked.activation, view=view)
        if recall is not None:
            versions = versions._replace(activation=in_order(versions.activation, recall.order))
        timer.end("records")
        on_mind = await read_on_mind(intention, versions.activation, view)
        contested = await read_contested(intention, candidates, versions.activation, view, deps=deps)
        report = build_report(intention, ranked, versions, deps)
        if on_mind or contested:
            report = replace(report, on_mind=on_mind, contested=contested)
        stream = assemble(intention_options(intention), candidates, versions.activation, report)
        await let_others_run()
        timer.end("assembly")
        hits, words = take_hits(ranked.results), take_words(ranked.extraction.lexicons)
        found = Recall(known_scope(view, candidates), hits, words, ranked.event_periods)
        learned, links = ranked.learned, candidates.links.values()
        completed = await complete(
            stream, intention, view, deps, timer=timer, found=found, learned=learned, links=links
        )
    answer = completed.answer
    if place is None:
        return Retrieved(answer)
    kept = KeptStream(completed.found, found, learned, view.now)
    return keep_stream(place, kept, answer, intention, deps=deps)


async def rank_candidates(
    intention: RetrievalIntention,
    deps: Deps,
    now: Instant,
    *,
    learned: Learned | None = None,
    recall: Recall | None = None,
) -> RankedCandidates:
    """From reading the question to the order of the memories that were found. Raises as the whole retrieval.

    `learned`: what feedback teaches; None for that of the citizen.
    """
    asking = await open_question(intention, deps, now, learned=learned, recall=recall)
    return await _rank(asking, intention, deps)


async def open_question(
    intention: RetrievalIntention,
    deps: Deps,
    now: Instant,
    *,
    learned: Learned | None = None,
    recall: Recall | None = None,
) -> Asking:
    """The question as it is asked now, and the graphs that it asks. Raises StoreMisfit, Unavailable."""
    scope, timer = choose_scope(intention, now) if recall is None else recall.scope, StageTimer()
    view = await open_view(intention.citizen_id, intention.graphs, scope, deps, now=now)
    view = view._replace(recall=recall)
    if learned is None:
        own = view.targets.get(Level.N1)
        changed_at = None if own is None else own.feedback_at
        learned = await deps.features.read("learned", intention.citizen_id, scope, deps, changed_at=changed_at)
    timer.end("open")
    moment = to_datetime(scope.moment(now)).astimezone(find_zone(intention.time_zone))
    return Asking(view, read_question(intention.query_text, moment), learned or NOTHING_LEARNED, timer)


async def _rank(asking: Asking, intention: RetrievalIntention, deps: Deps) -> RankedCandidates:
    """The order of the memories that were found. Raises as the whole retrieval."""
    view, question, learned, timer = asking
    scope, recall = view.scope, view.recall
    moment, zone = scope.moment(view.now), find_zone(intention.time_zone)
    forgotten = deps.connection.answers.forgotten
    extraction, filtered = await together(extract(question, view, deps), read_filters(intention.filters, view))
    lexicons, model_calls = extraction.lexicons, extraction.model_calls
    named = len(question.periods)
    question, event_results = await with_event_periods(question, lexicons, view, deps, zone=zone)
    timer.end("embed_and_extract")
    requests = prepare_queries(
        intention, question, lexicons, view, embedding=extraction.embedding, far=deps.far, fewest=filtered.fewest
    )
    emotions = intention.current_emotions
    resonant = normal_emotions(emotions) if emotions else read_emotions(question.text)
    pressure = REALITY_PRESSURE if intention.reality_pressure is None else intention.reality_pressure
    asker = Asker(question, resonant, pressure, State(intention.current_goal, emotions))
    async with deps.connection.questions.turn():
        results = await run_all(as_recalled(requests, recall))
        timer.end("six_queries")
        candidates = collect_candidates(results, lexicons, scope.known.end, question.text.strip())
        if intention.conversation is not None:
            running = identifier(intention.conversation)
            drop_message(candidates, running, intention.message_id, question.text)
        activation = activate(candidates, lexicons, asker, deps.channel_weights, learned=learned)
        instructions = activation.instructions
        answers = [score for score in activation.order if score.key not in instructions]
        evidence = gather_evidence(question, candidates, answers, lexicons)
        activation = with_preference(activation, candidates, intention.prefer)
        if intention.plurality is not None:
            activation = with_plurality(activation, candidates.memories, intention.plurality, moment)
    # A model may take seconds: whoever waits for it holds no turn.
    if intention.rerank is not None:
        activation, calls = await rerank(activation, candidates, deps, method=intention.rerank, text=question.text)
        model_calls += calls
    if recall is not None:
        activation = in_order(activation, recall.order)
    return RankedCandidates(
        view,
        asker,
        extraction,
        [*results, *event_results],
        candidates,
        activation,
        evidence,
        model_calls,
        timer,
        filtered,
        learned,
        question.periods[named:],
        forgotten,
    )


def choose_scope(intention: RetrievalIntention, now: Instant) -> Scope:
    """What the question may see on both axes of time."""
    if intention.temporal_mode is TemporalMode.CURRENT:
        return Scope.current(now)
    if intention.temporal_mode is TemporalMode.POINT_IN_TIME:
        return Scope.resolve_datetimes(intention.as_of_time, intention.known_at, now)
    ends = (intention.time_range_start, intention.time_range_end)
    return Scope.history(*(None if end is None else to_instant(end) for end in ends))


def _note_former(ranked: RankedCandidates, mode: TemporalMode) -> Iterator[str]:
    """Where a question asks for what was before: how its best memories can be seen as they were."""
    if ranked.asker.question.tense is Tense.FORMER and mode is TemporalMode.CURRENT:
        best = [score.key for score in ranked.activation.order[:FOCUS]]
        revised = sum(ranked.candidates.memories[key].get("version") > 1 for key in best)
        if revised:
            yield f"{count_of(revised, 'memory')} said something else before: ask with temporal_mode full_history"


def build_report(
    intention: RetrievalIntention, ranked: RankedCandidates, versions: AddedVersions, deps: Deps
) -> RetrievalReport:
    """How the retrieval went: times of its queries, notes, entities, calls of models, how well it answers."""
    lexicons, answer = ranked.extraction.lexicons, rate_answer(ranked.evidence, deps.embedder.model)
    return RetrievalReport(
        retrieved_at=to_datetime(ranked.view.now),
        timings=[result.timing for result in (*ranked.results, *versions.results)],
        notes=[
            *intention.notes,
            *ranked.view.notes,
            *ranked.filtered.notes,
            *(note for level, lexicon in lexicons.items() for note in lexicon.notes(level)),
            *(() if ranked.extraction.embedding else (NO_EMBEDDER,)),
            *(note_unfollowed(ranked.results) if intention.explain else ()),
            *answer.notes,
            *_note_former(ranked, intention.temporal_mode),
            *versions.notes,
            *ranked.learned.notes,
        ],
        entities=[entity.name for lexicon in lexicons.values() for entity in lexicon.entities],
        model_calls=ranked.model_calls,
        answer=answer,
        learned=learned_factors(ranked.learned) if ranked.learned.lessons else None,
        decay=Decay(deps.half_lives, ranked.view.scope.last_moment(ranked.view.now)),
    )
