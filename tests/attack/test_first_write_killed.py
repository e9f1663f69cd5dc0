"""The engine is killed while the graph of a new citizen is made: what is left is ours, and becomes whole."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any, Never

import pytest

from api.cli import program
from api.runtime.runtime import open_runtime, open_store
from orchestration import insertion
from schemas.commands import Remember
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.connection.errors import ConnectionLost
from substrate.graphs import indexes
from substrate.graphs.graph import Graph
from substrate.graphs.registry import read_stamp
from tests.engine_processes import engine_home, engines_in

NOW = 1_780_000_000_000_000
FIRST = Remember(citizen_id="ada", id="m", name="The first", command_id="first")


def without_models(data: Path) -> Settings:
    return Settings(store=StoreSettings(data=data), embedding=EmbeddingSettings(embedding="none"))


async def write(data: Path) -> str:
    async with open_runtime(without_models(data)) as runtime:
        [receipt] = await insertion.apply([FIRST], runtime.deps, NOW)
        return receipt.status


async def is_stamped(data: Path) -> bool:
    async with open_store(without_models(data).store) as (connection, _engine):
        assert "citizen_ada" in await connection.command("GRAPH.LIST")
        return await read_stamp(Graph(connection, "citizen_ada")) is not None


@pytest.mark.parametrize("step", ["create_unique", "wait_operational"])
def test_a_graph_whose_first_write_was_killed_is_named_as_such_and_completed_by_the_next(
    step: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")

    def command(data: Path, *words: str) -> str:
        with pytest.raises(SystemExit):
            program.main(["--data", str(data), *words])
        said = capsys.readouterr()
        return " ".join((said.out + said.err).split())

    with engine_home() as home:

        async def die(*_args: Any) -> Never:
            for pid in engines_in(home):
                os.kill(pid, signal.SIGKILL)
            raise ConnectionLost("the engine is gone")

        data = home / "data"
        with monkeypatch.context() as patched:
            patched.setattr(indexes, step, die)
            with pytest.raises(ConnectionLost):
                asyncio.run(write(data))
        assert not asyncio.run(is_stamped(data))
        looked = command(data, "doctor")
        assert "citizen_ada: empty; its first write was broken off" in looked
        assert "All is well." in looked
        assert "send it again" in command(data, "ask", "-c", "ada", "What was first?")
        assert asyncio.run(write(data)) == "stored"
        assert "citizen_ada: 1 memory" in command(data, "doctor")


def test_a_graph_of_others_that_only_has_such_a_name_is_still_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")

    async def others(data: Path) -> None:
        async with open_store(without_models(data).store) as (connection, _engine):
            await connection.command("GRAPH.QUERY", "citizen_bo", "CREATE (:Theirs)")

    with engine_home() as home:
        asyncio.run(others(home / "data"))
        with pytest.raises(SystemExit):
            program.main(["--data", str(home / "data"), "doctor"])
        assert "citizen_bo is not ours" in " ".join(capsys.readouterr().out.split())
