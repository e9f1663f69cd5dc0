"""What reads the graph for a stream: what it knows of the words, likeness, traversal.

Rows of likeness and traversal have one shape: (hop, score, link source id, link target id, link columns,
memory columns). A row of hop 0 has no link: it is a start. Hops are followed for all starts at once and cut
afterwards: a subquery for each start costs the engine a matrix product each.
"""

from __future__ import annotations

from typing import Final

from substrate.cypher.fragments import felt, link_columns, node_columns, uncrowded_now, uncrowded_then, visible
from substrate.cypher.query import Query

DOCUMENT_CAP: Final = 250
"""How many memories with a word are counted: rarer words are weighed exactly, commoner ones by an estimate."""

NAMES_A_WORD: Final = 8
"""How many names that hold a word are looked at; a word in more names than that names nobody by itself."""

_SIZES: Final = (
    "CALL db.meta.stats() YIELD labels "
    "RETURN 'size' AS kind, null AS key, labels.ConsciousnessNode AS amount, "
    "labels.Trace AS name, labels.PastTrace AS aliases, labels.PastVersion AS node_type "
)


def _words_in(label: str, kind: str) -> str:
    return (
        "UNION ALL UNWIND $words AS word CALL { WITH word "
        f"CALL db.idx.fulltext.queryNodes('{label}', word) YIELD node "
        f"WITH node LIMIT {DOCUMENT_CAP} RETURN count(node) AS found }} "
        f"RETURN '{kind}' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type "
    )


def _names_in(label: str) -> str:
    named = (
        "'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases, "
        "node.node_type AS node_type "
    )
    return (
        f"UNION ALL MATCH (node:{label}) WHERE node.name_key IN $phrases WITH node LIMIT 64 RETURN {named}"
        "UNION ALL UNWIND $sounds AS sound CALL { WITH sound "
        f"CALL db.idx.fulltext.queryNodes('{label}', sound) YIELD node RETURN node LIMIT {NAMES_A_WORD} }} "
        f"RETURN DISTINCT {named}"
    )


LEXICON_NOW: Final = Query(
    "lexicon_now", f"{_SIZES} {_words_in('ConsciousnessNode', 'word')} {_names_in('ConsciousnessNode')}"
)
"""Sizes, in how many memories each word occurs, the memories that the query names, and those that sound alike."""

LEXICON_THEN: Final = Query(
    "lexicon_then", f"{LEXICON_NOW.text} {_words_in('PastVersion', 'was')} {_names_in('PastVersion')}"
)
"""The same with the words and names of past records: `was` counts records, of which a memory may have many."""

NAMED: Final = 8
"""How many memories that the query names are starts."""

NAMED_RECORDS: Final = 64
"""How many of their records of a range are: one with a long past leaves room for the others."""

FARTHEST: Final = 3.0
"""Beyond every cosine distance."""

HUB: Final = 64
"""A memory with so many links says little about any one of them: no second hop begins at it or goes through it."""

LOOKED_AT: Final = "1000"
"""Of so many of a memory's links, the strongest, it is asked whether the other end is a hub or was there then."""

RECORDS_LOOKED_AT: Final = 20_000
"""Of so many past records that hold one of the words it is asked whether they held then; each takes about 1 µs."""

WISHES: Final = 40
"""How many of the asker's turns that may be standing wishes are looked at."""

_STRENGTH: Final = "e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC"

_ROW: Final = f"RETURN hop, score, startNode(e).id, endNode(e).id, {link_columns('e')}, {node_columns('m')}"


def _best(start: str, other: str, cap: str) -> str:
    """The strongest links of each `start`, at most `cap`: one row a link again."""
    return (
        f"WITH {start}, e, {other} ORDER BY {_STRENGTH} "
        f"WITH {start}, collect(e)[..{cap}] AS links, collect({other})[..{cap}] AS others "
        f"UNWIND range(0, size(links) - 1) AS place WITH {start}, links[place] AS e, others[place] AS {other} "
    )


