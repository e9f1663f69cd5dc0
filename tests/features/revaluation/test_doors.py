"""Revaluation at the doors: draws, judgements and their undo."""

from __future__ import annotations

from api.client import Substrate
from tests.acceptance.conftest import Service


def test_memories_of_low_importance_are_drawn_and_judged_anew(service: Service, citizen: str) -> None:
    path = f"/v1/citizens/{citizen}/revaluations"
    for number in range(4):
        service.remember(citizen, id=f"m{number}", name=f"Day {number}", description="The ferry came late again")
    with service.unchanged():
        first = service.http.get(path, params={"count": 2, "seed": 3}).json()
        assert service.http.get(path, params={"count": 2, "seed": 3}).json() == first
        assert service.http.get("/v1/citizens/nobody-was-here/revaluations").json()["memories"] == []
        for query in ({"count": 0}, {"count": 1_000_000}, {"seed": -1}, {"count": "many"}, {"counts": 1}):
            assert service.http.get(path, params=query).status_code == 422, query
        one = {"id": first["memories"][0]["id"]}
        for said in ({}, {"importance": 1.1}, {"importance": "NaN"}, {"leave": True, "importance": 0.5}):
            answer = service.http.post(path, json={"judgements": [{**one, **said}]})
            assert answer.status_code == 422, said
        for judgements in ([], [{**one, "leave": True}] * 101):
            assert service.http.post(path, json={"judgements": judgements}).status_code == 422
    judgements = [{**one, "version": 1, "importance": 0.8}, {"id": first["memories"][1]["id"], "leave": True}]
    answer = service.http.post(path, json={"judgements": judgements}).json()
    assert (answer["revalued"], answer["left"], answer["refused"]) == (1, 1, 0)
    again = service.http.post(path, json={"judgements": judgements}).json()
    assert again["outcomes"][0]["receipt"]["duplicate"]
    drawn = [memory["id"] for memory in service.http.get(path, params={"seed": 3}).json()["memories"]]
    assert one["id"] not in drawn
    assert drawn[-1] == judgements[1]["id"]
    learned = service.http.get(f"/v1/citizens/{citizen}/dissonances").json()
    assert learned["dissonances"] == []
    undone = service.http.post(f"/v1/memories/N1/{one['id']}/undo", json={"citizen_id": citizen})
    assert undone.status_code == 200
    drawn = [memory["id"] for memory in service.http.get(path, params={"seed": 3}).json()["memories"]]
    assert one["id"] in drawn


def test_the_client_draws_and_judges(client: Substrate, citizen: str) -> None:
    client.remember(citizen_id=citizen, id="bay", name="The bay", description="We rowed across the bay at noon")
    [memory] = client.revaluations(citizen, count=1).memories
    assert (memory.id, memory.importance, memory.offered) == ("bay", None, False)
    answer = client.revaluate(citizen, [{"id": "bay", "version": memory.version, "importance": 0.9}])
    assert answer.outcomes[0].status == "revalued"
    assert client.revaluations(citizen).memories == ()
    assert client.get("bay", citizen_id=citizen).importance == 0.9
