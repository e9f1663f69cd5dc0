"""What each further collective adds to the time of a question.

    python -m benchmarks.collectives --nodes 2000

Graphs of one size are made from a fixed seed: N1, N2 and N3, and four more collectives. Each question is asked
with none further, with one, and so on to four, one after the other, so that all see the same machine.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from api.runtime.runtime import Runtime, now, open_runtime
from benchmarks.latency import percentiles, timed
from benchmarks.synthetic import World, build_links, build_memories
from orchestration.retrieval import retrieve_consciousness_context
from schemas.collectives import MOST_ASKED
from schemas.intention import ALL_LEVELS, RetrievalIntention
from schemas.memory import GraphKey, Level, graph_key
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.graphs.names import graph_name

NAMES = [f"c{number}" for number in range(MOST_ASKED)]


async def build(world: World, rt: Runtime) -> None:
    """Write all graphs."""
    keys: list[GraphKey] = [*ALL_LEVELS, *(graph_key(Level.N2, name) for name in NAMES)]
    for number, key in enumerate(keys):
        await rt.deps.graphs.for_writing(graph_name(key, world.citizen), now())
        await build_memories(world, (key, number), rt.deps, now())
        await build_links(world, (key, number), rt.deps, now())


async def ask(world: World, rt: Runtime, questions: int) -> dict[int, list[float]]:
    """The milliseconds of each question, by the number of further collectives."""
    spent: defaultdict[int, list[float]] = defaultdict(list)
    for place, text in enumerate(world.questions(questions)):
        for count in range(MOST_ASKED + 1):
            collectives = tuple(NAMES[:count])
            asked = RetrievalIntention(query_text=text, citizen_id=world.citizen, collectives=collectives)
            milliseconds = await timed(lambda: retrieve_consciousness_context(asked, rt.deps, now()))  # noqa: B023
            if place > 2:  # the first ones fill caches
                spent[count].append(milliseconds)
    return dict(spent)


async def run(nodes: int, questions: int) -> None:
    """Print a line for each number of further collectives."""
    world = World(nodes=nodes, links=2 * nodes)
    with tempfile.TemporaryDirectory() as data:
        store = StoreSettings(data=Path(data), url=None, host=None)
        async with open_runtime(Settings(store, EmbeddingSettings(embedding="local"))) as rt:
            await build(world, rt)
            spent = await ask(world, rt, questions)
    bare = percentiles(spent[0])["p50"]
    for count, each in spent.items():
        found = percentiles(each)
        print(
            f"{count} further collectives: {2 * (len(ALL_LEVELS) + count)} queries, p50 {found['p50']:.1f} ms, "
            f"p95 {found['p95']:.1f} ms, {found['p50'] / bare:.2f} of none"
        )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2000, help="memories of each graph")
    parser.add_argument("--questions", type=int, default=40)
    given = parser.parse_args(argv)
    asyncio.run(run(given.nodes, given.questions))
    return 0


if __name__ == "__main__":
    sys.exit(main())
