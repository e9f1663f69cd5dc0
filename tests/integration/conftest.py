"""One open store for all integration tests; each test takes a citizen of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import uuid4

import pytest

from api.runtime import running
from orchestration.deps import Deps
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.language_models import open_language_model
from tests.scripted_model import ScriptedModel


@pytest.fixture(scope="session")
async def deps(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Deps]:
    store = StoreSettings(data=tmp_path_factory.mktemp("store"))
    async with running(Settings(store=store, embedding=EmbeddingSettings(embedding="local"))) as runtime:
        yield runtime.deps


@pytest.fixture
def fresh_citizen() -> str:
    return f"t{uuid4().hex}"


@pytest.fixture
async def asking(deps: Deps, scripted: ScriptedModel) -> AsyncIterator[Deps]:
    """The open store with a language model that says what a test has written for it."""
    model = open_language_model(scripted.settings())
    assert model is not None
    yield replace(deps, language_model=model)
    await model.aclose()
