"""Changes of a portion of valid time over HTTP, beside scheduled changes, in plain and atomic lists."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.acceptance.conftest import Service

PAST, SOON, FAR = "2020-01-01T00:00:00Z", "2040-01-01T00:00:00Z", "2060-01-01T00:00:00Z"


def send(service: Service, citizen: str, command: str, **fields: Any) -> httpx.Response:
    return service.http.post("/v1/commands", json={"citizen_id": citizen, "command": command, "id": "a", **fields})


def told(service: Service, citizen: str, command: str, **fields: Any) -> dict[str, Any]:
    answer = send(service, citizen, command, **fields)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def got(service: Service, citizen: str, **when: str) -> httpx.Response:
    return service.http.get("/v1/memories/N1/a", params={"citizen_id": citizen, **when})


def planned(service: Service, citizen: str) -> None:
    """A memory since 2020 that is another from 2040 on."""
    told(service, citizen, "remember", name="A", description="today", valid_at=PAST)
    told(service, citizen, "supersede", description="to come", effective_at=SOON)


def then(service: Service, citizen: str, valid: str) -> str | None:
    """What is known now of a moment."""
    records = service.http.get("/v1/memories/N1/a/history", params={"citizen_id": citizen}).json()["records"]
    held = [
        one["description"]
        for one in records
        if one["expired_at"] is None
        and one["valid_at"] <= valid
        and (one["invalid_at"] is None or valid < one["invalid_at"])
    ]
    assert len(held) <= 1
    return held[0] if held else None


def test_a_retraction_ends_the_present_and_what_is_scheduled(service: Service, citizen: str) -> None:
    planned(service, citizen)
    told(service, citizen, "retract", effective_at="2026-01-01T00:00:00Z")
    assert got(service, citizen).status_code == 404
    assert then(service, citizen, "2021") == "today"
    assert then(service, citizen, "2050") is None


def test_a_correction_is_of_today_and_the_tag_just_read_is_met(service: Service, citizen: str) -> None:
    planned(service, citizen)
    tag = got(service, citizen).headers["ETag"]
    path, of = "/v1/memories/N1/a/correct", {"citizen_id": citizen, "description": "mended"}
    answer = service.http.post(path, json=of, headers={"If-Match": tag})
    assert answer.status_code == 200, answer.text
    assert got(service, citizen).json()["description"] == "mended"
    assert then(service, citizen, "2050") == "to come"
    assert service.http.post(path, json=of, headers={"If-Match": tag}).status_code == 412


@pytest.mark.parametrize("atomic", ["false", "true"])
def test_a_memory_retracted_until_a_scheduled_change_is_no_duplicate_when_it_is_sent_again(
    service: Service, citizen: str, atomic: str
) -> None:
    told(service, citizen, "remember", name="A", description="today")
    told(service, citizen, "supersede", description="to come", effective_at=SOON)
    told(service, citizen, "retract")
    again = {"citizen_id": citizen, "command": "remember", "id": "a", "name": "A", "description": "today"}

    def send_again(**fields: str) -> dict[str, Any]:
        answer = service.http.post("/v1/commands", json=[{**again, **fields}], params={"atomic": atomic})
        return dict(answer.json()["receipts"][0])

    refused = send_again()
    assert (refused["status"], refused["problem"]) == ("refused", "conflict")
    assert "another record of it holds from 2040" in refused["faults"][0]
    assert send_again(invalid_at=SOON)["status"] == "stored"
    assert got(service, citizen).json()["description"] == "today"


@pytest.mark.parametrize("atomic", ["false", "true"])
def test_a_memory_before_one_to_come_is_told_to_name_its_end(service: Service, citizen: str, atomic: str) -> None:
    told(service, citizen, "remember", name="A", description="to come", valid_at=SOON)
    today = {"citizen_id": citizen, "command": "remember", "id": "a", "name": "A", "description": "today"}
    refused = service.http.post("/v1/commands", json=today, params={"atomic": atomic})
    assert refused.status_code == 409
    assert "ame an end (invalid_at) no later than that" in refused.json()["remedy"]
    assert SOON[:10] in refused.json()["detail"]
    done = service.http.post("/v1/commands", json={**today, "invalid_at": SOON}, params={"atomic": atomic})
    assert done.status_code == 201, done.text
    assert got(service, citizen).json()["description"] == "today"


def test_an_undo_gives_no_record_a_version_that_a_receipt_named_before(service: Service, citizen: str) -> None:
    told(service, citizen, "remember", name="A", description="first")
    of_a = {"citizen_id": citizen, "id": "a"}
    commands = [{**of_a, "command": "supersede", "description": "never known"}, {**of_a, "command": "retract"}]
    answer = service.http.post("/v1/commands", json=commands, params={"atomic": "true"})
    named = [receipt["version"] for receipt in answer.json()["receipts"]]
    assert told(service, citizen, "undo")["version"] > max(named)


def test_a_condition_is_of_the_version_at_the_moment_of_which_the_change_speaks(
    service: Service, citizen: str
) -> None:
    planned(service, citizen)
    versions = service.http.get("/v1/memories/N1/a/history", params={"citizen_id": citizen}).json()["records"]
    now, later = sorted(one["version"] for one in versions if one["expired_at"] is None)
    change = {"description": "other", "effective_at": "2050-01-01T00:00:00Z"}
    refused = send(service, citizen, "supersede", **change, expected_version=now)
    assert (refused.status_code, refused.json()["current_version"]) == (409, later)
    told(service, citizen, "supersede", **change, expected_version=later)


def test_a_resolution_leaves_what_was_blocked_until_then_blocked(service: Service, citizen: str) -> None:
    told(service, citizen, "remember", name="A", resolution_state="blocked", valid_at=PAST)
    told(service, citizen, "resolve", effective_at="2025-01-01T00:00:00Z")
    records = service.http.get("/v1/memories/N1/a/history", params={"citizen_id": citizen}).json()["records"]
    held = [(r["valid_at"][:4], r["resolution_state"]) for r in records if r["expired_at"] is None]
    assert held == [("2020", "blocked"), ("2025", "resolved")]
    again = send(service, citizen, "resolve")
    assert (again.status_code, again.json()["detail"]) == (409, "a is already resolved; nothing changes")


def test_the_valid_time_itself_is_corrected_and_what_was_retracted_holds_again(
    service: Service, citizen: str
) -> None:
    told(service, citizen, "remember", name="A", description="first", valid_at=PAST)
    told(service, citizen, "correct", valid_at="2019-01-01T00:00:00Z", invalid_at="2022-01-01T00:00:00Z")
    assert [then(service, citizen, year) for year in ("2018", "2019-06", "2021", "2023")] == [
        None,
        "first",
        "first",
        None,
    ]
    told(service, citizen, "remember", name="A", description="again", valid_at="2024-01-01T00:00:00Z")
    assert [then(service, citizen, year) for year in ("2021", "2023", "2024-06")] == ["first", None, "again"]
    over = send(service, citizen, "remember", name="A", description="over", valid_at="2021-06-01T00:00:00Z")
    assert over.status_code == 409


BEFORE, GAP = "2010-01-01T00:00:00Z", "2031-01-01T00:00:00Z"
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("supersede", {"valid_from": SOON, "valid_to": SOON}, "empty"),
    ("supersede", {"valid_from": FAR, "valid_to": SOON}, "empty"),
    ("retract", {"effective_at": SOON, "valid_to": PAST}, "empty"),
    ("supersede", {"valid_from": BEFORE}, "nothing of it is known at 2010-01-01T00:00:00Z"),
    ("correct", {"valid_from": BEFORE, "valid_to": PAST}, "nothing of it is known at 2010"),
    ("retract", {"valid_from": PAST, "valid_to": FAR}, "nothing of it is known at 2030-01-01T00:00:00Z"),
    ("resolve", {"valid_from": GAP, "valid_to": FAR}, "nothing of it is known at 2031"),
    ("supersede", {"valid_from": PAST, "effective_at": PAST}, "name one"),
    ("correct", {"valid_to": FAR}, "nothing of it is known at 2030-01-01T00:00:00Z"),
    ("retract", {"valid_to": PAST}, "empty"),
    ("correct", {"valid_at": PAST, "valid_to": FAR}, "leave valid_from and valid_to out"),
    ("correct", {"valid_at": None}, "valid_at cannot be null"),
    ("correct", {"valid_at": PAST, "valid_from": PAST}, "leave valid_from and valid_to out"),
    ("correct", {"invalid_at": FAR}, "another record of it holds from 2040-01-01T00:00:00Z"),
]


@pytest.mark.parametrize(("command", "fields", "said"), REFUSED)
def test_a_stretch_that_cannot_be_is_refused_and_changes_nothing(
    service: Service, citizen: str, command: str, fields: dict[str, Any], said: str
) -> None:
    told(service, citizen, "remember", name="A", valid_at=PAST, invalid_at="2030-01-01T00:00:00Z")
    told(service, citizen, "remember", name="A", description="later", valid_at=SOON)
    change = {"energy": 0.1} if command in ("supersede", "correct") else {}
    with service.unchanged():
        answer = send(service, citizen, command, **change, **fields)
    assert answer.status_code == 422, answer.text
    assert said in answer.text


def test_the_commands_of_a_list_have_a_moment_each_and_those_of_an_atomic_one_have_one(
    service: Service, citizen: str
) -> None:
    def listed(of: str, *, atomic: bool) -> list[dict[str, Any]]:
        who = {"citizen_id": citizen, "id": of}
        commands = [
            {"command": "remember", "name": of, **who},
            {"command": "remember", "name": "beside", "citizen_id": citizen, "id": f"{of} too"},
            {"command": "supersede", "description": "changed", **who},
        ]
        answer = service.http.post("/v1/commands", json=commands, params={"atomic": atomic}).json()
        assert answer["refused"] == 0, answer
        return list(answer["receipts"])

    apart, together = listed("b", atomic=False), listed("c", atomic=True)
    moments = [receipt["created_at"] for receipt in apart]
    assert moments == sorted(set(moments))
    assert all(receipt["valid_at"] == receipt["created_at"] for receipt in apart)
    assert len({receipt["created_at"] for receipt in together}) == 1
    just_before = {"citizen_id": citizen, "known_at": moments[2], "as_of_time": moments[1]}
    assert service.http.get("/v1/memories/N1/b", params=just_before).json()["description"] == ""


def test_a_command_that_depends_on_a_refused_one_is_refused_too(service: Service, citizen: str) -> None:
    who = {"citizen_id": citizen, "id": "d"}
    commands = [
        {"command": "remember", "citizen_id": citizen, "id": "there", "name": "there"},
        {"command": "remember", "name": "D", "valid_at": SOON, "invalid_at": PAST, **who},
        {"command": "supersede", "description": "changed", **who},
    ]
    receipts = service.http.post("/v1/commands", json=commands).json()["receipts"]
    assert [receipt["problem"] for receipt in receipts] == [None, "invalid-request", "not-found"]
