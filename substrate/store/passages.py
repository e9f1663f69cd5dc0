"""The passages of long texts: stored, found by likeness and by words, counted, erased.

A passage belongs to a text of a memory, not to a record: it has the id of the memory and the digest of the text,
and so has each record with that text, under `passages`. A correction of anything else leaves the passages as they
are; a new text has its own, and those of the former one serve questions about the past.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.temporal import END_OF_TIME
from substrate.connection.pool import Row
from substrate.cypher.fragments import CUT_MARK, SHIFT, felt, found_columns, is_evidence, link_columns, visible
from substrate.cypher.query import Query
from substrate.graphs.filling import withdraw
from substrate.graphs.graph import Graph
from substrate.likeness import port as likeness
from substrate.likeness.elements import Role, Vector

PASSAGES_AT_ONCE: Final = 50
"""Passages of one statement: each indexed vector adds about 1 ms to the commit, which blocks all graphs."""
ERASED_AT_ONCE: Final = 50
STRAYS_A_PAGE: Final = 2000
BY_WORDS: Final = 120
"""At most this many passages are found by words."""
MOST_OF_ONE: Final = 12
"""At most this many passages of one memory are compared by words: the nearest, and those with the words."""

PLACES: Final = 2
"""The column of a row of a passage query with its passages, as in `FoundPassage`."""

_OWNED: Final = (
    "MATCH (n:ConsciousnessNode {id: $memory_id}) "
    "OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion) WHERE p.passages = $digest "
    "WITH n, count(p) AS past WHERE n.passages = $digest OR past > 0 "
)
"""Goes on only if a record of the memory has the text: a memory that was erased meanwhile gets no passages."""

ADD: Final = Query(
    "add_passages",
    f"{SHIFT} {_OWNED} UNWIND $rows AS r "
    "OPTIONAL MATCH (q:Passage {handle: r.handle}) WITH r, q WHERE q IS NULL "
    "CREATE (p:Passage {handle: r.handle, memory_id: $memory_id, digest: $digest, start: r.start, end: r.end, "
    "text: r.text, search_text: r.search_text})"
    "-[:HAS_TRACE]->(:PassageTrace {embedding: vecf32(r.embedding)}) RETURN count(p)",
)
STORED: Final = Query(
    "stored_passages",
    "MATCH (q:Passage {memory_id: $memory_id}) WHERE q.digest = $digest AND outdegree(q, 'HAS_TRACE') > 0 "
    "RETURN q.start",
)
ERASE: Final = Query(
    "erase_passages",
    f"{SHIFT} MATCH (q:Passage) WHERE q.memory_id IN $ids WITH q LIMIT $rows "
    "OPTIONAL MATCH (q)-[:HAS_TRACE|HAS_OTHER_TRACE]->(t) "
    "WITH collect(DISTINCT q) AS passages, collect(DISTINCT t) AS traces "
    "FOREACH (t IN traces | DELETE t) FOREACH (q IN passages | DELETE q) RETURN size(passages), size(traces)",
)
"""Row: the numbers of deleted passages and traces."""

_LEFT_BEHIND: Final = (
    "OPTIONAL MATCH (n:ConsciousnessNode {{id: q.memory_id}}) "
    "OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion) WHERE p.passages = q.digest "
    "WITH {0}q, n, count(p) AS past WHERE n IS NULL OR (past = 0 AND coalesce(n.passages, -1) <> q.digest) "
)
"""Keeps the passages `q` whose text no record has."""
STRAYS: Final = Query(
    "stray_passages",
    "MATCH (q:Passage) WHERE id(q) > $after WITH q LIMIT $rows WITH collect(q) AS page, max(id(q)) AS last "
    f"UNWIND page AS q {_LEFT_BEHIND.format('last, ')} RETURN last, q.memory_id, count(q)",
)
"""Of the next passages those whose text no record has any more, by memory."""
LAST_OF_PAGE: Final = Query(
    "last_passage", "MATCH (q:Passage) WHERE id(q) > $after WITH q LIMIT $rows RETURN max(id(q))"
)
ERASE_STRAYS: Final = Query(
    "erase_stray_passages",
    f"{SHIFT} MATCH (q:Passage {{memory_id: $memory_id}}) {_LEFT_BEHIND.format('')} WITH q LIMIT $rows "
    "OPTIONAL MATCH (q)-[:HAS_TRACE|HAS_OTHER_TRACE]->(t) "
    "WITH collect(DISTINCT q) AS passages, collect(DISTINCT t) AS traces "
    "FOREACH (t IN traces | DELETE t) FOREACH (q IN passages | DELETE q) RETURN size(passages)",
)
LONG_TEXTS: Final = Query(
    "long_texts",
    "MATCH (n:ConsciousnessNode) WHERE id(n) IN $places AND n.expired_at = $open "
    "AND (n.passages IS NOT NULL OR size(n.description) >= $longest_short) "
    "OPTIONAL MATCH (q:Passage {memory_id: n.id}) WHERE q.digest = n.passages "
    "WITH n, count(q) AS stored RETURN n.id, n.version, n.passages, stored, n.description",
)
"""The memories among these that have a long text, with the number of its stored passages."""
MARK: Final = Query(
    "mark_long_text",
    f"{SHIFT} MATCH (n:ConsciousnessNode {{id: $memory_id}}) WHERE n.version = $seen AND n.expired_at = $open "
    "SET n.passages = $digest RETURN n.version",
)


def _findable(name: str) -> str:
    return f"{felt(name)} AND {is_evidence(name)}"


_BY_LIKENESS: Final = (
    "UNWIND $near AS one MATCH (q:Passage {handle: one[1]}) RETURN q, one[2] AS score, 0.0 AS words "
)
_BY_SCAN: Final = (
    "MATCH (q:Passage) WITH q MATCH (q)-[:HAS_TRACE]->(t:PassageTrace) "
    "WITH q, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score WHERE score IS NOT NULL "
    "RETURN q, score, 0.0 AS words ORDER BY score LIMIT $k "
)
_BY_WORDS_NEAR: Final = (
    "CALL db.idx.fulltext.queryNodes('Passage', $words) YIELD node AS q, score AS words "
    f"WITH q, words ORDER BY words DESC, q.handle LIMIT {BY_WORDS} "
    "MATCH (q)-[:HAS_TRACE]->(t) "
    "RETURN q, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score, words "
)
_BY_WORDS: Final = (
    "CALL db.idx.fulltext.queryNodes('Passage', $words) YIELD node AS q, score AS words "
    f"RETURN q, 1.0 AS score, words ORDER BY words DESC, q.handle LIMIT {BY_WORDS} "
)
_NEXT_FIELD: Final = CUT_MARK
_NEXT_PASSAGE: Final = "\x02"
"""A list comes back as one text; no stored text has these characters."""
_PLACE: Final = f" + '{_NEXT_FIELD}' + ".join(
    ("toString(q.start)", "toString(q.end)", "toString(distance)", "q.text")
)
_EACH_ONCE: Final = "WITH q, min(score) AS score, max(words) AS words "
_OWNER_NOW: Final = (
    "MATCH (s:ConsciousnessNode {id: q.memory_id}) "
    f"WHERE s.passages = q.digest AND {visible('s')} AND {_findable('s')} "
)
_OWNER_THEN: Final = (
    "MATCH (i:ConsciousnessNode {id: q.memory_id}) "
    f"OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion) WHERE p.passages = q.digest AND {visible('p')} "
    f"AND {_findable('p')} WITH q, score, words, i, collect(p) AS past "
    f"UNWIND (past + CASE WHEN i.passages = q.digest AND {visible('i')} AND {_findable('i')} "
    "THEN [i] ELSE [] END) AS s "
)


def _found_rows(starts: Sequence[str], owner: str) -> str:
    """Rows as of `search`: hop 0, score, in place of a link's source the passages of the memory, nearest first."""
    return (
        f"CALL {{ {'UNION ALL '.join(starts)} }} {_EACH_ONCE} {owner} "
        "WITH s, q, score, words ORDER BY score, q.start "
        "WITH s, min(score) AS score, collect([q, score, words]) AS near, "
        "collect(CASE WHEN words > 0.0 THEN [q, score, words] ELSE null END) AS worded "
        f"WITH s, score, near[..{MOST_OF_ONE}] + worded[..{MOST_OF_ONE}] AS chosen "
        "ORDER BY score, s.id, s.version LIMIT $limit "
        "UNWIND chosen AS one WITH s, score, one[0] AS q, one[1] AS distance, one[2] AS words "
        f"WITH s, score, {_PLACE} AS place "
        f"WITH s, score, string.join(collect(DISTINCT place), '{_NEXT_PASSAGE}') AS places, null AS e "
        "ORDER BY score, s.id, s.version "
        f"RETURN 0 AS hop, score, places, null AS target, {link_columns('e')}, {found_columns('s')}"
    )


