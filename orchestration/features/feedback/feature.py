"""What a citizen tells of the answers to its questions: taken in, what it teaches now, listed, taken back.

A question is asked again without any feedback, and what that teaches is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final
from uuid import uuid4

from pydantic import Field

from orchestration.dependencies import Deps
from orchestration.feature import Feature
from orchestration.features.feedback import queries as store
from orchestration.ranking.learned import (
    NOTHING_LEARNED,
    Learned,
    Lesson,
    draw_lesson,
    learn,
    learned_factors,
    learned_until,
    question_words,
)
from orchestration.retrieval import rank_candidates
from schemas.base import CitizenId, Frozen, Identifier, Unit
from schemas.errors import Conflict, Fault, InvalidRequest, NotFound, StoreTimeout
from schemas.intention import RetrievalIntention
from schemas.memory import Level
from schemas.mind.feedback import Feedback, FeedbackPage, FeedbackRecord, FeedbackTakenBack
from schemas.operation import Method, Operation, Says, citizen_may, group
from schemas.paging import Paged, decode_cursor, first_page
from schemas.temporal import Instant, Scope, to_datetime
from substrate.connection.errors import GraphMissing
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import reader
from substrate.store.kept import Kept, as_created

MOST_KEPT = 200
"""This many feedbacks of a citizen are kept; the oldest fall out."""
_MAX_TRIES = 16


async def tell(citizen_id: CitizenId, feedback: Feedback, deps: Deps, now: Instant) -> FeedbackRecord:
    """Say which memories answered a question, and which did not: later questions like it go by that.

    The 200 latest of a citizen are kept. `Substrate-Notes` lists what was assumed.

    Raises NotFound for a citizen without a graph, InvalidRequest for ids that are no memories at the levels asked,
    Conflict for a `feedback_id` that said something else. Nothing is changed then.
    """
    graph = await deps.existing_graph(Level.N1, citizen_id)
    name = feedback.feedback_id or uuid4().hex
    pairs = tuple((pair.earlier, pair.later) for pair in feedback.not_changed)
    stored = store.StoredFeedback(name, now, feedback.asked_with(), feedback.used, feedback.wrong, {}, pairs)
    before = _find_before(await store.read_feedback(graph), stored)
    if before is not None:
        return record_of(before)
    await _check_known(citizen_id, feedback, deps)
    lesson = await _ask_again(citizen_id, feedback, deps, now)
    async with deps.learned.turn(graph.name):
        record = await _keep(citizen_id, stored._replace(lesson=stored_lesson(lesson)), graph)
    try:
        await _check_known(citizen_id, feedback, deps)
    except InvalidRequest:
        # A memory was erased meanwhile: nothing that names it may stay.
        await store.take_back(graph, [stored.id], now)
        raise
    return record


async def _keep(citizen_id: str, stored: store.StoredFeedback, graph: Graph) -> FeedbackRecord:
    """Keep the feedback beside those that others keep meanwhile, and drop the oldest of too many."""
    for _ in range(_MAX_TRIES):
        seen = await store.read_feedback_at(graph)
        told = await store.read_feedback(graph)
        before = _find_before(told, stored)
        if before is not None:
            return record_of(before)
        dropped = [one.id for one in told[: max(0, len(told) + 1 - MOST_KEPT)]]
        at = await store.write_feedback(graph, stored, dropped, seen=seen)
        if at is not None:
            return record_of(stored._replace(created_at=at))
    raise Conflict(f"others keep changing the feedback of {citizen_id}", remedy="Try again in a moment.")


def _find_before(told: Sequence[store.StoredFeedback], again: store.StoredFeedback) -> store.StoredFeedback | None:
    """The feedback with the same id that was told before. Raises Conflict when it says something else."""
    before = next((one for one in told if one.id == again.id), None)
    if before is None:
        return None
    if before._replace(created_at=again.created_at, lesson=again.lesson) != again:
        raise Conflict(
            f"feedback {before.id} was told before, and said something else",
            remedy="Take it back first, or give this one another feedback_id.",
        )
    return before


async def _check_known(citizen_id: str, feedback: Feedback, deps: Deps) -> None:
    """Raises InvalidRequest that names each id that is no memory of the levels asked."""
    found = await asyncio.gather(*(deps.graph_if_any(key, citizen_id) for key in feedback.graphs))
    graphs = list(filter(None, found))
    named: dict[str, str] = {}
    for field, given in (("used", feedback.used), ("wrong", feedback.wrong)):
        named |= {f"{field}.{place}": name for place, name in enumerate(given)}
    for place, pair in enumerate(feedback.not_changed):
        named |= {f"not_changed.{place}.earlier": pair.earlier, f"not_changed.{place}.later": pair.later}
    ids = list(named.values())
    known = set().union(*await asyncio.gather(*(reader.read_heads(graph, ids) for graph in graphs)))
    levels = ", ".join(feedback.graphs)
    faults = [f"{at}: there is no memory {name} in {levels}" for at, name in named.items() if name not in known]
    if faults:
        raise InvalidRequest("; ".join(faults), remedy="Give ids as an answer shows them.", faults=faults)


async def _ask_again(citizen_id: str, feedback: Feedback, deps: Deps, now: Instant) -> Lesson:
    """What the answer without any feedback teaches: so a lesson does not depend on those before it."""
    if not (feedback.used or feedback.wrong):
        return Lesson({}, {})
    asked = feedback.model_dump(
        include={"query_text", "query_levels", "collectives", "as_of_time", "known_at"}, exclude_none=True
    )
    intention = RetrievalIntention(citizen_id=citizen_id, **asked)
    ranked = await rank_candidates(intention, deps, now, learned=NOTHING_LEARNED)
    order, parts = ranked.activation.order, ranked.activation.parts
    words = question_words(ranked.extraction.lexicons)
    return draw_lesson(order, parts, words, used=feedback.used, wrong=feedback.wrong)


FeedbackId = Annotated[Identifier, Says("The id of the feedback; percent-encode special characters.")]


NOT_READ = "what feedback taught could not be read in time"
_Weight = Annotated[float, Field(ge=0.0, le=1000.0, allow_inf_nan=False)]
_Pull = Annotated[float, Field(ge=-100.0, le=100.0, allow_inf_nan=False)]


class _StoredLesson(Frozen):
    words: dict[str, _Weight]
    used: dict[str, Unit]
    wrong: tuple[str, ...]
    pull: dict[str, _Pull]


async def read_learned(citizen_id: str, scope: Scope, deps: Deps, *, changed_at: Instant | None = None) -> Learned:
    """What the feedback of a citizen teaches that was told before the known time of the scope ends.

    `changed_at`: when it last changed, where that was read just now.
    A note where it cannot be read in time. Raises StoreMisfit, Unavailable.
    """
    name = graph_name(Level.N1, citizen_id)
    if changed_at is None and not await deps.graphs.for_reading(name):
        return NOTHING_LEARNED
    try:
        if changed_at is None:
            changed_at = await store.read_feedback_at(deps.graph(name))
        if not changed_at:
            return NOTHING_LEARNED
        learned = deps.learned.take(name, changed_at)
        if learned is None:
            learned = await learn_all(deps.graph(name))
            deps.learned.keep(name, changed_at, learned)
    except GraphMissing:
        return NOTHING_LEARNED
    except (StoreTimeout, Fault):
        return Learned(notes=(NOT_READ,))
    return learned_until(learned, scope.known.end)


async def learn_all(graph: Graph) -> Learned:
    return learn(list(map(lesson_of, await store.read_feedback(graph))))


def lesson_of(told: store.StoredFeedback) -> Lesson:
    """The lesson of a stored feedback. Raises pydantic's ValidationError for one that none has."""
    fields = _StoredLesson.model_validate(told.lesson)
    return Lesson(fields.words, fields.used, fields.wrong, fields.pull, told.created_at, told.not_changed)


