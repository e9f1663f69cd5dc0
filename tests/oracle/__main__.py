"""The long comparison: python -m tests.oracle --questions 20000 --seed 1

Random histories are told to the real engine and to the oracle, and random questions are asked of both; one in
twenty of two services whose clocks differ, over HTTP. With `--services 2` the others go to two services as well,
now to the one and now to the other: what either keeps of a graph, the other has changed. With `--machines` the
store is a Redis Cluster or a primary under Sentinels, where another server takes over every five seconds. Prints
how many commands and questions there were, and every difference. Ends with 1 when there is one.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import cast

from redis.exceptions import RedisError

from api.runtime.runtime import Runtime, open_runtime
from benchmarks.cluster import fail_over
from benchmarks.machines import Machines, cluster, sentinels
from orchestration.dependencies import Deps
from schemas.settings import Settings, StoreSettings
from tests.integration.test_kept_reads import another_service
from tests.oracle import services
from tests.oracle.conftest import with_tiny
from tests.oracle.life import Life
from tests.oracle.outlines import Tally

COMMANDS, ASKED = 120, 200
"""Of one life."""
OF_TWO_SERVICES = 20
"""One question in so many."""
type Opening = Callable[[], AbstractAsyncContextManager[Machines]]
MACHINES: dict[str, Opening] = {"cluster": cluster, "sentinels": sentinels}
FAILOVER_EVERY_S = 5.0


class Alternating:
    """Services on one store that are used by chance: in place of an open store."""

    def __init__(self, runtime: Runtime, services: int, chance: Random) -> None:
        self.settings, self.moment, self._chance = runtime.settings, runtime.moment, chance
        self.services = [runtime.deps, *(another_service(runtime.deps) for _ in range(1, services))]

    @property
    def deps(self) -> Deps:
        """One of the services."""
        return self._chance.choice(self.services)

    async def close(self) -> None:
        """Close all services but the first."""
        for each in self.services[1:]:
            await each.connection.close()


async def compare(questions: int, seed: int, tally: Tally, settings: Settings, *, together: int) -> None:
    """Lives until so many questions have been asked, each of `together` services."""
    chance = Random(seed)
    async with open_runtime(settings) as runtime:
        asked = Alternating(runtime, together, Random(seed))
        while tally.questions.total() < questions:
            await Life(cast(Runtime, asked), tally=tally).through(chance, COMMANDS, ASKED)
        await asked.close()


async def compare_on_machines(questions: int, seed: int, tally: Tally, kind: str) -> None:
    """The same on several servers, of which another one takes over every few seconds."""
    async with MACHINES[kind]() as machines:
        store = StoreSettings(url=machines.url)
        settings = replace(with_tiny(Path(), "sets"), store=store)
        failing = asyncio.create_task(_fail_over_often(machines))
        try:
            await compare(questions, seed, tally, settings, together=1)
        finally:
            failing.cancel()
            await asyncio.wait([failing])


async def _fail_over_often(machines: Machines) -> None:
    chance = Random(1)
    while True:
        await asyncio.sleep(FAILOVER_EVERY_S)
        with suppress(RedisError, OSError, LookupError):
            await fail_over(machines, f"any {chance.random()}")


def main() -> int:
    """Print the counts; 0 when the two agree in all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--likeness", choices=("sets", "index"), default="sets", help="what answers likeness")
    parser.add_argument("--machines", choices=MACHINES, help="on several servers, with failovers")
    parser.add_argument("--services", type=int, default=1, help="on one store, asked and told by chance")
    asked = parser.parse_args()
    tally = Tally()
    if asked.machines:
        asyncio.run(compare_on_machines(asked.questions, asked.seed, tally, asked.machines))
        return report(tally)
    of_two = asked.questions // OF_TWO_SERVICES
    with tempfile.TemporaryDirectory() as directory:
        services.compare(Path(directory), of_two, asked.seed, tally)
    with tempfile.TemporaryDirectory() as directory:
        settings = with_tiny(Path(directory), asked.likeness)
        asyncio.run(compare(asked.questions, asked.seed, tally, settings, together=asked.services))
    return report(tally)


def report(tally: Tally) -> int:
    """Print what was compared, and each difference; 0 when there is none."""
    for difference in tally.differences:
        print(difference)
    for name, counter in (("commands", tally.commands), ("questions", tally.questions)):
        print(f"{name}: {counter.total()}")
        for kind, count in sorted(counter.items()):
            print(f"  {kind}: {count}")
    print(f"differences: {len(tally.differences)}")
    return 1 if tally.differences else 0


if __name__ == "__main__":
    raise SystemExit(main())
