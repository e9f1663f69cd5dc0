"""Reads of the Tag-Walker (001): direct hits by words, counts of tags, and the walk over tags and links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from schemas.memory import ConsciousnessNode, GraphKey
from schemas.temporal import AFTER_ALL, Instant
from substrate.connection.kept import Record
from substrate.connection.pool import Row
from substrate.cypher.fragments import (
    HUB,
    fits,
    is_statement,
    records_of,
    thin_columns,
    uncrowded_now,
    uncrowded_then,
    visible,
)
from substrate.cypher.query import Query, QueryPair
from substrate.graphs.graph import GraphTarget
from substrate.store import rows
from substrate.store.found_records import read_whole_memories

MEASURED: Final = 20_000
"""The mean length of a memory is computed from the last this many nodes of the graph."""

_MADE_WAY: Final = "m"
"""Begins a way over a made tag; ways over links begin with a digit."""

_MEAN: Final = (
    "CALL db.meta.stats() YIELD nodeCount "
    f"WITH nodeCount - {MEASURED} AS first MATCH (n:ConsciousnessNode) WHERE id(n) >= first "
    "WITH avg(n.terms) AS mean "
)


def _holding(label: str) -> str:
    return (
        f"CALL db.idx.fulltext.queryNodes('{label}', $words) YIELD node AS m, score "
        f"WITH m, score, mean WHERE {visible('m')} AND {fits('m')} AND {is_statement('m')} "
        "RETURN m, score ORDER BY score DESC, m.id, m.version LIMIT $pool "
    )


_ANCHOR_ROW: Final = f"RETURN mean, m.terms, {thin_columns('m')}"

ANCHORS: Final = QueryPair.of(
    "anchors",
    f"{_MEAN} CALL {{ WITH mean {_holding('ConsciousnessNode')} }} {_ANCHOR_ROW}",
    f"{_MEAN} CALL {{ WITH mean {_holding('ConsciousnessNode')} UNION ALL WITH mean {_holding('PastVersion')} }} "
    f"{_ANCHOR_ROW}",
)


_TAGGED_NOW: Final = (
    "UNWIND $tags AS tag MATCH (t:Tag {name: tag[0]}) WITH t, tag[1] AS weight, tag[2] AS place "
    "MATCH (t)<-[g:TAGGED|MADE_TAG]-(i:ConsciousnessNode) "
    "WITH i, sum(weight) AS weight, "
    f"collect(CASE type(g) WHEN 'MADE_TAG' THEN '{_MADE_WAY}' + toString(place) ELSE null END) AS made "
    f"WHERE NOT i.id IN $held AND {visible('i')} AND {fits('i')} AND {is_statement('i')} "
    "WITH i, made, weight ORDER BY weight DESC, i.valid_at DESC, i.id LIMIT $pool "
    "RETURN i, string.join(made, '|') AS way "
)
"""Memories with one of the tags; `way` names the made ones among them by their place in the list."""
_TAGGED_THEN: Final = (
    "UNWIND $tags AS tag MATCH (t:Tag {name: tag[0]}) WITH t, tag[1] AS weight "
    "MATCH (t)<-[:TAGGED]-(i:ConsciousnessNode) "
    "WITH i, sum(weight) AS weight WHERE NOT i.id IN $held "
    "WITH i, weight ORDER BY weight DESC, i.valid_at DESC, i.id LIMIT $pool RETURN i, null AS way "
)


def _once_tagged() -> str:
    """Past records with one of the tags. A past record has no edges to tags; they are in its JSON."""
    has_tag = " OR ".join(
        f"any(t IN $quoted_{kind} WHERE coalesce(p.{kind}, '') CONTAINS t)" for kind in ("tags", "buckets")
    )
    return (
        f"MATCH (p:PastVersion) WHERE {visible('p')} AND {fits('p')} AND {is_statement('p')} AND ({has_tag}) "
        "WITH p ORDER BY p.valid_at DESC, p.id, p.version LIMIT $pool "
        "MATCH (i:ConsciousnessNode)-[:HAD]->(p) RETURN i, null AS way "
    )


def _uncrowded(name: str, carried: str, *, now: bool) -> str:
    return (uncrowded_now if now else uncrowded_then)(name, carried, HUB)


def _linked(*, now: bool) -> str:
    """Memories one and two links away from the hits. Hubs are left out as start, middle and end."""
    link = "LINK" if now else "LINK|PAST_LINK"
    first = (
        "MATCH (a:ConsciousnessNode) WHERE a.id IN $from "
        f"{_uncrowded('a', 'a', now=now)}MATCH (a)-[e:{link}]-(b:ConsciousnessNode) WHERE {visible('e')} "
        f"WITH DISTINCT a, b {_uncrowded('b', 'a, b', now=now)}"
    )
    return (
        f"{first}RETURN b AS i, '1' + a.id AS way UNION ALL {first}"
        f"MATCH (b)-[e:{link}]-(c:ConsciousnessNode) WHERE {visible('e')} AND c.id <> a.id "
        f"WITH DISTINCT a, c {_uncrowded('c', 'a, c', now=now)}"
        "RETURN c AS i, '2' + a.id AS way "
    )


def _walk(*, now: bool) -> str:
    branches = [_TAGGED_NOW if now else _TAGGED_THEN, _linked(now=now)]
    if not now:
        branches.append(_once_tagged())
    record = f"WITH i AS m, ways WHERE {visible('m')} AND " if now else f"{records_of('i', 'm', 'ways')} WHERE "
    return (
        f"CALL {{ {' UNION ALL '.join(branches)} }} WITH i, string.join(collect(DISTINCT way), '|') AS ways "
        f"{record} {fits('m')} RETURN ways, m.terms, {thin_columns('m')} ORDER BY m.id, m.version"
    )


WALK: Final = QueryPair.of("walk", _walk(now=True), _walk(now=False))
"""For other moments: follows the given tags that a memory has now, and those that its records had then."""


_THIN_ROW: Final = 2
"""From here on a row names its memory; `read_rows` puts the record there."""


async def read_rows(query: Query, target: GraphTarget, values: Mapping[str, Any]) -> list[Row]:
    """The rows of `ANCHORS_*` or `WALK_*`, each with its first two columns and the record of its memory.

    Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    found = await target.graph.read(query, **values)
    records = await read_whole_memories(target, [row[_THIN_ROW:] for row in found])
    both = zip(found, records, strict=True)
    return [(*row[:_THIN_ROW], record) for row, record in both if record is not None]


