"""Answers that this process keeps, each for the states of the graphs in which it was found. Pure.

Each write changes the state of its graph (`GraphState`), and each question reads the states first. So an answer
that is kept needs no time to live, and another process may write behind it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Any, Final, NamedTuple

from substrate.connection.kept_reads import GraphState

DEFAULT_BYTES: Final = 64 << 20


class AskedState(NamedTuple):
    """The state in which a question found a graph; `past`: records that are not current were read too."""

    state: GraphState
    past: bool


type States = Mapping[str, AskedState]
"""By the name of each graph that a question asked."""


class _Kept(NamedTuple):
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
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()

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
        self._kept[question] = _Kept(states, answer, size)
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
