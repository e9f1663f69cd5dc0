"""What this process keeps of graphs: records, reads in one state, and answers to questions. Pure.

A record version never changes: closing it sets `expired_at`, and a change opens another version. An id that was
erased begins again, and may have the same times where it is told again as it happened: so all that is kept of a
graph ends with what moves no clock, as an erasure by this process or another does.

Each write changes the state of its graph (`GraphState`), and each question reads the states first. So a read or an
answer that is kept needs no time to live, and another process may write behind it. A write of this process that
says in which state it found the graph, and what it changed, leaves the rest of the reads to the next state.
"""

from __future__ import annotations

import marshal
from collections import OrderedDict
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

DEFAULT_BYTES: Final = 64 << 20
_PACKED_BYTES: Final = 50
"""What a packed row takes beside its values."""
_BYTES_OF_VALUES: Final = 3
"""Values of an open record stand in the row, in a model, in JSON, and as stems."""


class Record:
    """A record: `row` has its raw values in the order of `NODE_COLUMNS` or `LINK_COLUMNS`.

    `derived` is for pure code: what it computed from the row alone, by a name of its own. A record may be dropped
    and read again at any time, so whatever is missing there is computed again. What was computed is shared by all
    answers of the process: it must not be changed afterwards. `bytes` and `asked` are for the cache: what it
    takes, and whether it was asked for since it was last passed over.
    """

    __slots__ = ("_parts", "asked", "bytes", "derived", "row")

    def __init__(self, row: Sequence[Any]) -> None:
        self.row = row
        self.derived: dict[str, Any] = {}
        self.bytes, self.asked = 0, False
        self._parts: dict[tuple[int, int], dict[str, Any]] | None = None

    def derived_of(self, start: int, end: int) -> dict[str, Any]:
        """Like `derived`, for the record with a part of its long text in place of the whole."""
        if self._parts is None:
            self._parts = {}
        return self._parts.setdefault((start, end), {})


class Records:
    """The records of the memories of a graph, or of its links, by their places: the rows packed, and those that
    questions looked at lately also open, with what was computed of them, which takes about `open_bytes` each.

    `bytes`: of what is packed; `of_open`: of the others, by estimate.
    """

    def __init__(self, open_bytes: int) -> None:
        self.bytes = self.of_open = 0
        self._open_bytes = open_bytes
        self._packed: list[bytes | None] = []
        self._open: OrderedDict[int, Record] = OrderedDict()

    def copy(self) -> Records:
        """The same records at the same places, of which others may be held later."""
        other = Records(self._open_bytes)
        other.bytes, other.of_open = self.bytes, self.of_open
        other._packed, other._open = self._packed.copy(), self._open.copy()
        return other

    def add_place(self, former: Records | None = None, place: int = 0) -> None:
        """Add a place, with nothing in it, or with what is packed at a place of others."""
        packed = None if former is None else former._packed[place]
        self._packed.append(packed)
        self.bytes += 0 if packed is None else _PACKED_BYTES + len(packed)

    def hold(self, place: int, row: Sequence[Any]) -> None:
        """Hold a row, packed, in place of any other."""
        self.drop(place)
        self._packed[place] = packed = marshal.dumps([*row])
        self.bytes += _PACKED_BYTES + len(packed)

    def holds(self, place: int) -> bool:
        """Whether a row is held there."""
        return self._packed[place] is not None

    def drop(self, place: int) -> None:
        """Hold nothing there any more."""
        packed, record = self._packed[place], self._open.pop(place, None)
        self._packed[place] = None
        self.bytes -= 0 if packed is None else _PACKED_BYTES + len(packed)
        self.of_open -= 0 if record is None else record.bytes

    def row(self, place: int) -> list[Any] | None:
        """The row that is held there, as another list each time."""
        packed = self._packed[place]
        return None if packed is None else marshal.loads(packed)

    def find(self, place: int) -> Record | None:
        """The record that is held there, open from now on."""
        record = self._open.get(place)
        if record is None:
            packed = self._packed[place]
            if packed is None:
                return None
            record = self._open[place] = Record(marshal.loads(packed))
            record.bytes = self._open_bytes + _BYTES_OF_VALUES * len(packed)
            self.of_open += record.bytes
        else:
            record.asked = True
        return record

    def close(self, least: int) -> None:
        """Have at least so many bytes less in open records, as far as there are any. The one that was opened first
        is closed, unless it was asked for meanwhile: then it is the last. So to find a record moves nothing."""
        until = max(0, self.of_open - least)
        while self.of_open > until:
            place, first = self._open.popitem(last=False)
            if first.asked:
                first.asked = False
                self._open[place] = first
            else:
                self.of_open -= first.bytes


