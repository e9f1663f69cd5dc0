"""How long a mirror takes to write, to bring in step after ten changes, to stream as a tar, and to read back.

    python -m benchmarks.mirror --nodes 10000

The memories are made from a fixed seed: twenty words each, with tags, buckets, conversations, and three links a
memory. `--json` prints one line. `…_s` is time that passed, `…_cpu_s` time on a core, of this process
and the engine.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from api.runtime.runtime import Runtime, now, open_runtime
from benchmarks.latency import process_mb
from benchmarks.serving import engine_pid
from benchmarks.synthetic import World, build_links
from orchestration.features.mirror.flow import (
    apply_edits,
    is_in_step,
    read_edits,
    stream_tar,
    take_snapshot,
    update_mirror,
    write_mirror,
)
from orchestration.features.mirror.layout import MirrorOf
from orchestration.insertion import apply
from schemas.commands import Correct, Remember
from schemas.memory import Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from schemas.temporal import to_datetime

TAGS: Final = 200
BUCKETS: Final = 5
EPISODES: Final = 20
CHANGED: Final = 10
BATCH: Final = 1000
HOUR_US: Final = 3_600_000_000

type Figures = dict[str, Any]


def cpu_seconds(pids: Sequence[int]) -> float:
    """The CPU time of these processes until now."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


async def build(world: World, rt: Runtime) -> None:
    """Store the memories and links of the world, with tags, buckets and episodes."""
    rng = np.random.default_rng(world.seed)
    weights = 1.0 / (np.arange(TAGS) + 1.0)
    tags = rng.choice(TAGS, size=(world.nodes, 2), p=weights / weights.sum())
    begun = now() - world.nodes * HOUR_US
    commands = [
        Remember(
            id=f"N1-{place}",
            citizen_id=world.citizen,
            name=" ".join(text.split()[:3]),
            description=text,
            tags=tuple({f"tag{number}" for number in tags[place]}) if place % 4 else (),
            buckets=(f"bucket{place % BUCKETS}",),
            valid_at=to_datetime(begun + place * HOUR_US),
            emotion_vector={"joy": 0.5},
            episode_id=f"talk-{place * EPISODES // world.nodes}",
        )
        for place, text in enumerate(world.texts(world.nodes, world.seed))
    ]
    for first in range(0, len(commands), BATCH):
        await apply(commands[first : first + BATCH], rt.deps, now())
    await build_links(world, (Level.N1, 0), rt.deps, now())


class Clock:
    """Seconds since it was last asked, and how many of them these processes kept a core busy."""

    def __init__(self, pids: Sequence[int]) -> None:
        self._pids = pids
        self._begun, self._spent = time.perf_counter(), cpu_seconds(pids)

    def lap(self, name: str) -> Figures:
        before, self._begun = self._begun, time.perf_counter()
        spent, self._spent = self._spent, cpu_seconds(self._pids)
        return {f"{name}_s": round(self._begun - before, 3), f"{name}_cpu_s": round(self._spent - spent, 2)}


async def measure(world: World, rt: Runtime, directory: Path) -> Figures:
    """Write the whole mirror, change ten memories, bring it in step, stream it, edit ten files and apply."""
    figures: Figures = {"memories": world.nodes, "links": world.links, "mb_before": process_mb()}
    engine = await engine_pid(rt.settings.store.data)
    clock = Clock([os.getpid(), *([] if engine is None else [engine])])
    report = await write_mirror(await take_snapshot(MirrorOf(Level.N1, world.citizen), rt.deps, now()), directory)
    figures |= {"files": report.files, **clock.lap("whole"), "mb_after_whole": process_mb()}
    step = world.nodes // CHANGED
    changes = [
        Correct(citizen_id=world.citizen, id=f"N1-{place}", description=f"changed {place}")
        for place in range(0, world.nodes, step)
    ][:CHANGED]
    await apply(changes, rt.deps, now())
    clock.lap("changes")
    update = await update_mirror(await take_snapshot(MirrorOf(Level.N1, world.citizen), rt.deps, now()), directory)
    figures |= {**clock.lap("update"), "updated_files": update.written}
    await is_in_step(MirrorOf(Level.N1, world.citizen), rt.deps, directory, now())
    figures |= clock.lap("nothing_changed")
    snapshot = await take_snapshot(MirrorOf(Level.N1, world.citizen), rt.deps, now())
    sizes = [len(block) async for block in stream_tar(snapshot)]
    figures |= {**clock.lap("tar"), "tar_mb": round(sum(sizes) / 1e6, 1), "mb_after_tar": process_mb()}
    edit_files(directory)
    return {**figures, **await measure_edits(rt, directory, clock)}


def edit_files(directory: Path) -> None:
    """Edit the first text of ten files, as a person would."""
    for file in sorted(directory.rglob("@*/*/*.md"))[:CHANGED]:
        file.write_text(file.read_text().replace("```\n\n", "```\n\nBy hand: ", 1))


async def measure_edits(rt: Runtime, directory: Path, clock: Clock) -> Figures:
    """Read the edits of ten files, and apply them."""
    clock.lap("editing")
    [found] = await read_edits(directory, rt.deps, now())
    figures = clock.lap("read_edits")
    receipts = await apply_edits(found.edits.edits, rt.deps, now())
    stored = sum(receipt.status == "stored" for receipt in receipts)
    return {**figures, "edits": len(found.edits.edits), "stored": stored, **clock.lap("apply")}


async def run(world: World) -> Figures:
    """Open a store in a temporary directory, fill it, and measure."""
    with tempfile.TemporaryDirectory(prefix="substrate-mirror-") as name:
        store = StoreSettings(data=Path(name) / "data", names="off", appraisal="off")
        settings = Settings(store=store, embedding=EmbeddingSettings(embedding="none"))
        async with open_runtime(settings) as rt:
            await build(world, rt)
            return await measure(world, rt, Path(name) / "mirror")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    figures = asyncio.run(run(World(asked.nodes, 3 * asked.nodes)))
    if asked.json:
        sys.stdout.write(orjson.dumps(figures).decode() + "\n")
        return
    for name, figure in figures.items():
        sys.stdout.write(f"{name:>22}  {figure}\n")


if __name__ == "__main__":
    main()
