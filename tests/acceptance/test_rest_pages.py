"""Long answers over REST come in pages, and every page is of the moment of the first."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.conftest import Service


def get(service: Service, citizen: str, path: str, **asked: Any) -> Any:
    answer = service.http.get(f"/v1/{path}", params={"citizen_id": citizen, **asked})
    assert answer.status_code == 200, answer.text
    return answer.json()


def post(service: Service, citizen: str, path: str, **said: Any) -> Any:
    answer = service.http.post(f"/v1/{path}", json={"citizen_id": citizen, **said})
    assert answer.status_code < 300, answer.text
    return answer.json()


def joined(service: Service, citizen: str) -> None:
    for name in "abcde":
        service.remember(citizen, id=name, name=name)
    for ends in (("a", "NEXT", "b"), ("b", "NEXT", "c"), ("c", "NEXT", "d")):
        assert service.relate(citizen, ends).status_code == 201


AHEAD: list[dict[str, str]] = [{"known_at": "now"}, {"known_at": "2200-01-01T00:00:00Z"}]
"""Times of knowing that what is written between two pages has not passed either."""
MOMENTS: list[dict[str, str]] = [{}, *AHEAD, {"as_of_time": "2200-01-01T00:00:00Z"}]


@pytest.mark.parametrize("moment", MOMENTS, ids=str)
@pytest.mark.parametrize("what", ["memories", "links"])
def test_a_later_page_of_a_list_knows_nothing_that_was_written_after_the_first(
    service: Service, citizen: str, what: str, moment: dict[str, str]
) -> None:
    joined(service, citizen)
    whole = get(service, citizen, what, **moment)[what]
    first = get(service, citizen, what, limit=1, **moment)
    service.remember(citizen, id="f", name="f")
    post(service, citizen, "memories/N1/c/correct", description="changed")
    post(service, citizen, "memories/N1/d/retract")
    post(service, citizen, "links/N1/b%7CNEXT%7Cc/correct", energy=0.1)
    post(service, citizen, "links/N1/c%7CNEXT%7Cd/retract")
    assert service.relate(citizen, ("a", "KNOWS", "f")).status_code == 201
    again = moment if "as_of_time" in moment else {}
    rest = get(service, citizen, what, cursor=first["next"], **again)
    assert without_decay(first[what] + rest[what]) == without_decay(whole)
    assert rest["next"] is None


@pytest.mark.parametrize(("what", "other"), [("memories", "links"), ("links", "memories")])
def test_a_cursor_of_another_list_is_refused(service: Service, citizen: str, what: str, other: str) -> None:
    joined(service, citizen)
    after = get(service, citizen, what, limit=1)["next"]
    answer = service.http.get(f"/v1/{other}", params={"citizen_id": citizen, "cursor": after})
    assert (answer.status_code, f"of {what}" in answer.json()["faults"][0]) == (422, True)


@pytest.mark.parametrize("moment", AHEAD, ids=str)
@pytest.mark.parametrize(
    ("path", "items"),
    [
        ("memories/N1/a/history", "records"),
        ("links/N1/a%7CNEXT%7Cb/history", "records"),
        ("citizens/{}/dissonances", "dissonances"),
        ("citizens/{}/identity", "entities"),
        ("citizens/{}/rules", "rules"),
    ],
)
def test_pages_as_known_at_a_time_still_ahead_are_of_the_moment_of_the_first(
    service: Service, citizen: str, path: str, items: str, moment: dict[str, str]
) -> None:
    joined(service, citizen)
    for name in "xyz":
        service.remember(citizen, id=name, name=name, rule=f"Never sell {name}")
    for word in ("one", "two", "three"):
        post(service, citizen, "memories/N1/a/correct", description=word)
        post(service, citizen, "links/N1/a%7CNEXT%7Cb/correct", goal=word)
    path = path.format(citizen)
    whole = get_own(service, citizen, path, **moment)[items]
    page = get_own(service, citizen, path, limit=1, **moment)
    post(service, citizen, "memories/N1/a/correct", description="four")
    post(service, citizen, "links/N1/a%7CNEXT%7Cb/correct", goal="four")
    assert service.relate(citizen, ("a", "NEXT", "d")).status_code == 201
    post(service, citizen, "memories/N1/y/retract")
    found = page[items]
    while page["next"] is not None:
        page = get_own(service, citizen, path, limit=1, cursor=page["next"], **moment)
        found += page[items]
    assert len(whole) > 1
    assert found == whole


def get_own(service: Service, citizen: str, path: str, **asked: Any) -> Any:
    """As `get`; the routes of a citizen do not take its id again."""
    answer = service.http.get(
        f"/v1/{path}", params=asked if "citizens" in path else {"citizen_id": citizen, **asked}
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def without_decay(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Records without the energy that time has left: for `now` it goes by the moment of the question."""
    return [{name: value for name, value in one.items() if name != "effective_energy"} for one in records]


