"""Lists of commands over HTTP, each on its own or all or nothing."""

from __future__ import annotations

from typing import Any

import httpx

from tests.acceptance.conftest import Service

ATOMIC = {"atomic": "true"}


def send(service: Service, address: str, body: Any, **asked: Any) -> httpx.Response:
    return service.http.post(f"/v1/{address}", json=body, params=asked)


def told(answer: httpx.Response) -> list[tuple[str, str | None]]:
    assert answer.status_code == 200, answer.text
    return [(one["command"], one["problem"]) for one in answer.json()["receipts"]]


def test_a_list_of_any_commands_is_carried_out_as_a_whole(service: Service, citizen: str) -> None:
    since = {"citizen_id": citizen, "valid_at": "2025-03-01T00:00:00Z"}
    body = [
        {"command": "remember", "id": "a", "name": "a lamp", **since},
        {"command": "supersede", "id": "a", "name": "a torch", "citizen_id": citizen},
        {"command": "undo", "id": "a", "citizen_id": citizen},
    ]
    answer = send(service, "commands", body, **ATOMIC)
    assert told(answer) == [("remember", None), ("supersede", None), ("undo", None)]
    assert answer.json()["stored"] == 3
    read = service.http.get("/v1/memories/N1/a", params={"citizen_id": citizen}).json()
    assert (read["name"], read["version"]) == ("a lamp", 1)


def test_an_atomic_list_with_one_refused_command_applies_nothing(service: Service, citizen: str) -> None:
    fine = {"command": "remember", "citizen_id": citizen, "name": "a lamp"}
    bad = [
        ({**fine, "energy": 7}, ("remember", "invalid-request")),
        ({"command": "retract", "citizen_id": citizen, "id": "nobody"}, ("retract", "not-found")),
        ({"command": "forget", "citizen_id": citizen, "id": "nobody"}, ("", "invalid-request")),
        ({"citizen_id": citizen, "name": "no kind"}, ("", "invalid-request")),
    ]
    for command, expected in bad:
        with service.unchanged():
            answer = send(service, "commands", [fine, command], **ATOMIC)
        assert told(answer) == [("remember", "not-applied"), expected]
    with service.unchanged():
        answer = send(service, "memories", [{**fine, "name": "one"}, {**fine, "energy": 7}], **ATOMIC)
    assert told(answer) == [("remember", "not-applied"), ("remember", "invalid-request")]
    assert told(send(service, "commands", [fine, bad[1][0]])) == [("remember", None), ("retract", "not-found")]


def test_an_atomic_list_that_cannot_be_one_is_a_problem(service: Service, citizen: str) -> None:
    here = {"citizen_id": citizen, "name": "a lamp"}
    for body in ([here, {**here, "citizen_id": f"{citizen}x"}], [here] * 101):
        with service.unchanged():
            answer = send(service, "memories", body, **ATOMIC)
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-request")


def test_one_command_of_any_kind_is_answered_like_on_its_own_route(service: Service, citizen: str) -> None:
    said = {"command": "remember", "citizen_id": citizen, "id": "a", "name": "a lamp"}
    assert send(service, "commands", said).status_code == 201
    answer = send(service, "commands", {"command": "retract", "citizen_id": citizen, "id": "nobody"})
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/not-found")
    unknown = send(service, "commands", {"citizen_id": citizen, "id": "a"})
    assert unknown.status_code == 422
    assert "command" in unknown.json()["faults"][0]
