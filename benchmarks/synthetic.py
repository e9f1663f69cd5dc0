"""A world of any size from a fixed seed: three graphs of memories with Zipf-distributed words and links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from orchestration.dependencies import Deps
from orchestration.identifiers import natural_id
from orchestration.writing import command_rows
from schemas.commands import Relate, Remember
from schemas.memory import GraphKey, Level, Source, graph_fields
from schemas.temporal import Instant, to_datetime
from substrate.graphs.names import graph_name
from substrate.store import writer

LETTERS = "abcdefghiklmnoprstuvw"
WORDS_PER_TEXT = 20
CLUSTERS = 400
YEAR = 365 * 24 * 3600 * 1_000_000
_RELATIONS = ("LEADS_TO", "ABOUT", "JUSTIFIES", "ENABLES", "BLOCKED_BY")
_EMOTIONS = ("drive", "joy", "frustration", "curiosity", "calm")


@dataclass(frozen=True)
class World:
    """Size and seed of a world; everything else is computed from them."""

    nodes: int
    links: int
    seed: int = 7
    vocabulary: int = 8000
    citizen: str = "synthetic"
    hubs: bool = False
    """The targets of links follow Zipf's law: a few memories have links by the thousand."""

    def words(self) -> list[str]:
        """Return the vocabulary, the most common word first."""
        rng = np.random.default_rng(self.seed)
        sizes = rng.integers(3, 10, self.vocabulary)
        return ["".join(rng.choice(list(LETTERS), size)) for size in sizes]

    def texts(self, count: int, seed: int, length: int = WORDS_PER_TEXT) -> Iterator[str]:
        """Yield texts whose words follow Zipf's law."""
        words = self.words()
        weights = 1.0 / (np.arange(self.vocabulary) + 5.0)
        rng = np.random.default_rng(seed)
        chosen = rng.choice(self.vocabulary, size=(count, length), p=weights / weights.sum())
        return (" ".join(words[place] for place in row) for row in chosen)

    def questions(self, count: int) -> list[str]:
        """Return questions of six words from the same vocabulary."""
        return list(self.texts(count, self.seed + 99, 6))

    def vectors(self, count: int, seed: int, dimension: int) -> np.ndarray:
        """Return unit vectors in clusters, because real embeddings are neither spread evenly nor all alike."""
        rng = np.random.default_rng(seed)
        centres = rng.normal(size=(CLUSTERS, dimension))
        vectors = centres[rng.integers(0, CLUSTERS, count)] + 0.8 * rng.normal(size=(count, dimension))
        unit: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


async def build(world: World, deps: Deps, now: Instant, levels: Sequence[Level] = tuple(Level)) -> None:
    """Write the world's graphs, one for each level; vectors come from the seed instead of a model."""
    for number, level in enumerate(levels):
        graph = graph_name(level, world.citizen)
        await deps.graphs.for_writing(graph, now)
        await build_memories(world, (level, number), deps, now)
        await build_links(world, (level, number), deps, now)


async def build_memories(world: World, which: tuple[GraphKey, int], deps: Deps, now: Instant) -> None:
    """Write the memories of one graph; `which`: its level, and a number that varies the seed."""
    level, number = which
    graph = graph_name(level, world.citizen)
    rng = np.random.default_rng(world.seed + number)
    vectors = world.vectors(world.nodes, world.seed + number, deps.embedder.dimension)
    rows = []
    for place, text in enumerate(world.texts(world.nodes, world.seed + 10 * number)):
        command = Remember(
            id=f"{level}-{place}",
            **graph_fields(level),
            citizen_id=world.citizen,
            name=" ".join(text.split()[:3]),
            description=text,
            node_type="Turn" if place % 3 else "Memory",
            speaker="p" if place % 3 else None,
            valid_at=to_datetime(now - int(rng.integers(0, YEAR))),
            energy=round(float(rng.uniform()), 3),
            confidence=round(float(rng.uniform()), 3),
            emotion_vector={_EMOTIONS[place % 5]: 0.7} if place % 2 else None,
            source=Source.INGESTION,
        )
        row = command_rows.memory_row(command, f"{level}-{place}", "synthetic", now)
        row["embedding"] = [round(float(number), 4) for number in vectors[place]]
        rows.append(row)
        if len(rows) == writer.NODES_PER_STATEMENT:
            await writer.remember(deps.graph(graph), writer.RowBatch(command_rows.without_receipts(rows), now))
            rows = []
    if rows:
        await writer.remember(deps.graph(graph), writer.RowBatch(command_rows.without_receipts(rows), now))


def links_of(world: World, which: tuple[GraphKey, int]) -> Iterator[tuple[str, str, str]]:
    """Yield the links of one graph: the id of each and the ids of its ends."""
    level, number = which
    rng = np.random.default_rng(world.seed + 1000 + number)
    ends_of_links = rng.integers(0, world.nodes, size=(world.links, 2))
    if world.hubs:
        weights = 1.0 / np.arange(1, world.nodes + 1)
        ends_of_links[:, 1] = rng.choice(world.nodes, size=world.links, p=weights / weights.sum())
    for place, (source, target) in enumerate(ends_of_links):
        ends = f"{level}-{source}", f"{level}-{target}"
        yield f"{natural_id(ends[0], _RELATIONS[place % 5], ends[1])}|{place}", *ends


async def build_links(world: World, which: tuple[GraphKey, int], deps: Deps, now: Instant) -> None:
    """Write the links of one graph between its memories."""
    level, number = which
    graph = graph_name(level, world.citizen)
    rng = np.random.default_rng(world.seed + 2000 + number)
    rows = []
    for place, (link_id, source_id, target_id) in enumerate(links_of(world, which)):
        command = Relate(
            **graph_fields(level),
            citizen_id=world.citizen,
            source_id=source_id,
            target_id=target_id,
            relation_type=_RELATIONS[place % 5],
            energy=round(float(rng.uniform()), 3),
            confidence=round(float(rng.uniform()), 3),
            emotion_vector={_EMOTIONS[place % 5]: 0.5},
            goal=f"goal {place % 20}",
            mindstate="steady",
            source=Source.INGESTION,
            valid_at=to_datetime(now - YEAR),
        )
        rows.append(command_rows.link_row(command, link_id, "synthetic", now))
        if len(rows) == writer.LINKS_PER_STATEMENT:
            await writer.relate(deps.graph(graph), writer.RowBatch(command_rows.without_receipts(rows), now))
            rows = []
    if rows:
        await writer.relate(deps.graph(graph), writer.RowBatch(command_rows.without_receipts(rows), now))
