"""What is sent to do harm: bodies without end, clients without haste, lists without measure, forged headers."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from api.request_parsing.bodies import BodyLimit
from tests.acceptance.conftest import ADMIN_KEY, Service, problem_in

WAIT_S = 10


@pytest.fixture(autouse=True)
def _nothing_changes(service: Service) -> Iterator[None]:
    with service.unchanged():
        yield
    assert service.http.get("/health/live").status_code == 200


def spoken(service: Service, *lines: str, body: bytes = b"") -> str:
    """What the service says to these lines of HTTP, until its problem is told or it closes."""
    address = urlsplit(service.url)
    with socket.create_connection((address.hostname or "", address.port or 0), WAIT_S) as client:
        client.sendall("\r\n".join((*lines, "Host: localhost", "Connection: close", "", "")).encode() + body)
        heard = b""
        while b"}" not in heard and (part := client.recv(65536)):
            heard += part
    return heard.decode()


@pytest.mark.parametrize("key", [ADMIN_KEY, None])
def test_a_hundred_megabytes_are_refused_before_they_are_sent(service: Service, key: str | None) -> None:
    lines = ["POST /v1/memories HTTP/1.1", "Content-Type: application/json", "Content-Length: 104857600"]
    said = spoken(service, *lines, *([f"Authorization: Bearer {key}"] if key else []))
    assert said.startswith("HTTP/1.1 413" if key else "HTTP/1.1 401")
    assert ("/problems/too-large" if key else "/problems/unauthenticated") in said


@pytest.mark.parametrize("route", ["memories", "links", "commands"])
def test_ten_thousand_commands_in_a_list_are_refused(service: Service, route: str) -> None:
    said = problem_in(service.http.post(f"/v1/{route}", json=[{"citizen_id": "c", "name": "n"}] * 10_000), 422)
    assert "a list has 1 to 1000 elements, this one has 10000" in said["detail"]


@pytest.mark.parametrize(
    "line",
    [
        "X-Request-Id: a\r\n b",
        "X-Request-Id: a\x00b",
        "X Request: a",
        "Idempotency-Key: a\x0bb",
        "Authorization : x",
    ],
)
def test_a_forged_header_gets_nothing_into_the_answer(service: Service, line: str) -> None:
    said = spoken(service, "GET /v1/keys HTTP/1.1", f"Authorization: Bearer {ADMIN_KEY}", line)
    status, headers = said.split("\r\n")[0], said.partition("\r\n\r\n")[0]
    assert status.split()[1] in ("200", "400")
    assert "a b" not in headers
    assert "\x00" not in said


def test_an_encoded_line_break_makes_no_header(service: Service) -> None:
    answer = service.http.get("/v1/memories/N1/a%0d%0aX-Evil:%201?citizen_id=c%0d%0aX-Evil:%201")
    problem_in(answer, 404 if answer.status_code == 404 else 422)
    assert "x-evil" not in answer.headers


def test_there_is_no_websocket(service: Service) -> None:
    upgrade = ["Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="]
    said = spoken(service, "GET /v1/retrieve HTTP/1.1", f"Authorization: Bearer {ADMIN_KEY}", *upgrade)
    assert said.startswith("HTTP/1.1 405")
    assert "/problems/method-not-allowed" in said
    assert spoken(service, "GET /v1/retrieve HTTP/1.1", *upgrade).startswith("HTTP/1.1 401")


async def test_a_body_that_dawdles_is_answered_with_408() -> None:
    async def never() -> Any:
        await asyncio.Event().wait()

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def app(*_: Any) -> None:
        raise AssertionError("the request went through")

    await BodyLimit(app, seconds=0.01)({"type": "http", "path": "/v1/memories", "headers": []}, never, send)
    assert sent[0]["status"] == 408
    assert json.loads(sent[1]["body"])["type"] == "/problems/too-slow"
