"""What each kind of request costs by the size of a memory, over HTTP and with a real embedding model.

- `new`: a question that nobody asked before; `bounded`: another, with at most 2,000 tokens; `compact`: another,
  whose answer is a text for a prompt.
- `waking`: a waking with a goal. `heard`: one more message of a conversation. `write`: one memory.
- `load`: new questions by 16 clients at once, each one after the other.

A memory is the longest conversation of a LoCoMo file, or so many synthetic memories with five links each, all of
one citizen. With hubs, the ends of links follow Zipf's law: a few memories have links by the thousand.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from benchmarks.comparison import (
    CLIENTS,
    ROUNDS,
    Asked,
    Figures,
    Record,
    ask_at_once,
    in_turns,
    parts_of,
    summarize,
)
from benchmarks.sides.side import Side
from benchmarks.sides.stores import citizen_of_copy, fill_locomo, is_filled, longest, mark_filled, open_sides
from benchmarks.synthetic import World

LINKS_EACH: Final = 5
WARMING: Final = 5
"""So many questions, and as many wakings, are not measured: the service has just started."""
ASKED: Final[Mapping[str, Mapping[str, Any]]] = {
    "new": {},
    "bounded": {"max_tokens": 2000},
    "compact": {"form": "compact"},
}
"""The kinds of questions, with the fields that make them so."""

type Fill = Callable[[Sequence[Side], Path], Awaitable[None]]


class Memory(NamedTuple):
    """A memory: its name, its citizen, the questions that it can be asked, and what stores it on every side."""

    name: str
    citizen: str
    questions: Sequence[str]
    fill: Fill


async def measure_requests(arguments: Namespace) -> Figures:
    """Return the figures of every memory that was asked for, by its name."""
    figures: Figures = {}
    for memory in _memories(arguments):
        async with open_sides(arguments, memory.name) as (sides, folder):
            await memory.fill(sides, folder)
            figures[memory.name] = await _measure(sides, memory, arguments.questions)
    return figures


def _memories(arguments: Namespace) -> Iterator[Memory]:
    if arguments.locomo:
        sample = longest(orjson.loads(arguments.locomo.read_bytes()))
        texts = [asked["question"] for asked in sample["qa"]]

        async def ingest(sides: Sequence[Side], folder: Path) -> None:
            await fill_locomo(sides, sample, folder, copies=1)

        yield Memory("locomo", citizen_of_copy(0), texts, ingest)
    for size in arguments.sizes:
        for hubs in arguments.hubs:
            world = World(nodes=size, links=LINKS_EACH * size, hubs=hubs == "with")
            asked = world.questions(WARMING + (len(ASKED) + ROUNDS) * arguments.questions + ROUNDS * CLIENTS)
            yield Memory(f"{size:,} memories {hubs} hubs", world.citizen, asked, _filling(world))


def _filling(world: World) -> Fill:
    async def fill(sides: Sequence[Side], _folder: Path) -> None:
        for side in sides:
            if not is_filled(side, "world"):
                answer = await side.tell_worker(world=(world.nodes, world.links, world.hubs))
                if "error" in answer:
                    raise RuntimeError(f"{side.name}: {answer['error']}")
                mark_filled(side, "world")

    return fill


async def _measure(sides: Sequence[Side], memory: Memory, count: int) -> Figures:
    record, citizen = Record(), memory.citizen
    warming, questions = memory.questions[:WARMING], memory.questions[WARMING:]
    for side in sides:
        await side.start_service()
        for text, fields in zip(warming, cycle(ASKED.values()), strict=False):
            await side.request("/v1/retrieve", citizen_id=citizen, query_text=text, **fields)
            await side.request("/v1/wake", citizen_id=citizen, current_goal=text)
    for kind, fields in ASKED.items():
        bodies = [{"citizen_id": citizen, "query_text": text, **fields} for text in questions[:count]]
        questions = questions[count:]
        await _send(sides, "/v1/retrieve", bodies, record, kind)
    waking = [{"citizen_id": citizen, "current_goal": text} for text in memory.questions[:count]]
    await _send(sides, "/v1/wake", waking, record, "waking")
    await ask_at_once(sides, parts_of([Asked(citizen, text) for text in questions]), record, "load")
    heard = [
        {"citizen_id": citizen, "messages": [{"speaker": "Ada", "text": f"I wondered again: {text}"}]}
        for text in memory.questions[:count]
    ]
    await _send(sides, "/v1/episodes/running/turns", heard, record, "heard")
    written = [
        {"citizen_id": citizen, "name": f"note {number}", "description": f"Noted: {text}"}
        for number, text in enumerate(memory.questions[:count])
    ]
    await _send(sides, "/v1/memories", written, record, "write")
    for side in sides:
        record.faults += [f"{side.name}: a status {status}" for status in set(side.statuses) - {200, 201}]
    return summarize(record, [side.name for side in sides])


async def _send(
    sides: Sequence[Side], path: str, bodies: Sequence[Mapping[str, Any]], record: Record, kind: str
) -> None:
    """Send each body to all sides in turns, and note what it cost."""
    for place, body in enumerate(bodies):
        for side in in_turns(sides, place):
            cost, _ = await side.request(path, **body)
            record.note(kind, side, cost)
