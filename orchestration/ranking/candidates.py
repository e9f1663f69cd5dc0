"""The candidates of a question: memories by key and the links between them, each once. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from schemas.memory import GraphKey, Level, level_of
from schemas.temporal import AFTER_ALL, Instant
from substrate.connection.graph_columns import GraphColumns
from substrate.connection.kept import FoundRow, Record
from substrate.store.passages import FoundPassage, read_beginning, read_places
from substrate.store.rows import LINK_PLACE, NODE_PLACE, QUARANTINED
from substrate.store.search import (
    HOP,
    ID,
    LINK_ID,
    LINK_START,
    LINK_VERSION,
    NODE_START,
    SCORE,
    SOURCE,
    TARGET,
    VERSION,
)

type Key = tuple[GraphKey, str, int]
"""A candidate: the graph that holds it, memory id, version."""

_NO_LINK = (None,) * NODE_START
_CLOSED, _TEXT, _SPEAKER = (NODE_START + NODE_PLACE[each] for each in ("closed_reason", "description", "speaker"))
_LINK_CLOSED = LINK_START + LINK_PLACE["closed_reason"]
NO_RECORD = Record(())
"""In place of a record that is still to be made from the row."""


class ShownPassage(NamedTuple):
    """The part of a long text that is shown: its characters from `start` to before `end`, of `length`."""

    start: int
    end: int
    length: int


@dataclass(slots=True)
class Candidate:
    """A memory record in row form: from `NODE_START` on, `row` is in the order of `NODE_COLUMNS`.

    `likeness` is its cosine similarity to the question in [−1, 1]; None when no search returned it.
    `likeness_rank` is its rank by it, from 1; 0 when the vector search did not return it. `hops` is the shortest
    distance from a start node, in links; None when no search over links returned it. `named`: the question names
    it. `begun`: it was found by a period that the question names. `is_beside`: it is shown because another
    memory is: another version of it, or what it was said after. `passages`: those that the queries found of a long
    text. `shown`: the one that stands for the text in `row`, the beginning where no query found one; None for a
    text that is shown whole. `record`: what this process keeps of the record.
    """

    key: Key
    row: Sequence[Any]
    likeness: float | None = None
    likeness_rank: int = 0
    hops: int | None = None
    named: bool = False
    begun: bool = False
    is_beside: bool = False
    passages: tuple[FoundPassage, ...] = ()
    shown: ShownPassage | None = None
    record: Record = NO_RECORD
    derived: dict[str, Any] = field(init=False, repr=False, compare=False)
    """What pure code computed from this memory as it is shown: from the columns of `row` and nothing else. Other
    questions find it here; whoever misses something computes and adds it."""

    def __post_init__(self) -> None:
        if self.record is NO_RECORD:
            self.record = Record(self.row[NODE_START:])
        self.derived = self.record.derived
        beginning = read_beginning(self.get("description"))
        if beginning is not None:
            text, length = beginning
            self.show(ShownPassage(0, len(text), length), text)

    def show(self, passage: ShownPassage, text: str) -> None:
        """Let a passage stand for the long text."""
        self.row = [*self.row]
        self.row[NODE_START + NODE_PLACE["description"]] = text
        self.shown = passage
        self.derived = self.record.derived_of(passage.start, passage.end)

    def get(self, column: str) -> Any:
        """The raw value of a memory column."""
        return self.row[NODE_START + NODE_PLACE[column]]


@dataclass(slots=True)
class CandidateLink:
    """A link record in row form, between the memory ids `source` and `target`, as `Candidate` has a memory."""

    graph_key: GraphKey
    source: str
    target: str
    row: Sequence[Any]
    record: Record = NO_RECORD

    def __post_init__(self) -> None:
        if self.record is NO_RECORD:
            self.record = Record(self.row[LINK_START:NODE_START])

    @property
    def derived(self) -> dict[str, Any]:
        """What pure code computed from this link record alone, without its ends."""
        return self.record.derived

    def get(self, column: str) -> Any:
        """The raw value of a link column."""
        return self.row[LINK_START + LINK_PLACE[column]]


def is_quarantined(record: Candidate | CandidateLink, known_to: Instant) -> bool:
    """True for a record that a quarantine had closed before `known_to`."""
    return bool(record.get("closed_reason") == QUARANTINED and record.get("expired_at") < known_to)


def column_of(links: Iterable[CandidateLink], column: str) -> list[Any]:
    """The raw values of a link column of many links."""
    place = LINK_START + LINK_PLACE[column]
    return [link.row[place] for link in links]


def memory_column(memories: Iterable[Candidate], column: str) -> list[Any]:
    """The raw values of a memory column of many memories."""
    place = NODE_START + NODE_PLACE[column]
    return [memory.row[place] for memory in memories]


@dataclass(slots=True)
class Candidates:
    """All memories and links that the queries returned, each once.

    `known_to` ends the transaction time of the question: a record closed later still reads as open. `kept`: by
    graph, what this process holds of its present; records of another graph are kept nowhere.
    """

    memories: dict[Key, Candidate] = field(default_factory=dict)
    links: dict[tuple[GraphKey, str, int], CandidateLink] = field(default_factory=dict)
    known_to: Instant = AFTER_ALL
    kept: Mapping[GraphKey, GraphColumns] = field(default_factory=dict)

    def _memory(self, key: Key, row: Sequence[Any]) -> Candidate:
        if isinstance(row, FoundRow):
            return Candidate(key, row, record=row.memory)
        kept = self.kept.get(key[0])
        return Candidate(key, row, record=NO_RECORD if kept is None else kept.take(row[NODE_START:]))

    def _found(self, graph: GraphKey, row: Sequence[Any]) -> Candidate:
        """The memory of a row, among the candidates from now on."""
        key = (graph, row[ID], row[VERSION])
        memory = self.memories.get(key)
        if memory is None:
            memory = self.memories[key] = self._memory(key, row)
        return memory

    def _link(self, graph: GraphKey, row: Sequence[Any]) -> CandidateLink:
        if isinstance(row, FoundRow) and row.link is not None:
            return CandidateLink(graph, row[SOURCE], row[TARGET], row, row.link)
        kept = self.kept.get(graph)
        ends, columns = (row[SOURCE], row[TARGET]), row[LINK_START:NODE_START]
        record = NO_RECORD if kept is None else kept.take_link(columns, *ends)
        return CandidateLink(graph, *ends, row, record)

    def add(
        self, graph: GraphKey, rows: Iterable[Sequence[Any]], *, likeness: bool, named: Collection[str] = ()
    ) -> None:
        """Add the rows of one query; `likeness`: the query is the vector search, its scores are cosine distances.

        `named`: the ids of the memories that the question names.
        """
        for row in rows:
            memory, hop = self._found(graph, row), row[HOP]
            if hop:
                link = (graph, row[LINK_ID], row[LINK_VERSION] or 1)
                if link not in self.links:
                    self.links[link] = self._link(graph, row)
            if hop == 0 and likeness:
                memory.likeness = 1.0 - float(row[SCORE])
                memory.likeness_rank = 1  # found by likeness; which of them is the nearest shows below
            elif memory.hops is None or hop < memory.hops:
                memory.hops = hop
                memory.named = memory.named or (hop == 0 and row[ID] in named)
        if likeness:
            self._rank_by_likeness(level_of(graph))

    def add_links(self, graph: GraphKey, rows: Iterable[Sequence[Any]]) -> list[Candidate]:
        """Add links, and the memories that some of the rows have, which are shown beyond the limit; return those
        that were no candidates."""
        new: list[Candidate] = []
        for row in rows:
            link, key = self._link(graph, row), (graph, row[ID], row[VERSION])
            if link.row[_LINK_CLOSED] == QUARANTINED and is_quarantined(link, self.known_to):
                continue
            self.links.setdefault((graph, row[LINK_ID], row[LINK_VERSION] or 1), link)
            if row[ID] is None:
                continue
            memory = self.memories.get(key) or self._memory(key, row)
            if memory.row[_CLOSED] == QUARANTINED and is_quarantined(memory, self.known_to):
                continue
            memory.hops, memory.is_beside = memory.hops or 1, True
            if key not in self.memories:
                self.memories[key] = memory
                new.append(memory)
        return new

    def add_begun(self, graph: GraphKey, rows: Iterable[Sequence[Any]]) -> None:
        """Add the rows of the query for the periods that the question names: their scores are cosine distances,
        or null without an embedding.
        """
        for row in rows:
            memory = self._found(graph, row)
            memory.begun = True
            if memory.likeness is None and row[SCORE] is not None:
                memory.likeness = 1.0 - float(row[SCORE])

    def add_passages(self, graph: GraphKey, rows: Iterable[Sequence[Any]], *, likeness: bool) -> None:
        """Add the memories of which passages were found. `likeness`: the passages have vectors.

        A memory is as like the question as the nearest of its passages.
        """
        for row in rows:
            memory = self._found(graph, [*_NO_LINK, *row[NODE_START:]])
            memory.passages = tuple(read_places(row))
            nearest = max(passage.likeness for passage in memory.passages)
            if likeness and (memory.likeness is None or nearest > memory.likeness):
                memory.likeness = nearest
            if not likeness:
                memory.hops = memory.hops or 0
        self._rank_by_likeness(level_of(graph))

    def _rank_by_likeness(self, level: Level) -> None:
        found = [memory for memory in self.memories.values() if memory.likeness_rank or memory.passages]
        alike = [memory for memory in found if level_of(memory.key[0]) is level]
        alike.sort(key=lambda memory: (-(memory.likeness or 0.0), memory.key))
        for rank, memory in enumerate(alike, start=1):
            memory.likeness_rank = rank

    def drop_hidden(self, asked: str) -> None:
        """Leave out what a quarantine had closed before `known_to`: questions about the past show it no more.

        And each turn that asked the very same before: a question does not answer itself.
        """
        asks = asked.endswith(("?", "？"))
        for key, memory in list(self.memories.items()):
            repeats = asks and memory.row[_TEXT] == asked and memory.row[_SPEAKER]
            if repeats or (memory.row[_CLOSED] == QUARANTINED and is_quarantined(memory, self.known_to)):
                del self.memories[key]
        for link_key, link in list(self.links.items()):
            if link.row[_LINK_CLOSED] == QUARANTINED and is_quarantined(link, self.known_to):
                del self.links[link_key]

    def add_versions(self, graph: GraphKey, rows: Iterable[Sequence[Any]], selected: Collection[Key]) -> list[Key]:
        """Add other versions of the memories selected; return the keys of those that are no candidates yet.

        `rows` hold the memory columns alone. A version that is a candidate already is only marked.
        """
        new: list[Key] = []
        for row in rows:
            key = (graph, row[NODE_PLACE["id"]], row[NODE_PLACE["version"]])
            if key not in self.memories:
                version = self._memory(key, [*_NO_LINK, *row])
                if is_quarantined(version, self.known_to):
                    continue
                self.memories[key] = version
                new.append(key)
            self.memories[key].is_beside = key not in selected
        return new