def stored_lesson(lesson: Lesson) -> dict[str, Any]:
    """The lesson as values of JSON, without its time."""
    weights = {name: dict(getattr(lesson, name)) for name in ("words", "used", "pull")}
    return {**weights, "wrong": list(lesson.wrong)}


def record_of(told: store.StoredFeedback) -> FeedbackRecord:
    """The feedback as the answer shows it. Raises pydantic's ValidationError for one that nobody can tell."""
    pairs = [{"earlier": earlier, "later": later} for earlier, later in told.not_changed]
    said = {**told.question, "used": told.used, "wrong": told.wrong, "not_changed": pairs}
    given = Feedback.model_validate({**said, "feedback_id": told.id})
    fields = given.model_dump(exclude={"feedback_id"})
    return FeedbackRecord(feedback_id=told.id, told_at=to_datetime(told.created_at), **fields)


async def list_feedback(citizen_id: CitizenId, page: Paged, deps: Deps) -> FeedbackPage:
    """What the citizen told, a page at a time, oldest first, and what all of it does to its questions now.

    Raises NotFound for a citizen without a graph, InvalidRequest for an invalid cursor.
    """
    after = (0, "") if page.cursor is None else decode_cursor(page.cursor, int, str)
    told = await store.read_feedback(await deps.existing_graph(Level.N1, citizen_id))
    rest = [one for one in told if (one.created_at, one.id) > after]
    shown, following = first_page(rest, page.limit, lambda one: (one.created_at, one.id))
    return FeedbackPage(
        citizen_id=citizen_id,
        feedback=tuple(map(record_of, shown)),
        learned=learned_factors(learn(list(map(lesson_of, told)))),
        next=following,
    )


