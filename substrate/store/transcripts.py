"""Reads the turns and sessions of episodes.

There is no index on the episode of a memory: every memory of the graph is looked at, about 0.2 µs for each.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final, NamedTuple

from schemas.temporal import END_OF_TIME, Instant
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

ROWS_A_PAGE: Final = 5_000

EPISODE_TURNS: Final = Query(
    "episode_turns",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after AND n.episode_id IN $episodes WITH n LIMIT $rows "
    "RETURN id(n), n.episode_id, n.id, n.node_type, n.name, n.speaker, n.description, n.valid_at, n.invalid_at, "
    "n.expired_at, coalesce(n.version, 1), n.fingerprint, n.extra",
)
"""The memories of some episodes, in the order of their internal ids, from one of these on."""


TURN_STATES: Final = Query(
    "turn_states",
    "UNWIND $ids AS id MATCH (n:ConsciousnessNode {id: id}) RETURN n.id, coalesce(n.version, 1), n.expired_at",
)


class EpisodeRow(NamedTuple):
    """A memory of an episode as its latest record has it.

    `version` counts its records, `fingerprint` is that of the command that made the first, `extra` is JSON.
    """

    episode_id: str
    id: str
    node_type: str
    name: str
    speaker: str | None
    description: str | None
    valid_at: Instant
    invalid_at: Instant
    expired_at: Instant
    version: int
    fingerprint: int | None
    extra: str | None


async def read_episodes(graph: Graph, episode_ids: Sequence[str]) -> AsyncIterator[EpisodeRow]:
    """Yield the turns and sessions of some episodes, a page at a time. Raises what `Graph.read` raises."""
    after = -1
    while True:
        rows = await graph.read(EPISODE_TURNS, after=after, episodes=list(episode_ids), rows=ROWS_A_PAGE)
        for internal_id, *columns in rows:
            after = max(after, int(internal_id))
            yield EpisodeRow(*columns)
        if len(rows) < ROWS_A_PAGE:
            return


async def read_versions(graph: Graph, ids: Sequence[str]) -> dict[str, int]:
    """The version of each of these turns that is stored; 0 for one that was retracted as a whole."""
    rows = await graph.read(TURN_STATES, ids=list(ids))
    return {str(turn): int(version) if expired_at == END_OF_TIME else 0 for turn, version, expired_at in rows}
