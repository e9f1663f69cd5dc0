"""Whole graphs as lines: read page by page, sorted on disk, given out in an order that any store would give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

from orchestration.deps import Deps
from orchestration.moving.lines import STAMPED, Origin, header, key, text, vector
from schemas.errors import NotFound, Unavailable
from substrate import archive
from substrate.archive import Stored, Trace
from substrate.connection import Connection
from substrate.cypher.moving import VECTORS
from substrate.spool import Spool

TRIES: Final = 3


async def export(origins: Sequence[Origin], deps: Deps, *, embeddings: bool) -> Iterator[bytes]:
    """The lines of an export of these graphs, each as it was at one moment. Read all of them, or close it.

    Raises NotFound for a graph that does not exist, Unavailable for one that is written to all the time.
    """
    graphs: list[_Collector] = []
    try:
        for origin in sorted(origins, key=lambda origin: origin.graph):
            if not await deps.graphs.for_reading(origin.graph):
                raise NotFound(f"nothing was remembered for {origin.citizen_id or origin.level} yet")
            graphs.append(await _collected(origin, deps.connection, embeddings=embeddings))
    except BaseException:
        _close(graphs)
        raise
    return _lines(graphs, embeddings=embeddings)


def _close(graphs: Sequence[_Collector]) -> None:
    for collected in graphs:
        collected.spool.close()


def _lines(graphs: Sequence[_Collector], *, embeddings: bool) -> Iterator[bytes]:
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


async def _collected(origin: Origin, connection: Connection, *, embeddings: bool) -> _Collector:
    for _ in range(TRIES):
        collector = _Collector(connection, origin, embeddings=embeddings)
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

    def __init__(self, connection: Connection, origin: Origin, *, embeddings: bool) -> None:
        self.spool = Spool()
        self.counts: Counter[str] = Counter()
        self.first_line: dict[str, Any] = {}
        self._connection = connection
        self._origin = origin
        self._graph = origin.graph
        self._embeddings = embeddings

    async def run(self) -> None:
        """Read all pages."""
        await archive.check_known(self._connection, self._graph)
        stamp = await archive.stamp(self._connection, self._graph)
        self.first_line = {
            "kind": "graph",
            "level": self._origin.level,
            "citizen_id": self._origin.citizen_id,
            **{name: stamp.pop(name) for name in STAMPED},
            "meta": stamp,
        }
        after = -1
        while page := await archive.page(self._connection, self._graph, after):
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
        traces = await archive.traces(self._connection, graph, span, whole=self._embeddings)
        tags: dict[int, dict[str, Any]] = {}
        for place, name, properties in await archive.tags(self._connection, graph, span):
            tags.setdefault(place, {})[name] = properties
        for node in nodes:
            line = {"kind": "memory", "properties": node.properties, "tags": tags.get(node.place, {})}
            self._add({**line, **self._traced(traces.get(node.place))})
        await self._add_records(nodes)
        for past in (False, True):
            for source, target, properties in await archive.links(self._connection, graph, nodes, past=past):
                ends = {"source_id": source, "target_id": target}
                self._add({"kind": "link", "past": past, **ends, "properties": properties})

    async def _add_records(self, nodes: Sequence[Stored]) -> None:
        found = await archive.past_records(self._connection, self._graph, nodes, whole=self._embeddings)
        ids = {node.place: (node.properties or {})["id"] for node in nodes}
        lines = [
            ({"kind": "record", "of": ids[record.of], "properties": record.properties}, record.trace)
            for record in found
        ]
        first: dict[int, Mapping[str, Any]] = {}
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
