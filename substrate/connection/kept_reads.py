"""What was read of a graph in one state, and answers only while the graph is in that state. Pure.

Each write changes the state of its graph (`GraphState`), and each question reads the state first. So what is kept
needs no time to live, and another process may write behind it. A write of this process that says in which state it
found the graph, and what it changed, leaves the rest to the next state.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Hashable, Mapping
from typing import Any, Final, NamedTuple

DEFAULT_BYTES: Final = 32 << 20
GRAPH_BYTES: Final = 1_000
"""What a graph takes of which nothing is kept yet: a service may be asked about any number of citizens."""


class GraphState(NamedTuple):
    """The state of a graph. `clock`: its last transaction. `shifts`: counts what moved no clock, as erasures.

    `created_at` and `generation` tell a graph made anew, and other vectors.
    """

    clock: int = 0
    shifts: int = 0
    created_at: int = 0
    generation: int = 0

    @classmethod
    def from_values(cls, values: Mapping[str, int]) -> GraphState | None:
        """By the names of its properties; None without them, as a graph answers that has no stamp."""
        return cls(**values) if values else None


WORDS: Final = "\x1fwords"
"""What depends on the words and names of all memories is kept under this: no id is it."""

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

    def __init__(self, most_bytes: int = DEFAULT_BYTES) -> None:
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
        """Keep what is kept of a graph for its next state.

        One write led from `before` to it, and changed only what depends on these memories, or on `WORDS`.
        """
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
