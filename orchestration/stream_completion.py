"""Adds to an assembled stream what needs the store: path coherence, energy feedback, stage times (003, 4)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from orchestration.dependencies import Deps
from orchestration.graph_queries.existing_graphs import View
from orchestration.mind.state import with_feedback
from orchestration.traversal.paths import level_of
from schemas.errors import Fault, StoreTimeout
from schemas.memory import Level
from schemas.stream import ConsciousnessStream
from schemas.stream_parts import TraversalPath
from substrate.graphs.graph import Graph, GraphTarget
from substrate.store import reader

type Pair = tuple[str, str]


class Stages:
    """Wall time of each stage, in milliseconds."""

    def __init__(self) -> None:
        self._last = self._begun = time.perf_counter()
        self.spent: dict[str, float] = {}

    def end(self, stage: str) -> None:
        """The stage ends here."""
        here = time.perf_counter()
        self.spent[stage] = round((here - self._last) * 1000, 3)
        self._last = here

    def total(self) -> float:
        """Milliseconds since the beginning."""
        return round((self._last - self._begun) * 1000, 3)


class ActsOn(NamedTuple):
    """The citizen's energy that a stream may change: as the request says it, None for the one that is kept."""

    energy: float | None


async def completed(
    stream: ConsciousnessStream,
    store: tuple[View, Deps],
    stages: Stages,
    acts_on: ActsOn | None,
) -> ConsciousnessStream:
    """The stream with what the store adds: coherence of its paths, energy feedback if asked for, its times."""
    view, deps = store
    if stream.traversal_graph.suggested_paths:
        stream = await with_coherence(stream, view.targets)
    if acts_on is not None:
        stream = await with_feedback(stream, acts_on.energy, deps, view.now)
    stages.end("completion")
    return stream.model_copy(update={"retrieval_latency_ms": stages.total(), "stage_ms": stages.spent})


async def others() -> None:
    """Let other requests go on: this process has one core, and one large answer takes it for long."""
    await asyncio.sleep(0)


async def with_coherence(stream: ConsciousnessStream, targets: Mapping[Level, GraphTarget]) -> ConsciousnessStream:
    """The stream with each path's coherence as mean cosine of its neighbours.

    A path whose memories have no embeddings today, or whose likeness was late, keeps the share of words that
    its neighbours have in common.
    """
    graph = stream.traversal_graph
    wanted: dict[Level, set[Pair]] = {}
    for path in graph.suggested_paths:
        wanted.setdefault(level_of(path), set()).update(_pairs(path))
    found = await asyncio.gather(*(_likeness(targets[level].graph, pairs) for level, pairs in wanted.items()))
    return measured(stream, dict(zip(wanted, found, strict=True)))


def measured(stream: ConsciousnessStream, likeness: Mapping[Level, Mapping[Pair, float]]) -> ConsciousnessStream:
    """The stream with the coherence of its paths from the likeness of neighbours; pairs are in order."""
    graph = stream.traversal_graph
    paths = tuple(_measured(path, likeness[level_of(path)]) for path in graph.suggested_paths)
    return stream.model_copy(update={"traversal_graph": graph.model_copy(update={"suggested_paths": paths})})


async def _likeness(graph: Graph, pairs: set[Pair]) -> Mapping[Pair, float]:
    try:
        return await reader.likeness(graph, sorted(pairs))
    except (StoreTimeout, Fault):
        return {}


def _pairs(path: TraversalPath) -> Iterator[Pair]:
    for one, other in zip(path.path_nodes, path.path_nodes[1:], strict=False):
        yield (one, other) if one < other else (other, one)


def _measured(path: TraversalPath, likeness: Mapping[Pair, float]) -> TraversalPath:
    cosines = [likeness.get(pair) for pair in _pairs(path)]
    known = [min(1.0, max(0.0, cosine)) for cosine in cosines if cosine is not None]
    if len(known) < len(cosines):
        return path
    return path.model_copy(update={"semantic_coherence": round(sum(known) / len(known), 6)})
