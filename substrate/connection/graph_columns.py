"""The memories and links of the present of one graph in columns: by them a question knows what to follow. Pure.

A memory has a slot, and each end of a link a number; columns have a value for each. So a memory takes about 250
bytes and an end of a link 35, and a question looks at numbers until it knows what it shows. What is held is as it
was in one state of the graph (`GraphState`); `ColumnsCache` sees to that.
"""

from __future__ import annotations

import builtins
from array import array
from collections import OrderedDict
from collections.abc import Collection, Iterable, MutableSequence, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from schemas.temporal import END_OF_TIME, Instant
from substrate.connection.kept import GraphState, RecordName, name_of, pack, unpack

DEFAULT_BYTES: Final = 64 << 20
MEMORY_BYTES: Final = 250
LINK_BYTES: Final = 35
ROW_BYTES: Final = 50
"""Beside its values, the packed row of a record."""
GRAPH_BYTES: Final = 1_000
"""What a graph takes of which nothing is held yet: a service may be asked about any number of citizens."""
UNKNOWN: Final = -1
"""In place of the number of links that were not read."""
OPEN, TOLD, TELLS, STATES, CUT, _KNOWN = 1, 2, 4, 8, 16, 32
"""Bits of a memory: it is known now; somebody told it; it says something; does not only ask; its text is long."""
WALKED, OUTGOING, SHOWN = 1, 2, 4
"""Bits of an end of a link: questions follow it; the memory is its source; it is known now."""


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
        self._keys: list[Sequence[str] | None] = []
        self._rows: list[bytes | None] = []
        self._degree, self._first, self._count = array("i"), array("q"), array("i")
        self._used = array("q")  # the last question that looked at it
        # By the number of an end of a link.
        self._ends: list[MutableSequence[Any]] = [array(code) for code in "ihiqqqB"]
        self._other, self._type, self._link_version, self._link_created = self._ends[:4]
        self._link_valid, self._link_invalid, self._link_bits = self._ends[4:]
        self._link_rows: list[bytes | None] = []
        self._types: dict[str, int] = {}
        self._type_names: list[str] = []
        self._link_ids: dict[int, str] = {}
        self._row_bytes = 0
        self.crowds: dict[tuple[str, Wanted], tuple[Instant, range]] = {}

    @property
    def bytes(self) -> int:
        """What all of it takes, by estimate."""
        named = (MEMORY_BYTES - 40) * len(self._link_ids)
        return GRAPH_BYTES + MEMORY_BYTES * len(self.ids) + LINK_BYTES * len(self._other) + named + self._row_bytes

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
            self._rows.append(None)
        return slot

    def hold_memory(self, row: MemoryRow) -> None:
        """Hold a memory as it is now."""
        slot = self.slot(row.id)
        for column, value in zip(self._memories, row[1:], strict=True):
            column[slot] = value
        self._bits[slot] |= _KNOWN

    def hold_gone(self, names: Iterable[str]) -> None:
        """Of these memories those that are not held do not exist."""
        for slot in map(self.slot, names):
            self._bits[slot] = self._bits[slot] or _KNOWN

    def hold_keys(self, name: str, keys: Sequence[str]) -> None:
        """Hold the keys of the vectors of a memory (`substrate.likeness`)."""
        self._keys[self.slot(name)] = keys

    def hold_links(self, name: str, degree: int, links: Sequence[LinkRow] | None) -> None:
        """Hold the ends of links of a memory, strongest first; None where only their number was read."""
        slot, added = self.slot(name), self.add_links(links or ())
        self._degree[slot], self._first[slot] = degree, added.start
        self._count[slot] = UNKNOWN if links is None else len(added)

    def add_links(self, links: Sequence[LinkRow]) -> range:
        """Hold ends of links, which get these numbers."""
        start = len(self._other)
        for other, relation_type, link_id, *rest in links:
            if link_id is not None:
                self._link_ids[len(self._other)] = link_id
            if relation_type not in self._types:
                self._types[relation_type] = len(self._type_names)
                self._type_names.append(relation_type)
            values = (self.slot(other), self._types[relation_type], *rest)
            for column, value in zip(self._ends, values, strict=True):
                column.append(value)
            self._link_rows.append(None)
        return range(start, len(self._other))

    def hold_row(self, row: Sequence[Any]) -> None:
        """Hold the whole row of the record of a memory that is held, packed."""
        name = name_of("memory", row)
        slot = self._slots.get(name.id)
        if slot is not None and self._rows[slot] is None and self.record(name.id) == name:
            self._rows[slot] = self._pack(row)

    def hold_link_row(self, row: Sequence[Any], source: str, target: str) -> None:
        """Hold the whole row of the record of a link, packed, if the links of its source are held."""
        number = self._number(name_of("link", row), source, target)
        if number is not None and self._link_rows[number] is None:
            self._link_rows[number] = self._pack(row)

    def _pack(self, row: Sequence[Any]) -> builtins.bytes:
        packed = pack(row)
        self._row_bytes += _bytes_of(packed)
        return packed

    def forget(self, names: Collection[str]) -> None:
        """Hold nothing more of these memories and of their links."""
        for slot in [self._slots[name] for name in names if name in self._slots]:
            self._bits[slot] = 0
            self._degree[slot] = self._count[slot] = UNKNOWN
            self._keys[slot] = self._rows[slot] = None
        if names:
            self.crowds.clear()

    def used_last(self, most_bytes: int) -> GraphColumns:
        """Columns in the same state, of the memories that were looked at last since these were made, with their
        links and what is at the other ends, as far as there is room."""
        kept = GraphColumns(self.state)
        kept.is_filled, kept.questions = self.is_filled, self.questions
        kept._types, kept._type_names = self._types.copy(), self._type_names.copy()
        for slot in sorted(range(len(self.ids)), key=self._used.__getitem__, reverse=True):
            if not self._used[slot] or kept.bytes > most_bytes:
                break
            own, numbers = kept._copy(self, slot), self.links(self.ids[slot])
            kept._degree[own], kept._count[own] = self._degree[slot], self._count[slot]
            kept._first[own] = len(kept._other)
            for number in numbers:
                other = kept._copy(self, self._other[number])
                if number in self._link_ids:
                    kept._link_ids[len(kept._other)] = self._link_ids[number]
                for column, former in zip(kept._ends, self._ends, strict=True):
                    column.append(former[number])
                kept._other[-1] = other
                kept._link_rows.append(self._link_rows[number])
                kept._row_bytes += _bytes_of(self._link_rows[number])
        return kept

    def _copy(self, former: GraphColumns, place: int) -> int:
        """Hold a memory of other columns without its links; its slot."""
        slot = self.slot(former.ids[place])
        if not self._bits[slot]:
            for column, others in zip(self._memories, former._memories, strict=True):
                column[slot] = others[place]
            self._keys[slot], self._rows[slot] = former._keys[place], former._rows[place]
            self._row_bytes += _bytes_of(former._rows[place])
        return slot

    # --- what is known --------------------------------------------------------------------------------------

    def degree(self, name: str) -> int:
        """How many links a memory has in all; `UNKNOWN` where they were not read."""
        slot = self._slots.get(name)
        return UNKNOWN if slot is None else self._degree[slot]

    def links(self, name: str) -> range:
        """The numbers of the ends of its links, strongest first; none where they were not read."""
        slot = self._slots[name]
        self._used[slot] = self.questions
        return range(self._first[slot], self._first[slot] + max(0, self._count[slot]))

    def unknown_ends(self, names: Iterable[str]) -> list[str]:
        """The memories at the other ends of their links that are not held."""
        numbers = chain.from_iterable(map(self.links, names))
        slots = dict.fromkeys(self._other[number] for number in numbers)
        return [self.ids[slot] for slot in slots if not self._bits[slot]]

    def holding(self, numbers: Iterable[int], now: Instant, wanted: Wanted) -> list[int]:
        """The ends of links among these that hold now and are wanted, as the memory at the other end."""
        link_bits, since, until = self._link_bits, self._link_valid, self._link_invalid
        needed = wanted.link_bits
        found = [one for one in numbers if since[one] <= now < until[one] and link_bits[one] & needed == needed]
        slots = self._wanted({self._other[number] for number in found}, now, now + 1, wanted)
        return [number for number in found if self._other[number] in slots]

    def wanted(self, names: Iterable[str], now: Instant, until: Instant, wanted: Wanted) -> set[str]:
        """Those of these memories that hold between now and then, and are wanted."""
        slots = self._wanted(map(self._slots.__getitem__, names), now, until, wanted)
        return {self.ids[slot] for slot in slots}

    def _wanted(self, slots: Iterable[int], now: Instant, until: Instant, wanted: Wanted) -> set[int]:
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
            and (passing is None or self.ids[slot] in passing)
        }

    def other(self, number: int) -> str:
        """The memory at the other end of a link."""
        slot: int = self._other[number]
        return self.ids[slot]

    def record(self, name: str) -> RecordName:
        """The name of the record of a memory that is held."""
        slot = self._slots[name]
        self._used[slot] = self.questions
        cut = 1 if self._bits[slot] & CUT else 0
        return RecordName("memory", name, self._version[slot], self._created[slot], END_OF_TIME, cut)

    def row(self, name: RecordName) -> builtins.bytes | None:
        """The packed row of a record of a memory; None where it is not held."""
        slot = self._slots.get(name.id)
        packed = None if slot is None else self._rows[slot]
        return None if packed is None or self.record(name.id) != name else packed

    def link(self, number: int, name: str) -> tuple[RecordName, str, str]:
        """The name of the record of a link, one end of which is the memory `name`, and the ids of its ends."""
        other = self.other(number)
        source, target = (name, other) if self._link_bits[number] & OUTGOING else (other, name)
        link_id = self._link_ids.get(number) or f"{source}|{self._type_names[self._type[number]]}|{target}"
        version, created = self._link_version[number], self._link_created[number]
        return RecordName("link", link_id, version, created, END_OF_TIME), source, target

    def link_row(self, name: RecordName, source: str, target: str) -> builtins.bytes | None:
        """The packed row of a record of a link; None where it is not held."""
        number = self._number(name, source, target)
        return None if number is None else self._link_rows[number]

    def _number(self, name: RecordName, source: str, target: str) -> int | None:
        """The number of the end of a link at its source; None where it is not held."""
        if source in self._slots:
            end = self._slots.get(target)
            for number in self.links(source):
                if self._other[number] == end and self.link(number, source)[:2] == (name, source):
                    return number
        return None

    def keys(self, name: str) -> Sequence[str] | None:
        """The keys of the vectors of a memory; None where they were not read."""
        slot = self._slots.get(name)
        return None if slot is None or not self._bits[slot] else self._keys[slot]

    def speaker(self, name: str) -> str:
        """Who said it, in lower case; empty where nobody is named."""
        return self._speaker[self._slots[name]]

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
        links = [(self.link(one, name), bits_of[one], since[one], until[one]) for one in self.links(name)]
        return (
            memory if bits else None,
            None if self._degree[slot] == UNKNOWN else (self._degree[slot], links),
            sorted(self.keys(name) or ()) if bits and self._keys[slot] is not None else None,
            None if (packed := self._rows[slot]) is None else unpack(packed),
        )


