"""The service over HTTP: each route does what its users come for."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.acceptance.conftest import Service

FULL: dict[str, Any] = {
    "id": "m:full/1",
    "node_type": "Realization",
    "name": "The parser is done",
    "description": "It took three weeks.",
    "valid_at": "2025-03-01T10:00:00Z",
    "energy": 0.8,
    "confidence": 0.9,
    "emotion_vector": {"joy": 0.7, "relief": 0.4},
    "felt_quality": "light",
    "body_sensation": "warm hands",
    "goal": "ship",
    "resolution_state": "resolved",
    "tags": ["parser", "done"],
    "buckets": ["work"],
    "aliases": ["the grammar"],
    "importance": 0.6,
    "intensity": 0.5,
    "result": "success",
    "rule": "small steps",
    "abstraction": "L1",
    "source": "tool",
    "episode_id": "e1",
    "speaker": "Ada",
}


def seen(service: Service, citizen: str, memory_id: str, **asked: str) -> httpx.Response:
    address = f"/v1/memories/N1/{quote(memory_id, safe='')}"
    return service.http.get(address, params={"citizen_id": citizen, **asked})


def revise(service: Service, citizen: str, memory_id: str, how: str, **fields: Any) -> httpx.Response:
    address = f"/v1/memories/N1/{quote(memory_id, safe='')}/{how}"
    return service.http.post(address, json={"citizen_id": citizen, **fields})


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_a_running_service_answers_that_it_is_alive(service: Service) -> None:
    answer = service.http.get("/health/live")
    assert (answer.status_code, answer.json()) == (200, {"status": "alive", "open": False})


def test_a_ready_service_names_its_engine_and_embedder(service: Service) -> None:
    said = service.http.get("/health/ready").json()
    assert said["status"] == "ready"
    assert said["engine"] == "embedded"
    assert said["dimension"] == 384


def test_the_service_documents_every_route(service: Service) -> None:
    document = service.http.get("/openapi.json").json()
    routes = {(method, path) for path, said in document["paths"].items() for method in said}
    address = "/v1/memories/{level}/{memory_id}"
    link = "/v1/links/{level}/{link_id}"
    changes = ("supersede", "correct", "retract", "resolve", "undo")
    revisions = {("post", f"{of}/{how}") for of in (address, link) for how in changes}
    writes = {("post", f"/v1/{noun}") for noun in ("retrieve", "wake", "memories", "links", "episodes")}
    upkeep = {("post", f"/v1/{noun}") for noun in ("upkeep/sweep", "upkeep/repair", "validation/link")}
    own = "/v1/citizens/{citizen_id}"
    citizens = {("get", f"{own}/state"), ("put", f"{own}/state"), ("get", f"{own}/dissonances")}
    citizens |= {("get", f"{own}/state/history"), ("get", f"{own}/identity")}
    reads = {
        ("get", address),
        ("get", f"{address}/history"),
        ("get", link),
        ("get", "/v1/memories"),
        ("get", "/v1/links"),
        ("get", f"{link}/history"),
        ("get", "/v1/receipts/{command_id}"),
        ("get", "/health/live"),
        ("get", "/health/ready"),
    }
    keys = {("get", "/v1/keys"), ("post", "/v1/keys"), ("delete", "/v1/keys/{key_id}")}
    assert routes >= revisions | writes | upkeep | citizens | reads | keys
    assert "citizen_id" in str(document["paths"][f"{address}/retract"]["post"]["requestBody"])
    assert service.http.get("/docs").status_code == 200


def test_a_memory_is_read_back_with_all_its_fields(service: Service, citizen: str) -> None:
    receipt = service.remember(citizen, **FULL, flavour="mint", extra={"depth": {"of": [1, None, 2.5]}})
    assert (receipt["status"], receipt["version"], receipt["duplicate"]) == ("stored", 1, False)
    memory = seen(service, citizen, FULL["id"]).json()
    assert memory.pop("node_id") == FULL["id"]
    assert {name: memory.get(name) for name in FULL if name != "id"} == {
        name: value for name, value in FULL.items() if name != "id"
    }
    assert memory["extra"] == {"flavour": "mint", "depth": {"of": [1, None, 2.5]}}


@pytest.mark.parametrize("level", ["N2", "N3"])
def test_a_shared_level_needs_no_citizen(service: Service, level: str) -> None:
    body = {"level": level, "id": f"shared-{level}-{os.getpid()}", "name": "A pattern of all"}
    assert service.http.post("/v1/memories", json=body).status_code == 201
    memory = service.http.get(f"/v1/memories/{level}/{body['id']}").json()
    assert (memory["name"], memory["level"]) == ("A pattern of all", level)


@pytest.mark.parametrize(
    "memory_id", ["a:b", "a/b/c", "50% off?", "#1 & more", 'quote"s', "ünï 日本", "a+b", "x..y"]
)
def test_an_id_may_hold_what_is_special_in_an_address(service: Service, citizen: str, memory_id: str) -> None:
    service.remember(citizen, id=memory_id, name="n")
    assert seen(service, citizen, memory_id).json()["node_id"] == memory_id
    history = service.http.get(
        f"/v1/memories/N1/{quote(memory_id, safe='')}/history", params={"citizen_id": citizen}
    )
    assert history.json()["id"] == memory_id


def test_each_element_of_a_list_is_stored_or_refused_on_its_own(service: Service, citizen: str) -> None:
    sent = [
        {"citizen_id": citizen, "id": "first", "name": "one"},
        {"citizen_id": citizen, "id": "bad", "energy": 1.2, "emotion_vector": {"joy": "much"}},
        "no object",
        {"name": "nobody's"},
        {"citizen_id": citizen, "id": "first", "name": "another one"},
        {"citizen_id": citizen, "id": "last", "name": "two"},
    ]
    answer = service.http.post("/v1/memories", json=sent)
    said = answer.json()
    assert (answer.status_code, said["stored"], said["refused"]) == (200, 2, 4)
    problems = [receipt["problem"] for receipt in said["receipts"]]
    assert problems == [None, "invalid-request", "invalid-request", "invalid-request", "conflict", None]
    fields = [fault.split(":")[0] for fault in said["receipts"][1]["faults"]]
    assert fields == ["name", "energy", "emotion_vector.joy"]
    assert seen(service, citizen, "first").json()["name"] == "one"
    assert seen(service, citizen, "bad").status_code == 404
    assert seen(service, citizen, "last").json()["name"] == "two"


def test_a_command_sent_again_is_applied_once(service: Service, citizen: str) -> None:
    first = service.remember(citizen, command_id="k-1", name="once")
    with service.unchanged():
        again = service.remember(citizen, command_id="k-1", name="once")
    assert again == {**first, "duplicate": True}
    other = service.http.post("/v1/memories", json={"citizen_id": citizen, "command_id": "k-1", "name": "other"})
    assert (other.status_code, other.json()["type"]) == (409, "/problems/conflict")


def test_an_idempotency_key_stands_for_a_command_id(service: Service, citizen: str) -> None:
    body = {"citizen_id": citizen, "name": "once"}
    key = {"Idempotency-Key": f"key-{citizen}"}
    first, again = (service.http.post("/v1/memories", json=body, headers=key).json() for _ in range(2))
    assert first["command_id"] == key["Idempotency-Key"]
    assert again == {**first, "duplicate": True}
    named = service.http.post("/v1/memories", json={**body, "command_id": "own"}, headers=key).json()
    assert named["command_id"] == "own"


def test_a_change_of_the_world_keeps_what_held_before(service: Service, citizen: str) -> None:
    service.remember(citizen, id="home", name="lives in Paris", valid_at="2024-01-01T00:00:00Z")
    moved = revise(service, citizen, "home", "supersede", name="in Rome", effective_at="2025-01-01T00:00:00Z")
    assert (moved.status_code, moved.json()["status"]) == (200, "stored")
    later = (instant(moved.json()["created_at"]) + timedelta(seconds=1)).isoformat()
    assert seen(service, citizen, "home").json()["name"] == "in Rome"
    then = seen(service, citizen, "home", as_of_time="2024-06-01T00:00:00Z", known_at=later)
    assert then.json()["name"] == "lives in Paris"
    known_then = seen(service, citizen, "home", as_of_time="2024-06-01T00:00:00Z")
    assert known_then.status_code == 404


def test_a_correction_leaves_what_was_known_before_to_be_asked(service: Service, citizen: str) -> None:
    first = service.remember(citizen, id="born", name="born in May", valid_at="2024-01-01T00:00:00Z")
    assert revise(service, citizen, "born", "correct", name="born in June").status_code == 200
    assert seen(service, citizen, "born").json()["name"] == "born in June"
    assert seen(service, citizen, "born", known_at=first["created_at"]).json()["name"] == "born in May"
    records = service.http.get("/v1/memories/N1/born/history", params={"citizen_id": citizen}).json()["records"]
    assert [record["name"] for record in records] == ["born in May", "born in June"]
    assert records[0]["invalidation_reason"] == "discovered_false"


def test_a_retracted_memory_is_gone_but_its_history_stays(service: Service, citizen: str) -> None:
    service.remember(citizen, id="rumour", name="they say")
    assert revise(service, citizen, "rumour", "retract").status_code == 200
    gone = seen(service, citizen, "rumour")
    assert (gone.status_code, "/history" in gone.json()["remedy"]) == (404, True)
    history = service.http.get("/v1/memories/N1/rumour/history", params={"citizen_id": citizen})
    assert len(history.json()["records"]) == 1


def test_a_revision_of_an_outdated_version_is_a_conflict(service: Service, citizen: str) -> None:
    service.remember(citizen, id="v", name="one")
    assert revise(service, citizen, "v", "correct", name="two", expected_version=1).status_code == 200
    with service.unchanged():
        late = revise(service, citizen, "v", "correct", name="three", expected_version=1)
    assert (late.status_code, late.json()["title"]) == (409, "The request conflicts with what is stored")


def test_a_link_is_stored_and_comes_back_in_the_stream(service: Service, citizen: str) -> None:
    for name in ("Caroline", "Watercolours"):
        service.remember(citizen, id=name, name=name, description=f"all about {name}")
    answer = service.relate(citizen, ("Caroline", "LOVES", "Watercolours"), felt_quality="bright")
    receipt = answer.json()
    assert (answer.status_code, receipt["id"]) == (201, "Caroline|LOVES|Watercolours")
    assert any("formation_trigger" in warning for warning in receipt["warnings"])
    stream = service.http.post("/v1/retrieve", json={"citizen_id": citizen, "query_text": "Caroline"}).json()
    [link] = stream["levels"]["n1_personal"]["relationships"]
    assert (link["relation_type"], link["felt_quality"], link["energy"]) == ("LOVES", "bright", 0.7)


def test_retrieval_puts_what_is_asked_for_in_focus(service: Service, citizen: str) -> None:
    for name in ("The cat sleeps on the piano", "Taxes are due in April", "Rust compiles slowly"):
        service.remember(citizen, name=name)
    body = {"citizen_id": citizen, "query_text": "When do I have to pay taxes?"}
    stream = service.http.post("/v1/retrieve", json=body).json()
    assert stream["activation_tiers"]["focus"][0]["name"] == "Taxes are due in April"
    assert (stream["citizen_id"], stream["degraded"]) == (citizen, [])
    assert set(stream["levels"]) == {"n1_personal", "n2_collective", "n3_ecosystem"}


def test_a_conversation_is_stored_once(service: Service, citizen: str) -> None:
    messages = [
        {"speaker": "Ada", "text": "The loom is ready.", "timestamp": "2025-02-01T09:00:00Z"},
        {"role": "Charles", "content": "Then let us begin.", "timestamp": "2025-02-01T09:01:00Z"},
        {"speaker": "Ada", "text": "After tea."},
    ]
    body = {"citizen_id": citizen, "messages": messages}
    report = service.http.post("/v1/episodes", json=body).json()
    assert (report["turns"], report["sessions"], report["persons"], report["refused"]) == (3, 1, 2, 0)
    with service.unchanged():
        again = service.http.post("/v1/episodes", json=body).json()
    assert (again["episode_id"], again["stored"]) == (report["episode_id"], 0)
    question = {"citizen_id": citizen, "query_text": "Is the loom ready?"}
    stream = service.http.post("/v1/retrieve", json=question).json()
    assert any(node["description"] == "The loom is ready." for node in stream["activation_tiers"]["focus"])