_STARTS_ROWS: Final = (
    "CALL { WITH starts, scores UNWIND range(0, size(starts) - 1) AS place "
    "RETURN 0 AS hop, scores[place] AS score, null AS e, starts[place] AS m "
)

_FIRST_HOP_NOW: Final = (
    "UNION ALL WITH starts UNWIND starts[..$expanded] AS s "
    f"MATCH (s)-[e:LINK]-(m) WHERE {visible('e')} AND {visible('m')} AND {felt('m')} "
    f"{_best('s', 'm', '$first_hop')} RETURN 1 AS hop, null AS score, e, m "
)

_SECOND_HOP_NOW: Final = (
    f"UNION ALL WITH starts UNWIND starts[..$far] AS s {uncrowded_now('s', 's', HUB)}"
    f"MATCH (s)-[e:LINK]-(b) WHERE {visible('e')} AND {visible('b')} AND {felt('b')} "
    f"{_best('s', 'b', LOOKED_AT)} {uncrowded_now('b', 's, e, b', HUB)} "
    f"{_best('s', 'b', '$second_starts')} WITH DISTINCT s, b "
    f"MATCH (b)-[e:LINK]-(m) WHERE {visible('e')} AND {visible('m')} AND {felt('m')} AND m.id <> s.id "
    f"{_best('s, b', 'm', '$second_hop')} RETURN 2 AS hop, null AS score, e, m "
)

_NEIGHBOURS_NOW: Final = (
    "WITH collect(s) AS starts, collect(score) AS scores "
    f"{_STARTS_ROWS} {_FIRST_HOP_NOW} {_SECOND_HOP_NOW} }} {_ROW}"
)

VECTOR_NOW: Final = Query(
    "vector_now",
    "CALL db.idx.vector.queryNodes('Trace', 'embedding', $k, vecf32($embedding)) YIELD node AS t, score "
    f"MATCH (s:ConsciousnessNode)-[:HAS_TRACE]->(t) WHERE {visible('s')} AND {felt('s')} "
    f"WITH s, score ORDER BY score, s.id LIMIT $limit {_NEIGHBOURS_NOW}",
)
"""The memories of the present nearest to the embedding, the first of them with their strongest links."""

SCAN_NOW: Final = Query(
    "scan_now",
    f"MATCH (s:ConsciousnessNode) WHERE {visible('s')} AND {felt('s')} "
    "WITH s MATCH (s)-[:HAS_TRACE]->(t:Trace) "
    "WITH s, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score WHERE score IS NOT NULL "
    f"WITH s, score ORDER BY score, s.id LIMIT $limit {_NEIGHBOURS_NOW}",
)
"""The same by an exact scan: for small graphs, and where filters starved the index."""

MEMBERS_NOW: Final = Query(
    "members_now",
    "MATCH (g:Tag {name: $label}) WITH g MATCH (s:ConsciousnessNode)-[:TAGGED]->(g) "
    f"WITH s WHERE {visible('s')} AND {felt('s')} "
    "WITH s MATCH (s)-[:HAS_TRACE]->(t:Trace) "
    "WITH s, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score WHERE score IS NOT NULL "
    f"WITH s, score ORDER BY score, s.id LIMIT $limit {_NEIGHBOURS_NOW}",
)
"""The same by an exact scan of the memories that have a label: where few of a large graph have it."""


def _wished(label: str) -> str:
    """What the asker may have wished for once and for all."""
    return (
        f"UNWIND $wishes AS wish CALL db.idx.fulltext.queryNodes('{label}', wish) YIELD node AS s, score "
        f"WITH s, score WHERE toLower(s.speaker) IN $askers AND {visible('s')} AND {felt('s')} "
    )


