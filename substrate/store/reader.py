"""Reads of single memories, links and receipts: their records, at a moment or page by page, and counts of a graph.

At most one record of an identity is visible at a moment, because no two of them overlap on both time axes. So the
past is searched only when the record that the identity carries is not the visible one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import batched, islice
from operator import itemgetter
from typing import Any, Final, NamedTuple

import orjson

from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, Instant, Period, Scope
from substrate.connection.kept import GraphState, Reads
from substrate.connection.pool import Row
from substrate.cypher import schema as schema_cypher
from substrate.cypher.fragments import (
    NODE_COLUMNS,
    PROVENANCE,
    RECEIPT_COLUMNS,
    SEEN,
    columns_of,
    found_columns,
    link_columns,
    node_columns,
    past_of,
    records_of,
    visible,
)
from substrate.cypher.query import Query
from substrate.graphs.graph import UNKEPT, Graph
from substrate.likeness.elements import GENERATIONS, Role, set_name
from substrate.store.rows import FELT, LINK_PLACE, NODE_PLACE, LinkName, StoredReceipt
from substrate.store.search import findable


def _node(name: str) -> str:
    return f"{node_columns(name)}, {columns_of(name, PROVENANCE)}"


def _link(name: str) -> str:
    return f"{link_columns(name)}, {columns_of(name, PROVENANCE)}"


MEMORY: Final = Query("memory", f"MATCH (n:ConsciousnessNode {{id: $id}}) RETURN {_node('n')}")

SAYING: Final = Query(
    "saying",
    "UNWIND $keys AS key MATCH (n:ConsciousnessNode {text_key: key}) WITH n "
    "WHERE n.expired_at = $open AND n.valid_at <= $now AND n.invalid_at > $now "
    f"RETURN {_node('n')} ORDER BY n.created_at, n.id LIMIT 1000",
)
RECEIPTS: Final = Query(
    "receipts", f"UNWIND $ids AS id MATCH (c:Receipt {{command_id: id}}) RETURN {columns_of('c', RECEIPT_COLUMNS)}"
)
SITUATION: Final = Query(
    "situation",
    "MATCH (m:SubstrateMeta {key: 'stamp'}) RETURN coalesce(m.pending_until, 0), coalesce(m.feedback_at, 0), "
    "coalesce(m.clock, 0), coalesce(m.shifts, 0), coalesce(m.created_at, 0), coalesce(m.generation, 0), "
    "m.changes_until LIMIT 1",
)
EXISTING: Final = Query(
    "existing",
    "UNWIND $ids AS id MATCH (n:ConsciousnessNode {id: id}) "
    "RETURN n.id, n.fingerprint, coalesce(n.version, 1), n.valid_at, n.invalid_at, n.expired_at",
)
NAMES_OF: Final = Query(
    "names_of",
    "UNWIND $ids AS id MATCH (n:ConsciousnessNode {id: id}) WITH DISTINCT n "
    "OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion) WITH n, collect(p) AS past "
    "UNWIND ([n] + past) AS r RETURN n.id, r.name, r.aliases",
)
"""Rows: id, name and aliases of each record, the carried record first."""

KNOWN_SINCE: Final = Query(
    "known_since",
    "MATCH (n:ConsciousnessNode {id: $id}) WHERE n.expired_at = $open "
    "OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion) WHERE p.expired_at = $open "
    "RETURN n.version, n.valid_at, min(p.valid_at)",
)
"""Row: version and start of the carried record, and the earliest start of the other open records."""

FELT_AT_ENDS: Final = Query(
    "felt_at_ends",
    "UNWIND $ids AS id MATCH (n:ConsciousnessNode {id: id}) "
    "RETURN n.id, n.emotion_vector, n.resolution_state, n.energy",
)
"""What a new link may take from the memories at its ends."""

LIKENESS: Final = Query(
    "likeness",
    f"{SEEN} RETURN null AS one, seen[0] AS other, seen[1] AS cosine UNION ALL "
    "UNWIND $pairs AS pair "
    "MATCH (a:ConsciousnessNode {id: pair[0]})-[:HAS_TRACE]->(t:Trace) WITH pair, t "
    "MATCH (b:ConsciousnessNode {id: pair[1]})-[:HAS_TRACE]->(u:Trace) "
    "RETURN pair[0] AS one, pair[1] AS other, 1.0 - vec.cosineDistance(t.embedding, u.embedding) AS cosine",
)
MOST_LEARNED: Final = 1_000
"""At most this many memories of a graph are counted that became known later."""


def _learned_later(label: str, whose: str) -> str:
    """Open records `m` of a label that hold in the scope, where none of their memory (`whose`) was known there."""
    return (
        f"MATCH (m:{label}) WHERE m.created_at >= $known_to AND m.expired_at = $open "
        f"AND m.valid_at < $valid_to AND m.invalid_at > $valid_from {whose}WHERE {visible('p')} "
        f"WITH m, p WHERE p IS NULL RETURN m.id AS id LIMIT {MOST_LEARNED}"
    )


_OF_PAST: Final = f"WITH m MATCH (i:ConsciousnessNode)-[:HAD]->(m) {past_of('i', 'm')}"
LEARNED_LATER: Final = Query(
    "learned_later",
    f"CALL {{ {_learned_later('ConsciousnessNode', past_of('m', ''))} "
    f"UNION ALL {_learned_later('PastVersion', _OF_PAST)} }} RETURN count(DISTINCT id)",
)
"""How many memories were true in the scope, as believed now, and became known after it."""
COUNT_NODES: Final = Query(
    "count_nodes",
    "CALL db.meta.stats() YIELD nodeCount, labels OPTIONAL MATCH (f:Feedback) WHERE f.held IS NULL "
    "RETURN nodeCount, coalesce(labels.LearningMoment, 0), sum(size(coalesce(f.not_changed, [])))",
)


class Counts(NamedTuple):
    """Numbers of nodes and links by kind."""

    memories: int
    past_versions: int
    traces: int
    past_traces: int
    links: int
    past_links: int


class RarestLabel(NamedTuple):
    """The label that the fewest memories have now, by the name of its node, and how many have it."""

    name: str
    members: int


class RecordHead(NamedTuple):
    """What tells the carried record of a memory from another: the `fingerprint` of the command that made the first
    one, the `version`, which is 0 of a memory that was retracted as a whole, and when it holds."""

    fingerprint: int | None
    version: int
    valid: Period


class Since(NamedTuple):
    """Start of the time over which a memory holds. `carried`: of the record that it carries, with this version."""

    since: Instant
    carried: bool
    version: int


async def known_since(graph: Graph, memory_id: str) -> Since | None:
    """The earliest time at which a memory holds, as known now; None when it does not exist or was retracted."""
    rows = await graph.read(KNOWN_SINCE, id=memory_id, open=END_OF_TIME)
    if not rows:
        return None
    version, valid_at, before = rows[0]
    first = before is None or valid_at <= before
    return Since(valid_at if first else before, carried=first, version=version)


async def memory(graph: Graph, memory_id: str) -> Row | None:
    """The record that the identity carries: `NODE_COLUMNS`, `PROVENANCE`; None when there is none."""
    rows = await graph.read(MEMORY, id=memory_id)
    return rows[0] if rows else None


async def find_by_text(graph: Graph, keys: Sequence[int], now: Instant) -> list[Row]:
    """Memories that hold now whose text has one of the keys, the oldest first: `NODE_COLUMNS`, `PROVENANCE`."""
    return list(await graph.read(SAYING, keys=list(keys), open=END_OF_TIME, now=now))


async def receipts(graph: Graph, ids: Sequence[str]) -> dict[str, StoredReceipt]:
    """The receipts of these commands by their ids; commands that were never applied are left out."""
    return {str(row[0]): StoredReceipt(*row) for row in await graph.read(RECEIPTS, ids=list(ids))}


class Situation(NamedTuple):
    """What a question has to know of a graph first. `pending_until`: when the last scheduled change takes effect;
    until then the past side is needed too. `feedback_at`: when feedback last changed. Both 0 without any.

    `changes_until`: what is known now neither begins nor ends to hold after it, unless at the time of its writing;
    None where that was never written down: in a graph of an older release, or one that was imported.
    """

    pending_until: Instant = 0
    feedback_at: Instant = 0
    state: GraphState | None = None
    changes_until: Instant | None = None


async def read_situation(graph: Graph) -> Situation:
    """The situation of a graph; without a state for one that was not written by Substrate."""
    rows = await graph.read(SITUATION)
    if not rows:
        return Situation()
    pending, feedback, *state, changes_until = rows[0]
    return Situation(pending, feedback, GraphState(*state), changes_until)


async def pending_until(graph: Graph) -> int:
    """When the last scheduled change takes effect; 0 without one. Until then the past side is needed too."""
    return (await read_situation(graph)).pending_until


async def counts(graph: Graph) -> Counts:
    return Counts(*(value or 0 for value in (await graph.read(schema_cypher.COUNTS))[0]))


_MEBIBYTE: Final = 1 << 20


async def used_bytes(graph: Graph) -> int:
    """About how many bytes the graph and its vector sets take in the engine, which tells those of the graph in
    whole mebibytes, rounded down. Raises as `Graph.read` does."""
    keys = [set_name(graph.name, role, generation) for role in Role for generation in GENERATIONS]
    commands = (("GRAPH.MEMORY", "USAGE", graph.name), *(("MEMORY", "USAGE", key) for key in keys))
    of_graph, *of_sets = await graph.connection.read_together("used_bytes", commands)
    for reply in (of_graph, *of_sets):
        if isinstance(reply, Exception):
            raise reply
    told = dict(batched(of_graph, 2))
    return int(told["total_graph_sz_mb"]) * _MEBIBYTE + sum(int(size or 0) for size in of_sets)


async def read_heads(graph: Graph, ids: Sequence[str]) -> dict[str, RecordHead]:
    """The heads of those of the ids that are memories of the graph."""
    return {
        str(memory_id): RecordHead(mark, version if expired_at == END_OF_TIME else 0, Period(start, end))
        for memory_id, mark, version, start, end, expired_at in await graph.read(EXISTING, ids=list(ids))
    }


async def read_names(graph: Graph, ids: Sequence[str]) -> dict[str, list[str]]:
    """All names and aliases of these memories, past ones too, by their ids; the present name first."""
    rows = await graph.read(NAMES_OF, ids=list(ids))
    names: dict[str, list[str]] = {}
    for memory_id, name, aliases in rows:
        names.setdefault(str(memory_id), []).extend([str(name), *(orjson.loads(aliases) if aliases else ())])
    return names


async def read_felt(graph: Graph, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Emotions, state and energy of these memories in stored form, by id."""
    rows = await graph.read(FELT_AT_ENDS, ids=list(ids))
    return {str(memory_id): dict(zip(FELT, felt, strict=True)) for memory_id, *felt in rows}


