"""Refused callers cost little, and others cannot make anyone wait: sizes are checked before values are read."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import orjson
import pytest

from tests.acceptance.conftest import ADMIN_KEY, Service, problem_in

WAIT_S = 15
PROMISED = 4_000_000
"""Bytes of a body that is announced and never sent."""
GROWTH = 300 << 20
"""Bytes of memory that one request may take at most, whatever it holds."""


def connected(service: Service) -> socket.socket:
    address = urlsplit(service.url)
    return socket.create_connection((address.hostname or "", address.port or 0), WAIT_S)


def headers(method: str, path: str, key: str, length: int) -> bytes:
    lines = (
        f"{method} {path} HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {key}",
        "Content-Type: application/json",
        f"Content-Length: {length}",
        "Connection: close",
    )
    return "\r\n".join((*lines, "", "")).encode()


def heard(client: socket.socket) -> bytes:
    said = b""
    while part := client.recv(1 << 16):
        said += part
    return said


@pytest.fixture(scope="module")
def reader_of_n3(service: Service) -> str:
    """A key that may read what is shared by all, and nothing else."""
    return service.key("N3:read")


@pytest.mark.parametrize(
    ("route", "problem"),
    [
        ("POST /v1/memories", "403 forbidden"),
        ("POST /v1/links", "403 forbidden"),
        ("POST /v1/commands", "403 forbidden"),
        ("POST /v1/episodes", "403 forbidden"),
        ("POST /v1/retrieve", "403 forbidden"),
        ("POST /v1/wake", "403 forbidden"),
        ("POST /v1/resonate", "403 forbidden"),
        ("POST /v1/associate", "403 forbidden"),
        ("POST /v1/memories/N1/m/supersede", "403 forbidden"),
        ("POST /v1/memories/N1/m/erase", "403 forbidden"),
        ("POST /v1/upkeep/sweep", "403 forbidden"),
        ("POST /v1/upkeep/repair", "403 forbidden"),
        ("POST /v1/keys", "403 forbidden"),
        ("PUT /v1/citizens/somebody/state", "404 not-found"),
    ],
)
def test_a_key_without_the_scope_is_refused_before_its_body_is_read(
    service: Service, reader_of_n3: str, route: str, problem: str
) -> None:
    method, path = route.split()
    with closing(connected(service)) as client:
        client.sendall(headers(method, path, reader_of_n3, PROMISED))
        said = heard(client).decode()
    status, slug = problem.split()
    assert said.startswith(f"HTTP/1.1 {status}")
    assert f"/problems/{slug}" in said


def test_a_body_sent_without_permission_hinders_no_answer(service: Service, reader_of_n3: str) -> None:
    body = b'{"citizen_id":"c","tags":[' + b"1," * PROMISED + b"1]}"
    with service.client(reader_of_n3) as http:
        for _ in range(3):
            problem_in(http.post("/v1/memories", content=body, headers={"Content-Type": "application/json"}), 403)
        assert http.get("/health/live").status_code == 200


def test_a_key_with_the_scope_is_heard_out(service: Service, citizen: str) -> None:
    with httpx.Client(base_url=service.url) as http:
        http.headers["Authorization"] = f"Bearer {service.key(f'citizen:{citizen}:write')}"
        assert http.post("/v1/memories", json={"citizen_id": citizen, "name": "Mine"}).status_code == 201
        problem_in(http.post("/v1/memories", json={"citizen_id": "other", "name": "Theirs"}), 404)


MANY = 20_000
LISTS: list[tuple[str, Any, str]] = [
    ("memories", {"tags": [1] * MANY}, "tags"),
    ("memories", {"buckets": [1] * MANY}, "buckets"),
    ("memories", {"emotion_vector": {str(n): "x" for n in range(MANY)}}, "emotion_vector"),
    ("links", {"emotion_vector": {str(n): "x" for n in range(MANY)}}, "emotion_vector"),
    ("retrieve", {"query_levels": [1] * MANY}, "query_levels"),
    ("retrieve", {"required_emotions": [1] * MANY}, "required_emotions"),
    ("retrieve", {"current_emotions": {str(n): "x" for n in range(MANY)}}, "current_emotions"),
    ("resonate", {"nodes": [1] * MANY}, "nodes"),
    ("resonate", {"relations": [1] * MANY}, "relations"),
    ("resonate", {"window": [1] * MANY}, "window"),
    ("resonate", {"query_embedding": ["x"] * MANY}, "query_embedding"),
    ("resonate", {"drive_bias": {str(n): "x" for n in range(MANY)}}, "drive_bias"),
    ("resonate", {"query_levels": [1] * MANY}, "query_levels"),
    ("episodes", {"messages": [1] * MANY}, "messages"),
    ("upkeep/sweep", {"levels": [1] * MANY}, "levels"),
    ("keys", {"scopes": [1] * MANY}, "scopes"),
]


@pytest.mark.parametrize(("route", "body", "field"), LISTS, ids=lambda value: str(value)[:20])
def test_a_list_that_is_too_long_is_one_fault_however_wrong_its_elements_are(
    service: Service, route: str, body: dict[str, Any], field: str
) -> None:
    said = problem_in(service.http.post(f"/v1/{route}", json={"citizen_id": "c", **body}), 422)
    assert len([fault for fault in said["faults"] if fault.startswith(field)]) == 1
    assert len(said["faults"]) < 20


def test_unknown_fields_are_counted_before_they_are_named(service: Service) -> None:
    body = {"citizen_id": "c", "query_text": "x", **{f"field {n}": n for n in range(MANY)}}
    said = problem_in(service.http.post("/v1/retrieve", json=body), 422)
    assert said["faults"] == [f"body: has {MANY + 2} fields, at most 200 are read"]


@pytest.fixture
def memory_stays(service: Service) -> Iterator[None]:
    """The service takes at most `GROWTH` more than it had."""
    process = Path(f"/proc/{service.process.pid}")

    def most(name: str) -> int:
        lines = (process / "status").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))

    (process / "clear_refs").write_text("5")
    before = most("VmRSS")
    yield
    assert most("VmHWM") - before < GROWTH


@pytest.mark.usefixtures("memory_stays")
@pytest.mark.parametrize("piece", [b"1,", b"[],", b"{},", b'"",', b'{"a":1},'])
def test_a_body_of_more_values_than_any_request_has_is_not_parsed(service: Service, piece: bytes) -> None:
    many = piece * (7 * (1 << 20) // len(piece))
    body = b'{"citizen_id":"c","name":"n","tags":[' + many + b"1]}"
    answer = service.http.post("/v1/memories", content=body, headers={"Content-Type": "application/json"})
    assert "500,000 values" in problem_in(answer, 413)["detail"]


@pytest.mark.parametrize("path", ["/v1/memories", "/mcp"])
def test_a_body_that_only_nests_is_not_parsed(service: Service, path: str) -> None:
    answer = service.http.post(path, content=b"[" * 100_000, headers={"Content-Type": "application/json"})
    assert "nested too deeply" in problem_in(answer, 422)["detail"]


def test_commas_and_brackets_within_a_text_are_no_values(service: Service, citizen: str) -> None:
    text = "[{," * 30_000 + '\\"'
    messages = [{"speaker": "Ada", "text": text, "time": "x"} for _ in range(8)]
    answer = service.http.post("/v1/episodes", json={"citizen_id": citizen, "messages": messages})
    assert "entry 1, time" in problem_in(answer, 422)["detail"]


def test_others_are_answered_while_a_large_list_is_read(service: Service) -> None:
    wrong = {f"field {n}": n for n in range(190)}
    element = {"command": "supersede", "citizen_id": "c", "id": "m", **wrong}
    body = orjson.dumps([element] * 1000)
    with closing(connected(service)) as client, service.client(None) as other:
        assert other.get("/health/live").status_code == 200
        client.sendall(headers("POST", "/v1/commands", ADMIN_KEY, len(body)) + body)
        answered = 0
        while not select.select([client], [], [], 0)[0]:
            assert other.get("/health/live").status_code == 200
            answered += 1
        said = orjson.loads(heard(client).partition(b"\r\n\r\n")[2])
    assert said["refused"] == 1000
    assert answered >= 10, "the list was read in one go, and everybody else waited for it"
    faults = [len(receipt["faults"]) for receipt in said["receipts"]]
    assert min(faults) >= 1
    assert sum(faults) <= 2 * 1000 + 100
