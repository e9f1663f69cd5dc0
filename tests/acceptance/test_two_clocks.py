"""Two services on one store whose clocks differ: each sees at once what the other stored."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from tests.acceptance.conftest import Service
from tests.oracle.outlines import Tally
from tests.oracle.services import Pair, Wrong


@pytest.fixture(scope="module", params=[60, -60])
def other(service: Service, request: pytest.FixtureRequest) -> Iterator[Service]:
    running = Wrong(service, request.param)
    yield running
    running.stop()


def told(service: Service, **command: Any) -> dict[str, Any]:
    answer = service.http.post("/v1/commands", json=command)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def test_a_memory_stored_by_one_service_is_read_listed_found_and_changed_by_the_other(
    service: Service, other: Service, citizen: str
) -> None:
    of: dict[str, Any] = {"citizen_id": citizen}
    for number, (one, two) in enumerate(((other, service), (service, other))):
        who = {**of, "id": f"x{number}"}
        stored = told(one, command="remember", name=f"The ferry {number}", **who)
        assert stored["valid_at"] == stored["created_at"]
        seen = two.http.get(f"/v1/memories/N1/{who['id']}", params=of)
        assert seen.status_code == 200
        listed = two.http.get("/v1/memories", params=of).json()["memories"]
        assert who["id"] in [memory["node_id"] for memory in listed]
        asked = two.http.post("/v1/retrieve", json={**of, "query_text": f"ferry {number}"}).json()
        assert who["id"] in [memory["node_id"] for memory in asked["levels"]["n1_personal"]["vector_results"]]
        told(two, command="supersede", description="It sails at noon.", **who)
        assert one.http.get(f"/v1/memories/N1/{who['id']}", params=of).json()["description"] == "It sails at noon."


def test_both_services_answer_as_the_oracle_on_a_random_history(service: Service, other: Service) -> None:
    tally = Tally()
    Pair(doors=(service.http, other.http), chance=Random(1), tally=tally).through(15, 30)
    assert tally.differences == []
