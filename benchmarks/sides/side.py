"""One side of a comparison: a checkout with a store of its own, its service, and what a request costs there."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import orjson

from benchmarks.http import Client
from benchmarks.serving import engine_pid

HERE: Final = Path(__file__).parent
KEY: Final = "sk-of-the-benchmarks-0123456789ab"
START_LIMIT_S: Final = 600.0
STOP_LIMIT_S: Final = 60.0
SETTINGS: Final = (f"SUBSTRATE_ADMIN_KEY={KEY}", "SUBSTRATE_RATE_LIMIT=off", "SUBSTRATE_UPKEEP=off")


class Cost(NamedTuple):
    """Milliseconds of a request: by the clock, and of the processor in the service and in the engine."""

    clock: float
    service: float
    engine: float


def processor_ms(pid: int) -> float:
    """Return the processor time of a process so far, in milliseconds. Works only on Linux."""
    return time.clock_gettime((~pid << 3) | 2) * 1000


def children(pid: int) -> list[int]:
    """Return the processes that a process has started: the workers of a service that has several."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@dataclass
class Side:
    """A checkout, and a store in `data` that is filled by its own code."""

    name: str
    checkout: Path
    data: Path
    embedding: str
    workers: int = 1
    statuses: list[int] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        """Open the store; its engine runs until the context ends."""
        self.data.mkdir(parents=True, exist_ok=True)
        self._service: subprocess.Popen[bytes] | None = None
        script = HERE / "store_worker.py"
        self._worker = await asyncio.to_thread(
            subprocess.Popen,
            self._words(str(script), str(self.checkout), str(self.data)),
            cwd=self.checkout,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        await asyncio.to_thread(self._read)
        pid = await engine_pid(self.data)
        if pid is None:
            raise RuntimeError(f"{self.name}: the engine does not answer")
        self._engine = pid
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop_service()
        if self._worker.stdin is not None:
            self._worker.stdin.close()
        await asyncio.to_thread(self._worker.wait, STOP_LIMIT_S)

    def _words(self, *words: str) -> list[str]:
        """A command of the interpreter, with settings in its environment."""
        own = (f"PYTHONPATH={HERE}", f"SUBSTRATE_DATA={self.data}", f"SUBSTRATE_EMBEDDING={self.embedding}")
        return ["env", *own, *SETTINGS, sys.executable, *words]

    def _read(self) -> dict[str, Any]:
        assert self._worker.stdout is not None
        while line := self._worker.stdout.readline():
            with suppress(ValueError):  # other lines are of libraries
                answer: dict[str, Any] = json.loads(line)
                return answer
        raise RuntimeError(f"{self.name}: the store cannot be opened")

    async def tell_worker(self, **question: Sequence[Any]) -> dict[str, Any]:
        """Send a line to the process that holds the store open, and return its answer."""
        assert self._worker.stdin is not None
        self._worker.stdin.write(json.dumps(question) + "\n")
        self._worker.stdin.flush()
        return await asyncio.to_thread(self._read)

    async def ingest(self, file: Path) -> None:
        """Store a LoCoMo file by the command line of the checkout."""
        words = self._words("-m", "api.cli", "ingest", "--format", "locomo", str(file))
        await asyncio.to_thread(
            subprocess.run, words, cwd=self.checkout, check=True, capture_output=True, timeout=3600
        )

    async def start_service(self) -> None:
        """Start the service anew, so that it knows nothing."""
        await self.stop_service()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        words = self._words("-m", "api.cli", "serve", "--port", str(port), *self._more_workers())
        self._service = await asyncio.to_thread(
            subprocess.Popen, words, cwd=self.checkout, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._port = port
        self._client = self.client()
        give_up = time.monotonic() + START_LIMIT_S
        while time.monotonic() < give_up and self._service.poll() is None:
            with suppress(OSError, asyncio.IncompleteReadError):
                await self._client.get("/health/ready")
                if self.statuses.pop() == 200:
                    return
            await asyncio.sleep(0.1)
        raise RuntimeError(f"{self.name}: the service is not ready")

    def _more_workers(self) -> Sequence[str]:
        """An option that an old checkout does not know is left out where one process is asked for."""
        return ("--workers", str(self.workers)) if self.workers > 1 else ()

    async def stop_service(self) -> None:
        """End the service as Ctrl-C does; the engine goes on."""
        if self._service is not None:
            with suppress(OSError):
                await self._client.close()
            self._service.send_signal(signal.SIGINT)
            await asyncio.to_thread(self._service.wait, STOP_LIMIT_S)
            self._service = None

    def client(self) -> Client:
        """Return another client of the service."""
        return Client("127.0.0.1", self._port, KEY, statuses=self.statuses)

    def spent(self) -> tuple[float, float]:
        """Milliseconds of the processor so far, of the service and of the engine."""
        assert self._service is not None
        pids = (self._service.pid, *children(self._service.pid))
        return sum(map(processor_ms, pids)), processor_ms(self._engine)

    async def request(self, path: str, **body: Any) -> tuple[Cost, bytes]:
        """Send a request; returns its cost, and the body of the answer."""
        raw = orjson.dumps(body)
        service, engine = self.spent()
        begun = time.perf_counter()
        answer = await self._client.post(path, raw)
        clock = (time.perf_counter() - begun) * 1000
        after = self.spent()
        return Cost(clock, after[0] - service, after[1] - engine), answer

    def forget(self) -> None:
        """Remove the store."""
        shutil.rmtree(self.data, ignore_errors=True)
