"""What a citizen has, and its quotas: a write that would pass one is refused as a whole, and changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from api.client import Substrate
from schemas.errors import QuotaReached
from tests.acceptance.conftest import ADMIN_KEY, Service, problem_in

MOST_MEMORIES, MOST_BYTES = 3, 40_000


def a_service(tmp_path_factory: pytest.TempPathFactory, setting: str, value: int) -> Iterator[Service]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(setting, str(value))
        environment.setenv("SUBSTRATE_NAMES", "off")
        running = Service(tmp_path_factory.mktemp("quotas"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    yield from a_service(tmp_path_factory, "SUBSTRATE_MOST_MEMORIES", MOST_MEMORIES)


@pytest.fixture(scope="module")
def weighed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    yield from a_service(tmp_path_factory, "SUBSTRATE_MOST_BYTES", MOST_BYTES)


def usage(service: Service, citizen: str) -> dict[str, Any]:
    answer = service.http.get(f"/v1/citizens/{citizen}/usage")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def send(service: Service, body: Any, **asked: Any) -> httpx.Response:
    return service.http.post("/v1/commands", json=body, params=asked)


def memory(citizen: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"command": "remember", "citizen_id": citizen, "id": name, "name": f"the {name}", **fields}


def test_usage_counts_memories_links_bytes_and_requests(service: Service, citizen: str) -> None:
    before = usage(service, citizen)
    nothing = {"memories": 0, "links": 0, "bytes": 0, "requests": 0}
    assert before == {"citizen_id": citizen, **nothing, "most_memories": None, "most_bytes": None}
    service.remember(citizen, id="a", name="a lamp")
    service.remember(citizen, id="b", name="a torch")
    service.relate(citizen, ("a", "LEADS_TO", "b"))
    after = usage(service, citizen)
    assert (after["memories"], after["links"], after["requests"]) == (2, 1, 4)
    assert after["bytes"] > 2 * 384 * 4
    with Substrate(service.url, ADMIN_KEY) as client:
        assert client.usage(citizen).memories == 2


def test_usage_is_read_by_who_may_read_the_citizen(service: Service, citizen: str) -> None:
    service.remember(citizen, name="a lamp")
    with service.client(service.key("citizen:another:read")) as stranger:
        problem_in(stranger.get(f"/v1/citizens/{citizen}/usage"), 404)


def test_a_memory_too_many_is_refused_and_changes_nothing(counted: Service, citizen: str) -> None:
    for name in "abc":
        assert send(counted, memory(citizen, name, command_id=f"{citizen}-{name}")).status_code == 201
    with counted.unchanged():
        said = problem_in(send(counted, memory(citizen, "d")), 507)
    assert said["type"] == "/problems/quota-reached"
    assert "3 of 3 memories" in said["detail"]
    assert "SUBSTRATE_MOST_MEMORIES" in said["detail"]
    assert said["remedy"].startswith("Erase")
    with Substrate(counted.url, ADMIN_KEY) as client, pytest.raises(QuotaReached):
        client.remember(citizen_id=citizen, name="the lamp")
    assert usage(counted, citizen)["most_memories"] == MOST_MEMORIES


@pytest.mark.parametrize("asked", [{}, {"atomic": "true"}])
def test_a_list_that_would_pass_the_quota_is_refused_as_a_whole(
    counted: Service, citizen: str, asked: dict[str, str]
) -> None:
    assert send(counted, [memory(citizen, name) for name in "ab"], **asked).status_code == 200
    with counted.unchanged():
        said = problem_in(send(counted, [memory(citizen, name) for name in "cd"], **asked), 507)
    assert "2 of 3 memories" in said["detail"]
    assert send(counted, [memory(citizen, "c")], **asked).status_code == 200


def test_at_the_quota_all_else_goes_on(counted: Service, citizen: str) -> None:
    for name in "abc":
        send(counted, memory(citizen, name, command_id=f"{citizen}-{name}"))
    again = send(counted, memory(citizen, "c", command_id=f"{citizen}-c"))
    assert (again.status_code, again.json()["duplicate"]) == (201, True)
    changed = {"command": "supersede", "citizen_id": citizen, "id": "a", "name": "the lamp"}
    assert send(counted, changed).status_code == 201
    assert counted.relate(citizen, ("a", "LEADS_TO", "b")).status_code == 201
    assert counted.http.post("/v1/retrieve", json={"citizen_id": citizen, "query_text": "lamp"}).status_code == 200
    assert send(counted, memory(f"{citizen}x", "d")).status_code == 201, "another citizen has its own quota"
    shared = {"command": "remember", "citizen_id": citizen, "level": "N2", "name": f"the {citizen}"}
    assert send(counted, shared).status_code == 201
    erased = counted.http.post("/v1/memories/N1/a/erase", json={"citizen_id": citizen})
    assert erased.status_code == 200, erased.text
    assert send(counted, memory(citizen, "d")).status_code == 201


def test_a_conversation_too_many_is_refused(counted: Service, citizen: str) -> None:
    messages = [{"role": "user", "content": f"message number {number}"} for number in range(4)]
    with counted.unchanged():
        problem_in(counted.http.post("/v1/episodes", json={"citizen_id": citizen, "messages": messages}), 507)


def test_who_has_all_the_bytes_adds_nothing(weighed: Service, citizen: str) -> None:
    stored = 0
    while (answer := send(weighed, memory(citizen, f"m{stored}"))).status_code == 201:
        stored += 1
        assert stored < 100
    said = problem_in(answer, 507)
    assert f"of {MOST_BYTES:,} bytes" in said["detail"]
    assert usage(weighed, citizen)["memories"] == stored
    assert usage(weighed, citizen)["bytes"] >= MOST_BYTES
    with weighed.unchanged():
        problem_in(weighed.relate(citizen, ("m0", "LEADS_TO", "m1")), 507)
    retracted = {"command": "retract", "citizen_id": citizen, "id": "m0"}
    assert send(weighed, retracted).status_code == 201
