"""What follows from a resolution, and what nobody took up, on every door."""

from __future__ import annotations

from typing import Any

import pytest

from api.client import Substrate
from schemas.errors import NotFound
from tests.acceptance.conftest import Service, problem_in


def told(service: Service, citizen: str) -> None:
    """A trip that waits for a visa, and a visa that was asked for."""
    for memory_id, state in (("trip", "blocked"), ("visa", "in_progress"), ("letter", None)):
        service.remember(citizen, id=memory_id, name=memory_id.title(), resolution_state=state)
    assert service.relate(citizen, ("trip", "BLOCKED_BY", "visa")).status_code == 201
    assert service.relate(citizen, ("visa", "RESOLVED_BY", "letter")).status_code == 201


def listed(service: Service, citizen: str) -> list[dict[str, Any]]:
    answer = service.http.get("/v1/upkeep/offers", params={"citizen_id": citizen})
    assert answer.status_code == 200, answer.text
    return list(answer.json()["offers"])


def state(service: Service, citizen: str, memory_id: str) -> str:
    answer = service.http.get(f"/v1/memories/N1/{memory_id}", params={"citizen_id": citizen})
    return str(answer.json()["resolution_state"])


def resolved(service: Service, citizen: str, **fields: Any) -> dict[str, Any]:
    answer = service.http.post(
        "/v1/links/N1/visa%7CRESOLVED_BY%7Cletter/resolve", json={"citizen_id": citizen, **fields}
    )
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_what_nobody_took_up_is_offered_with_its_command_until_it_is_done(service: Service, citizen: str) -> None:
    told(service, citizen)
    assert listed(service, citizen) == []
    receipt = resolved(service, citizen)
    assert {each["id"] for each in receipt["follows"]} == {"visa", "trip", "trip|BLOCKED_BY|visa"}
    [offer] = listed(service, citizen)
    assert (offer["kind"], offer["memory_id"], offer["reason"]) == (
        "resolve",
        "visa",
        "it was resolved by “Letter”",
    )
    asked = {"citizen_id": citizen, "form": "compact", "parts": ["offers"]}
    woken = service.http.post("/v1/wake", json=asked).json()
    [shown] = woken["offers"]
    assert shown.items() <= offer.items()
    assert "# Could be done\n- resolve Visa: it was resolved by “Letter”" in woken["text"]
    done = service.http.post("/v1/commands", json=offer["command"])
    assert done.status_code == 201, done.text
    assert (state(service, citizen, "visa"), state(service, citizen, "trip")) == ("resolved", "in_progress")
    assert listed(service, citizen) == []


def test_an_offer_is_taken_up_by_its_id_and_its_undo_brings_it_back(service: Service, citizen: str) -> None:
    told(service, citizen)
    resolved(service, citizen)
    [offer] = listed(service, citizen)
    body = {"citizen_id": citizen, "answer": "take"}
    taken = service.http.post(f"/v1/upkeep/offers/{offer['id']}", json=body)
    assert taken.status_code == 200, taken.text
    assert [each["outcome"] for each in taken.json()["receipt"]["follows"]] == ["done", "done"]
    problem_in(service.http.post(f"/v1/upkeep/offers/{offer['id']}", json=body), 404)
    undone = service.http.post("/v1/memories/N1/trip/undo", json={"citizen_id": citizen})
    assert undone.status_code == 200, undone.text
    assert (state(service, citizen, "visa"), state(service, citizen, "trip")) == ("in_progress", "blocked")
    assert listed(service, citizen) == [offer]


def test_a_declined_offer_does_not_come_back(service: Service, citizen: str, client: Substrate) -> None:
    told(service, citizen)
    resolved(service, citizen)
    [offer] = client.offers(citizen_id=citizen).offers
    assert client.answer_offer(offer.id, citizen_id=citizen, answer="decline").offer == offer
    assert client.offers(citizen_id=citizen).offers == ()
    assert client.wake(citizen_id=citizen).offers == ()
    exported = service.http.get(f"/v1/citizens/{citizen}/export")
    assert (exported.status_code, "DECLINED" in exported.text) == (200, False)
    with pytest.raises(NotFound):
        client.answer_offer(offer.id, citizen_id=citizen, answer="decline")
    assert state(service, citizen, "visa") == "in_progress"


def test_what_waited_for_something_that_is_over_is_offered_to_go_on(service: Service, citizen: str) -> None:
    told(service, citizen)
    service.http.post("/v1/memories/N1/visa/retract", json={"citizen_id": citizen})
    [offer] = listed(service, citizen)
    assert (offer["kind"], offer["memory_id"]) == ("unblock", "trip")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"cascade": True, "resolution_state": "blocked"}, 422),
        ({"cascade": "perhaps"}, 422),
        ({"cascade": True, "expected_version": 9}, 409),
    ],
)
def test_a_cascade_that_makes_no_sense_is_refused(
    service: Service, citizen: str, body: dict[str, Any], status: int
) -> None:
    told(service, citizen)
    with service.unchanged():
        answer = service.http.post("/v1/memories/N1/visa/resolve", json={"citizen_id": citizen, **body})
        problem_in(answer, status)


def test_offers_are_for_those_who_may_read_and_are_answered_by_those_who_may_write(
    service: Service, citizen: str
) -> None:
    told(service, citizen)
    resolved(service, citizen)
    [offer] = listed(service, citizen)
    where = f"/v1/upkeep/offers/{offer['id']}"
    with service.client(service.key(f"citizen:{citizen}:read")) as reader:
        assert reader.get("/v1/upkeep/offers", params={"citizen_id": citizen}).json()["offers"] == [offer]
        problem_in(reader.post(where, json={"citizen_id": citizen, "answer": "decline"}), 403)
    with service.client(service.key("citizen:somebody:write")) as stranger:
        problem_in(stranger.get("/v1/upkeep/offers", params={"citizen_id": citizen}), 404)
        problem_in(stranger.post(where, json={"citizen_id": citizen, "answer": "take"}), 404)
    problem_in(service.http.post(where, json={"citizen_id": citizen, "answer": "perhaps"}), 422)
    problem_in(service.http.get("/v1/upkeep/offers"), 422)
    for limit, status in (("1", 200), ("0", 422), ("101", 422), ("many", 422)):
        answer = service.http.get("/v1/upkeep/offers", params={"citizen_id": citizen, "limit": limit})
        assert answer.status_code == status


def read_receipt(service: Service, citizen: str, command_id: str) -> dict[str, Any]:
    answer = service.http.get(f"/v1/receipts/{command_id}", params={"citizen_id": citizen})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


@pytest.mark.parametrize("cascade", [False, True])
def test_the_first_receipt_is_the_receipt_whatever_is_done_since(
    service: Service, citizen: str, cascade: bool
) -> None:
    told(service, citizen)
    first = resolved(service, citizen, cascade=cascade, command_id="first")
    assert first["follows"]
    if not cascade:
        done = {"command": "resolve", "citizen_id": citizen, "id": "visa", "cascade": True}
        assert service.http.post("/v1/commands", json=done).status_code == 201
    service.remember(citizen, id="flat", name="Flat", resolution_state="blocked")
    assert service.relate(citizen, ("flat", "BLOCKED_BY", "visa")).status_code == 201
    assert read_receipt(service, citizen, "first") == first
    assert resolved(service, citizen, cascade=cascade, command_id="first") == {**first, "duplicate": True}
    assert read_receipt(service, citizen, "first") == first
