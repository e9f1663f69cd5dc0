"""A question here and in Graphiti, in one run: the same conversation, both over HTTP, the same embedding model.

    python -m benchmarks.beside_graphiti --locomo FILE --python /elsewhere/venv/bin/python

The other interpreter has `graphiti-core[falkordb]`, `hiredis`, `uvloop`, `uvicorn`, `starlette`, `onnxruntime`,
`orjson` and `tokenizers`; it runs `benchmarks/sides/graphiti_side.py` on an engine of its own, the same program as
ours. The questions of LoCoMo's longest conversation go to this checkout, to Graphiti's plain hybrid search and to
its combined one in turns: `new` one by one, `load` by 16 clients at once. `--stores DIR` keeps the filled stores.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from benchmarks.comparison import (
    OURS,
    Asked,
    Figures,
    Record,
    ask_at_once,
    format_table,
    in_turns,
    parts_of,
    summarize,
)
from benchmarks.sides.side import HERE, START_LIMIT_S, STOP_LIMIT_S, Side
from benchmarks.sides.stores import citizen_of_copy, fill_locomo, is_filled, longest, mark_filled
from schemas.settings import EmbeddingSettings
from substrate.engine.process import bundled_binaries
from substrate.inference.embeddings.local import LocalMiniLM
from substrate.inference.minilm.model_file import CANDIDATES, onnx_file, tokenizer

GRAPHITI: Final = "graphiti"
RECIPES: Final = ("plain", "combined")
WARMING: Final = 30


@dataclass
class GraphitiSide(Side):
    """Graphiti behind HTTP: `name` is its recipe, `checkout` its interpreter, `data` the model's file."""

    tokenizer: Path = Path()
    engine: subprocess.Popen[bytes] | None = None
    engine_port: int = 0

    async def start_service(self) -> None:
        """Start it, and wait until it answers."""
        assert self.engine is not None
        self._engine, self._port = self.engine.pid, free_port()
        words = self.words("serve", str(self._port), self.name)
        self._service = await asyncio.to_thread(subprocess.Popen, words)
        self._client = self.client()
        give_up = time.monotonic() + START_LIMIT_S
        while time.monotonic() < give_up and self._service.poll() is None:
            with suppress(OSError, asyncio.IncompleteReadError):
                await self._client.get("/health/ready")
                return
            await asyncio.sleep(0.1)
        raise RuntimeError("Graphiti is not ready")

    def words(self, what: str, *more: str) -> list[str]:
        """A command of its interpreter."""
        known = (str(self.engine_port), str(self.tokenizer), str(self.data))
        return [str(self.checkout), str(HERE / "graphiti_side.py"), what, *known, *more]


def free_port() -> int:
    """A port of this machine that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def open_engine(data: Path) -> AsyncIterator[tuple[subprocess.Popen[bytes], int]]:
    """An engine with a graph module on a directory, and its port."""
    port, (server, module) = free_port(), bundled_binaries()
    words = [server, "--port", port, "--dir", data, "--loadmodule", module]
    log = (data / "engine.log").open("wb")
    engine = await asyncio.to_thread(subprocess.Popen, [*map(str, words)], stdout=log)
    try:
        await asyncio.sleep(3)
        yield engine, port
    finally:
        engine.send_signal(signal.SIGTERM)
        await asyncio.to_thread(engine.wait, STOP_LIMIT_S)
        log.close()


async def compare(arguments: argparse.Namespace) -> Figures:
    """Fill what is not filled yet, ask all sides in turns, and return the figures."""
    sample = longest(orjson.loads(arguments.locomo.read_bytes()))
    cache = EmbeddingSettings().cache
    with tempfile.TemporaryDirectory(prefix="substrate-graphiti-") as temporary:
        folder = Path(temporary)
        kept = arguments.stores or folder
        (kept / GRAPHITI).mkdir(parents=True, exist_ok=True)
        chosen = LocalMiniLM(cache).choice
        model = onnx_file(cache, next(each for each in CANDIDATES if chosen.startswith(each)))
        async with AsyncExitStack() as stack:
            engine, port = await stack.enter_async_context(open_engine(kept / GRAPHITI))
            others = [
                GraphitiSide(recipe, arguments.python, model, "", 1, [], tokenizer(), engine, port)
                for recipe in RECIPES
            ]
            filled = kept / GRAPHITI / "filled"
            if not filled.exists():
                words = others[0].words("fill", str(arguments.locomo))
                await asyncio.to_thread(subprocess.run, words, check=True)
                filled.touch()
            checkout = Path(__file__).parents[1]
            ours = await stack.enter_async_context(Side(OURS, checkout, kept / OURS, "local"))
            if not is_filled(ours, "locomo"):
                await fill_locomo([ours], sample, folder, copies=1)
                mark_filled(ours, "locomo")
            sides: Sequence[Side] = [ours, *others]
            for side in sides:
                await side.start_service()
                stack.push_async_callback(side.stop_service)
            return await ask(sides, [asked["question"] for asked in sample["qa"]], arguments.questions)


async def ask(sides: Sequence[Side], texts: Sequence[str], count: int) -> Figures:
    """Ask all sides the same in turns: the first questions warm, each other one is new."""
    record = Record()
    asked = [Asked(citizen_of_copy(0), text) for text in texts]
    for side in sides:
        for question in asked[:WARMING]:
            await side.request("/v1/retrieve", **question.body())
    new, at_once = asked[WARMING : WARMING + count], asked[WARMING + count :]
    for place, question in enumerate(new):
        for side in in_turns(sides, place):
            cost, _ = await side.request("/v1/retrieve", **question.body())
            record.note("new", side, cost)
    await ask_at_once(sides, parts_of(at_once), record, "load")
    for side in sides:
        record.faults += [f"{side.name}: a status {status}" for status in set(side.statuses) - {200}]
    for side in sides:
        _, answer = await side.request("/v1/retrieve", **new[0].body())
        record.sizes[side.name] = {"bytes": len(answer)}
    return summarize(record, [side.name for side in sides])


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--locomo", type=Path, required=True, help="a LoCoMo file")
    parser.add_argument("--python", type=Path, required=True, help="an interpreter that has Graphiti")
    parser.add_argument("--questions", type=int, default=80, help="so many one by one; the others at once")
    parser.add_argument("--stores", type=Path, help="a directory that keeps the stores")
    arguments = parser.parse_args()
    sys.stdout.write(format_table("locomo", asyncio.run(compare(arguments))) + "\n")


if __name__ == "__main__":
    main()
