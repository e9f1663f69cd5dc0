"""Whole graphs as lines: read page by page, sorted on disk, given out in an order that any store would give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

from orchestration.dependencies import Deps
from orchestration.transfer.known_at import KnownState, known, known_links
from orchestration.transfer.line_format import STAMPED, Origin, header, key, text, vector
from schemas.errors import NotFound, Unavailable
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, Instant
from substrate.connection.pool import Connection, Row
from substrate.cypher.transfer import PAST_STATE, STATE_LABELS, VECTORS
from substrate.external_sort import Spool
from substrate.graphs.graph import Graph
from substrate.store import archive
from substrate.store.archive import PastRecord, Stored, Trace

TRIES: Final = 3


class Wanted(NamedTuple):
    """With vectors or without, and as it was known at a moment: without one as it is."""

    embeddings: bool
    known_at: Instant | None


async def export(
    origins: Sequence[Origin], deps: Deps, *, embeddings: bool, known_at: Instant | None = None
) -> Generator[bytes]:
    """The lines of an export of these graphs, each as it was at one moment. Read all of them, or close it.

    With `known_at` as it was known then: what came later is left out.

    Raises NotFound for a graph that does not exist, Unavailable for one that is written to all the time.
    """
    graphs: list[_Collector] = []
    wanted = Wanted(embeddings, known_at)
    try:
        for origin in sorted(origins, key=lambda origin: origin.graph):
            if not await deps.graphs.for_reading(origin.graph):
                raise NotFound(f"nothing was remembered for {origin.citizen_id or origin.level} yet")
            graphs.append(await _collected(origin, deps.connection, wanted))
    except BaseException:
        _close(graphs)
        raise
    return _lines(graphs, embeddings=wanted.embeddings)


def _close(graphs: Sequence[_Collector]) -> None:
    for collected in graphs:
        collected.spool.close()


def _lines(graphs: Sequence[_Collector], *, embeddings: bool) -> Generator[bytes]:
    digest = sha256()
    counts: Counter[str] = Counter()

    def counted(line: bytes) -> bytes:
        digest.update(line)
        return line

    try:
        yield counted(text(header(embeddings=embeddings)))
        for collected in graphs:
            yield counted(text(collected.first_line))
            yield from map(counted, collected.spool.lines())
            counts += collected.counts
        yield text({"kind": "end", "counts": counts, "sha256": digest.hexdigest()})
    finally:
        _close(graphs)


async def _collected(origin: Origin, connection: Connection, wanted: Wanted) -> _Collector:
    for _ in range(TRIES):
        collector = (_Collector if wanted.known_at is None else _KnownCollector)(connection, origin, wanted)
        try:
            async with connection.watched([origin.graph]) as unchanged:
                await collector.run()
                if await unchanged():
                    return collector
        except BaseException:
            collector.spool.close()
            raise
        collector.spool.close()
    raise Unavailable(
        f"graph {origin.graph} was written to while it was read, {TRIES} times",
        remedy="Stop its writers for a moment; or make a backup, restore it elsewhere, and export from there.",
    )


class _Collector:
    """Reads one graph into a spool, and counts its lines by kind."""

    def __init__(self, connection: Connection, origin: Origin, wanted: Wanted) -> None:
        self.spool = Spool()
        self.counts: Counter[str] = Counter()
        self.first_line: dict[str, Any] = {}
        self._connection = connection
        self._origin = origin
        self._graph = origin.graph
        self._embeddings = wanted.embeddings

    async def run(self) -> None:
        """Read all pages."""
        await archive.check_known(Graph(self._connection, self._graph))
        stamp = await archive.stamp(Graph(self._connection, self._graph))
        self.first_line = {
            "kind": "graph",
            "level": self._origin.level,
            "citizen_id": self._origin.citizen_id,
            **{name: stamp.pop(name) for name in STAMPED},
            "meta": stamp,
        }
        after = -1
        while page := await archive.page(Graph(self._connection, self._graph), after):
            after = page[-1].place
            for node in page:
                self._add_lone(node)
            await self._add_memories([node for node in page if "ConsciousnessNode" in node.labels])

    def _add(self, line: Mapping[str, Any]) -> None:
        self.counts[line["kind"]] += 1
        self.spool.add(key(line), text(line))

    def _add_lone(self, node: Stored) -> None:
        if node.properties is None or "ConsciousnessNode" in node.labels:
            return
        label = node.labels[0]
        named = {"kind": "tag"} if label == "Tag" else {"kind": "node", "label": label}
        self._add({**named, "properties": node.properties})

    async def _add_memories(self, nodes: Sequence[Stored]) -> None:
        if not nodes:
            return
        graph, span = self._graph, (nodes[0].place, nodes[-1].place + 1)
        traces = await archive.traces(Graph(self._connection, graph), span, whole=self._embeddings)
        tags: dict[int, dict[str, Any]] = {}
        for place, name, properties in await archive.tags(Graph(self._connection, graph), span):
            tags.setdefault(place, {})[name] = properties
        records: dict[int, list[PastRecord]] = {}
        for record in await archive.past_records(Graph(self._connection, graph), nodes, whole=self._embeddings):
            records.setdefault(record.of, []).append(record)
        for node in nodes:
            beside = _Beside(traces.get(node.place), tags.get(node.place, {}), records.get(node.place, []))
            self._add_memory(node, beside)
        links = {
            past: await archive.links(Graph(self._connection, graph), nodes, past=past) for past in (False, True)
        }
        self._add_links(links)

    def _add_memory(self, node: Stored, beside: _Beside) -> None:
        properties = node.properties or {}
        line = {"kind": "memory", "properties": properties, "tags": beside.tags}
        self._add({**line, **self._traced(beside.trace)})
        self._add_records(properties["id"], beside.records)

    def _add_links(self, links: Mapping[bool, Sequence[Row]]) -> None:
        for past, found in links.items():
            for source, target, properties in found:
                self._add_link(source, target, properties, past=past)

    def _add_link(self, source: str, target: str, properties: Mapping[str, Any], *, past: bool) -> None:
        ends = {"source_id": source, "target_id": target}
        self._add({"kind": "link", "past": past, **ends, "properties": properties})

    def _add_records(self, memory_id: str, found: Sequence[PastRecord]) -> None:
        lines = [
            ({"kind": "record", "of": memory_id, "properties": record.properties}, record.trace)
            for record in found
        ]
        first: dict[int, Any] = {}
        for line, trace in sorted(lines, key=lambda each: key(each[0])):
            shared = None if trace is None else first.get(trace.place)
            if shared is not None:
                self._add({**line, "shares_trace_of": shared["version"]})
                continue
            if trace is not None:
                first[trace.place] = line["properties"]
            self._add({**line, **self._traced(trace)})

    def _traced(self, trace: Trace | None) -> dict[str, Any]:
        if trace is None:
            return {}
        rest = {name: value for name, value in trace.properties.items() if name not in VECTORS}
        line: dict[str, Any] = {"label": trace.label, "properties": rest}
        if self._embeddings:
            line["vectors"] = {
                name: vector(trace.properties[name]) for name in VECTORS if name in trace.properties
            }
        return {"trace": line}


class _Beside(NamedTuple):
    """What a memory has beside the record that it carries: its trace, its tags by name, its past records."""

    trace: Trace | None
    tags: Mapping[str, Any]
    records: Sequence[PastRecord]


class _KnownCollector(_Collector):
    """The same of a graph as it was known at a moment."""

    def __init__(self, connection: Connection, origin: Origin, wanted: Wanted) -> None:
        super().__init__(connection, origin, wanted)
        assert wanted.known_at is not None
        self._known_at = wanted.known_at
        self._state = KnownState(wanted.known_at)
        self._tags: set[str] = set()
        self._clock = self._pending = BEGINNING_OF_TIME

    async def run(self) -> None:
        """Read all pages; then what only all of them say."""
        await super().run()
        if self._state.carried is not None:
            self._add({"kind": "node", "label": STATE_LABELS[0], "properties": self._state.carried})
        for name in self._tags:
            self._add({"kind": "tag", "properties": {"name": name}})
        meta = {name: value for name, value in self.first_line["meta"].items() if name != "pending_until"}
        meta["clock"] = max(self._clock, meta["created_at"])
        pending = {"pending_until": self._pending} if self._pending > BEGINNING_OF_TIME else {}
        self.first_line = {**self.first_line, "meta": {**meta, **pending}}

    def _add(self, line: Mapping[str, Any]) -> None:
        told = line["properties"]
        times = (told.get("created_at"), told.get("expired_at"))
        by_then = [time for time in times if time is not None and time <= self._known_at]
        self._clock = max(self._clock, *by_then) if by_then else self._clock
        aside = line["kind"] == "record" or line.get("past")
        if aside and told["expired_at"] == END_OF_TIME:
            self._pending = max(self._pending, told["invalid_at"])
        super()._add(line)

    def _add_lone(self, node: Stored) -> None:
        label, properties = node.labels[0], node.properties
        if label in STATE_LABELS and properties is not None:
            past = self._state.take(properties)
            if past is not None:
                self._add({"kind": "node", "label": PAST_STATE, "properties": past})
        elif label == "Receipt" and properties is not None and properties["created_at"] <= self._known_at:
            super()._add_lone(node)

    def _add_memory(self, node: Stored, beside: _Beside) -> None:
        memory = known(node, beside.trace, beside.records, self._known_at)
        if memory is None:
            return
        self._tags |= memory.tags.keys()
        line = {"kind": "memory", "properties": memory.carried, "tags": memory.tags}
        self._add({**line, **self._traced(memory.trace)})
        self._add_records(memory.carried["id"], [_aside(record) for record in memory.records])

    def _add_links(self, links: Mapping[bool, Sequence[Row]]) -> None:
        found = [(row[0], row[1], row[2]) for some in links.values() for row in some]
        for past, source, target, properties in known_links(found, self._known_at):
            self._add_link(source, target, properties, past=past)


def _aside(record: PastRecord) -> PastRecord:
    """The record with its trace on the past side."""
    return record if record.trace is None else record._replace(trace=record.trace._replace(label="PastTrace"))
