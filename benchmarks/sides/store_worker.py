"""Opens a store with the code of one checkout, fills it, and sends the bare queries of a question.

    python store_worker.py CHECKOUT DATA

It reads one JSON object a line, and answers each with one: `{"fill": [memories, links]}` writes three graphs and
returns their citizen, `{"world": [memories, links, hubs]}` does so for the first graph alone, by the module beside
this folder. `{"bare": [citizen, text]}` returns the milliseconds of the six queries of a question, sent at once.
What the code of the checkout cannot do is answered with `{"error": …}`. The store stays open, and its engine with
it, until the input ends. Else the modules of `benchmarks` in the checkout are used.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any


async def fill(parts: Any, rt: Any, nodes: int, links: int) -> dict[str, Any]:
    """Write three graphs of so many memories and links each, made from a fixed seed."""
    world = parts.synthetic.World(nodes=nodes, links=links)
    await parts.synthetic.build(world, rt.deps, parts.latency.now())
    return {"citizen": world.citizen}


async def fill_world(parts: Any, rt: Any, nodes: int, links: int, hubs: bool) -> dict[str, Any]:
    """Write one graph, by what stands beside this file: an older checkout knows no hubs."""
    found = spec_from_file_location("own_synthetic", Path(__file__).parents[1] / "synthetic.py")
    assert found is not None
    assert found.loader is not None
    own: Any = sys.modules.setdefault(found.name, module_from_spec(found))
    found.loader.exec_module(own)
    world = own.World(nodes=nodes, links=links, hubs=hubs)
    await own.build(world, rt.deps, parts.latency.now(), [own.Level.N1])
    return {"citizen": world.citizen}


async def bare(parts: Any, rt: Any, citizen: str, text: str) -> dict[str, Any]:
    """Send the six queries of a question at once, without what makes a stream of them."""
    latency = parts.latency
    asked = await latency.prepared(latency.Question(citizen, text), rt)
    if hasattr(latency, "send_bare"):
        send = latency.send_bare(asked)
    else:
        send = asyncio.gather(*(rt.deps.connection.read(*words) for words in map(partial(encode, latency), asked)))
    begun = time.perf_counter()
    await send
    return {"ms": (time.perf_counter() - begun) * 1000, "queries": len(asked)}


def encode(latency: Any, one: Any) -> tuple[Any, ...]:
    """A query of an older checkout: its graph, its text and its encoded parameters."""
    if hasattr(latency, "parameters"):
        return one.target.graph.name, one.query, latency.parameters(one.values)
    return one.graph, one.query, latency.six_queries.header(one)


DO: dict[str, Callable[..., Awaitable[dict[str, Any]]]] = {"fill": fill, "world": fill_world, "bare": bare}


async def answer(line: str, parts: Any, rt: Any) -> dict[str, Any]:
    """Return the answer to a line."""
    try:
        [(name, values)] = json.loads(line).items()
        return await DO[name](parts, rt, *values)
    except Exception as error:  # noqa: BLE001  whatever another checkout raises is told, not hidden
        return {"error": f"{type(error).__name__}: {error}"}


async def work(parts: Any, data: Path) -> None:
    """Open the store, and answer lines until there are no more."""
    latency = parts.latency
    opened = latency.open_runtime if hasattr(latency, "open_runtime") else latency.running
    async with opened(latency.Settings(store=latency.StoreSettings(data=data))) as rt:
        tell({"ready": True})
        while line := await asyncio.to_thread(sys.stdin.readline):
            tell(await answer(line, parts, rt))


def tell(value: dict[str, Any]) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


class Parts:
    """The modules of the checkout that are used here, by their names."""

    def __init__(self) -> None:
        from benchmarks import latency, synthetic  # noqa: PLC0415  of the checkout, once its path is known

        self.latency: Any = latency
        self.synthetic: Any = synthetic


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    asyncio.run(work(Parts(), Path(sys.argv[2])))
