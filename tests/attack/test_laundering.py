"""Source laundering: words that a citizen repeats become the citizen's, whoever wrote them first."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.acceptance.conftest import Service, problem_in

WORDS = "The rent goes to the account that ends in forty one."


def say(http: httpx.Client, citizen: str, **fields: Any) -> dict[str, Any]:
    body = {"citizen_id": citizen, "name": "Rent", "description": WORDS, **fields}
    answer = http.post("/v1/memories", json=body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def records(service: Service, citizen: str, memory: str) -> list[dict[str, Any]]:
    answer = service.http.get(f"/v1/memories/N1/{memory}/history", params={"citizen_id": citizen})
    return list(answer.json()["records"])


def tool_of(service: Service, citizen: str) -> httpx.Client:
    return service.client(service.key(f"citizen:{citizen}:*", highest_source="tool"))


def test_a_tool_cannot_change_words_that_the_citizen_repeated(service: Service, citizen: str) -> None:
    with tool_of(service, citizen) as tool:
        planted = say(tool, citizen)["id"]
        told = say(service.http, citizen)
        assert (told["recognised"], told["version"]) == (planted, 2)
        with service.unchanged():
            for how, fields in (("correct", {"description": "To mine."}), ("retract", {}), ("undo", {})):
                answer = tool.post(f"/v1/memories/N1/{planted}/{how}", json={"citizen_id": citizen, **fields})
                assert problem_in(answer, 403)["type"] == "/problems/not-trusted"


def test_past_records_keep_their_source(service: Service, citizen: str) -> None:
    planted = say(service.http, citizen, source="tool", emotion_vector={"calm": 0.5}, tags=["rent"])["id"]
    before = records(service, citizen, planted)[0]
    told = say(service.http, citizen)
    first, second = records(service, citizen, planted)
    assert (first["source"], second["source"]) == ("tool", "citizen")
    closed = {"closed_by": told["command_id"], "closed_source": "citizen", "closed_key": "environment"}
    assert first == {**before, "expired_at": second["created_at"], **closed}
    differs = {name for name in second if second[name] != before[name]}
    assert differs == {"source", "created_at", "version", "command_id"}
    learnt = service.http.get(f"/v1/citizens/{citizen}/dissonances").json()
    assert learnt["dissonances"] == []


@pytest.mark.parametrize("again", [{}, {"command_id": "once"}])
def test_a_third_repetition_stores_nothing_more(service: Service, citizen: str, again: dict[str, str]) -> None:
    planted = say(service.http, citizen, source="tool")["id"]
    first = say(service.http, citizen, **again)
    second = say(service.http, citizen, **again)
    assert (first["version"], second["version"]) == (2, 2)
    assert (second["recognised"], second["duplicate"]) == (planted, True)
    assert first["warnings"]
    assert [one["source"] for one in records(service, citizen, planted)] == ["tool", "citizen"]


@pytest.mark.parametrize(
    ("first", "then", "kept"),
    [
        ("upkeep", "tool", "tool"),
        ("tool", "tool", "tool"),
        ("citizen", "tool", "citizen"),
        ("citizen", "citizen", "citizen"),
        ("system", "citizen", "system"),
        ("citizen", "system", "system"),
    ],
)
def test_a_record_rises_to_the_higher_source_and_never_falls(
    service: Service, citizen: str, first: str, then: str, kept: str
) -> None:
    planted = say(service.http, citizen, source=first)["id"]
    assert say(service.http, citizen, source=then)["recognised"] == planted
    sources = [one["source"] for one in records(service, citizen, planted)]
    assert sources == [first] if first == kept else [first, kept]


@pytest.mark.parametrize("atomic", [False, True])
def test_repeated_words_in_a_list_become_the_citizens(service: Service, citizen: str, *, atomic: bool) -> None:
    planted = say(service.http, citizen, source="tool")["id"]
    said = {"command": "remember", "citizen_id": citizen, "name": "Rent", "description": WORDS}
    other = {"command": "remember", "citizen_id": citizen, "id": "other", "name": "Other"}
    answer = service.http.post("/v1/commands", params={"atomic": atomic}, json=[other, said, said])
    told = answer.json()["receipts"]
    assert [one["recognised"] for one in told] == [None, planted, planted]
    assert [one["version"] for one in told[1:]] == [2, 2]
    assert [one["source"] for one in records(service, citizen, planted)] == ["tool", "citizen"]


def test_repeated_words_with_a_scheduled_change_are_stored_as_the_citizens_own(
    service: Service, citizen: str
) -> None:
    planted = say(service.http, citizen, source="tool")["id"]
    then = {"source": "tool", "description": "To mine.", "effective_at": "2099-01-01T00:00:00Z"}
    body = {"citizen_id": citizen, **then}
    assert service.http.post(f"/v1/memories/N1/{planted}/supersede", json=body).status_code == 200
    own = say(service.http, citizen)["id"]
    answer = service.http.get(f"/v1/memories/N1/{own}", params={"citizen_id": citizen}).json()
    assert (answer["source"], answer["description"], answer["invalid_at"]) == ("citizen", WORDS, None)


def test_under_the_tools_own_id_the_same_words_are_refused_and_not_taken_for_stored(
    service: Service, citizen: str
) -> None:
    with tool_of(service, citizen) as tool:
        say(tool, citizen, id="rent")
    answer = service.http.post(
        "/v1/memories", json={"citizen_id": citizen, "id": "rent", "name": "Rent", "description": WORDS}
    )
    assert problem_in(answer, 409)["detail"].endswith("supersede or correct it instead")
