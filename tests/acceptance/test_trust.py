"""Trust over HTTP: a record says where it came from, and a lesser source does not change it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.conftest import Service

HOME: dict[str, Any] = {"id": "home", "name": "Home", "description": "We live in Porto, by the river."}


def changed(service: Service, citizen: str, how: str, source: str, **fields: Any) -> Any:
    body = {"citizen_id": citizen, "source": source, **fields}
    return service.http.post(f"/v1/memories/N1/home/{how}", json=body)


@pytest.mark.parametrize(
    ("how", "fields"),
    [
        ("supersede", {"description": "We live in Faro."}),
        ("correct", {"description": "We live in Faro."}),
        ("retract", {}),
        ("resolve", {}),
        ("undo", {}),
    ],
)
def test_a_tool_may_not_change_a_memory_of_a_citizen(
    service: Service, citizen: str, how: str, fields: dict[str, Any]
) -> None:
    service.remember(citizen, **HOME)
    if how == "undo":
        assert changed(service, citizen, "correct", "citizen", description="By the sea.").status_code == 200
    before = service.http.get("/v1/memories/N1/home/history", params={"citizen_id": citizen}).json()
    answer = changed(service, citizen, how, "tool", **fields)
    assert answer.status_code == 403
    assert answer.json()["type"] == "/problems/not-trusted"
    assert "allowed: citizen, system" in answer.json()["detail"]
    assert service.http.get("/v1/memories/N1/home/history", params={"citizen_id": citizen}).json() == before


def test_a_correction_by_a_citizen_makes_the_citizen_the_source(service: Service, citizen: str) -> None:
    service.remember(citizen, **HOME, source="tool")
    assert changed(service, citizen, "correct", "citizen", description="By the sea.").status_code == 200
    assert service.http.get("/v1/memories/N1/home", params={"citizen_id": citizen}).json()["source"] == "citizen"
    assert changed(service, citizen, "correct", "tool", description="In the hills.").status_code == 403


def test_a_tool_may_change_a_memory_of_a_tool(service: Service, citizen: str) -> None:
    service.remember(citizen, **HOME, source="tool")
    assert changed(service, citizen, "supersede", "tool", description="In the hills.").status_code == 200


def test_a_link_is_guarded_as_a_memory_is(service: Service, citizen: str) -> None:
    service.remember(citizen, **HOME)
    service.relate(citizen, ("home", "NEXT", "home"), id="loop")
    answer = service.http.post("/v1/links/N1/loop/retract", json={"citizen_id": citizen, "source": "tool"})
    assert answer.status_code == 403
    assert answer.json()["type"] == "/problems/not-trusted"


def test_a_repair_by_a_source_that_weighs_less_is_refused_as_a_change_is(service: Service, citizen: str) -> None:
    service.remember(citizen, id="pact", name="The pact", source="citizen")
    command = {"command": "retract", "citizen_id": citizen, "id": "pact", "source": "ingestion"}
    with service.unchanged():
        answer = service.http.post("/v1/upkeep/repair", json={"task": {"action": "apply", "command": command}})
    assert answer.status_code == 403, answer.text
    assert answer.json()["type"] == "/problems/not-trusted"
    [fault] = answer.json()["faults"]
    assert "allowed: citizen, system" in fault
