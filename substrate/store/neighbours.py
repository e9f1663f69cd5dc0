"""What is near in the present: links of memories, strongest first, and memories that a search of vectors found.

Both depend on the state of the graph: an answer is kept for that (`Reads`), and only what is not known is read.
Whether a link or memory holds at a moment is decided by its times, so an answer serves every later moment too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.temporal import AFTER_ALL, END_OF_TIME, Instant
from substrate.connection.kept import GraphState, Reads, RecordName, name_of
from substrate.connection.pool import Row
from substrate.connection.together import together
from substrate.cypher.fragments import (
    CUT_MARK,
    HUB,
    LINK_COLUMNS,
    SEEN,
    degree_now,
    is_cut,
    lasting,
    named_vectors_now,
)
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph, GraphTarget
from substrate.likeness import port as likeness
from substrate.likeness.elements import Near
from substrate.store.rows import NODE_PLACE
from substrate.store.search import FAVOURED_NEARER, NOW, STRENGTH, best, findable, walked

CROWD: Final = 256
"""Of a memory with this many links or more only the strongest are read."""
STRONGEST: Final = 24
_new: Final = tuple.__new__
"""Makes a named tuple of all its values in half the time: a question reads some thousand."""
_KIND: Final = ("known_from", "known_to", "min_energy", "min_confidence", "generalised", "asked")
_LINK_BYTES: Final = 700
_LINK_START: Final = 3
_LINK_END: Final = _LINK_START + len(LINK_COLUMNS)
"""Between them the record of the link in a row of a link."""
_ID, _VERSION, _CREATED, _VALID, _INVALID = map(
    LINK_COLUMNS.index, ("id", "version", "created_at", "valid_at", "invalid_at")
)
_LINK_ROW: Final = (
    "'link'", "s.id", "startNode(e).id", *(f"e.{column}" for column in LINK_COLUMNS),
    "m.id", "m.version", "m.created_at", is_cut("m"), "m.valid_at", "m.invalid_at",
)  # fmt: skip


def _row(*columns: str) -> str:
    """A row of the union: all branches have as many columns, with the same names."""
    filled = (*columns, *["null"] * (len(_LINK_ROW) - len(columns)))
    return "RETURN " + ", ".join(f"{column} AS c{place}" for place, column in enumerate(filled))


_SEEN: Final = f"{SEEN} {_row("'seen'", 'seen[0]', 'seen[1]')}"
_OF: Final = "MATCH (s:ConsciousnessNode) WHERE s.id IN $ids WITH s "
_HELD: Final = f"{_OF}, {degree_now('s')} AS held WITH collect(toString(held) + ' ' + s.id) AS held " + _row(
    "'held'", f"string.join(held, '{CUT_MARK}')"
)
"""One row: a list would be answered as a text in which ids are not told apart."""
_SMALL: Final = f"{_HELD} UNION ALL {_OF}, {degree_now('s')} AS held WHERE held < {CROWD} WITH s "
_ALL_LINKS: Final = f"MATCH (s)-[e:LINK]-(m) WHERE {lasting('e')} AND {lasting('m')} "
_IN_ORDER: Final = f"WITH s, e, m ORDER BY {STRENGTH} "
_LINK: Final = _row(*_LINK_ROW)


class Texts(NamedTuple):
    """`around`: the state of the graph; how many links each memory has; the links of those that have fewer than
    `CROWD`. `strongest`: the strongest links of one memory. `kind`: the parameters on which both hang, where there
    are no filters. `shared`: those that they take of a search; what it looks for itself is none of them."""

    around: Query
    strongest: Query
    kind: tuple[str, ...]
    shared: frozenset[str]


def _texts(name: str, links: str, kind: tuple[str, ...]) -> Texts:
    around = Query(f"{name}_around", f"{_SEEN} UNION ALL {_SMALL}{links}{_IN_ORDER}{_LINK}")
    strongest = f"{_SEEN} UNION ALL {_OF} {links}{_IN_ORDER} LIMIT {STRONGEST} {_LINK}"
    shared = frozenset(re.findall(r"\$(\w+)", around.text)) - {"ids", "from", "until"}
    return Texts(around, Query(f"strongest_{name}_around", strongest), kind, shared)


_WALKED: Final = f"{_ALL_LINKS} AND {walked('e')} AND {findable('m')} "
WALKED: Final = _texts("links", _WALKED, _KIND)
"""The links that a question follows."""
FEW: Final = Query("few_links_around", f"{_SMALL}{_WALKED}{best('s', 'm', '$few')}{_LINK}")
"""The strongest `$few` of the links that a question follows from each memory, without the state of the graph."""
EVERY: Final = _texts("all_links", _ALL_LINKS, _KIND[:2])
"""All links of the present."""


def kind_of(what: str, values: Mapping[str, Any], names: tuple[str, ...] = _KIND) -> str | None:
    """Under what an answer that depends on these parameters is kept; None where it is not kept: with filters."""
    if not values["unfiltered"] or values["emotions_needed"]:
        return None
    return f"{what} {[values[name] for name in names]}"


class NearLink(NamedTuple):
    """A link of a memory and the memory at its other end; both hold from `since` to before `until`."""

    source: str
    target: str
    link: RecordName
    other: RecordName
    since: Instant
    until: Instant


class Neighbourhood(NamedTuple):
    """The links of a memory that hold at `at` or later, strongest first; `held`: how many it has in all. Without
    `whole` only the strongest of them, or none where only their number was asked for."""

    at: Instant
    held: int
    links: tuple[NearLink, ...] = ()
    whole: bool = True

    @property
    def is_hub(self) -> bool:
        """No second link is followed from it or through it."""
        return self.held >= HUB

    @property
    def is_unread(self) -> bool:
        """Only the number of its links is known."""
        return not self.whole and not self.links

    @property
    def is_cut(self) -> bool:
        """All of its links can be read."""
        return not self.whole and self.held < CROWD

    def holding(self, now: Instant) -> list[NearLink]:
        """Those that hold now."""
        return [link for link in self.links if link.since <= now < link.until]


NOBODY: Final = Neighbourhood(0, 0)


class Neighbours:
    """Reads neighbourhoods of one graph at `now`, of what the parameters `values` of a search let pass.

    Of a large graph nothing is kept for other questions, so no more is read than this one needs. `rows`: those of
    links that were read and are not kept yet.
    """

    def __init__(self, target: GraphTarget, values: Mapping[str, Any], *, texts: Texts = WALKED) -> None:
        self._graph, self._reads, self.now = target.graph, target.reads, values["valid_from"]
        self._records = target.graph.records
        self._texts, self._is_large = texts, target.is_large
        self._values = {**{name: values[name] for name in texts.shared}, "from": self.now, "until": AFTER_ALL}
        self._kind = None if target.is_large else kind_of(texts.around.name, values, texts.kind)
        self._own: dict[str, Neighbourhood] = {}
        self._holding: dict[str, list[NearLink]] = {}
        self.rows: dict[RecordName, Row] = {}

    async def read(self, ids: Sequence[str], wanted: int, few: int | None = None) -> Mapping[str, Neighbourhood]:
        """The neighbourhoods of these memories: of each at least its first `wanted` links that hold now. `few`:
        where the graph is large, of those that a question follows no more than this many are read."""
        lacking = [name for name in dict.fromkeys(ids) if self._find(name) is None]
        if lacking:
            await self._read(lacking, few if self._is_large else None)
        crowds = [name for name in dict.fromkeys(ids) if wanted and self._own[name].is_unread]
        await together(*(self._read_crowd(name, self._own[name].held) for name in crowds))
        cut = [
            name for name in ids if not self._own[name].whole and len(self._own[name].holding(self.now)) < wanted
        ]
        for name, found in zip(cut, await together(*map(self._read_now, cut)), strict=True):
            self._own[name] = found
        return self._own

    def holding(self, name: str) -> list[NearLink]:
        """The links that hold now of a memory whose neighbourhood was read with all that is wanted of it."""
        links = self._holding.get(name)
        if links is None:
            links = self._holding[name] = self._own[name].holding(self.now)
        return links

    async def read_whole(self, ids: Sequence[str]) -> None:
        """Read all links of memories of which only few were read."""
        await self._read(ids, None)

    def _find(self, name: str) -> Neighbourhood | None:
        found = self._own.get(name)
        if found is None and self._kind is not None:
            kept: Neighbourhood | None = self._reads.get(self._kind, about=name)
            if kept is not None and kept.at <= self.now:
                self._own[name] = found = kept
        return found

    async def _read(self, ids: Sequence[str], few: int | None) -> None:
        if few is None:
            rows = await self._graph.read(self._texts.around, **self._values, ids=list(ids))
        else:
            values = {**self._values, "until": self.now + 1, "few": few}
            rows = await self._graph.read(FEW, **values, ids=list(ids))
        # By memory, how many links it has.
        told = "".join(row[1] for row in rows if row[0] == "held")
        pairs = (each.partition(" ") for each in told.split(CUT_MARK) if each)
        held = {name: int(count) for count, _, name in pairs}
        links: dict[str, list[NearLink]] = {name: [] for name in held}
        for row in rows:
            if row[0] == "link":
                links[row[1]].append(self._near_link(row))
        same = self._is_same(rows)
        for name, count in held.items():
            whole = count < CROWD and (few is None or len(links[name]) < few)
            found = Neighbourhood(self.now, count, tuple(links[name]), whole=whole)
            self._keep(name, found, same=same)
        for name in ids:
            if name not in held:  # it was erased meanwhile
                self._own[name] = NOBODY
                self._holding.pop(name, None)

    async def _read_crowd(self, name: str, held: int) -> None:
        rows = await self._graph.read(self._texts.strongest, **self._values, ids=[name])
        links = tuple(self._near_link(row) for row in rows if row[0] == "link")
        found = Neighbourhood(self.now, held, links, whole=len(links) < STRONGEST)
        self._keep(name, found, same=self._is_same(rows))

    async def _read_now(self, name: str) -> Neighbourhood:
        """The strongest of the links that hold now: many stronger ones hold only later."""
        values = {**self._values, "until": self.now + 1, "ids": [name]}
        rows = await self._graph.read(self._texts.strongest, **values)
        return self._own[name]._replace(links=tuple(self._near_link(row) for row in rows if row[0] == "link"))

    def _is_same(self, rows: Sequence[Row]) -> bool:
        """Whether the graph was in the same state when it answered as when the question began."""
        seen = GraphState.from_values({row[1]: row[2] for row in rows if row[0] == "seen"})
        return seen is not None and seen == self._reads.state

    def _keep(self, name: str, found: Neighbourhood, *, same: bool) -> None:
        self._own[name] = found
        self._holding.pop(name, None)
        if same and self._kind is not None:
            self._reads.keep(self._kind, found, _LINK_BYTES * (1 + len(found.links)), about=name)

    def _near_link(self, row: Row) -> NearLink:
        """What the present shows is open. The record of the link is kept too, to be shown when it is followed.
        Where no more records have room, only those are kept that are followed: most never are."""
        start, source = row[1], row[2]
        other, version, created, long, valid, invalid = row[_LINK_END:]
        link = row[_LINK_START:_LINK_END]
        name = _new(RecordName, ("link", link[_ID], link[_VERSION] or 1, link[_CREATED], END_OF_TIME, 0))
        if self._is_large or self._records.cache.is_full:
            self.rows[name] = link
        else:
            self._records.link(link)
        near = _new(RecordName, ("memory", other, version, created, END_OF_TIME, long))
        since, until = max(valid, link[_VALID]), min(invalid, link[_INVALID])
        return _new(NearLink, (source, other if source == start else start, name, near, since, until))


_JOINED_BYTES: Final = 500
_NAMES: Final = Query("vector_names_now", named_vectors_now(findable("s")))


class _VectorOwner(NamedTuple):
    """What a vector belongs to, as read at `at`; `name` is None where that is no record of the present."""

    at: Instant
    name: tuple[Any, ...] | None = None
    valid_at: Instant = 0
    invalid_at: Instant = 0
    speaker: str = ""


async def find_nearest(target: GraphTarget, values: Mapping[str, Any]) -> list[Row]:
    """The memories nearest to what the parameter `near` searches, as the rows of `search.THIN`."""
    graph = target.graph
    near = await likeness.nearest(graph.connection, graph.name, values["near"])
    join = _join_names(graph, values, near) if target.is_large else _join(graph, target.reads, values, near)
    joined = await join
    favoured = frozenset(values["favoured"])
    start, end = values["valid_from"], values["valid_to"]
    found: list[tuple[float, str, int]] = []
    for place, (one, (_, name, valid_at, invalid_at, speaker)) in enumerate(zip(near, joined, strict=True)):
        if name is not None and valid_at < end and invalid_at > start:
            nearer = FAVOURED_NEARER if speaker in favoured else 0.0
            found.append((one.distance - nearer, name[0], place))
    found.sort()
    best = [place for _, _, place in found[: values["limit"]]]
    return [(0, f"{near[place].distance:.15g}", *(joined[place].name or ())) for place in best]


async def _join_names(graph: Graph, values: Mapping[str, Any], near: Sequence[Near]) -> list[_VectorOwner]:
    """What each of the vectors belongs to; nothing more is read of it, and nothing kept."""
    rows = await graph.read(_NAMES, **_values_of_join(values, near))
    now = values["valid_from"]
    found = {
        (name, digest or ""): _new(_VectorOwner, (now, (name, *rest), valid, invalid, speaker))
        for _, digest, speaker, valid, invalid, name, *rest in rows
    }
    return [found.get((one.owner, one.key), _VectorOwner(now)) for one in near]


def _values_of_join(values: Mapping[str, Any], near: Sequence[Near]) -> dict[str, Any]:
    shared = {name: value for name, value in values.items() if name not in ("near", "embedding")}
    ids = list(dict.fromkeys(one.owner for one in near))
    return {**shared, "from": values["valid_from"], "until": AFTER_ALL, "ids": ids}


async def _join(graph: Graph, reads: Reads, values: Mapping[str, Any], near: Sequence[Near]) -> list[_VectorOwner]:
    """What each of the vectors belongs to."""
    now, kind = values["valid_from"], kind_of("joined", values)
    joined: list[_VectorOwner | None] = [None] * len(near)
    if kind is not None:
        known = [reads.get((kind, key), about=owner) for owner, key, _ in near]
        joined = [one if one is not None and one.at <= now else None for one in known]
    lacking = [one for one, kept in zip(near, joined, strict=True) if kept is None]
    if not lacking:
        return [each for each in joined if each is not None]
    rows = await graph.read(NOW.nearest, **_values_of_join(values, lacking))
    records = graph.records
    found: dict[tuple[str, str], _VectorOwner] = {}
    for kind_of_row, digest, speaker, *columns in rows:
        if kind_of_row == "near":  # the record is kept too: it is shown if it is near enough
            memory = records.memory(columns).row
            name = name_of("memory", memory)
            valid, invalid = memory[NODE_PLACE["valid_at"]], memory[NODE_PLACE["invalid_at"]]
            found[name.id, digest or ""] = _VectorOwner(now, name[1:], valid, invalid, speaker)
    same = reads.state == GraphState.from_values({row[1]: row[2] for row in rows if row[0] == "seen"})
    if same and kind is not None:
        for owner, key, _ in lacking:
            reads.keep((kind, key), found.get((owner, key), _VectorOwner(now)), _JOINED_BYTES, about=owner)
    pairs = zip(near, joined, strict=True)
    return [kept or found.get((one.owner, one.key), _VectorOwner(now)) for one, kept in pairs]
