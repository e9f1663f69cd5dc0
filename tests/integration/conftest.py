"""One open store for all integration tests; each test takes a citizen of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from api.runtime import running
from orchestration.deps import Deps
from schemas.settings import EmbeddingSettings, Settings, StoreSettings


@pytest.fixture(scope="session")
async def deps(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Deps]:
    store = StoreSettings(data=tmp_path_factory.mktemp("store"))
    async with running(Settings(store=store, embedding=EmbeddingSettings(embedding="local"))) as runtime:
        yield runtime.deps


@pytest.fixture
def fresh_citizen() -> str:
    return f"t{uuid4().hex}"
