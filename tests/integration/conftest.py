"""One open store for the tests of a file, each of which takes a citizen of its own: a graph takes some 2 MB."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import uuid4

import pytest

from api.runtime.runtime import open_runtime
from orchestration.dependencies import Deps
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.inference.embeddings import Embedder
from substrate.inference.language import open_language_model
from tests.scripted_model import ScriptedModel

PATIENT_S = 60.0
"""What a model may take in a test that is not about a slow one."""


@pytest.fixture(scope="module")
async def deps(local_model: Embedder, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Deps]:
    # Most tests count what they store; `test_names` reads names. And most are about how something is found:
    # `test_kept_streams` is about answers that are kept.
    store = StoreSettings(data=tmp_path_factory.mktemp("store"), names="off")
    async with open_runtime(Settings(store=store, embedding=EmbeddingSettings(embedding="local"))) as runtime:
        runtime.deps.connection.answers.most_bytes = 0
        yield runtime.deps


@pytest.fixture
def fresh_citizen() -> str:
    """A citizen whom nobody else has used."""
    return f"t{uuid4().hex}"


@pytest.fixture
async def asking(deps: Deps, scripted: ScriptedModel) -> AsyncIterator[Deps]:
    """The open store with a language model that says what a test has written for it."""
    model = open_language_model(scripted.settings())
    assert model is not None
    model.question_seconds = PATIENT_S
    yield replace(deps, language_model=model)
    await model.aclose()
