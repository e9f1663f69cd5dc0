"""The cost of HTTP, key and JSON compared with the same call in the process, for a full stream.

    taskset -c 0 python -m benchmarks.http

This process asks one engine by a function call, and by HTTP through a service in another process, with a stored
key and one socket that stays open. Each question is asked both ways; which way comes first alternates. Figures are
medians. With one client the overhead is the difference of the two times. With several clients, which ask at once,
it is the difference of the elapsed time per stream. On one core that contains all work, the client's included.
When other programs use the machine, read `processor_ms`: the mean difference in processor time of both processes.
The three graphs are small and dense, so that a stream is full.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from api.runtime.runtime import Runtime, now, open_runtime
from benchmarks.serving import Served
from benchmarks.synthetic import World, build
from orchestration.retrieval import retrieve_consciousness_context
from schemas.intention import RetrievalIntention
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from schemas.stream import ConsciousnessStream

CLIENTS: Final = (1, 8, 32)
WORLD: Final = World(nodes=40, links=400)
SHOWN: Final = 40
type Ask = Callable[[str], Awaitable[Any]]


@dataclass
class Client:
    """A minimal HTTP client on one connection that stays open."""

    host: str
    port: int
    key: str
    gzipped: bool = False
    statuses: list[int] = field(default_factory=list)
    _line: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, body: bytes) -> bytes:
        """Send a POST request and return the raw body of the answer."""
        fields = ("Content-Type: application/json", f"Content-Length: {len(body)}")
        return await self._send(f"POST {path}", fields, body)

    async def get(self, path: str) -> bytes:
        """Send a GET request and return the raw body of the answer."""
        return await self._send(f"GET {path}", (), b"")

    async def _send(self, request: str, more: Sequence[str], body: bytes) -> bytes:
        if self._line is None or self._line[0].at_eof():
            self._line = await asyncio.open_connection(self.host, self.port, limit=1 << 20)
        reader, writer = self._line
        fields = [f"{request} HTTP/1.1", f"Host: {self.host}", f"Authorization: Bearer {self.key}", *more,
                  *(["Accept-Encoding: gzip"] if self.gzipped else [])]  # fmt: skip
        writer.write("\r\n".join((*fields, "\r\n")).encode() + body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        self.statuses.append(int(head.split(" ", 2)[1]))
        length = next(line for line in head.split("\r\n") if line.startswith("content-length:"))
        return await reader.readexactly(int(length.partition(":")[2]))

    async def close(self) -> None:
        """End the connection."""
        if self._line is not None:
            self._line[1].close()
            await self._line[1].wait_closed()


def intention(question: str) -> RetrievalIntention:
    """Build a question whose stream is full and has paths weighted by a state."""
    return RetrievalIntention(
        query_text=question,
        citizen_id=WORLD.citizen,
        max_results_per_level=SHOWN,
        current_goal="goal 3",
        current_emotions={"drive": 0.8, "joy": 0.3},
    )


async def by_call(question: str, rt: Runtime) -> ConsciousnessStream:
    """Return the stream of a call in this process."""
    return await retrieve_consciousness_context(intention(question), rt.deps, now())


def by_http(client: Client) -> Ask:
    """Return a function that asks the same question over HTTP and returns the size of the answer in bytes."""

    async def ask(question: str) -> int:
        return len(await client.post("/v1/retrieve", intention(question).model_dump_json().encode()))

    return ask


def worked(pid: int) -> float:
    """Return the processor time of this process and another one so far, in milliseconds. Works only on Linux."""
    return (time.process_time() + time.clock_gettime((~pid << 3) | 2)) * 1000


class Spent:
    """Milliseconds of each way of asking: elapsed time per turn, and total processor time of both processes."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._elapsed: dict[str, list[float]] = {"call": [], "http": []}
        self._worked = {"call": 0.0, "http": 0.0}

    async def take(self, way: str, call: Callable[[], Awaitable[Any]]) -> None:
        """Measure one turn of a way."""
        before, begun = worked(self._pid), time.perf_counter()
        await call()
        self._elapsed[way].append((time.perf_counter() - begun) * 1000)
        self._worked[way] += worked(self._pid) - before

    def figures(self, streams: int) -> dict[str, float]:
        """Return the medians and the overhead per stream; a turn has `streams` streams."""
        call, http = self._elapsed["call"], self._elapsed["http"]
        apart = [over - under for under, over in zip(call, http, strict=True)]
        figures = {
            "call_ms": statistics.median(call),
            "http_ms": statistics.median(http),
            "overhead_ms": statistics.median(apart),
            "processor_ms": (self._worked["http"] - self._worked["call"]) / len(apart),
        }
        return {name: round(figure / streams, 2) for name, figure in figures.items()}


