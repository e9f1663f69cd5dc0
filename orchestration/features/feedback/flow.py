"""Takes in a citizen's feedback: asks its question again without any feedback, and keeps what that teaches."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import uuid4

from orchestration.dependencies import Deps
from orchestration.features.feedback import queries as store
from orchestration.features.feedback.kept import citizen_graph, record_of, stored_lesson
from orchestration.features.feedback.queries import StoredFeedback
from orchestration.ranking.learned import NOTHING_LEARNED, Lesson, draw_lesson, question_words
from orchestration.retrieval import rank_candidates
from schemas.base import CitizenId
from schemas.errors import Conflict, InvalidRequest
from schemas.intention import RetrievalIntention
from schemas.mind.feedback import Feedback, FeedbackRecord
from schemas.temporal import Instant
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import reader

MOST_KEPT = 200
"""This many feedbacks of a citizen are kept; the oldest fall out."""
_MAX_TRIES = 16


async def tell(citizen_id: CitizenId, feedback: Feedback, deps: Deps, now: Instant) -> FeedbackRecord:
    """Say which memories answered a question, and which did not: later questions like it go by that.

    The 200 latest of a citizen are kept. `Substrate-Notes` lists what was assumed.

    Raises NotFound for a citizen without a graph, InvalidRequest for ids that are no memories at the levels asked,
    Conflict for a `feedback_id` that said something else. Nothing is changed then.
    """
    graph = await citizen_graph(citizen_id, deps)
    name = feedback.feedback_id or uuid4().hex
    pairs = tuple((pair.earlier, pair.later) for pair in feedback.not_changed)
    stored = StoredFeedback(name, now, feedback.asked_with(), feedback.used, feedback.wrong, {}, pairs)
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


async def _keep(citizen_id: str, stored: StoredFeedback, graph: Graph) -> FeedbackRecord:
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


def _find_before(told: Sequence[StoredFeedback], again: StoredFeedback) -> StoredFeedback | None:
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
    names = [graph_name(key, citizen_id) for key in feedback.graphs]
    exists = await asyncio.gather(*map(deps.graphs.for_reading, names))
    graphs = [deps.graph(name) for name, there in zip(names, exists, strict=True) if there]
    named: dict[str, str] = {}
    for field, given in (("used", feedback.used), ("wrong", feedback.wrong)):
        named |= {f"{field}.{place}": name for place, name in enumerate(given)}
    for place, pair in enumerate(feedback.not_changed):
        named |= {f"not_changed.{place}.earlier": pair.earlier, f"not_changed.{place}.later": pair.later}
    ids = list(named.values())
    known = set().union(*await asyncio.gather(*(reader.read_fingerprints(graph, ids) for graph in graphs)))
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
    return draw_lesson(
        ranked.activation.order,
        ranked.activation.parts,
        question_words(ranked.extraction.lexicons),
        used=feedback.used,
        wrong=feedback.wrong,
    )
