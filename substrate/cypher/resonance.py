"""Wave retrieval is one statement: candidates, then a scoring expression with one term a channel (000, 002).

Candidates are bounded whatever the size of the graph: what the signal's nodes touch, what asserts one of its
relations, the nearest in meaning and in emotion, what shares its words, the best of the newest, and the pools of
plurality where that is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from substrate.cypher.fragments import degree_now, node_columns, records_of, visible
from substrate.cypher.query import Query

LINKS: Final = 1000
"""So many links of the signal's nodes are read, of the least linked nodes first."""
CROWD: Final = 500
"""Of a memory with more links than this none is read: it is what memories are about, and scores without them."""
NEWEST: Final = 5000
"""The last so many nodes of the graph are looked through for what is recent, important and of the same feeling."""
ENOUGH: Final = 1000
"""With fewer memories among the last nodes (a new model's vectors lie there) the look goes further back."""
SAID: Final = 64
"""So many links that one memory asserts are held against the signal."""
DAY: Final = 86_400_000_000.0

TERMS: Final[Mapping[str, str]] = {
    "nodes": (
        "CASE WHEN $of_memory THEN CASE WHEN size(around) = 0 THEN 0.0 "
        "ELSE 1.0 * size([x IN around WHERE x IN $ids]) / size(around) END "
        "WHEN size($groups) = 0 THEN 0.0 "
        "ELSE 1.0 * size([g IN $groups WHERE any(x IN g WHERE x IN linked)]) / size($groups) END"
    ),
    "relations": (
        "CASE WHEN size($triples) = 0 THEN 0.0 ELSE 1.0 * size([r IN $triples WHERE any(t IN held WHERE "
        "t[0] = r[0] AND (size(r[1]) = 0 OR t[1] IN r[1]) AND (size(r[2]) = 0 OR t[2] IN r[2]))]) "
        "/ size($triples) END"
    ),
    "emotion": (
        "CASE WHEN any(x IN m.emotions WHERE x = $emotion) THEN 1.0 "
        "WHEN any(x IN m.emotions WHERE x IN $kindred) THEN 0.5 ELSE 0.0 END"
    ),
    "result": "CASE WHEN toLower(m.result) = $result THEN 1.0 ELSE 0.0 END",
    "likeness": "CASE WHEN alike > 1.0 THEN 1.0 WHEN alike > 0.0 THEN alike ELSE 0.0 END",
    "importance": (
        "CASE WHEN coalesce(m.importance, 0.0) > $importance_floor THEN m.importance ELSE $importance_floor END"
    ),
    "recency": (
        f"1.0 / (1.0 + CASE WHEN m.valid_at < $moment THEN $moment - m.valid_at ELSE 0 END / ($half_life * {DAY}))"
    ),
}
"""The channels: each a number in [0, 1], weighted by the parameter `w_` and its name."""

_OF_THE_RECORD: Final = ("emotion", "result", "importance", "recency")
"""Channels that need nothing but the record: by them the newest are chosen."""

SUPPRESSION: Final = "coalesce(head([shown IN $shown WHERE shown[0] = m.id | shown[1]]), 1.0)"
BOOST: Final = "CASE m.abstraction WHEN 'L1' THEN 1.05 WHEN 'L2' THEN 1.1 WHEN 'L3' THEN 1.15 ELSE 1.0 END"
"""002: a higher abstraction resonates a little more."""


def _weighted(names: Mapping[str, str]) -> str:
    return " + ".join(f"$w_{channel} * ({term})" for channel, term in names.items())


def _may_answer(name: str) -> str:
    return f"coalesce({name}.abstraction, 'L0') <= $max_level"


_QUICK: Final = _weighted({channel: TERMS[channel] for channel in _OF_THE_RECORD})


def _links_of(ids: str, link: str) -> str:
    """At most `LINKS` links of the memories with these ids, as rows (s, e, i), those of the least linked first.

    A subquery, for of a `WITH … LIMIT` followed by a condition the engine checks the condition first.
    """
    return (
        f"CALL {{ MATCH (s:ConsciousnessNode) WHERE s.id IN {ids} WITH s ORDER BY {degree_now('s')}, s.id "
        f"MATCH (s)-[e:{link}]-(i:ConsciousnessNode) RETURN s, e, i LIMIT {LINKS} }} "
    )


_READ: Final = (
    "WITH near UNWIND near AS one WITH one[0] AS s, one[1] AS e, one[2] AS i "
    f"WHERE {visible('e')} "
)  # fmt: skip


