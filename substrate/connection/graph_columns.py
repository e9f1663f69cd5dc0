"""The memories and links of the present of one graph in columns: by them a question knows what to follow. Pure.

A memory has a slot, and each end of a link a number; columns have a value for each. So a memory takes about 250
bytes and an end of a link 35, and a question looks at numbers until it knows what it shows. What is held is as it
was in one state of the graph (`GraphState`); `ColumnsCache` sees to that.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from schemas.temporal import END_OF_TIME, Instant
from substrate.connection.kept import GraphState, RecordName

DEFAULT_BYTES: Final = 64 << 20
MEMORY_BYTES: Final = 250
LINK_BYTES: Final = 35
GRAPH_BYTES: Final = 1_000
"""What a graph takes of which nothing is held yet: a service may be asked about any number of citizens."""
UNKNOWN: Final = -1
"""In place of the number of links that were not read."""
OPEN, TOLD, TELLS, STATES, CUT = 1, 2, 4, 8, 16
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
    """`state`: in which all of it was read."""

    def __init__(self, state: GraphState | None = None) -> None:
        self.state = state
        self.is_whole = False
        self.questions = 0
        self._slots: dict[str, int] = {}
        self.ids: list[str] = []
        # Columns of memories, by slot; those of one that was not read mean nothing.
        self._is_known = bytearray()
        self._version, self._bits = array("i"), bytearray()
        self._created, self._valid, self._invalid = array("q"), array("q"), array("q")
        self._energy, self._confidence = array("d"), array("d")
        self._speaker: list[str] = []
        self._keys: dict[int, tuple[str, ...]] = {}
        self._degree, self._first, self._count = array("i"), array("q"), array("i")
        # Columns of ends of links, by number.
        self._other, self._link_version, self._link_bits = array("i"), array("i"), bytearray()
        self._link_created, self._link_valid, self._link_invalid = array("q"), array("q"), array("q")
        self._types: dict[str, int] = {}
        self._type_names: list[str] = []
        self._type = array("h")
        self._link_ids: dict[int, str] = {}
        self._crowds: dict[tuple[str, Wanted], tuple[Instant, range]] = {}

    @property
    def is_held(self) -> bool:
        """Whether all of the graph is held, or nothing is for longer than one question."""
        return self.is_whole or self.state is None

    @property
    def bytes(self) -> int:
        """What all of it takes, by estimate."""
        named = (MEMORY_BYTES - 40) * len(self._link_ids)
        return GRAPH_BYTES + MEMORY_BYTES * len(self.ids) + LINK_BYTES * len(self._other) + named

    # --- what is held ---------------------------------------------------------------------------------------

    def slot(self, name: str) -> int:
        """The slot of a memory, a new one where it has none."""
        slot = self._slots.get(name)
        if slot is None:
            slot = self._slots[name] = len(self.ids)
            self.ids.append(name)
            self._is_known.append(0)
            self._bits.append(0)
            self._speaker.append("")
            for column in (self._version, self._created, self._valid, self._invalid, self._first):
                column.append(0)
            self._energy.append(0.0)
            self._confidence.append(0.0)
            self._degree.append(UNKNOWN)
            self._count.append(UNKNOWN)
        return slot

    def hold_memory(self, row: MemoryRow) -> None:
        """Hold a memory as it is now."""
        slot = self.slot(row.id)
        self._is_known[slot], self._bits[slot] = 1, row.bits
        self._version[slot], self._created[slot] = row.version, row.created_at
        self._valid[slot], self._invalid[slot] = row.valid_at, row.invalid_at
        self._energy[slot], self._confidence[slot] = row.energy, row.confidence
        self._speaker[slot] = row.speaker

    def hold_keys(self, name: str, keys: Iterable[str]) -> None:
        """Hold the keys of the vectors of a memory (`substrate.likeness`)."""
        self._keys[self.slot(name)] = tuple(keys)

    def hold_links(self, name: str, degree: int, links: Sequence[LinkRow] | None) -> None:
        """Hold the ends of links of a memory, strongest first; None where only their number was read."""
        slot, added = self.slot(name), self.add_links(links or ())
        self._degree[slot], self._first[slot] = degree, added.start
        self._count[slot] = UNKNOWN if links is None else len(added)

    def add_links(self, links: Sequence[LinkRow]) -> range:
        """Hold ends of links, which get these numbers."""
        start = len(self._other)
        for link in links:
            if link.id is not None:
                self._link_ids[len(self._other)] = link.id
            self._other.append(self.slot(link.other))
            self._link_version.append(link.version)
            self._link_bits.append(link.bits)
            self._link_created.append(link.created_at)
            self._link_valid.append(link.valid_at)
            self._link_invalid.append(link.invalid_at)
            kind = self._types.get(link.relation_type)
            if kind is None:
                kind = self._types[link.relation_type] = len(self._type_names)
                self._type_names.append(link.relation_type)
            self._type.append(kind)
        return range(start, len(self._other))

    def hold_gone(self, names: Iterable[str]) -> None:
        """Of these memories those that are not held do not exist."""
        for name in names:
            slot = self.slot(name)
            if not self._is_known[slot]:
                self._is_known[slot], self._bits[slot] = 1, 0

    def hold_crowd(self, name: str, wanted: Wanted, at: Instant, numbers: range) -> None:
        """Hold the strongest links of a memory that has more than are read; they last at this moment."""
        self._crowds[name, wanted] = at, numbers

    def crowd(self, name: str, wanted: Wanted, now: Instant) -> range | None:
        """The strongest links of such a memory that last now; None where they were not read."""
        at, numbers = self._crowds.get((name, wanted), (now + 1, None))
        return numbers if at <= now else None

    def forget(self, names: Collection[str]) -> None:
        """Hold nothing more of these memories and of their links."""
        for name in names:
            slot = self._slots.get(name)
            if slot is not None:
                self._is_known[slot] = self._bits[slot] = 0
                self._degree[slot] = self._count[slot] = UNKNOWN
                self._keys.pop(slot, None)
        if names:
            self._crowds.clear()

    # --- what is known --------------------------------------------------------------------------------------

    def degree(self, name: str) -> int:
        """How many links a memory has in all; `UNKNOWN` where they were not read."""
        slot = self._slots.get(name)
        return UNKNOWN if slot is None else self._degree[slot]

    def links(self, name: str) -> range:
        """The numbers of the ends of its links, strongest first; none where they were not read."""
        slot = self._slots[name]
        return range(self._first[slot], self._first[slot] + max(0, self._count[slot]))

    def unknown_ends(self, names: Iterable[str]) -> list[str]:
        """The memories at the other ends of their links that are not held."""
        known, other = self._is_known, self._other
        found: dict[int, None] = {}
        for name in names:
            for number in self.links(name):
                if not known[other[number]]:
                    found[other[number]] = None
        return [self.ids[slot] for slot in found]

    def holding(self, name: str, now: Instant, wanted: Wanted) -> list[int]:
        """The ends of its links that hold now and are wanted, as the memory at the other end, strongest first."""
        other, link_bits, bits = self._other, self._link_bits, self._bits
        energy, confidence = self._energy, self._confidence
        found: list[int] = []
        for number in self.of_these(self.links(name), now):
            slot = other[number]
            if (
                link_bits[number] & wanted.link_bits == wanted.link_bits
                and bits[slot] & wanted.bits == wanted.bits
                and energy[slot] >= wanted.energy
                and confidence[slot] >= wanted.confidence
                and (wanted.passing is None or self.ids[slot] in wanted.passing)
            ):
                found.append(number)
        return found

    def of_these(self, numbers: Iterable[int], now: Instant) -> list[int]:
        """Those of the ends of links that hold now, with the memory at the other end."""
        other, valid, invalid = self._other, self._valid, self._invalid
        since, until = self._link_valid, self._link_invalid
        found: list[int] = []
        for number in numbers:
            slot = other[number]
            if since[number] <= now < until[number] and valid[slot] <= now < invalid[slot]:
                found.append(number)
        return found

    def other(self, number: int) -> str:
        """The memory at the other end of a link."""
        return self.ids[self._other[number]]

    def record(self, name: str) -> RecordName:
        """The name of the record of a memory that is held."""
        slot = self._slots[name]
        cut = 1 if self._bits[slot] & CUT else 0
        return RecordName("memory", name, self._version[slot], self._created[slot], END_OF_TIME, cut)

    def link(self, number: int, name: str) -> tuple[RecordName, str, str]:
        """The name of the record of a link, one end of which is the memory `name`, and the ids of its ends."""
        other = self.other(number)
        source, target = (name, other) if self._link_bits[number] & OUTGOING else (other, name)
        link_id = self._link_ids.get(number) or f"{source}|{self._type_names[self._type[number]]}|{target}"
        version, created = self._link_version[number], self._link_created[number]
        return RecordName("link", link_id, version, created, END_OF_TIME), source, target

    def has_key(self, name: str, key: str) -> bool:
        """Whether the memory is held, and has the vector with this key."""
        slot = self._slots[name]
        return self._is_known[slot] == 1 and key in self._keys.get(slot, ())

    def is_wanted(self, name: str, now: Instant, until: Instant, wanted: Wanted) -> bool:
        """Whether a memory of the present holds between now and then, and is wanted."""
        slot = self._slots[name]
        return (
            self._bits[slot] & wanted.bits == wanted.bits
            and self._valid[slot] < until
            and self._invalid[slot] > now
            and self._energy[slot] >= wanted.energy
            and self._confidence[slot] >= wanted.confidence
            and (wanted.passing is None or name in wanted.passing)
        )

    def knows_keys(self, name: str) -> bool:
        """Whether it is known which vectors the memory has."""
        slot = self._slots.get(name)
        return slot is not None and slot in self._keys and self._is_known[slot] == 1

    def speaker(self, name: str) -> str:
        """Who said it, in lower case; empty where nobody is named."""
        return self._speaker[self._slots[name]]

    def differs(self, other: GraphColumns, name: str) -> bool:
        """Whether columns of the same state hold something else of a memory, in what both hold of it."""
        pairs = zip(self._held(name), other._held(name), strict=True)
        return any(own is not None and its is not None and own != its for own, its in pairs)

    def _held(self, name: str) -> tuple[object, object, object]:
        """The columns of a memory, those of its links, and the keys of its vectors; None for what is not held."""
        slot = self._slots.get(name)
        if slot is None:
            return None, None, None
        columns = (
            self._version, self._bits, self._created, self._valid, self._invalid,
            self._energy, self._confidence, self._speaker,
        )  # fmt: skip
        exists = self._bits[slot] != 0
        memory = [column[slot] for column in columns] if exists else []
        of_links = (self._link_bits, self._link_valid, self._link_invalid)
        links = [(self.link(number, name), *(each[number] for each in of_links)) for number in self.links(name)]
        return (
            memory if self._is_known[slot] else None,
            None if self._degree[slot] == UNKNOWN else (self._degree[slot], links),
            sorted(self._keys[slot]) if slot in self._keys else None,
        )


class Wanted(NamedTuple):
    """Which memories and links a question may find. `passing`: the ids that pass its filters; None for all."""

    bits: int
    link_bits: int
    energy: float = 0.0
    confidence: float = 0.0
    passing: Collection[str] | None = None


class ColumnsCache:
    """The columns of the graphs that were asked last, up to `most_bytes` by estimate."""

    def __init__(self, most_bytes: int = DEFAULT_BYTES) -> None:
        self.most_bytes = most_bytes
        self._graphs: OrderedDict[str, GraphColumns] = OrderedDict()

    @property
    def bytes(self) -> int:
        """What all of them take."""
        return sum(columns.bytes for columns in self._graphs.values())

    def state(self, graph: str) -> GraphState | None:
        """The state in which the columns of a graph are held."""
        columns = self._graphs.get(graph)
        return None if columns is None else columns.state

    def of(self, graph: str, state: GraphState | None) -> GraphColumns:
        """The columns of a graph in this state; of every other state of it nothing is held any more.

        Without a state, and in one before that which is held, they are for one question alone.
        """
        columns = self._graphs.get(graph)
        held = self.state(graph)
        if state is None or self.most_bytes == 0 or (held is not None and state.precedes(held)):
            return GraphColumns()
        if columns is None or columns.state != state or columns.bytes > self.most_bytes:
            columns = self._graphs[graph] = GraphColumns(state)
        self._graphs.move_to_end(graph)
        while len(self._graphs) > 1 and self.bytes > self.most_bytes:
            self._graphs.popitem(last=False)
        return columns

    def carry(self, graph: str, before: GraphState, after: GraphState, changed: Collection[str]) -> None:
        """One write led from `before` to `after`, and changed only these memories and their links."""
        columns = self._graphs.get(graph)
        if columns is not None and columns.state == before != after:
            columns.state = after
            columns.forget(changed)

    def forget(self, graph: str | None = None) -> None:
        """Hold nothing of a graph, or of all."""
        for name in [graph] if graph is not None else list(self._graphs):
            self._graphs.pop(name, None)
