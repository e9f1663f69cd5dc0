"""Checks that no acknowledged write is lost while engine and service are killed, connections cut, the disk filled.

    python -m benchmarks.durability --rounds 50

Modes: `engine`, `service` and `both` are `kill -9` at a random moment; `cut` is a proxy between service and engine
that cuts connections before a statement or before its answer; `disk` fills a small file system (it needs the right
to mount). Each round has its own graph and eight writers over REST, which send single commands, lists, atomic
batches, supersedes and links; with `--with-jobs` one job beside them, a conversation that is stored or a run of
upkeep, which the harm interrupts. At its end, every request without an answer is cleared up by its receipt or by
sending it again. Prints how much was acknowledged, lost, duplicated or half applied, and which indexes miss a
memory. The exit code is 1 when anything was wrong. `--rounds` is per mode; `--json` prints one line.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from benchmarks.cutting import Cut, Proxy, proxy
from benchmarks.judging import Flaws, judge
from benchmarks.killed_jobs import finish, job_of_round, keep_sending
from benchmarks.serving import Served, kill_engine
from benchmarks.writers import Account, Writer, settle
from schemas.memory import Level
from substrate.connection.pool import Connection
from substrate.engine.embedded import EmbeddedEngine
from substrate.engine.unix_socket import socket_path
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name

MODES: Final = ("engine", "service", "both", "cut", "disk")
WRITERS: Final = 8
KILLED_WITHIN_S: Final = (0.1, 1.0)
GOES_ON_S: Final = 0.3
DISK_BYTES: Final = 96 << 20
CUT_ONE_IN: Final = 25
FLAWS: Final = (*Flaws._fields, "faults")
type Figures = dict[str, Any]
type Harm = Callable[[], Awaitable[None]]


class Scene(NamedTuple):
    """A service, and the functions that harm it and end the harm."""

    served: Served
    harm: Harm
    mend: Harm


async def one_round(scene: Scene, number: int, dice: random.Random, *, with_job: bool) -> tuple[Account, Flaws]:
    """Write, harm at a random moment, write on, clear up unanswered requests, and judge the graph."""
    account = Account()
    citizen = f"round{number}"
    ended = asyncio.Event()
    async with scene.served.client() as http:
        writers = [Writer(citizen, place, account) for place in range(WRITERS)]
        writing = [asyncio.create_task(writer.write(http, ended)) for writer in writers]
        job = job_of_round(number, citizen) if with_job else None
        if job is not None:
            writing.append(asyncio.create_task(keep_sending(job, http, account, ended)))
        await asyncio.sleep(dice.uniform(*KILLED_WITHIN_S))
        await _something_to_lose(account)
        await scene.harm()
        await asyncio.sleep(GOES_ON_S)
        await scene.mend()
        await scene.served.start()
        await asyncio.sleep(GOES_ON_S)
        ended.set()
        await asyncio.gather(*writing)
        await settle(http, account, dice)
        if job is not None:
            await finish(job, http, account)
        # A question opens the graph, and waits until its indexes are operational.
        await http.post("/v1/retrieve", json={"citizen_id": citizen, "query_text": "anything"})
    connection = Connection(f"unix://{socket_path(scene.served.data)}", timeout_ms=1000)
    try:
        graph = Graph(connection, graph_name(Level.N1, citizen))
        flaws = await judge(graph, account, dice)
        if job is None:
            return account, flaws
        lost, doubled = await job.flaws(graph, await connection.now())
        return account, flaws._replace(lost=flaws.lost + lost, duplicated=flaws.duplicated + doubled)
    finally:
        await connection.close()


async def _something_to_lose(account: Account) -> None:
    """Return as soon as a write was acknowledged, so that a slow machine has something to lose too."""
    for _ in range(6000):
        if account.acknowledged:
            return
        await asyncio.sleep(0.01)


async def nothing() -> None:
    """Do nothing: used when the harm ends by itself."""


@asynccontextmanager
async def killing(mode: str, data: Path) -> AsyncIterator[Scene]:
    """Open a scene in which engine, service or both are killed."""
    served = Served(data)

    async def harm() -> None:
        if mode in ("service", "both"):
            served.kill()
        if mode in ("engine", "both"):
            await kill_engine(data)

    await served.start()
    try:
        yield Scene(served, harm, nothing)
    finally:
        await served.stop()


@asynccontextmanager
async def cutting(data: Path, dice: random.Random) -> AsyncIterator[Scene]:
    """Open a scene in which connections between service and engine are cut, at one statement in `CUT_ONE_IN`."""
    engine = EmbeddedEngine(data)
    await engine.start()
    async with proxy(engine.socket, data / "proxy.sock") as between:
        served = Served(data, f"unix://{data}/proxy.sock")
        await served.start()
        yield Scene(served, _cut_at_random(between, dice), _cut_no_more(between))
        await served.stop()
    await engine.stop()


def _cut_at_random(between: Proxy, dice: random.Random) -> Harm:
    def decide(piece: bytes) -> Cut | None:
        if b"GRAPH.QUERY" not in piece or dice.randrange(CUT_ONE_IN):
            return None
        return dice.choice(list(Cut))

    async def harm() -> None:
        between.decide = decide
        await asyncio.sleep(KILLED_WITHIN_S[1])

    return harm


def _cut_no_more(between: Proxy) -> Harm:
    async def mend() -> None:
        between.decide = lambda piece: None

    return mend


@asynccontextmanager
async def filling(data: Path, dice: random.Random) -> AsyncIterator[Scene]:
    """Open a scene in which the disk is filled, except for up to 256 KiB, and emptied again."""
    served = Served(data / "store")
    filler = data / "filler"

    def fill() -> None:
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        os.truncate(filler, max(0, filler.stat().st_size - dice.randrange(0, 1 << 18)))

    async def harm() -> None:
        await asyncio.to_thread(fill)

    async def mend() -> None:
        filler.unlink()

    await served.start()
    yield Scene(served, harm, mend)
    await served.stop()


@asynccontextmanager
async def small_disk(directory: Path) -> AsyncIterator[Path | None]:
    """Mount a small file system; yields None when mounting is not allowed."""
    words = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(directory)]
    try:
        await asyncio.to_thread(subprocess.run, words, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        yield None
        return
    try:
        yield directory
    finally:
        await asyncio.to_thread(subprocess.run, ["umount", "-l", str(directory)], check=True)


async def run(mode: str, rounds: int, *, seed: int = 7, with_jobs: bool = False) -> Figures:
    """Run the rounds of one mode on a new store, and return the figures; `with_jobs`: one job in each round."""
    dice = random.Random(f"{mode} {seed}")
    with tempfile.TemporaryDirectory(prefix="substrate-durability-") as directory:
        data = Path(directory)
        if mode == "cut":
            return await _rounds(cutting(data, dice), rounds, dice, with_jobs=with_jobs)
        if mode != "disk":
            return await _rounds(killing(mode, data), rounds, dice, with_jobs=with_jobs)
        async with small_disk(data) as disk:
            if disk is None:
                return {"skipped": "a file system of its own cannot be mounted here"}
            return await _rounds(filling(disk, dice), rounds, dice, with_jobs=with_jobs)


async def _rounds(scene: Any, rounds: int, dice: random.Random, *, with_jobs: bool) -> Figures:
    told: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    wrong: dict[str, list[str]] = {flaw: [] for flaw in FLAWS}
    async with scene as ready:
        for number in range(rounds):
            account, flaws = await one_round(ready, number, dice, with_job=with_jobs)
            told += account.told
            counts["acknowledged"] += len(account.acknowledged)
            counts["atomic"] += len(account.atomic)
            for name, items in (*flaws._asdict().items(), ("faults", account.faults)):
                wrong[name] += [f"round {number}: {item}" for item in items]
    return {
        "rounds": rounds,
        "acknowledged": counts["acknowledged"],
        "atomic_batches": counts["atomic"],
        **{flaw: len(found) for flaw, found in wrong.items()},
        "told": dict(sorted(told.items())),
        "examples": [one for found in wrong.values() for one in found[:3]],
    }


def flawed(figures: Figures) -> bool:
    """True when anything was wrong in a mode."""
    return any(figures.get(flaw) for flaw in FLAWS)


async def measure(modes: list[str], rounds: int, *, with_jobs: bool) -> dict[str, Figures]:
    """Run the rounds of each mode and return the figures."""
    return {mode: await run(mode, rounds, with_jobs=with_jobs) for mode in modes}


def main() -> int:
    """Print the figures; returns 0 when nothing was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--modes", nargs="+", choices=MODES, default=list(MODES))
    parser.add_argument("--with-jobs", action="store_true", help="one job a round: a conversation, or upkeep")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    figures = asyncio.run(measure(asked.modes, asked.rounds, with_jobs=asked.with_jobs))
    if asked.json:
        print(orjson.dumps(figures).decode())
    else:
        for mode, row in figures.items():
            print(mode)
            for name, value in row.items():
                print(f"  {name.replace('_', ' '):18} {value}")
    return 1 if any(map(flawed, figures.values())) else 0


if __name__ == "__main__":
    sys.exit(main())