READ_BYTES: Final = 32 << 20
GRAPH_BYTES: Final = 1_000
"""What a graph takes of which nothing is kept yet: a service may be asked about any number of citizens."""


class GraphState(NamedTuple):
    """The state of a graph. `clock`: its last transaction. `shifts`: counts what moved no clock, as erasures.
    `created_at` and `generation` tell a graph made anew, and other vectors."""

    clock: int = 0
    shifts: int = 0
    created_at: int = 0
    generation: int = 0

    @classmethod
    def from_values(cls, values: Mapping[str, int]) -> GraphState | None:
        """By the names of its properties; None without them, as a graph answers that has no stamp."""
        return cls(**values) if values else None

    def precedes(self, other: GraphState) -> bool:
        """Whether writes alone lead from this state to another one."""
        return self.clock < other.clock and self._replace(clock=other.clock) == other


WORDS: Final = "\x1fwords"
"""What depends on the words and names of all memories is kept under this: no id is it."""
ALL_READS: Final = "\x1freads"
"""Among what a write changed: only what columns hold of other memories is as before."""


def changed_between(notes: Sequence[str], since: int, until: int) -> set[str] | None:
    """What the writes changed that led the clock of a graph from one moment to another; None where they do not all
    say. `notes`: the last ones, the latest last, each with the clock before and after it."""
    changed: set[str] = set()
    for note in reversed(notes):
        was, at, ids = note.split(" ", 2)
        if int(at) == until > since:
            changed.update(orjson.loads(ids))
            until = int(was)
    return changed if until == since else None


type _Kept = tuple[Any, int]
"""A value, and its bytes by estimate."""


class Reads:
    """What is kept of one graph in one state; `state` is None where it is not known, and it is kept for nobody.

    What depends on one memory and its links is kept about that memory, what depends on words under `WORDS`; all
    else depends on the graph as a whole, and ends with the next write.
    """

    __slots__ = ("_keeper", "_of", "bytes", "state")

    def __init__(self, state: GraphState | None, keeper: KeptReads | None = None) -> None:
        self.state = state
        self.bytes = 0
        self._keeper = keeper
        self._of: dict[str | None, dict[Hashable, _Kept]] = {}

    def get(self, key: Hashable, *, about: str | None = None) -> Any:
        """What is kept under the key about a memory, or about the graph; or None."""
        own, keeper = self._of.get(about), self._keeper
        kept = None if own is None else own.get(key)
        if kept is None:
            if keeper is not None:
                keeper.misses += 1
            return None
        if keeper is not None:
            keeper.hits += 1
        return kept[0]

    def keep(self, key: Hashable, value: Any, size: int, *, about: str | None = None) -> None:
        """Keep a value of about this many bytes, which nobody may change afterwards."""
        own = self._of.setdefault(about, {})
        former = own.get(key)
        own[key] = value, size
        if self._keeper is not None:
            more = size - (former[1] if former is not None else 0)
            self.bytes += more
            self._keeper.add_bytes(more)

    def carry(self, state: GraphState, changed: Collection[str]) -> Reads:
        """What is kept for the next state, in which only this changed; nothing is left here."""
        carried = Reads(state, self._keeper)
        carried._of, carried.bytes = self._of, self.bytes
        self._of = {}
        self.drop()
        for about in (None, *changed):
            less = sum(size for _, size in carried._of.pop(about, _NOTHING).values())
            carried.bytes -= less
            if carried._keeper is not None:
                carried._keeper.bytes -= less
        return carried

    def drop(self) -> None:
        """Keep nothing more of what is kept so far."""
        self._of.clear()
        self.bytes, self._keeper = 0, None


