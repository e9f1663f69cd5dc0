"""`substrate serve` in a process of its own, with few files to open and its log in a file."""

from __future__ import annotations

import json
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import pytest

from tests.acceptance.conftest import ADMIN_KEY
from tests.loopback import free_port
from tests.waiting import wait_until

ROOT: Final = Path(__file__).parents[2]
FILES: Final = 256
LIMIT_S: Final = 120.0


class Served:
    """A running service: its address, a client with the administrator's key, and what it wrote."""

    def __init__(self, home: Path, settings: Mapping[str, str]) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.log = home / "log"
        given = {"SUBSTRATE_ADMIN_KEY": ADMIN_KEY, "SUBSTRATE_EMBEDDING": "none", **settings}
        with self.log.open("wb") as out, pytest.MonkeyPatch.context() as environment:
            for name, value in given.items():
                environment.setenv(name, value)
            self.process = subprocess.Popen(
                [sys.executable, "-m", "api.cli", "--data", str(home / "data"), "serve", "--port", str(port)],
                cwd=ROOT,
                stdout=out,
                stderr=out,
                preexec_fn=_few_files,
            )
        self.http = self.client(ADMIN_KEY)

    def client(self, key: str | None) -> httpx.Client:
        """A client with this key, or with none, that opens a connection for each request."""
        headers = {"Connection": "close", **({} if key is None else {"Authorization": f"Bearer {key}"})}
        return httpx.Client(base_url=self.url, timeout=LIMIT_S, headers=headers)

    def connect(self) -> socket.socket:
        """A connection on which nothing was said yet."""
        address = urlsplit(self.url)
        return socket.create_connection((address.hostname or "", address.port or 0), LIMIT_S)

    def said(self, *lines: str, body: bytes = b"") -> bytes:
        """All that is answered to these lines of HTTP until the service closes."""
        with self.connect() as client:
            client.sendall("\r\n".join((*lines, "Host: localhost", "", "")).encode() + body)
            return all_of(client)

    def audited(self) -> list[dict[str, Any]]:
        """The lines of the audit log."""
        whole = self.log.read_text("utf-8").rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines() if '"event":"request"' in line]

    def audit_of(self, request_id: str) -> dict[str, Any]:
        """The line of the audit log on the request of this id: it is written behind the answer."""

        def lines() -> list[dict[str, Any]]:
            return [line for line in self.audited() if line["request_id"] == request_id]

        wait_until(lines)
        return lines()[0]


def all_of(client: socket.socket) -> bytes:
    """Everything that comes until the other side closes."""
    heard = b""
    try:
        while part := client.recv(65536):
            heard += part
    except ConnectionResetError:
        pass
    return heard


def _few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))


@contextmanager
def serving(home: Path, **settings: str) -> Iterator[Served]:
    """The service once it is ready, with these settings of the environment; ended as Ctrl-C ends it."""
    running = Served(home, settings)
    try:
        wait_until(lambda: _ready(running) or running.process.poll() is not None)
        assert running.process.poll() is None, running.log.read_text("utf-8")
        yield running
    finally:
        running.http.close()
        running.process.send_signal(signal.SIGINT)
        running.process.wait(LIMIT_S)


def _ready(running: Served) -> bool:
    try:
        return running.http.get("/health/ready").status_code == 200
    except httpx.TransportError:
        return False
