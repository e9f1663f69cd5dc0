"""Changes of links, undo, receipts and listing over HTTP."""

from __future__ import annotations

import itertools
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from orchestration.identifiers import ingestion_id
from tests.acceptance.conftest import Service

FELT = {"energy": 0.7, "confidence": 0.9, "emotion_vector": {}, "goal": "g", "mindstate": "m"}


def joined(service: Service, citizen: str, *names: str) -> None:
    """Memories, each linked to the next."""
    since = {"citizen_id": citizen, "valid_at": "2025-03-01T00:00:00Z"}
    service.http.post("/v1/memories", json=[{**since, "id": name, "name": name} for name in names])
    ends = [{"source_id": one, "target_id": other} for one, other in itertools.pairwise(names)]
    links = [{**since, **FELT, **pair, "relation_type": "NEXT"} for pair in ends]
    said = service.http.post("/v1/links", json=links).json()
    assert said["refused"] == 0


def post(service: Service, citizen: str, address: str, **fields: Any) -> httpx.Response:
    return service.http.post(f"/v1/{address}", json={"citizen_id": citizen, **fields})


def get(service: Service, citizen: str, address: str, **asked: Any) -> httpx.Response:
    return service.http.get(f"/v1/{address}", params={"citizen_id": citizen, **asked})


def test_a_link_is_changed_seen_as_it_was_and_changed_back(service: Service, citizen: str) -> None:
    joined(service, citizen, "a", "b")
    link = f"links/N1/{quote('a|NEXT|b', safe='')}"
    later = "2025-06-01T00:00:00Z"
    receipt = post(service, citizen, f"{link}/supersede", energy=0.2, effective_at=later, command_id="s1").json()
    assert (receipt["status"], receipt["version"]) == ("stored", 3)
    assert get(service, citizen, link).json()["energy"] == 0.2
    known = receipt["created_at"]
    then = get(service, citizen, link, as_of_time="2025-04-01T00:00:00Z", known_at=known).json()
    assert (then["energy"], then["version"]) == (0.7, 2)
    assert post(service, citizen, f"{link}/resolve").json()["version"] == 5
    assert get(service, citizen, link).json()["resolution_state"] == "resolved"
    assert post(service, citizen, f"{link}/undo", undoes="s1").status_code == 409
    assert post(service, citizen, f"{link}/undo").status_code == 200
    assert post(service, citizen, f"{link}/retract").status_code == 200
    assert get(service, citizen, link).status_code == 404
    records = get(service, citizen, f"{link}/history").json()["records"]
    assert [record["version"] for record in records] == [1, 2, 3, 4, 5, 6]
    assert (records[0]["closed_by"], records[1]["command_id"]) == ("s1", "s1")
    assert [record["closed_source"] for record in records] == ["citizen", None, *["citizen"] * 4]


@pytest.mark.parametrize("address", ["memories/N1/a", "links/N1/a%7CNEXT%7Cb"])
def test_a_conflict_names_the_current_version(service: Service, citizen: str, address: str) -> None:
    joined(service, citizen, "a", "b")
    assert post(service, citizen, f"{address}/correct", energy=0.1).json()["version"] == 2
    answer = post(service, citizen, f"{address}/correct", energy=0.3, expected_version=1)
    assert (answer.status_code, answer.json()["current_version"]) == (409, 2)
    assert post(service, citizen, f"{address}/correct", energy=0.3, expected_version=2).status_code == 200


@pytest.mark.parametrize("what", ["memories", "links"])
def test_a_memory_with_another_wording_after_changes_is_refused_with_the_present_version(
    service: Service, citizen: str, what: str
) -> None:
    joined(service, citizen, "a", "b")
    address = "memories/N1/a" if what == "memories" else "links/N1/a|NEXT|b"
    for energy in (0.1, 0.2):
        assert post(service, citizen, f"{address}/correct", energy=energy).status_code == 200
    if what == "memories":
        answer = post(service, citizen, "memories", id="a", name="another")
    else:
        answer = service.relate(citizen, ("a", "NEXT", "b"), energy=0.9)
    assert (answer.status_code, answer.json()["current_version"]) == (409, 3)