_NOTHING: Final[Mapping[Hashable, _Kept]] = {}


class KeptReads:
    """The reads of the graphs that were asked last, up to `most_bytes` by estimate."""

    def __init__(self, most_bytes: int = READ_BYTES) -> None:
        self.most_bytes = most_bytes
        self.bytes = self.hits = self.misses = 0
        self._graphs: OrderedDict[str, Reads] = OrderedDict()

    def of(self, graph: str, state: GraphState | None) -> Reads:
        """What is kept of the graph in this state; of every other state of it nothing is kept any more."""
        if state is None:
            return Reads(None)
        reads = self._graphs.get(graph)
        if reads is None or reads.state != state:
            self.forget(graph)
            reads = self._graphs[graph] = Reads(state, self)
            reads.bytes = GRAPH_BYTES
            self.add_bytes(GRAPH_BYTES)
            return reads
        self._graphs.move_to_end(graph)
        return reads

    def carry(self, graph: str, before: GraphState, after: GraphState, changed: Collection[str]) -> None:
        """Keep what is kept of a graph for its next state. One write led from `before` to it, and changed only
        what depends on these memories, or on `WORDS`."""
        reads = self._graphs.get(graph)
        if reads is not None and reads.state == before != after:
            self._graphs[graph] = reads.carry(after, changed)

    def forget(self, graph: str | None = None) -> None:
        """Keep nothing of a graph, or of all."""
        for name in [graph] if graph is not None else list(self._graphs):
            reads = self._graphs.pop(name, None)
            if reads is not None:
                self.bytes -= reads.bytes
                reads.drop()

    def add_bytes(self, size: int) -> None:
        """Count what was just kept; whole graphs are dropped, the least asked first, until there is room."""
        self.bytes += size
        while self.bytes > self.most_bytes and self._graphs:
            self.forget(next(iter(self._graphs)))


class AskedState(NamedTuple):
    """The state in which a question found a graph; `past`: records that are not current were read too."""

    state: GraphState
    past: bool


type States = Mapping[str, AskedState]
"""By the name of each graph that a question asked."""


class _Answer(NamedTuple):
    states: States
    answer: Any
    size: int


class KeptAnswers:
    """The answers that were asked for last, up to `most_bytes` by estimate; 0 keeps none.

    `hits` and `misses` are counted by whoever asks: an answer that is found may hold no longer. `forgotten` grows
    when something must be forgotten: what was begun before is not kept any more.
    """

    def __init__(self, most_bytes: int = DEFAULT_BYTES) -> None:
        self.most_bytes = most_bytes
        self.bytes = self.hits = self.misses = self.forgotten = 0
        self._kept: OrderedDict[Hashable, _Answer] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, question: Hashable, states: States) -> Any:
        """The answer that was found in these very states, or None. One of other states is dropped."""
        kept = self._kept.get(question)
        if kept is None:
            return None
        if kept.states != states:
            self.drop(question)
            return None
        self._kept.move_to_end(question)
        return kept.answer

    def keep(self, question: Hashable, states: States, answer: Any, size: int) -> None:
        """Keep an answer of this many bytes; others are dropped until there is room, the least asked first."""
        self.drop(question)
        if size > self.most_bytes:
            return
        self._kept[question] = _Answer(states, answer, size)
        self.bytes += size
        while self.bytes > self.most_bytes:
            self.drop(next(iter(self._kept)))

    def resize(self, question: Hashable, answer: Any, size: int) -> None:
        """Count this many bytes for an answer from now on, if it is still kept."""
        kept = self._kept.get(question)
        if kept is not None and kept.answer is answer and kept.size != size:
            self.keep(question, kept.states, answer, size)

    def drop(self, question: Hashable) -> None:
        """Keep the answer to a question no longer."""
        kept = self._kept.pop(question, None)
        if kept is not None:
            self.bytes -= kept.size

    def forget(self, graph: str | None = None) -> None:
        """Keep no answer that asked a graph, or none at all."""
        self.forgotten += 1
        gone = [question for question, kept in self._kept.items() if graph is None or graph in kept.states]
        for question in gone:
            self.drop(question)