async def take_back_one(
    citizen_id: CitizenId, feedback_id: FeedbackId, deps: Deps, now: Instant
) -> FeedbackTakenBack:
    """Take one feedback back: from now on it is as if it had never been told.

    Raises as `take_back`.
    """
    return await take_back(citizen_id, [feedback_id], deps, now)


async def take_back_all(citizen_id: CitizenId, deps: Deps, now: Instant) -> FeedbackTakenBack:
    """Take all feedback of the citizen back: from now on it is as if none had ever been told.

    Raises as `take_back`.
    """
    return await take_back(citizen_id, None, deps, now)


async def take_back(citizen_id: str, ids: Sequence[str] | None, deps: Deps, now: Instant) -> FeedbackTakenBack:
    """Take back these feedbacks, or with None all: from now on it is as if they had never been told.

    Raises NotFound for a citizen without a graph, and when one of the ids is not there: nothing is changed then.
    """
    graph = await deps.existing_graph(Level.N1, citizen_id)
    told = [one.id for one in await store.read_feedback(graph)]
    unknown = [name for name in ids or () if name not in told]
    if unknown:
        raise NotFound(f"{citizen_id} has told no feedback {', '.join(unknown)}")
    chosen = told if ids is None else list(ids)
    taken = await store.take_back(graph, chosen, now) if chosen else 0
    learned = learned_factors(await learn_all(graph))
    return FeedbackTakenBack(citizen_id=citizen_id, taken_back=taken, learned=learned)


def _check(properties: Mapping[str, Any]) -> None:
    feedback = store.feedback_of(properties)
    record_of(feedback)
    lesson_of(feedback)


OPERATIONS: Final = group(
    "citizens",
    Operation("tell_feedback", "POST /v1/citizens/{citizen_id}/feedback", "Say which memories answered a question",
              citizen_may("write", "citizen:ID:write; LEVEL:read for N2 and N3; collective:ID:read", narrows=True),
              tell, status=201, notes=True,
              call=Method(says="Say which memories answered a question (`used`), which did not (`wrong`), and "
                               "what is `not_changed`.", new_id="feedback_id")),
    Operation("list_feedback", "GET /v1/citizens/{citizen_id}/feedback", "List the feedback of a citizen",
              citizen_may("read"), list_feedback,
              call=Method(says="One page of what the citizen told, and the factors now; `cursor` is the `next` "
                               "of the page before.")),
    Operation("take_back_feedback", "DELETE /v1/citizens/{citizen_id}/feedback/{feedback_id:path}",
              "Take one feedback back", citizen_may("write"), take_back_one,
              call=Method(says="Take one feedback back, or without an id all: from now on it is as if it had "
                               "never been told.", once=True)),
    Operation("take_back_all_feedback", "DELETE /v1/citizens/{citizen_id}/feedback",
              "Take all feedback of a citizen back", citizen_may("write"), take_back_all,
              call=Method("take_back_feedback")),
)  # fmt: skip
FEATURE: Final = Feature(
    "feedback", operations=OPERATIONS, sections={"learned": read_learned},
    kept=(Kept("Feedback", "feedback", store.take_back_naming, is_carried=True, check=_check, as_known=as_created,
               stamp="feedback_at"),),
)  # fmt: skip
