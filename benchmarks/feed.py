"""Checks that nobody who follows the feed misses a change while service and engine are killed in turn.

    python -m benchmarks.feed [--changes 10000] [--every 1]

Eight writers send single commands, lists, atomic batches, supersedes and links over REST, until so many commands
are acknowledged. Three consumers follow the graph: by pages, by pages that wait, and by server-sent events; each
goes on after a break with the cursor before its last, as one that died. Each second `kill -9` takes service or
the engine. Halfway a backup is made, more is written, and the backup is restored: a consumer is told and begins
anew. Each request without an answer is cleared up, and each consumer reads on to the end, before the restore and
after it.

`missed`: acknowledged commands that a consumer never saw. `unordered`: changes whose time is before that of the
change before. `again`: changes that it saw more than once; their cursor says so, and `unmarked` counts those where
it does not. `unknown`: changes that nobody sent, or that the restore took back. The exit code is 1 when a consumer
missed a change or the restore, saw one out of order, unmarked, or one that nobody sent.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from asyncio.subprocess import PIPE, STDOUT
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import httpx
import orjson

from benchmarks.serving import Served, kill_engine
from benchmarks.writers import Account, Writer, settle

CITIZEN: Final = "followed"
WRITERS: Final = 8
LOST: Final = 200
"""So many commands are written between the backup and the restore, which takes them back."""
PAUSE_S: Final = 0.1
WAIT_S: Final = 5.0

type Change = dict[str, Any]
type Reading = Callable[[httpx.AsyncClient, str | None], AsyncIterator[tuple[str, list[Change]]]]
"""Gives cursors, each with the changes up to it, from a cursor on, until the connection breaks."""


@dataclass
class Seen:
    """What one consumer saw of the graph since it was last restored.

    `counts`: how often each command; `order`: the cursors and times of all; `noticed`: how often it was told that
    the graph has another past, and began anew.
    """

    counts: Counter[str] = field(default_factory=Counter)
    order: list[tuple[str, str]] = field(default_factory=list)
    noticed: int = 0

    def judge(self, acknowledged: set[str], sent: set[str]) -> dict[str, int]:
        """The figures of a consumer."""
        first: dict[str, str] = {}
        for cursor, known_at in self.order:
            first.setdefault(cursor, known_at)
        times = list(first.values())
        return {
            "seen": len(self.counts),
            "missed": len(acknowledged - self.counts.keys()),
            "unordered": sum(after < before for before, after in pairwise(times)),
            "again": len(self.order) - len(first),
            "unmarked": sum(self.counts.values()) - len(self.counts) - (len(self.order) - len(first)),
            "unknown": len(self.counts.keys() - sent),
        }

    def begin_anew(self) -> None:
        """Forget what was seen: the graph was restored."""
        self.counts, self.order, self.noticed = Counter(), [], self.noticed + 1


async def read_pages(
    http: httpx.AsyncClient, after: str | None, wait: float = 0.0
) -> AsyncIterator[tuple[str, list[Change]]]:
    """Page by page; with `wait` a page waits for something new."""
    while True:
        asked: dict[str, str | float] = {"citizen_id": CITIZEN, "wait": wait}
        if after is not None:
            asked["after"] = after
        page = (await http.get("/v1/changes", params=asked)).raise_for_status().json()
        after = page["next"]
        yield page["next"], page["changes"]
        if not page["changes"]:
            await asyncio.sleep(0.0 if wait else PAUSE_S)


async def read_waiting(http: httpx.AsyncClient, after: str | None) -> AsyncIterator[tuple[str, list[Change]]]:
    """Pages that wait."""
    async for found in read_pages(http, after, WAIT_S):
        yield found


async def read_events(http: httpx.AsyncClient, after: str | None) -> AsyncIterator[tuple[str, list[Change]]]:
    """Server-sent events."""
    headers = {} if after is None else {"Last-Event-ID": after}
    asked = {"citizen_id": CITIZEN}
    async with http.stream("GET", "/v1/changes/stream", params=asked, headers=headers) as answer:
        answer.raise_for_status()
        cursor, changes = "", list[Change]()
        async for line in answer.aiter_lines():
            name, _, value = line.partition(": ")
            if name == "id":
                cursor = value
            elif name == "data" and value != "{}":
                changes.append(orjson.loads(value))
            elif not line and cursor:
                yield cursor, changes
                changes = []


CONSUMERS: Final[dict[str, Reading]] = {"pages": read_pages, "waiting": read_waiting, "events": read_events}


async def follow(reading: Reading, served: Served, seen: Seen) -> None:
    """Follow the graph until cancelled. After a break go on as one who died before the last cursor was kept."""
    before: str | None = None
    while True:
        after = before
        async with served.client() as http:
            try:
                async for cursor, changes in reading(http, after):
                    for change in changes:
                        seen.counts[change["command_id"]] += 1
                        seen.order.append((change["cursor"], change["known_at"]))
                    before, after = after, cursor
            except httpx.HTTPStatusError as refused:
                if refused.response.status_code == httpx.codes.CONFLICT and after is not None:
                    before = None
                    seen.begin_anew()
            except httpx.HTTPError:
                pass  # a killed service: come again
        await asyncio.sleep(PAUSE_S)


async def kill_in_turn(served: Served, ended: asyncio.Event, every: float) -> int:
    """Kill service and engine in turn, so many seconds after each start, until told to end; how many times."""
    kills = 0
    while not ended.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), every)
            break
        if kills % 2:
            await kill_engine(served.data)
        else:
            served.kill()
        kills += 1
        await served.start()
    return kills


async def until(condition: Callable[[], bool], seconds: float) -> None:
    """Return when the condition holds, or after so many seconds."""
    for _ in range(int(seconds / PAUSE_S)):
        if condition():
            return
        await asyncio.sleep(PAUSE_S)


async def write_until(served: Served, changes: int, first: int, every: float | None) -> tuple[Account, int]:
    """Eight new writers, numbered from `first`, until so many commands are acknowledged.

    `every`: seconds between two kills; None: nothing is killed.

    Gives what became of all commands, and how often something was killed.
    """
    account, ended, calm = Account(), asyncio.Event(), asyncio.Event()
    async with served.client() as http:
        writers = [Writer(CITIZEN, first + place, account) for place in range(WRITERS)]
        writing = [asyncio.create_task(writer.write(http, ended)) for writer in writers]
        killing = asyncio.create_task(kill_in_turn(served, calm, every)) if every else None
        await until(lambda: len(account.acknowledged) >= changes, 3600.0)
        calm.set()
        kills = 0 if killing is None else await killing
        ended.set()
        await asyncio.gather(*writing)
        await settle(http, account, random.Random(first))
    return account, kills


async def run_command(served: Served, *words: str) -> None:
    """Run the command line on the store of the service. Raises RuntimeError when it fails."""
    embedding = "SUBSTRATE_EMBEDDING=benchmarks.serving:Hashing"
    command = ["env", embedding, sys.executable, "-m", "api.cli", "--data", str(served.data), *words]
    running = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=STDOUT)
    said, _ = await running.communicate()
    if running.returncode:
        raise RuntimeError(f"{words}: {said.decode()}")


async def measure(changes: int, every: float) -> dict[str, Any]:
    """One life of writers, kills, consumers and a restore: the figures before and after the restore."""
    seen = {name: Seen() for name in CONSUMERS}

    async def judge(name: str, parts: Sequence[Account]) -> dict[str, Any]:
        acknowledged = {command for part in parts for command in part.acknowledged}
        sent = acknowledged.union(*(part.absent for part in parts))
        await until(lambda: all(acknowledged <= each.counts.keys() for each in seen.values()), 60.0)
        await asyncio.sleep(2 * PAUSE_S)  # what nobody sent may still come
        return {f"{name}, {each}": of.judge(acknowledged, sent) for each, of in seen.items()}

    with tempfile.TemporaryDirectory(prefix="substrate-feed-") as folder:
        served = Served(Path(folder) / "data")
        await served.start()
        consumers = [asyncio.create_task(follow(CONSUMERS[name], served, seen[name])) for name in CONSUMERS]
        try:
            former, kills = await write_until(served, changes // 2, 0, every)
            await run_command(served, "backup", f"{folder}/backup")
            lost, _ = await write_until(served, LOST, WRITERS, None)
            before = await judge("before the restore", [former, lost])
            served.kill()  # it would wait for the streams to end
            await kill_engine(served.data)
            await run_command(served, "recover", "--from", f"{folder}/backup")
            await served.start()
            later, more_kills = await write_until(served, changes - changes // 2, 2 * WRITERS, every)
            after = await judge("after it", [former, later])
        finally:
            for task in consumers:
                task.cancel()
            await asyncio.gather(*consumers, return_exceptions=True)
            await served.stop()
    return {
        "acknowledged": sum(len(each.acknowledged) for each in (former, lost, later)),
        "kills": kills + more_kills,
        "faults": [*former.faults, *lost.faults, *later.faults][:5],
        "restores noticed": {name: each.noticed for name, each in seen.items()},
        **before,
        **after,
    }


def is_wrong(figures: dict[str, Any]) -> bool:
    """Whether a consumer missed a change or the restore, saw one out of order, or one that nobody sent."""
    wrong = ("missed", "unordered", "unmarked", "unknown")
    judged = [found for name, found in figures.items() if ", " in name]
    noticed = set(figures["restores noticed"].values()) == {1}
    return bool(figures["faults"]) or not noticed or any(found[each] for found in judged for each in wrong)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=10_000)
    parser.add_argument("--every", type=float, default=1.0, help="seconds between two kills")
    asked = parser.parse_args()
    figures = asyncio.run(measure(asked.changes, asked.every))
    for name, value in figures.items():
        sys.stdout.write(f"{name}: {value}\n")
    raise SystemExit(int(is_wrong(figures)))


if __name__ == "__main__":
    main()
