"""What each kind of request costs as one citizen's memory grows: memories with five links each.

    python -m benchmarks.scale --stores DIRECTORY
    python -m benchmarks.scale --sizes 1000 50000 1000000 --stores DIRECTORY

(`benchmarks.growth` tells where evidence goes as a chat grows.) Each size has its own store in the directory; one
that is filled is asked again without being filled. The service is started anew on it, over HTTP, with the local
embedding model. Every request is new. Ratios are to 50,000 memories, or to the first size without these.

`log` beside a size is how much more its logarithm is; a kind whose processor time grows faster than the logarithm
from one size to the next is named with its exponent (time ~ memories^exponent). Where other work uses the machine,
read the processor time (of service and engine together) and not the time by the clock.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx
import orjson

from api.runtime.runtime import now, open_runtime
from benchmarks.latency import percentiles
from benchmarks.serving import Served, engine_pid
from benchmarks.soak import resident_kb, worked_s
from benchmarks.synthetic import World, build
from schemas.intention import QueryMode
from schemas.memory import Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.connection.errors import LOAD_PATIENCE_S, patient
from substrate.engine import append_log

SIZES: Final = (1_000, 50_000)
BASE: Final = 50_000
LINKS_EACH: Final = 5
ASKED: Final = 40
WARMING: Final = 5
"""So many requests of a kind are sent before those that are measured."""
EMBEDDING: Final = "local"
READERS: Final = 4
FILLED: Final = "filled.json"

type Send = Callable[[httpx.AsyncClient, str], Any]


class Cost(NamedTuple):
    """Milliseconds of one kind of request: by the clock, and of the processor (service and engine) in the mean."""

    p50: float
    p95: float
    cpu: float


@dataclass
class Measured:
    """One size: seconds of filling and of a start, megabytes, and the cost of each kind of request."""

    memories: int
    load_s: float
    start_s: float
    engine_mb: float = 0.0
    service_mb: float = 0.0
    costs: dict[str, Cost] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def world_of(memories: int) -> World:
    """The memories of one size."""
    return World(nodes=memories, links=LINKS_EACH * memories)


def _post(path: str, named: str, **fields: Any) -> Send:
    """A kind of request that puts its text into the field `named`."""

    def send(http: httpx.AsyncClient, text: str) -> Any:
        return http.post(path, json={"citizen_id": World.citizen, named: text, **fields})

    return send


def _situation(http: httpx.AsyncClient, text: str) -> Any:
    return http.post(f"/v1/citizens/{World.citizen}/situation", json={"stimuli": [{"text": text}]})


def _identity(http: httpx.AsyncClient, _text: str) -> Any:
    return http.get(f"/v1/citizens/{World.citizen}/identity")


def _write(http: httpx.AsyncClient, text: str) -> Any:
    # A store that is asked again has the texts of the run before.
    noted = f"Noted: {text} {time.time_ns()}"
    body = {"citizen_id": World.citizen, "name": noted, "description": noted}
    return http.post("/v1/memories", json=body)


def kinds() -> Mapping[str, Send]:
    """What is measured, by its name."""
    half_a_year_ago = (datetime.now(UTC) - timedelta(days=182)).isoformat()
    emotions = {"drive": 0.8, "joy": 0.3}
    return {
        "ask": _post("/v1/retrieve", "query_text"),
        **{
            f"wake, {mode.removeprefix('find_')}": _post(
                "/v1/wake", "current_goal", query_mode=mode, current_emotions=emotions
            )
            for mode in QueryMode
        },
        "resonate": _post("/v1/resonate", "query_text", emotion="drive", intensity=0.8),
        "associate": _post("/v1/associate", "query_text"),
        "identity": _identity,
        "point in time": _post("/v1/retrieve", "query_text", as_of_time=half_a_year_ago),
        "situation": _situation,
        "write": _write,
    }


async def fill(data: Path, memories: int) -> float:
    """Write the memories of a size, unless a run before this one did; the seconds that it took then."""
    mark = data / FILLED
    if mark.exists():
        return float(orjson.loads(mark.read_bytes())["load_s"])
    settings = Settings(
        store=StoreSettings(data=data, names="off"), embedding=EmbeddingSettings(embedding=EMBEDDING)
    )
    begun = time.perf_counter()
    async with open_runtime(settings) as runtime:
        with patient(LOAD_PATIENCE_S):
            await build(world_of(memories), runtime.deps, now(), (Level.N1,))
        load_s = time.perf_counter() - begun
        await append_log.rewrite(runtime.deps.connection)
    mark.write_bytes(orjson.dumps({"load_s": load_s}))
    return load_s


class Bench:
    """A running service on the store of one size, and what was measured so far."""

    def __init__(self, http: httpx.AsyncClient, processes: Sequence[int], measured: Measured) -> None:
        self._http = http
        self._processes = processes
        self._measured = measured
        texts = world_of(measured.memories).questions((ASKED + WARMING) * (len(kinds()) + 2 + READERS))
        self._texts = iter(texts)

    async def measure(self) -> None:
        """Send all kinds of requests, one after the other, then reads beside a writer."""
        for kind, send in kinds().items():
            for _ in range(WARMING):
                await self._timed(kind, send)
            before = self._worked_ms()
            times = [await self._timed(kind, send) for _ in range(ASKED)]
            self._note(kind, times, self._worked_ms() - before)
        await self._beside_a_writer()

    async def _beside_a_writer(self) -> None:
        ask = kinds()["ask"]
        written: list[float] = []
        read: list[float] = []

        async def reader() -> None:
            for _ in range(ASKED // READERS):
                read.append(await self._timed("read beside a writer", ask))

        before = self._worked_ms()
        readers = asyncio.gather(*(reader() for _ in range(READERS)))
        while not readers.done() and len(written) < ASKED:
            written.append(await self._timed("write beside readers", _write))
        await readers
        worked = self._worked_ms() - before
        self._note("read beside a writer", read, worked)
        self._note("write beside readers", written, worked)

    async def _timed(self, kind: str, send: Send) -> float:
        text = next(self._texts)
        begun = time.perf_counter()
        answer = await send(self._http, text)
        spent = (time.perf_counter() - begun) * 1000
        if answer.is_error:
            self._measured.faults.append(f"{kind}: {answer.status_code}")
        return spent

    def _note(self, kind: str, times: Sequence[float], worked_ms: float) -> None:
        figures = percentiles(times)
        self._measured.costs[kind] = Cost(figures["p50"], figures["p95"], worked_ms / len(times))

    def _worked_ms(self) -> float:
        return sum(map(worked_s, self._processes)) * 1000


async def measure(data: Path, memories: int) -> Measured:
    """Fill the store of a size where it is not yet filled, start the service on it, and measure."""
    load_s = await fill(data, memories)
    service = Served(data, embedding=EMBEDDING)
    begun = time.perf_counter()
    await service.start()
    measured = Measured(memories, load_s, time.perf_counter() - begun)
    try:
        engine = await engine_pid(data)
        assert engine is not None
        async with service.client() as http:
            http.timeout = httpx.Timeout(120)
            await Bench(http, (engine, service.pid), measured).measure()
        measured.engine_mb, measured.service_mb = resident_kb(engine) / 1024, resident_kb(service.pid) / 1024
        return measured
    finally:
        await service.stop()


def show(measured: Sequence[Measured]) -> str:
    """The tables of all sizes, what grows faster than the logarithm, and what was answered with an error."""
    base = next((each for each in measured if each.memories == BASE), measured[0])
    lines = [
        "| | " + " | ".join(f"{each.memories:,} (log {_log_ratio(each, base):.2f})" for each in measured) + " |",
        "|---|" + "---|" * len(measured),
    ]
    for name, unit in (("load_s", "s"), ("start_s", "s"), ("engine_mb", "MB"), ("service_mb", "MB")):
        lines.append(_row(name, [getattr(each, name) for each in measured], getattr(base, name), unit))
    lines += ["", "p50 / p95 by the clock; processor time, and its ratio:", ""]
    lines += lines[:2]
    for kind, cost in base.costs.items():
        cells = [
            f"{own.p50:.0f} / {own.p95:.0f}; {own.cpu:.0f} ms, {own.cpu / max(cost.cpu, 1):.2f}"
            for own in (each.costs[kind] for each in measured)
        ]
        lines.append(f"| {kind} | " + " | ".join(cells) + " |")
    lines.append("")
    for smaller, larger in pairwise(measured):
        lines += [
            f"{kind}: exponent {exponent:.2f} from {smaller.memories:,} to {larger.memories:,}"
            for kind, exponent in faster(smaller, larger)
        ]
    for each in measured:
        lines += [f"{each.memories:,} memories: {fault}" for fault in sorted(set(each.faults))]
    return "\n".join(lines)


def _row(name: str, values: Sequence[float], base: float, unit: str) -> str:
    what = name.rpartition("_")[0]
    return f"| {what} | " + " | ".join(f"{value:.1f} {unit}, {value / base:.2f}" for value in values) + " |"


def _log_ratio(one: Measured, base: Measured) -> float:
    return math.log(one.memories) / math.log(base.memories)


def faster(smaller: Measured, larger: Measured) -> list[tuple[str, float]]:
    """The kinds whose processor time grows more than the logarithm of the size, with the exponent of growth."""
    found = []
    for kind, cost in smaller.costs.items():
        ratio = larger.costs[kind].cpu / max(cost.cpu, 1)
        if ratio > _log_ratio(larger, smaller):
            found.append((kind, math.log(ratio) / math.log(larger.memories / smaller.memories)))
    return found


async def run(sizes: Sequence[int], stores: Path) -> str:
    """Measure each size, the smallest first."""
    measured: list[Measured] = []
    for memories in sorted(sizes):
        measured.append(await measure(stores / str(memories), memories))
        print(show(measured), file=sys.stderr)
    return show(measured)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--stores", type=Path, help="a directory that keeps the filled stores")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="substrate-scale-", ignore_cleanup_errors=True) as temporary:
        print(asyncio.run(run(chosen.sizes, chosen.stores or Path(temporary))))


if __name__ == "__main__":
    main()
