"""The queries that find the candidates of a question, and the columns of their rows. Pure.

A text has three parts: the starts (by likeness, by names and words, or a pool), how many of them stay, and the
links and memories around them. The parts meet in two variables: `s`, a record, and its `score`; for any moment but
the present also `i`, the memory whose record it is. Hops are followed for all starts at once and cut afterwards: a
subquery for each start costs the engine a matrix product each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from substrate.connection.kept import Record
from substrate.cypher.fragments import (
    HUB,
    LINK_COLUMNS,
    NODE_COLUMNS,
    felt,
    found_columns,
    found_then,
    is_evidence,
    link_columns,
    past_of,
    records_of,
    thin_columns,
    uncrowded_then,
    visible,
)
from substrate.cypher.query import Query

HOP, SCORE = 0, 1
LINK_START: Final = 4
NODE_START: Final = LINK_START + len(LINK_COLUMNS)
"""Where a row has `LINK_COLUMNS`, and where `NODE_COLUMNS`, to its end."""


class FoundRow(NamedTuple):
    """A row of a search. `hop`: how many links away the memory is, 0 for a start. `score`: of a start; by likeness
    its cosine distance. `source`, `target`: the ids of the two ends of the link; without one it is None.
    """

    hop: int
    score: Any
    source: str | None
    target: str | None
    link: Record | None
    memory: Record

    @classmethod
    def of(cls, row: Sequence[Any]) -> FoundRow:
        """That of the columns of a query; one that is made already is itself."""
        if isinstance(row, cls):
            return row
        hop, score, source, target = row[:LINK_START]
        link = None if source is None else Record(row[LINK_START:NODE_START])
        return cls(hop, score, source, target, link, Record(row[NODE_START:]))

    @property
    def id(self) -> str:
        """The id of the memory."""
        return str(self.memory.row[0])

    @property
    def version(self) -> int:
        """The version of the memory."""
        return int(self.memory.row[_VERSION])


_VERSION: Final = NODE_COLUMNS.index("version")

NAMED_STARTS: Final = 8
"""At most this many memories that the question names are starts."""
NAMED_RECORDS: Final = 64
"""At most this many of their records are starts for a range of time: a long history leaves room for the others."""
MAX_LINKS_READ: Final = "1000"
"""At most this many links of a memory, the strongest, are tested for hubs and for the moment at the other end."""
MAX_PAST_RECORDS: Final = 20_000
"""At most this many past records that hold one of the words are tested for the moment; each takes about 1 µs."""
MAX_BEGUN: Final = 2_000
"""At most this many memories that began in a period are compared with a question; 2,000 take about 10 ms."""
MAX_INSTRUCTIONS: Final = 40
"""At most this many turns of the asker that may be standing instructions are starts, and as many newest rules."""
FAVOURED_NEARER: Final = 0.1
FAVOURED_WORDS: Final = 1.5
"""By so much cosine the words of a favoured speaker count as nearer, and so much more in the order by words."""
_IS_FAVOURED: Final = "toLower(coalesce(s.speaker, '')) IN $favoured"
_FAVOURED_DISTANCE: Final = f"score - CASE WHEN {_IS_FAVOURED} THEN {FAVOURED_NEARER} ELSE 0.0 END"
_FAVOURED_WORDS: Final = f"score * CASE WHEN {_IS_FAVOURED} THEN {FAVOURED_WORDS} ELSE 1.0 END"

STRENGTH: Final = "e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC"
_ROW: Final = f"RETURN hop, score, startNode(e).id, endNode(e).id, {link_columns('e')}, {found_columns('m')}"


def count_starts(rows: Sequence[Sequence[Any]]) -> int:
    """How many of the rows are starts."""
    return sum(row[HOP] == 0 for row in rows)


def findable(name: str) -> str:
    """The conditions on a record other than time. What was only made of a name is found by no question: measured,
    the texts with the name are found better without it."""
    return f"{felt(name)} AND {is_evidence(name)}"


def walked(name: str) -> str:
    """The conditions on a link other than time. Links made of names in a text are not followed: measured, they
    lead astray."""
    return f"({name}.unset IS NULL OR NOT {name}.unset STARTS WITH 'goal,')"


def _walkable(name: str) -> str:
    return f"{visible(name)} AND {walked(name)}"


def best(start: str, other: str, cap: str) -> str:
    """At most `cap` links of each `start`, the strongest, one row each."""
    return (
        f"WITH {start}, e, {other} ORDER BY {STRENGTH} "
        f"WITH {start}, collect(e)[..{cap}] AS links, collect({other})[..{cap}] AS others "
        f"UNWIND range(0, size(links) - 1) AS place WITH {start}, links[place] AS e, others[place] AS {other} "
    )


_STARTS_ROWS: Final = (
    "CALL { WITH starts, scores UNWIND range(0, size(starts) - 1) AS place "
    "RETURN 0 AS hop, scores[place] AS score, null AS e, starts[place] AS m "
)

# Likeness: each text binds `s` and its distance `score`.

_IS_WANTED: Final = f"{visible('s')} AND {findable('s')}"
_DISTANCE: Final = "vec.cosineDistance(t.embedding, vecf32($embedding)) AS score WHERE score IS NOT NULL "
_SCAN_NOW: Final = (
    f"MATCH (s:ConsciousnessNode) WHERE {visible('s')} AND {findable('s')} "
    f"WITH s MATCH (s)-[:HAS_TRACE]->(t:Trace) WITH s, {_DISTANCE}"
)
_MEMBERS_NOW: Final = (
    "MATCH (g:Tag {name: $label}) WITH g MATCH (s:ConsciousnessNode)-[:TAGGED]->(g) "
    f"WITH s WHERE {visible('s')} AND {findable('s')} "
    f"WITH s MATCH (s)-[:HAS_TRACE]->(t:Trace) WITH s, {_DISTANCE}"
)
_THIN_ROW: Final = f"RETURN 0 AS hop, score, {thin_columns('s')}"
_NEAREST_NOW: Final = f"WITH s, score ORDER BY {_FAVOURED_DISTANCE}, s.id LIMIT $limit {_THIN_ROW}"


def _find_instructions(label: str) -> str:
    """Turns of the asker that may be standing instructions."""
    return (
        "UNWIND $instruction_words AS words "
        f"CALL db.idx.fulltext.queryNodes('{label}', words) YIELD node AS s, score "
        f"WITH s, score WHERE toLower(s.speaker) IN $askers AND {visible('s')} AND {findable('s')} "
    )


def _find_rules(label: str) -> str:
    """What was kept as a rule. The comparison, unlike `IS NOT NULL`, is answered by the index."""
    return (
        "UNWIND $instruction_words AS words "
        f"MATCH (s:{label}) WHERE s.rule > '' WITH s WHERE {visible('s')} AND {findable('s')} "
    )


_BY_WORDS_NOW: Final = (
    "CALL { "
    f"MATCH (s:ConsciousnessNode) WHERE s.id IN $entities WITH s WHERE {visible('s')} AND {findable('s')} "
    f"RETURN s, 0.0 AS score ORDER BY s.id LIMIT {NAMED_STARTS} "
    "UNION ALL "
    "CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words) YIELD node AS s, score "
    f"WITH s, score WHERE NOT s.id IN $entities AND {visible('s')} AND {findable('s')} "
    f"RETURN s, score ORDER BY {_FAVOURED_WORDS} DESC, s.id LIMIT $limit "
)
_STARTS_NOW: Final = (
    f"{_BY_WORDS_NOW}UNION ALL {_find_instructions('ConsciousnessNode')}"
    f"RETURN s, score ORDER BY score DESC, s.id LIMIT {MAX_INSTRUCTIONS} "
    f"UNION ALL {_find_rules('ConsciousnessNode')}"
    f"RETURN s, 0.0 AS score ORDER BY s.valid_at DESC, s.id LIMIT {MAX_INSTRUCTIONS} "
    "} "
)


def _with_records(identity: str, carried: str) -> str:
    """Keeps the rows whose memory `identity` has records in the scope, with these in the list `records`."""
    return (
        f"{past_of(identity, carried)}WHERE {visible('p')} AND {findable('p')} "
        f"WITH {carried}, {identity}, collect(p) AS past "
        f"WITH {carried}, {identity}, "
        f"past + CASE WHEN {visible(identity)} AND {findable(identity)} THEN [{identity}] ELSE [] END AS records "
        "WHERE size(records) > 0 "
    )


_FIRST_HOP_THEN: Final = (
    "UNION ALL WITH identities UNWIND identities[..$expanded] AS i WITH DISTINCT i "
    f"MATCH (i)-[e:LINK|PAST_LINK]-(j) WHERE {_walkable('e')} "
    f"{best('i', 'j', MAX_LINKS_READ)} WITH i, e, j {_with_records('j', 'i, e')} "
    f"{best('i', 'records', '$first_hop')} "
    "UNWIND records AS m RETURN 1 AS hop, null AS score, e, m "
)

_SECOND_HOP_THEN: Final = (
    "UNION ALL WITH identities UNWIND identities[..$far] AS i WITH DISTINCT i "
    f"{uncrowded_then('i', 'i', HUB)}MATCH (i)-[e:LINK|PAST_LINK]-(b) WHERE {_walkable('e')} "
    f"{best('i', 'b', MAX_LINKS_READ)} {uncrowded_then('b', 'i, e, b', HUB)} {_with_records('b', 'i, e')} "
    f"{best('i', 'b', '$second_starts')} WITH DISTINCT i, b MATCH (b)-[e:LINK|PAST_LINK]-(j) "
    f"WHERE {_walkable('e')} AND j.id <> i.id WITH i, b, e, j {_with_records('j', 'i, b, e')} "
    f"{best('i, b', 'records', '$second_hop')} "
    "UNWIND records AS m RETURN 2 AS hop, null AS score, e, m "
)

_COLLECT_THEN: Final = "WITH collect(s) AS starts, collect(i) AS identities, collect(score) AS scores "

_NEIGHBOURS_THEN: Final = f"{_COLLECT_THEN} {_STARTS_ROWS} {_FIRST_HOP_THEN} {_SECOND_HOP_THEN} }} {_ROW}"


_INDEX_THEN: Final = found_then(_IS_WANTED)
_SCAN_THEN: Final = (
    "CALL { "
    f"MATCH (s:ConsciousnessNode) WHERE {visible('s')} AND {findable('s')} RETURN s, s AS i "
    f"UNION ALL MATCH (s:PastVersion) WHERE {visible('s')} AND {findable('s')} "
    "WITH s MATCH (i:ConsciousnessNode)-[:HAD]->(s) RETURN s, i "
    "} "
    f"WITH s, i MATCH (s)-[:HAS_TRACE]->(t) WITH s, i, {_DISTANCE}WITH s, i, score "
)
_NEAREST_THEN: Final = f"ORDER BY {_FAVOURED_DISTANCE}, s.id, s.version LIMIT $limit {_NEIGHBOURS_THEN}"

_STARTS_THEN: Final = (
    "CALL { "
    "MATCH (i:ConsciousnessNode) WHERE i.id IN $entities WITH i "
    f"{records_of('i', 's')} WHERE {findable('s')} "
    f"RETURN s, i, 0.0 AS score ORDER BY s.id, s.version LIMIT {NAMED_RECORDS} "
    "UNION ALL "
    "CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words) YIELD node AS s, score "
    f"WITH s, score WHERE NOT s.id IN $entities AND {visible('s')} AND {findable('s')} "
    f"RETURN s, s AS i, score ORDER BY {_FAVOURED_WORDS} DESC, s.id LIMIT $limit "
    "UNION ALL "
    "CALL db.idx.fulltext.queryNodes('PastVersion', $words) YIELD node AS s, score "
    f"WITH s, score LIMIT {MAX_PAST_RECORDS} "
    f"WITH s, score WHERE NOT s.id IN $entities AND {visible('s')} AND {findable('s')} "
    "MATCH (i:ConsciousnessNode)-[:HAD]->(s) "
    f"RETURN s, i, score ORDER BY {_FAVOURED_WORDS} DESC, s.id, s.version LIMIT $limit "
    f"UNION ALL {_find_instructions('ConsciousnessNode')}"
    f"RETURN s, s AS i, score ORDER BY score DESC, s.id LIMIT {MAX_INSTRUCTIONS} "
    f"UNION ALL {_find_instructions('PastVersion')} MATCH (i:ConsciousnessNode)-[:HAD]->(s) "
    f"RETURN s, i, score ORDER BY score DESC, s.id, s.version LIMIT {MAX_INSTRUCTIONS} "
    f"UNION ALL {_find_rules('ConsciousnessNode')}"
    f"RETURN s, s AS i, 0.0 AS score ORDER BY s.valid_at DESC, s.id LIMIT {MAX_INSTRUCTIONS} "
    f"UNION ALL {_find_rules('PastVersion')} MATCH (i:ConsciousnessNode)-[:HAD]->(s) "
    f"RETURN s, i, 0.0 AS score ORDER BY s.valid_at DESC, s.id, s.version LIMIT {MAX_INSTRUCTIONS} "
    "} "
)

_IMPORTANCE: Final = (
    "CASE WHEN coalesce(m.importance, 0.0) > $importance_floor THEN m.importance ELSE $importance_floor END"
)


def _find_recent(label: str) -> str:
    """One scan. Internal ids would be cheaper, but follow the order of writing, not of time."""
    return (
        f"MATCH (m:{label}) WHERE m.valid_at >= $recent_from AND {visible('m')} AND {findable('m')} "
        "RETURN m ORDER BY m.valid_at DESC, m.id, m.version LIMIT $recent "
    )


def _find_matching(label: str) -> str:
    return (
        f"CALL db.idx.fulltext.queryNodes('{label}', $words) YIELD node AS m, score "
        f"WITH m, score WHERE m.valid_at < $recent_from AND {visible('m')} AND {findable('m')} "
        f"RETURN m ORDER BY {_IMPORTANCE} DESC, score DESC, m.id, m.version LIMIT $matching "
    )


def _draw(label: str) -> str:
    """Memories by chance, each by its internal id. What else the graph gets, as notes, moves no lot."""
    return (
        f"MATCH (m:{label}) WITH max(id(m)) + 1 AS ids UNWIND range(0, size($lots) - 1) AS lot "
        "WITH lot, toInteger($lots[lot] * ids) AS place "
        f"MATCH (m:{label}) WHERE id(m) = place "
        f"WITH m, min(lot) AS lot WHERE m.valid_at < $recent_from AND {visible('m')} AND {findable('m')} "
        "RETURN m ORDER BY lot LIMIT $chance "
    )


def _pools(*labels: str) -> str:
    pools = [pool(label) for pool in (_find_recent, _find_matching, _draw) for label in labels]
    return (
        f"CALL {{ {'UNION ALL '.join(pools)} }} WITH DISTINCT m, null AS e  "
        f"RETURN 0 AS hop, 0.0 AS score, null AS source, null AS target, {link_columns('e')}, {found_columns('m')}"
    )


def _all_begun(labels: Iterable[str]) -> str:
    """Memories that began in one of the periods, found by the index of their times."""
    pools: list[str] = []
    for label in labels:
        pools.append(
            f"UNWIND $periods AS period MATCH (m:{label}) WHERE m.valid_at >= period[0] "
            f"AND m.valid_at < period[1] AND {visible('m')} AND {findable('m')} "
            f"WITH DISTINCT m LIMIT {MAX_BEGUN} RETURN m"
        )
    return f"CALL {{ {' UNION ALL '.join(pools)} }}"


_BEGUN_ROW: Final = (
    "WITH m, score, null AS e RETURN 0 AS hop, score, null AS source, null AS target, "
    f"{link_columns('e')}, {found_columns('m')}"
)


def _find_begun(*labels: str) -> str:
    return (
        f"{_all_begun(labels)} "
        f"WITH m, null AS score ORDER BY m.valid_at, m.id, m.version LIMIT $limit {_BEGUN_ROW}"
    )


def _find_begun_near(*labels: str) -> str:
    """A memory may have several traces; the nearest counts."""
    return (
        f"{_all_begun(labels)} "
        "WITH m MATCH (m)-[:HAS_TRACE]->(t) "
        "WITH m, vec.cosineDistance(t.embedding, vecf32($embedding)) AS distance "
        "WITH m, min(distance) AS score WHERE score IS NOT NULL "
        f"WITH m, score ORDER BY score, m.id, m.version LIMIT $limit {_BEGUN_ROW}"
    )


class Texts(NamedTuple):
    """The queries for the present, or for any moment.

    `nearest` and `scan`: the memories nearest to the embedding and two hops around them, by a search of vectors or
    exactly: for small graphs, and where filters leave too little of what the search finds. For the present
    `nearest` says which of some memories pass the filters (`substrate.store.neighbours`). `reached`: two hops from
    the memories that the question names and those that share words with it, strongest links first; `instructed`:
    from standing instructions too.
    `pools`: recent memories, older ones that match, older ones by chance (004). `begun`: what began in some
    periods, the earliest first; `begun_near`: the nearest to the embedding first.
    """

    nearest: Query
    scan: Query
    reached: Query
    instructed: Query
    pools: Query
    begun: Query
    begun_near: Query


NOW: Final = Texts(
    nearest=Query(
        "vector_now", f"MATCH (s:ConsciousnessNode) WHERE s.id IN $ids WITH s WHERE {findable('s')} RETURN s.id"
    ),
    scan=Query("scan_now", f"{_SCAN_NOW}{_NEAREST_NOW}"),
    reached=Query("graph_now", f"{_BY_WORDS_NOW}}} {_THIN_ROW}"),
    instructed=Query("instructed_now", f"{_STARTS_NOW} {_THIN_ROW}"),
    pools=Query("pools_now", _pools("ConsciousnessNode")),
    begun=Query("begun_now", _find_begun("ConsciousnessNode")),
    begun_near=Query("begun_near_now", _find_begun_near("ConsciousnessNode")),
)
"""The present alone: for a graph whose past side is not needed."""

_REACHED_THEN: Final = Query("graph_then", f"{_STARTS_THEN} {_NEIGHBOURS_THEN}")
THEN: Final = Texts(
    nearest=Query("vector_then", f"{_INDEX_THEN}{_NEAREST_THEN}"),
    scan=Query("scan_then", f"{_SCAN_THEN}{_NEAREST_THEN}"),
    reached=_REACHED_THEN,
    instructed=_REACHED_THEN,
    pools=Query("pools_then", _pools("ConsciousnessNode", "PastVersion")),
    begun=Query("begun_then", _find_begun("ConsciousnessNode", "PastVersion")),
    begun_near=Query("begun_near_then", _find_begun_near("ConsciousnessNode", "PastVersion")),
)
"""Any moment: the present side and the past side together."""

GIVEN: Final = (
    "UNWIND range(0, size($given) - 1) AS place WITH place, $given[place] AS one "
    "MATCH (i:ConsciousnessNode {id: one[0]}) WITH place, one, i "
    "OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion) WHERE p.version = one[1] "
    "WITH place, one, i, collect(p) AS past "
    "UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s "
    f"WITH s, i, place, coalesce(one[2], 0.0) AS score WHERE {visible('s')} "
)
"""Starts that were found before, by id and version, in the order in which they are given."""
_GIVEN_NEAR: Final = (
    f"{GIVEN}MATCH (s)-[:HAS_TRACE]->(t) "
    "WITH s, i, place, min(vec.cosineDistance(t.embedding, vecf32($embedding))) AS score WHERE score IS NOT NULL "
)
_IN_PLACE: Final = "WITH s, i, score, place ORDER BY place "
GIVEN_NEAREST: Final = Query("given_nearest", f"{_GIVEN_NEAR}{_IN_PLACE}{_NEIGHBOURS_THEN}")
GIVEN_REACHED: Final = Query("given_reached", f"{GIVEN}{_IN_PLACE}{_NEIGHBOURS_THEN}")
GIVEN_ALONE: Final = Query(
    "given_alone",
    f"{GIVEN}{_IN_PLACE}WITH s AS m, score, null AS e RETURN 0 AS hop, score, null AS source, null AS target, "
    f"{link_columns('e')}, {found_columns('m')}",
)
"""What was found by likeness, by words and names, or without links, read again as of another moment."""


MEMBERS_NOW: Final = Query("members_now", f"{_MEMBERS_NOW}{_NEAREST_NOW}")
"""`scan` among the memories that have a label, for a label that few memories of a large graph have."""

THIN: Final = frozenset(
    query.name for query in (*(NOW.nearest, NOW.scan, NOW.reached), NOW.instructed, MEMBERS_NOW)
)
"""The queries for the present whose rows are starts alone: hop 0, score, and the columns of `thin_columns`. What
is around them is read by `substrate.store.neighbours`, what they say by `substrate.store.found_records`."""
THIN_NAME: Final = 2
"""From here on the name of the record in such a row."""
