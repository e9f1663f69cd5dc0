"""Semantic coherence of the suggested paths, from the embeddings of neighbours on them (003, component 4)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

from orchestration.deps import Deps
from orchestration.traversal.paths import level_of
from schemas.errors import Fault, StoreTimeout
from schemas.memory import Level
from schemas.stream import ConsciousnessStream
from schemas.thought import TraversalPath
from substrate import reader

type Pair = tuple[str, str]


async def with_coherence(
    stream: ConsciousnessStream, graphs: Mapping[Level, str], deps: Deps
) -> ConsciousnessStream:
    """The stream with each path's coherence as mean cosine of its neighbours.

    A path whose memories have no embeddings today, or whose likeness was late, keeps the share of words that
    its neighbours have in common.
    """
    graph = stream.traversal_graph
    wanted: dict[Level, set[Pair]] = {}
    for path in graph.suggested_paths:
        wanted.setdefault(level_of(path), set()).update(_pairs(path))
    found = await asyncio.gather(*(_likeness(graphs[level], pairs, deps) for level, pairs in wanted.items()))
    return measured(stream, dict(zip(wanted, found, strict=True)))


def measured(stream: ConsciousnessStream, likeness: Mapping[Level, Mapping[Pair, float]]) -> ConsciousnessStream:
    """The stream with the coherence of its paths from the likeness of neighbours; pairs are in order."""
    graph = stream.traversal_graph
    paths = tuple(_measured(path, likeness[level_of(path)]) for path in graph.suggested_paths)
    return stream.model_copy(update={"traversal_graph": graph.model_copy(update={"suggested_paths": paths})})


async def _likeness(graph: str, pairs: set[Pair], deps: Deps) -> Mapping[Pair, float]:
    try:
        return await reader.likeness(deps.connection, graph, sorted(pairs))
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
