"""A store from which a graph was removed is opened again and again, however the process ended that removed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.runtime.runtime import Runtime, open_runtime
from orchestration.transfer.exporter import export
from orchestration.transfer.importer import import_lines
from schemas.errors import InvalidRequest
from schemas.memory import Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.engine import append_log
from substrate.graphs.names import DELETIONS, GraphOf
from tests.integration.store import NOW, carried, remember, stored


def settings(directory: Path) -> Settings:
    return Settings(store=StoreSettings(data=directory), embedding=EmbeddingSettings(embedding="none"))


async def opens_often(directory: Path) -> None:
    for _ in range(4):
        async with open_runtime(settings(directory)) as runtime:
            assert await carried(runtime.deps, "kept", "m") is not None
            assert await runtime.deps.graphs.existing() == ["citizen_kept"]


async def kept(runtime: Runtime) -> None:
    await stored(runtime.deps, remember("kept", "m"))


async def test_after_a_removal_that_nobody_could_finish(tmp_path: Path) -> None:
    async with open_runtime(settings(tmp_path)) as runtime:
        await kept(runtime)
        await stored(runtime.deps, remember("gone", "m"))
        await append_log.delete_graph(runtime.deps.connection, "citizen_gone")
        assert await runtime.deps.connection.command("EXISTS", DELETIONS) == 1
    await opens_often(tmp_path)


async def test_after_an_import_that_was_refused(tmp_path: Path) -> None:
    async with open_runtime(settings(tmp_path)) as runtime:
        await kept(runtime)
        await stored(runtime.deps, *(remember("other", f"m{number}") for number in range(3)))
        lines = list(await export([GraphOf(Level.N1, "other")], runtime.deps, embeddings=False))
        await append_log.delete_graph(runtime.deps.connection, "citizen_other")
        runtime.deps.graphs.forget()

        def interrupted() -> list[bytes]:
            turns.append(1)
            return lines if len(turns) < 2 else lines[:3]

        turns: list[int] = []
        with pytest.raises(InvalidRequest):
            await import_lines(interrupted, runtime.deps, NOW, progress=lambda *_: None)
        assert await runtime.deps.connection.command("EXISTS", DELETIONS) == 0
    await opens_often(tmp_path)