def test_a_receipt_is_read_again(service: Service, citizen: str) -> None:
    told = post(service, citizen, "memories", id="a", name="a", command_id="c/1", colour="red").json()
    assert told["warnings"]
    assert get(service, citizen, "receipts/c/1").json() == told
    assert get(service, citizen, "receipts/c/1", level="N1").json() == told
    assert get(service, citizen, "receipts/c/1", level="N2").status_code == 404
    assert get(service, citizen, "receipts/never").status_code == 404
    shared = {"level": "N2", "id": f"s {citizen}", "name": "s", "command_id": f"c {citizen}"}
    told = service.http.post("/v1/memories", json=shared).json()
    assert get(service, citizen, f"receipts/c {citizen}").json() == told


def test_an_episode_has_one_receipt(service: Service, citizen: str) -> None:
    messages = [{"speaker": "Ada", "text": f"turn {number}"} for number in range(60)]
    post(service, citizen, "episodes", episode_id="talk", messages=messages)
    receipt = get(service, citizen, f"receipts/{ingestion_id('talk')}").json()
    assert (receipt["command"], receipt["status"]) == ("ingest", "stored")
    answer = post(service, citizen, "memories", name="x", command_id=ingestion_id("talk"))
    assert answer.status_code == 409


@pytest.mark.parametrize("memory_id", ["walk/history", "history", "a/correct", "a/history/history"])
def test_an_id_that_looks_like_an_action_is_an_id(service: Service, citizen: str, memory_id: str) -> None:
    post(service, citizen, "memories", id=memory_id, name="n")
    address = f"memories/N1/{quote(memory_id, safe='')}"
    assert get(service, citizen, address).json()["node_id"] == memory_id
    assert post(service, citizen, f"{address}/correct", name="m").json()["version"] == 2
    assert len(get(service, citizen, f"{address}/history").json()["records"]) == 2


def test_the_memories_and_links_of_a_graph_are_listed_page_by_page(service: Service, citizen: str) -> None:
    names = [f"m{number}" for number in range(7)]
    joined(service, citizen, *names)
    post(service, citizen, "memories/N1/m3/correct", node_type="Decision")
    before = post(service, citizen, "memories/N1/m4/correct", energy=0.1).json()["created_at"]
    post(service, citizen, "memories/N1/m5/retract")

    def paged(address: str, what: str, **asked: Any) -> list[str]:
        found: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = get(service, citizen, address, limit=3, **cursor, **asked).json()
            assert len(page[what]) <= 3
            found += [one.get("node_id") or one["link_id"] for one in page[what]]
            if page["next"] is None:
                assert len(set(found)) == len(found)
                return sorted(found)
            cursor = {"cursor": page["next"]}

    assert paged("memories", "memories") == [name for name in names if name != "m5"]
    then = {"known_at": before}
    assert paged("memories", "memories", **then) == names
    assert paged("memories", "memories", node_type="Decision") == ["m3"]
    assert paged("memories", "memories", as_of_time="2025-01-01T00:00:00Z", known_at=before) == []
    chain = [f"{one}|NEXT|{other}" for one, other in itertools.pairwise(names)]
    assert paged("links", "links") == chain
    assert paged("links", "links", relation_type="CAUSES") == []


@pytest.mark.parametrize("cursor", ["x", "W10", "WzEsMl0", "WyJhIiwiYiJd", "W251bGwsImEiXQ", "eyJhIjoxfQ"])
def test_a_cursor_that_is_none_is_refused(service: Service, citizen: str, cursor: str) -> None:
    joined(service, citizen, "a", "b")
    for address in ("memories", "links"):
        answer = get(service, citizen, address, cursor=cursor)
        assert (answer.status_code, answer.json()["faults"][0].split(":")[0]) == (422, "cursor")
