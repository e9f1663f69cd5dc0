"""An open store whose embedder is so small that the oracle can compute it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from api.runtime.runtime import Runtime, open_runtime
from schemas.settings import EmbeddingSettings, Settings, StoreSettings


@pytest.fixture(scope="session")
async def runtime(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runtime]:
    store = StoreSettings(data=tmp_path_factory.mktemp("oracle"))
    async with open_runtime(
        Settings(store=store, embedding=EmbeddingSettings(embedding="tests.oracle.likeness:Tiny"))
    ) as r:
        yield r
