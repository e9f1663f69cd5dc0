"""What is made of memories, whichever feature makes it: generalisations, statements, copies, made tags.

A store has them longer than a service has the feature: erasure takes them along, and ways of asking follow them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from itertools import batched
from typing import Final, NamedTuple

from schemas.memory import GENERALISATION, SharedFrom
from schemas.temporal import Instant
from substrate.connection.pool import Row
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

LINKED: Final = "GENERALISES"
"""The type of a link from a generalisation to a memory that it is made of."""
CONTESTS: Final = "CONTESTS"
"""The type of a link from a statement to the shared memory that its author holds to be wrong."""
STATEMENT: Final = "Contest"
"""The type of the memory that says why another is contested."""
STATEMENT_ID: Final = "c_"
"""With this the id of a statement begins."""
MADE: Final = "~"
"""The first character of the name of a tag that nobody gave."""
TEXT_READ: Final = 4000
"""Characters of a text that are read for its tags. With 2,000 the walk found .02 less in chats of long turns."""
EDGES_AT_ONCE: Final = 1000
IDS_AT_ONCE: Final = 200
COPIES_AT_ONCE: Final = 500
NAMES_AT_ONCE: Final = 500
MEMORIES_A_PAGE: Final = 1_000

COPIES_AMONG: Final = Query(
    "copies_among",
    "MATCH (n:ConsciousnessNode) WHERE n.id IN $ids AND n.shared_from IS NOT NULL "
    "RETURN n.id, n.author, n.shared_from, n.expired_at",
)

OF_MEMORIES: Final = Query(
    "made_tags_of",
    "MATCH (n:ConsciousnessNode) WHERE n.id IN $ids WITH n MATCH (n)-[:MADE_TAG]->(t:Tag) "
    "RETURN n.id, t.name, coalesce(t.shown, t.name), indegree(t, 'TAGGED') + indegree(t, 'MADE_TAG') "
    "ORDER BY n.id, t.name",
)
"""The made tags of memories, each with the number of memories that have it, given or made."""

CARRIERS: Final = Query(
    "tag_carriers",
    "MATCH (t:Tag) WHERE t.name IN $names RETURN t.name, indegree(t, 'TAGGED') + indegree(t, 'MADE_TAG')",
)

MADE_OF: Final = Query(
    "consolidation_made_of",
    "MATCH (n:ConsciousnessNode) WHERE n.id IN $ids WITH n MATCH (g:ConsciousnessNode)-[e:LINK|PAST_LINK]->(n) "
    f"WHERE e.relation_type = '{LINKED}' AND g.node_type = '{GENERALISATION}' RETURN DISTINCT g.id",
)
"""The generalisations that some memories are, or were, members of."""

TOLD: Final = Query(
    "told_by",
    "MATCH (n:ConsciousnessNode) WHERE n.id IN $ids WITH n OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion) "
    f"WITH n, collect(p) AS past UNWIND past + [n] AS r RETURN r.name, left(r.description, {TEXT_READ}), r.tags",
)
"""Names, texts and tags (as JSON) of all records of memories."""

FORGET: Final = Query(
    "forget_made_tags",
    "UNWIND $names AS name MATCH (t:Tag {name: name}) WITH t MATCH (t)<-[g:MADE_TAG]-() WITH g LIMIT $rows "
    "WITH collect(g) AS gone FOREACH (g IN gone | DELETE g) RETURN size(gone)",
)

DROP_UNUSED: Final = Query(
    "drop_unused_made_tags",
    f"MATCH (t:Tag) WHERE t.name IN $names AND t.name STARTS WITH '{MADE}' AND indegree(t, 'MADE_TAG') = 0 "
    "WITH collect(t) AS gone FOREACH (t IN gone | DELETE t) RETURN size(gone)",
)

IDS_OF: Final = Query(
    "sharing_ids_of",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after AND ($episode = '' OR n.episode_id = $episode) "
    "WITH n LIMIT $rows RETURN id(n), n.id",
)


class MadeTag(NamedTuple):
    """A made tag. `name`: of its node, `#given` or `~stems`; `shown`: as a reader sees it. `memories`: how many
    have it, given or made."""

    name: str
    shown: str
    memories: int = 0


class StoredCopy(NamedTuple):
    """A memory that was shared from another. `expired_at`: END_OF_TIME unless it was retracted."""

    id: str
    author: str | None
    origin: SharedFrom
    expired_at: Instant


async def read_copies(graph: Graph, ids: Sequence[str]) -> list[StoredCopy]:
    """Those of at most `COPIES_AT_ONCE` ids that are copies."""
    found = await graph.read(COPIES_AMONG, ids=list(ids))
    return [
        StoredCopy(memory_id, author, SharedFrom.model_validate_json(origin), expired_at)
        for memory_id, author, origin, expired_at in found
    ]


async def read_made(graph: Graph, ids: Sequence[str]) -> dict[str, list[MadeTag]]:
    """The made tags of memories by their ids; memories without any are left out."""
    tags: dict[str, list[MadeTag]] = {}
    for memory_id, name, shown, memories in await graph.read(OF_MEMORIES, ids=list(ids)):
        tags.setdefault(str(memory_id), []).append(MadeTag(str(name), str(shown), int(memories)))
    return tags


async def count_carriers(graph: Graph, names: Sequence[str]) -> dict[str, int]:
    """How many memories have each of these tags, given or made; unknown names are left out."""
    if not names:
        return {}
    return {str(name): int(count) for name, count in await graph.read(CARRIERS, names=list(names))}


async def find_made_of(graph: Graph, ids: Sequence[str]) -> list[str]:
    """The ids of the generalisations that some memories are, or were, members of."""
    found: set[str] = set()
    for some in batched(ids, IDS_AT_ONCE):
        found.update(made for [made] in await graph.read_existing(MADE_OF, ids=list(some)))
    return sorted(found)


async def walk_ids(graph: Graph, episode_id: str | None = None) -> AsyncIterator[list[str]]:
    """The ids of all memories of a graph, or of an episode, a page at a time. Raises GraphMissing."""
    after = -1
    while found := await graph.read(IDS_OF, after=after, episode=episode_id or "", rows=MEMORIES_A_PAGE):
        after = max(place for place, _ in found)
        yield [memory_id for _, memory_id in found]


async def read_told(graph: Graph, ids: Sequence[str]) -> list[Row]:
    """The name, the text and the tags (as JSON) of every record of these memories."""
    return await graph.read_typed(TOLD, ids=list(ids))


async def forget_made_tags(graph: Graph, names: Sequence[str]) -> int:
    """Take the made tags of these names from all memories, and their nodes; returns how many were taken."""
    taken = 0
    for some in batched(names, NAMES_AT_ONCE):
        while gone := await change_count(graph, FORGET, names=list(some), rows=EDGES_AT_ONCE):
            taken += gone
        await change_count(graph, DROP_UNUSED, names=list(some))
    return taken


async def change_count(graph: Graph, query: Query, **values: object) -> int:
    """How many things the write changed, by the only number that it returns."""
    rows = await graph.write(query, **values)
    return int(rows[0][0]) if rows else 0
