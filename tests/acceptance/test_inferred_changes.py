"""What a question infers to have changed is listed, until the citizen says on some door that it did not change."""

from __future__ import annotations

import json

import pytest

from api.client import Substrate
from tests.acceptance.conftest import ADMIN_KEY, Service
from tests.acceptance.test_cli import Command
from tests.acceptance.test_metrics import scrape

HOMES = {
    "bergen": ("I live in Bergen, in a flat by the harbour.", "2025-01-01T12:00:00Z"),
    "oslo": ("Since June I live in Oslo now, my flat in Bergen is let.", "2025-06-01T12:00:00Z"),
}


def moments(service: Service, citizen: str, **page: str) -> list[tuple[str, str]]:
    """The changes of the list, each as the ids of the earlier and the later memory."""
    answer = service.http.get(f"/v1/citizens/{citizen}/dissonances", params=page)
    assert answer.status_code == 200, answer.text
    return [(each["node_id"], each["corrected_by"]) for each in answer.json()["dissonances"] if each["inferred"]]


def overtaken(service: Service, citizen: str) -> dict[str, str | None]:
    """By each memory found, in the order of the answer, the one that seems to tell what holds instead."""
    asked = service.http.post(
        "/v1/retrieve", json={"citizen_id": citizen, "query": "Where do I live?", "query_levels": ["N1"]}
    )
    assert asked.status_code == 200, asked.text
    stream = asked.json()
    found = [memory for tier in stream["activation_tiers"].values() for memory in tier]
    return {memory["node_id"]: memory.get("overtaken_by") for memory in found}


def inferred_and_rejected(service: Service) -> list[float]:
    for _ in range(9):  # a scrape reads some graphs of many
        figures, name = scrape(service), "substrate_learning_moments"
    return [figures.get((name, (("verdict", verdict),)), 0) for verdict in ("inferred", "rejected")]


def test_a_citizen_says_on_any_door_that_a_change_was_none_and_takes_it_back(
    service: Service, citizen: str, capsys: pytest.CaptureFixture[str]
) -> None:
    substrate = Command(service.data, capsys)
    for name, (text, at) in HOMES.items():
        service.remember(citizen, id=name, name=name, text=text, valid_at=at, speaker="user", node_type="Turn")
    before = inferred_and_rejected(service)
    change, pair = [("bergen", "oslo")], {"earlier": "bergen", "later": "oslo"}
    assert overtaken(service, citizen) == {"oslo": None, "bergen": "oslo"}
    assert moments(service, citizen) == change
    path = f"/v1/citizens/{citizen}/feedback"
    said = service.http.post(path, json={"not_changed": [pair], "feedback_id": "rest"})
    assert (said.status_code, said.json()["not_changed"]) == (201, [pair])
    after = inferred_and_rejected(service)
    assert (after[0] > before[0], after[1]) == (True, before[1] + 1)
    assert overtaken(service, citizen) == {"bergen": None, "oslo": None}
    assert moments(service, citizen) == []
    assert "not changed: bergen by oslo" in substrate("feedback", "-c", citizen).out
    assert service.http.delete(f"{path}/rest").json()["taken_back"] == 1
    assert (moments(service, citizen), list(overtaken(service, citizen))) == (change, ["oslo", "bergen"])
    assert inferred_and_rejected(service)[1] == before[1]
    with Substrate(service.url, ADMIN_KEY) as client:
        by_client = client.tell_feedback(citizen, not_changed=[pair])
        assert (by_client.query_text, moments(service, citizen)) == (None, [])
        client.take_back_feedback(citizen)
    by_command = substrate("feedback", "-c", citizen, "--not-changed", "bergen", "oslo", "--json")
    assert by_command.code == 0, by_command.err
    assert (json.loads(by_command.out)["not_changed"], moments(service, citizen)) == ([pair], [])
