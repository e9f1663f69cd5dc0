"""What is kept in a graph, by label: how an erased memory leaves it, and how it is exported and imported.

Erasure, export, import and its proof go through these entries: those of the core here, and those of each feature.
A test fails for a label that a query makes and none has, so nothing is kept that an erasure does not know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.temporal import Instant
from substrate.connection.pool import Row
from substrate.cypher.fragments import SHIFT
from substrate.cypher.query import TRACE_LABELS, Query
from substrate.graphs.graph import Graph
from substrate.store.naming import MADE_OF_DEEDS
from substrate.store.passages import erase_passages
from substrate.store.runs import erase_changes
from substrate.store.states import forget_shown
from substrate.store.stream_notes import forget_moments

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


type Properties = Mapping[str, Any]


class Kept(NamedTuple):
    """What is kept under a label. `counted`: the field of `Removed` that counts it.

    `forget` takes the memories with some ids out of it, and returns how many went. Without it, `why` says where
    they go, or why nothing of them is there. `is_carried`: an export has its nodes, with all their properties;
    `check` raises ValidationError or ValueError for properties that no release wrote. `as_known`: the properties
    as they were known at a moment, None for those not known yet; without it, an export as of a moment has none.
    `stamp`: the property of the graph's stamp that says when one was made last.
    """

    label: str
    counted: str = ""
    forget: Callable[[Graph, list[str]], Awaitable[int | Counter[str] | None]] | None = None
    why: str = ""
    is_carried: bool = False
    check: Callable[[Properties], object] | None = None
    as_known: Callable[[Properties, Instant], Properties | None] | None = None
    stamp: str = ""


def as_created(properties: Properties, known_at: Instant) -> Properties | None:
    """The properties of what never changes, where it was made by then."""
    return properties if properties["created_at"] <= known_at else None


async def write_one_row(graph: Graph, query: Query, **values: Any) -> Row:
    """The only row that a write returns."""
    [row] = await graph.write(query, **values)
    return row


async def erase_receipts(graph: Graph, ids: Sequence[str], commands: Sequence[str] = ()) -> int:
    """Erase the receipts of commands on these memories or links, and of these commands; returns how many."""
    [erased] = await write_one_row(graph, ERASE_RECEIPTS, ids=list(ids), commands=list(commands))
    return int(erased)


async def erase_deeds(graph: Graph, ids: list[str]) -> Counter[str]:
    """Erase the links between names that the memories alone tell of, as the deeds of one that another suffers."""
    removed: Counter[str] = Counter()
    while deeds := await graph.read(DEEDS_OF, ids=ids, trigger=MADE_OF_DEEDS, rows=LINKS_AT_ONCE):
        links, ends = map(list, zip(*deeds, strict=True))
        removed += await erase_links(graph, ends, links)
    return removed


async def erase_links(graph: Graph, ids: list[str], links: list[str]) -> Counter[str]:
    """Erase links of memories, their receipts first: a repeated erasure would not find the ids of the links."""
    receipts = await erase_receipts(graph, links)
    await erase_changes(graph, links)
    present, past = await write_one_row(graph, ERASE_LINKS, ids=ids, links=links)
    return Counter(links=present, past_links=past, receipts=receipts)


FORGET_EVENTS: Final = Query(
    "forget_events", "MATCH (e:Event) WHERE e.id IN $ids OR e.of IN $ids DELETE e RETURN count(e)"
)


async def forget_events(graph: Graph, ids: list[str]) -> None:
    """Take the events of the feed that name these memories out of it."""
    await graph.write(FORGET_EVENTS, ids=ids)


CORE: Final = (
    Kept("ConsciousnessNode", "memories", erase_deeds),
    Kept("PastVersion", "records", why="erased before the memory"),
    *(Kept(label, "traces", why="erased with its record or passage") for label in TRACE_LABELS),
    Kept("Passage", "passages", erase_passages),
    Kept("Tag", "tags", why="erased at the end, when no record has it"),
    Kept("Receipt", "receipts", erase_receipts, is_carried=True, as_known=as_created),
    Kept("Event", forget=forget_events),
    Kept("UpkeepChange", forget=erase_changes),
    Kept("UpkeepRun", why="cleared with its changes"),
    Kept("CitizenState", "states", forget_shown, is_carried=True),
    Kept("PastState", "states", why="cleared with the state of now", is_carried=True),
    Kept("LearningMoment", forget=forget_moments, is_carried=True, as_known=as_created),
    Kept("StreamNote", why="has ids alone; they go with the note", is_carried=True),
    Kept("QualitySummary", why="numbers alone"),
    Kept("SubstrateMeta", why="numbers alone"),
)
"""What the core keeps; `Feature.kept` has what a feature does."""


async def forget_kept(graph: Graph, ids: list[str], kept: Iterable[Kept]) -> Counter[str]:
    """Take the memories out of all that is kept beside them; returns how many went, by kind. Safe to repeat."""
    removed: Counter[str] = Counter()
    for each in kept:
        if each.forget is not None:
            went = await each.forget(graph, ids)
            removed += went if isinstance(went, Counter) else Counter({each.counted: went or 0})
    return removed
