"""What removes memories for good. Each statement takes a bounded share, so that none runs past its deadline."""

from __future__ import annotations

from typing import Final

from substrate.cypher.query import Query

_THOSE: Final = "MATCH (n:ConsciousnessNode) WHERE n.id IN $ids WITH n "

PRESENT: Final = Query("erase_present", f"{_THOSE} RETURN n.id")

LINKS_OF: Final = Query(
    "erase_links_of",
    f"{_THOSE} MATCH (n)-[e:LINK|PAST_LINK]-(m) WITH DISTINCT e LIMIT $rows RETURN DISTINCT e.id",
)
"""Ids of the next links, whose receipts go first."""

ERASE_LINKS: Final = Query(
    "erase_links",
    f"{_THOSE} MATCH (n)-[e:LINK|PAST_LINK]-(m) WHERE e.id IN $links WITH DISTINCT e "
    "WITH collect(e) AS gone WITH gone, size([e IN gone WHERE type(e) = 'LINK']) AS open "
    "FOREACH (e IN gone | DELETE e) RETURN open, size(gone) - open",
)
"""Remove links; how many were open, and how many past."""

ERASE_RECORDS: Final = Query(
    "erase_records",
    f"{_THOSE} MATCH (n)-[:HAD]->(p:PastVersion) WITH p LIMIT $rows "
    "OPTIONAL MATCH (p)-[:HAS_TRACE|HAS_OTHER_TRACE]->(t) "
    "WITH collect(DISTINCT p) AS records, collect(DISTINCT t) AS traces "
    "FOREACH (p IN records | DELETE p) FOREACH (t IN traces | DELETE t) RETURN size(records), size(traces)",
)
"""Remove past records with their traces; how many of each."""

ERASE_MEMORIES: Final = Query(
    "erase_memories",
    f"{_THOSE} WHERE outdegree(n, 'HAD') = 0 OPTIONAL MATCH (n)-[:HAS_TRACE|HAS_OTHER_TRACE]->(t) "
    "WITH collect(DISTINCT n) AS memories, collect(DISTINCT t) AS traces "
    "FOREACH (n IN memories | DELETE n) FOREACH (t IN traces | DELETE t) RETURN size(memories), size(traces)",
)
"""Remove memories that have no past record left, with their traces and what still hangs on them."""

ERASE_RECEIPTS: Final = Query(
    "erase_receipts",
    "MATCH (c:Receipt) WHERE c.id IN $ids OR c.command_id IN $commands "
    "WITH collect(c) AS gone FOREACH (c IN gone | DELETE c) RETURN size(gone)",
)

BARE_TAGS: Final = Query("erase_bare", "MATCH (g:Tag) WHERE indegree(g, 'TAGGED') = 0 RETURN g.name")
"""The tags that no memory has now."""

PAST_TAGS: Final = Query(
    "erase_past_tags",
    "MATCH (p:PastVersion) WHERE id(p) > $after WITH p LIMIT $rows RETURN max(id(p)), p.tags, p.buckets",
)
"""The tags and buckets that the next past records bear, each pair once, with the place of the last that does."""

ERASE_BARE_TAGS: Final = Query(
    "erase_bare_tags",
    "MATCH (g:Tag) WHERE g.name IN $names AND indegree(g, 'TAGGED') = 0 "
    "WITH collect(g) AS gone FOREACH (g IN gone | DELETE g) RETURN size(gone)",
)

OF_EPISODE: Final = Query(
    "erase_of_episode",
    "MATCH (n:ConsciousnessNode) WHERE n.episode_id = $episode WITH n LIMIT $rows RETURN n.id",
)

REST_OF_EPISODE: Final = Query(
    "erase_rest_of_episode",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after WITH n LIMIT $rows "
    "OPTIONAL MATCH (n)-[e:LINK|PAST_LINK]->(m) WHERE e.episode_id = $episode "
    "WITH n, collect(DISTINCT e.id) AS links "
    "RETURN id(n), n.id, size(links), n.command_id = $ingestion "
    "AND indegree(n, 'LINK') + outdegree(n, 'LINK') + indegree(n, 'PAST_LINK') + outdegree(n, 'PAST_LINK') = 0",
)
"""The next memories: how many links of the episode each still has, and whether only the episode knew it."""

LINKS_OF_EPISODE: Final = Query(
    "erase_links_of_episode",
    f"{_THOSE} MATCH (n)-[e:LINK|PAST_LINK]->(m) WHERE e.episode_id = $episode "
    "WITH DISTINCT e LIMIT $rows RETURN DISTINCT e.id",
)