class PassageTexts(NamedTuple):
    """The queries for the present, or for any moment. `nearest`: by likeness through the vector index, and by
    words; `scan`: likeness exactly; `worded`: by words alone, for a graph without embeddings."""

    nearest: Query
    scan: Query
    worded: Query


def _texts(time: str, owner: str) -> PassageTexts:
    return PassageTexts(
        nearest=Query(f"passages_{time}", _found_rows((_BY_LIKENESS, _BY_WORDS_NEAR), owner)),
        scan=Query(f"passages_scan_{time}", _found_rows((_BY_SCAN, _BY_WORDS_NEAR), owner)),
        worded=Query(f"passages_worded_{time}", _found_rows((_BY_WORDS,), owner)),
    )


NOW: Final = _texts("now", _OWNER_NOW)
THEN: Final = _texts("then", _OWNER_THEN)


class Beginning(NamedTuple):
    """The beginning of a long text, and the number of all its characters."""

    text: str
    length: int


def read_beginning(text: str | None) -> Beginning | None:
    """The beginning that `found_columns` read of a long text; None for a text that was read whole."""
    beginning, mark, length = (text or "").rpartition(CUT_MARK)
    return Beginning(beginning, int(length)) if mark else None


class FoundPassage(NamedTuple):
    """A passage that a query found: its characters from `start` to before `end`; `likeness` in [−1, 1]."""

    start: int
    end: int
    likeness: float
    text: str


