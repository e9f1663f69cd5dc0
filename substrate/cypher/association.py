"""The Tag-Walker's reads: direct hits by words, how common tags are, and the walk over tags and links (001)."""

from __future__ import annotations

from typing import Final

from substrate.cypher.fragments import HUB, node_columns, records_of, uncrowded_now, uncrowded_then, visible
from substrate.cypher.query import Query

MEASURED: Final = 20_000
"""The mean length of a memory is that of those among the last so many nodes of the graph."""

_MEAN: Final = (
    "CALL db.meta.stats() YIELD nodeCount "
    f"WITH nodeCount - {MEASURED} AS first MATCH (n:ConsciousnessNode) WHERE id(n) >= first "
    "WITH avg(n.terms) AS mean "
)


def _holding(label: str) -> str:
    return (
        f"CALL db.idx.fulltext.queryNodes('{label}', $words) YIELD node AS m, score "
        f"WITH m, score, mean WHERE {visible('m')} "
        "RETURN m, score ORDER BY score DESC, m.id, m.version LIMIT $pool "
    )


_ANCHOR_ROW: Final = f"RETURN mean, m.terms, {node_columns('m')}"

ANCHORS_NOW: Final = Query(
    "anchors_now", f"{_MEAN} CALL {{ WITH mean {_holding('ConsciousnessNode')} }} {_ANCHOR_ROW}"
)
"""The memories that hold the words, best by the engine's score first: mean length of all, own length, memory.

Lengths are numbers of words without stop words, None where a memory is older than their keeping.
"""

ANCHORS_THEN: Final = Query(
    "anchors_then",
    f"{_MEAN} CALL {{ WITH mean {_holding('ConsciousnessNode')} UNION ALL WITH mean {_holding('PastVersion')} }} "
    f"{_ANCHOR_ROW}",
)
"""The same of another moment, from both sides."""

TAG_SIZES: Final = Query(
    "tag_sizes",
    "CALL db.meta.stats() YIELD labels WITH labels.ConsciousnessNode AS size "
    "OPTIONAL MATCH (t:Tag) WHERE t.name IN $names RETURN t.name, indegree(t, 'TAGGED'), size ORDER BY t.name",
)
"""How many memories have each of the tags now, and how many there are; one row without a name if none is there."""


def _tagged(*, now: bool) -> str:
    kept = f"AND {visible('i')} " if now else ""
    return (
        "UNWIND $tags AS tag MATCH (t:Tag {name: tag[0]}) WITH t, tag[1] AS weight "
        "MATCH (t)<-[:TAGGED]-(i:ConsciousnessNode) "
        f"WITH i, sum(weight) AS weight WHERE NOT i.id IN $held {kept}"
        "WITH i, weight ORDER BY weight DESC, i.valid_at DESC, i.id LIMIT $pool RETURN i, null AS way "
    )


def _once_tagged() -> str:
    """Records of the past that had one of the tags: no edge tells, what they carry does."""
    said = " OR ".join(
        f"any(t IN $quoted_{kind} WHERE coalesce(p.{kind}, '') CONTAINS t)" for kind in ("tags", "buckets")
    )
    return (
        f"MATCH (p:PastVersion) WHERE {visible('p')} AND ({said}) "
        "WITH p ORDER BY p.valid_at DESC, p.id, p.version LIMIT $pool "
        "MATCH (i:ConsciousnessNode)-[:HAD]->(p) RETURN i, null AS way "
    )


def _uncrowded(name: str, carried: str, *, now: bool) -> str:
    return (uncrowded_now if now else uncrowded_then)(name, carried, HUB)


def _linked(*, now: bool) -> str:
    """What lies one and two links from the hits. Neither from nor through nor to what everything leads to."""
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
    branches = [_tagged(now=now), _linked(now=now)]
    if not now:
        branches.append(_once_tagged())
    record = f"WITH i AS m, ways WHERE {visible('m')} " if now else records_of("i", "m", "ways")
    return (
        f"CALL {{ {' UNION ALL '.join(branches)} }} WITH i, string.join(collect(DISTINCT way), '|') AS ways "
        f"{record} RETURN ways, m.terms, {node_columns('m')} ORDER BY m.id, m.version"
    )


WALK_NOW: Final = Query("walk_now", _walk(now=True))
"""What shares the tags, and what links lead to: (ways, own length, memory); of `$pool` by tags the likeliest.

A way is the number of links and the id of the hit from which it leads (`1turn-7`); ways are parted by `|`.
"""

WALK_THEN: Final = Query("walk_then", _walk(now=False))
"""The same of another moment: tags that an identity has now, and those that its records carried then."""
