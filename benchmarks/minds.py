"""What a mind costs while there are many: citizens of 20 memories each, in one store that grows.

    python -m benchmarks.minds
    python -m benchmarks.minds --sizes 100 1000 10000

At each size the service is started anew, and the table says what a citizen more takes: memory of the engine and of
the service, how long a question to one of them takes, a scrape of `/metrics`, a page of the list of citizens, and
the start. Ratios are to the first size. The questions go to citizens in turn, each of whom was asked once before.
Where other work uses the machine, read the processor time.
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
from statistics import median
from typing import Final, NamedTuple

import httpx

from api.runtime.runtime import now, open_runtime
from benchmarks.serving import Served, engine_pid
from benchmarks.soak import resident_kb, worked_s
from benchmarks.synthetic import World, build
from schemas.memory import Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.connection.errors import LOAD_PATIENCE_S, patient
from substrate.engine import append_log

SIZES: Final = (100, 1000)
WORLD: Final = World(nodes=20, links=20, vocabulary=400)
ASKED: Final = 50
"""So many citizens are asked at each size."""
ROUNDS: Final = 4
SCRAPES: Final = 5
PAGE: Final = 100
EMBEDDING: Final = "local"
MEMORY: Final = "substrate_engine_memory_bytes"
NODES: Final = 'substrate_nodes{level="N1"}'


class Measured(NamedTuple):
    """What was measured with so many citizens. `used` and `resident` are bytes of the engine,
    `of_asking` what it keeps of a citizen that was asked, `service` is the
    resident memory of the service once its citizens were asked; times are medians in milliseconds."""

    citizens: int
    used: int
    resident: int
    of_asking: int
    service: int
    ask_ms: float
    ask_cpu_ms: float
    scrape_ms: float
    first_scrape_ms: float
    page_ms: float
    start_s: float


def citizen(number: int) -> str:
    """The name of a citizen."""
    return f"mind-{number:06}"


async def fill(data: Path, begin: int, end: int) -> None:
    """Write the citizens from `begin` to before `end`."""
    settings = Settings(
        store=StoreSettings(data=data, names="off"), embedding=EmbeddingSettings(embedding=EMBEDDING)
    )
    async with open_runtime(settings) as runtime:
        with patient(LOAD_PATIENCE_S):
            for number in range(begin, end):
                world = replace(WORLD, citizen=citizen(number), seed=number)
                await build(world, runtime.deps, now(), (Level.N1,))
        await append_log.rewrite(runtime.deps.connection)


async def _timed(ask: Callable[[], Awaitable[httpx.Response]]) -> float:
    begun = time.perf_counter()
    (await ask()).raise_for_status()
    return (time.perf_counter() - begun) * 1000


async def measure(data: Path, citizens: int) -> Measured:
    """Start the service on a filled store, and measure it."""
    service = Served(data, embedding=EMBEDDING)
    begun = time.perf_counter()
    await service.start()
    start_s = time.perf_counter() - begun
    try:
        engine = await engine_pid(data)
        assert engine is not None
        processes = (engine, service.pid)
        async with service.client() as http:
            first_scrape_ms = await _timed(lambda: http.get("/metrics"))
            used, resident = int(await _gauge(http, MEMORY)), resident_kb(engine) * 1024
            read = 0.0
            while (nodes := await _gauge(http, NODES)) > read:  # all sizes are read once, beside the scrapes
                read = nodes
                await asyncio.sleep(1)
            scrape_ms = median([await _timed(lambda: http.get("/metrics")) for _ in range(SCRAPES)])
            page_ms = median(
                [await _timed(lambda: http.get("/v1/citizens", params={"limit": PAGE})) for _ in range(SCRAPES)]
            )
            before = int(await _gauge(http, MEMORY))
            ask_ms, ask_cpu_ms = await _ask(http, citizens, processes)
            of_asking = (int(await _gauge(http, MEMORY)) - before) // ASKED
        return Measured(
            citizens, used, resident, of_asking, resident_kb(service.pid) * 1024,
            ask_ms, ask_cpu_ms, scrape_ms, first_scrape_ms, page_ms, start_s,
        )  # fmt: skip
    finally:
        await service.stop()


async def _gauge(http: httpx.AsyncClient, name: str) -> float:
    text = (await http.get("/metrics")).text
    line = next(line for line in text.splitlines() if line.startswith(f"{name} "))
    return float(line.rpartition(" ")[2])


async def _ask(http: httpx.AsyncClient, citizens: int, processes: Sequence[int]) -> tuple[float, float]:
    """The time by the clock of a question, and the processor time of both processes."""
    asked = [citizen(place * citizens // ASKED) for place in range(ASKED)]
    questions = WORLD.questions(ASKED * (ROUNDS + 1))

    async def ask(place: int) -> float:
        body = {"citizen_id": asked[place % ASKED], "query_text": questions[place]}
        return await _timed(lambda: http.post("/v1/retrieve", json=body))

    for place in range(ASKED):
        await ask(place)
    before = sum(map(worked_s, processes))
    times = [await ask(place) for place in range(ASKED, ASKED * (ROUNDS + 1))]
    return median(times), (sum(map(worked_s, processes)) - before) * 1000 / len(times)


def show(measured: Sequence[Measured]) -> str:
    """The table; what a citizen takes is counted from the size before."""
    lines = [
        "| citizens | engine, KB a citizen: used (resident) | of one asked | service MB "
        "| question ms (CPU ms) | ratio (CPU) "
        "| scrape ms: first, next | page of 100, ms | start s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    first, before = measured[0], Measured(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    for each in measured:
        more = (each.citizens - before.citizens) * 1024
        lines.append(
            f"| {each.citizens:,} | {(each.used - before.used) / more:.0f} "
            f"({(each.resident - before.resident) / more:.0f}) "
            f"| +{each.of_asking / 1024:.0f} | {each.service / 1e6:.0f} "
            f"| {each.ask_ms:.1f} ({each.ask_cpu_ms:.1f}) | {each.ask_ms / first.ask_ms:.2f} "
            f"({each.ask_cpu_ms / first.ask_cpu_ms:.2f}) | {each.first_scrape_ms:.0f}, {each.scrape_ms:.0f} "
            f"| {each.page_ms:.1f} | {each.start_s:.1f} |"
        )
        before = each
    return "\n".join(lines)


async def run(sizes: Sequence[int]) -> str:
    """Let one store grow from size to size, and measure it at each."""
    measured: list[Measured] = []
    with tempfile.TemporaryDirectory(prefix="substrate-minds-", ignore_cleanup_errors=True) as directory:
        filled = 0
        for citizens in sorted(sizes):
            await fill(Path(directory), filled, citizens)
            filled = citizens
            measured.append(await measure(Path(directory), citizens))
            print(show(measured), file=sys.stderr)
    return show(measured)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.minds")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    print(asyncio.run(run(parser.parse_args(arguments).sizes)))


if __name__ == "__main__":
    main()
