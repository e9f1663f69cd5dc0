"""What upkeep costs those who ask meanwhile, and what happens when its process is killed.

    python -m benchmarks.upkeep --memories 50000 --seconds 60

Eight clients ask one citizen while every job that runs by default works on another with so many memories. Phases
with and without upkeep take turns; the ratio is that of their p95. Then two services run; the one at work gets
`kill -9`, and the other must take over within the time of the lease. The exit code is 1 when the ratio is above
1.3, when nobody takes over in time, or when anything was done twice. `--json` prints one line.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import httpx
import orjson

from api.runtime.runtime import Runtime, now, open_runtime
from benchmarks.latency import percentiles
from benchmarks.serving import Served, engine_pid
from benchmarks.synthetic import World, build_links, build_memories
from schemas.memory import Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.connection.parameters import parameters
from substrate.cypher.query import Query
from substrate.graphs.names import graph_name
from substrate.store.lease import LEASE_S

ASKED, KEPT = "asked", "kept"
CLIENTS: Final = 8
ASKED_MEMORIES: Final = 2000
MOST_RATIO: Final = 1.3
SLACK_S: Final = 10.0
"""A service looks for work every five seconds, and may be busy then."""
POLL_S: Final = 0.2
WITHOUT_A_PLACE: Final = "mirror"
"""No directory of mirrors is set here, so this job has nothing to do."""
_TWICE: Final = Query(
    "twice",
    "MATCH (c:UpkeepChange) WHERE c.command <> 'undo' "
    "WITH c.command_id AS command, count(c) AS times WHERE times > 1 RETURN count(command)",
)
type Figures = dict[str, Any]


def settings(data: Path) -> Settings:
    """The settings of the services: a very cheap embedder."""
    return Settings(
        store=StoreSettings(data=data, url=None),
        embedding=EmbeddingSettings(embedding="benchmarks.serving:Hashing"),
    )


async def fill(runtime: Runtime, citizen: str, memories: int) -> None:
    """Write the memories of a citizen, with two links each."""
    moment = now()
    world = World(memories, 2 * memories, citizen=citizen)
    await runtime.deps.graphs.for_writing(graph_name(Level.N1, citizen), moment)
    await build_memories(world, (Level.N1, 0), runtime.deps, moment)
    await build_links(world, (Level.N1, 0), runtime.deps, moment)


async def ask(http: httpx.AsyncClient, questions: Sequence[str], until: float) -> list[float]:
    """The milliseconds of each question of one client, asked one after another."""
    taken: list[float] = []
    while time.monotonic() < until:
        text = questions[len(taken) % len(questions)]
        begun = time.perf_counter()
        body = {"citizen_id": ASKED, "query_text": text, "query_levels": ["N1"]}
        (await http.post("/v1/retrieve", json=body)).raise_for_status()
        taken.append((time.perf_counter() - begun) * 1000)
    return taken


async def keep_running(http: httpx.AsyncClient, until: float) -> int:
    """Run all jobs on the kept citizen again and again; returns how many memories they looked at."""
    seen = 0
    while time.monotonic() < until:
        answer = await http.post("/v1/upkeep/run", json={"citizen_id": KEPT}, timeout=60)
        answer.raise_for_status()
        seen += sum(run["seen"] for run in answer.json()["runs"] if run["status"] == "done")
    return seen


def cpu_seconds(pids: Sequence[int]) -> float:
    """The CPU time of these processes until now."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


async def phase(served: Served, data: Path, seconds: float, *, upkeep: bool) -> Figures:
    """Eight clients ask for so long, with or without upkeep."""
    engine = await engine_pid(data)
    pids = [served.pid, *([] if engine is None else [engine])]
    questions = World(ASKED_MEMORIES, 0).questions(200)
    async with served.client() as http:
        begun, spent = time.monotonic(), cpu_seconds(pids)
        until = begun + seconds
        work = asyncio.create_task(keep_running(http, until)) if upkeep else None
        parts = await asyncio.gather(*(ask(http, questions[place:], until) for place in range(CLIENTS)))
        wall, cpu = time.monotonic() - begun, cpu_seconds(pids) - spent
        seen = 0 if work is None else await work
    taken = [each for part in parts for each in part]
    return {"taken": taken, "cpu": cpu / wall, "seen": seen}


