"""An engine without users ends by itself, soon, however its last user left; every process ends when told to."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests import loading_engine
from tests.attack.processes import OPENED, Spoken, command, ended, left_alone, program
from tests.engine_processes import engine_home, engines_in
from tests.loading_engine import filled, release
from tests.waiting import becomes

ENDINGS: Final = {
    "without close": ("", 0),
    "by an exception": ("raise ValueError('on purpose')", 1),
    "at once": ("os._exit(3)", 3),
    "killed": ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
    "closed at exit": ("atexit.register(memory.close)", 0),
    "without its directory": ("kept(sys.argv[1]); shutil.rmtree(sys.argv[1])", 0),
}
"""How a Python program ends that has opened a store, and its status."""
KILLED_BEFORE_ITS_KEEPER: Final = """
import os, signal
from substrate.engine import (process as engine_process)
spawn = engine_process._spawn
def spawn_and_die(*given):
    spawn(*given)
    os.kill(os.getpid(), signal.SIGKILL)
engine_process._spawn = spawn_and_die
"""
PATIENT: Final = """
from api.mcp import stdio
stdio.MAX_WAIT_S = 600
"""


@pytest.fixture(autouse=True)
def wordless_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process of a test waits for an embedder."""
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")


@pytest.fixture
def home() -> Iterator[Path]:
    with engine_home() as folder:
        yield folder


def test_a_program_that_ends_in_any_way_leaves_no_engine(home: Path, running: list[subprocess.Popen[str]]) -> None:
    programs = {name: program(OPENED + how, home / name) for name, (how, _) in ENDINGS.items()}
    running += programs.values()
    for name, process in programs.items():
        status, said = ended(process)
        assert status == ENDINGS[name][1], (name, said)
        if status != 1:
            assert said == "", name
    assert left_alone(home)


def test_a_starter_that_is_killed_before_it_has_done_leaves_no_engine(
    home: Path, running: list[subprocess.Popen[str]]
) -> None:
    running.append(program(KILLED_BEFORE_ITS_KEEPER + OPENED, home / "data"))
    assert ended(running[0])[0] == -signal.SIGKILL
    assert left_alone(home)


@pytest.mark.parametrize("words", [["serve", "--port", "1", "--open"], ["demo"]], ids=["serve", "demo"])
def test_a_command_that_is_killed_as_its_engine_comes_up_leaves_no_engine(
    home: Path, running: list[subprocess.Popen[str]], words: list[str]
) -> None:
    running.append(command(home / "data", *words))
    assert becomes(lambda: bool(engines_in(home)) or running[0].poll() is not None)
    running[0].kill()
    assert left_alone(home)


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_a_server_of_the_protocol_ends_with_its_engine_though_its_input_is_open(
    home: Path, running: list[subprocess.Popen[str]], sign: signal.Signals
) -> None:
    running.append(command(home / "data", "mcp"))
    spoken = Spoken(running[0])
    spoken.greet()
    assert not spoken.call("remember", citizen_id="ada", name="Tea").get("isError")
    running[0].send_signal(sign)
    assert ended(running[0])[0] == (-sign if sign is signal.SIGKILL else 130)
    assert left_alone(home)


def test_a_server_of_the_protocol_ends_though_nobody_reads_what_it_says(
    home: Path, running: list[subprocess.Popen[str]]
) -> None:
    running.append(command(home / "data", "mcp"))
    spoken = Spoken(running[0])
    spoken.greet()
    for _ in range(40):
        spoken.ask("tools/list", {})  # some 8 KB each: more than a pipe holds
    spoken.ask("tools/call", {"name": "remember", "arguments": {"citizen_id": "ada", "name": "Tea"}})
    assert becomes(lambda: bool(engines_in(home)))
    running[0].terminate()
    status, said = ended(running[0])
    assert status == 130, said
    assert left_alone(home)


def test_a_server_of_the_protocol_ends_when_nobody_can_hear_it(
    home: Path, running: list[subprocess.Popen[str]]
) -> None:
    running.append(command(home / "data", "mcp"))
    spoken = Spoken(running[0])
    spoken.greet()
    assert running[0].stdout is not None
    running[0].stdout.close()
    spoken.ask("tools/list", {})
    assert ended(running[0]) == (0, "")
    assert left_alone(home)


async def test_a_server_of_the_protocol_answers_before_its_engine_is_up_and_its_tools_wait(
    home: Path, running: list[subprocess.Popen[str]]
) -> None:
    await filled(home / "data")
    running.append(program(PATIENT + loading_engine.PROGRAM, loading_engine.SLOW, "--data", home / "data", "mcp"))
    spoken = Spoken(running[0])
    assert (await asyncio.to_thread(spoken.greet))["result"]["serverInfo"]["name"] == "substrate"
    memory = {"name": "remember", "arguments": {"citizen_id": "ada", "name": "Tea"}}
    asked = spoken.ask("tools/call", {**memory, "_meta": {"progressToken": "t"}})
    await asyncio.to_thread(spoken.progress, asked, "loading its data")
    await release(home / "data")
    assert not (await asyncio.to_thread(spoken.answer, asked))["result"]["isError"]


def test_a_server_of_the_protocol_says_why_its_store_cannot_be_opened(
    home: Path, running: list[subprocess.Popen[str]]
) -> None:
    (home / "file").touch()
    running.append(command(home / "file", "mcp"))
    spoken = Spoken(running[0])
    spoken.greet()
    refused = spoken.call("remember", citizen_id="ada", name="Tea")
    assert refused["isError"]
    assert "cannot be used: it is a file" in refused["content"][0]["text"]
    (home / "file").unlink()
    assert not spoken.call("remember", citizen_id="ada", name="Tea").get("isError")
    assert running[0].stdin is not None
    running[0].stdin.close()
    status, said = ended(running[0])
    assert status == 0
    assert "cannot be used: it is a file" in said
