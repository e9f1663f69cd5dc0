"""Several workers of one service: each answers, a killed one is replaced, and one stop ends all."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest

from api.cli.program import EXIT_FAULT
from tests.attack.processes import close, command, ended, left_alone
from tests.loopback import free_port
from tests.waiting import becomes

KEY: Final = "sk-of-the-workers-0123456789abcd"
MEMORY: Final = {"citizen_id": "ada", "name": "harbour", "description": "The harbour was full of boats."}


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    monkeypatch.setenv("SUBSTRATE_ADMIN_KEY", KEY)
    place = Path(tempfile.mkdtemp(prefix="workers-test-"))
    yield place
    assert left_alone(place)
    shutil.rmtree(place, ignore_errors=True)


def workers_of(service: subprocess.Popen[bytes]) -> set[int]:
    """The processes that the service has started to answer requests."""
    children = Path(f"/proc/{service.pid}/task/{service.pid}/children").read_text().split()
    return {int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()}


def answers(port: int) -> bool:
    """Whether the one memory is read over a new connection; a worker that begins may not have opened the store."""
    try:
        answer = httpx.get(
            f"http://127.0.0.1:{port}/v1/memories",
            params={"citizen_id": "ada"},
            headers={"Authorization": f"Bearer {KEY}"},
            timeout=10,
        )
    except httpx.TransportError:
        return False
    return answer.status_code == 200 and "harbour" in answer.text


def is_ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health/ready", timeout=10).status_code == 200
    except httpx.TransportError:
        return False


@contextmanager
def stopped(process: int) -> Iterator[None]:
    """Within the context the process does nothing."""
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")
def test_each_of_two_workers_answers_a_killed_one_is_replaced_and_a_stop_ends_all(home: Path) -> None:
    port = free_port()
    words = [sys.executable, "-m", "api.cli", "--data", str(home), "serve", "--port", str(port), "--workers", "2"]
    service = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    try:
        assert becomes(lambda: is_ready(port))
        sent = httpx.post(
            f"http://127.0.0.1:{port}/v1/memories",
            json=MEMORY,
            headers={"Authorization": f"Bearer {KEY}"},
            timeout=60,
        )
        assert sent.status_code == 201
        one, other = workers_of(service)
        for resting in (one, other):
            with stopped(resting):
                assert becomes(lambda: answers(port))
        os.kill(one, signal.SIGKILL)
        assert becomes(lambda: len(workers_of(service) - {one}) == 2)
        (new,) = workers_of(service) - {one, other}
        with stopped(other):
            assert becomes(lambda: answers(port))
    finally:
        service.terminate()
        code = service.wait(60)
    assert code == 0
    assert not any(map(alive, (one, other, new)))


@pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")
def test_workers_that_cannot_serve_end_with_the_error(home: Path) -> None:
    home.chmod(0o700)
    (home / "engine.lock").mkdir()
    service = command(home, "serve", "--port", str(free_port()), "--workers", "2")
    code, told = ended(service)
    close(service)
    assert code == EXIT_FAULT
    assert "cannot be used" in told
