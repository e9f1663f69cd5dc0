"""Checks that nobody who follows the feed misses a change while service and engine are killed in turn.

    python -m benchmarks.feed [--changes 10000]

Eight writers send single commands, lists, atomic batches, supersedes and links over REST, until so many commands
are acknowledged. Three consumers follow the graph: by pages, by pages that wait, and by server-sent events; each
goes on with its cursor after a break. Every second `kill -9` takes the service or the engine. At the end each
request without an answer is cleared up, and each consumer reads on to the end.

`missed`: acknowledged commands that a consumer never saw. `unordered`: changes whose time is before that of the
change before. `again`: changes that it saw more than once; their cursor says so. `unknown`: changes that nobody
sent. The exit code is 1 when a consumer missed one, saw one out of order, or one that nobody sent.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx
import orjson

from benchmarks.serving import Served, kill_engine
from benchmarks.writers import Account, Writer, settle

CITIZEN: Final = "followed"
WRITERS: Final = 8
KILLED_EVERY_S: Final = 1.0
PAUSE_S: Final = 0.1
WAIT_S: Final = 5.0

type Change = dict[str, Any]
type Reading = Callable[[httpx.AsyncClient, str | None], AsyncIterator[tuple[str, list[Change]]]]
"""Gives cursors, each with the changes up to it, from a cursor on, until the connection breaks."""


class Seen(NamedTuple):
    """What one consumer saw. `counts`: how often each command; `order`: the cursors and times of all."""

    counts: Counter[str]
    order: list[tuple[str, str]]

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
            "unknown": len(self.counts.keys() - sent),
        }


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
    """Follow the graph until cancelled; after a break go on with the last cursor that was dealt with."""
    after: str | None = None
    while True:
        async with served.client() as http:
            with suppress(httpx.HTTPError):
                async for cursor, changes in reading(http, after):
                    for change in changes:
                        seen.counts[change["command_id"]] += 1
                        seen.order.append((change["cursor"], change["known_at"]))
                    after = cursor
        await asyncio.sleep(PAUSE_S)


async def kill_in_turn(served: Served, ended: asyncio.Event) -> int:
    """Kill service and engine in turn until told to end; how many times."""
    kills = 0
    while not ended.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), KILLED_EVERY_S)
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


async def measure(changes: int, seed: int = 1) -> dict[str, Any]:
    """One life of writers, kills and consumers: the figures."""
    dice, account = random.Random(seed), Account()
    seen = {name: Seen(Counter(), []) for name in CONSUMERS}
    with tempfile.TemporaryDirectory(prefix="substrate-feed-") as folder:
        served = Served(Path(folder))
        await served.start()
        ended, calm = asyncio.Event(), asyncio.Event()
        consumers = [asyncio.create_task(follow(CONSUMERS[name], served, seen[name])) for name in CONSUMERS]
        try:
            async with served.client() as http:
                writers = [Writer(CITIZEN, place, account) for place in range(WRITERS)]
                writing = [asyncio.create_task(writer.write(http, ended)) for writer in writers]
                killing = asyncio.create_task(kill_in_turn(served, calm))
                await until(lambda: len(account.acknowledged) >= changes, 3600.0)
                calm.set()
                kills = await killing
                ended.set()
                await asyncio.gather(*writing)
                await settle(http, account, dice)
                acknowledged = set(account.acknowledged)
                await until(lambda: all(acknowledged <= each.counts.keys() for each in seen.values()), 60.0)
        finally:
            for task in consumers:
                task.cancel()
            await asyncio.gather(*consumers, return_exceptions=True)
            await served.stop()
    sent = {*account.acknowledged, *account.absent}
    figures = {name: each.judge(set(account.acknowledged), sent) for name, each in seen.items()}
    return {"acknowledged": len(account.acknowledged), "kills": kills, "faults": account.faults[:5], **figures}


def is_wrong(figures: dict[str, Any]) -> bool:
    """Whether a consumer missed a change, saw one out of order, or one that nobody sent."""
    wrong = ("missed", "unordered", "unknown")
    return bool(figures["faults"]) or any(figures[name][each] for name in CONSUMERS for each in wrong)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=10_000)
    figures = asyncio.run(measure(parser.parse_args().changes))
    for name, value in figures.items():
        sys.stdout.write(f"{name}: {value}\n")
    raise SystemExit(int(is_wrong(figures)))


if __name__ == "__main__":
    main()
