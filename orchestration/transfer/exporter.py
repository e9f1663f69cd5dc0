"""Exports whole graphs as lines: read page by page, sorted on disk, in the same order in any store."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import nullcontext
from hashlib import sha256
from typing import Any, Final

from orchestration.dependencies import Deps
from orchestration.transfer.line_format import (
    STAMPED,
    KnownState,
    MemoryLines,
    encode,
    header,
    known_links,
    memory_as_known,
    sort_key,
    vector,
)
from schemas.collectives import owner_of
from schemas.errors import NotFound, Unavailable
from schemas.memory import collective_of
from schemas.temporal import ALL_KNOWN, BEGINNING_OF_TIME, END_OF_TIME, Instant, to_instant
from substrate.external_sort import ExternalSorter
from substrate.graphs.graph import Graph
from substrate.graphs.names import GraphOf
from substrate.store import archive
from substrate.store.archive import PAST_STATE, STATE_LABELS, VECTORS, PastRecord, StoredLink, StoredNode, Trace
from substrate.store.kept import Kept

TRIES: Final = 10
TRIES_WITHOUT_PAUSE: Final = 3
PAUSE_S: Final = 4.0
"""Writes to a graph that is never at rest wait so long at most while it is read, and then go on for as long as
that took. A graph that takes longer to read is read without a pause."""


async def export(
    origins: Sequence[GraphOf], deps: Deps, *, embeddings: bool, known_at: Instant | None = None
) -> Generator[bytes]:
    """Return the lines of an export of these graphs. Read the generator to its end, or close it.

    Each graph is exported as it was at one moment; with `known_at`, as it was known then, without later changes.
    Raises NotFound for a graph that does not exist, Unavailable for one that is written to all the time.
    """
    known_at = None if known_at == to_instant(ALL_KNOWN) else known_at
    readers: list[_GraphReader] = []
    try:
        for origin in sorted(origins, key=lambda origin: origin.graph):
            if not await deps.graphs.for_reading(origin.graph):
                raise NotFound(f"nothing was remembered for {owner_of(origin.key, origin.citizen_id)} yet")
            readers.append(await _read_unchanged(origin, deps, embeddings=embeddings, known_at=known_at))
    except BaseException:
        _close(readers)
        raise
    return _lines(readers, embeddings=embeddings)


def _close(readers: Sequence[_GraphReader]) -> None:
    for reader in readers:
        reader.sorter.close()


def _lines(readers: Sequence[_GraphReader], *, embeddings: bool) -> Generator[bytes]:
    digest = sha256()
    counts: Counter[str] = Counter()

    def digested(line: bytes) -> bytes:
        digest.update(line)
        return line

    try:
        yield digested(encode(header(embeddings=embeddings)))
        for reader in readers:
            yield digested(encode(reader.first_line))
            yield from map(digested, reader.sorter.lines())
            counts += reader.counts
        yield encode({"kind": "end", "counts": counts, "sha256": digest.hexdigest()})
    finally:
        _close(readers)


async def _read_unchanged(
    origin: GraphOf, deps: Deps, *, embeddings: bool, known_at: Instant | None
) -> _GraphReader:
    """Read a graph, and read it again when it was written to meanwhile; up to `TRIES` times."""
    graph, kept = deps.graph(origin.graph), deps.features.kept
    paused_s = 0.0
    for number in range(TRIES):
        is_pausing = number >= TRIES_WITHOUT_PAUSE and paused_s < PAUSE_S
        if is_pausing:
            await asyncio.sleep(paused_s)
        begun = time.monotonic()
        reader = (
            _GraphReader(graph, origin, kept, embeddings=embeddings)
            if known_at is None
            else _KnownGraphReader(graph, origin, kept, known_at, embeddings=embeddings)
        )
        try:
            async with (
                deps.connection.pauses.pause(graph.name, PAUSE_S) if is_pausing else nullcontext(),
                deps.connection.watched([graph.name]) as unchanged,
            ):
                await reader.run()
                if await unchanged():
                    return reader
        except BaseException:
            reader.sorter.close()
            raise
        reader.sorter.close()
        paused_s = time.monotonic() - begun if is_pausing else paused_s
    raise Unavailable(
        f"graph {graph.name} was written to while it was read, {TRIES} times",
        remedy="Stop its writers for a moment; or make a backup, restore it elsewhere, and export from there.",
    )


class _GraphReader:
    """Reads one graph into a sorter, and counts its lines by kind."""

    def __init__(self, graph: Graph, origin: GraphOf, kept: Sequence[Kept], *, embeddings: bool) -> None:
        self.sorter = ExternalSorter()
        self.counts: Counter[str] = Counter()
        self.first_line: dict[str, Any] = {}
        self._graph = graph
        self._origin = origin
        self._kept = {each.label: each for each in kept}
        self._embeddings = embeddings

    async def run(self) -> None:
        await archive.check_labels_known(self._graph, self._kept.values())
        stamp = await archive.read_stamp(self._graph)
        stamp.pop("events", None)  # they stay behind
        self.first_line = {
            "kind": "graph",
            "level": self._origin.level,
            "citizen_id": self._origin.citizen_id,
            **({} if (collective := collective_of(self._origin.key)) is None else {"collective": collective}),
            **{name: stamp.pop(name) for name in STAMPED},
            "meta": stamp,
        }
        after = -1
        while page := await archive.read_page(self._graph, after, self._kept.values()):
            after = page[-1].internal_id
            for node in page:
                self._add_lone(node)
            await self._read_memories([node for node in page if "ConsciousnessNode" in node.labels])

    def _add(self, line: Mapping[str, Any]) -> None:
        self.counts[line["kind"]] += 1
        self.sorter.add(sort_key(line), encode(line))

    def _add_lone(self, node: StoredNode) -> None:
        """Add a tag, a state, a receipt or a feedback; all other nodes are added with their memory."""
        if node.properties is None or "ConsciousnessNode" in node.labels:
            return
        [label, *_] = node.labels
        kind = {"kind": "tag"} if label == "Tag" else {"kind": "node", "label": label}
        self._add({**kind, "properties": node.properties})

    async def _read_memories(self, nodes: Sequence[StoredNode]) -> None:
        if not nodes:
            return
        first, beyond = nodes[0].internal_id, nodes[-1].internal_id + 1
        traces = await archive.read_traces(self._graph, first, beyond, vectors=self._embeddings)
        tags = await archive.read_tags(self._graph, first, beyond)
        records: dict[int, list[PastRecord]] = {}
        for record in await archive.read_past_records(self._graph, nodes, vectors=self._embeddings):
            records.setdefault(record.memory, []).append(record)
        for node in nodes:
            id_ = node.internal_id
            properties = node.properties or {}
            self._add_memory(MemoryLines(properties, traces.get(id_), tags.get(id_, {}), records.get(id_, [])))
        open_links = await archive.read_links(self._graph, nodes, past=False)
        self._add_links(open_links, await archive.read_links(self._graph, nodes, past=True))

    def _add_memory(self, memory: MemoryLines) -> None:
        line = {"kind": "memory", "properties": memory.carried, "tags": memory.tags}
        self._add({**line, **self._trace_field(memory.trace)})
        self._add_records(memory.carried["id"], memory.records)

    def _add_links(self, open_links: Sequence[StoredLink], past_links: Sequence[StoredLink]) -> None:
        for past, links in ((False, open_links), (True, past_links)):
            for link in links:
                self._add({"kind": "link", "past": past, **link._asdict()})

    def _add_records(self, memory_id: str, records: Iterable[PastRecord]) -> None:
        """Add past records in the order of the file; a trace that several share is written with the first one."""
        lines: list[tuple[dict[str, Any], Trace | None]] = [
            ({"kind": "record", "of": memory_id, "properties": record.properties}, record.trace)
            for record in records
        ]
        version_by_trace: dict[int, int] = {}
        for line, trace in sorted(lines, key=lambda pair: sort_key(pair[0])):
            if trace is not None and trace.internal_id in version_by_trace:
                self._add({**line, "shares_trace_of": version_by_trace[trace.internal_id]})
                continue
            if trace is not None:
                version_by_trace[trace.internal_id] = line["properties"]["version"]
            self._add({**line, **self._trace_field(trace)})

    def _trace_field(self, trace: Trace | None) -> dict[str, Any]:
        if trace is None:
            return {}
        properties = {name: value for name, value in trace.properties.items() if name not in VECTORS}
        field: dict[str, Any] = {"label": trace.label, "properties": properties}
        if self._embeddings:
            field["vectors"] = {
                name: vector(trace.properties[name]) for name in VECTORS if name in trace.properties
            }
        return {"trace": field}


class _KnownGraphReader(_GraphReader):
    """Reads a graph as it was known at a moment."""

    def __init__(
        self, graph: Graph, origin: GraphOf, kept: Sequence[Kept], known_at: Instant, *, embeddings: bool
    ) -> None:
        super().__init__(graph, origin, kept, embeddings=embeddings)
        self._known_at = known_at
        self._state = KnownState(known_at)
        self._tags: set[str] = set()
        self._clock = self._pending = BEGINNING_OF_TIME
        self._stamps = {each.stamp: BEGINNING_OF_TIME for each in kept if each.stamp}

    async def run(self) -> None:
        await super().run()
        if self._state.carried is not None:
            self._add({"kind": "node", "label": STATE_LABELS[0], "properties": self._state.carried})
        for name in self._tags:
            self._add({"kind": "tag", "properties": {"name": name}})
        then = {"pending_until": self._pending, **self._stamps}
        meta = {name: value for name, value in self.first_line["meta"].items() if name not in then}
        meta["clock"] = max(self._clock, meta["created_at"])
        set_then = {name: time for name, time in then.items() if time > BEGINNING_OF_TIME}
        self.first_line = {**self.first_line, "meta": {**meta, **set_then}}

    def _add(self, line: Mapping[str, Any]) -> None:
        properties = line["properties"]
        times = (properties.get("created_at"), properties.get("expired_at"))
        known_times = [time for time in times if time is not None and time <= self._known_at]
        self._clock = max(self._clock, *known_times) if known_times else self._clock
        is_past = line["kind"] == "record" or line.get("past")
        if is_past and properties["expired_at"] == END_OF_TIME:
            self._pending = max(self._pending, properties["invalid_at"])
        super()._add(line)

    def _add_lone(self, node: StoredNode) -> None:
        [label, *_], properties = node.labels, node.properties
        if properties is None:
            return
        if label in STATE_LABELS:
            past = self._state.take(properties)
            if past is not None:
                self._add({"kind": "node", "label": PAST_STATE, "properties": past})
            return
        kept = self._kept.get(label)
        as_known = None if kept is None else kept.as_known
        if kept is None or as_known is None or (known := as_known(properties, self._known_at)) is None:
            return
        if kept.stamp:
            self._stamps[kept.stamp] = max(self._stamps[kept.stamp], properties["created_at"])
        super()._add_lone(node._replace(properties=known))

    def _add_memory(self, memory: MemoryLines) -> None:
        known = memory_as_known(memory, self._known_at)
        if known is not None:
            self._tags |= known.tags.keys()
            super()._add_memory(known)

    def _add_links(self, open_links: Sequence[StoredLink], past_links: Sequence[StoredLink]) -> None:
        for link, past in known_links([*open_links, *past_links], self._known_at):
            self._add({"kind": "link", "past": past, **link._asdict()})
