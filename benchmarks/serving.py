"""A service in its own process for a benchmark; it can be killed, and its engine too."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import httpx
from llama_index.core.base.embeddings.base import BaseEmbedding
from redis.asyncio import Redis
from redis.exceptions import RedisError

from substrate.engine.unix_socket import socket_path

SERVE: Final = """
import json, sys, uvicorn
from pathlib import Path
from api.service import create_service
from schemas.settings import AuthSettings, EmbeddingSettings, Settings, StoreSettings, UpkeepSettings
settings = Settings(
    upkeep=UpkeepSettings(**json.loads(sys.argv[6])),
    store=StoreSettings(data=Path(sys.argv[2]), url=sys.argv[3] or None, host=None),
    embedding=EmbeddingSettings(embedding=sys.argv[7]),
    auth=AuthSettings(admin_key=sys.argv[4], rate_limit=sys.argv[5]),
)
uvicorn.run(create_service(settings), host="127.0.0.1", port=int(sys.argv[1]), log_level="critical", ws="none")
"""
KEY: Final = "sk-of-the-benchmarks-0123456789ab"
START_LIMIT_S: Final = 60.0
NO_UPKEEP: Final[Mapping[str, Any]] = {"upkeep": "off"}


class Hashing(BaseEmbedding):
    """A very cheap embedder: hashes of the words, added up to 64 numbers."""

    def __init__(self) -> None:
        super().__init__(model_name="hashing")

    def _get_text_embedding(self, text: str) -> list[float]:
        vector = [0.0] * 64
        for word in text.lower().replace(".", " ").split():
            digest = blake2b(word.encode(), digest_size=64).digest()
            vector = [place + byte - 127.5 for place, byte in zip(vector, digest, strict=True)]
        return vector

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


class Served:
    """A service on a data directory, or on the engine at `url`.

    `upkeep`: its settings of upkeep; none without. `embedding`: its embedding model, by default a very cheap one.
    """

    def __init__(
        self,
        data: Path,
        url: str = "",
        *,
        rate_limit: str = "off",
        upkeep: Mapping[str, Any] = NO_UPKEEP,
        embedding: str = "benchmarks.serving:Hashing",
    ) -> None:
        self.data = data
        self._url = url
        self._rate_limit = rate_limit
        self._upkeep = json.dumps(dict(upkeep))
        self._embedding = embedding
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Start the service if it does not run, and wait until it is ready."""
        if self._process is None or self._process.poll() is not None:
            of_store = (str(self.port), str(self.data), self._url)
            words = [sys.executable, "-c", SERVE, *of_store, KEY, self._rate_limit, self._upkeep, self._embedding]
            self._process = await asyncio.to_thread(
                subprocess.Popen, words, cwd=Path(__file__).parents[1], stderr=subprocess.DEVNULL
            )
        await wait_until_ready(self.port)

    @property
    def pid(self) -> int:
        """The process id of the service. Call it only after `start`."""
        assert self._process is not None
        return self._process.pid

    def client(self) -> httpx.AsyncClient:
        """Return a client with the administrator's key; the caller closes it."""
        headers = {"Authorization": f"Bearer {KEY}"}
        return httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.port}", timeout=30, headers=headers)

    def kill(self) -> None:
        """`kill -9` of the service."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    async def stop(self) -> None:
        """End the service as Ctrl-C does."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            await asyncio.to_thread(self._process.wait, 30)


def free_port() -> int:
    """A port of this machine on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def wait_until_ready(port: int) -> None:
    """Return when the service at this port is ready. Raises RuntimeError when it is not within a minute."""
    give_up = time.monotonic() + START_LIMIT_S
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as http:
        while time.monotonic() < give_up:
            with suppress(httpx.TransportError):
                if (await http.get("/health/ready")).status_code == 200:
                    return
            await asyncio.sleep(0.02)
    raise RuntimeError("the service is not ready")


async def engine_pid(data: Path) -> int | None:
    """Return the process id of the engine of a data directory; None when none answers."""
    try:
        async with Redis(unix_socket_path=str(socket_path(data)), socket_timeout=5) as engine:
            return int((await engine.info("server"))["process_id"])
    except (RedisError, OSError):
        return None


async def kill_engine(data: Path) -> None:
    """`kill -9` of the engine of a data directory, if one runs."""
    pid = await engine_pid(data)
    if pid is not None:
        os.kill(pid, signal.SIGKILL)