def read_places(row: Row) -> list[FoundPassage]:
    """The passages of a row: the nearest, and among the others those that hold words of the question."""
    places = (place.split(_NEXT_FIELD, 3) for place in row[PLACES].split(_NEXT_PASSAGE))
    return [
        FoundPassage(int(start), int(end), 1.0 - float(distance), text) for start, end, distance, text in places
    ]


async def stored_starts(graph: Graph, memory_id: str, digest: int) -> set[int]:
    """Where the stored passages of a text of a memory begin."""
    return {int(start) for [start] in await graph.read(STORED, memory_id=memory_id, digest=digest)}


async def add_passages(graph: Graph, memory_id: str, digest: int, rows: Iterable[Mapping[str, Any]]) -> int:
    """Store passages of a text, at most `PASSAGES_AT_ONCE`; those that are stored stay as they are. Returns how
    many were stored: none when no record of the memory has the text any more."""
    rows = list(map(dict, rows))
    vectors = [Vector(memory_id, row["handle"], row["embedding"]) for row in rows if row["embedding"]]
    await likeness.add(graph.connection, graph.name, vectors, Role.PASSAGES)
    stored = _sum(await graph.write(ADD, memory_id=memory_id, digest=digest, rows=rows))
    if not stored:
        await withdraw(graph, vectors, Role.PASSAGES)
    return stored


def _sum(rows: Sequence[Row]) -> int:
    return sum(int(count) for [count] in rows)


async def erase_passages(graph: Graph, ids: list[str]) -> Counter[str]:
    """Erase every passage of some memories, of whatever text; returns the numbers of passages and traces."""
    removed: Counter[str] = Counter()
    while True:
        [[passages, traces]] = await graph.write(ERASE, ids=ids, rows=ERASED_AT_ONCE)
        if not passages:
            return removed
        removed += Counter(passages=int(passages), traces=int(traces))


class StoredLongText(NamedTuple):
    """A long text of the record that a memory carries; `digest`: by what its `stored` passages are found."""

    memory_id: str
    version: int
    digest: int | None
    stored: int
    text: str


async def read_long_texts(graph: Graph, internal_ids: Sequence[int], longest_short: int) -> list[StoredLongText]:
    """The memories among these that are marked as long, or have at least `longest_short` characters."""
    values = {"places": list(internal_ids), "longest_short": longest_short, "open": END_OF_TIME}
    return [StoredLongText(*row) for row in await graph.read(LONG_TEXTS, **values)]


async def stray_memories(graph: Graph) -> dict[str, int]:
    """By memory id, how many passages are stored of texts that no record has any more."""
    strays: dict[str, int] = {}
    after = -1
    while (last := (await graph.read(LAST_OF_PAGE, after=after, rows=STRAYS_A_PAGE))[0][0]) is not None:
        for _, memory_id, count in await graph.read(STRAYS, after=after, rows=STRAYS_A_PAGE):
            strays[memory_id] = strays.get(memory_id, 0) + int(count)
        after = int(last)
    return strays


async def erase_strays(graph: Graph, memory_id: str) -> int:
    """Erase the passages of a memory whose text no record has any more; returns how many."""
    erased = 0
    while count := _sum(await graph.write(ERASE_STRAYS, memory_id=memory_id, rows=ERASED_AT_ONCE)):
        erased += count
    return erased


async def mark_long_text(graph: Graph, memory_id: str, version: int, digest: int) -> bool:
    """Write into a memory by what its passages are found. False when it has another version now, or is closed."""
    return bool(await graph.write(MARK, memory_id=memory_id, seen=version, open=END_OF_TIME, digest=digest))
