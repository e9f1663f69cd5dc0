"""Random streams over random lives, each asked again at the end: differences, those not named, bytes, and time.

    python -m benchmarks.replay                   1,000 streams, half of the lives with erasures
    python -m benchmarks.replay --streams 100 --memories 300
    python -m benchmarks.replay --base DIR        another checkout answers and notes, this one answers again

Ends with 1 when a difference is not named, or when there is any where nothing was erased.
The time is that of one question, asked with notes and without in turn.

With `--base`, 420 fixed requests are answered by both checkouts on copies of one store, and 2,000 streams that the
base noted are asked again by both: it ends with 1 when any answer differs in anything but durations.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections import Counter
from itertools import count
from pathlib import Path
from random import Random
from typing import Final

from api.runtime.runtime import open_runtime
from benchmarks.replay_lives import DAY, Life
from benchmarks.replayed_answers import compare_with
from orchestration.dependencies import Deps
from orchestration.features.replay.flow import replay
from orchestration.mind.stream_note import pack
from orchestration.mind.stream_notes import read_stream_note, store_notes
from orchestration.retrieval import retrieve_consciousness_context
from schemas.intention import RetrievalIntention
from schemas.settings import EmbeddingSettings, Settings, StoreSettings

BEGUN: Final = 1_750_000_000_000_000
STREAMS_OF_ONE: Final = 40
CHANGES: Final = 20
TURNS: Final = 400
"""Questions of each kind, by which the time is measured."""


async def live(life: Life, memories: int, streams: int) -> None:
    """A life that tells, changes and asks."""
    await life.tell(memories)
    for _ in range(CHANGES):
        await life.change()
    for _ in range(streams):
        await life.ask()
        for _ in range(life.chance.randrange(3)):
            await life.change()


async def ask_all_again(life: Life, tally: Counter[str], sizes: list[int]) -> None:
    """Ask every stream of the life again and count how the answers compare."""
    for stream in life.asked:
        replayed = await replay(stream.stream_id, life.deps, life.now)
        note = await read_stream_note(stream.stream_id, life.citizen, life.deps)
        if note is not None:
            sizes.append(len(pack(note)))
        kind = "with erasures" if life.erased else "without erasures"
        tally[f"streams {kind}"] += 1
        tally[f"same {kind}"] += replayed.same
        tally["not named"] += "unknown" in replayed.causes
        tally["different where nothing was erased"] += not (replayed.same or life.erased)
        for cause in replayed.causes:
            tally[f"cause {cause}, {'the same' if replayed.same else 'not the same'}"] += 1


async def measure_time(life: Life) -> dict[str, float]:
    """The median milliseconds of a question with notes and without, asked in turn."""
    intention = RetrievalIntention(citizen_id=life.citizen, query_text="What about the boat and the garden?")
    days, spent = life.deps.notes.days, {True: list[float](), False: list[float]()}
    for turn in range(2 * TURNS):
        noted = turn % 2 == 0
        life.deps.notes.days = days if noted else 0.0
        begun = time.perf_counter()
        await retrieve_consciousness_context(intention, life.deps, life.now + DAY + turn)
        spent[noted].append((time.perf_counter() - begun) * 1000)
    life.deps.notes.days = days
    with_notes, without = statistics.median(spent[True]), statistics.median(spent[False])
    return {"with notes": with_notes, "without": without, "ratio": with_notes / without}


async def run(asked: argparse.Namespace) -> int:
    """Print the figures; 1 when a difference is not named or not allowed."""
    tally: Counter[str] = Counter()
    sizes: list[int] = []
    with tempfile.TemporaryDirectory() as directory:
        store = StoreSettings(data=Path(directory), names="off", stream_notes_days=36_500)
        async with open_runtime(Settings(store=store, embedding=EmbeddingSettings(embedding="local"))) as runtime:
            runtime.deps.connection.answers.most_bytes = 0  # each question is asked anew
            life = await _live_all(asked, runtime.deps, tally, sizes)
            timed = await measure_time(life)
            await store_notes(runtime.deps)
    for name, amount in sorted(tally.items()):
        print(f"{name}: {amount}")
    print(f"bytes a note: mean {statistics.fmean(sizes):.0f}, most {max(sizes)}")
    print("p50 of a question: " + ", ".join(f"{name} {figure:.3f}" for name, figure in timed.items()))
    return int(bool(tally["not named"] or tally["different where nothing was erased"]))


async def _live_all(asked: argparse.Namespace, deps: Deps, tally: Counter[str], sizes: list[int]) -> Life:
    """The last of the lives, in which so many streams were asked for."""
    for number in count():
        life = Life(f"life{number}", deps, Random(asked.seed * 1_000 + number), BEGUN, erases=number % 2 == 1)
        left = asked.streams - number * STREAMS_OF_ONE
        await live(life, asked.memories, min(STREAMS_OF_ONE, left))
        await ask_all_again(life, tally, sizes)
        if left <= STREAMS_OF_ONE:
            return life
    raise AssertionError("a count has no end")


def main() -> int:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, help="default 1,000, and 2,000 with --base")
    parser.add_argument("--memories", type=int, default=60, help="that each life begins with")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--base", type=Path, help="another checkout, whose answers ours must equal")
    asked = parser.parse_args()
    if asked.base:
        return compare_with(asked.base.absolute(), asked.streams or 2_000)
    asked.streams = asked.streams or 1_000
    return asyncio.run(run(asked))


if __name__ == "__main__":
    sys.exit(main())