class AnchorPath(NamedTuple):
    """How many links lead from an anchor to a memory: 1 or 2."""

    links: int
    anchor_id: str


class MeasuredMemory(NamedTuple):
    """A memory with its length `terms`, in words without stop words; None when no length is stored.

    `derived`: what is computed of its record alone. `paths`: the paths to it from anchors, shortest first. `made`:
    places of its made tags among those followed.
    """

    memory: ConsciousnessNode
    terms: int | None
    derived: dict[str, Any]
    paths: tuple[AnchorPath, ...] = ()
    made: tuple[int, ...] = ()


def read_mean_terms(anchor_rows: Sequence[Row]) -> float | None:
    """The mean length of the memories of a graph, from the rows of `ANCHORS_*`; None when no length is stored."""
    for mean, *_ in anchor_rows:
        return float(mean) if mean else None
    return None


def read_anchors(
    anchor_rows: Iterable[Row], graph: GraphKey, known_to: Instant = AFTER_ALL
) -> Iterator[MeasuredMemory]:
    """Read the memories in rows of `ANCHORS_*`, best score of the engine first."""
    for _mean, terms, record in anchor_rows:
        yield _measured(record, terms, graph, known_to)


def read_walk(
    walk_rows: Iterable[Row], graph: GraphKey, known_to: Instant = AFTER_ALL
) -> Iterator[MeasuredMemory]:
    """Read the memories in rows of `WALK_*`, with the ways to them, such as `1turn-7|2turn-9|m3`.

    A digit is the number of links from the anchor whose id follows; `m` is a made tag, by its place in the list.
    """
    for ways, terms, record in walk_rows:
        parts = [way for way in (ways or "").split("|") if way]
        yield _measured(record, terms, graph, known_to)._replace(
            paths=tuple(sorted(AnchorPath(int(way[0]), way[1:]) for way in parts if way[0] != _MADE_WAY)),
            made=tuple(sorted(int(way[1:]) for way in parts if way[0] == _MADE_WAY)),
        )


def read_memories(
    memory_rows: Iterable[Row], graph: GraphKey, known_to: Instant = AFTER_ALL
) -> Iterator[MeasuredMemory]:
    """The memories in rows with only `NODE_COLUMNS`, as the queries of plurality return them."""
    for memory in memory_rows:
        yield _measured(Record(memory), None, graph, known_to)


def _measured(record: Record, terms: Any, graph: GraphKey, known_to: Instant) -> MeasuredMemory:
    name = "associated_open" if record.row[_EXPIRED_AT] >= known_to else "associated"
    node: ConsciousnessNode | None = record.derived.get(name)
    if node is None:
        node = record.derived[name] = rows.node(record.row, graph, known_to, retrieval_source="association")
    return MeasuredMemory(node, None if terms is None else int(terms), record.derived)


_EXPIRED_AT: Final = rows.NODE_PLACE["expired_at"]


class WeighedTag(NamedTuple):
    """A tag that is followed, by the name of its node, and its weight, 0 to 1."""

    name: str
    weight: float


def walk_values(hit_ids: Sequence[str], tags: Sequence[WeighedTag], *, starts: int, pool: int) -> dict[str, Any]:
    """The parameters of `WALK_*`. Links are followed from the first `starts` hits; tags give at most `pool`."""
    return {
        "from": list(dict.fromkeys(hit_ids[:starts])),
        "held": list(dict.fromkeys(hit_ids)),
        "tags": [[tag.name, tag.weight, place] for place, tag in enumerate(tags)],
        "quoted_tags": [_in_json(tag.name) for tag in tags if tag.name[0] == "#"],
        "quoted_buckets": [_in_json(tag.name) for tag in tags if tag.name[0] == "@"],
        "pool": pool,
    }


def _in_json(name: str) -> str:
    """A `#tag` or `@bucket` as the JSON of a record contains it, without `#` or `@` and without quotes."""
    return orjson.dumps(name[1:]).decode()[1:-1]
