"""The situation in one call against the calls that it replaces: time and round trips over HTTP.

    python -m benchmarks.situation [--locomo FILE] [--of NAME [NAME...]] [--turns 60] [--json]

Each citizen is stored whole: `ada` of the demo, the lives of benchmarks/lives, and with `--locomo` the first
conversation of the file. Then a cycle ends with a window and a focus, so that there is something to tell. The
service runs in a process of its own, with the local embedding model. Each turn reads the situation of a new
stimulus, and the same parts by the calls that there are for them: state, appetite, signal, waking, newest
memories, beliefs that changed, offers, and each memory of the window. Which way comes first takes turns.
`one by one` waits for each call, `together` sends them all at once on connections that stay open.

Figures are medians in milliseconds, ratios are of the medians, bytes are of the answers.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx
import orjson

from api.runtime.runtime import open_runtime
from benchmarks.datasets import load_locomo
from benchmarks.energy import settings_of, store
from benchmarks.recall import store as store_conversation
from benchmarks.serving import Served

DEFAULT: Final = ("ada", "student")
STIMULI: Final = (
    "Can we talk about tomorrow?", "I am worried about the money", "That went well, thank you",
    "What did we agree on?", "Somebody is at the door", "I had a bad night",
)  # fmt: skip
WARM_UP: Final = 5
"""Turns that are not counted."""
type Ask = Callable[[], Awaitable[int]]


class Spent(NamedTuple):
    """The milliseconds of a turn by way of asking, and the bytes of the answers of both ways."""

    situation: float
    one_by_one: float
    together: float
    bytes_of_situation: int
    bytes_of_calls: int


async def end_cycle(citizen: str, client: httpx.AsyncClient) -> list[str]:
    """End a cycle whose window shows the three newest memories; returns their ids."""
    listed = await client.get("/v1/memories", params={"citizen_id": citizen, "limit": 3})
    ids = [one["node_id"] for one in listed.raise_for_status().json()["memories"]]
    state = {"window": [{"id": one} for one in ids], "focus": "what is open"}
    (await client.put(f"/v1/citizens/{citizen}/state", json=state)).raise_for_status()
    return ids


def calls(citizen: str, stimulus: str, window: Sequence[str], client: httpx.AsyncClient) -> list[Ask]:
    """The calls that the situation replaces, one for each of its parts."""
    of = {"citizen_id": citizen}
    shown = [*({"id": one} for one in window), stimulus]

    def get(path: str, **params: Any) -> Ask:
        async def ask() -> int:
            return len((await client.get(path, params=params)).raise_for_status().content)

        return ask

    def post(path: str, body: dict[str, Any]) -> Ask:
        async def ask() -> int:
            return len((await client.post(path, json=body)).raise_for_status().content)

        return ask

    return [
        get(f"/v1/citizens/{citizen}/state"),
        get(f"/v1/citizens/{citizen}/appetite"),
        post("/v1/resonate", {**of, "window": shown, "focus": "what is open"}),
        post("/v1/wake", {**of, "form": "compact"}),
        get("/v1/memories", **of, limit=10),
        get(f"/v1/citizens/{citizen}/dissonances", limit=10),
        get("/v1/upkeep/offers", **of),
        *(get(f"/v1/memories/N1/{one}", **of) for one in window),
    ]


async def take_turn(number: int, citizen: str, window: Sequence[str], client: httpx.AsyncClient) -> Spent:
    """Read the situation, and the same by other calls; which comes first alternates."""
    stimulus = f"{STIMULI[number % len(STIMULI)]} ({number})"
    replaced = calls(citizen, stimulus, window, client)

    async def situation() -> int:
        body = {"stimuli": [stimulus]}
        answer = await client.post(f"/v1/citizens/{citizen}/situation", json=body)
        return len(answer.raise_for_status().content)

    async def one_by_one() -> int:
        return sum([await ask() for ask in replaced])

    async def together() -> int:
        return sum(await asyncio.gather(*(ask() for ask in replaced)))

    ways: list[Ask] = [situation, one_by_one, together]
    turned = [ways[(place + number) % len(ways)] for place in range(len(ways))]
    taken = {way: await _timed(way) for way in turned}
    (read, size), (alone, sizes), (at_once, _) = (taken[way] for way in ways)
    return Spent(read, alone, at_once, size, sizes)


async def _timed(ask: Ask) -> tuple[float, int]:
    begun = time.perf_counter()
    size = await ask()
    return (time.perf_counter() - begun) * 1000, size


def figures(citizen: str, spent: Sequence[Spent], replaced: int) -> dict[str, Any]:
    """Medians and ratios of all turns."""
    medians = {name: statistics.median(getattr(one, name) for one in spent) for name in Spent._fields}
    return {
        "citizen": citizen,
        "turns": len(spent),
        "round trips": {"situation": 1, "calls": replaced},
        "p50": {name: round(medians[name], 1) for name in ("situation", "one_by_one", "together")},
        "ratio to one by one": round(medians["situation"] / medians["one_by_one"], 3),
        "ratio to together": round(medians["situation"] / medians["together"], 3),
        "bytes": {"situation": medians["bytes_of_situation"], "calls": medians["bytes_of_calls"]},
    }


async def prepare(name: str, locomo: Path | None, directory: str) -> str:
    """Store the citizen of this name; `locomo` is the first conversation of that file."""
    if locomo is None or name != "locomo":
        return await store(name, directory)
    async with open_runtime(settings_of(directory)) as runtime:
        await store_conversation(load_locomo(locomo)[0], name, runtime)
    return name


async def measure(names: Sequence[str], locomo: Path | None, turns: int) -> list[dict[str, Any]]:
    """The figures of each citizen, each on a store of its own."""
    measured = []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="substrate-situation-") as directory:
            citizen = await prepare(name, locomo, directory)
            served = Served(Path(directory), embedding="local")
            await served.start()
            try:
                async with served.client() as client:
                    window = await end_cycle(citizen, client)
                    spent = [await take_turn(number, citizen, window, client) for number in range(turns + WARM_UP)]
                    measured.append(figures(citizen, spent[WARM_UP:], len(calls(citizen, "", window, client))))
            finally:
                await served.stop()
    return measured


def format_line(one: Mapping[str, Any]) -> str:
    """The figures of a citizen on one line."""
    p50, sizes = one["p50"], one["bytes"]
    return (
        f"{one['citizen']}: situation {p50['situation']} ms, 1 round trip, {sizes['situation']:.0f} bytes; "
        f"{one['round trips']['calls']} calls {p50['one_by_one']} ms one by one "
        f"(ratio {one['ratio to one by one']}), {p50['together']} ms together "
        f"(ratio {one['ratio to together']}), {sizes['calls']:.0f} bytes; {one['turns']} turns\n"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", nargs="+", default=list(DEFAULT), metavar="NAME")
    parser.add_argument("--locomo", type=Path, help="a file of LoCoMo; its first conversation is added")
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    names = [*given.of, *(["locomo"] if given.locomo else [])]
    measured = asyncio.run(measure(names, given.locomo, given.turns))
    if given.json:
        sys.stdout.write(orjson.dumps(measured, option=orjson.OPT_INDENT_2).decode() + "\n")
        return
    sys.stdout.write("".join(map(format_line, measured)))


if __name__ == "__main__":
    main()
