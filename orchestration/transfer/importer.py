"""Imports an export into an empty store, whole or not at all.

The file is read twice: first to its end without a write, so that a damaged file changes nothing; then into drafts.
A draft is a graph under another name, which no reader sees; it gets its real name at the very end. Under its real
name readers would see a graph that is half full, and a killed import would leave half of the memories behind.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from orchestration.dependencies import Deps
from orchestration.mind.stream_note import rename_stream
from orchestration.transfer.restamping import Restamping
from orchestration.transfer.verification import STREAM_NOTE, EmbeddingModel, GraphLine, Line, verify
from orchestration.writing import passage_filling, passages, records
from schemas.base import Frozen
from schemas.errors import Conflict, InvalidRequest
from schemas.memory import Level
from schemas.temporal import Instant
from substrate.bitemporal import changes_until
from substrate.engine import append_log
from substrate.engine.append_log import delete_graph
from substrate.graphs.names import GraphOf
from substrate.store import archive
from substrate.store.archive import RowKind

CHECKED_AT_ONCE: Final = 500
"""Lines that are checked before other tasks of this process get a turn."""

type Progress = Callable[[int, int], None]
"""Called with the number of lines done and the number of all lines."""
type LineSource = Callable[[], Iterable[bytes]]
"""Returns the lines of an export, from the beginning at each call."""


class ImportReport(Frozen):
    """The imported graphs, and the number of lines of each kind.

    `mended` is the number of lines with maps that were nested too deeply; their deepest parts are texts now.
    `moved`: how many transaction times were ahead of the present and were moved back to it.
    """

    graphs: tuple[str, ...]
    counts: dict[str, int]
    mended: int = 0
    moved: int = 0


async def import_lines(
    source: LineSource,
    deps: Deps,
    now: Instant,
    *,
    citizen_id: str | None = None,
    restamp: bool = False,
    progress: Progress,
) -> ImportReport:
    """Import all graphs of an export; `now` is the moment at which the graphs are created.

    With `citizen_id` the only personal graph of the file becomes the graph of this citizen. With `restamp`
    transaction times ahead of `now` are moved back to it, in their order. Raises InvalidRequest
    for a file that is damaged, edited, of a newer release or inconsistent, StoreMisfit for vectors of another
    model, Conflict when one of the graphs has memories already. After an error the store is unchanged.
    """
    model = EmbeddingModel(deps.embedder.model, deps.embedder.dimension)
    times = Restamping(now)
    graphs, total = await _survey(verify(source(), model, deps.features.kept), times if restamp else None)
    times.settle()
    personal = [origin for origin in graphs if origin.level is Level.N1]
    if citizen_id is not None and len(personal) != 1:
        raise InvalidRequest(
            f"the export has {len(personal)} citizens, which cannot all become {citizen_id}",
            remedy="Leave the citizen out, or export that citizen alone.",
        )
    names = [
        GraphOf(origin.key, citizen_id).graph if citizen_id and origin in personal else origin.graph
        for origin in graphs
    ]
    for name in names:
        await _check_empty(name, deps)
    drafts = _Drafts(deps, now, citizen_id, total=total, progress=progress)
    try:
        remaining = iter(names)
        for line in verify(source(), model, deps.features.kept):
            if isinstance(line, GraphLine):
                await drafts.begin(next(remaining), times.restamp(line.meta))
            else:
                await drafts.add({**line, "properties": times.restamp(line["properties"])})
        await drafts.finish()
    except BaseException:
        await asyncio.shield(drafts.delete())
        raise
    finally:
        await asyncio.shield(append_log.rewrite_after_deletions(deps.connection))
    return ImportReport(
        graphs=tuple(names), counts=dict(drafts.counts), mended=drafts.mended, moved=len(times.moved)
    )


async def _survey(lines: Iterable[GraphLine | Line], times: Restamping | None) -> tuple[list[GraphOf], int]:
    """The graphs of a file, and its number of data lines, which are verified; their times are noted."""
    graphs: list[GraphOf] = []
    total = 0
    for line in lines:
        if times is not None:
            times.take(line.meta if isinstance(line, GraphLine) else line["properties"])
        if isinstance(line, GraphLine):
            graphs.append(line.origin)
        else:
            total += 1
        if total % CHECKED_AT_ONCE == 0:
            await asyncio.sleep(0)
    return graphs, total


async def _check_empty(name: str, deps: Deps) -> None:
    if await archive.is_empty(deps.graph(name)):
        return
    raise Conflict(
        f"graph {name} holds memories already; an import needs an empty one",
        remedy="Import into another data directory or under another citizen id, or erase this one first.",
    )


class _Drafts:
    """The drafts of the imported graphs. Lines are collected until there are enough for one statement.

    `citizen_id`: the new name of the only citizen of the file; None where each keeps its own.
    """

    def __init__(
        self, deps: Deps, now: Instant, citizen_id: str | None, *, total: int, progress: Progress
    ) -> None:
        self.counts: Counter[str] = Counter()
        self.mended = 0
        self._deps = deps
        self._now = now
        self._citizen_id = citizen_id
        self._total = total
        self._progress = progress
        self._names: dict[str, str] = {}
        self._draft = deps.graph("")
        self._clock: Instant = 0
        self._changes_until: dict[str, Instant] = {}
        self._waiting: dict[str, list[dict[str, Any]]] = {}

    async def begin(self, name: str, meta: Mapping[str, Any]) -> None:
        """Begin the draft of the graph `name`; the next lines belong to it."""
        await self._flush()
        await archive.delete_idle_drafts(self._deps.graph(name))
        self._names[name] = archive.draft_name(name)
        self._draft = self._deps.graph(self._names[name])
        self._clock = meta.get("clock", 0)
        await self._deps.graphs.for_writing(self._draft.name, self._now)
        await archive.write_stamp(self._draft, meta)

    async def add(self, line: Line) -> None:
        self.counts[line["kind"]] += 1
        self.mended += "mended" in line
        kind, row = _import_row(line)
        if kind == STREAM_NOTE and self._citizen_id is not None:
            properties = row["properties"]
            row = {"properties": {**properties, "id": rename_stream(properties["id"], self._citizen_id)}}
        waiting = self._waiting.setdefault(kind, [])
        waiting.append(row)
        if len(waiting) >= archive.most_rows(kind):
            await self._flush()

    async def finish(self) -> None:
        """Write the last lines and give all graphs their real names. Raises Conflict when a name is taken."""
        await self._flush()
        renamed: list[str] = []
        try:
            for name, draft in self._names.items():
                await archive.write_changes_until(self._deps.graph(draft), self._changes_until.get(draft, 0))
                if not await archive.rename_draft(self._deps.connection, draft, name):
                    await _check_empty(name, self._deps)
                renamed.append(name)
                self._deps.graphs.forget(draft)
                self._deps.graphs.forget(name)
        except BaseException:
            for name in renamed:
                await delete_graph(self._deps.connection, name)
            raise

    async def delete(self) -> None:
        for draft in self._names.values():
            self._deps.graphs.forget(draft)
            await delete_graph(self._deps.connection, draft)

    async def _flush(self) -> None:
        """Write all waiting rows: nodes without links, then in the order of `RowKind`."""
        labels = [kind for kind in self._waiting if kind not in set(RowKind)]
        for kind in (*labels, *RowKind):
            rows = self._waiting.pop(kind, [])
            if not rows:
                continue
            if kind in (RowKind.MEMORY, RowKind.RECORD):
                await self._embed(rows)
            long_texts = (
                passages.mark_long_texts(row["properties"] for row in rows) if kind in archive.LARGE else []
            )
            if await archive.write_rows(self._draft, kind, rows) != len(rows):
                raise InvalidRequest(
                    "the export cannot be imported: it lacks the memory at one end of a link",
                    remedy="Export again; nothing was imported.",
                )
            await passage_filling.fill(self._draft, long_texts, self._deps.embedder)
            for row in rows if kind in archive.TIMED else ():
                held = row["properties"]
                until = changes_until(held["valid_at"], held["invalid_at"], self._clock)
                self._changes_until[self._draft.name] = max(self._changes_until.get(self._draft.name, 0), until)
        self._progress(self.counts.total(), self._total)

    async def _embed(self, rows: Sequence[dict[str, Any]]) -> None:
        traces = [(row["properties"], trace) for row in rows for trace in (*row.get("present", ()), *row["past"])]
        missing = [(content, trace) for content, trace in traces if trace["bare"]]
        vectors = await self._deps.embedder.embed_texts([records.embedded_text(content) for content, _ in missing])
        for (content, trace), vector in zip(missing, vectors, strict=True):
            trace["embedding"] = vector or None
            trace["emotion"] = records.felt_trace(content, content["id"], content["version"])


def _import_row(line: Line) -> tuple[str, dict[str, Any]]:
    """Return the kind of a line, and the form in which its statement writes it."""
    properties = line["properties"]
    match line["kind"]:
        case "node":
            return line["label"], {"properties": properties}
        case "tag":
            return RowKind.TAG, {"properties": properties}
        case "memory":
            tags = [{"name": name, "properties": link} for name, link in line["tags"].items()]
            traces = _trace_rows(line)
            return RowKind.MEMORY, {"properties": properties, "tags": tags, **traces}
        case "record" if "shares_trace_of" in line:
            row = {"of": line["of"], "properties": properties, "shares_trace_of": line["shares_trace_of"]}
            return RowKind.RECORD_WITH_SHARED_TRACE, row
        case "record":
            traces = _trace_rows(line)
            return RowKind.RECORD, {"of": line["of"], "properties": properties, **traces}
        case _:
            ends = {"source_id": line["source_id"], "target_id": line["target_id"]}
            kind = RowKind.PAST_LINK if line["past"] else RowKind.LINK
            return kind, {**ends, "properties": properties}


def _trace_rows(line: Line) -> dict[str, list[dict[str, Any]]]:
    """Return the trace of a line, if any, under `present` or `past`; `bare`: the file has no vectors for it."""
    rows: dict[str, list[dict[str, Any]]] = {"present": [], "past": []}
    trace = line.get("trace")
    if trace is not None:
        vectors = trace.get("vectors")
        row = {"properties": trace["properties"], "embedding": None, "emotion": None, "bare": vectors is None}
        rows["present" if trace["label"] == "Trace" else "past"].append({**row, **(vectors or {})})
    return rows
