"""Fills the stores of all sides with the same data, and plans which questions they are asked."""

from __future__ import annotations

import asyncio
import tempfile
from argparse import Namespace
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks.comparison import OURS, Asked, Figures, Plan, compare
from benchmarks.sides.side import Side
from benchmarks.synthetic import World

COPIES: Final = 6
"""The conversation is stored for so many citizens: after a start, a cold question is the first to its own."""
CITIZENS: Final = 3
"""So many of them are asked when the service is warm."""
RESTARTS: Final = 3
OTHER: Final = "other"
OTHER_SESSIONS: Final = 2
LOCOMO, SYNTHETIC = "locomo", "synthetic"


def longest(samples: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the LoCoMo sample with the most turns."""
    return max(samples, key=lambda sample: sum(len(part) for part in _sessions(sample).values()))


def _sessions(sample: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    return {name: part for name, part in sample["conversation"].items() if isinstance(part, list)}


def copies_of(sample: Mapping[str, Any], copies: int) -> list[dict[str, Any]]:
    """Return the sample for so many citizens, and its first sessions for one more."""
    later = list(_sessions(sample))[OTHER_SESSIONS:]
    short = {name: part for name, part in sample["conversation"].items() if not name.startswith(tuple(later))}
    named = [{**sample, "sample_id": citizen_of_copy(number)} for number in range(copies)]
    return [*named, {**sample, "sample_id": OTHER, "conversation": short}]


def citizen_of_copy(number: int) -> str:
    """The citizen of one copy of the conversation."""
    return f"copy-{number}"


def locomo_plan(sample: Mapping[str, Any], arguments: Namespace) -> Plan:
    """Plan the questions of one conversation, a third each: warming, new and at once. Each goes to one citizen."""
    texts = [asked["question"] for asked in sample["qa"]]
    thirds = [
        [Asked(citizen_of_copy(place % CITIZENS), text) for place, text in enumerate(texts[third::3])]
        for third in range(3)
    ]
    most = arguments.questions
    cold = [
        [
            Asked(citizen_of_copy(number), texts[(restart * COPIES + number) % len(texts)])
            for number in range(COPIES)
        ]
        for restart in range(RESTARTS)
    ]
    return Plan(thirds[0], thirds[1][:most], thirds[2][:most], cold, Asked(OTHER, texts[0]), arguments.peer)


def synthetic_plan(world: World, arguments: Namespace) -> Plan:
    """Plan the questions to three large graphs: after each start of the service one that is cold."""
    most = arguments.questions
    asked = [Asked(world.citizen, text) for text in world.questions(3 * most + RESTARTS)]
    cold = [[question] for question in asked[3 * most :]]
    warming, new, at_once = (asked[third * most : (third + 1) * most] for third in range(3))
    return Plan(warming, new, at_once, cold, asked[0]._replace(citizen="nobody"), arguments.peer)


async def fill_locomo(
    sides: Sequence[Side], sample: Mapping[str, Any], folder: Path, *, copies: int = COPIES
) -> None:
    """Store the copies of the conversation on every side, unless they are there."""
    file = folder / "copies.json"
    await asyncio.to_thread(file.write_bytes, orjson.dumps(copies_of(sample, copies)))
    for side in sides:
        if not is_filled(side, LOCOMO):
            await side.ingest(file)
            mark_filled(side, LOCOMO)


async def fill_synthetic(sides: Sequence[Side], world: World) -> None:
    """Write the three graphs on every side, unless they are there. Raises RuntimeError when a checkout cannot."""
    for side in sides:
        if not is_filled(side, SYNTHETIC):
            answer = await side.tell_worker(fill=(world.nodes, world.links))
            if "error" in answer:
                raise RuntimeError(f"{side.name}: {answer['error']}")
            mark_filled(side, SYNTHETIC)


def is_filled(side: Side, what: str) -> bool:
    """True when a run before this one has filled the store, which was kept."""
    return (side.data / f"{what}.filled").exists()


def mark_filled(side: Side, what: str) -> None:
    """Note that the store is filled, for a later run."""
    (side.data / f"{what}.filled").touch()


@asynccontextmanager
async def open_sides(arguments: Namespace, what: str) -> AsyncIterator[tuple[list[Side], Path]]:
    """Open ours and every base, each on a store of its own; also gives a folder for files of the run."""
    checkouts = [(OURS, Path(__file__).parents[2], arguments.workers), *((*base, 1) for base in arguments.base)]
    with tempfile.TemporaryDirectory(prefix="substrate-sides-") as temporary:
        folder = Path(temporary)
        kept = arguments.stores or folder
        async with AsyncExitStack() as stack:
            sides = [
                await stack.enter_async_context(Side(name, path, kept / what / name, arguments.embedding, workers))
                for name, path, workers in checkouts
            ]
            yield sides, folder


async def measure_sides(arguments: Namespace) -> Figures:
    """Return the figures of all that was asked for, by the kind of data."""
    figures: Figures = {}
    if arguments.locomo:
        samples = orjson.loads(await asyncio.to_thread(arguments.locomo.read_bytes))
        sample = longest(samples)
        async with open_sides(arguments, LOCOMO) as (sides, folder):
            await fill_locomo(sides, sample, folder)
            figures[LOCOMO] = await compare(sides, locomo_plan(sample, arguments))
    if arguments.nodes:
        world = World(nodes=arguments.nodes, links=arguments.links or 5 * arguments.nodes)
        async with open_sides(arguments, SYNTHETIC) as (sides, _):
            await fill_synthetic(sides, world)
            figures[SYNTHETIC] = await compare(sides, synthetic_plan(world, arguments))
    return figures
