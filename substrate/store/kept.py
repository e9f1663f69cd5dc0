"""What is kept beside memories, by label: how an erased memory leaves it. Erasure goes through this table.

A test fails for a label that a query makes and no row has, so nothing is kept that an erasure does not know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, NamedTuple

from orchestration.features.contexts import queries as contexts
from orchestration.features.feedback.queries import take_back_naming
from orchestration.features.imagination.queries import forget_predictions_naming
from orchestration.features.replay.queries import forget_moments
from orchestration.features.revaluation.queries import forget_stamps
from orchestration.features.rules.queries import forget_checks
from substrate.connection.pool import Row
from substrate.cypher.fragments import SHIFT
from substrate.cypher.query import TRACE_LABELS, Query
from substrate.graphs.graph import Graph
from substrate.store.naming import MADE_OF_DEEDS
from substrate.store.passages import erase_passages
from substrate.store.runs import erase_changes
from substrate.store.states import forget_shown

LINKS_AT_ONCE: Final = 500
THOSE: Final = "MATCH (n:ConsciousnessNode) WHERE n.id IN $ids WITH n "

DEEDS_OF: Final = Query(
    "erase_deeds_of",
    f"{THOSE} MATCH (n)-[:LINK|PAST_LINK]->(a:ConsciousnessNode) WHERE a.name_key IS NOT NULL WITH DISTINCT a "
    "MATCH (a)-[e:LINK|PAST_LINK]-() WHERE e.episode_id IN $ids AND e.formation_trigger = $trigger "
    "WITH a, e LIMIT $rows RETURN DISTINCT e.id, a.id",
)
"""Ids of the next links between names that the memories alone tell of, each with one of its ends."""

ERASE_LINKS: Final = Query(
    "erase_links",
    f"{SHIFT} {THOSE} MATCH (n)-[e:LINK|PAST_LINK]-(m) WHERE e.id IN $links WITH DISTINCT e "
    "WITH collect(e) AS gone WITH gone, size([e IN gone WHERE type(e) = 'LINK']) AS open "
    "FOREACH (e IN gone | DELETE e) RETURN open, size(gone) - open",
)
"""Rows: open links, past links."""

ERASE_RECEIPTS: Final = Query(
    "erase_receipts",
    "MATCH (c:Receipt) WHERE c.id IN $ids OR c.command_id IN $commands "
    "WITH collect(c) AS gone FOREACH (c IN gone | DELETE c) WITH size(gone) AS gone "
    "OPTIONAL MATCH (t:Receipt) WHERE t.told_of IS NOT NULL AND any(id IN t.told_of WHERE id IN $ids) "
    "WITH gone, collect(t) AS naming FOREACH (t IN naming | SET t.told = null, t.told_of = null) RETURN gone",
)
"""Deletes receipts, and from others what they told of these memories and links."""


class Kept(NamedTuple):
    """What is kept under a label. `counted`: the field of `Removed` that counts it.

    `forget` takes the memories with some ids out of it, and returns how many went. Without it, `why` says where
    they go, or why nothing of them is there.
    """

    label: str
    counted: str = ""
    forget: Callable[[Graph, list[str]], Awaitable[int | Counter[str] | None]] | None = None
    why: str = ""


async def write_one_row(graph: Graph, query: Query, **values: Any) -> Row:
    """The only row that a write returns."""
    [row] = await graph.write(query, **values)
    return row


async def erase_receipts(graph: Graph, ids: Sequence[str], commands: Sequence[str] = ()) -> int:
    """Erase the receipts of commands on these memories or links, and of these commands; returns how many."""
    return int((await write_one_row(graph, ERASE_RECEIPTS, ids=list(ids), commands=list(commands)))[0])


async def erase_beside(graph: Graph, ids: list[str]) -> Counter[str]:
    """Erase the edges of those memories that are contexts, their notes, and the deeds that the memories tell.

    The notes go after the edges, so that a repeated erasure finds what is left of them.
    """
    removed: Counter[str] = Counter()
    for note in await contexts.read_notes(graph, ids):
        removed += await erase_links(graph, list(note.ends), list(note.edges))
    while deeds := await graph.read(DEEDS_OF, ids=ids, trigger=MADE_OF_DEEDS, rows=LINKS_AT_ONCE):
        links, ends = map(list, zip(*deeds, strict=True))
        removed += await erase_links(graph, ends, links)
    removed["context_notes"] += await contexts.forget_notes(graph, ids)
    return removed


async def erase_links(graph: Graph, ids: list[str], links: list[str]) -> Counter[str]:
    """Erase links of memories, their receipts first: a repeated erasure would not find the ids of the links."""
    receipts = await erase_receipts(graph, links)
    await erase_changes(graph, links)
    row = await write_one_row(graph, ERASE_LINKS, ids=ids, links=links)
    return Counter(links=row[0], past_links=row[1], receipts=receipts)


async def _erase_passages(graph: Graph, ids: list[str]) -> Counter[str]:
    return Counter((await erase_passages(graph, ids))._asdict())


KEPT: Final = (
    Kept("ConsciousnessNode", "memories", why="the memory itself"),
    Kept("PastVersion", "records", why="erased before the memory"),
    *(Kept(label, "traces", why="erased with its record or passage") for label in TRACE_LABELS),
    Kept("Passage", "passages", _erase_passages),
    Kept("Tag", "tags", why="erased at the end, when no record has it"),
    Kept("Receipt", "receipts", erase_receipts),
    Kept("UpkeepChange", forget=erase_changes),
    Kept("UpkeepRun", why="cleared with its changes"),
    Kept("Feedback", "feedback", take_back_naming),
    Kept("CitizenState", "states", forget_shown),
    Kept("PastState", "states", why="cleared with the state of now"),
    Kept("RuleCheck", forget=forget_checks),
    Kept("ContextNote", "context_notes", erase_beside),
    Kept("Prediction", "predictions", forget_predictions_naming),
    Kept("Revaluation", forget=forget_stamps),
    Kept("LearningMoment", forget=forget_moments),
    Kept("StreamNote", why="has ids alone; they go with the note"),
    Kept("Quarantine", why="has what its writer named: a source, an episode, a speaker, a tag"),
    Kept("RetentionPolicy", why="has what its writer named"),
    Kept("QualitySummary", why="numbers alone"),
    Kept("SubstrateMeta", why="numbers alone"),
)


async def forget_kept(graph: Graph, ids: list[str]) -> Counter[str]:
    """Take the memories out of all that is kept beside them; returns how many went, by kind. Safe to repeat."""
    removed: Counter[str] = Counter()
    for kept in KEPT:
        if kept.forget is not None:
            went = await kept.forget(graph, ids)
            removed += went if isinstance(went, Counter) else Counter({kept.counted: went or 0})
    return removed
