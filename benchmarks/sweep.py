"""How much a sweep of a whole graph slows readers, and how much memory it takes.

    python -m benchmarks.sweep --nodes 50000

The graph is made from a fixed seed. In one run one client asks question after question without a sweep, during a
sweep in the same process, and without one again. Another sweep, without readers, shows seconds and memory.
`--json` prints one line.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import orjson

from api.runtime.runtime import Runtime, now, open_runtime
from benchmarks.latency import percentiles, process_mb, timed
from benchmarks.synthetic import World, build_links, build_memories
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.upkeep.sweep import sweep
from schemas.intention import RetrievalIntention
from schemas.memory import Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from schemas.upkeep import SweepReport, SweepRequest
from substrate.graphs.names import graph_name

LEVELS = (Level.N1,)
type Figures = dict[str, Any]


async def built(world: World, rt: Runtime) -> float:
    """Write the personal graph of the world; returns the seconds that it took."""
    begun = time.perf_counter()
    await rt.deps.graphs.for_writing(graph_name(Level.N1, world.citizen), now())
    await build_memories(world, (Level.N1, 0), rt.deps, now())
    await build_links(world, (Level.N1, 0), rt.deps, now())
    return round(time.perf_counter() - begun, 1)


class Reader:
    """A client that asks one question after the other."""

    def __init__(self, world: World, rt: Runtime, questions: int) -> None:
        self._runtime = rt
        self._intentions = cycle(
            RetrievalIntention(query_text=text, citizen_id=world.citizen, query_levels=LEVELS)
            for text in world.questions(questions)
        )

    async def ask(self, least: int, until: Callable[[], bool] = lambda: True) -> list[float]:
        """Ask at least `least` questions, and on until `until` returns True; returns the milliseconds of each."""
        spent: list[float] = []
        while len(spent) < least or not until():
            intention = next(self._intentions)
            spent.append(await timed(lambda: self._once(intention)))  # noqa: B023
        return spent

    async def _once(self, intention: RetrievalIntention) -> None:
        await retrieve_consciousness_context(intention, self._runtime.deps, now())


async def swept(world: World, rt: Runtime) -> SweepReport:
    """Run one sweep."""
    request = SweepRequest(citizen_id=world.citizen, levels=LEVELS)
    return (await sweep(request, rt.deps)).reports[0]


def forget_peak() -> None:
    """Reset the peak memory of this process. Works only on Linux."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_mb() -> float:
    """Return the peak resident memory of this process since `forget_peak`, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return round(int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024, 1)


async def alone(world: World, rt: Runtime) -> Figures:
    """Measure seconds, pages and memory of a sweep without readers."""
    forget_peak()
    before = process_mb()
    report = await swept(world, rt)
    peak = peak_mb()
    return {
        "seconds": report.seconds,
        "pages": report.pages,
        "scanned_nodes": report.scanned_nodes,
        "scanned_links": report.scanned_links,
        "findings_by_kind": report.findings_by_kind,
        "grade": report.report.quality_grade,
        "rss_before_mb": before,
        "rss_peak_mb": peak,
        "rss_growth_mb": round(peak - before, 1),
    }


async def beside(world: World, rt: Runtime, questions: int) -> Figures:
    """Measure reads without a sweep, during one, and without one again."""
    reader = Reader(world, rt, questions)
    await reader.ask(questions)
    without = await reader.ask(questions)
    sweeping = asyncio.create_task(swept(world, rt))
    during = await reader.ask(1, sweeping.done)
    report = await sweeping
    without += await reader.ask(questions)
    calm, busy = percentiles(without), percentiles(during)
    return {
        "reads_without": len(without),
        "reads_during": len(during),
        "without_ms": calm,
        "during_ms": busy,
        "ratio_p50": round(busy["p50"] / calm["p50"], 2),
        "ratio_p95": round(busy["p95"] / calm["p95"], 2),
        "sweep_seconds_beside_reads": report.seconds,
    }


async def measure(arguments: argparse.Namespace) -> Figures:
    """Return all figures, on a new store."""
    with tempfile.TemporaryDirectory(prefix="substrate-sweep-") as directory:
        store = StoreSettings(data=Path(directory), url=None, host=None)
        async with open_runtime(Settings(store, EmbeddingSettings(embedding="local"))) as rt:
            world = World(nodes=arguments.nodes, links=arguments.links or 5 * arguments.nodes)
            figures: Figures = {"nodes": world.nodes, "links": world.links, "built_in_s": await built(world, rt)}
            figures["reads"] = await beside(world, rt, arguments.questions)
            figures["sweep"] = await alone(world, rt)
            return figures


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--nodes", type=int, default=50_000, help="memories in the graph")
    parser.add_argument("--links", type=int, default=0, help="links in it; default five a memory")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    options = 0 if arguments.json else orjson.OPT_INDENT_2
    sys.stdout.write(orjson.dumps(asyncio.run(measure(arguments)), option=options).decode() + "\n")


if __name__ == "__main__":
    main()
