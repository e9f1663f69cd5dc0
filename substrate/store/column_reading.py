"""Reads the present of a graph into columns: around some memories, or page by page."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from schemas.temporal import END_OF_TIME
from substrate.connection.errors import GraphMissing
from substrate.connection.graph_columns import (
    LINK_BYTES,
    MEMORY_BYTES,
    OPEN,
    OUTGOING,
    SHOWN,
    STATES,
    TELLS,
    TOLD,
    UNKNOWN,
    WALKED,
    GraphColumns,
    LinkRow,
    MemoryRow,
)
from substrate.connection.kept import ALL_READS, GraphState, changed_between
from substrate.connection.pool import Connection, Row
from substrate.cypher.fragments import (
    CUT_MARK,
    SEEN,
    degree_now,
    found_columns,
    is_statement,
    is_told,
    lasting,
    link_columns,
    tells,
)
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store import found_records
from substrate.store.archive import count_stored
from substrate.store.search import STRENGTH, findable, walked

CROWD: Final = 256
"""Of a memory with this many links or more only the strongest are read."""
STRONGEST: Final = 24
PAGE_MEMORIES: Final = 250
"""With ten links each a page takes the engine about 40 ms."""
REST_S: Final = 0.02
"""Between two pages: a load takes less than all of a core."""
QUIET_S: Final = 0.25
"""A page is read when nothing was asked for so long: a load takes as much as hundreds of questions."""
MOST_TRIES: Final = 3
SAMPLE: Final = 20
STALE_NOTE: Final = "substrate:columns:stale"
_WIDTH: Final = 10


def _row(*columns: str) -> str:
    """A row of the union: all branches have as many columns, with the same names."""
    filled = (*columns, *["null"] * (_WIDTH - len(columns)))
    return "RETURN " + ", ".join(f"{column} AS c{place}" for place, column in enumerate(filled))


def _memory(name: str) -> str:
    """The row of a memory: the columns of `MemoryRow`."""
    bits = {
        OPEN: f"{name}.expired_at = {END_OF_TIME}", TOLD: is_told(name), TELLS: tells(name),
        STATES: is_statement(name),
    }  # fmt: skip
    return _row(
        "'memory'", f"{name}.id", f"{name}.version", f"{name}.created_at",
        f"{name}.valid_at", f"{name}.invalid_at",
        f"CASE WHEN {name}.energy >= 0.0 THEN {name}.energy ELSE -1.0 END",
        f"CASE WHEN {name}.confidence >= 0.0 THEN {name}.confidence ELSE -1.0 END",
        " + ".join(f"CASE WHEN {condition} THEN {bit} ELSE 0 END" for bit, condition in bits.items()),
        f"toLower(coalesce({name}.speaker, ''))",
    )  # fmt: skip


_LINK_BITS: Final = (
    f"CASE WHEN {walked('e')} THEN {WALKED} ELSE 0 END "
    f"+ CASE WHEN startNode(e).id = s.id THEN {OUTGOING} ELSE 0 END "
    f"+ CASE WHEN e.expired_at = {END_OF_TIME} THEN {SHOWN} ELSE 0 END"
)
_SEEN: Final = f"{SEEN} {_row("'seen'", 'seen[0]', 'seen[1]')}"
_OF: Final = "MATCH (s:ConsciousnessNode) WHERE s.id IN $ids WITH s "
_OF_PAGE: Final = "MATCH (s:ConsciousnessNode) WHERE id(s) >= $first AND id(s) < $until WITH s "
_LINK: Final = _row(
    "'link'", "s.id", "m.id", "e.relation_type",
    "CASE WHEN e.id = startNode(e).id + '|' + e.relation_type + '|' + endNode(e).id THEN null ELSE e.id END",
    "e.version", "e.created_at", "e.valid_at", "e.invalid_at", _LINK_BITS,
)  # fmt: skip
_SMALL: Final = f", {degree_now('s')} AS held WHERE held < {CROWD} WITH s "
_LINKS: Final = "MATCH (s)-[e:LINK]-(m) "
_IN_ORDER: Final = f"WITH s, e, m ORDER BY {STRENGTH} "


def _around(which: str) -> str:
    """The state of the graph; some memories, and how many links each has; the links of those that have fewer than
    `CROWD`, strongest first. How many is one row: a list would be answered as a text in which ids are not told
    apart."""
    held = f"{degree_now('s')} AS held WITH collect(toString(held) + ' ' + s.id) AS held "
    return (
        f"{_SEEN} UNION ALL {which}, {held}{_row("'held'", f"string.join(held, '{CUT_MARK}')")} "
        f"UNION ALL {which}{_SMALL}{_LINKS}{_IN_ORDER}{_LINK} UNION ALL {which}{_memory('s')}"
    )


def _keys(which: str) -> str:
    """The keys of the vectors of some memories."""
    return f"{which}MATCH (s)-[:HAS_TRACE]->(t) WHERE t:Trace {_row("'key'", 's.id', 't.digest')}"


AROUND: Final = Query(
    "links_around", f"{_around(_OF)} UNION ALL {_OF}{_SMALL}{_LINKS}WITH DISTINCT m {_memory('m')}"
)
"""With the memories at the other ends."""
PAGE: Final = Query("columns_page", f"{_around(_OF_PAGE)} UNION ALL {_keys(_OF_PAGE)}")
NEXT: Final = Query("columns_next", "MATCH (s:ConsciousnessNode) WHERE id(s) >= $first RETURN id(s) LIMIT 1")
"""Where the next page begins."""
RECORDS: Final = Query("records_page", f"{_OF_PAGE}RETURN {found_columns('s')}")
LINK_RECORDS: Final = Query(
    "link_records_page", f"{_OF_PAGE}MATCH (s)-[e:LINK]->(m) RETURN s.id, m.id, {link_columns('e')}"
)
MEMORIES: Final = Query("memories_around", f"{_SEEN} UNION ALL {_OF}{_memory('s')}")


def _strongest(name: str, condition: str) -> Query:
    """The strongest links of one memory that last, and the memories at their other ends."""
    found = f"{_OF}{_LINKS}WHERE {lasting('e')} AND {lasting('m')}{condition} {_IN_ORDER} LIMIT {STRONGEST} "
    return Query(name, f"{_SEEN} UNION ALL {found}{_LINK} UNION ALL {found}WITH DISTINCT m {_memory('m')}")


STRONGEST_WALKED: Final = _strongest("strongest_links_around", f" AND {walked('e')} AND {findable('m')}")
STRONGEST_OF_ALL: Final = _strongest("strongest_all_links_around", "")
KEYS: Final = Query("vector_keys_now", f"{_SEEN} UNION ALL {_OF}{_memory('s')} UNION ALL {_keys(_OF)}")
"""Some memories, and the keys of their vectors."""


LATELY: Final = Query(
    "changed_lately", "MATCH (m:SubstrateMeta {key: 'stamp'}) UNWIND m.lately AS note RETURN note"
)
"""What the last writes changed."""


class GraphMoved(Exception):
    """The graph was written to while it was read: the question begins again, on columns of its own."""


class ColumnRows(NamedTuple):
    """The rows of a query by their kind, without it; `links`: by the memory whose links they are."""

    rows: Mapping[str, Sequence[Row]]
    links: Mapping[str, Sequence[LinkRow]]


def take(columns: GraphColumns, rows: Sequence[Row]) -> ColumnRows:
    """Hold the memories that a query tells of. Raises GraphMoved."""
    by_kind: dict[str, list[Row]] = {"seen": [], "memory": [], "link": [], "held": [], "key": []}
    for row in rows:
        by_kind[row[0]].append(row[1:])
    seen = GraphState.from_values({name: value for name, value, *_ in by_kind["seen"]})
    if columns.state is not None and seen != columns.state:
        raise GraphMoved
    for name, version, created, valid, invalid, energy, confidence, bits, speaker in by_kind["memory"]:
        numbers = float(energy), float(confidence)
        columns.hold_memory(MemoryRow(name, version, created, valid, invalid, *numbers, bits, speaker))
    links: dict[str, list[LinkRow]] = {}
    for name, other, relation_type, link_id, version, created, valid, invalid, bits in by_kind["link"]:
        link = LinkRow(other, relation_type, link_id, version or 1, created, valid, invalid, bits)
        links.setdefault(name, []).append(link)
    return ColumnRows(by_kind, links)


def hold(columns: GraphColumns, rows: Sequence[Row], names: Sequence[str] | None = None) -> ColumnRows:
    """Hold memories and their links; of these `names`, where given, those that are not told of were erased."""
    answer = take(columns, rows)
    told = "".join(row[0] for row in answer.rows["held"])
    pairs = (each.partition(" ") for each in told.split(CUT_MARK) if each)
    held = {name: int(count) for count, _, name in pairs}
    for name in held if names is None else names:
        slot, degree = columns.slot(name), held.get(name, 0)
        if columns.degree(slot) == UNKNOWN:
            columns.hold_links(slot, degree, answer.links.get(name, ()) if degree < CROWD else None)
    return answer


def hold_keys(columns: GraphColumns, answer: ColumnRows, names: Sequence[str] = ()) -> None:
    """Hold the keys of the vectors of the memories that a query tells of; of these `names` it tells all."""
    keys: dict[str, list[str]] = {name: [] for name in names}
    for name, key, *_ in answer.rows["key"]:
        keys.setdefault(name, []).append(key or "")
    for name, own in keys.items():
        columns.hold_keys(name, own)


async def load(graph: Graph, columns: GraphColumns, most_bytes: int) -> None:
    """Hold the whole graph, page by page, unless that takes more than so many bytes, then the rows of its records
    as far as there is room. What is written meanwhile by others ends it, and while questions are asked it waits.

    Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    stored, asked = await count_stored(graph), 0
    memories, links = stored.labels.get("ConsciousnessNode", 0), stored.types.get("LINK", 0)
    columns.is_filled = memories * MEMORY_BYTES + links * LINK_BYTES > most_bytes
    if columns.is_filled:
        return
    for hold_page in (_hold_page, _hold_rows):
        first = 0
        while found := await graph.read(NEXT, first=first):
            [[first]] = found
            for _ in range(MOST_TRIES):
                await asyncio.sleep(REST_S)
                while asked != columns.questions:
                    asked = columns.questions
                    await asyncio.sleep(QUIET_S)
                if columns.bytes_held >= most_bytes:
                    columns.is_filled = True
                    return
                # A write of this process is carried when its answer has arrived; another one ends these columns.
                with suppress(GraphMoved):
                    await hold_page(graph, columns, first)
                    break
            else:
                return
            first += PAGE_MEMORIES
        columns.is_filled = True


