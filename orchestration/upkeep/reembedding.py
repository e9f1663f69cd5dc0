"""Another model's vectors for a whole store, while it is read and written.

All graphs are filled first, then all are switched, each by one atomic change of its stamp: a question meets the
old vectors or the new ones, whole. What is written meanwhile lacks its new trace, and is caught up before that.
Killed anywhere, the same call goes on where it was: the stamps say how far each graph is.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from orchestration.writing import records
from schemas.errors import Conflict, Unavailable
from schemas.upkeep import ReembedReport
from substrate.connection.pool import Connection
from substrate.graphs import reembedding
from substrate.graphs.graph import Graph
from substrate.graphs.migrations import migrate
from substrate.graphs.reembedding import EmbeddingTarget, UntracedRecord
from substrate.graphs.registry import CLEARING, FILLING, STAMP_VALID_S, Stamp, existing_graphs, read_stamp
from substrate.inference.embeddings import Embedder
from substrate.store import reader

type Progress = Callable[[int, int], None]
"""Told after each batch how many records are done, of how many."""
type Traced = tuple[Sequence[UntracedRecord], dict[str, Any]]

GRACE_SECONDS: Final = 2 * STAMP_VALID_S + 1.5
"""So long the vectors that were in use stay: a stamp is believed for a second, and a query runs for so long."""
STRICT_TRIES: Final = 20
"""So often a switch waits until no record lacks its trace; after that the last batch is made up behind it."""


@dataclass(slots=True)
class Reembedding:
    """A run: what it works with, and how far it is."""

    connection: Connection
    embedder: Embedder
    progress: Progress
    grace: float
    done: int = 0
    total: int = 0

    @property
    def target(self) -> EmbeddingTarget:
        """The embedding that all graphs are to have."""
        return EmbeddingTarget(self.embedder.model, self.embedder.dimension)


async def reembed_store(
    connection: Connection,
    embedder: Embedder,
    progress: Progress = lambda done, total: None,
    *,
    grace: float = GRACE_SECONDS,
) -> ReembedReport:
    """Give every graph of the store the vectors of `embedder`; graphs that have them are left alone.

    `connection` must be used by nothing else meanwhile. `grace`: seconds between the switch and the removal of
    the old vectors. Raises Conflict when another run gives the store other vectors at the same time, and what
    the embedder and the engine raise; the same call then goes on.
    """
    run = Reembedding(connection, embedder, progress, grace)
    begun = time.perf_counter()
    changed: list[str] = []
    while pending := await _pending(run):
        await _round(run, pending)
        changed += pending
    seconds = round(time.perf_counter() - begun, 3)
    graphs = tuple(dict.fromkeys(changed))
    return ReembedReport(**run.target._asdict(), graphs=graphs, records=run.done, seconds=seconds)


async def _pending(run: Reembedding) -> list[str]:
    """The graphs that have other vectors, or are not yet rid of them."""
    names = await existing_graphs(run.connection)
    stamps = {name: await read_stamp(Graph(run.connection, name)) for name in names}
    return [name for name, stamp in stamps.items() if stamp and (stamp.other_state or not _reached(run, stamp))]


def _reached(run: Reembedding, stamp: Stamp) -> bool:
    return (stamp.embedding_model, stamp.dimension) == run.target


async def _round(run: Reembedding, names: Sequence[str]) -> None:
    for name in names:
        await _count(run, name)
    for name in names:
        await _prepare(run, name)
    for name in names:
        await _switch(run, name)
    for name in names:
        await reembedding.close_generation(Graph(run.connection, name), await _stamp(run, name))
    await asyncio.sleep(run.grace)
    for name in names:
        await _fill(run, name)
        await _clear(run, name)


async def _count(run: Reembedding, name: str) -> None:
    counts = await reader.counts(Graph(run.connection, name))
    run.total += counts.memories + counts.past_versions


async def _stamp(run: Reembedding, name: str) -> Stamp:
    """The stamp; the texts are asked from the side of the generation that is being left."""
    stamp = await read_stamp(Graph(run.connection, name))
    if stamp is None:
        raise Unavailable(f"graph {name} was removed while it was re-embedded", remedy="Run it again.")
    await migrate(Graph(run.connection, name), stamp.schema_version)
    run.connection.generations[name] = 1 - stamp.generation if _reached(run, stamp) else stamp.generation
    return stamp


async def _prepare(run: Reembedding, name: str) -> None:
    """Bring the graph to where all its records have the new vectors, or nearly all."""
    stamp = await _stamp(run, name)
    if _reached(run, stamp):
        return
    wanted = (stamp.other_model, stamp.other_dimension) == run.target and stamp.other_state == FILLING
    if stamp.other_state is not None and not wanted:
        await reembedding.close_generation(Graph(run.connection, name), stamp)
        await _clear(run, name)
    if not wanted and not await reembedding.begin(Graph(run.connection, name), run.target):
        raise _taken_over(name)
    await reembedding.create_indexes(Graph(run.connection, name), run.target)
    await _fill(run, name)


def _taken_over(name: str) -> Conflict:
    return Conflict(
        f"graph {name} is being given other vectors by another run",
        remedy="Let one run end, then start the other.",
    )


async def _fill(run: Reembedding, name: str) -> None:
    """Go over all records that lack a trace of the generation to come, and give them one."""
    for past in (False, True):
        after = -1
        while page := await reembedding.untraced_records(Graph(run.connection, name), after, past=past):
            after = page[-1].internal_id
            traced = await _traced(run, _sharing(page) if past else [[bare] for bare in page])
            write = reembedding.add_past_traces if past else reembedding.add_traces
            if not await write(Graph(run.connection, name), run.target, traced):
                await _check_still_ours(run, name)
            run.done += len(page)
            run.progress(run.done, max(run.done, run.total))


async def _check_still_ours(run: Reembedding, name: str) -> None:
    stamp = await _stamp(run, name)
    other = (stamp.other_model, stamp.other_dimension)
    if not _reached(run, stamp) and not (stamp.other_state == FILLING and other == run.target):
        raise _taken_over(name)


def _sharing(page: Iterable[UntracedRecord]) -> list[list[UntracedRecord]]:
    """The records in groups that share a trace; one without a trace is alone."""
    groups: defaultdict[tuple[bool, int], list[UntracedRecord]] = defaultdict(list)
    for bare in page:
        groups[bare.trace is None, bare.internal_id if bare.trace is None else bare.trace].append(bare)
    return list(groups.values())


async def _traced(run: Reembedding, groups: Sequence[Sequence[UntracedRecord]]) -> list[Traced]:
    contents = [group[0].content for group in groups]
    vectors = await run.embedder.embed_texts([records.embedded_text(content) for content in contents])
    return [
        (group, {"embedding": vector or None, "emotion": _felt(group[0])})
        for group, vector in zip(groups, vectors, strict=True)
    ]


def _felt(bare: UntracedRecord) -> list[float] | None:
    return records.felt_trace(bare.content, bare.id, bare.version)


async def _switch(run: Reembedding, name: str) -> None:
    tries = 0
    while not _reached(run, await _stamp(run, name)):
        tolerated = 0 if tries < STRICT_TRIES else reembedding.ROWS
        if not await reembedding.switch_generation(Graph(run.connection, name), run.target, tolerated):
            await _fill(run, name)
        tries += 1


async def _clear(run: Reembedding, name: str) -> None:
    """Remove the vectors that are not in use, resting as long as it works, and their indexes."""
    stamp = await _stamp(run, name)
    if stamp.other_state != CLEARING:
        return
    run.connection.generations[name] = stamp.generation
    for past in (False, True):
        begun = time.perf_counter()
        while await reembedding.clear_traces(Graph(run.connection, name), past=past):
            await asyncio.sleep(time.perf_counter() - begun)
            begun = time.perf_counter()
    await reembedding.end(Graph(run.connection, name))
