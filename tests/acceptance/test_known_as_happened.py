"""An import that was known as it happened: over REST for administrators alone, and on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Service, problem_in
from tests.acceptance.test_cli import Command

SAID = [
    {"role": "user", "content": "The kettle sings.", "timestamp": "2025-03-01T10:00:00Z"},
    {"role": "user", "content": "The kettle broke.", "timestamp": "2025-03-05T10:00:00Z"},
]


def send(service: Service, citizen: str, key: str, **fields: Any) -> Any:
    body = {"citizen_id": citizen, "messages": SAID, "known_as_happened": True, **fields}
    with service.client(key) as client:
        return client.post("/v1/episodes", json=body)


def known(service: Service, citizen: str, as_of: str) -> list[str]:
    asked = {"citizen_id": citizen, "query_text": "kettle", "as_of_time": as_of}
    tiers = service.http.post("/v1/retrieve", json=asked).json()["activation_tiers"]
    shown = [one for tier in ("focus", "peripheral", "background") for one in tiers[tier]]
    return sorted(one["description"] for one in shown if one["node_type"] == "Turn")


def test_only_an_administrator_says_when_something_became_known(service: Service, citizen: str) -> None:
    refused = send(service, citizen, service.key(f"citizen:{citizen}:read", f"citizen:{citizen}:write"))
    assert "admin" in problem_in(refused, 403)["detail"]
    taken = send(service, citizen, service.key("admin"))
    assert taken.status_code == 200, taken.text
    assert known(service, citizen, "2025-03-02T00:00:00Z") == ["The kettle sings."]
    assert known(service, citizen, "2025-03-06T00:00:00Z") == ["The kettle broke.", "The kettle sings."]


def test_a_memory_that_knows_of_that_time_refuses_it(service: Service, citizen: str) -> None:
    service.remember(citizen, id="now", name="now")
    problem = problem_in(send(service, citizen, service.key("admin")), 409)
    assert "questions about that time would be answered differently" in problem["detail"]
    faults = problem_in(send(service, citizen, service.key("admin"), extract_facts=True), 422)["detail"]
    assert "extract_facts does not go with known_as_happened" in faults


def test_the_command_replays_a_life(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    command, talk = Command(tmp_path / "data", capsys), tmp_path / "talk.json"
    talk.write_text(json.dumps(SAID), "utf-8")
    assert command("ingest", str(talk), "-c", "ada", "--known-as-happened").code == 0
    then = command("ask", "kettle", "-c", "ada", "--as-of", "2025-03-02").out
    assert "The kettle sings." in then
    assert "The kettle broke." not in then
    now = command("ask", "kettle", "-c", "ada", "--as-of", "2025-03-06", "--known-at", "now").out
    assert "The kettle broke." in now
