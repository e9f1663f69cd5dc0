"""The cost of a history: the same graph with ten changes of each memory and link, and without any.

    python -m benchmarks.history --nodes 20000 --links 20000

Two citizens have the same memories and links, from a fixed seed, in one store. Each memory and link of one of them
was superseded ten times, which leaves ten closed records and ten open records that have ended. One client asks
both the same questions in turn, about the present and about a moment half a year ago. `same_memories` is the share
of memories that both answers about the present have in common. The exit code is 1 when a question about the
present takes more than 1.15 times as long with a history as without, or one about the past more than 2.5 times as
long as one about the present. `--json` prints one line.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import batched
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from api.runtime.runtime import Runtime, now, open_runtime
from benchmarks.latency import percentiles
from benchmarks.synthetic import YEAR, World, build_links, build_memories, links_of
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.writing.records import search_properties
from schemas.intention import RetrievalIntention
from schemas.memory import Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from schemas.stream import ConsciousnessStream
from schemas.temporal import END_OF_TIME, Instant, TemporalMode, to_datetime
from substrate.connection.parameters import parameters
from substrate.connection.pool import Connection
from substrate.cypher.query import Query
from substrate.engine.unix_socket import socket_path
from substrate.graphs.names import graph_name

WITHOUT, WITH = "without", "with"
CHANGES = 10
STEP: Final = YEAR // 12
PRESENT_AT_MOST, PAST_AT_MOST = 1.15, 2.5
MEMORIES_A_STATEMENT, LINKS_A_STATEMENT = 3, 50
LEVELS = (Level.N1,)
BUILDING_MS: Final = 60_000
"""Deadline of a statement that builds the graphs: the speed of building is not measured."""
BUILDING: Final = {"TIMEOUT_MAX": BUILDING_MS, "TIMEOUT_DEFAULT": BUILDING_MS}
type Figures = dict[str, Any]

MEMORIES = Query(
    "superseded_memories",
    "UNWIND $rows AS r MATCH (n:ConsciousnessNode {id: r.id}) FOREACH (c IN r.changes | "
    "CREATE (n)-[:HAD]->(p:PastVersion)-[:HAS_TRACE]->(t:PastTrace {embedding: vecf32(c.embedding)}) "
    "CREATE (n)-[:HAD]->(q:PastVersion)-[:HAS_TRACE]->(t) SET p = properties(n) SET p += c.said "
    "SET q = properties(n) SET q += c.said "
    "SET p += c.closed SET q += c.kept) SET n.version = r.version, n.created_at = n.valid_at RETURN count(n)",
)
LINKS = Query(
    "superseded_links",
    "UNWIND $rows AS r MATCH (a:ConsciousnessNode {id: r.source})-[e:LINK]->(b:ConsciousnessNode {id: r.target}) "
    "WHERE e.id = r.id WITH r, a, b, e FOREACH (c IN r.changes | "
    "CREATE (a)-[p:PAST_LINK]->(b) CREATE (a)-[q:PAST_LINK]->(b) SET p = properties(e) SET q = properties(e) "
    "SET p += c.closed SET q += c.kept) SET e.version = r.version, e.valid_at = r.begun, e.created_at = r.begun "
    "RETURN count(e)",
)
OF_MEMORIES = Query(
    "begun_memories",
    "MATCH (n:ConsciousnessNode) WHERE n.id IN $ids RETURN n.id, n.valid_at, n.name, n.description ORDER BY n.id",
)


def changes(begun: Instant, count: int) -> Iterator[dict[str, Any]]:
    """Yield the records of `count` supersedes before `begun`: for each a closed record and one that has ended."""
    for place in range(count):
        start = begun - (count - place) * STEP
        end = start + STEP
        times = {"valid_at": start, "created_at": start, "invalid_at": END_OF_TIME, "expired_at": end}
        closed = {"version": 2 * place + 1, **times}
        kept = {"version": 2 * place + 2, **times, "created_at": end, "invalid_at": end, "expired_at": END_OF_TIME}
        yield {"closed": closed, "kept": kept}


def said(name: str, description: str, word: str) -> dict[str, Any]:
    """Return the text of an earlier record: the description with another last word."""
    content = {"name": name, "description": f"{description.rpartition(' ')[0]} {word}", "node_type": "Memory"}
    search = search_properties(content, None)
    return {"description": content["description"], "search_text": search["search_text"]}


async def give_memories(world: World, count: int, rt: Runtime) -> None:
    """Give each memory of the world a history of `count` supersedes."""
    graph = graph_name(Level.N1, world.citizen)
    vectors = world.vectors(world.nodes, world.seed, rt.deps.embedder.dimension)
    words = world.words()
    rng = np.random.default_rng(world.seed + 5)
    for part in batched(range(world.nodes), MEMORIES_A_STATEMENT):
        ids = [f"{Level.N1}-{place}" for place in part]
        rows = []
        for memory_id, begun, name, description in await rt.deps.connection.read(
            graph, OF_MEMORIES, parameters({"ids": ids})
        ):
            vector = vectors[int(memory_id.rpartition("-")[2])]
            past = []
            for change in changes(begun, count):
                near = vector + rng.normal(scale=0.02, size=vector.shape)
                embedding = [round(float(number), 4) for number in near / np.linalg.norm(near)]
                word = words[int(rng.integers(0, len(words)))]
                past.append({**change, "embedding": embedding, "said": said(name, description, word)})
            rows.append({"id": memory_id, "version": 2 * count + 1, "changes": past})
        await rt.deps.connection.write(graph, MEMORIES, parameters({"rows": rows}))


async def give_links(world: World, count: int, rt: Runtime, moment: Instant) -> None:
    """Give each link of the world a history of `count` supersedes, the last one within the last year."""
    graph = graph_name(Level.N1, world.citizen)
    rng = np.random.default_rng(world.seed + 6)
    for part in batched(links_of(world, (Level.N1, 0)), LINKS_A_STATEMENT):
        rows = []
        for link_id, source, target in part:
            begun = moment - int(rng.integers(0, YEAR))
            row = {"id": link_id, "source": source, "target": target, "begun": begun, "version": 2 * count + 1}
            rows.append({**row, "changes": list(changes(begun, count))})
        await rt.deps.connection.write(graph, LINKS, parameters({"rows": rows}))


async def build(world: World, count: int, rt: Runtime, moment: Instant) -> float:
    """Write the personal graph of the world with `count` changes of each record; returns the seconds it took."""
    begun = time.perf_counter()
    await rt.deps.graphs.for_writing(graph_name(Level.N1, world.citizen), moment)
    await build_memories(world, (Level.N1, 0), rt.deps, moment)
    await build_links(world, (Level.N1, 0), rt.deps, moment)
    await give_memories(world, count, rt)
    await give_links(world, count, rt, moment)
    return round(time.perf_counter() - begun, 1)


@asynccontextmanager
async def patient(rt: Runtime, data: Path) -> AsyncIterator[Runtime]:
    """Open a runtime for building: its statements have a long deadline and do not wait for the disk."""
    connection = rt.deps.connection
    fast = {"appendfsync": "no", "auto-aof-rewrite-percentage": "0"}
    before = {name: (await connection.command("CONFIG", "GET", name))[1] for name in fast}
    bounds = {name: (await connection.command("GRAPH.CONFIG", "GET", name))[1] for name in BUILDING}
    builder = Connection(f"unix://{socket_path(data)}", timeout_ms=BUILDING_MS)
    try:
        await _configure(connection, fast, BUILDING)
        yield rt._replace(deps=replace(rt.deps, connection=builder))
    finally:
        await _configure(connection, before, dict(reversed(bounds.items())))
        await builder.close()


async def _configure(connection: Connection, server: Mapping[str, Any], module: Mapping[str, Any]) -> None:
    for name, value in server.items():
        await connection.command("CONFIG", "SET", name, value)
    for name, value in module.items():
        await connection.command("GRAPH.CONFIG", "SET", name, value)


def shown(stream: ConsciousnessStream) -> set[str]:
    """Return the ids of the memories in all tiers of a stream."""
    tiers = stream.activation_tiers
    return {memory.node_id for memory in (*tiers.focus, *tiers.peripheral, *tiers.background)}


class Asker:
    """A client that asks about the present without a history, the present with one, and the past."""

    def __init__(self, rt: Runtime, moment: Instant) -> None:
        self._runtime = rt
        self._then = to_datetime(moment - YEAR // 2)
        self.spent: dict[str, list[float]] = {"without": [], "present": [], "past": []}
        self.alike: list[float] = []
        self.late: Counter[str] = Counter()

    async def _ask(self, name: str, citizen: str, text: str, **when: Any) -> set[str]:
        intention = RetrievalIntention(query_text=text, citizen_id=citizen, query_levels=LEVELS, **when)
        begun = time.perf_counter()
        stream = await retrieve_consciousness_context(intention, self._runtime.deps, now())
        self.spent[name].append((time.perf_counter() - begun) * 1000)
        self.late[name] += len(stream.degraded)
        return shown(stream)

    async def round(self, texts: Sequence[str]) -> None:
        """Ask each question about each of the three in turn."""
        mode = TemporalMode.POINT_IN_TIME
        for text in texts:
            await self._runtime.deps.embedder.embed_query(text)
            without = await self._ask("without", WITHOUT, text)
            present = await self._ask("present", WITH, text)
            await self._ask("past", WITH, text, temporal_mode=mode, as_of_time=self._then)
            self.alike.append(len(without & present) / max(1, len(without | present)))


async def measure(nodes: int, links: int, questions: int) -> Figures:
    """Return the figures of one run on a new store."""
    with tempfile.TemporaryDirectory(prefix="substrate-history-") as directory:
        settings = Settings(
            store=StoreSettings(data=Path(directory)),
            embedding=EmbeddingSettings(embedding="benchmarks.serving:Hashing"),
        )
        async with open_runtime(settings) as rt:
            moment = now()
            plain, lived = (World(nodes=nodes, links=links, citizen=citizen) for citizen in (WITHOUT, WITH))
            worlds = ((plain, 0), (lived, CHANGES))
            async with patient(rt, Path(directory)) as building:
                built = {world.citizen: await build(world, count, building, moment) for world, count in worlds}
            texts = plain.questions(questions)
            await Asker(rt, moment).round(texts[:10])
            asker = Asker(rt, moment)
            await asker.round(texts)
    spent = {name: percentiles(values) for name, values in asker.spent.items()}
    return {
        "memories": nodes,
        "links": links,
        "closed_records_each": CHANGES,
        "built_in_s": built,
        "questions": questions,
        "ms": spent,
        "queries_past_their_deadline": dict(asker.late),
        "same_memories": round(statistics.mean(asker.alike), 3),
        "present_with_past_to_without": round(spent["present"]["p50"] / spent["without"]["p50"], 3),
        "past_to_present": round(spent["past"]["p50"] / spent["present"]["p50"], 3),
    }


def main() -> int:
    """Print the figures; returns 0 when both ratios are within their bounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--links", type=int, default=20_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    figures = asyncio.run(measure(asked.nodes, asked.links, asked.questions))
    if asked.json:
        print(orjson.dumps(figures).decode())
    else:
        for name, value in figures.items():
            print(f"{name.replace('_', ' '):30} {value}")
    within = (
        figures["present_with_past_to_without"] <= PRESENT_AT_MOST and figures["past_to_present"] <= PAST_AT_MOST
    )
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
