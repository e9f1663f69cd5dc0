"""A conversation that is stored in the background."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.acceptance.conftest import Service

UNAWAITED = {"Prefer": "respond-async"}
LIMIT_S = 300.0


def conversation(citizen: str, turns: int = 120, **more: Any) -> dict[str, Any]:
    said = [
        {"role": f"speaker {turn % 2}", "content": f"the tide of day {turn} was high"} for turn in range(turns)
    ]
    return {"citizen_id": citizen, "messages": said, **more}


def ended(service: Service, address: str) -> dict[str, Any]:
    give_up = time.monotonic() + LIMIT_S
    while time.monotonic() < give_up:
        progress: dict[str, Any] = service.http.get(address).json()
        if progress["status"] != "running":
            return progress
    raise AssertionError("it did not end")


def test_a_background_episode_is_answered_at_once_and_reports_its_progress(
    wordless: Service, citizen: str
) -> None:
    answer = wordless.http.post("/v1/episodes", json=conversation(citizen), headers=UNAWAITED)
    assert (answer.status_code, answer.headers["preference-applied"]) == (202, "respond-async")
    assert answer.json()["status"] == "running"
    assert answer.json()["report"] is None
    progress = ended(wordless, answer.headers["location"])
    assert (progress["status"], progress["detail"]) == ("stored", None)
    assert progress["done"] == progress["total"] == 120
    assert progress["report"]["turns"] == 120

    awaited = wordless.http.post("/v1/episodes", json=conversation(citizen)).json()
    assert awaited["stored"] == 0
    assert awaited["duplicates"] == progress["report"]["stored"] + progress["report"]["duplicates"]


def test_sent_twice_it_is_stored_once(wordless: Service, citizen: str) -> None:
    sent = conversation(citizen, episode_id="a/b")
    addresses = {
        wordless.http.post("/v1/episodes", json=sent, headers=UNAWAITED).headers["location"] for _ in range(3)
    }
    [address] = addresses
    assert ended(wordless, address)["report"]["turns"] == 120
    found = wordless.http.get("/v1/memories", params={"citizen_id": citizen, "node_type": "Turn", "limit": 500})
    assert len(found.json()["memories"]) == 120


def test_another_conversation_of_the_same_name_is_refused_as_long_as_one_is_stored(
    wordless: Service, citizen: str
) -> None:
    first = conversation(citizen, 1000, episode_id="one")
    address = wordless.http.post("/v1/episodes", json=first, headers=UNAWAITED).headers["location"]
    other = wordless.http.post("/v1/episodes", json=conversation(citizen, 2, episode_id="one"), headers=UNAWAITED)
    assert ended(wordless, address)["status"] == "stored"
    assert (other.status_code, other.json()["type"]) == (409, "/problems/conflict")


@pytest.mark.parametrize("messages", [[], [{"text": "nobody says this"}]])
def test_an_invalid_conversation_is_refused_before_the_work_begins(
    wordless: Service, citizen: str, messages: list[dict[str, str]]
) -> None:
    said = {"citizen_id": citizen, "messages": messages, "episode_id": "none"}
    with wordless.unchanged():
        assert wordless.http.post("/v1/episodes", json=said, headers=UNAWAITED).status_code == 422
    assert wordless.http.get(f"/v1/episodes/none?citizen_id={citizen}").status_code == 404


def test_nobody_sees_the_progress_of_another_citizen(wordless: Service, citizen: str) -> None:
    address = wordless.http.post("/v1/episodes", json=conversation(citizen, 2), headers=UNAWAITED).headers[
        "location"
    ]
    with wordless.client(wordless.key("citizen:somebody-else:*")) as other:
        assert other.get(address).status_code == 404
    assert ended(wordless, address)["status"] == "stored"


def test_a_list_without_a_name_that_has_grown_goes_on_in_its_conversation(wordless: Service, citizen: str) -> None:
    first, grown = conversation(citizen, 3), conversation(citizen, 5)
    named = wordless.http.post("/v1/episodes", json=first).json()["episode_id"]
    for stored, body in ((True, grown), (False, grown), (False, first)):
        answer = wordless.http.post("/v1/episodes", json=body).json()
        turns = wordless.http.get("/v1/memories", params={"citizen_id": citizen, "node_type": "Turn"}).json()
        assert (answer["episode_id"], answer["stored"] > 0) == (named, stored)
        assert len(turns["memories"]) == 5
    other = {**first, "messages": [*first["messages"][:2], {"role": "speaker 0", "content": "something else"}]}
    assert wordless.http.post("/v1/episodes", json=other).json()["episode_id"] != named


def test_messages_are_heard_one_by_one_and_the_wrong_ones_are_told(wordless: Service, citizen: str) -> None:
    address = "/v1/episodes/chat%2F1/turns"
    first, second = ({"role": "user", "content": text} for text in ("Hello.", "I moved to Bergen."))
    for said, stored in (([first], 1), ([second], 1), ([first, second], 0)):
        answer = wordless.http.post(address, json={"citizen_id": citizen, "messages": said})
        assert (answer.status_code, answer.json()["stored"]) == (200, stored)
    wrong = [{"role": "user", "content": "x", "timestamp": "never"}, {"role": "user", "content": "Fine."}]
    report = wordless.http.post(address, json={"citizen_id": citizen, "messages": wrong}).json()
    assert [one["status"] for one in report["messages"]] == ["refused", "stored"]
    assert "is no time" in report["messages"][0]["reason"]
    shown = wordless.http.get(f"/v1/memories/N1/{report['messages'][1]['id']}", params={"citizen_id": citizen})
    assert shown.json()["name"] == "User: Fine."


def test_an_erasure_ends_what_is_being_stored_and_forgets_its_progress(wordless: Service, citizen: str) -> None:
    wordless.remember(citizen, id="first", name="First")
    body = conversation(citizen, 4_000, episode_id="talk of the town")
    address = wordless.http.post("/v1/episodes", json=body, headers=UNAWAITED).headers["location"]
    assert wordless.http.get(address).json()["status"] == "running"
    assert wordless.http.delete(f"/v1/citizens/{citizen}").json()["erased"] == "citizen"
    assert wordless.http.get(address).status_code == 404
    assert f"citizen_{citizen}" not in wordless.contents()