EMBEDDINGS: Final = Query(
    "embeddings",
    "MATCH (n:ConsciousnessNode) WHERE n.id IN $ids WITH n MATCH (n)-[:HAS_TRACE]->(t:Trace) "
    "WHERE t.embedding IS NOT NULL RETURN n.id, t.embedding ORDER BY n.id",
)
EMBEDDINGS_AT_ONCE: Final = 50


async def read_embeddings(graph: Graph, ids: Sequence[str]) -> dict[str, list[float]]:
    """The vectors of some memories; those without one are left out."""
    vectors: dict[str, list[float]] = {}
    for some in batched(ids, EMBEDDINGS_AT_ONCE):
        vectors |= {row[0]: row[1] for row in await graph.read_typed(EMBEDDINGS, ids=list(some))}
    return vectors


TAG_SIZES: Final = Query(
    "tag_sizes", "MATCH (t:Tag) WHERE t.name IN $names RETURN t.name, indegree(t, 'TAGGED') ORDER BY t.name"
)
"""How many memories have each of the tags now by their writers; made tags do not count."""


async def tag_members(graph: Graph, names: Sequence[str]) -> dict[str, int]:
    """How many memories have each of these `#tags` and `@buckets` now; names that were never used are left out."""
    if not names:
        return {}
    return {str(name): int(size) for name, size in await graph.read(TAG_SIZES, names=list(names))}


