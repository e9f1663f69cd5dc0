"""Readiness: what a client learns when the service is not ready, and that it learns nothing of the inside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from api.app import create_app
from api.dependencies import get_runtime
from schemas.errors import StoreMisfit, Unavailable
from schemas.settings import AuthSettings, Settings
from substrate.connection.errors import GraphMissing

Provide = Callable[[], Awaitable[Any]]


async def readiness(provide: Provide, *, opened: bool = True) -> httpx.Response:
    """The answer of /health/ready with the runtime of `provide`, on an open service or without a key."""
    app = create_app(Settings(auth=AuthSettings(open=opened)))
    app.dependency_overrides[get_runtime] = provide
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await client.get("/health/ready")


def failing(error: Exception) -> Provide:
    async def provide() -> Any:
        raise error

    return provide


class Store:
    """An engine with two graphs; `b` answers with `unready` or raises it."""

    def __init__(self, unready: list[str] | Exception) -> None:
        self.indexes = unready
        embedder = SimpleNamespace(model="m", dimension=3)
        self.deps = SimpleNamespace(connection=self, graphs=self, embedder=embedder)
        self.engine = None

    async def ping(self) -> float:
        return 0.1

    async def existing(self) -> list[str]:
        return ["a", "b"]

    async def unready(self, name: str) -> list[str]:
        if name == "a":
            return []
        if isinstance(self.indexes, Exception):
            raise self.indexes
        return self.indexes

    async def provide(self) -> Any:
        return self


async def test_an_unexpected_error_reveals_nothing() -> None:
    answer = await readiness(failing(RuntimeError("the secret is 42")))
    assert (answer.status_code, answer.json()["type"]) == (500, "/problems/fault")
    assert "secret" not in answer.text
    assert answer.json()["remedy"]


async def test_an_error_of_the_operator_has_its_remedy(caplog: pytest.LogCaptureFixture) -> None:
    answer = await readiness(failing(StoreMisfit("another embedding", remedy="Set SUBSTRATE_EMBEDDING.")))
    said = answer.json()
    assert (answer.status_code, said["type"]) == (500, "/problems/store-misfit")
    assert (said["detail"], said["remedy"]) == ("another embedding", "Set SUBSTRATE_EMBEDDING.")
    assert "Traceback" in caplog.text


async def test_an_engine_that_does_not_answer_is_worth_another_try() -> None:
    answer = await readiness(failing(Unavailable("the engine did not answer")))
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")


async def test_an_index_under_construction_is_named() -> None:
    answer = await readiness(Store(["Trace"]).provide)
    assert (answer.status_code, answer.json()["faults"]) == (503, ["b: Trace is not operational"])


async def test_the_names_of_graphs_are_not_shown_without_a_key() -> None:
    unready = await readiness(Store(["Trace"]).provide, opened=False)
    assert (unready.status_code, unready.json()["faults"]) == (503, [])
    ready = await readiness(Store([]).provide, opened=False)
    assert (ready.status_code, ready.json()["graphs"], ready.json()["open"]) == (200, None, False)


async def test_a_graph_erased_meanwhile_is_no_obstacle() -> None:
    answer = await readiness(Store(GraphMissing("gone")).provide)
    assert (answer.status_code, answer.json()["engine"]) == (200, "server")
