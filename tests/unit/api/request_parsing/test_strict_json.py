"""What a client sees when the service itself is at fault: a problem with a remedy, nothing of the inside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from api.app import create_app
from api.dependencies import get_runtime
from api.request_parsing.strict_json import parse_strict_json
from schemas.errors import StoreMisfit, Unavailable
from schemas.settings import AuthSettings, Settings
from substrate.connection.errors import GraphMissing

Provide = Callable[[], Awaitable[Any]]


async def readiness(provide: Provide, *, opened: bool = True) -> httpx.Response:
    """What /health/ready answers when `provide` gives the runtime, to all or to somebody without a key."""
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
        self.found = unready
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
        if isinstance(self.found, Exception):
            raise self.found
        return self.found

    async def provide(self) -> Any:
        return self


async def test_an_unexpected_error_tells_nothing_of_the_inside() -> None:
    answer = await readiness(failing(RuntimeError("the secret is 42")))
    assert (answer.status_code, answer.json()["type"]) == (500, "/problems/fault")
    assert "secret" not in answer.text
    assert answer.json()["remedy"]


async def test_a_fault_of_the_operator_comes_with_its_remedy(caplog: pytest.LogCaptureFixture) -> None:
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


async def test_without_a_key_nobody_learns_which_graphs_there_are() -> None:
    unready = await readiness(Store(["Trace"]).provide, opened=False)
    assert (unready.status_code, unready.json()["faults"]) == (503, [])
    ready = await readiness(Store([]).provide, opened=False)
    assert (ready.status_code, ready.json()["graphs"], ready.json()["open"]) == (200, None, False)


async def test_a_graph_erased_meanwhile_is_no_obstacle() -> None:
    answer = await readiness(Store(GraphMissing("gone")).provide)
    assert (answer.status_code, answer.json()["engine"]) == (200, "server")


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a": [1, 2.5, null, true, "\\u00e9"]}', {"a": [1, 2.5, None, True, "é"]}),
        (b"18446744073709551615", 2**64 - 1),
        (b'"12345678901234567890123"', "12345678901234567890123"),
        (b"0.12345678901234567890123", 0.12345678901234567890123),
    ],
)
def test_json_that_can_be_kept_is_read_as_it_is(body: bytes, value: Any) -> None:
    assert parse_strict_json(body) == value


@pytest.mark.parametrize("body", [b"18446744073709551616", b"-9223372036854775809", b"1" * 5000, b"NaN", b""])
def test_json_that_cannot_be_kept_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError):
        parse_strict_json(body)