async def rarest_label(graph: Graph, names: Sequence[str]) -> RarestLabel | None:
    """Of these `#tags` and `@buckets`, the one that the fewest memories have now; None without names."""
    if not names:
        return None
    sizes = await tag_members(graph, names)
    return min((RarestLabel(name, sizes.get(name, 0)) for name in names), key=lambda label: label.members)


type Pair = tuple[str, str]
_COSINE_BYTES: Final = 300
_NO_COSINE: Final = -2.0
MOST_BESIDE: Final = 100
"""This many pairs are read beside those that are wanted."""


async def read_similarities(
    graph: Graph, pairs: Sequence[Pair], reads: Reads = UNKEPT, *, beside: Iterable[Pair] = ()
) -> dict[Pair, float]:
    """Cosine similarity of the present embeddings of each pair of memories; pairs without them are left out.
    `reads`: what is kept of the graph. `beside`: pairs that another question may want: where anything has to be
    read, some of these are read with it, which costs little more."""
    known = {
        pair: cosine for pair in pairs if (cosine := reads.get(("cosine", pair[1]), about=pair[0])) is not None
    }
    unknown = [pair for pair in pairs if pair not in known]
    if unknown:
        if reads.state is not None:
            unknown += islice(_unknown_beside(beside, unknown, reads), MOST_BESIDE)
        rows = await graph.read(LIKENESS, pairs=list(map(list, unknown)))
        found: dict[Pair, float] = {}
        seen: dict[str, Any] = {}
        for one, other, value in rows:
            if one is None:
                seen[other] = value
            elif value is not None:
                found[one, other] = float(value)
        known |= found
        if reads.state == GraphState.from_values(seen):
            for pair in unknown:
                reads.keep(("cosine", pair[1]), found.get(pair, _NO_COSINE), _COSINE_BYTES, about=pair[0])
    return {pair: known[pair] for pair in pairs if known.get(pair, _NO_COSINE) != _NO_COSINE}


