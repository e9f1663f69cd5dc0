"""While the engine loads: the service says so and for how long, the command line says that it waits."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.acceptance.conftest import ADMIN_KEY
from tests.engine_processes import engines_in
from tests.loading_engine import command, filled, release
from tests.loopback import free_port
from tests.waiting import wait_until_async

LIMIT_S = 60.0


@pytest.fixture
async def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory whose engine takes its time to load."""
    monkeypatch.setenv("SUBSTRATE_ADMIN_KEY", ADMIN_KEY)
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    await filled(tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    for pid in engines_in(tmp_path):
        os.kill(pid, signal.SIGKILL)


class Loading:
    """A service of a process of its own, whose engine loads; a client with the administrator's key."""

    def __init__(self, data: Path, *words: str) -> None:
        port = free_port()
        self.process = command(data, "serve", "--port", str(port), *words)
        self.http = httpx.Client(
            base_url=f"http://127.0.0.1:{port}", timeout=30, headers={"Authorization": f"Bearer {ADMIN_KEY}"}
        )

    def ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        """The answer, once the service listens."""
        give_up = time.monotonic() + LIMIT_S
        while True:
            try:
                return self.http.request(method, path, **options)
            except httpx.TransportError:
                assert self.process.poll() is None, self.process.communicate()
                assert time.monotonic() < give_up
                time.sleep(0.05)

    def end(self) -> None:
        """Leave nothing behind."""
        self.http.close()
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def service(data: Path, home: Path) -> Iterator[Loading]:
    made = Loading(data)
    yield made
    made.end()


ROUTES: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/health/ready", {}),
    ("GET", "/metrics", {}),
    ("GET", "/v1/memories/N1/any", {"params": {"citizen_id": "ada"}}),
    ("POST", "/v1/retrieve", {"json": {"citizen_id": "ada", "query_text": "tea"}}),
    ("POST", "/v1/commands", {"json": []}),
    ("POST", "/mcp", {"json": {}}),
]


def assert_loading(answer: httpx.Response, path: str) -> None:
    problem = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, problem["type"]) == (503, "/problems/unavailable"), path
    assert "the engine is loading its data" in problem["detail"]
    assert problem["retry_after_s"] == int(answer.headers["Retry-After"]) >= 1
    assert problem["remedy"]


async def test_a_service_whose_engine_loads_says_so_on_every_route_until_it_serves(
    service: Loading, data: Path
) -> None:
    for method, path, options in ROUTES:
        assert_loading(service.ask(method, path, **options), path)
    assert service.ask("GET", "/health/live").status_code == 200
    assert service.ask("GET", "/openapi.json").status_code == 200
    await release(data)
    await wait_until_async(lambda: service.ask("GET", "/health/ready").status_code != 503)
    assert service.ask("GET", "/health/ready").status_code == 200
    stored = service.ask("POST", "/v1/memories", json={"citizen_id": "ada", "name": "Tea"})
    assert stored.status_code == 201
    service.process.send_signal(signal.SIGINT)
    assert service.process.wait(30) == 0


async def test_an_open_service_says_the_same_without_a_key(data: Path, home: Path) -> None:
    service = Loading(data, "--open")
    try:
        for method, path, options in ROUTES:
            assert_loading(service.ask(method, path, **options), path)
    finally:
        service.end()


async def test_a_service_that_is_stopped_while_the_engine_loads_leaves_the_engine_to_the_next_one(
    service: Loading, data: Path, home: Path
) -> None:
    assert service.ask("GET", "/health/ready").status_code == 503
    [pid] = engines_in(home)
    service.process.send_signal(signal.SIGINT)
    assert service.process.wait(30) == 0
    assert engines_in(home) == [pid]
    await release(data)
    looked = command(data, "doctor", settings="")
    out, _ = looked.communicate(timeout=LIMIT_S)
    assert looked.returncode == 0, out
    assert engines_in(home) == []


async def test_a_service_whose_engine_ends_while_it_loads_ends_with_the_reason(
    service: Loading, home: Path
) -> None:
    assert service.ask("GET", "/health/ready").status_code == 503
    [pid] = engines_in(home)
    os.kill(pid, signal.SIGKILL)
    _, said = service.process.communicate(timeout=LIMIT_S)
    assert service.process.returncode == 1
    assert "did not start" in said.splitlines()[-1]


async def test_the_command_line_says_that_it_waits_and_for_what(data: Path, home: Path) -> None:
    waiting = command(data, "doctor")
    said = first_line_with(waiting, "waiting")
    assert "the engine is loading its data" in said
    assert "left" in said
    await release(data)
    out, _ = waiting.communicate(timeout=LIMIT_S)
    assert waiting.returncode == 0, out
    assert "All is well" in out
    assert "waiting" not in out


def first_line_with(process: subprocess.Popen[str], word: str) -> str:
    """The first line on stderr that holds the word."""
    assert process.stderr is not None
    give_up = time.monotonic() + LIMIT_S
    while time.monotonic() < give_up:
        if select.select([process.stderr], [], [], 0.1)[0]:
            line = process.stderr.readline()
            if word in line:
                return line
            assert line, "it ended instead of waiting"
    raise AssertionError(f"nothing was said of {word}")
