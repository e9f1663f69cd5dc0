"""Looks up the event by whose time a question names its own: "before the trip", "on my birthday"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import Final

from orchestration.dependencies import Deps
from orchestration.graph_queries.execution import QueryRequest, QueryResult, kept_records, run_all
from orchestration.graph_queries.existing_graphs import View
from orchestration.graph_queries.six_queries import Reach, build_graph_query, build_vector_query
from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import Question
from orchestration.question.time_expressions import Event
from orchestration.ranking.candidates import Candidates
from orchestration.ranking.events import find_event_periods
from schemas.memory import GraphKey
from substrate.language.text import words
from substrate.store.filters import EVERY_MEMORY

TELLING: Final = Reach(12, expanded_hits=0, expanded_anchors=0, far=0)
"""How many memories may tell of the event; nothing is followed from them."""


async def with_event_periods(
    question: Question, lexicons: Mapping[GraphKey, Lexicon], view: View, deps: Deps, *, zone: tzinfo
) -> tuple[Question, Sequence[QueryResult]]:
    """The question with the periods that its event stands for, as memories tell, and the results of the lookup.

    The event may be told by a memory that the filters of the question leave out.
    """
    event = question.event
    if event is None or not lexicons:
        return question, ()
    if view.recall is not None:
        return replace(question, periods=(*question.periods, *view.recall.periods)), ()
    embedding = await deps.embedder.embed_query(event.text)
    results = await run_all([*_requests(event, lexicons, view, embedding)])
    candidates = Candidates(known_to=view.scope.known.end, kept=kept_records(results))
    for result in results:
        candidates.add(result.key, result.rows, likeness=result.request.kind == "event_likeness")
    periods = find_event_periods(event, list(candidates.memories.values()), zone)
    return replace(question, periods=(*question.periods, *periods)), results


def _requests(
    event: Event, lexicons: Mapping[GraphKey, Lexicon], view: View, embedding: Sequence[float]
) -> Iterator[QueryRequest]:
    """In each graph the memories that share words with the event, and those that are like it."""
    values = {**view.scope.bounds(), **EVERY_MEMORY}
    spoken = frozenset(words(event.text))
    for level, lexicon in lexicons.items():
        target = view.targets[level]
        frequencies = {word: count for word, count in (lexicon.frequencies or {}).items() if word in spoken}
        own = replace(lexicon, frequencies=frequencies, entities=())
        yield replace(build_graph_query(target, own, values, TELLING), kind="event_words")
        if embedding:
            likest = build_vector_query(target, own, {**values, "embedding": list(embedding)}, TELLING)
            yield replace(likest, kind="event_likeness")