def _bytes_of(packed: bytes | None) -> int:
    return 0 if packed is None else ROW_BYTES + len(packed)


class Wanted(NamedTuple):
    """Which memories and links a question may find. `passing`: the ids that pass its filters; None for all."""

    bits: int
    link_bits: int
    energy: float = 0.0
    confidence: float = 0.0
    passing: set[str] | None = None


class ColumnsCache:
    """The columns of the graphs that were asked last, up to `most_bytes` by estimate.

    `bytes` are counted when a graph is asked. Above the bound, of the graph that was asked longest ago only what
    was looked at last is held. `stale`: how many memories were found to be held otherwise than the store has them.
    """

    def __init__(self, most_bytes: int = DEFAULT_BYTES) -> None:
        self.most_bytes = most_bytes
        self.bytes = self.stale = 0
        self.graphs: OrderedDict[str, GraphColumns] = OrderedDict()

    def state(self, graph: str) -> GraphState | None:
        """The state in which the columns of a graph are held."""
        columns = self.graphs.get(graph)
        return None if columns is None else columns.state

    def of(self, graph: str, state: GraphState | None) -> GraphColumns:
        """The columns of a graph in this state; of every other state of it nothing is held any more.

        Without a state, and in one before that which is held, they are for one question alone.
        """
        held = self.state(graph)
        if state is None or self.most_bytes == 0 or (held is not None and state.precedes(held)):
            return GraphColumns()
        if held != state:
            self.forget(graph)
        self._keep(graph, self.graphs.get(graph) or GraphColumns(state))
        self.graphs.move_to_end(graph)
        while self.bytes > max(self.most_bytes, GRAPH_BYTES):
            oldest, columns = next(iter(self.graphs.items()))
            self.forget(oldest)
            columns = columns.used_last(min(columns.bytes, self.most_bytes) // 2)
            if columns.ids or oldest == graph:
                self._keep(oldest, columns)
        return self.graphs[graph]

    def _keep(self, graph: str, columns: GraphColumns) -> None:
        self.graphs[graph] = columns
        self.bytes += columns.bytes - columns.counted
        columns.counted = columns.bytes

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