async def under_load(data: Path, seconds: float, rounds: int) -> Figures:
    """The times of questions without and with upkeep, phase by phase in one service."""
    served = Served(data, upkeep={"upkeep": "off"})
    await served.start()
    try:
        await phase(served, data, min(seconds, 5.0), upkeep=False)  # warms both processes up
        phases = [
            (upkeep, await phase(served, data, seconds / 2, upkeep=upkeep))
            for _ in range(rounds)
            for upkeep in (False, True)
        ]
    finally:
        await served.stop()
    figures: Figures = {}
    for name, wanted in (("without", False), ("with", True)):
        chosen = [each for upkeep, each in phases if upkeep is wanted]
        taken = [value for each in chosen for value in each["taken"]]
        cpu = sum(each["cpu"] for each in chosen) / len(chosen)
        figures[name] = {**percentiles(taken), "questions": len(taken), "cores": round(cpu, 2)}
    figures["p95_ratio"] = round(figures["with"]["p95"] / figures["without"]["p95"], 3)
    figures["memories_seen"] = sum(each["seen"] for _, each in phases)
    return figures


async def _holder(http: httpx.AsyncClient) -> str:
    answer = await http.get("/v1/upkeep/runs", params={"limit": 1})
    answer.raise_for_status()
    return str(answer.json()["holder"])


async def _until_held(services: Sequence[Served], limit_s: float) -> Served | None:
    """The service that holds the lease, as soon as one of them does."""
    give_up = time.monotonic() + limit_s
    async with services[0].client() as http:
        while time.monotonic() < give_up:
            says = await _holder(http)
            for served in services:
                if f"process {served.pid} " in says:
                    return served
            await asyncio.sleep(POLL_S)
    return None


async def killed(data: Path, limit_s: float) -> Figures:
    """Kill the service at work, and see how soon the other one goes on, and whether anything was done twice."""
    upkeep = {"upkeep": "idle", "upkeep_idle_seconds": 1.0}
    services = [Served(data, upkeep=upkeep), Served(data, upkeep=upkeep)]
    for served in services:
        await served.start()
    try:
        at_work = await _until_held(services, limit_s)
        if at_work is None:
            return {"taken_over_s": None, "error": "no service began its upkeep"}
        [other] = [served for served in services if served is not at_work]
        begun = time.monotonic()
        at_work.kill()
        taken_over = await _until_held([other], LEASE_S + SLACK_S)
        seconds = None if taken_over is None else round(time.monotonic() - begun, 1)
        return {"taken_over_s": seconds, "lease_s": LEASE_S, **await _finished(other, limit_s)}
    finally:
        for served in services:
            with suppress(OSError):
                await served.stop()


async def _finished(served: Served, limit_s: float) -> Figures:
    """Wait until each job has ended, and name the runs."""
    give_up = time.monotonic() + limit_s
    async with served.client() as http:
        while True:
            answer = (await http.get("/v1/upkeep/runs", params={"citizen_id": KEPT})).json()
            runs = answer["runs"]
            ended = {run["job"] for run in runs if run["status"] in ("done", "failed")}
            due = {job["name"] for job in answer["jobs"] if job["runs"] and "N1" in job["levels"]}
            going_on = due - ended - {WITHOUT_A_PLACE}
            if not going_on or time.monotonic() > give_up:
                break
            await asyncio.sleep(POLL_S)
    counts = {(run["job"], run["status"]) for run in runs}
    return {
        "unfinished": len(going_on),
        "failed": sum(run["status"] == "failed" for run in runs),
        "runs": sorted(f"{job} {status}" for job, status in counts),
    }


async def measure(memories: int, seconds: float, rounds: int) -> Figures:
    """Fill a store, and measure on it."""
    with tempfile.TemporaryDirectory(prefix="upkeep-") as folder:
        data = Path(folder)
        async with open_runtime(settings(data)) as runtime:
            await fill(runtime, ASKED, ASKED_MEMORIES)
            await fill(runtime, KEPT, memories)
        figures: Figures = {"memories": memories, "clients": CLIENTS}
        # The kill comes first: then every job is due.
        figures["kill"] = await killed(data, max(60.0, memories / 50))
        figures["load"] = await under_load(data, seconds, rounds)
        async with open_runtime(settings(data)) as runtime:
            rows = await runtime.deps.connection.read(graph_name(Level.N1, KEPT), _TWICE, parameters({}))
            figures["done_twice"] = int(rows[0][0])
    return figures


def is_well(figures: Figures) -> bool:
    """True when the figures keep what is promised."""
    kill, load = figures["kill"], figures["load"]
    in_time = kill["taken_over_s"] is not None and kill["taken_over_s"] <= LEASE_S + SLACK_S
    return in_time and not kill["unfinished"] and load["p95_ratio"] <= MOST_RATIO and not figures["done_twice"]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=50_000)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each pair of phases")
    parser.add_argument("--rounds", type=int, default=2, help="how many pairs of phases")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    figures = asyncio.run(measure(given.memories, given.seconds, given.rounds))
    if given.json:
        print(orjson.dumps(figures).decode())
    else:
        for name, value in figures.items():
            print(f"{name}: {value}")
    return 0 if is_well(figures) else 1


if __name__ == "__main__":
    sys.exit(main())
