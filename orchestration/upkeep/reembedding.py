"""Gives a whole store the vectors of another model, while it is read and written.

First all graphs get the new vectors. Then each graph is switched by one atomic change of its stamp, so that a
question sees only old or only new vectors. Records written meanwhile get their new trace before the switch. After
a crash the same call resumes: the stamp of each graph shows how far it is.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from orchestration.writing import records
from orchestration.writing.passages import set_apart
from schemas.errors import Conflict, Unavailable
from schemas.upkeep.findings import ReembedReport
from substrate.connection.pool import Connection
from substrate.graphs import reembedding
from substrate.graphs.graph import Graph
from substrate.graphs.migrations import migrate
from substrate.graphs.reembedding import EmbeddingTarget, TracedGroup, UntracedRecord
from substrate.graphs.registry import (
    CLEARING,
    FILLING,
    STAMP_VALID_S,
    Stamp,
    every_graph,
    note_adapter,
    read_stamp,
)
from substrate.inference.embeddings import Embedder
from substrate.store import reader

type Progress = Callable[[int, int], None]
"""Called after each batch with the number of records done and the number of all records."""

GRACE_SECONDS: Final = 2 * STAMP_VALID_S + 1.5
"""How long the old vectors stay: other processes trust a stamp for a second, and a query may run for a second."""
STRICT_TRIES: Final = 20
"""So often the switch requires that no record lacks its trace. After that the last batch is filled after it."""


@dataclass(slots=True)
class Reembedding:
    """A run over a store, and its progress."""

    connection: Connection
    embedder: Embedder
    progress: Progress
    grace: float
    done: int = 0
    total: int = 0

    @property
    def target(self) -> EmbeddingTarget:
        return EmbeddingTarget(self.embedder.model, self.embedder.dimension)


async def reembed_store(
    connection: Connection,
    embedder: Embedder,
    progress: Progress = lambda done, total: None,
    *,
    grace: float = GRACE_SECONDS,
) -> ReembedReport:
    """Give every graph of the store the vectors of `embedder`; graphs that have them already stay as they are.

    Nothing else may use `connection` meanwhile. `grace` is the time between the switch and the removal of the old
    vectors, in seconds. Raises Conflict when another run gives the store other vectors at the same time,
    Unavailable when the engine or the embedder does not answer; the same call then resumes.
    """
    run = Reembedding(connection, embedder, progress, grace)
    begun = time.perf_counter()
    changed: list[str] = []
    while True:
        pending: list[Graph] = []
        for name in await every_graph(connection):  # with other vectors, or still with the old ones
            graph = Graph(connection, name)
            stamp = await read_stamp(graph)
            if stamp and (stamp.other_state or not _has_target(run, stamp)):
                pending.append(graph)
        if not pending:
            break
        await _reembed_graphs(run, pending)
        changed += [graph.name for graph in pending]
    seconds = round(time.perf_counter() - begun, 3)
    names = tuple(dict.fromkeys(changed))
    return ReembedReport(**run.target._asdict(), graphs=names, records=run.done, seconds=seconds)


def _has_target(run: Reembedding, stamp: Stamp) -> bool:
    return (stamp.embedding_model, stamp.dimension) == run.target


async def _reembed_graphs(run: Reembedding, graphs: Sequence[Graph]) -> None:
    for graph in graphs:
        counts = await reader.counts(graph)
        run.total += counts.memories + counts.past_versions
    for graph in graphs:
        await _prepare(run, graph)
    for graph in graphs:
        tries = 0
        while not _has_target(run, await _stamp(run, graph)):
            tolerated = 0 if tries < STRICT_TRIES else reembedding.ROWS
            if not await reembedding.switch_generation(graph, run.target, tolerated):
                await _fill(run, graph)
            tries += 1
    for graph in graphs:
        await reembedding.close_generation(graph, await _stamp(run, graph))
    await asyncio.sleep(run.grace)
    for graph in graphs:
        await _fill(run, graph)
        await _clear(run, graph)


async def _stamp(run: Reembedding, graph: Graph) -> Stamp:
    """Read the stamp. From now on queries of the graph use the generation that is being replaced."""
    stamp = await read_stamp(graph)
    if stamp is None:
        raise Unavailable(f"graph {graph.name} was removed while it was re-embedded", remedy="Run it again.")
    await migrate(graph, stamp.schema_version)
    stamp = await read_stamp(graph) or stamp
    run.connection.vectors.use(
        graph.name, generation=1 - stamp.generation if _has_target(run, stamp) else stamp.generation
    )
    note_adapter(run.connection, graph.name, stamp)
    return stamp


async def _prepare(run: Reembedding, graph: Graph) -> None:
    """Give all records of the graph the new vectors, except those that are written meanwhile."""
    stamp = await _stamp(run, graph)
    if _has_target(run, stamp):
        return
    is_begun = (stamp.other_model, stamp.other_dimension) == run.target and stamp.other_state == FILLING
    if stamp.other_state is not None and not is_begun:
        await reembedding.close_generation(graph, stamp)
        await _clear(run, graph)
    if not is_begun and not await reembedding.begin(graph, run.target):
        raise _taken_over(graph)
    await reembedding.create_indexes(graph, run.target)
    await _fill(run, graph)


def _taken_over(graph: Graph) -> Conflict:
    return Conflict(
        f"another run is giving graph {graph.name} other vectors",
        remedy="Let one run end, then start the other.",
    )


async def _fill(run: Reembedding, graph: Graph) -> None:
    """Add the missing traces of the new generation."""
    for past in (False, True):
        after = -1
        while page := await reembedding.untraced_records(graph, after, past=past):
            after = page[-1].internal_id
            # Past records may share a trace; a record without a trace is a group of its own.
            groups: defaultdict[tuple[bool, int], list[UntracedRecord]] = defaultdict(list)
            for record in page:
                own = record.trace is None or not past
                groups[own, record.internal_id if own else record.trace or 0].append(record)
            traced = await _embed(run, list(groups.values()))
            write = reembedding.add_past_traces if past else reembedding.add_traces
            if not await write(graph, run.target, traced):
                await _check_not_taken_over(run, graph)
            run.done += len(page)
            run.progress(run.done, max(run.done, run.total))
    await _fill_passages(run, graph)


async def _fill_passages(run: Reembedding, graph: Graph) -> None:
    """Add the missing traces of passages; they count as part of their records."""
    after = -1
    while page := await reembedding.untraced_passages(graph, after):
        after = page[-1].internal_id
        vectors = await run.embedder.embed_texts([passage.text for passage in page])
        rows: list[dict[str, Any]] = []
        for passage, vector in zip(page, vectors, strict=True):
            embedding = set_apart(vector, passage.handle) or None
            rows.append({"memory_id": passage.memory_id, "handle": passage.handle, "embedding": embedding})
        if not await reembedding.add_passage_traces(graph, run.target, rows):
            await _check_not_taken_over(run, graph)


async def _check_not_taken_over(run: Reembedding, graph: Graph) -> None:
    stamp = await _stamp(run, graph)
    other = (stamp.other_model, stamp.other_dimension)
    if not _has_target(run, stamp) and not (stamp.other_state == FILLING and other == run.target):
        raise _taken_over(graph)


async def _embed(run: Reembedding, groups: Sequence[Sequence[UntracedRecord]]) -> list[TracedGroup]:
    contents = [group[0].content for group in groups]
    vectors = await run.embedder.embed_texts(list(map(records.embedded_text, contents)))
    traced: list[TracedGroup] = []
    for group, vector in zip(groups, vectors, strict=True):
        emotion = records.felt_trace(group[0].content, group[0].id, group[0].version)
        traced.append((group, {"embedding": vector or None, "emotion": emotion}))
    return traced


async def _clear(run: Reembedding, graph: Graph) -> None:
    """Remove the vectors that are not in use, and their indexes; after each batch, pause as long as it took."""
    stamp = await _stamp(run, graph)
    if stamp.other_state != CLEARING:
        return
    run.connection.vectors.use(graph.name, generation=stamp.generation)
    for query in reembedding.CLEARING_QUERIES:
        begun = time.perf_counter()
        while await reembedding.clear_traces(graph, query):
            await asyncio.sleep(time.perf_counter() - begun)
            begun = time.perf_counter()
    await reembedding.end(graph)
