"""Checks that nothing acknowledged is lost or doubled on several servers, whatever happens to one of them.

    python -m benchmarks.cluster --rounds 3

A Redis Cluster of three primaries with a replica each, and a primary with two replicas under three Sentinels, from
the bundled binaries on loopback; a service over REST with eight writers (single commands, lists, atomic batches,
supersedes, links) and eight askers. Kinds of harm: `primary killed`, `primary stopped` (SIGSTOP, for 20 seconds),
`replica killed`, `slot moved` (to another primary, under load; in a cluster only), `failover` (asked of the
Sentinels, or of the replica), `network cut` (the primary, and one Sentinel, from all others; then whole again),
`servers parted` (the same, and the service reaches both sides). At the end of each round every request without an
answer is cleared up by its receipt or by sending it again. Prints how much was acknowledged, lost, duplicated or
half applied, how many requests had no answer, and the longest time without an acknowledged write and without an
answered question. The exit code is 1 when anything was wrong. `--json` prints one line.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx
import orjson
from redis.asyncio import Redis
from redis.crc import key_slot

from benchmarks.judging import Flaws, judge
from benchmarks.machines import MASTER, Machines, Server, cluster, sentinels
from benchmarks.serving import Served
from benchmarks.writers import Account, Writer, settle
from schemas.memory import Level
from substrate.connection.pool import Connection
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name

WRITERS: Final = 8
ASKERS: Final = 8
TIMEOUT_MS: Final = 2_500
"""After so long a server that does not answer is taken for dead."""
CALM_S: Final = 1.5
STOPPED_S: Final = 20.0
CUT_S: Final = 5.0
"""After a failover the network stays cut for so long."""
MOST_S: Final = 60.0
KINDS: Final[Mapping[str, Any]] = {"cluster": cluster, "sentinels": sentinels}
type Figures = dict[str, Any]


class Harm(NamedTuple):
    """What is done to the machines of a round, and what ends it; both are given the graph that is written to."""

    begin: Callable[[Machines, str], Awaitable[Server]]
    end: Callable[[Machines, Server], Awaitable[None]]


async def _nothing(machines: Machines, server: Server) -> None:
    """The harm ended by itself."""


async def _start(machines: Machines, server: Server) -> None:
    server.start()


async def _kill_primary(machines: Machines, graph: str) -> Server:
    primary = await machines.owner(graph)
    primary.send(signal.SIGKILL)
    await machines.until_moved(graph, primary)
    return primary


async def _stop_primary(machines: Machines, graph: str) -> Server:
    primary = await machines.owner(graph)
    primary.send(signal.SIGSTOP)
    await asyncio.sleep(STOPPED_S)
    return primary


async def _go_on(machines: Machines, server: Server) -> None:
    server.send(signal.SIGCONT)


async def _kill_replica(machines: Machines, graph: str) -> Server:
    [replica, *_] = await machines.replicas_of(await machines.owner(graph))
    replica.send(signal.SIGKILL)
    await asyncio.sleep(2 * CALM_S)
    return replica


async def fail_over(machines: Machines, graph: str) -> Server:
    """Have a replica take over from the primary of a graph, in order; returns the former primary."""
    primary = await machines.owner(graph)
    if machines.sentinels:
        await machines.sentinels[0].ask("SENTINEL", "FAILOVER", MASTER)
    else:
        [replica, *_] = await machines.replicas_of(primary)
        await replica.ask("CLUSTER", "FAILOVER")
    await machines.until_moved(graph, primary)
    return primary


async def _move_slot(machines: Machines, graph: str) -> Server:
    source, slot = await machines.owner(graph), key_slot(graph.encode())
    target = next(server for server in await machines.primaries() if server is not source)
    names = {server: await server.ask("CLUSTER", "MYID") for server in (source, target)}
    await target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", names[source])
    await source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", names[target])
    while keys := await source.ask("CLUSTER", "GETKEYSINSLOT", slot, 100):
        for key in keys:
            await source.ask("MIGRATE", "127.0.0.1", target.port, key, 0, 10_000)
    for server in (target, source, *(each for each in await machines.primaries() if each not in (source, target))):
        await server.ask("CLUSTER", "SETSLOT", slot, "NODE", names[target])
    return source


async def cut_network(machines: Machines, graph: str, *, services_reach_all: bool = False) -> Server:
    """Part the primary of a graph from the others until another one has taken over, and some seconds more."""
    primary = await machines.cut_off(graph, services_reach_all=services_reach_all)
    await machines.until_moved(graph, primary)
    await asyncio.sleep(CUT_S)
    return primary


async def mend_network(machines: Machines, server: Server) -> None:
    """Make the network whole, and wait until the former primary follows the new one."""
    machines.network.mend()

    async def follows(client: Redis) -> bool:
        told = await client.execute_command("ROLE")
        return bool(told[0] == "slave" and told[3] == "connected")

    await server.wait(follows)


HARMS: Final[Mapping[str, Harm]] = {
    "primary killed": Harm(_kill_primary, _start),
    "primary stopped": Harm(_stop_primary, _go_on),
    "replica killed": Harm(_kill_replica, _start),
    "failover": Harm(fail_over, _nothing),
    "slot moved": Harm(_move_slot, _nothing),
    "network cut": Harm(cut_network, mend_network),
    "servers parted": Harm(partial(cut_network, services_reach_all=True), mend_network),
}
OF_THE_NETWORK: Final = ("network cut", "servers parted")


class Gaps:
    """The longest time between two answers."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self.longest = 0.0

    def note(self) -> None:
        """An answer came."""
        now = time.monotonic()
        self.longest, self._last = max(self.longest, now - self._last), now


