"""The other records of what a question found, in the modes that show history: a change has two sides (003, 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from orchestration.assembly.levels import select
from orchestration.graph_queries.execution import QueryRequest, QueryResult, run_all
from orchestration.mind.dissonance import HISTORICAL
from orchestration.ranking import consciousness_score
from orchestration.ranking.activation import Activation, Asker
from orchestration.ranking.candidates import Candidates, Key
from schemas.intention import RetrievalIntention
from schemas.memory import Level
from schemas.temporal import END_OF_TIME
from substrate.graphs.graph import GraphTarget
from substrate.store.search import RECORDS_OF, RecordRow, read_records

MOST_OF_ONE: Final = 50
"""Records of one memory that come along: those next to the ones found, then the newest."""
MOST_OF_ALL: Final = 500
"""Records of one level that come along: of each memory the first before the second of any."""
MOST_NAMED: Final = 3


class Whole(NamedTuple):
    """The activation with what came along at its end, how the queries went, and what was left out."""

    activation: Activation
    results: Sequence[QueryResult] = ()
    notes: tuple[str, ...] = ()


async def with_versions(
    intention: RetrievalIntention,
    asker: Asker,
    met: tuple[Candidates, Activation],
    where: tuple[Mapping[Level, GraphTarget], Mapping[str, Any]],
) -> Whole:
    """In `evolution` and `full_history`, with every record of the memories that the stream will show.

    `met`: what was found, to which the records are added, and its order; `where`: the graphs, and time scope and
    felt filters as for the six. What came along was not found by the question: it has no relevance, and stands
    last.
    """
    found, activation = met
    if intention.temporal_mode not in HISTORICAL:
        return Whole(activation)
    chosen = select(found, activation.order, intention.query_levels, intention.max_results_per_level).keys()
    results = await run_all(asked_for(chosen, found, where))
    notes: list[str] = []
    joined: list[Key] = []
    for result in results:
        records = read_records(result.rows)
        joined += found.join(result.level, [record.columns for record in records], chosen)
        notes += left_out(result.level, records)
    memories = [found.memories[key] for key in sorted(joined)]
    scores = consciousness_score.consciousness_scores(
        memories, [0.0] * len(memories), asker.felt(), asker.pressure
    )
    parts = {**activation.parts, **{key: {} for key in joined}}
    order = (*activation.order, *scores)
    return Whole(replace(activation, order=order, parts=parts), results, tuple(notes))


def asked_for(
    chosen: Iterable[Key], found: Candidates, where: tuple[Mapping[Level, GraphTarget], Mapping[str, Any]]
) -> list[QueryRequest]:
    """The query for each level: the records of the memories chosen, those that touch the ones found first."""
    targets, shared = where
    keys = sorted(chosen)
    requests = []
    for level, target in targets.items():
        here = [found.memories[key] for key in keys if key[0] is level]
        touching = {int(memory.get(name)) for memory in here for name in ("created_at", "expired_at")}
        values = {
            **shared,
            "ids": list(dict.fromkeys(memory.key[1] for memory in here)),
            "touching": sorted(touching - {END_OF_TIME}),
            "most_of_one": MOST_OF_ONE,
            "most_of_all": MOST_OF_ALL,
        }
        if here:
            requests.append(QueryRequest("records", target, RECORDS_OF, values))
    return requests


def left_out(level: Level, records: Sequence[RecordRow]) -> list[str]:
    """Which memories have more records than came along."""
    held = {record.memory_id: record.records for record in records}
    came = Counter(record.memory_id for record in records)
    cut = [memory_id for memory_id in held if came[memory_id] < held[memory_id]]
    named = [f"of {one} ({level}) {came[one]} of {held[one]} records came along" for one in cut]
    more = len(cut) - MOST_NAMED
    others = f", and of {more} more memories not all" if more > 0 else ""
    return [f"{'; '.join(named[:MOST_NAMED])}{others}: the history of a memory has all of them"] if cut else []
