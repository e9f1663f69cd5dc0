"""The candidates of a question: memories by key and the links between them, each once. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple

from schemas.memory import GraphKey, Level, level_of
from schemas.temporal import AFTER_ALL, Instant
from substrate.connection.graph_columns import GraphColumns
from substrate.connection.kept import Record
from substrate.store.passages import FoundPassage, read_beginning, read_places
from substrate.store.rows import LINK_PLACE, NODE_PLACE, QUARANTINED
from substrate.store.search import NODE_START, SCORE, FoundRow

type Key = tuple[GraphKey, str, int]
"""A candidate: the graph that holds it, memory id, version."""

_CLOSED, _TEXT, _SPEAKER = (NODE_PLACE[each] for each in ("closed_reason", "description", "speaker"))
_LINK_CLOSED = LINK_PLACE["closed_reason"]
_KEY, _LINK_KEY = (itemgetter(places["id"], places["version"]) for places in (NODE_PLACE, LINK_PLACE))


class ShownPassage(NamedTuple):
    """The part of a long text that is shown: its characters from `start` to before `end`, of `length`."""

    start: int
    end: int
    length: int


@dataclass(slots=True)
class Candidate:
    """A memory record. `row`: its columns as it is shown, in the order of `NODE_COLUMNS`.

    `likeness` is its cosine similarity to the question in [−1, 1]; None when no search returned it.
    `likeness_rank` is its rank by it, from 1; 0 when the vector search did not return it. `hops` is the shortest
    distance from a start node, in links; None when no search over links returned it. `named`: the question names
    it. `begun`: it was found by a period that the question names. `is_beside`: it is shown because another
    memory is: another version of it, or what it was said after. `passages`: those that the queries found of a long
    text. `shown`: the one that stands for the text in `row`, the beginning where no query found one; None for a
    text that is shown whole.
    """

    key: Key
    record: Record
    likeness: float | None = None
    likeness_rank: int = 0
    hops: int | None = None
    named: bool = False
    begun: bool = False
    is_beside: bool = False
    passages: tuple[FoundPassage, ...] = ()
    shown: ShownPassage | None = None
    row: Sequence[Any] = field(init=False, repr=False, compare=False)
    derived: dict[str, Any] = field(init=False, repr=False, compare=False)
    """What pure code computed from this memory as it is shown: from the columns of `row` and nothing else. Other
    questions find it here; whoever misses something computes and adds it."""

    def __post_init__(self) -> None:
        self.row, self.derived = self.record.row, self.record.derived
        beginning = read_beginning(self.get("description"))
        if beginning is not None:
            text, length = beginning
            self.show(ShownPassage(0, len(text), length), text)

    def show(self, passage: ShownPassage, text: str) -> None:
        """Let a passage stand for the long text."""
        self.row = [*self.row]
        self.row[_TEXT] = text
        self.shown = passage
        self.derived = self.record.derived_of(passage.start, passage.end)

    def get(self, column: str) -> Any:
        """The raw value of a memory column."""
        return self.row[NODE_PLACE[column]]


@dataclass(slots=True)
class CandidateLink:
    """A link record between the memory ids `source` and `target`. `row`: its columns, as `LINK_COLUMNS`."""

    graph_key: GraphKey
    source: str
    target: str
    record: Record
    row: Sequence[Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.row = self.record.row

    @property
    def derived(self) -> dict[str, Any]:
        """What pure code computed from this link record alone, without its ends."""
        return self.record.derived

    def get(self, column: str) -> Any:
        """The raw value of a link column."""
        return self.row[LINK_PLACE[column]]


def is_quarantined(record: Candidate | CandidateLink, known_to: Instant) -> bool:
    """True for a record that a quarantine had closed before `known_to`."""
    return bool(record.get("closed_reason") == QUARANTINED and record.get("expired_at") < known_to)


def column_of(links: Iterable[CandidateLink], column: str) -> list[Any]:
    """The raw values of a link column of many links."""
    place = LINK_PLACE[column]
    return [link.row[place] for link in links]


def memory_column(memories: Iterable[Candidate], column: str) -> list[Any]:
    """The raw values of a memory column of many memories."""
    place = NODE_PLACE[column]
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

    def _record(self, graph: GraphKey, columns: Sequence[Any]) -> Record:
        """The record of the columns of a memory: the one that this process holds, if it does."""
        kept = self.kept.get(graph)
        return Record(columns) if kept is None else kept.take(columns)

    def _read(self, graph: GraphKey, row: Sequence[Any]) -> FoundRow:
        """A row of a search, with the records that this process holds."""
        if isinstance(row, FoundRow):
            return row
        found, kept = FoundRow.of(row), self.kept.get(graph)
        link = found.link
        if kept is not None and link is not None and found.source is not None and found.target is not None:
            link = kept.take_link(link.row, found.source, found.target)
        return found._replace(link=link, memory=self._record(graph, found.memory.row))

    def _memory(self, graph: GraphKey, record: Record) -> Candidate:
        """The memory of a record, among the candidates from now on."""
        key = (graph, *_KEY(record.row))
        memory = self.memories.get(key)
        if memory is None:
            memory = self.memories[key] = Candidate(key, record)
        return memory

    def _link(self, graph: GraphKey, source: str, target: str, record: Record) -> CandidateLink:
        """The link of a record, among the candidates from now on."""
        link_id, version = _LINK_KEY(record.row)
        key = (graph, link_id, version or 1)
        link = self.links.get(key)
        if link is None:
            link = self.links[key] = CandidateLink(graph, source, target, record)
        return link

    def add(
        self, graph: GraphKey, rows: Iterable[Sequence[Any]], *, likeness: bool, named: Collection[str] = ()
    ) -> None:
        """Add the rows of one query; `likeness`: the query is the vector search, its scores are cosine distances.

        `named`: the ids of the memories that the question names.
        """
        for row in rows:
            hop, score, source, target, link, record = self._read(graph, row)
            memory = self._memory(graph, record)
            if link is not None and source is not None and target is not None:
                self._link(graph, source, target, link)
            if hop == 0 and likeness:
                memory.likeness = 1.0 - float(score)
                memory.likeness_rank = 1  # found by likeness; which of them is the nearest shows below
            elif memory.hops is None or hop < memory.hops:
                memory.hops = hop
                memory.named = memory.named or (hop == 0 and memory.key[1] in named)
        if likeness:
            self._rank_by_likeness(level_of(graph))

    def add_links(self, graph: GraphKey, rows: Iterable[Sequence[Any]]) -> list[tuple[Candidate, str]]:
        """Add links, and the memories that some of the rows have, which are shown beyond the limit; return those
        that were no candidates, each with the source of its link."""
        new: list[tuple[Candidate, str]] = []
        for row in rows:
            _, _, source, target, record, of_memory = self._read(graph, row)
            if record is None or source is None or target is None:
                continue
            if is_quarantined(CandidateLink(graph, source, target, record), self.known_to):
                continue
            self._link(graph, source, target, record)
            if of_memory.row[0] is None:
                continue
            key = (graph, *_KEY(of_memory.row))
            memory = self.memories.get(key) or Candidate(key, of_memory)
            if is_quarantined(memory, self.known_to):
                continue
            memory.hops, memory.is_beside = memory.hops or 1, True
            if key not in self.memories:
                self.memories[key] = memory
                new.append((memory, source))
        return new

    def add_begun(self, graph: GraphKey, rows: Iterable[Sequence[Any]]) -> None:
        """Add the rows of the query for the periods that the question names: their scores are cosine distances,
        or null without an embedding.
        """
        for row in rows:
            memory = self._memory(graph, self._record(graph, row[NODE_START:]))
            memory.begun = True
            if memory.likeness is None and row[SCORE] is not None:
                memory.likeness = 1.0 - float(row[SCORE])

    def add_passages(self, graph: GraphKey, rows: Iterable[Sequence[Any]], *, likeness: bool) -> None:
        """Add the memories of which passages were found. `likeness`: the passages have vectors.

        A memory is as like the question as the nearest of its passages.
        """
        for row in rows:
            memory = self._memory(graph, self._record(graph, row[NODE_START:]))
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
            key = (graph, *_KEY(row))
            if key not in self.memories:
                version = Candidate(key, self._record(graph, row))
                if is_quarantined(version, self.known_to):
                    continue
                self.memories[key] = version
                new.append(key)
            self.memories[key].is_beside = key not in selected
        return new