def _unknown_beside(beside: Iterable[Pair], wanted: Iterable[Pair], reads: Reads) -> Iterator[Pair]:
    """Each of the pairs that is neither wanted nor kept, once."""
    known = set(wanted)
    for pair in dict.fromkeys(beside):
        if pair not in known and reads.get(("cosine", pair[1]), about=pair[0]) is None:
            yield pair


async def count_learned_later(graph: Graph, scope: Scope) -> int:
    """How many memories were true in the scope but became known after it, up to about `MOST_LEARNED`."""
    rows = await graph.read(LEARNED_LATER, **scope.bounds(), open=END_OF_TIME)
    return int(rows[0][0]) if rows else 0


async def count_nodes(graph: Graph) -> dict[str, int]:
    """How many `nodes` it has, which the engine keeps. Raises GraphMissing as `Graph.read`. `inferred`: changes
    that streams inferred; `rejected`: those of which feedback says that they are none."""
    [[nodes, inferred, ids]] = await graph.read(COUNT_NODES)
    return {"nodes": int(nodes), "inferred": int(inferred), "rejected": int(float(ids)) // 2}


MEMORY_SEEN: Final = Query(
    "memory_seen",
    f"MATCH (i:ConsciousnessNode {{id: $id}}) WITH i, {visible('i')} AS carried "
    "UNWIND [CASE WHEN carried THEN null ELSE i END] AS j "
    f"OPTIONAL MATCH (j)-[:HAD]->(p:PastVersion) WHERE {visible('p')} "
    "WITH i, carried, p ORDER BY p.created_at DESC, p.valid_at DESC LIMIT 1 "
    f"WITH CASE WHEN carried THEN i ELSE p END AS n RETURN {_node('n')}",
)
"""The visible record of a memory; a row of nulls when the memory exists but has no record at that moment."""

_OF_LINK: Final = (
    f"WITH now, known, count(p) AS gone, collect(CASE WHEN {visible('p')} THEN p ELSE null END) AS past "
    "WITH known + gone AS known, now + past AS seen "
    "WITH known, CASE WHEN size(seen) > 0 THEN seen[0] ELSE null END AS e "
    f"RETURN known, startNode(e).id, endNode(e).id, {_link('e')}"
)

LINK_SEEN: Final = Query(
    "link_seen",
    "MATCH (a:ConsciousnessNode {id: $source_id}) MATCH (b:ConsciousnessNode {id: $target_id}) "
    "WITH a, b LIMIT 1 OPTIONAL MATCH (a)-[e:LINK]->(b) WHERE e.id = $id WITH a, b, collect(e) AS held "
    f"WITH a, b, [e IN held WHERE {visible('e')}] AS now, size(held) AS known "
    "UNWIND [CASE WHEN size(now) > 0 THEN null ELSE a END] AS s "
    f"OPTIONAL MATCH (s)-[p:PAST_LINK]->(b) WHERE p.id = $id {_OF_LINK}",
)
"""Number of records found, then the ids of both ends and the visible record; nulls when none is."""

NAMED_LINK_SEEN: Final = Query(
    "named_link_seen",
    "OPTIONAL MATCH ()-[e:LINK {handle: $handle}]->() WHERE e.id = $id WITH collect(e) AS held "
    f"WITH [e IN held WHERE {visible('e')}] AS now, size(held) AS known "
    "UNWIND [CASE WHEN size(now) > 0 THEN null ELSE $handle END] AS handle "
    f"OPTIONAL MATCH ()-[p:PAST_LINK {{handle: handle}}]->() WHERE p.id = $id {_OF_LINK}",
)
"""The same for a link that has a handle."""


def _is_after(name: str) -> str:
    """Predicate: the record became known before `$known_to` and comes after the previous page."""
    return (
        f"{name}.created_at < $known_to AND ({name}.created_at > $known_at "
        f"OR ({name}.created_at = $known_at AND {name}.valid_at > $held_at))"
    )


def _first(name: str, carried: str) -> str:
    return f"WITH {carried} ORDER BY {name}.created_at, {name}.valid_at LIMIT $limit "


HISTORY_PAGE: Final = Query(
    "history_page",
    "MATCH (i:ConsciousnessNode {id: $id}) "
    f"OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion) WHERE {_is_after('p')} WITH i, collect(p) AS past "
    f"UNWIND past + CASE WHEN {_is_after('i')} THEN [i] ELSE [] END AS n {_first('n', 'n')} RETURN {_node('n')}",
)
"""The next records of a memory, by transaction time, then valid time."""

_LINK_PAGE: Final = (
    f"WHERE e.id = $id AND {_is_after('e')} {_first('e', 'a, e, b')} "
    f"RETURN a.id, b.id, {_link('e')}, e.created_at AS known, e.valid_at AS held "
)

LINK_HISTORY_PAGE: Final = Query(
    "link_history_page",
    "MATCH (a:ConsciousnessNode {id: $source_id}) MATCH (b:ConsciousnessNode {id: $target_id}) "
    f"WITH a, b LIMIT 1 MATCH (a)-[e:LINK|PAST_LINK]->(b) {_LINK_PAGE}",
)
"""The next records of a link that is found through its ends; the last two columns are its position."""

NAMED_LINK_HISTORY_PAGE: Final = Query(
    "named_link_history_page",
    f"MATCH (a)-[e:LINK {{handle: $handle}}]->(b) {_LINK_PAGE} "
    f"UNION ALL MATCH (a)-[e:PAST_LINK {{handle: $handle}}]->(b) {_LINK_PAGE}",
)
"""The same for a link that has a handle; up to `$limit` open and `$limit` past records."""

CLOCK: Final = Query("clock", "MATCH (m:SubstrateMeta {key: 'stamp'}) RETURN m.clock LIMIT 1")


class HistoryPosition(NamedTuple):
    """Where a page of a history begins: after the record with this transaction time and valid time."""

    known_at: Instant = BEGINNING_OF_TIME
    held_at: Instant = BEGINNING_OF_TIME


class HistoryQuery(NamedTuple):
    """A page of a history: at most `limit` records after `start`, of those known before `known_to`."""

    known_to: Instant
    limit: int
    start: HistoryPosition = HistoryPosition()


MOST_ROWS: Final = 2**31 - 1
"""The engine takes no greater limit."""
WHOLE: Final = HistoryQuery(END_OF_TIME, MOST_ROWS)


class RecordLookup(NamedTuple):
    """The record of a memory or link at a moment. `row` is None when it `exists` but has no record then."""

    exists: bool
    row: Row | None


async def read_memory(graph: Graph, memory_id: str, scope: Scope) -> RecordLookup:
    """Read the visible record of a memory; `scope` is one moment. The row: `NODE_COLUMNS`, `PROVENANCE`."""
    rows = await graph.read(MEMORY_SEEN, id=memory_id, **scope.bounds())
    if not rows:
        return RecordLookup(exists=False, row=None)
    return RecordLookup(exists=True, row=None if rows[0][0] is None else rows[0])


async def read_link(graph: Graph, link: LinkName, scope: Scope) -> RecordLookup:
    """Read the visible record of a link; `scope` is one moment. The row: the ids of both ends, `LINK_COLUMNS`,
    `PROVENANCE`."""
    query = NAMED_LINK_SEEN if link.ends is None else LINK_SEEN
    rows = await graph.read(query, **_link_values(link), **scope.bounds())
    if not rows or not rows[0][0]:
        return RecordLookup(exists=False, row=None)
    return RecordLookup(exists=True, row=None if rows[0][1] is None else rows[0][1:])


async def history(graph: Graph, memory_id: str, page: HistoryQuery = WHOLE) -> list[Row]:
    """A page of a memory's records by transaction time, then valid time. A row: `NODE_COLUMNS`, `PROVENANCE`."""
    return list(await graph.read(HISTORY_PAGE, id=memory_id, **_page_values(page)))


async def link_history(graph: Graph, link: LinkName, page: HistoryQuery = WHOLE) -> list[Row]:
    """A page of a link's records by transaction time, then valid time. A row: the ids of both ends,
    `LINK_COLUMNS`, `PROVENANCE`."""
    query = NAMED_LINK_HISTORY_PAGE if link.ends is None else LINK_HISTORY_PAGE
    rows = await graph.read(query, **_link_values(link), **_page_values(page))
    return [row[:-2] for row in sorted(rows, key=itemgetter(-2, -1))[: page.limit]]


def memory_position(row: Row) -> HistoryPosition:
    """The position after this record in the history of its memory."""
    return HistoryPosition(row[NODE_PLACE["created_at"]], row[NODE_PLACE["valid_at"]])


def link_position(row: Row) -> HistoryPosition:
    """The position after this record in the history of its link; the row begins with the ids of its ends."""
    return HistoryPosition(row[2 + LINK_PLACE["created_at"]], row[2 + LINK_PLACE["valid_at"]])


def _link_values(link: LinkName) -> dict[str, Any]:
    if link.ends is None:
        return {"id": link.id, "handle": link.handle}
    return {"id": link.id, "source_id": link.ends[0], "target_id": link.ends[1]}


def _page_values(page: HistoryQuery) -> dict[str, Any]:
    return {"known_to": page.known_to, "limit": page.limit, **page.start._asdict()}


async def read_clock(graph: Graph, now: Instant) -> Instant:
    """Return the last transaction time of the graph; `now` for a graph that was never written to."""
    rows = await graph.read(CLOCK)
    return int(rows[0][0]) if rows and rows[0][0] is not None else now


RECORDS_OF: Final = Query(
    "records_of",
    "MATCH (i:ConsciousnessNode) WHERE i.id IN $ids WITH i "
    f"{records_of('i', 'm')} WHERE {findable('m')} "
    "WITH i, m, (m.created_at IN $touching OR m.expired_at IN $touching) AS near "
    "ORDER BY near DESC, m.created_at DESC, m.version DESC "
    "WITH i, collect(m) AS records WITH records[..$most_of_one] AS kept, size(records) AS held "
    "UNWIND range(0, size(kept) - 1) AS place WITH place, kept[place] AS m, held "
    f"ORDER BY place, m.id LIMIT $most_of_all RETURN held, {found_columns('m')}",
)
"""The records of some memories in the scope, at most `$most_of_one` of each: those known from or until one of the
instants `$touching`, then the newest."""


class VersionRow(NamedTuple):
    """One record of a memory by `NODE_COLUMNS`, and how many `records` the memory has in the scope."""

    memory_id: str
    records: int
    columns: Sequence[Any]


def read_records(rows: Sequence[Sequence[Any]]) -> list[VersionRow]:
    """The rows of `RECORDS_OF` as named values."""
    return [VersionRow(row[1 + NODE_COLUMNS.index("id")], int(row[0]), row[1:]) for row in rows]