async def _keep_asking(
    http: httpx.AsyncClient, citizen: str, gaps: Gaps, told: Counter[str], ended: asyncio.Event
) -> None:
    while not ended.is_set():
        body = {"citizen_id": citizen, "query_text": f"what is {random.random()}?", "query_levels": ["N1"]}
        try:
            status = (await http.post("/v1/retrieve", json=body)).status_code
        except httpx.TransportError:
            status = 0
        told[f"question {status}"] += 1
        if status == 200:
            gaps.note()
        await asyncio.sleep(0.05 if status == 200 else 0.2)


async def _watch(account: Account, gaps: Gaps, ended: asyncio.Event) -> None:
    acknowledged = 0
    while not ended.is_set():
        if len(account.acknowledged) > acknowledged:
            acknowledged = len(account.acknowledged)
            gaps.note()
        await asyncio.sleep(0.01)


async def _until_more(account: Account) -> None:
    """Return when something more was acknowledged. Raises TimeoutError after a minute."""
    before, give_up = len(account.acknowledged), time.monotonic() + MOST_S
    while len(account.acknowledged) <= before:
        if time.monotonic() > give_up:
            raise TimeoutError("nothing is acknowledged any more")
        await asyncio.sleep(0.05)


async def one_round(
    machines: Machines, served: Served, citizen: str, harm: Harm
) -> tuple[Account, Flaws, Figures]:
    """Write and ask, harm, mend, go on, clear up unanswered requests, and judge the graph."""
    account, dice = Account(), random.Random(citizen)
    told: Counter[str] = Counter()
    written, asked, ended = Gaps(), Gaps(), asyncio.Event()
    graph = graph_name(Level.N1, citizen)
    async with served.client() as http:
        working = [asyncio.create_task(Writer(citizen, n, account).write(http, ended)) for n in range(WRITERS)]
        await _until_more(account)
        written, asked = Gaps(), Gaps()
        working += [asyncio.create_task(_keep_asking(http, citizen, asked, told, ended)) for _ in range(ASKERS)]
        working.append(asyncio.create_task(_watch(account, written, ended)))
        await asyncio.sleep(CALM_S)
        harmed = await harm.begin(machines, graph)
        await harm.end(machines, harmed)
        await _until_more(account)
        await asyncio.sleep(CALM_S)
        ended.set()
        await asyncio.gather(*working)
        unsure = len(account.unsure)
        await settle(http, account, dice)
    connection = Connection(machines.url, timeout_ms=1000)
    try:
        flaws = await judge(Graph(connection, graph), account, dice)
    finally:
        await connection.close()
    times = {"seconds_without_writes": written.longest, "seconds_without_answers": asked.longest}
    return account, flaws, {"unanswered": unsure, **times, "told": account.told + told}


async def run(kinds: Mapping[str, Any], harms: Sequence[str], rounds: int) -> dict[str, Figures]:
    """Run the rounds of each harm on each kind of machines."""
    figures: dict[str, Figures] = {}
    for kind, opened in kinds.items():
        for doors in (False, True):
            those = [harm for harm in harms if (harm in OF_THE_NETWORK) == doors]
            if not those:
                continue
            async with opened(timeout_ms=TIMEOUT_MS, doors=doors) as machines:
                figures |= await _on_machines(kind, machines, those, rounds)
    return figures


async def _on_machines(kind: str, machines: Machines, harms: Sequence[str], rounds: int) -> dict[str, Figures]:
    figures: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory() as directory:
        served = Served(Path(directory), machines.url)
        await served.start()
        for harm in harms:
            if harm == "slot moved" and machines.sentinels:
                continue
            row = figures[f"{kind}, {harm}"] = await _rounds(machines, served, harm, rounds)
            print(f"{kind}, {harm}: {row}", file=sys.stderr)
        await served.stop()
    return figures


async def _rounds(machines: Machines, served: Served, harm: str, rounds: int) -> Figures:
    sums: Counter[str] = Counter()
    longest = {"seconds_without_writes": 0.0, "seconds_without_answers": 0.0}
    told: Counter[str] = Counter()
    examples: list[str] = []
    for number in range(rounds):
        citizen = f"{harm.replace(' ', '_')}_{number}"
        account, flaws, said = await one_round(machines, served, citizen, HARMS[harm])
        sums["acknowledged"] += len(account.acknowledged)
        sums["unanswered"] += said["unanswered"]
        for name, found in (*flaws._asdict().items(), ("faults", account.faults)):
            sums[name] += len(found)
            examples += [f"{citizen} {name}: {one}" for one in found[:3]]
        for name in longest:
            longest[name] = round(max(longest[name], said[name]), 1)
        told += said["told"]
    return {**dict(sums), **longest, "told": dict(sorted(told.items())), "examples": examples}


def main() -> int:
    """Print the figures; returns 0 when nothing was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--harms", nargs="+", choices=HARMS, default=list(HARMS))
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    figures = asyncio.run(run({kind: KINDS[kind] for kind in asked.kinds}, asked.harms, asked.rounds))
    if asked.json:
        print(orjson.dumps(figures).decode())
    else:
        for name, row in figures.items():
            print(name)
            for key, value in row.items():
                print(f"  {key.replace('_', ' '):26} {value}")
    flaws = (*Flaws._fields, "faults")
    return 1 if any(row.get(flaw) for row in figures.values() for flaw in flaws) else 0


if __name__ == "__main__":
    sys.exit(main())
