"""What stands around memories: the entities they link to, the types of their links, the names at the ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from schemas.temporal import Scope
from substrate.cypher.fragments import degree_now, records_of, visible
from substrate.cypher.query import QueryPair
from substrate.graphs.graph import GraphTarget
from substrate.store.rows import shown_name

MAX_SIGNAL_LINKS: Final = 1000
"""At most this many links of the signal's nodes are read, those of nodes with few links first."""
BEGINNING: Final = 200
"""This many characters of a text are read to show its first words as a name."""


def links_of(ids: str, link: str) -> str:
    """At most `MAX_SIGNAL_LINKS` links of these memories, as rows (s, e, i); memories with few links come first.
    In a subquery, because after `WITH … LIMIT` the engine would check a condition before the limit."""
    return (
        f"CALL {{ MATCH (s:ConsciousnessNode) WHERE s.id IN {ids} WITH s ORDER BY {degree_now('s')}, s.id "
        f"MATCH (s)-[e:{link}]-(i:ConsciousnessNode) RETURN s, e, i LIMIT {MAX_SIGNAL_LINKS} }} "
    )


def _surroundings(link: str) -> str:
    return (
        "MATCH (s:ConsciousnessNode) WHERE s.id IN $shown WITH s "
        f"MATCH (s)-[e:{link}]->(o:ConsciousnessNode) WHERE {visible('e')} AND o.name_key IS NOT NULL "
        "WITH DISTINCT o.id AS id, o.name AS name ORDER BY id LIMIT 32 RETURN 'node' AS kind, id, name "
        f"UNION ALL {links_of('$near', link)} WITH e WHERE {visible('e')} "
        "WITH e.relation_type AS name, count(e) AS links ORDER BY links DESC, name LIMIT 64 "
        "RETURN 'type' AS kind, null AS id, name"
    )


SURROUNDINGS: Final = QueryPair.of("surroundings", _surroundings("LINK"), _surroundings("LINK|PAST_LINK"))
"""Entities of the memories `$shown`, and the types of the links around the memories `$near`, most common first."""


class Surroundings(NamedTuple):
    """The names of entities that memories link to, and the types of links around memories, most common first."""

    names: list[str]
    relation_types: list[str]


async def read_surroundings(
    target: GraphTarget, scope: Scope, *, shown: Sequence[str], named: Sequence[str]
) -> Surroundings:
    """Read the entities that the memories `shown` link to, and the types of the links at `shown` and `named`."""
    if not named and not shown:
        return Surroundings([], [])
    rows = await target.read(SURROUNDINGS, scope, shown=list(shown), near=[*named, *shown])
    names = [name for kind, _id, name in rows if kind == "node"]
    return Surroundings(names, [name for kind, _id, name in rows if kind == "type"])


READ: Final = 1000
"""This many characters of a text are read to take a signal from it."""


def _beginnings(characters: int, *, now: bool) -> str:
    read = "WITH i, i AS m" if now else records_of("i", "m").removesuffix(" ")
    return (
        f"MATCH (i:ConsciousnessNode) WHERE i.id IN $ids {read} WHERE {visible('m')} "
        f"RETURN i.id, m.name, m.speaker, left(coalesce(m.description, ''), {characters})"
    )


NAMES: Final = QueryPair.of("names_of_ends", _beginnings(BEGINNING, now=True), _beginnings(BEGINNING, now=False))
"""The names of memories at the ends of links, as they were."""

WORDS: Final = QueryPair.of("words_of_memories", _beginnings(READ, now=True), _beginnings(READ, now=False))
"""The first words of memories, as they were."""


async def read_names(target: GraphTarget, scope: Scope, ids: Sequence[str]) -> dict[str, str]:
    """The names of these memories as readers see them; one that is not visible in the scope has none."""
    if not ids:
        return {}
    rows = await target.read(NAMES, scope, ids=list(ids))
    return {memory_id: shown_name(memory_id, name, speaker, text) for memory_id, name, speaker, text in rows}


async def read_spoken(target: GraphTarget, scope: Scope, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The speaker, or the name, and the first words of these memories; none of an invisible one."""
    rows = await target.read(WORDS, scope, ids=list(ids))
    return {memory_id: (speaker or name, text) for memory_id, name, speaker, text in rows}


async def read_words(target: GraphTarget, scope: Scope, ids: Sequence[str]) -> dict[str, str]:
    """The name, the speaker and the first words of these memories, as one text; none of an invisible one."""
    found = await read_spoken(target, scope, ids) if ids else {}
    return dict(zip(found, map(str.strip, map(" ".join, found.values())), strict=True))
