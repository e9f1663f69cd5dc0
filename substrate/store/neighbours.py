"""What is near in the present: links of memories, strongest first, and memories that a search of vectors found.

Both are decided by what this process holds of the graph in columns (`substrate.columns`); only what is not held is
read. A question that finds the graph in another state than it began in has columns of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.temporal import AFTER_ALL, END_OF_TIME, Instant
from substrate.columns.graph_columns import (
    CUT,
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
    Wanted,
)
from substrate.connection.kept_reads import GraphState
from substrate.connection.pool import Row
from substrate.connection.record_cache import RecordName
from substrate.connection.together import together
from substrate.cypher.fragments import CUT_MARK, HUB, SEEN, degree_now, is_cut, is_statement, lasting, tells, told
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph, GraphTarget
from substrate.likeness import port as likeness
from substrate.likeness.elements import Near
from substrate.store.search import FAVOURED_NEARER, STRENGTH, findable, walked

CROWD: Final = 256
"""Of a memory with this many links or more only the strongest are read."""
STRONGEST: Final = 24
_WIDTH: Final = 10


def _row(*columns: str) -> str:
    """A row of the union: all branches have as many columns, with the same names."""
    filled = (*columns, *["null"] * (_WIDTH - len(columns)))
    return "RETURN " + ", ".join(f"{column} AS c{place}" for place, column in enumerate(filled))


def _memory(name: str) -> str:
    """The row of a memory: the columns of `MemoryRow`."""
    bits = {
        OPEN: f"{name}.expired_at = {END_OF_TIME}", TOLD: told(name), TELLS: tells(name),
        STATES: is_statement(name), CUT: f"{is_cut(name)} = 1",
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
_HELD: Final = f"{_OF}, {degree_now('s')} AS held WITH collect(toString(held) + ' ' + s.id) AS held " + _row(
    "'held'", f"string.join(held, '{CUT_MARK}')"
)
"""One row: a list would be answered as a text in which ids are not told apart."""
_LINK: Final = _row(
    "'link'", "s.id", "m.id", "e.relation_type",
    "CASE WHEN e.id = startNode(e).id + '|' + e.relation_type + '|' + endNode(e).id THEN null ELSE e.id END",
    "e.version", "e.created_at", "e.valid_at", "e.invalid_at", _LINK_BITS,
)  # fmt: skip
_SMALL: Final = f"{_OF}, {degree_now('s')} AS held WHERE held < {CROWD} WITH s "
_LINKS: Final = "MATCH (s)-[e:LINK]-(m) "
_IN_ORDER: Final = f"WITH s, e, m ORDER BY {STRENGTH} "
AROUND: Final = Query(
    "links_around",
    f"{_SEEN} UNION ALL {_HELD} UNION ALL {_SMALL}{_LINKS}{_IN_ORDER}{_LINK} "
    f"UNION ALL {_OF}{_memory('s')} UNION ALL {_SMALL}{_LINKS}WITH DISTINCT m {_memory('m')}",
)
"""The state of the graph; how many links each memory has; the links of those that have fewer than `CROWD`,
strongest first; these memories, and those at the other ends."""
MEMORIES: Final = Query("memories_around", f"{_SEEN} UNION ALL {_OF}{_memory('s')}")


def _strongest(name: str, condition: str) -> Query:
    """The strongest links of one memory that last, and the memories at their other ends."""
    found = f"{_OF}{_LINKS}WHERE {lasting('e')} AND {lasting('m')}{condition} {_IN_ORDER} LIMIT {STRONGEST} "
    return Query(name, f"{_SEEN} UNION ALL {found}{_LINK} UNION ALL {found}WITH DISTINCT m {_memory('m')}")


STRONGEST_WALKED: Final = _strongest("strongest_links_around", f" AND {walked('e')} AND {findable('m')}")
STRONGEST_OF_ALL: Final = _strongest("strongest_all_links_around", "")
PASSING: Final = Query("passing_around", f"{_OF}WHERE {findable('s')} RETURN s.id")
"""Which of some memories pass the filters of a question."""
KEYS: Final = Query(
    "vector_keys_now",
    f"{_SEEN} UNION ALL {_OF}{_memory('s')} "
    f"UNION ALL {_OF}MATCH (s)-[:HAS_TRACE]->(t) WHERE t:Trace {_row("'key'", 's.id', 't.digest')}",
)
"""Some memories, and the keys of their vectors."""


class NearLink(NamedTuple):
    """A link of a memory, the memory at its other end, and the ids of its ends."""

    source: str
    target: str
    link: RecordName
    other: RecordName


class GraphMoved(Exception):
    """The graph was written to while it was read: the question begins again, on columns of its own."""


class Neighbours:
    """Reads what is near in one graph, of what the parameters `values` of a search let pass.

    Without `followed`, all links of the present count, whatever is at their other ends.
    """

    def __init__(self, target: GraphTarget, values: Mapping[str, Any], *, followed: bool = True) -> None:
        self._graph, self.now = target.graph, values["valid_from"]
        self.columns = target.columns or GraphColumns()
        self._values = {**values, "from": self.now, "until": AFTER_ALL}
        self._strongest = STRONGEST_WALKED if followed else STRONGEST_OF_ALL
        self._passing = _passing_of(values) if followed else None
        self._asked: set[str] = set()
        self._wanted = wanted_of(values, self._passing) if followed else Wanted(OPEN, SHOWN)
        self._found: dict[str, Sequence[int]] = {}

    async def read(self, ids: Iterable[str], wanted: int) -> None:
        """Read the links of these memories; of one that has a crowd of them at least `wanted` that hold now.

        Raises GraphMoved where the graph is no longer as it was when the question began.
        """
        names, columns = list(dict.fromkeys(ids)), self.columns
        lacking = [name for name in names if columns.degree(name) == UNKNOWN]
        if lacking:
            answer = _take(columns, await self._graph.read(AROUND, ids=lacking))
            told = "".join(row[0] for row in answer.rows["held"])
            pairs = (each.partition(" ") for each in told.split(CUT_MARK) if each)
            held = {name: int(count) for count, _, name in pairs}
            for name in lacking:
                degree = held.get(name, 0)  # of one that was erased meanwhile nothing is told
                columns.hold_links(name, degree, answer.links.get(name, ()) if degree < CROWD else None)
        unknown = columns.unknown_ends(names)
        if unknown:
            _take(columns, await self._graph.read(MEMORIES, ids=unknown))
            columns.hold_gone(unknown)
        if self._passing is not None:
            others = {columns.other(number) for name in names for number in columns.links(name)} - self._asked
            if others:
                self._asked |= others
                rows = await self._graph.read(PASSING, **self._values, ids=list(others))
                self._passing.update(row[0] for row in rows)
        if wanted:
            crowds = [name for name in names if columns.degree(name) >= CROWD and name not in self._found]
            await together(*(self._read_crowd(name, wanted) for name in crowds))

    def is_hub(self, name: str) -> bool:
        """Whether no second link is followed from it or through it."""
        return self.columns.degree(name) >= HUB

    def holding(self, name: str) -> Sequence[int]:
        """The numbers of the links that hold now of a memory whose links were read, strongest first."""
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = self.columns.holding(name, self.now, self._wanted)
        return found

    def near_link(self, number: int, name: str) -> NearLink:
        """The link with this number, one end of which is the memory `name`."""
        record, source, target = self.columns.link(number, name)
        return NearLink(source, target, record, self.columns.record(self.columns.other(number)))

    async def _read_crowd(self, name: str, wanted: int) -> None:
        """Of many stronger links that hold only later none is read where too few of the others would be left."""
        columns, is_kept = self.columns, self._passing is None
        numbers = columns.crowd(name, self._wanted, self.now) if is_kept else None
        if numbers is None:
            numbers = await self._read_strongest(name, AFTER_ALL)
            if is_kept:
                columns.hold_crowd(name, self._wanted, self.now, numbers)
        found = columns.of_these(numbers, self.now)
        if len(found) < wanted and len(numbers) == STRONGEST:
            found = list(await self._read_strongest(name, self.now + 1))
        self._found[name] = found

    async def _read_strongest(self, name: str, until: Instant) -> range:
        values = {**self._values, "until": until, "ids": [name]}
        answer = _take(self.columns, await self._graph.read(self._strongest, **values))
        return self.columns.add_links(answer.links.get(name, ()))


def _passing_of(values: Mapping[str, Any]) -> set[str] | None:
    """The ids of memories that pass the filters of a question, so far none; None where it has no filters."""
    return None if values["unfiltered"] and not values["emotions_needed"] else set()


def wanted_of(values: Mapping[str, Any], passing: set[str] | None) -> Wanted:
    """What the parameters of a question let pass, as `findable` says; `passing`: of its filters."""
    bits = OPEN | TELLS | (0 if values["generalised"] else TOLD) | (0 if values["asked"] else STATES)
    return Wanted(bits, SHOWN | WALKED, values["min_energy"], values["min_confidence"], passing)


class _Answer(NamedTuple):
    """The rows of a query by their kind, without it; `links`: by the memory whose links they are."""

    rows: Mapping[str, Sequence[Row]]
    links: Mapping[str, Sequence[LinkRow]]


def _take(columns: GraphColumns, rows: Sequence[Row]) -> _Answer:
    """Hold the memories that a query tells of. Raises GraphMoved."""
    by_kind: dict[str, list[Row]] = {"seen": [], "memory": [], "link": [], "held": [], "key": []}
    for row in rows:
        by_kind[row[0]].append(row[1:])
    seen = GraphState.from_values({name: value for name, value, *_ in by_kind["seen"]})
    if columns.state is not None and seen != columns.state:
        raise GraphMoved
    for *before, energy, confidence, bits, speaker in by_kind["memory"]:
        columns.hold_memory(MemoryRow(*before, float(energy), float(confidence), bits, speaker))
    links: dict[str, list[LinkRow]] = {}
    for name, other, relation_type, link_id, version, created, valid, invalid, bits in by_kind["link"]:
        link = LinkRow(other, relation_type, link_id, version or 1, created, valid, invalid, bits)
        links.setdefault(name, []).append(link)
    return _Answer(by_kind, links)


async def find_nearest(target: GraphTarget, values: Mapping[str, Any]) -> list[Row]:
    """The memories nearest to what the parameter `near` searches, as the rows of `search.THIN`.

    Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    graph = target.graph
    near = await likeness.nearest(graph.connection, graph.name, values["near"])
    try:
        columns = await _read_owners(target.columns or GraphColumns(), graph, near)
    except GraphMoved:
        columns = await _read_owners(GraphColumns(), graph, near)
    passing = _passing_of(values)
    if passing is not None:
        shared = {name: value for name, value in values.items() if name not in ("near", "embedding")}
        rows = await graph.read(PASSING, **shared, ids=list({one.owner for one in near}))
        passing.update(row[0] for row in rows)
    wanted, favoured = wanted_of(values, passing), frozenset(values["favoured"])
    found: list[tuple[float, str, int]] = []
    for place, one in enumerate(near):
        if columns.is_nearest(one.owner, one.key, values["valid_from"], values["valid_to"], wanted):
            nearer = FAVOURED_NEARER if columns.speaker(one.owner) in favoured else 0.0
            found.append((one.distance - nearer, one.owner, place))
    found.sort()
    best = [near[place] for _, _, place in found[: values["limit"]]]
    return [(0, f"{one.distance:.15g}", *columns.record(one.owner)[1:]) for one in best]


async def _read_owners(columns: GraphColumns, graph: Graph, near: Sequence[Near]) -> GraphColumns:
    """The columns with the memories that these vectors belong to. Raises GraphMoved."""
    lacking = [name for name in dict.fromkeys(one.owner for one in near) if not columns.knows_keys(name)]
    if lacking:
        answer = _take(columns, await graph.read(KEYS, ids=lacking))
        keys: dict[str, list[str]] = {}
        for name, key, *_ in answer.rows["key"]:
            keys.setdefault(name, []).append(key or "")
        for name, own in keys.items():
            columns.hold_keys(name, own)
        columns.hold_gone(lacking)
    return columns
