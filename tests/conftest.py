"""What tests of any kind may ask for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.scripted_model import ScriptedModel, scripted_model


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedModel]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with scripted_model() as model:
        yield model
