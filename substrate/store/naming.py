"""Reads what a graph has under a name, and which of its texts use a word."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import batched, chain
from typing import Any, Final, NamedTuple

import orjson

from schemas.temporal import END_OF_TIME, Instant
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.rows import FELT, is_made

WORDS_AT_ONCE: Final = 150
MOST_NAMES: Final = 500
"""At most this many named memories are read for this many words."""
_USERS_READ: Final = 8
SELF_ID: Final = "self"
"""The memory that stands for the citizen: what the citizen says of itself is linked with it."""
SELF_TYPE: Final = "Self"
MADE_OF_NAMES: Final = "named in the text"
"""The `formation_trigger` of links from a text to what it names."""
MADE_OF_DEEDS: Final = "told in the text"
"""That of links between what a text names, of what one did to the other; the text is their `episode_id`."""

NAMED_BY_WORDS: Final = Query(
    "named_by_words",
    "CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words) YIELD node AS n "
    "WITH n WHERE n.expired_at = $open AND n.node_type IN $kinds "
    f"WITH n ORDER BY n.id LIMIT {MOST_NAMES} OPTIONAL MATCH (n)-[e:LINK]->(t) WHERE t.name_key IS NOT NULL "
    f"AND coalesce(e.formation_trigger, '') <> '{MADE_OF_NAMES}' AND e.expired_at = $open "
    "RETURN DISTINCT n.id, n.name, n.node_type, n.aliases, n.valid_at, n.unset, e.relation_type, "
    "n.emotion_vector, n.resolution_state, n.energy",
)
"""The memories of some kinds whose name or alias holds one of the words, a row for each type of the links from one
to what else has a name."""

TEXTS_WITH: Final = Query(
    "texts_with",
    "UNWIND $words AS w CALL { WITH w CALL db.idx.fulltext.queryNodes('ConsciousnessNode', w[0]) YIELD node AS n "
    f"WITH w, n LIMIT {_USERS_READ} WITH w, n, coalesce(n.description, '') + ' ' + n.name AS text "
    "WHERE text CONTAINS w[1] AND n.expired_at = $open AND NOT n.node_type IN $kinds AND n.source IN $sources "
    "AND NOT n.id IN $but AND NOT toLower(coalesce(n.speaker, '')) IN $roles "
    "RETURN n.id AS id, text, n.valid_at AS valid_at } RETURN w[1], id, text, valid_at",
)
"""Earlier texts that use a name as it is written, by people."""

MADE_LINKS: Final = Query(
    "made_links",
    "MATCH (n:ConsciousnessNode {id: $id}) WITH n MATCH (n)-[e:LINK]->(t) "
    f"WHERE e.formation_trigger = '{MADE_OF_NAMES}' AND e.unset IS NOT NULL AND e.expired_at = $open "
    "RETURN e.id AS id UNION MATCH (n:ConsciousnessNode {id: $id}) WITH n MATCH (n)-[:LINK]->(t) "
    "WHERE t.name_key IS NOT NULL WITH DISTINCT t MATCH (t)-[e:LINK]-() WHERE e.episode_id = $id "
    f"AND e.formation_trigger = '{MADE_OF_DEEDS}' AND e.expired_at = $open RETURN e.id AS id",
)
"""The links that were made of the words of a text: to what it names, and between that."""


class NamedRecord(NamedTuple):
    """A memory under its name, and the start of its carried record. `made`: of a name in some text. `types`: of
    the links from it to what else has a name. `felt`: as `reader.read_felt` has it."""

    id: str
    name: str
    node_type: str
    aliases: tuple[str, ...]
    valid_at: Instant
    made: bool
    types: set[str]
    felt: dict[str, Any]


class NameUse(NamedTuple):
    """An earlier text that uses a name, and the start of its record."""

    name: str
    memory_id: str
    text: str
    valid_at: Instant


async def find_named(graph: Graph, words: Sequence[str], kinds: Sequence[str]) -> list[NamedRecord]:
    """The memories of these kinds whose name or alias holds one of the words, in normal form. `dex*` is the
    beginning of a word."""
    found: dict[str, NamedRecord] = {}
    for part in batched(words, WORDS_AT_ONCE):
        query = f"@entity_names:({'|'.join(part)})"
        rows = await graph.read(NAMED_BY_WORDS, words=query, kinds=list(kinds), open=END_OF_TIME)
        for memory_id, name, node_type, aliases, valid_at, unset, link_type, *felt in rows:
            listed = tuple(orjson.loads(aliases)) if aliases else ()
            told = dict(zip(FELT, felt, strict=True))
            record = NamedRecord(memory_id, name, node_type, listed, valid_at, is_made(unset), set(), told)
            found.setdefault(memory_id, record).types.update([link_type] if link_type else ())
    return list(found.values())


async def find_uses(graph: Graph, names: Sequence[tuple[str, str]], **which: list[str]) -> list[NameUse]:
    """Earlier texts that use the names, each given as a word in normal form and as it is written.

    `which`: `but` these memories, of none of these `kinds` and `roles`, and of these `sources`.
    """
    rows = await graph.read(TEXTS_WITH, words=list(map(list, names)), **which, open=END_OF_TIME)
    return [NameUse(*row) for row in rows]


async def read_made_links(graph: Graph, memory_id: str) -> tuple[str, ...]:
    """The ids of the links that were made of the words of a memory. Raises as `Graph.read`."""
    return tuple(chain.from_iterable(await graph.read(MADE_LINKS, id=memory_id, open=END_OF_TIME)))
