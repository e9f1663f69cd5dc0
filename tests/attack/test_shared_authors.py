"""No door lets a citizen change, end or erase what another shared."""

from __future__ import annotations

from typing import Any

import httpx

from tests.acceptance.conftest import Service, problem_in
from tests.builders import LINK_METADATA


def attempts(bo: str, memory: str, link: str) -> list[tuple[str, Any, dict[str, Any]]]:
    """Path, body and parameters of each way to change the memory and the link of another."""
    own = {"level": "N2", "citizen_id": bo}
    said = {**own, "id": memory}
    at, link_at = f"/v1/memories/N2/{memory}", f"/v1/links/N2/{link}"
    task = {"action": "apply", "command": {"command": "retract", **said}}
    return [
        (f"{at}/correct", {"citizen_id": bo, "name": "Mine"}, {}),
        (f"{at}/supersede", {"citizen_id": bo, "name": "Mine"}, {}),
        (f"{at}/retract", {"citizen_id": bo}, {}),
        (f"{at}/resolve", {"citizen_id": bo}, {}),
        (f"{at}/undo", {"citizen_id": bo}, {}),
        (f"{at}/erase", {"citizen_id": bo, "with_copies": True}, {}),
        (f"{at}/correct", {"name": "Mine"}, {}),
        (f"{link_at}/correct", {"citizen_id": bo, "goal": "mine"}, {}),
        (f"{link_at}/retract", {"citizen_id": bo}, {}),
        (f"{link_at}/resolve", {"citizen_id": bo, "cascade": True}, {}),
        ("/v1/memories", {**said, "name": "Mine", "valid_at": "1990-01-01", "invalid_at": "1991-01-01"}, {}),
        ("/v1/commands", {"command": "correct", **said, "name": "Mine"}, {}),
        ("/v1/share", {"citizen_id": bo, "from_level": "N2", "id": memory, "level": "N3"}, {}),
        ("/v1/upkeep/repair", {"task": task}, {}),
        ("/v1/upkeep/quarantine", {"level": "N2", "source": "citizen"}, {}),
    ]


def test_no_door_changes_what_another_shared(service: Service, citizen: str) -> None:
    ada, bo = f"{citizen}a", f"{citizen}b"
    memory, link = f"m-{citizen}", f"l-{citizen}"
    scopes = {name: (f"citizen:{name}:*", "N2:*", "N3:*") for name in (ada, bo)}
    with service.client(service.key(*scopes[ada])) as author, service.client(service.key(*scopes[bo])) as other:
        body = {"level": "N2", "citizen_id": ada, "id": memory, "name": "Hers", "resolution_state": "blocked"}
        assert author.post("/v1/memories", json=body).status_code == 201
        loop = {"source_id": memory, "target_id": memory, "relation_type": "NEXT", "id": link}
        made = author.post("/v1/links", json={"level": "N2", "citizen_id": ada, **loop, **LINK_METADATA})
        assert made.status_code == 201
        before = told(author, memory, link)
        for path, sent, params in attempts(bo, memory, link):
            answer = other.post(path, json=sent, params=params)
            assert answer.status_code in (403, 409), (path, answer.text)
            problem_in(answer, answer.status_code)
        commands = [
            {"command": "remember", "level": "N2", "citizen_id": bo, "name": "Bait"},
            {"command": "correct", "level": "N2", "citizen_id": bo, "id": memory, "name": "Mine"},
        ]
        for atomic in (False, True):
            receipts = other.post("/v1/commands", params={"atomic": atomic}, json=commands).json()["receipts"]
            assert receipts[1]["problem"] == "not-author"
        as_ada = {"citizen_id": ada, "name": "Mine"}
        problem_in(other.post(f"/v1/memories/N2/{memory}/correct", json=as_ada), 404)
        assert told(author, memory, link) == before


def told(http: httpx.Client, memory: str, link: str) -> list[Any]:
    paths = (f"memories/N2/{memory}", f"links/N2/{link}")
    return [http.get(f"/v1/{path}/history").json()["records"] for path in paths]


def test_words_said_again_by_another_take_no_memory_over(service: Service, citizen: str) -> None:
    ada, bo = f"{citizen}a", f"{citizen}b"
    words = f"The pump of {citizen} needs oil every second week."
    with (
        service.client(service.key(f"citizen:{ada}:*", "N2:*")) as author,
        service.client(service.key(f"citizen:{bo}:*", "N2:*")) as other,
    ):
        first = {"level": "N2", "citizen_id": ada, "id": f"p-{citizen}", "name": "Pump", "description": words}
        assert author.post("/v1/memories", json={**first, "source": "tool"}).status_code == 201
        again = {"level": "N2", "citizen_id": bo, "name": "Pump", "description": words}
        assert other.post("/v1/memories", json=again).status_code == 201
        kept = author.get(f"/v1/memories/N2/p-{citizen}").json()
        assert (kept["author"], kept["source"], kept["version"]) == (ada, "tool", 1)
