"""The memories and links of the present of one graph in columns: by them a question knows what to follow. Pure.

A memory has a slot, and a link a place; columns have a value for each. So a memory takes about 250 bytes and a
link 70, and a question looks at numbers until it knows what it ranks: the records of that are held by slot and
place. What is held is as it was in one state of the graph (`GraphState`); `ColumnsCache` sees to that.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Collection, Iterable, MutableSequence, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

from schemas.temporal import END_OF_TIME, Instant
from substrate.connection.kept import GraphState, Record, Records
from substrate.cypher.fragments import LINK_COLUMNS, NODE_COLUMNS

DEFAULT_BYTES: Final = 179 << 20
MEMORY_BYTES: Final = 250
LINK_BYTES: Final = 70
OPEN_MEMORY, OPEN_LINK = 9_000, 6_000
"""What an open record takes beside its texts, with what is usually computed from it."""
GRAPH_BYTES: Final = 1_000
"""What a graph takes of which nothing is held yet: a service may be asked about any number of citizens."""
UNKNOWN: Final = -1
"""In place of the number of links that were not read."""
OPEN, TOLD, TELLS, STATES, _KNOWN = 1, 2, 4, 8, 16
"""Bits of a memory: it is known now; somebody told it; it says something; does not only ask."""
WALKED, OUTGOING, SHOWN = 1, 2, 4
"""Bits of a link: questions follow it; the memory that tells of it is its source; it is known now."""

type Version = tuple[int, int, Instant, Instant]
"""By what a record of a memory is recognised: its slot, its version, when it was created, and is closed."""
type LinkEnd = tuple[int, int]
"""The place of a link of a memory, and the slot of the memory at its other end."""
_VERSION: Final = itemgetter(*map(NODE_COLUMNS.index, ("version", "created_at", "expired_at")))
_LINK_VERSION: Final = itemgetter(*map(LINK_COLUMNS.index, ("id", "version", "created_at", "expired_at")))


class LinkVersion(NamedTuple):
    """By what the record of a link is recognised. `version`: 1 for one that never changed."""

    id: str
    version: int
    created_at: Instant
    expired_at: Instant

    @classmethod
    def of(cls, row: Sequence[Any]) -> LinkVersion:
        """That of a whole row."""
        link_id, version, created_at, expired_at = _LINK_VERSION(row)
        return cls(link_id, version or 1, created_at, expired_at)


class MemoryRow(NamedTuple):
    """A memory as the engine tells of it. `bits`: those of a memory. `speaker`: in lower case, or empty.

    `energy` and `confidence`: at least 0, or −1 where the record is damaged.
    """

    id: str
    version: int
    created_at: Instant
    valid_at: Instant
    invalid_at: Instant
    energy: float
    confidence: float
    bits: int
    speaker: str


class LinkRow(NamedTuple):
    """A link as one of its ends sees it. `id`: None where it follows from the ends and the type."""

    other: str
    relation_type: str
    id: str | None
    version: int
    created_at: Instant
    valid_at: Instant
    invalid_at: Instant
    bits: int


class GraphColumns:
    """`state`: in which all of it was read; None where that is for one question alone.

    `is_filled`: what is not held is read when it is needed, and nothing ahead. `counted`: the bytes that the cache
    counts for it.
    `crowds`: the strongest links of a memory that has more than are read, and at which moment they last.
    """

    def __init__(self, state: GraphState | None = None) -> None:
        self.state = state
        self.is_filled = state is None
        self.questions = self.counted = 0
        self._slots: dict[str, int] = {}
        self.ids: list[str] = []
        # By slot, in the order of `MemoryRow`; those of a memory that was not read mean nothing.
        self._speaker: list[str] = []
        self._memories: list[MutableSequence[Any]] = [*(array(code) for code in "iqqqddB"), self._speaker]
        self._version, self._created, self._valid, self._invalid = self._memories[:4]
        self._energy, self._confidence, self._bits = self._memories[4:7]
        self._keys: list[bytes | None] = []
        self._records = Records(OPEN_MEMORY)
        self._degree, self._first, self._count = array("i"), array("q"), array("i")
        self._used = array("q")  # the last question that looked at it
        self._linked = array("i")  # the places of the links of one memory after another
        # By the place of a link.
        self._links: list[MutableSequence[Any]] = [array(code) for code in "iihiqqqB"]
        self._source, self._target, self._type, self._link_version = self._links[:4]
        self._link_created, self._link_valid, self._link_invalid, self._link_bits = self._links[4:]
        self.link_records = Records(OPEN_LINK)
        self._types: dict[str, int] = {}
        self._type_names: list[str] = []
        self._link_ids, self._id_ends = bytearray(), array("q")  # one after another; where that of a link ends
        self.crowds: dict[tuple[int, Wanted], tuple[Instant, Sequence[int]]] = {}

    @property
    def bytes_held(self) -> int:
        """What all of it takes, by estimate, without open records."""
        links = LINK_BYTES * len(self._source) + len(self._link_ids)
        own = GRAPH_BYTES + MEMORY_BYTES * len(self.ids) + links
        return own + self._records.bytes + self.link_records.bytes

    @property
    def bytes_open(self) -> int:
        """What open records take, by estimate."""
        return self._records.of_open + self.link_records.of_open

    # --- what is held ---------------------------------------------------------------------------------------

    def slot(self, name: str) -> int:
        """The slot of a memory, a new one where it has none."""
        slot = self._slots.get(name)
        if slot is None:
            slot = self._slots[name] = len(self.ids)
            self.ids.append(name)
            for column in (*self._memories, self._first, self._used):
                column.append(0)
            for unknown in (self._degree, self._count):
                unknown.append(UNKNOWN)
            self._keys.append(None)
            self._records.add_place()
        return slot

    def hold_memory(self, row: MemoryRow) -> None:
        """Hold a memory as it is now."""
        slot = self.slot(row.id)
        held = None if self._bits[slot] else self._records.row(slot)
        if held is not None and _VERSION(held)[:2] != row[1:3]:
            self._records.drop(slot)
        for column, value in zip(self._memories, row[1:], strict=True):
            column[slot] = value
        self._bits[slot] |= _KNOWN

    def hold_gone(self, slots: Iterable[int]) -> None:
        """Of these memories those that are not held do not exist."""
        for slot in slots:
            self._bits[slot] = self._bits[slot] or _KNOWN

    def hold_keys(self, name: str, keys: Sequence[str]) -> None:
        """Hold the keys of the vectors of a memory (`substrate.likeness`)."""
        self._keys[self.slot(name)] = " ".join(keys).encode()

    def hold_links(self, slot: int, degree: int, links: Sequence[LinkRow] | None) -> None:
        """Hold the links of a memory, strongest first; None where only their number was read."""
        places = self.add_links(slot, links or ())
        self._degree[slot], self._first[slot] = degree, len(self._linked)
        self._count[slot] = UNKNOWN if links is None else len(places)
        self._linked.extend(places)

    def add_links(self, slot: int, links: Sequence[LinkRow]) -> list[int]:
        """Hold links that a memory tells of; their places. One that the other end told of has one already."""
        places: list[int] = []
        for row in links:
            other = self.slot(row.other)
            source, target = (slot, other) if row.bits & OUTGOING else (other, slot)
            if row.relation_type not in self._types:
                self._types[row.relation_type] = len(self._type_names)
                self._type_names.append(row.relation_type)
            values = [source, target, self._types[row.relation_type], *row[3:7], row.bits & ~OUTGOING]
            for place in places if other == slot else self._places(other):
                is_between = self._source[place] == source and self._target[place] == target
                if is_between and self._values(place) == values and self._own_id(place) == (row.id or ""):
                    break
            else:
                place = len(self._source)
                for column, value in zip(self._links, values, strict=True):
                    column.append(value)
                self._add_id(row.id or "")
                self.link_records.add_place()
            places.append(place)
        return places

    def _values(self, place: int) -> list[Any]:
        return [column[place] for column in self._links]

    def _add_id(self, link_id: str) -> None:
        self._link_ids += link_id.encode()
        self._id_ends.append(len(self._link_ids))

    def _own_id(self, place: int) -> str:
        """The id of a link; empty where it is made of its ends and its type."""
        start = self._id_ends[place - 1] if place else 0
        return self._link_ids[start : self._id_ends[place]].decode()

    def hold_row(self, row: Sequence[Any]) -> None:
        """Hold the whole row of the present record of a memory, unless another one is held of it."""
        slot, version = self.slot(row[0]), _VERSION(row)
        if not self._bits[slot] or self.version(slot) == (slot, *version):
            held = self._records.row(slot)
            if held is None or _VERSION(held) != version:
                self._records.hold(slot, row)

    def hold_link_row(self, row: Sequence[Any], source: str, target: str) -> None:
        """Hold the whole row of the record of a link, if the links of its source are held."""
        place = self.place(row, source, target)
        if place is not None and not self.link_records.holds(place):
            self.link_records.hold(place, row)

    def forget(self, names: Collection[str]) -> None:
        """Hold nothing more of these memories and of their links."""
        for slot in [self._slots[name] for name in names if name in self._slots]:
            self._bits[slot] = 0
            self._degree[slot] = self._count[slot] = UNKNOWN
            self._keys[slot] = None
            self._records.drop(slot)
        if names:
            self.crowds.clear()

    def close(self, least: int) -> None:
        """Have at least so many bytes less in open records, as far as there are any."""
        of_links = least * self.link_records.of_open // max(1, self.bytes_open)
        self.link_records.close(of_links + 1)
        self._records.close(least - of_links)

    def records_alone(self, state: GraphState) -> GraphColumns:
        """Columns in a later state, to which writes alone led: a record is still that of its version."""
        kept = GraphColumns(state)
        for name in self.ids:
            kept.slot(name)
        kept.questions, kept._records = self.questions, self._records.copy()
        return kept

    def used_last(self, most_bytes: int) -> GraphColumns:
        """Columns in the same state, of the memories that were looked at last since these were made, with their
        links and what is at the other ends, as far as there is room."""
        kept = GraphColumns(self.state)
        kept.is_filled, kept.questions = self.is_filled, self.questions
        kept._types, kept._type_names = self._types.copy(), self._type_names.copy()
        places: dict[int, int] = {}
        for slot in sorted(range(len(self.ids)), key=self._used.__getitem__, reverse=True):
            if not self._used[slot] or kept.bytes_held > most_bytes:
                break
            own = kept._copy(self, slot)
            kept._degree[own], kept._count[own] = self._degree[slot], self._count[slot]
            kept._first[own] = len(kept._linked)
            for place in self._places(slot):
                if place not in places:
                    places[place] = len(kept._source)
                    source, target, *rest = self._values(place)
                    values = kept._copy(self, source), kept._copy(self, target), *rest
                    for column, value in zip(kept._links, values, strict=True):
                        column.append(value)
                    kept._add_id(self._own_id(place))
                    kept.link_records.add_place(self.link_records, place)
                kept._linked.append(places[place])
        return kept

    def _copy(self, former: GraphColumns, place: int) -> int:
        """Hold a memory of other columns without its links; its slot."""
        slot = self.slot(former.ids[place])
        if not self._bits[slot]:
            for column, others in zip(self._memories, former._memories, strict=True):
                column[slot] = others[place]
            self._keys[slot] = former._keys[place]
            row = former._records.row(place)
            if row is not None:
                self._records.hold(slot, row)
        return slot

    # --- what is known --------------------------------------------------------------------------------------

    def degree(self, slot: int) -> int:
        """How many links a memory has in all; `UNKNOWN` where they were not read."""
        return self._degree[slot]

    def links(self, slot: int) -> Sequence[int]:
        """The places of its links, strongest first; none where they were not read."""
        self._used[slot] = self.questions
        return self._places(slot)

    def _places(self, slot: int) -> Sequence[int]:
        first = self._first[slot]
        return self._linked[first : first + max(0, self._count[slot])]

    def other(self, place: int, slot: int) -> int:
        """The slot of the memory at the other end of a link of a memory."""
        source: int = self._source[place]
        return self._target[place] if source == slot else source

    def unknown_ends(self, slots: Iterable[int]) -> list[int]:
        """The memories at the other ends of their links that are not held."""
        others = dict.fromkeys(self.other(place, slot) for slot in slots for place in self.links(slot))
        return [other for other in others if not self._bits[other]]

    def holding(self, slot: int, places: Iterable[int], now: Instant, wanted: Wanted) -> list[LinkEnd]:
        """Those of these links of a memory that hold now, and are wanted as the memories at their other ends."""
        link_bits, since, until = self._link_bits, self._link_valid, self._link_invalid
        needed = wanted.link_bits
        found = [
            (place, self.other(place, slot))
            for place in places
            if since[place] <= now < until[place] and link_bits[place] & needed == needed
        ]
        held = self.wanted({other for _, other in found}, now, now + 1, wanted)
        return [end for end in found if end[1] in held]

    def wanted(self, slots: Iterable[int], now: Instant, until: Instant, wanted: Wanted) -> set[int]:
        """Those of these memories that hold between now and then, and are wanted."""
        bits, valid, invalid = self._bits, self._valid, self._invalid
        energy, confidence, passing = self._energy, self._confidence, wanted.passing
        return {
            slot
            for slot in slots
            if bits[slot] & wanted.bits == wanted.bits
            and valid[slot] < until
            and invalid[slot] > now
            and energy[slot] >= wanted.energy
            and confidence[slot] >= wanted.confidence
            and (passing is None or slot in passing)
        }

    def version(self, slot: int) -> Version:
        """The version of a memory that is held."""
        return slot, self._version[slot], self._created[slot], END_OF_TIME

    def record(self, slot: int, *version: Instant) -> Record | None:
        """The record of a version of a memory (`Version`); None where it is not held."""
        self._used[slot] = self.questions
        found = self._records.find(slot)
        return None if found is None or _VERSION(found.row) != version else found

    def take(self, row: Sequence[Any]) -> Record:
        """The record of a whole row of a memory: that which is held if its row is the same, else a new one."""
        slot = self._slots.get(row[0])
        if slot is None:
            return Record(row)
        if self._bits[slot]:  # else it is not known whether that is the present one
            self.hold_row(row)
        found = self.record(slot, *_VERSION(row))
        return found if found is not None and found.row == row else Record(row)

    def take_link(self, row: Sequence[Any], source: str, target: str) -> Record:
        """The same of a link."""
        place = self.place(row, source, target)
        if place is None:
            return Record(row)
        self.hold_link_row(row, source, target)
        found = self.link_records.find(place)
        return found if found is not None and found.row == row else Record(row)

    def ends(self, place: int) -> tuple[str, str]:
        """The ids of the memories at the source and the target of a link."""
        return self.ids[self._source[place]], self.ids[self._target[place]]

    def link_version(self, place: int) -> LinkVersion:
        """The version of a link."""
        source, target = self.ends(place)
        link_id = self._own_id(place) or f"{source}|{self._type_names[self._type[place]]}|{target}"
        return LinkVersion(link_id, self._link_version[place], self._link_created[place], END_OF_TIME)

    def place(self, row: Sequence[Any], source: str, target: str) -> int | None:
        """The place of the link that has this whole row; None where the links of its source are not held."""
        start, end, version = self._slots.get(source), self._slots.get(target), LinkVersion.of(row)
        for place in () if start is None else self._places(start):
            is_between = self._target[place] == end and self._source[place] == start
            if is_between and self.link_version(place) == version:
                return place
        return None

    def keys(self, slot: int) -> Sequence[str] | None:
        """The keys of the vectors of a memory; None where they were not read."""
        keys = self._keys[slot] if self._bits[slot] else None
        return None if keys is None else keys.decode().split()

    def speaker(self, slot: int) -> str:
        """Who said it, in lower case; empty where nobody is named."""
        return self._speaker[slot]

    def differs(self, other: GraphColumns, name: str) -> bool:
        """Whether columns of the same state hold something else of a memory, in what both hold of it."""
        pairs = zip(self._held(name), other._held(name), strict=True)
        return any(own is not None and its is not None and own != its for own, its in pairs)

    def _held(self, name: str) -> tuple[object, object, object, object]:
        """The columns of a memory and of its links, the keys of its vectors, its row; None for what is unknown."""
        slot = self._slots.get(name)
        if slot is None:
            return None, None, None, None
        bits = self._bits[slot]
        memory = [column[slot] for column in self._memories] if bits != _KNOWN else []
        bits_of, since, until = self._link_bits, self._link_valid, self._link_invalid
        links = [
            (self.link_version(one), self._source[one] == slot, bits_of[one], since[one], until[one])
            for one in self._places(slot)
        ]
        return (
            memory if bits else None,
            None if self._degree[slot] == UNKNOWN else (self._degree[slot], links),
            sorted(self.keys(slot) or ()) if bits and self._keys[slot] is not None else None,
            self._records.row(slot) if bits else None,
        )


class Wanted(NamedTuple):
    """Which memories and links a question may find. `passing`: those that pass its filters; None for all."""

    bits: int
    link_bits: int
    energy: float = 0.0
    confidence: float = 0.0
    passing: set[int] | None = None


class ColumnsCache:
    """The columns of the graphs that were asked last, up to `most_bytes` by estimate.

    `bytes` are counted when a graph is asked. Above the bound records are closed first, then of the graph that was
    asked longest ago only what was looked at last is held. `stale`: how many memories were found to be held
    otherwise than the store has them. `hits`, `misses`: of the records that questions looked for.
    """

    def __init__(self, most_bytes: int = DEFAULT_BYTES) -> None:
        self.most_bytes = most_bytes
        self.bytes = self.stale = self.hits = self.misses = 0
        self.graphs: OrderedDict[str, GraphColumns] = OrderedDict()

    def state(self, graph: str) -> GraphState | None:
        """The state in which the columns of a graph are held."""
        columns = self.graphs.get(graph)
        return None if columns is None else columns.state

    def of(self, graph: str, state: GraphState | None) -> GraphColumns:
        """The columns of a graph in this state; of every other state of it nothing is held any more.

        Without a state, and in one before that which is held, they are for one question alone.
        """
        columns, held = self.graphs.get(graph), self.state(graph)
        if state is None or self.most_bytes == 0 or (held is not None and state.precedes(held)):
            return GraphColumns()
        if columns is None or held is None or held != state:
            self.forget(graph)
            is_later = columns is not None and held is not None and held.precedes(state)
            columns = columns.records_alone(state) if columns is not None and is_later else GraphColumns(state)
        self._keep(graph, columns)
        self.graphs.move_to_end(graph)
        while self.bytes > max(self.most_bytes, GRAPH_BYTES):
            oldest, columns = next(iter(self.graphs.items()))
            if columns.bytes_open:
                columns.close(self.bytes - self.most_bytes)
                self._keep(oldest, columns)
                continue
            self.forget(oldest)
            columns = columns.used_last(min(columns.bytes_held, self.most_bytes) // 2)
            if columns.ids or oldest == graph:
                self._keep(oldest, columns)
        return self.graphs[graph]

    def room_for(self, columns: GraphColumns) -> int:
        """How many bytes the columns of one graph may have: what no other takes, and at least half of all. Nine
        tenths of that, so that a graph which fits stays when it grows a little."""
        return max(self.most_bytes // 2, self.most_bytes - self.bytes + columns.counted) * 9 // 10

    def _keep(self, graph: str, columns: GraphColumns) -> None:
        self.graphs[graph] = columns
        self.bytes -= columns.counted
        columns.counted = columns.bytes_held + columns.bytes_open
        self.bytes += columns.counted

    def count(self, wanted: int, lacking: int) -> None:
        """So many records were looked for, of which so many were not held."""
        self.hits += wanted - lacking
        self.misses += lacking

    def carry(self, graph: str, before: GraphState, after: GraphState, changed: Collection[str]) -> None:
        """One write led from `before` to `after`, and changed only these memories and their links."""
        columns = self.graphs.get(graph)
        if columns is not None and columns.state == before != after:
            columns.state = after
            columns.forget(changed)

    def forget(self, graph: str | None = None) -> None:
        """Hold nothing of a graph, or of all."""
        for name in [graph] if graph is not None else list(self.graphs):
            columns = self.graphs.pop(name, None)
            self.bytes -= 0 if columns is None else columns.counted
