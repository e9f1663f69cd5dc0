"""Reads what sharing needs: the links of a memory, the copies among some ids, and who contests what."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final, NamedTuple

from schemas.memory import Contest
from schemas.temporal import Scope, to_datetime
from substrate.bitemporal import Record
from substrate.cypher.fragments import PROVENANCE, columns_of, link_columns, visible
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.changesets import LinkEnds
from substrate.store.derived import CONTESTS
from substrate.store.rows import record_of_link, shown_name

LINKS_READ: Final = 1_000
MEMORIES_A_PAGE: Final = 1_000
SHOWN_CHARACTERS: Final = 200
CONTESTS_READ: Final = 1_000

LINKS_AT: Final = Query(
    "shared_links_at",
    f"MATCH (n:ConsciousnessNode {{id: $id}})-[e:LINK]-(m:ConsciousnessNode) WHERE {visible('e')} "
    f"AND {visible('m')} WITH DISTINCT e ORDER BY e.energy * e.confidence DESC, e.id LIMIT $links "
    f"RETURN startNode(e).id, endNode(e).id, {link_columns('e')}, {columns_of('e', PROVENANCE)}",
)
"""The strongest links of a memory that hold now, to memories that do."""

_CONTEST: Final = (
    "t.id, e.author, left(coalesce(e.formation_trigger, s.description, s.name), $characters), "
    "s.id, e.id, e.valid_at"
)
_OF_THOSE: Final = "MATCH (t:ConsciousnessNode) WHERE t.id IN $ids WITH t MATCH (t)<-[e:LINK"

CONTESTS_NOW: Final = Query(
    "contests_now",
    f"{_OF_THOSE}]-(s:ConsciousnessNode) WHERE e.relation_type = '{CONTESTS}' AND {visible('e')} "
    f"AND {visible('s')} RETURN {_CONTEST} ORDER BY e.valid_at, e.id LIMIT $contests",
)
CONTESTS_THEN: Final = Query(
    "contests_then",
    f"{_OF_THOSE}|PAST_LINK]-(s:ConsciousnessNode) WHERE e.relation_type = '{CONTESTS}' AND {visible('e')} "
    f"OPTIONAL MATCH (s)-[:HAD]->(p:PastVersion) WHERE {visible('p')} WITH t, e, s, count(p) AS past "
    f"WHERE past > 0 OR {visible('s')} RETURN {_CONTEST} ORDER BY e.valid_at, e.id LIMIT $contests",
)
"""The same for any moment: the link or the statement may have been closed since."""

CONTESTED: Final = Query(
    "contested",
    "MATCH (t:ConsciousnessNode) WHERE id(t) > $after WITH t LIMIT $rows "
    f"OPTIONAL MATCH (t)<-[e:LINK]-(s:ConsciousnessNode) WHERE e.relation_type = '{CONTESTS}' "
    f"AND {visible('e')} AND {visible('s')} AND {visible('t')} "
    "WITH id(t) AS place, t, count(e) AS held ORDER BY place "
    "WITH max(place) AS last, collect(CASE WHEN held > 0 THEN t END) AS found "
    "UNWIND CASE WHEN size(found) = 0 THEN [null] ELSE found END AS t "
    "RETURN last, id(t), t.id, t.name, t.speaker, left(t.description, $characters), t.author",
)
"""Rows: the last internal id of the next memories, and one of them that somebody contests now, or nothing."""


class LinkAt(NamedTuple):
    """A link that holds now, with the ids of its ends."""

    ends: LinkEnds
    record: Record


class ContestedRow(NamedTuple):
    """A memory that somebody contests; `place` is its place in the order of the list."""

    place: int
    id: str
    name: str
    author: str | None


async def read_links_at(graph: Graph, memory_id: str, scope: Scope) -> list[LinkAt]:
    """The strongest links of a memory, at most `LINKS_READ`."""
    found = await graph.read(LINKS_AT, id=memory_id, links=LINKS_READ, **scope.bounds())
    return [LinkAt(LinkEnds(row[0], row[1]), record_of_link(row[2:])) for row in found]


async def read_contests(
    graph: Graph, ids: Sequence[str], scope: Scope, *, past: bool = False
) -> dict[str, tuple[Contest, ...]]:
    """Who contests these memories in the scope, by their ids, oldest first. `past`: also what is closed now."""
    values = {"ids": list(ids), "characters": SHOWN_CHARACTERS, "contests": CONTESTS_READ, **scope.bounds()}
    contests: dict[str, tuple[Contest, ...]] = {}
    for row in await graph.read(CONTESTS_THEN if past else CONTESTS_NOW, **values):
        by, reason, statement_id, link_id, since = row[1:]
        since, reason = to_datetime(since), reason or ""
        contest = Contest(by=by, reason=reason, statement_id=statement_id, link_id=link_id, since=since)
        contests[row[0]] = (*contests.get(row[0], ()), contest)
    return contests


async def walk_contested(graph: Graph, scope: Scope, after: int) -> AsyncIterator[list[ContestedRow]]:
    """The memories that somebody contests now, after a place in their order, a page of the graph at a time."""
    last: int | None = after
    while last is not None:
        values = {"after": last, "rows": MEMORIES_A_PAGE, "characters": SHOWN_CHARACTERS, **scope.bounds()}
        found = await graph.read(CONTESTED, **values)
        last = found[0][0]
        yield [
            ContestedRow(place, memory_id, shown_name(memory_id, name, speaker, text), author)
            for _, place, memory_id, name, speaker, text, author in found
            if memory_id is not None
        ]
