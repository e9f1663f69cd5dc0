"""One open store for all integration tests; each test takes a citizen of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from uuid import uuid4

import pytest

from api.runtime import running
from orchestration.deps import Deps
from schemas.memory import Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.connection import GraphMissing
from substrate.graph_schema import graph_name
from substrate.language_models import open_language_model
from tests.scripted_model import ScriptedModel

PATIENT_S = 60.0
"""What a model may take in a test that is not about a slow one."""


@pytest.fixture(scope="session")
async def deps(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Deps]:
    store = StoreSettings(data=tmp_path_factory.mktemp("store"))
    async with running(Settings(store=store, embedding=EmbeddingSettings(embedding="local"))) as runtime:
        yield runtime.deps


@pytest.fixture
async def fresh_citizen(deps: Deps) -> AsyncIterator[str]:
    """A citizen whom nobody else has used, and whose graph the open store does not keep: each takes some 2 MB."""
    name = f"t{uuid4().hex}"
    yield name
    with suppress(GraphMissing):
        await deps.connection.command("GRAPH.DELETE", graph_name(Level.N1, name))


@pytest.fixture
async def asking(deps: Deps, scripted: ScriptedModel) -> AsyncIterator[Deps]:
    """The open store with a language model that says what a test has written for it."""
    model = open_language_model(scripted.settings())
    assert model is not None
    model.question_seconds = PATIENT_S
    yield replace(deps, language_model=model)
    await model.aclose()
