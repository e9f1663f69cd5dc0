"""An open store whose embedder is so small that the oracle can compute it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from api.runtime.runtime import Runtime, open_runtime
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.graphs.registry import Adapter


def with_tiny(directory: Path, likeness: Adapter) -> Settings:
    return Settings(
        store=StoreSettings(data=directory, likeness=likeness),
        embedding=EmbeddingSettings(embedding="tests.oracle.likeness:Tiny"),
    )


@pytest.fixture(scope="session")
async def runtime(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runtime]:
    async with open_runtime(with_tiny(tmp_path_factory.mktemp("oracle"), "sets")) as r:
        yield r


@pytest.fixture(scope="session")
async def indexed_runtime(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runtime]:
    """The same with the other adapter of likeness."""
    async with open_runtime(with_tiny(tmp_path_factory.mktemp("oracle"), "index")) as r:
        yield r
