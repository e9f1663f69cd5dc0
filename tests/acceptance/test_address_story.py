"""The address story by which XTDB teaches time ("Time in XTDB"), told and asked over REST.

Ada has lived in the High Street since New Year 2024. On 1 June she moves to Mill Lane, and we are told only
later. Later still we learn that the number we had been given was wrong.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from tests.acceptance.conftest import Service

NEW_YEAR, MARCH, JUNE, JULY = (f"2024-{month:02}-01T00:00:00Z" for month in (1, 3, 6, 7))
HIGH_STREET, WRONG_NUMBER, MILL_LANE = "10 High Street", "7 Mill Lane", "9 Mill Lane"


class Told(NamedTuple):
    """Whose story it is, and when we were told of the first address, of the move, and of the right number."""

    citizen: str
    address: str
    move: str
    number: str


@pytest.fixture
def told(service: Service, citizen: str) -> Told:
    first = service.remember(citizen, id="ada", name="Ada", description=HIGH_STREET, valid_at=NEW_YEAR)

    def change(how: str, **fields: Any) -> str:
        body = {"citizen_id": citizen, **fields}
        answer = service.http.post(f"/v1/memories/N1/ada/{how}", json=body)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["created_at"])

    move = change("supersede", description=WRONG_NUMBER, effective_at=JUNE)
    number = change("correct", description=MILL_LANE)
    return Told(citizen, first["created_at"], move, number)


def where(service: Service, told: Told, **when: str) -> str | None:
    """The address that is read, and the one that retrieval finds: the same."""
    answer = service.http.get("/v1/memories/N1/ada", params={"citizen_id": told.citizen, **when})
    read = None if answer.status_code == 404 else str(answer.json()["description"])
    asked = {"citizen_id": told.citizen, "query_text": "Where does Ada live?", "query_levels": ["N1"]}
    mode = {"temporal_mode": "point_in_time"} if when else {}
    level = service.http.post("/v1/retrieve", json={**asked, **mode, **when}).json()["levels"]["n1_personal"]
    for found in (level["vector_results"], level["graph_results"]):
        assert [memory["description"] for memory in found] == ([] if read is None else [read])
    return read


def test_where_does_ada_live_now(service: Service, told: Told) -> None:
    assert where(service, told) == MILL_LANE


def test_where_did_ada_live_then_as_we_know_now(service: Service, told: Told) -> None:
    assert where(service, told, as_of_time=MARCH, known_at=told.number) == HIGH_STREET
    assert where(service, told, as_of_time=JULY, known_at=told.number) == MILL_LANE
    assert where(service, told, as_of_time="2023-12-31T23:59:59Z", known_at=told.number) is None


def test_where_did_we_think_then_that_ada_lived(service: Service, told: Told) -> None:
    assert where(service, told, as_of_time=JULY, known_at=told.address) == HIGH_STREET
    assert where(service, told, as_of_time=JULY, known_at=told.move) == WRONG_NUMBER
    assert where(service, told, as_of_time=MARCH, known_at=told.move) == HIGH_STREET
    assert where(service, told, as_of_time=JULY) is None, "in July 2024 we knew nothing of her yet"


def test_the_mistake_stays_in_the_history_with_what_ended_it(service: Service, told: Told) -> None:
    answer = service.http.get("/v1/memories/N1/ada/history", params={"citizen_id": told.citizen})
    records = [
        (record["description"], record["created_at"], record["expired_at"], record["invalidation_reason"])
        for record in answer.json()["records"]
    ]
    assert sorted(records, key=lambda record: (record[1], record[0])) == [
        (HIGH_STREET, told.address, told.move, "reality_changed"),
        (HIGH_STREET, told.move, None, "reality_changed"),
        (WRONG_NUMBER, told.move, told.number, "discovered_false"),
        (MILL_LANE, told.number, None, None),
    ]
