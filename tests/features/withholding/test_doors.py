"""Quarantine and retention over HTTP, by the Python client and on the command line."""

from __future__ import annotations

import httpx
import pytest

from api.client import Substrate
from schemas.errors import Conflict, Forbidden
from tests.acceptance.conftest import Service

LIE = "The lighthouse was sold to a stranger"


@pytest.fixture
def lied_to(service: Service, citizen: str) -> str:
    """A citizen with memories of its own and one of a tool."""
    for number in range(3):
        service.remember(citizen, id=f"{citizen}-{number}", name=f"The lighthouse keeps card {number}")
    service.remember(citizen, id=f"{citizen}-lie", name=LIE, source="tool")
    return citizen


def held(service: Service, citizen: str) -> list[str]:
    answer = service.http.get("/v1/memories", params={"citizen_id": citizen})
    return [memory["name"] for memory in answer.json()["memories"]]


def test_a_quarantine_is_listed_and_released_by_the_python_client(service: Service, lied_to: str) -> None:
    with Substrate(service.url, service.key(f"citizen:{lied_to}:*", "upkeep")) as client:
        hidden = client.quarantine(citizen_id=lied_to, source="tool", note="a bad page")
        assert (hidden.status, hidden.memories) == ("hidden", 1)
        assert LIE not in held(service, lied_to)
        [listed] = client.list_quarantines(citizen_id=lied_to).quarantines
        assert (listed.id, listed.request.note) == (hidden.id, "a bad page")
        assert client.get_quarantine(str(hidden.id), citizen_id=lied_to).things[0].name == LIE
        client.release_quarantine(str(hidden.id), citizen_id=lied_to)
        assert LIE in held(service, lied_to)
        again = client.quarantine(citizen_id=lied_to, source="tool")
        client.retract_quarantine(str(again.id), citizen_id=lied_to)
        with pytest.raises(Conflict, match="made final"):
            client.release_quarantine(str(again.id), citizen_id=lied_to)


def test_a_policy_is_counted_stored_shown_and_removed_by_the_python_client(service: Service, lied_to: str) -> None:
    with Substrate(service.url, service.key(f"citizen:{lied_to}:*", "upkeep")) as client:
        counted = client.set_policy("all", citizen_id=lied_to, keep_newest=1, dry_run=True)
        assert (counted.reached, counted.total, counted.stored) == (3, 4, False)
        with pytest.raises(Conflict, match="3 of 4"):
            client.set_policy("all", citizen_id=lied_to, keep_newest=1)
        client.set_policy("all", citizen_id=lied_to, keep_newest=1, confirm=3)
        assert client.get_policy("all", citizen_id=lied_to).policy.confirmed == 3
        assert [each.name for each in client.list_policies(citizen_id=lied_to).policies] == ["all"]
        assert client.remove_policy("all", citizen_id=lied_to).name == "all"
        assert client.list_policies(citizen_id=lied_to).policies == ()


def test_hiding_and_keeping_need_upkeep_writing_and_for_what_erases_erasing(
    service: Service, lied_to: str
) -> None:
    chosen = {"citizen_id": lied_to, "source": "tool"}
    for scopes in ((f"citizen:{lied_to}:*",), (f"citizen:{lied_to}:read", "upkeep")):
        with Substrate(service.url, service.key(*scopes)) as client, pytest.raises(Forbidden):
            client.quarantine(**chosen)  # type: ignore[arg-type]
    writing = service.key(f"citizen:{lied_to}:read", f"citizen:{lied_to}:write", "upkeep")
    with Substrate(service.url, writing) as client, pytest.raises(Forbidden):
        client.set_policy("p", citizen_id=lied_to, keep_days=1, action="erase")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/upkeep/quarantine", {}),
        ("POST", "/v1/upkeep/quarantine", {"source": "nobody"}),
        ("PUT", "/v1/upkeep/policies/p", {}),
        ("PUT", "/v1/upkeep/policies/p", {"keep_days": 0}),
        ("PUT", "/v1/upkeep/policies/p", {"keep_newest": -1}),
        ("PUT", "/v1/upkeep/policies/p", {"keep_days": 1, "age": "never"}),
    ],
)
def test_what_says_nothing_or_too_little_is_refused(
    service: Service, lied_to: str, method: str, path: str, body: dict[str, object]
) -> None:
    answer: httpx.Response = service.http.request(method, path, json={"citizen_id": lied_to, **body})
    assert answer.status_code == 422, answer.text
