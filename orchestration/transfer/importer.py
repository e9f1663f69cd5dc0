"""An export into an empty store, whole or not at all.

The file is read twice: once to the end before the first write, so that a damaged one costs nothing; then into
drafts, graphs under other names that no reader sees, which take their names at the very end. Built up under
its own name, a graph would be read half full, and a killed import would leave half a memory behind.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from orchestration.dependencies import Deps
from orchestration.transfer.line_format import Origin
from orchestration.transfer.record_consistency import Line
from orchestration.transfer.verification import Fits, GraphLine, checked
from orchestration.writing import records
from schemas.base import Frozen
from schemas.errors import Conflict, InvalidRequest
from schemas.memory import Level
from schemas.temporal import Instant
from substrate.cypher import transfer as cypher
from substrate.cypher.query import Query
from substrate.engine import append_log
from substrate.engine.append_log import delete_graph
from substrate.graphs.graph import Graph
from substrate.store import archive
from substrate.store.writer import LINKS_PER_STATEMENT, NODES_PER_STATEMENT

_ORDER: Final = (
    *cypher.PUT_LONE.values(), cypher.PUT_TAGS, cypher.PUT_MEMORIES, cypher.PUT_RECORDS, cypher.SHARE_TRACES,
    cypher.PUT_LINKS, cypher.PUT_PAST_LINKS,
)  # fmt: skip
CHECKED_AT_ONCE: Final = 500
"""Lines checked between two moments in which others have their turn."""

type Advance = Callable[[int, int], None]
type Source = Callable[[], Iterable[bytes]]


class ImportReport(Frozen):
    """What was imported: the graphs, and how many lines of each kind.

    `mended`: so many held maps that were nested too deeply, and have what lies deeper as a text now.
    """

    graphs: tuple[str, ...]
    counts: dict[str, int]
    mended: int = 0


class _Put:
    """Rows of one kind on their way to the engine."""

    def __init__(self, query: Query, size: int) -> None:
        self.query = query
        self.size = size
        self.rows: list[dict[str, Any]] = []


async def import_lines(
    source: Source, citizen_id: str | None, into: tuple[Deps, Instant], advance: Advance
) -> ImportReport:
    """Import all graphs of an export. `source` gives its lines from the beginning each time it is called.

    `citizen_id` names another citizen for the one personal graph of the file. `into`: the store, and the moment.
    `advance` is told how many lines are done, of how many. Raises InvalidRequest for a file that is damaged,
    edited, newer or impossible, StoreMisfit for vectors of another model, Conflict when one of the graphs
    holds something already. The store is then as it was.
    """
    deps, now = into
    fits = Fits(deps.embedder.model, deps.embedder.dimension)
    graphs, total = await _looked_through(checked(source(), fits))
    names = _named(graphs, citizen_id)
    for name in names:
        await _refuse_full(name, deps)
    target = _Target(deps, now, (total, advance))
    try:
        targets = iter(names)
        for line in checked(source(), fits):
            if isinstance(line, GraphLine):
                await target.begin(next(targets), line.meta)
            else:
                await target.take(line)
        await target.finish()
    except BaseException:
        await asyncio.shield(target.drop())
        raise
    finally:
        await asyncio.shield(append_log.rewrite_after_deletions(deps.connection))
    return ImportReport(graphs=tuple(names), counts=dict(target.counts), mended=target.mended)


async def _looked_through(lines: Iterable[GraphLine | Line]) -> tuple[list[Origin], int]:
    """The graphs of the file, and how many lines they have; the whole file is read."""
    graphs: list[Origin] = []
    total = 0
    for line in lines:
        if isinstance(line, GraphLine):
            graphs.append(line.origin)
        else:
            total += 1
        if total % CHECKED_AT_ONCE == 0:
            await asyncio.sleep(0)
    return graphs, total


def _named(graphs: Sequence[Origin], citizen_id: str | None) -> list[str]:
    personal = [origin for origin in graphs if origin.level is Level.N1]
    if citizen_id is not None and len(personal) != 1:
        raise InvalidRequest(
            f"the export has {len(personal)} citizens, which cannot all become {citizen_id}",
            remedy="Leave the citizen out, or export that citizen alone.",
        )
    return [
        Origin(origin.level, citizen_id).graph if citizen_id and origin in personal else origin.graph
        for origin in graphs
    ]


async def _refuse_full(name: str, deps: Deps) -> None:
    if await archive.holds_nothing(deps.graph(name)):
        return
    raise Conflict(
        f"graph {name} holds memories already; an import needs an empty one",
        remedy="Import into another data directory or under another citizen id, or erase this one first.",
    )


class _Target:
    """The drafts that are being filled."""

    def __init__(self, deps: Deps, now: Instant, progress: tuple[int, Advance]) -> None:
        self.counts: Counter[str] = Counter()
        self.mended = 0
        self._deps = deps
        self._now = now
        self._total, self._advance = progress
        self._drafts: dict[str, str] = {}
        self._draft = ""
        self._waiting: list[_Put] = []

    async def begin(self, name: str, meta: Mapping[str, Any]) -> None:
        """The lines to come belong to the graph `name`."""
        await self._flush()
        await archive.drop_left_drafts(Graph(self._deps.connection, name))
        self._draft = self._drafts[name] = archive.draft_of(name)
        await self._deps.graphs.for_writing(self._draft, self._now)
        await archive.put_stamp(Graph(self._deps.connection, self._draft), meta)

    async def take(self, line: Line) -> None:
        """Keep one line until there are enough for a statement."""
        self.counts[line["kind"]] += 1
        self.mended += "mended" in line
        put, row = _put_of(line)
        known = next((each for each in self._waiting if each.query is put.query), None)
        if known is None:
            self._waiting.append(known := put)
        known.rows.append(row)
        if len(known.rows) >= known.size:
            await self._flush()

    async def finish(self) -> None:
        """Write what is left, and let all graphs take their names. Raises Conflict when one is taken."""
        await self._flush()
        settled: list[str] = []
        try:
            for name, draft in self._drafts.items():
                if not await archive.settle(self._deps.connection, draft, name):
                    await _refuse_full(name, self._deps)
                settled.append(name)
                self._deps.graphs.forget(draft)
                self._deps.graphs.forget(name)
        except BaseException:
            for name in settled:
                await delete_graph(self._deps.connection, name)
            raise

    async def drop(self) -> None:
        """Remove the drafts."""
        for draft in self._drafts.values():
            self._deps.graphs.forget(draft)
            await delete_graph(self._deps.connection, draft)

    async def _flush(self) -> None:
        """Write all that waits, what others stand on first."""
        for put in sorted(self._waiting, key=lambda put: _ORDER.index(put.query)):
            if put.query in (cypher.PUT_MEMORIES, cypher.PUT_RECORDS):
                await self._embed(put.rows)
            if await archive.put(Graph(self._deps.connection, self._draft), put.query, put.rows) != len(put.rows):
                raise InvalidRequest(
                    "the export cannot be imported: a link has an end that is no memory of it",
                    remedy="Export again; nothing was imported.",
                )
        self._waiting = []
        self._advance(self.counts.total(), self._total)

    async def _embed(self, rows: Sequence[dict[str, Any]]) -> None:
        """Make the vectors that the file left out."""
        bare = [
            (row["properties"], trace)
            for row in rows
            for trace in (*row.get("present", ()), *row["past"])
            if trace["bare"]
        ]
        vectors = await self._deps.embedder.embed_texts([records.embedded_text(said) for said, _ in bare])
        for (said, trace), vector in zip(bare, vectors, strict=True):
            trace["embedding"] = vector or None
            trace["emotion"] = records.felt_trace(said, said["id"], said["version"])


def _put_of(line: Line) -> tuple[_Put, dict[str, Any]]:
    """How a line is written, and its row."""
    properties = line["properties"]
    match line["kind"]:
        case "node":
            return _Put(cypher.PUT_LONE[line["label"]], LINKS_PER_STATEMENT), {"properties": properties}
        case "tag":
            return _Put(cypher.PUT_TAGS, LINKS_PER_STATEMENT), {"properties": properties}
        case "memory":
            tags = [{"name": name, "properties": said} for name, said in line["tags"].items()]
            row = {"properties": properties, "tags": tags, **_traces(line, "Trace", "PastTrace")}
            return _Put(cypher.PUT_MEMORIES, NODES_PER_STATEMENT), row
        case "record" if "shares_trace_of" in line:
            row = {"of": line["of"], "properties": properties, "shares_trace_of": line["shares_trace_of"]}
            return _Put(cypher.SHARE_TRACES, NODES_PER_STATEMENT), row
        case "record":
            row = {"of": line["of"], "properties": properties, **_traces(line, "PastTrace")}
            return _Put(cypher.PUT_RECORDS, NODES_PER_STATEMENT), row
        case _:
            query = cypher.PUT_PAST_LINKS if line["past"] else cypher.PUT_LINKS
            ends = {"source_id": line["source_id"], "target_id": line["target_id"]}
            return _Put(query, LINKS_PER_STATEMENT), {**ends, "properties": properties}


def _traces(line: Line, *labels: str) -> dict[str, list[dict[str, Any]]]:
    trace = line.get("trace")
    found: dict[str, list[dict[str, Any]]] = {"present": [], "past": []}
    if trace is not None:
        vectors = trace.get("vectors")
        row = {"properties": trace["properties"], "embedding": None, "emotion": None, "bare": vectors is None}
        found["present" if trace["label"] == "Trace" else "past"].append({**row, **(vectors or {})})
    return found