def _asserted(link: str) -> str:
    """What links of the signal's nodes assert: [the memory that says so, its [type, source, target] …]."""
    return (
        f"{_links_of('$ids', link)} WITH collect([s, e, i]) AS near "
        f"CALL {{ {_READ} AND e.episode_id IS NOT NULL WITH DISTINCT e "
        "WITH e.episode_id AS episode, collect([e.relation_type, startNode(e).id, endNode(e).id]) AS said "
        "MATCH (w:ConsciousnessNode {id: episode}) "
        "WITH episode, said, any(t IN said WHERE t[0] IN $types) AS sought "
        f"ORDER BY sought DESC, size(said) DESC, episode LIMIT $pool RETURN collect([episode, said[..{SAID}]]) "
        "AS asserted } "
    )


def _nearest(label: str, column: str, vectors: str, ends: str, *, now: bool) -> str:
    kept = f"WHERE {visible('i')} AND {_may_answer('i')} " if now else ""
    return (
        f"UNWIND {vectors} AS v CALL db.idx.vector.queryNodes('{label}', '{column}', $k, vecf32(v)) "
        f"YIELD node AS t, score MATCH {ends} {kept} "
        "WITH i, score ORDER BY score, i.id LIMIT $pool RETURN i "
    )


def _with_words(label: str, ends: str, *, now: bool) -> str:
    kept = f"WHERE {visible('s')} AND {_may_answer('s')} "
    return (
        f"CALL db.idx.fulltext.queryNodes('{label}', $words) YIELD node AS s, score WITH s, score {kept} "
        f"WITH s, score ORDER BY score DESC, s.id LIMIT $pool {'WITH s AS i' if now else ends} RETURN i "
    )


_NEWEST: Final = (
    "MATCH (m:ConsciousnessNode) WHERE id(m) >= $newest "
    f"WITH m WHERE {visible('m')} AND {_may_answer('m')} "
    f"WITH m, {_QUICK} AS quick ORDER BY quick DESC, m.valid_at DESC, m.id LIMIT $pool RETURN m AS i "
)


def _latest_of(label: str, ends: str) -> str:
    """The last that were so at another moment, of those that lie around the place where the graph ended then."""
    return (
        f"MATCH (m:{label}) WHERE id(m) >= $newest AND id(m) < $until "
        f"WITH m WHERE {visible('m')} AND {_may_answer('m')} "
        f"WITH m ORDER BY m.valid_at DESC, m.id LIMIT $pool {ends} RETURN i "
    )


_HAS: Final = "(i:ConsciousnessNode)-[:HAS_TRACE]->(t)"
_HAD: Final = "(i:ConsciousnessNode)-[:HAD]->(:PastVersion)-[:HAS_TRACE]->(t)"
_ITS_IDENTITY: Final = "WITH s MATCH (i:ConsciousnessNode)-[:HAD]->(s) WITH i"


def _candidates(*, now: bool) -> str:
    branches = [
        "WITH asserted UNWIND asserted AS one WITH one[0] AS episode "
        "MATCH (i:ConsciousnessNode {id: episode}) RETURN i ",
        "MATCH (i:ConsciousnessNode) WHERE i.id IN $plural RETURN i ",
        f"{_READ} WITH i, count(DISTINCT s) AS hits "
        "ORDER BY hits DESC, i.valid_at DESC, i.id LIMIT $pool RETURN i ",
        _with_words("ConsciousnessNode", "WITH s AS i", now=now),
    ]
    for column, vectors in (("embedding", "$embeddings"), ("emotion", "$feelings")):
        branches.append(_nearest("Trace", column, vectors, _HAS, now=now))
        if not now:
            branches.append(_nearest("PastTrace", column, vectors, _HAS, now=now))
            branches.append(_nearest("PastTrace", column, vectors, _HAD, now=now))
    if now:
        branches.append(_NEWEST)
    else:
        branches.append(_with_words("PastVersion", _ITS_IDENTITY, now=now))
        branches.append(_latest_of("ConsciousnessNode", "WITH m AS i"))
        branches.append(_latest_of("PastVersion", "WITH m AS s " + _ITS_IDENTITY))
    return f"CALL {{ {' UNION ALL '.join(branches)} }} WITH DISTINCT i, asserted "