_STARTS_NOW: Final = (
    "CALL { "
    f"MATCH (s:ConsciousnessNode) WHERE s.id IN $entities WITH s WHERE {visible('s')} AND {felt('s')} "
    f"RETURN s, -1.0 AS score ORDER BY s.id LIMIT {NAMED} "
    "UNION ALL "
    "CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words) YIELD node AS s, score "
    f"WITH s, score WHERE NOT s.id IN $entities AND {visible('s')} AND {felt('s')} "
    "RETURN s, score ORDER BY score DESC, s.id LIMIT $limit "
    f"UNION ALL {_wished('ConsciousnessNode')}"
    f"RETURN s, score ORDER BY score DESC, s.id LIMIT {WISHES} "
    "} "
)

GRAPH_NOW: Final = Query(
    "graph_now",
    f"{_STARTS_NOW} {_NEIGHBOURS_NOW}",
)
"""Two hops from the named memories and from those that share words with the query, strongest links first."""


def _record_of(identity: str, record: str, carried: str) -> str:
    """The records that the identity had in the scope; `carried` are the other variables still needed.

    Not a nested `CALL { ... UNION ... }`: that crashes the engine.
    """
    group = carried if carried == identity else f"{carried}, {identity}"
    return (
        f"OPTIONAL MATCH ({identity})-[:HAD]->(p:PastVersion) WHERE {visible('p')} "
        f"WITH {group}, collect(p) AS past "
        f"UNWIND (past + CASE WHEN {visible(identity)} THEN [{identity}] ELSE [] END) AS {record} "
        f"WITH {carried}, {record} WHERE {felt(record)} "
    )


def _with_records(identity: str, carried: str) -> str:
    """Only rows whose `identity` had records in the scope; these as the list `records`."""
    return (
        f"OPTIONAL MATCH ({identity})-[:HAD]->(p:PastVersion) WHERE {visible('p')} AND {felt('p')} "
        f"WITH {carried}, {identity}, collect(p) AS past "
        f"WITH {carried}, {identity}, "
        f"past + CASE WHEN {visible(identity)} AND {felt(identity)} THEN [{identity}] ELSE [] END AS records "
        "WHERE size(records) > 0 "
    )


_FIRST_HOP_THEN: Final = (
    "UNION ALL WITH identities UNWIND identities[..$expanded] AS i WITH DISTINCT i "
    f"MATCH (i)-[e:LINK|PAST_LINK]-(j) WHERE {visible('e')} "
    f"{_best('i', 'j', LOOKED_AT)} WITH i, e, j {_with_records('j', 'i, e')} "
    f"{_best('i', 'records', '$first_hop')} "
    "UNWIND records AS m RETURN 1 AS hop, null AS score, e, m "
)

_SECOND_HOP_THEN: Final = (
    "UNION ALL WITH identities UNWIND identities[..$far] AS i WITH DISTINCT i "
    f"{uncrowded_then('i', 'i', HUB)}MATCH (i)-[e:LINK|PAST_LINK]-(b) WHERE {visible('e')} "
    f"{_best('i', 'b', LOOKED_AT)} {uncrowded_then('b', 'i, e, b', HUB)} {_with_records('b', 'i, e')} "
    f"{_best('i', 'b', '$second_starts')} WITH DISTINCT i, b MATCH (b)-[e:LINK|PAST_LINK]-(j) "
    f"WHERE {visible('e')} AND j.id <> i.id WITH i, b, e, j {_with_records('j', 'i, b, e')} "
    f"{_best('i, b', 'records', '$second_hop')} "
    "UNWIND records AS m RETURN 2 AS hop, null AS score, e, m "
)

_COLLECT_THEN: Final = "WITH collect(s) AS starts, collect(i) AS identities, collect(score) AS scores "

_NEIGHBOURS_THEN: Final = f"{_COLLECT_THEN} {_STARTS_ROWS} {_FIRST_HOP_THEN} {_SECOND_HOP_THEN} }} {_ROW}"


