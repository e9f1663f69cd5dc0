"""Reads the work that may be over, with its links; keeps what was declined as an edge between its two ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from schemas.temporal import END_OF_TIME, Instant
from substrate.connection.pool import Row
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph, GraphTarget
from substrate.store.rows import shown_name
from substrate.store.state_reads import read_for_state, state_query
from substrate.store.threads import RESOLVED_BY, SHOWN_CHARACTERS, WORK

MEMORIES_READ: Final = 300
"""Only this many memories, the newest, are looked at: offers are made when they are asked for."""
LINKS_OFFERED: Final = 2_000

OFFERED_WORK: Final = state_query(
    "offered_work",
    "MATCH (x:ConsciousnessNode) WHERE x.resolution_state IN $states AND x.expired_at = $open "
    "AND x.valid_at + 0 <= $now AND x.invalid_at > $now WITH x ORDER BY x.valid_at DESC, x.id LIMIT $memories "
    "MATCH (x)-[e:LINK]-(o:ConsciousnessNode) WITH x, e, o WHERE e.relation_type IN $work "
    "AND e.expired_at = $open AND e.valid_at <= $now AND e.invalid_at > $now WITH DISTINCT x, e, o LIMIT $links",
    (
        "x.id", "x.name", "x.speaker", "left(x.description, $characters)", "x.resolution_state", "x.valid_at",
        "e.id", "e.relation_type", "e.resolution_state", "startNode(e).id",
        "o.id", "o.name", "o.speaker", "left(o.description, $characters)",
        "CASE WHEN o.expired_at = $open AND o.invalid_at > $now THEN coalesce(o.resolution_state, '') "
        "ELSE 'resolved' END",
    ),
)  # fmt: skip
"""The newest memories in some states, with their links of work that hold now. What does not hold now is over."""

DECLINED: Final = Query(
    "declined_offers",
    "UNWIND $ids AS id MATCH (x:ConsciousnessNode {id: id}) WITH x MATCH (x)-[d:DECLINED]->() RETURN d.offer",
)

DECLINE: Final = Query(
    "decline_offer",
    "MATCH (x:ConsciousnessNode {id: $id}) MATCH (o:ConsciousnessNode {id: $other}) "
    "MERGE (x)-[d:DECLINED {offer: $offer}]->(o) ON CREATE SET d.at = $at RETURN d.offer",
)
"""Erasing one of the two memories removes it too."""


class OfferedLink(NamedTuple):
    """A memory of work, and one link of work at it with the memory at its other end. States are '' without one."""

    id: str
    name: str
    state: str
    valid_at: Instant
    link_id: str
    relation_type: str
    link_state: str
    source_id: str
    other_id: str
    other_name: str
    other_state: str

    @property
    def is_source(self) -> bool:
        return self.source_id == self.id

    @property
    def is_solved(self) -> bool:
        """True for a link from a problem to what solves it."""
        return self.relation_type == RESOLVED_BY and self.is_source


async def read_offered_work(target: GraphTarget, states: Sequence[str], now: Instant) -> Sequence[OfferedLink]:
    """The newest memories in these states with their links of work, the newest first."""
    values: dict[str, Any] = {"states": list(states), "now": now, "valid_from": now, "open": END_OF_TIME}
    values |= {
        "memories": MEMORIES_READ,
        "links": LINKS_OFFERED,
        "work": list(WORK),
        "characters": SHOWN_CHARACTERS,
    }
    return await read_for_state(target, ("offered", *states), OFFERED_WORK, values, make=_newest_first)


def _newest_first(rows: Sequence[Row]) -> Sequence[OfferedLink]:
    links: list[OfferedLink] = []
    for memory_id, name, speaker, text, state, valid_at, link_id, kind, link_state, source_id, *other in rows:
        other_id, other_name, other_speaker, other_text, other_state = other
        shown = shown_name(memory_id, name, speaker, text)
        at_the_other = other_id, shown_name(other_id, other_name, other_speaker, other_text), other_state
        link = link_id, kind, link_state, source_id
        links.append(OfferedLink(memory_id, shown, state, int(valid_at), *link, *at_the_other))
    return sorted(links, key=lambda link: (-link.valid_at, link.id, link.link_id))


async def read_declined(graph: Graph, ids: list[str]) -> set[str]:
    """The offers about these memories that were declined."""
    return {str(row[0]) for row in await graph.read(DECLINED, ids=ids)} if ids else set()


async def keep_declined(graph: Graph, offer_id: str, ends: tuple[str, str], now: Instant) -> None:
    """Keep that an offer about the first of these memories was declined. Keeping it again changes nothing."""
    await graph.write(DECLINE, id=ends[0], other=ends[1], offer=offer_id, at=now)
