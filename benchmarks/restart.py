"""How long a store takes until it answers again by likeness, by either adapter: after a clean stop and a kill.

    python -m benchmarks.restart
    python -m benchmarks.restart --memories 100000 --links 200000 --likeness sets

For each adapter a store of its own is filled with one citizen's memories, each with a vector and links. Then, side
by side: processor time of the engine to write one memory, the time by the clock to write one alone, memory and
files, recall of the 20 nearest against an exact comparison, and for both kinds of restart the seconds and the
processor time of the new engine until a search gives the same answer as before. `--tail` memories are written
after the log was rewritten: a kill leaves them to be carried out one by one.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import numpy as np

from api.runtime.runtime import Runtime, now, open_runtime
from benchmarks.synthetic import World, build_links, build_memories
from orchestration.dependencies import Deps
from orchestration.writing import command_rows
from schemas.commands import Remember
from schemas.errors import SubstrateError
from schemas.memory import GraphKey, Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.connection.errors import LOAD_PATIENCE_S, patient
from substrate.engine import append_log
from substrate.graphs.names import graph_name
from substrate.graphs.registry import Adapter
from substrate.likeness import port
from substrate.likeness.elements import Search
from substrate.store import writer

TOP: Final = 20
QUESTIONS: Final = 100
ALONE: Final = 60
"""So many memories are written one by one."""
ADAPTERS: Final[tuple[Adapter, ...]] = ("index", "sets")
LEVEL: Final[GraphKey] = Level.N1
POLL_S: Final = 0.02
PATIENCE_S: Final = 3600.0


class Restarted(NamedTuple):
    """Seconds by the clock, and of the engine's processor, until a search was answered as before."""

    seconds: float
    cpu: float


class Measured(NamedTuple):
    """What was measured of one adapter."""

    adapter: str
    cpu_per_memory: float
    alone_ms: float
    megabytes: float
    file_megabytes: float
    search_ms: float
    recall: float
    clean: Restarted
    killed: Restarted


async def measure(adapter: Adapter, world: World, tail: int, directory: Path) -> Measured:
    """Fill a store in the directory, measure it, and restart it twice."""
    settings = Settings(
        store=StoreSettings(data=directory, names="off", likeness=adapter),
        embedding=EmbeddingSettings(embedding="local"),
    )
    graph = graph_name(LEVEL, world.citizen)
    async with open_runtime(settings) as runtime:
        deps = runtime.deps
        begun = await _cpu(runtime)
        with patient(LOAD_PATIENCE_S):
            await _fill(world, deps)
        per_memory = (await _cpu(runtime) - begun) * 1000 / world.nodes
        questions = _questions(world, deps.embedder.dimension)
        recall, search_ms = await _recall(world, questions, deps, graph)
        await append_log.rewrite(deps.connection)
        alone_ms = await _write_alone(world, deps, max(tail, ALONE))
        search = Search([float(number) for number in questions[0]], TOP, open_only=True, held=world.nodes)
        before = await port.nearest(deps.connection, graph, search)
        megabytes = await deps.connection.memory_bytes() / 1e6
        files = await asyncio.to_thread(_megabytes, directory)
        killed = await _kill(runtime, graph, search, before)
    begun_at = time.perf_counter()
    async with open_runtime(settings) as runtime:
        clean = await _wait(runtime, graph, search, before, begun_at)
    return Measured(adapter, per_memory, alone_ms, megabytes, files, search_ms, recall, clean, killed)


async def _fill(world: World, deps: Deps) -> None:
    moment = now()
    await deps.graphs.for_writing(graph_name(LEVEL, world.citizen), moment)
    await build_memories(world, (LEVEL, 0), deps, moment)
    await build_links(world, (LEVEL, 0), deps, moment)


async def _write_alone(world: World, deps: Deps, count: int) -> float:
    """Milliseconds to write one memory, the median of all; they make the log longer."""
    vectors = world.vectors(count, world.seed + 70, deps.embedder.dimension)
    graph, times = deps.graph(graph_name(LEVEL, world.citizen)), []
    for place, text in enumerate(world.texts(count, world.seed + 71)):
        command = Remember(id=f"alone-{place}", citizen_id=world.citizen, level=LEVEL, name=text, description=text)
        row = command_rows.memory_row(command, f"alone-{place}", "synthetic", now())
        row["embedding"] = [round(float(number), 4) for number in vectors[place]]
        begun = time.perf_counter()
        await writer.remember(graph, writer.RowBatch(command_rows.without_receipts([row]), now()))
        times.append(time.perf_counter() - begun)
    return median(times) * 1000


