"""The engine killed while serving: told at once, started again, nothing acknowledged lost."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import httpx
from redis.exceptions import BusyLoadingError
from redis.exceptions import ConnectionError as RedisConnectionError

from tests.acceptance.conftest import ADMIN_KEY, Service
from tests.builders import LINK_METADATA
from tests.waiting import wait_until

GIVE_UP_S = 120.0

type Asked = tuple[str, str, dict[str, Any] | list[Any]]
"""Method, path and body."""


def kept(service: Service, citizen: str) -> httpx.Response:
    return service.http.get("/v1/memories/N1/kept", params={"citizen_id": citizen})


def told_of_a_kill(service: Service, ask: Callable[[], httpx.Response]) -> httpx.Response:
    """The answer to a request that meets a killed engine; it is started again at once, and some come too late."""
    give_up = time.monotonic() + GIVE_UP_S
    while time.monotonic() < give_up:
        with suppress(RedisConnectionError, BusyLoadingError):
            os.kill(service.engine_pid(), signal.SIGKILL)
        if (answer := ask()).status_code == 503:
            return answer
    raise AssertionError("no request met the killed engine")


def served(ask: Callable[[], httpx.Response]) -> httpx.Response:
    """The first answer that is not 503."""
    answers: list[httpx.Response] = []

    def is_served() -> bool:
        answers[:] = [ask()]
        return answers[0].status_code != 503

    wait_until(is_served)
    return answers[0]


def another_engine(service: Service, killed: int) -> bool:
    """Whether an engine with another process id answers."""
    with suppress(RedisConnectionError, BusyLoadingError):
        return service.engine_pid() != killed
    return False


def test_a_killed_engine_is_reported_and_restarted_without_loss(service: Service, citizen: str) -> None:
    service.remember(citizen, id="kept", name="acknowledged")
    first = told_of_a_kill(service, lambda: kept(service, citizen))
    assert (first.status_code, first.json()["type"]) == (503, "/problems/unavailable")
    assert first.headers["content-type"] == "application/problem+json"
    assert int(first.headers["Retry-After"]) >= 1
    answer = served(lambda: kept(service, citizen))
    assert (answer.status_code, answer.json()["name"]) == (200, "acknowledged")
    assert served(lambda: service.http.get("/health/ready")).status_code == 200
    service.remember(citizen, name="and on it goes")


def test_a_question_to_a_killed_engine_is_answered_soon_after(service: Service, citizen: str) -> None:
    service.remember(citizen, name="acknowledged")
    asked = {"citizen_id": citizen, "query_text": "acknowledged"}
    told_of_a_kill(service, lambda: service.http.post("/v1/retrieve", json=asked))
    answer = served(lambda: service.http.post("/v1/retrieve", json=asked))
    assert answer.json()["activation_tiers"]["focus"][0]["name"] == "acknowledged"
    assert answer.json()["degraded"] == []


def test_a_killed_engine_is_started_again_without_being_asked_for(service: Service, citizen: str) -> None:
    service.remember(citizen, id="kept", name="acknowledged")
    killed = service.engine_pid()
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: another_engine(service, killed))
    assert served(lambda: kept(service, citizen)).status_code == 200


def requests_of(citizen: str, name: str) -> Iterator[Asked]:
    """Requests of each kind, of which each may be sent again."""
    of = {"citizen_id": citizen}
    several = [{**of, "id": f"{name}-{n}", "name": name} for n in range(60)]
    ends = {"source_id": "kept", "target_id": f"{name}-one", "relation_type": "NEXT"}
    yield "post", "/v1/memories", {**of, "id": f"{name}-one", "name": name}
    yield "post", "/v1/memories", several
    yield "post", "/v1/links", {**of, **ends, **LINK_METADATA, "command_id": f"{name}-link"}
    yield "post", f"/v1/memories/N1/{name}-one/supersede", {**of, "name": "s", "command_id": f"{name}-supersede"}
    yield "post", f"/v1/memories/N1/{name}-one/correct", {**of, "name": "c", "command_id": f"{name}-correct"}
    yield "post", f"/v1/memories/N1/{name}-one/resolve", {**of, "command_id": f"{name}-resolve"}
    yield "post", f"/v1/memories/N1/{name}-one/undo", {**of, "command_id": f"{name}-undo"}
    yield "post", f"/v1/memories/N1/{name}-one/retract", {**of, "command_id": f"{name}-retract"}
    messages = [{"speaker": "Ada", "text": f"{name} {n}"} for n in range(60)]
    yield "post", "/v1/episodes", {**of, "episode_id": f"{name}-talk", "messages": messages}
    yield "put", f"/v1/citizens/{citizen}/state", {"energy": 0.5}
    yield "post", "/v1/retrieve", {**of, "query_text": name}
    yield "post", "/v1/wake", {**of, "current_energy": 0.5, "current_emotions": {"joy": 0.5}}
    yield "post", "/v1/resonate", {**of, "nodes": [name]}
    yield "post", "/v1/upkeep/sweep", of


def persisting(http: httpx.Client, request: Asked, told: list[str]) -> Iterator[str]:
    """What is wrong with the answers to a request that is sent until it is served; `told` to come back where."""
    method, path, body = request
    give_up = time.monotonic() + GIVE_UP_S
    while (answer := http.request(method, path, json=body)).status_code == 503 and time.monotonic() < give_up:
        told.append(path)
        if int(answer.headers["Retry-After"]) < 1:
            yield f"{path}: {answer.text}"
        time.sleep(0.05)
    if not answer.is_success:
        yield f"{method} {path}: {answer.status_code} {answer.text}"


def test_requests_of_every_kind_are_asked_to_retry_and_then_served(service: Service, citizen: str) -> None:
    service.remember(citizen, id="kept", name="acknowledged")
    told: list[str] = []

    def client(name: str) -> list[str]:
        with service.client(ADMIN_KEY) as http:
            return [fault for request in requests_of(citizen, name) for fault in persisting(http, request, told)]

    with ThreadPoolExecutor(8) as clients:
        running = [clients.submit(client, f"client{n}") for n in range(8)]
        for _ in range(3):
            served(lambda: kept(service, citizen))
            with suppress(RedisConnectionError, BusyLoadingError):
                os.kill(service.engine_pid(), signal.SIGKILL)
        assert [fault for one in running for fault in one.result()] == []
    assert told
    there = ids_of(service, citizen)
    for n in range(8):
        assert {f"client{n}-{m}" for m in range(60)} <= there
        records = service.http.get(f"/v1/memories/N1/client{n}-one/history", params={"citizen_id": citizen})
        versions = [record["version"] for record in records.json()["records"]]
        assert versions == list(range(1, len(versions) + 1))


def ids_of(service: Service, citizen: str) -> set[str]:
    """The ids of all memories of a citizen."""
    found: set[str] = set()
    asked: dict[str, Any] = {"citizen_id": citizen, "limit": 200}
    while True:
        page = service.http.get("/v1/memories", params=asked).json()
        found |= {memory["node_id"] for memory in page["memories"]}
        if page.get("next") is None:
            return found
        asked["cursor"] = page["next"]
