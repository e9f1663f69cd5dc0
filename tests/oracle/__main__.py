"""The long comparison: python -m tests.oracle --questions 20000 --seed 1

Random histories are told to the real engine and to the oracle, and random questions are asked of both; one in
twenty of two services whose clocks differ, over HTTP. Prints how many commands and questions there were, and every
difference. Ends with 1 when there is one.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path
from random import Random

from api.runtime.runtime import open_runtime
from substrate.graphs.registry import Adapter
from tests.oracle import services
from tests.oracle.conftest import with_tiny
from tests.oracle.life import Life
from tests.oracle.outlines import Tally

COMMANDS, ASKED = 120, 200
"""Of one life."""
OF_TWO_SERVICES = 20
"""One question in so many."""


async def compare(questions: int, seed: int, tally: Tally, likeness: Adapter) -> None:
    """Lives until so many questions have been asked."""
    chance = Random(seed)
    with tempfile.TemporaryDirectory() as directory:
        async with open_runtime(with_tiny(Path(directory), likeness)) as runtime:
            while tally.questions.total() < questions:
                await Life(runtime, tally=tally).through(chance, COMMANDS, ASKED)


def main() -> int:
    """Print the counts; 0 when the two agree in all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--likeness", choices=("sets", "index"), default="sets", help="what answers likeness")
    asked = parser.parse_args()
    tally = Tally()
    of_two = asked.questions // OF_TWO_SERVICES
    with tempfile.TemporaryDirectory() as directory:
        services.compare(Path(directory), of_two, asked.seed, tally)
    asyncio.run(compare(asked.questions, asked.seed, tally, asked.likeness))
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