def _questions(world: World, dimension: int) -> np.ndarray:
    """Vectors beside stored ones, as questions lie beside what answers them."""
    rng = np.random.default_rng(world.seed + 50)
    stored = world.vectors(world.nodes, world.seed, dimension)
    chosen = stored[rng.integers(0, world.nodes, QUESTIONS)]
    moved = chosen + rng.normal(size=chosen.shape) * 0.5 / np.sqrt(dimension)
    unit: np.ndarray = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    return unit


def _megabytes(directory: Path) -> float:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()) / 1e6


async def _recall(world: World, questions: np.ndarray, deps: Deps, graph: str) -> tuple[float, float]:
    """Recall of the nearest among what was stored, and the milliseconds of a search."""
    stored = world.vectors(world.nodes, world.seed, deps.embedder.dimension).round(4)
    stored /= np.linalg.norm(stored, axis=1, keepdims=True)
    hits, times = 0, []
    for question in questions:
        exact = {f"{LEVEL}-{place}" for place in np.argsort(-(stored @ question))[:TOP]}
        begun = time.perf_counter()
        search = Search([float(number) for number in question], TOP, open_only=True, held=world.nodes)
        found = await port.nearest(deps.connection, graph, search)
        times.append(time.perf_counter() - begun)
        hits += len(exact & {near.owner for near in found})
    return hits / (TOP * len(questions)), median(times) * 1000


async def _kill(runtime: Runtime, graph: str, search: Search, before: Sequence[object]) -> Restarted:
    """Kill the engine; the next command starts it again."""
    begun = time.perf_counter()
    os.kill(await _engine(runtime), signal.SIGKILL)
    return await _wait(runtime, graph, search, before, begun)


async def _wait(runtime: Runtime, graph: str, search: Search, before: Sequence[object], begun: float) -> Restarted:
    """Ask until the answer is the one from before."""
    while time.perf_counter() - begun < PATIENCE_S:
        try:
            is_there = await runtime.deps.graphs.for_reading(graph)
            if is_there and await port.nearest(runtime.deps.connection, graph, search) == before:
                return Restarted(time.perf_counter() - begun, await _cpu(runtime))
        except SubstrateError:
            pass
        await asyncio.sleep(POLL_S)
    raise SystemExit("the store did not answer as before")


async def _engine(runtime: Runtime) -> int:
    fields = await runtime.deps.connection.command("INFO", "server")
    return int(fields["process_id"])


async def _cpu(runtime: Runtime) -> float:
    """Seconds of the processor that the engine has used."""
    fields = await runtime.deps.connection.command("INFO", "cpu")
    return float(fields["used_cpu_user"]) + float(fields["used_cpu_sys"])


def show(measured: Sequence[Measured]) -> str:
    """The table of the measurements."""
    lines = [
        "| | write, CPU ms | one alone, ms | memory MB | files MB | search ms | recall@20 "
        "| clean stop: s (CPU s) | kill -9: s (CPU s) |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {each.adapter} | {each.cpu_per_memory:.2f} | {each.alone_ms:.1f} | {each.megabytes:.0f} "
        f"| {each.file_megabytes:.0f} | {each.search_ms:.2f} | {each.recall:.3f} "
        f"| {each.clean.seconds:.1f} ({each.clean.cpu:.1f}) | {each.killed.seconds:.1f} ({each.killed.cpu:.1f}) |"
        for each in measured
    ]
    return "\n".join(lines)


async def run(adapters: Sequence[Adapter], world: World, tail: int) -> str:
    """Measure each adapter in a directory of its own."""
    measured = []
    for adapter in adapters:
        with tempfile.TemporaryDirectory(prefix="substrate-restart-", ignore_cleanup_errors=True) as directory:
            measured.append(await measure(adapter, world, tail, Path(directory)))
            print(show(measured[-1:]), file=sys.stderr)
    return show(measured)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.restart")
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--links", type=int, default=40_000)
    parser.add_argument("--tail", type=int, default=ALONE, help="memories written after the log was rewritten")
    parser.add_argument("--likeness", choices=ADAPTERS, action="append", help="only this adapter")
    chosen = parser.parse_args(arguments)
    world = World(chosen.memories, chosen.links)
    print(asyncio.run(run(chosen.likeness or ADAPTERS, world, chosen.tail)))


if __name__ == "__main__":
    main()
