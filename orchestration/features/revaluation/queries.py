"""Reads memories of low importance, and when the citizen was asked about them: `Revaluation` nodes beside them.

Such a node is a stamp for one memory. It makes no version of it, and goes when the memory is erased.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import batched
from typing import Final, NamedTuple

from schemas.temporal import END_OF_TIME, Instant
from substrate.connection.errors import GraphMissing
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.derived import change_count

ROWS_A_PAGE: Final = 2_000
TEXT_READ: Final = 2_000
"""Characters of a text that are read."""
_STAMPS_AT_ONCE: Final = 10
"""Without an index each stamp is looked for among all: few in a statement."""

LOW_PAGE: Final = Query(
    "low_importance",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after AND id(n) <= $last AND n.expired_at + 0 = $open "
    "AND n.valid_at + 0 <= $at AND n.invalid_at + 0 > $at AND coalesce(n.importance, 0.0) < $below "
    "AND NOT n.node_type IN $things WITH n LIMIT $rows "
    "RETURN id(n), n.id, n.node_type, n.speaker, n.name, left(toStringOrNull(n.description), 200)",
)
"""The next memories that hold now and matter little; the range index on times is hidden (`fragments.visible`)."""
STAMPS: Final = Query(
    "revaluations",
    "MATCH (a:Revaluation) WHERE id(a) > $after WITH a LIMIT $rows "
    "RETURN id(a), a.memory_id, a.asked_at, a.waiting, a.proposed, a.because",
)
STAMP: Final = Query(
    "stamp_revaluations",
    "MATCH (m:SubstrateMeta {key: 'stamp'}) WITH m LIMIT 1 UNWIND $rows AS r "
    "MATCH (n:ConsciousnessNode {id: r.id}) MERGE (a:Revaluation {memory_id: r.id}) "
    "SET a.before = coalesce(a.asked_at, 0), a.asked_at = $at, a.waiting = $waiting, "
    "a.run = coalesce($run, a.run), a.proposed = r.proposed, a.because = r.because RETURN a.memory_id",
)
OFFERED_IN: Final = Query("offered_in", "MATCH (a:Revaluation) WHERE a.run = $run RETURN count(a)")
END_OFFERS: Final = Query(
    "end_offers",
    "MATCH (a:Revaluation) WHERE a.waiting = true AND a.run <> $run SET a.waiting = false RETURN count(a)",
)
UNDO_OFFER: Final = Query(
    "undo_offer",
    "MATCH (a:Revaluation) WHERE a.run = $run AND a.waiting = true WITH collect(a) AS offered "
    "FOREACH (a IN [x IN offered WHERE x.before = 0] | DELETE a) "
    "FOREACH (a IN [x IN offered WHERE x.before > 0] | SET a.asked_at = a.before, a.waiting = false, "
    "a.run = null, a.proposed = null, a.because = null) RETURN size(offered)",
)
FORGET_STAMPS: Final = Query(
    "forget_revaluations", "MATCH (a:Revaluation) WHERE a.memory_id IN $ids DELETE a RETURN count(a)"
)


class LowMemory(NamedTuple):
    """A memory of low or no importance; `text` is the beginning of its description."""

    internal_id: int
    id: str
    node_type: str
    speaker: str | None
    name: str
    text: str


class LastAsking(NamedTuple):
    """When the citizen was last asked about a memory. `waiting`: upkeep offered it, and nothing was said yet."""

    memory_id: str
    asked_at: Instant
    waiting: bool
    proposed: float | None
    because: str | None


class Stamp(NamedTuple):
    """The citizen is asked about a memory; what a language model proposes, because of which words."""

    memory_id: str
    proposed: float | None = None
    because: str | None = None


async def read_low(
    graph: Graph, after: int, last: int, at: Instant, **wanted: float | Sequence[str]
) -> list[LowMemory]:
    """The next memories of a stretch of internal ids with an importance `below` that or none, but no `things`."""
    values = {"at": at, "open": END_OF_TIME, "rows": ROWS_A_PAGE, **wanted}
    rows = await graph.read(LOW_PAGE, after=after, last=last, **values)
    return [LowMemory._make((*row[:5], row[5] or "")) for row in rows]


async def read_asked(graph: Graph) -> dict[str, LastAsking]:
    """What the citizen was asked, by the id of the memory. Raises GraphMissing."""
    asked: dict[str, LastAsking] = {}
    after = -1
    while page := await graph.read_typed(STAMPS, after=after, rows=ROWS_A_PAGE):
        after = max(int(row[0]) for row in page)
        asked |= {row[1]: LastAsking(row[1], int(row[2]), bool(row[3]), row[4], row[5]) for row in page}
    return asked


async def stamp(
    graph: Graph, stamps: Sequence[Stamp], at: Instant, *, waiting: bool = False, run: str | None = None
) -> int:
    """Keep that the citizen is asked, or was, at that moment; returns how many of the memories are there."""
    kept = 0
    for some in batched(stamps, _STAMPS_AT_ONCE):
        rows = [{"id": one.memory_id, "proposed": one.proposed, "because": one.because} for one in some]
        kept += len(await graph.write(STAMP, rows=rows, at=at, waiting=waiting, run=run))
    return kept


async def was_offered(graph: Graph, run: str) -> bool:
    """Whether this run has offered memories."""
    rows = await graph.read(OFFERED_IN, run=run)
    return bool(rows and int(rows[0][0]))


async def end_offers(graph: Graph, run: str) -> int:
    """Let the offers of other runs wait no longer; returns how many did."""
    return await change_count(graph, END_OFFERS, run=run)


async def undo_offer(graph: Graph, run: str) -> int:
    """Take back what a run offered and nobody judged; returns how many memories."""
    return await change_count(graph, UNDO_OFFER, run=run)


async def forget_stamps(graph: Graph, ids: Sequence[str]) -> int:
    """Remove the stamps of these memories; returns how many were there."""
    try:
        return await change_count(graph, FORGET_STAMPS, ids=list(ids))
    except GraphMissing:
        return 0
