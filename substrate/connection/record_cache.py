"""What was read of records and computed from them, kept in this process. Pure.

A record version never changes: closing it sets `expired_at`, and a change opens another version. An id that was
erased begins again, and may have the same times where it is told again as it happened: so all that is kept of a
graph ends with what moves no clock, as an erasure by this process or another does (`RecordCache.enter`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from operator import itemgetter
from typing import Any, Final, Literal, NamedTuple

from substrate.cypher.fragments import CUT_MARK, LINK_COLUMNS, NODE_COLUMNS

type Kind = Literal["memory", "link"]


class RecordName(NamedTuple):
    """By what a record of a graph is recognised. `version`: 1 for a link that never changed.

    `cut`: 1 for a memory with a long text, of which the row has the beginning only: a text may be marked as long
    after it was written.
    """

    kind: Kind
    id: str
    version: int
    created_at: int
    expired_at: int
    cut: int = 0


type Era = tuple[int, int]
"""When a graph was made, and when something moved no clock there last, as an erasure."""

DEFAULT_BYTES: Final = 64 << 20
MOST_ERAS: Final = 10_000
"""The eras of this many graphs are known; before there are more, all records are dropped."""
_KEPT_BYTES: Final = {"memory": 9_000, "link": 6_000}
"""What a record takes beside its texts, with what is usually computed from it."""
_BYTES_OF_CHARACTER: Final = 4
"""Texts stand in the row, in a model, in JSON, and as stems."""


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


class _Places(NamedTuple):
    id: int
    version: int
    created_at: int
    expired_at: int


def _places(columns: Sequence[str]) -> _Places:
    return _Places(*map(columns.index, _Places._fields))


_TEXT: Final = NODE_COLUMNS.index("description")
_LONG: Final = frozenset(
    ("name", "description", "invalidation_reason", "closed_reason", "emotion_vector", "emotion_description",
     "felt_quality", "body_sensation", "spatial_context", "sensory_details", "goal", "mindstate",
     "formation_trigger", "tags", "buckets", "aliases", "rule", "shared_from", "extra")
)  # fmt: skip
"""Columns whose texts may be long. Those of the others are counted with the record itself."""


def _take_long(columns: Sequence[str]) -> itemgetter[tuple[Any, ...]]:
    return itemgetter(*(place for place, name in enumerate(columns) if name in _LONG))


_LONG_TEXTS: Final = {"memory": _take_long(NODE_COLUMNS), "link": _take_long(LINK_COLUMNS)}
_PLACES: Final = {"memory": _places(NODE_COLUMNS), "link": _places(LINK_COLUMNS)}


def name_of(kind: Kind, row: Sequence[Any]) -> RecordName:
    """The name of the record of a row."""
    id_place, version, created, expired = _PLACES[kind]
    cut = kind == "memory" and CUT_MARK in (row[_TEXT] or "")
    return RecordName(kind, row[id_place], row[version] or 1, row[created], row[expired], int(cut))


class RecordCache:
    """Records, up to `most_bytes` by estimate; 0 keeps none.

    When there is no room, the one that was kept first goes, unless it was asked for meanwhile: then it is the last
    to go. So to find a record moves nothing.
    """

    def __init__(self, most_bytes: int = DEFAULT_BYTES) -> None:
        self.most_bytes = most_bytes
        self.bytes = self.hits = self.misses = 0
        self._kept: OrderedDict[tuple[str, RecordName], Record] = OrderedDict()
        self._eras: dict[str, Era] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def enter(self, graph: str, era: Era) -> None:
        """Drop what is kept of the graph from another era than this one, in which a question finds it."""
        known = self._eras.get(graph)
        if known == era:
            return
        if known is not None:
            self.forget(graph)
        elif len(self._eras) >= MOST_ERAS:
            self.forget()
        self._eras[graph] = era

    def of(self, graph: str) -> GraphRecords:
        """The records of one graph."""
        return GraphRecords(self, graph)

    def find(self, graph: str, names: Iterable[RecordName]) -> dict[RecordName, Record]:
        """The kept records of these names, of which each is given once; those that are not kept are left out."""
        kept, missing = self._kept, 0
        found: dict[RecordName, Record] = {}
        for name in names:
            record = kept.get((graph, name))
            if record is None:
                missing += 1
            else:
                record.asked = True
                found[name] = record
        self.hits += len(found)
        self.misses += missing
        return found

    def take(self, graph: str, kind: Kind, row: Sequence[Any]) -> Record:
        """The record of this row: the kept one if its row is the same, else a new one, which is kept."""
        key = (graph, name_of(kind, row))
        kept = self._kept.get(key)
        if kept is not None and kept.row == row:
            self.hits += 1
            kept.asked = True
            return kept
        self.misses += 1
        record = Record(row)
        self._keep(*key, record)
        return record

    def forget(self, graph: str | None = None, ids: Collection[str] | None = None) -> None:
        """Drop all records, those of a graph, or of a graph those of some memories and every link."""
        if graph is None:
            self._kept.clear()
            self._eras.clear()
            self.bytes = 0
            return
        gone = [
            (name, record)
            for name, record in self._kept
            if name == graph and (ids is None or record.kind == "link" or record.id in ids)
        ]
        for key in gone:
            self.bytes -= self._kept.pop(key).bytes

    def _keep(self, graph: str, name: RecordName, record: Record) -> None:
        key = (graph, name)
        texts = filter(None, _LONG_TEXTS[name.kind](record.row))
        record.bytes = _KEPT_BYTES[name.kind] + _BYTES_OF_CHARACTER * sum(map(len, texts))
        former = self._kept.pop(key, None)
        if former is not None:
            self.bytes -= former.bytes
        if record.bytes > self.most_bytes:
            return
        self._kept[key] = record
        self.bytes += record.bytes
        while self.bytes > self.most_bytes:
            key, first = self._kept.popitem(last=False)
            if first.asked:
                first.asked = False
                self._kept[key] = first
            else:
                self.bytes -= first.bytes


class GraphRecords(NamedTuple):
    """The kept records of one graph."""

    cache: RecordCache
    graph: str

    def find(self, names: Iterable[RecordName]) -> dict[RecordName, Record]:
        """The kept records of these names, of which each is given once; those that are not kept are left out."""
        return self.cache.find(self.graph, names)

    def memory(self, row: Sequence[Any]) -> Record:
        """The record of a row in the order of `NODE_COLUMNS`."""
        return self.cache.take(self.graph, "memory", row)

    def link(self, row: Sequence[Any]) -> Record:
        """The record of a row in the order of `LINK_COLUMNS`."""
        return self.cache.take(self.graph, "link", row)