async def alone(questions: Sequence[str], rt: Runtime, ask: Ask, spent: Spent) -> dict[str, float]:
    """Measure one client: both ways of asking, question by question."""
    ways: list[tuple[str, Ask]] = [("call", lambda question: by_call(question, rt)), ("http", ask)]
    for number, question in enumerate(questions):
        for name, way in ways if number % 2 else reversed(ways):
            await spent.take(name, lambda: way(question))  # noqa: B023
    return spent.figures(1)


async def crowded(questions: Sequence[str], rt: Runtime, asks: Sequence[Ask], spent: Spent) -> dict[str, float]:
    """Measure `len(asks)` clients at once, two questions each: both ways in turn."""
    per_turn = 2 * len(asks)
    calls = [lambda question: by_call(question, rt)] * len(asks)
    for start in range(0, len(questions) - per_turn + 1, per_turn):
        some = questions[start : start + per_turn]
        await spent.take("call", lambda: _round(some, calls))  # noqa: B023
        await spent.take("http", lambda: _round(some, asks))  # noqa: B023
    return spent.figures(per_turn)


async def _round(questions: Sequence[str], ways: Sequence[Ask]) -> None:
    async def client(place: int) -> None:
        for question in questions[place :: len(ways)]:
            await ways[place](question)

    await asyncio.gather(*map(client, range(len(ways))))


async def bytes_of(questions: Sequence[str], client: Client) -> dict[str, float]:
    """Return the median bytes of an answer: as JSON, and as sent to a client that accepts gzip."""
    plain, packed = [], []
    for question in questions:
        body = await client.post("/v1/retrieve", intention(question).model_dump_json().encode())
        packed.append(len(body))
        plain.append(len(gzip.decompress(body)))
    return {"json": statistics.median(plain), "gzip": statistics.median(packed)}


async def measure(count: int) -> dict[str, Any]:
    """Return all figures, on a new store."""
    with tempfile.TemporaryDirectory(prefix="substrate-http-") as directory:
        embedding = EmbeddingSettings(embedding="benchmarks.serving:Hashing")
        settings = Settings(store=StoreSettings(data=Path(directory) / "store"), embedding=embedding)
        async with open_runtime(settings) as rt:
            await build(WORLD, rt.deps, now())
            assert rt.engine is not None
            served = Served(Path(directory) / "service", f"unix://{rt.engine.socket}")
            await served.start()
            try:
                return await _figures(served, rt, WORLD.questions(count))
            finally:
                await served.stop()


async def _figures(served: Served, rt: Runtime, questions: Sequence[str]) -> dict[str, Any]:
    key = await _own_key(served)
    streams = [await by_call(question, rt) for question in questions[:20]]
    figures: dict[str, Any] = {
        "questions": len(questions),
        "memories": statistics.median(stream.traversal_graph.node_count for stream in streams),
        "links": statistics.median(stream.traversal_graph.edge_count for stream in streams),
    }
    for gzipped in (False, True):
        clients = [Client("127.0.0.1", served.port, key, gzipped=gzipped) for _ in range(max(CLIENTS))]
        asks = list(map(by_http, clients))
        await alone(questions[:20], rt, asks[0], Spent(served.pid))
        by_clients: dict[str, Any] = {"1": await alone(questions, rt, asks[0], Spent(served.pid))}
        for many in CLIENTS[1:]:
            by_clients[str(many)] = await crowded(questions, rt, asks[:many], Spent(served.pid))
        by_clients["refused"] = sum(status != 200 for client in clients for status in client.statuses)
        if gzipped:
            figures["bytes"] = await bytes_of(questions[:20], clients[0])
        figures["clients_gzip" if gzipped else "clients"] = by_clients
        await asyncio.gather(*(client.close() for client in clients))
    return figures


async def _own_key(served: Served) -> str:
    """Create a key that may read, like the key of a citizen."""
    async with served.client() as http:
        wanted = {"name": "benchmark", "scopes": [f"citizen:{WORLD.citizen}:read", "N2:read", "N3:read"]}
        made = await http.post("/v1/keys", json=wanted)
        made.raise_for_status()
        return str(made.json()["key"])


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--questions", type=int, default=192)
    questions = parser.parse_args().questions
    if questions < 2 * max(CLIENTS):
        parser.error(f"at least {2 * max(CLIENTS)} questions: two for each client")
    figures = asyncio.run(measure(questions))
    sys.stdout.write(orjson.dumps(figures, option=orjson.OPT_INDENT_2).decode() + "\n")


if __name__ == "__main__":
    main()