async def _hold_page(graph: Graph, columns: GraphColumns, first: int) -> None:
    """The memories with the internal ids of one page, from this one on, with their links. Raises GraphMoved."""
    rows = await graph.read(PAGE, first=first, until=first + PAGE_MEMORIES)
    hold_keys(columns, hold(columns, rows))


async def _hold_rows(graph: Graph, columns: GraphColumns, first: int) -> None:
    """The records of these memories and of the links from them."""
    for row in await graph.read(RECORDS, first=first, until=first + PAGE_MEMORIES):
        columns.hold_row(row)
    for source, target, *row in await graph.read(LINK_RECORDS, first=first, until=first + PAGE_MEMORIES):
        columns.hold_link_row(row, source, target)


async def catch_up(graph: Graph, before: GraphState, state: GraphState) -> None:
    """Carry what is kept of a graph on to this state, where the graph says what was changed since the one before.

    Raises StoreTimeout, Unavailable, Fault.
    """
    connection = graph.connection
    notes = [note for (note,) in await graph.read_existing(LATELY)]
    changed = changed_between(notes, before.clock, state.clock)
    if changed is not None:
        if ALL_READS not in changed:
            connection.kept.carry(graph.name, before, state, changed)
        connection.columns.carry(graph.name, before, state, changed)


