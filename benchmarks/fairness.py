"""How long a citizen waits while another one floods the service with the dearest questions that it may ask.

    python -m benchmarks.fairness
    python -m benchmarks.fairness --memories 5000 --flooders 16

A Redis Cluster on loopback with a service over it, and three citizens with as many memories each: one who floods,
from many clients at once, with associations, wakings by a similar state and whole histories; one on the same
shard; one on another. Each of the two others asks, one question after the other, alone and then beside the flood.
Prints the 50th and the 95th percentile of what they waited, and how much longer that is than alone.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import quantiles
from typing import Any, Final, NamedTuple

import httpx

from api.runtime.runtime import now, open_runtime
from benchmarks.machines import Machines, cluster
from benchmarks.serving import Served
from benchmarks.synthetic import World, build
from schemas.memory import Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.connection.errors import LOAD_PATIENCE_S, patient
from substrate.graphs.names import graph_name

EMBEDDING: Final = "local"
FLOODER: Final = "flooder"
CANDIDATES: Final = 200
"""Among so many names there is one on the shard of the flooder, and one on another."""
WARMING: Final = 5
FLOODED_S: Final = 2.0
"""The flood is on for so long before it is measured."""


class Waited(NamedTuple):
    """The percentiles of what a citizen waited, in milliseconds."""

    median: float
    p95: float


async def choose_citizens(machines: Machines) -> dict[str, str]:
    """A citizen on the shard of the flooder, and one on another one, by where they are."""
    flooded = await machines.owner(graph_name(Level.N1, FLOODER))
    found: dict[str, str] = {}
    for number in range(CANDIDATES):
        citizen = f"citizen-{number}"
        same = await machines.owner(graph_name(Level.N1, citizen)) is flooded
        found.setdefault("same shard" if same else "another shard", citizen)
        if len(found) == 2:
            break
    return found


async def fill(url: str, citizens: Sequence[str], memories: int) -> World:
    """Write the memories of the citizens; returns the world of the first of them."""
    settings = Settings(
        store=StoreSettings(url=url, names="off"), embedding=EmbeddingSettings(embedding=EMBEDDING)
    )
    world = World(nodes=memories, links=5 * memories)
    async with open_runtime(settings) as runtime:
        with patient(LOAD_PATIENCE_S):
            for number, citizen in enumerate(citizens):
                own = replace(world, citizen=citizen, seed=world.seed + number)
                await build(own, runtime.deps, now(), (Level.N1,))
    return world


async def ask(http: httpx.AsyncClient, citizen: str, text: str) -> None:
    """A question of a citizen. Raises httpx.HTTPStatusError when it is not answered."""
    answer = await http.post(
        "/v1/retrieve", json={"citizen_id": citizen, "query_text": text, "query_levels": ["N1"]}
    )
    answer.raise_for_status()


async def flood(http: httpx.AsyncClient, texts: Sequence[str], place: int, counts: dict[int, int]) -> None:
    """Ask the dearest questions, one after the other, until it is cancelled. `counts`: of answers by status."""
    emotions = {"drive": 0.8, "joy": 0.3}
    while True:
        text = texts[place % len(texts)]
        own: dict[str, Any] = {"citizen_id": FLOODER, "query_levels": ["N1"]}
        requests: tuple[tuple[str, dict[str, Any]], ...] = (
            ("/v1/associate", {"citizen_id": FLOODER, "query_text": text}),
            (
                "/v1/wake",
                own | {"current_goal": text, "query_mode": "find_similar_state", "current_emotions": emotions},
            ),
            ("/v1/retrieve", own | {"query_text": text, "temporal_mode": "full_history"}),
        )
        path, body = requests[place % len(requests)]
        status = (await http.post(path, json=body)).status_code
        counts[status] = counts.get(status, 0) + 1
        place += 1


async def wait_times(send: Callable[[int], Awaitable[None]], many: int) -> Waited:
    """Send so many requests, one after the other."""
    times: list[float] = []
    for number in range(many):
        begun = time.perf_counter()
        await send(number)
        times.append((time.perf_counter() - begun) * 1000)
    cuts = quantiles(times, n=20)
    return Waited(cuts[9], cuts[18])


async def measure(machines: Machines, memories: int, flooders: int, asked: int) -> str:
    """The table."""
    citizens = await choose_citizens(machines)
    world = await fill(machines.url, [FLOODER, *citizens.values()], memories)
    texts = iter(world.questions(2 * len(citizens) * (asked + WARMING) + asked))
    floods = world.questions(2000)
    rows = ["| citizen | alone: p50, p95 ms | beside the flood: p50, p95 ms | ratio of p95 |", "|---|---|---|---|"]
    counts: dict[int, int] = {}
    with tempfile.TemporaryDirectory() as directory:
        served = Served(Path(directory), machines.url, embedding=EMBEDDING)
        await served.start()
        async with served.client() as http:

            async def of(citizen: str) -> Waited:
                for _ in range(WARMING):
                    await ask(http, citizen, next(texts))
                return await wait_times(lambda _: ask(http, citizen, next(texts)), asked)

            alone = {where: await of(citizen) for where, citizen in citizens.items()}
            flooding = [
                asyncio.create_task(flood(http, floods, place * len(floods) // flooders, counts))
                for place in range(flooders)
            ]
            await asyncio.sleep(FLOODED_S)
            beside = {where: await of(citizen) for where, citizen in citizens.items()}
            for task in flooding:
                task.cancel()
            await asyncio.wait(flooding)
        await served.stop()
    for where in sorted(citizens):
        one, other = alone[where], beside[where]
        rows.append(
            f"| {where} | {one.median:.0f}, {one.p95:.0f} | {other.median:.0f}, {other.p95:.0f} "
            f"| {other.p95 / one.p95:.1f} |"
        )
    told = ", ".join(f"{count} of status {status}" for status, count in sorted(counts.items()))
    return "\n".join([*rows, "", f"The flood had {told}."])


async def run(memories: int, flooders: int, asked: int) -> str:
    """Measure on machines of its own."""
    async with cluster() as machines:
        return await measure(machines, memories, flooders, asked)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=2000)
    parser.add_argument("--flooders", type=int, default=8)
    parser.add_argument("--asked", type=int, default=60)
    asked = parser.parse_args()
    print(asyncio.run(run(asked.memories, asked.flooders, asked.asked)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