def _statement(*, now: bool) -> str:
    link = "LINK" if now else "LINK|PAST_LINK"
    record = f"WITH i, i AS m, asserted WHERE {visible('m')} AND " if now else "WITH i, m, asserted WHERE "
    said = "coalesce(head([one IN asserted WHERE one[0] = m.id | one[1]]), [])"
    channels = ", ".join(f"{term} AS {channel}" for channel, term in TERMS.items())
    total = _weighted({channel: channel for channel in TERMS})
    return (
        f"{_asserted(link)} {_candidates(now=now)} "
        f"{'' if now else records_of('i', 'm', 'asserted')} {record} {_may_answer('m')} "
        f"WITH i, m, {said} AS said "
        f"OPTIONAL MATCH (i)-[e:{link}]-(o:ConsciousnessNode) "
        f"WHERE {degree_now('i')} <= {CROWD} AND {visible('e')} "
        "WITH i, m, said, collect(DISTINCT o.id) AS others, "
        "collect(DISTINCT CASE WHEN o.name_key IS NULL THEN null ELSE o.id END) AS around, "
        "collect(DISTINCT CASE WHEN e IS NULL THEN null "
        "ELSE [e.relation_type, startNode(e).id, endNode(e).id] END) AS own "
        "OPTIONAL MATCH (m)-[:HAS_TRACE]->(t) "
        "WITH m, around, others + [a IN said | a[1]] + [a IN said | a[2]] AS linked, "
        "own + said AS held, 1.0 - vec.cosineDistance(t.embedding, vecf32($embedding)) AS alike "
        f"WITH m, around, {channels}, {SUPPRESSION} AS suppression, {BOOST} AS boost "
        f"WITH m, around, suppression, boost, {', '.join(TERMS)}, {total} AS total "
        "WITH *, total / $all_weights * suppression * boost AS resonance "
        "ORDER BY resonance DESC, m.id, m.version LIMIT $limit "
        f"RETURN resonance, total, suppression, boost, {', '.join(TERMS)}, "
        f"string.join(around, '|'), {node_columns('m')} ORDER BY resonance DESC, m.id, m.version"
    )


RESONATE_NOW: Final = Query("resonate_now", _statement(now=True))
"""What of the present resonates: (resonance, total, suppression, boost, channels, nodes around, memory)."""

RESONATE_THEN: Final = Query("resonate_then", _statement(now=False))
"""What of another moment resonates, from the present and the past side."""

RESOLVE: Final = Query(
    "resolve_names",
    "CALL db.meta.stats() YIELD nodeCount UNWIND [1, 4, 16, 64, 256] AS wide "
    f"WITH nodeCount - {NEWEST} * wide AS first CALL {{ WITH first "
    f"MATCH (n:ConsciousnessNode) WHERE id(n) >= first WITH n LIMIT {ENOUGH} RETURN count(n) AS held }} "
    "RETURN 'newest' AS kind, first AS key, held AS id "
    "UNION ALL MATCH (n:ConsciousnessNode) WHERE n.id IN $names RETURN 'id' AS kind, n.id AS key, n.id AS id "
    "UNION ALL MATCH (n:ConsciousnessNode) WHERE n.name_key IN $keys WITH n ORDER BY n.id LIMIT 256 "
    "RETURN 'name' AS kind, n.name_key AS key, n.id AS id "
    "UNION ALL MATCH (p:PastVersion) WHERE p.name_key IN $keys WITH p ORDER BY p.id LIMIT 256 "
    "RETURN DISTINCT 'name' AS kind, p.name_key AS key, p.id AS id",
)
"""Places near the end of the graph with how many memories lie behind each, and the memories that have these ids or
names, or once had."""

PROBES: Final = 64

PLACE_THEN: Final = Query(
    "place_then",
    f"CALL db.meta.stats() YIELD nodeCount UNWIND range(0, {PROBES - 1}) AS step CALL {{ WITH step, nodeCount "
    f"MATCH (n:ConsciousnessNode) WHERE id(n) >= step * nodeCount / {PROBES} WITH n LIMIT 1 "
    "RETURN CASE WHEN n.valid_at < $valid_to AND n.created_at < $known_to THEN 1 ELSE null END AS held } "
    "RETURN nodeCount, count(step), count(held)",
)
"""How many nodes there are, at how many places the graph was looked into, and at how many of these lies a memory
that was known and so by the end of the scope."""


def _surroundings(link: str) -> str:
    return (
        "MATCH (s:ConsciousnessNode) WHERE s.id IN $shown WITH s "
        f"MATCH (s)-[e:{link}]->(o:ConsciousnessNode) WHERE {visible('e')} AND o.name_key IS NOT NULL "
        "WITH DISTINCT o.id AS id, o.name AS name ORDER BY id LIMIT 32 RETURN 'node' AS kind, id, name "
        f"UNION ALL {_links_of('$near', link)} WITH e WHERE {visible('e')} "
        "WITH e.relation_type AS name, count(e) AS links ORDER BY links DESC, name LIMIT 64 "
        "RETURN 'type' AS kind, null AS id, name"
    )


SURROUNDINGS_NOW: Final = Query("surroundings_now", _surroundings("LINK"))
"""What the memories shown are about, and the types of the links around the memories named, commonest first."""

SURROUNDINGS_THEN: Final = Query("surroundings_then", _surroundings("LINK|PAST_LINK"))
"""The same with the links of the past side."""
