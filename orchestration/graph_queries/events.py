"""Looks up the event by whose time a question names its own ("before the trip"), and when it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from typing import Final, NamedTuple

from orchestration.dependencies import Deps
from orchestration.graph_queries.execution import QueryRequest, QueryResult, kept_records, run_all
from orchestration.graph_queries.existing_graphs import View
from orchestration.graph_queries.six_queries import Reach, build_graph_query, build_vector_query
from orchestration.question.languages import languages
from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import ASKING, Question
from orchestration.question.time_expressions import Event, NamedPeriod, read_told_times
from orchestration.ranking.candidates import Candidate, Candidates
from orchestration.ranking.texts import MOST_READ_FOR_DAYS as MOST_READ
from schemas.memory import GraphKey
from schemas.temporal import Period, to_datetime, to_instant
from substrate.language.text import stem, stems, words
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


TOLD_BY: Final = 2
"""This many memories that tell best of an event are taken for it."""
LESS_SURE: Final = 0.7
"""What the second of them counts."""
SHARE: Final = 0.5
"""What the share of the event's words that a memory holds counts beside its likeness."""
OWN: Final = 0.1
"""What counts that the asker said it."""
BIRTHDAY: Final = 1.0
"""What counts that a text tells of its speaker's birthday."""
NEAR: Final = timedelta(days=10)
"""What was before or after an event was within so long of it, where the question does not say."""
NEAR_WEIGHT: Final = 0.1
"""How surely such a question means that time: "what did I drive before the van" asks of years."""
_DAY: Final = timedelta(days=1)
_WEEK: Final = timedelta(days=7)


class _Told(NamedTuple):
    fit: float
    memory: Candidate


def find_event_periods(event: Event, memories: Sequence[Candidate], zone: tzinfo) -> tuple[NamedPeriod, ...]:
    """The periods that an event stands for, as the memories tell that are likest to it; days are those of `zone`.

    A memory that names a day ("the wedding was yesterday") tells of an event on that day, any other on its own.
    """
    event_stems = frozenset(map(stem, words(event.text))) & stems(event.text)
    told = [_Told(_fit(memory, event, event_stems), memory) for memory in memories]
    told.sort(key=lambda each: (-each.fit, each.memory.key))
    days = dict.fromkeys(_day(each.memory, zone) for each in told if each.fit > 0.0)
    weights = (1.0, LESS_SURE)
    return tuple(_period(event, day, weight) for day, weight in zip(list(days)[:TOLD_BY], weights, strict=False))


def _fit(memory: Candidate, event: Event, event_stems: frozenset[str]) -> float:
    text = memory.get("description") or ""
    if memory.get("node_type") in ("Session", "Person"):
        return 0.0
    share = len(event_stems & stems(text)) / len(event_stems) if event_stems else 0.0
    own = (memory.get("speaker") or "").lower() in ASKING
    says_birthday = (language.events["birthday"].search(text[:MOST_READ]) for language in languages())
    birthday = event.birthday and own and any(says_birthday)
    return (memory.likeness or 0.0) + SHARE * share + OWN * own + BIRTHDAY * birthday


def _day(memory: Candidate, zone: tzinfo) -> datetime:
    """The day of which a memory tells, at midnight."""
    began = to_datetime(int(memory.get("valid_at"))).astimezone(zone)
    told = read_told_times((memory.get("description") or "")[:MOST_READ], began)
    day = to_datetime(told[0].start).astimezone(zone) if len(told) == 1 else began
    return day.replace(hour=0, minute=0, second=0, microsecond=0)


def _period(event: Event, day: datetime, weight: float) -> NamedPeriod:
    if event.side == "on":
        start, end = day, day + _DAY
    elif event.away is None:
        start, end = (day - NEAR, day + _DAY) if event.side == "before" else (day, day + NEAR)
        weight *= NEAR_WEIGHT
    else:
        start, end = _away(event, day, event.away)
    return NamedPeriod(Period(to_instant(start), to_instant(end)), weight)


def _away(event: Event, day: datetime, away: timedelta) -> tuple[datetime, datetime]:
    """The day so long before or after the event; of a week or more, the whole of it up to the event."""
    if event.side == "before":
        return (day - away, day) if away >= _WEEK else (day - away, day - away + _DAY)
    return (day, day + away + _DAY) if away >= _WEEK else (day + away, day + away + _DAY)
