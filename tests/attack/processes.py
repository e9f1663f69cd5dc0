"""Processes that use a data directory, and how the tests of lifetimes end them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from tests.engine_processes import engines_in
from tests.waiting import becomes

ROOT: Final = Path(__file__).parents[2]
LIMIT_S: Final = 45.0
"""An engine without users is gone in some six seconds; a busy machine may take its time."""
OPENED: Final = """
import atexit, asyncio, os, shutil, signal, sys
import redis
from api.client import AsyncSubstrate, Substrate
def kept(directory):
    with redis.Redis(unix_socket_path=f"{directory}/engine.sock") as engine:
        while "keeper" not in {client["name"] for client in engine.client_list()}:
            pass
memory = Substrate.embedded(sys.argv[1], embedding="none")
print(memory.remember(citizen_id="ada", name="Tea").id, flush=True)
"""


def started(*words: str, **options: Any) -> subprocess.Popen[str]:
    """A Python process in the root of the project, whose streams are ours."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, *words], cwd=ROOT, text=True, **{**pipes, **options})


def program(text: str, *words: object) -> subprocess.Popen[str]:
    """A program of one text."""
    return started("-c", text, *map(str, words))


def command(data: Path, *words: str) -> subprocess.Popen[str]:
    """The command line on a data directory."""
    return started("-m", "api.cli", "--data", str(data), *words)


def left_alone(home: Path) -> bool:
    """Whether all engines below `home` end by themselves, soon."""
    return becomes(lambda: not engines_in(home), LIMIT_S)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The status and the errors of a process that ends by itself, with its standard input still open."""
    assert becomes(lambda: process.poll() is not None), "it does not end"
    assert process.stderr is not None
    return process.returncode, process.stderr.read()


def close(process: subprocess.Popen[str]) -> None:
    """End a process of a test, whatever it does."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


class Spoken:
    """A process that speaks the Model Context Protocol over its standard streams, line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._number = 0

    def progress(self, number: int, told: str) -> None:
        """Return when it is told how far a request is, in these words; it is not answered before."""
        for message in iter(self.heard, None):
            assert message.get("id") != number, message
            if message.get("method") == "notifications/progress" and told in message["params"]["message"]:
                return
        raise AssertionError("it ended without a word")

    def greet(self) -> dict[str, Any]:
        """The answer to `initialize`."""
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        answer = self.answer(self.ask("initialize", hello))
        self._send({"method": "notifications/initialized"})
        return answer

    def ask(self, method: str, params: dict[str, Any]) -> int:
        """Send a request; its number."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        return self._number

    def answer(self, number: int) -> dict[str, Any]:
        """The answer to a request."""
        for message in iter(self.heard, None):
            if message.get("id") == number:
                return message
        raise AssertionError("it ended without an answer")

    def heard(self) -> dict[str, Any] | None:
        """The next message; None when there are no more."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool."""
        result = self.answer(self.ask("tools/call", {"name": tool, "arguments": arguments}))["result"]
        return dict(result)

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()