async def find_stale(graph: Graph, columns: GraphColumns, names: Sequence[str]) -> list[str]:
    """Those of some memories of which the columns hold something else than the store.

    Raises GraphMoved, GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    names, stored = list(names), GraphColumns(columns.state)
    hold(stored, await graph.read(AROUND, ids=names), names)
    hold_keys(stored, take(stored, await graph.read(KEYS, ids=names)), names)
    stored.hold_gone(map(stored.slot, names))
    for row in await graph.read(found_records.MEMORIES, ids=names):
        stored.hold_row(row)
    if columns.state != stored.state:
        raise GraphMoved
    return [name for name in names if columns.differs(stored, name)]


async def check_sample(connection: Connection) -> int:
    """Compare some memories in the columns of one graph with the store; returns how many are others there. Then
    nothing is kept of the graph any more, and it is noted. Raises StoreTimeout, Unavailable, Fault."""
    graphs = connection.columns.graphs
    name = random.choice(list(graphs)) if graphs else ""
    names = graphs[name].ids if graphs else []
    try:
        sample = random.sample(names, min(SAMPLE, len(names)))
        stale = len(await find_stale(Graph(connection, name), graphs[name], sample)) if sample else 0
    except (GraphMoved, GraphMissing):
        return 0
    if stale:
        connection.forget_kept(name)
        connection.columns.stale += stale
        await connection.command("INCRBY", STALE_NOTE, stale)
        await connection.command("EXPIRE", STALE_NOTE, 30 * 86_400)
    return stale


async def read_stale_note(connection: Connection) -> int:
    """How many memories the checks of all processes have lately found to be others in the store."""
    return int(await connection.command("GET", STALE_NOTE) or 0)
