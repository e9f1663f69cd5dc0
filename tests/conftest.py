"""What tests of any kind may ask for."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from pydantic_settings import BaseSettings

from schemas.settings import EmbeddingSettings
from substrate.inference.embeddings import Embedder, open_embedder
from tests.scripted_model import ScriptedModel, scripted_model

# No test depends on speed: neither a slow example nor slow making of one is a failure.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

# A shell has what it starts in the background ignore these; programs that a test interrupts must hear them.
for _sign, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_sign) is signal.SIG_IGN:
        signal.signal(_sign, _usual)

MEASURE = "COVERAGE_PROCESS_CONFIG"
"""The variable that has a Python process measure what of the code it runs."""
COMPILE_AGAIN = "PYTHONDONTWRITEBYTECODE"
"""The variable that has each Python process compile all modules anew: a fifth of the start of a service."""


class Measuring(BaseSettings):
    """How child processes are to be measured; None when nothing is."""

    coverage_process_config: str | None = None


@pytest.fixture(scope="session", autouse=True)
def measuring() -> Iterator[str | None]:
    """What a child that is to be measured gets as `MEASURE`: measuring doubles its work, so few are."""
    how = Measuring().coverage_process_config
    with pytest.MonkeyPatch.context() as environment:
        environment.delenv(MEASURE, raising=False)
        environment.delenv(COMPILE_AGAIN, raising=False)
        yield how


@pytest.fixture(scope="session")
def local_model() -> Embedder:
    """The local model, held so that all of this process share it: to load it takes a second and 80 MB."""
    return open_embedder(EmbeddingSettings(embedding="local"))


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedModel]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with scripted_model() as model:
        yield model