def _nearest_of(label: str, name: str) -> str:
    """The traces of one index nearest to the embedding, and how far was looked: beyond that nothing is known."""
    return (
        f"CALL {{ CALL db.idx.vector.queryNodes('{label}', 'embedding', $k, vecf32($embedding)) "
        "YIELD node, score "
        f"RETURN collect(node) AS {name}, collect(score) AS {name}_scores, "
        f"CASE WHEN count(node) < $k THEN {FARTHEST} ELSE max(score) END AS {name}_seen }} "
    )


VECTOR_THEN: Final = Query(
    "vector_then",
    f"{_nearest_of('Trace', 'present')} {_nearest_of('PastTrace', 'past')}"
    "WITH present + past AS traces, present_scores + past_scores AS scores, "
    "CASE WHEN present_seen < past_seen THEN present_seen ELSE past_seen END AS seen "
    "UNWIND range(0, size(traces) - 1) AS place "
    "WITH traces[place] AS t, scores[place] AS score, seen WHERE score <= seen "
    f"MATCH (s)-[:HAS_TRACE]->(t) WHERE {visible('s')} AND {felt('s')} "
    "WITH s, score OPTIONAL MATCH (i:ConsciousnessNode)-[:HAD]->(s) "
    f"WITH s, coalesce(i, s) AS i, score ORDER BY score, s.id, s.version LIMIT $limit {_NEIGHBOURS_THEN}",
)
"""The memories of another moment nearest to the embedding: the present side and the past side together.

Only as far as both sides were looked at: what lies farther on one side may have nearer ones unseen on the other.
"""

SCAN_THEN: Final = Query(
    "scan_then",
    "CALL { "
    f"MATCH (s:ConsciousnessNode) WHERE {visible('s')} AND {felt('s')} RETURN s, s AS i "
    f"UNION ALL MATCH (s:PastVersion) WHERE {visible('s')} AND {felt('s')} "
    "WITH s MATCH (i:ConsciousnessNode)-[:HAD]->(s) RETURN s, i "
    "} "
    "WITH s, i MATCH (s)-[:HAS_TRACE]->(t) "
    "WITH s, i, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score WHERE score IS NOT NULL "
    f"WITH s, i, score ORDER BY score, s.id, s.version LIMIT $limit {_NEIGHBOURS_THEN}",
)
"""The same by an exact scan."""

_STARTS_THEN: Final = (
    "CALL { "
    "MATCH (i:ConsciousnessNode) WHERE i.id IN $entities WITH i "
    f"{_record_of('i', 's', 'i')} RETURN s, i, -1.0 AS score ORDER BY s.id, s.version LIMIT {NAMED_RECORDS} "
    "UNION ALL "
    "CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words) YIELD node AS s, score "
    f"WITH s, score WHERE NOT s.id IN $entities AND {visible('s')} AND {felt('s')} "
    "RETURN s, s AS i, score ORDER BY score DESC, s.id LIMIT $limit "
    "UNION ALL "
    "CALL db.idx.fulltext.queryNodes('PastVersion', $words) YIELD node AS s, score "
    f"WITH s, score LIMIT {RECORDS_LOOKED_AT} "
    f"WITH s, score WHERE NOT s.id IN $entities AND {visible('s')} AND {felt('s')} "
    "MATCH (i:ConsciousnessNode)-[:HAD]->(s) "
    "RETURN s, i, score ORDER BY score DESC, s.id, s.version LIMIT $limit "
    f"UNION ALL {_wished('ConsciousnessNode')}"
    f"RETURN s, s AS i, score ORDER BY score DESC, s.id LIMIT {WISHES} "
    f"UNION ALL {_wished('PastVersion')} MATCH (i:ConsciousnessNode)-[:HAD]->(s) "
    f"RETURN s, i, score ORDER BY score DESC, s.id, s.version LIMIT {WISHES} "
    "} "
)

GRAPH_THEN: Final = Query(
    "graph_then",
    f"{_STARTS_THEN} {_NEIGHBOURS_THEN}",
)
"""Two hops as they were at another moment."""