@pytest.mark.parametrize("address", ["memories/N1/a", "links/N1/a%7CNEXT%7Cb"])
def test_a_history_comes_in_pages_as_it_was_when_the_first_was_read(
    service: Service, citizen: str, address: str
) -> None:
    joined(service, citizen)
    made = [post(service, citizen, f"{address}/correct", energy=number / 10) for number in range(5)]
    whole = get(service, citizen, f"{address}/history")
    assert ([one["energy"] for one in whole["records"][1:]], whole["next"]) == ([0.0, 0.1, 0.2, 0.3, 0.4], None)
    page = get(service, citizen, f"{address}/history", limit=4)
    post(service, citizen, f"{address}/correct", energy=0.9)
    rest = get(service, citizen, f"{address}/history", limit=4, cursor=page["next"])
    assert (len(page["records"]), page["records"] + rest["records"], rest["next"]) == (4, whole["records"], None)
    then = get(service, citizen, f"{address}/history", known_at=made[1]["created_at"])["records"]
    assert [one["energy"] for one in then[1:]] == [0.0, 0.1]
    assert (then[-1]["expired_at"], then[-1]["closed_by"], then[-1]["closed_reason"]) == (None, None, None)
    assert then[1]["closed_by"] is not None


def test_a_history_before_anything_was_known_is_not_there(service: Service, citizen: str) -> None:
    joined(service, citizen)
    for address, where in (("memories/N1/a", "that moment"), ("memories/N1/nobody", "there is no memory")):
        asked = {"citizen_id": citizen, "known_at": "2025-01-01T00:00:00Z"}
        answer = service.http.get(f"/v1/{address}/history", params=asked)
        assert (answer.status_code, where in answer.json()["detail"]) == (404, True)
    for address in ("memories/N1/a", "links/N1/a%7CNEXT%7Cb"):
        asked = {"citizen_id": citizen, "known_at": "2025-01-01T00:00:00Z"}
        remedy = service.http.get(f"/v1/{address}/history", params=asked).json()["remedy"]
        assert ("known_at" in remedy, "/history" in remedy) == (True, False)


@pytest.mark.parametrize("cursor", ["x", "WzEsMl0", "W251bGwsImEiXQ"])
def test_a_cursor_that_is_none_is_refused_for_a_history(service: Service, citizen: str, cursor: str) -> None:
    joined(service, citizen)
    answer = service.http.get("/v1/memories/N1/a/history", params={"citizen_id": citizen, "cursor": cursor})
    assert (answer.status_code, answer.json()["faults"]) == (422, ["cursor: is not the `next` of a page"])


@pytest.mark.parametrize("path", ["memories", "links", "memories/N1/a", "memories/N1/a/history"])
def test_every_reading_says_that_a_time_without_a_zone_was_taken_as_utc(
    service: Service, citizen: str, path: str
) -> None:
    service.remember(citizen, id="a", name="a", valid_at="2025-01-01T00:00:00Z")
    name = "known_at" if path.endswith("history") else "as_of_time"
    moment = {name: "2200-01-01T00:00:00"}
    answer = service.http.get(f"/v1/{path}", params={"citizen_id": citizen, **moment})
    assert answer.status_code == 200
    assert answer.headers["Substrate-Notes"] == f"{name} had no time zone and was taken as UTC"


@pytest.mark.parametrize("path", ["memories", "memories/N1/a", "memories/N1/a/history", "links"])
def test_digits_beyond_the_microsecond_are_refused_in_a_question(
    service: Service, citizen: str, path: str
) -> None:
    service.remember(citizen, id="a", name="a")
    asked = {"citizen_id": citizen, "known_at": "2026-01-01T00:00:00.1234567Z"}
    answer = service.http.get(f"/v1/{path}", params=asked)
    assert (answer.status_code, "to the microsecond" in answer.json()["faults"][0]) == (422, True)
