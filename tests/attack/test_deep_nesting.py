"""Deeply nested values are refused everywhere; those already stored spoil no answer, and are repaired."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from redis import Redis

from api.client import Substrate
from orchestration.ingestion.formats import File, FileSet, parse
from schemas.errors import InvalidRequest
from substrate.engine.unix_socket import socket_path
from tests.acceptance.conftest import ADMIN_KEY, Service, problem_in
from tests.builders import LINK_METADATA

DEEPEST = 32


def nested(levels: int) -> dict[str, Any]:
    """So many maps within one another."""
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"in": value}
    return value


LINK = {"source_id": "a", "target_id": "b", "relation_type": "T", **LINK_METADATA}


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("memories", {"name": "n", "extra": nested(DEEPEST + 1)}),
        ("memories", {"name": "n", "an unknown field": nested(DEEPEST)}),
        ("links", {**LINK, "extra": nested(DEEPEST + 1)}),
        ("links", {**LINK, "sensory_details": nested(DEEPEST + 1)}),
        ("memories/N1/m/supersede", {"name": "n", "extra": nested(DEEPEST + 9)}),
        ("episodes", {"messages": [{"speaker": "Ada", "text": "Hello.", "note": nested(DEEPEST)}]}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_no_door_takes_what_is_nested_too_deeply(service: Service, route: str, body: Mapping[str, Any]) -> None:
    with service.unchanged():
        said = problem_in(service.http.post(f"/v1/{route}", json={"citizen_id": "c", **body}), 422)
        assert "nested" in said["detail"]


def test_a_value_nested_to_the_limit_comes_back_unchanged(service: Service, citizen: str) -> None:
    service.remember(citizen, id="deep", name="Deep", extra=nested(DEEPEST))
    answer = service.http.get("/v1/memories/N1/deep", params={"citizen_id": citizen})
    assert answer.json()["extra"] == nested(DEEPEST)


def test_the_client_of_python_gets_the_fault_and_nothing_else(service: Service, citizen: str) -> None:
    with Substrate(service.url, api_key=ADMIN_KEY) as client:
        for levels in (DEEPEST + 1, 300, 5000):
            with pytest.raises(InvalidRequest):
                client.remember(citizen_id=citizen, name="n", extra=nested(levels))


@pytest.mark.parametrize("form", ["messages", "commands", "mem0"])
def test_no_file_brings_in_what_is_nested_too_deeply(form: str) -> None:
    entry = {
        "messages": {"speaker": "Ada", "text": "Hello.", "note": nested(DEEPEST)},
        "commands": {"command": "remember", "name": "n", "extra": nested(DEEPEST + 1)},
        "mem0": {"id": "m", "memory": "Hello.", "note": nested(DEEPEST)},
    }[form]
    with pytest.raises(InvalidRequest, match="nested"):
        parse(form, FileSet("notes", (File("notes", json.dumps([entry])),), "c"))


class Spoilt:
    """A citizen with memories of one theme, of which one, and one link, were stored nested too deeply."""

    def __init__(self, service: Service, citizen: str, levels: int) -> None:
        self.service, self.citizen, self.levels = service, citizen, levels
        felt = {
            "emotion_vector": {"joy": 0.9},
            "tags": ["orchard"],
            "goal": "g",
            "resolution_state": "in_progress",
        }
        for name in ("first", "spoilt", "last"):
            told = f"The orchard of the {name} apple tree"
            service.remember(citizen, id=name, name=told, description=told, energy=0.9, **felt)
        for target in ("spoilt", "last"):
            assert service.relate(citizen, ("first", "NEXT", target)).status_code == 201
        self.put("MATCH (n:ConsciousnessNode {id: 'spoilt'}) SET n.extra = $text")
        self.put("MATCH ()-[e:LINK]->(:ConsciousnessNode {id: 'last'}) SET e.sensory_details = $text")

    def put(self, query: str) -> None:
        """Change what is stored behind every door."""
        text = json.dumps(json.dumps({"kept": 1, "deep": nested(self.levels)}))
        with Redis(unix_socket_path=str(socket_path(self.service.data))) as engine:
            engine.execute_command("GRAPH.QUERY", f"citizen_{self.citizen}", f"CYPHER text={text} {query}")

    def get(self, path: str, **params: Any) -> Any:
        answer = self.service.http.get(path, params={"citizen_id": self.citizen, **params})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def ask(self, path: str, **body: Any) -> Any:
        answer = self.service.http.post(path, json={"citizen_id": self.citizen, **body})
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture(params=[100, 250, 900])
def spoilt(service: Service, citizen: str, request: pytest.FixtureRequest) -> Spoilt:
    return Spoilt(service, citizen, request.param)


def names_it(degraded: Any, what: str = "memory spoilt") -> bool:
    return any(what in str(one) for one in degraded)


def test_no_answer_is_spoilt_by_one_memory(spoilt: Spoilt) -> None:
    stream = spoilt.ask("/v1/retrieve", query_text="apple tree orchard", query_levels=["N1"])
    found = {one["node_id"]: one for level in stream["levels"].values() for one in level["graph_results"]}
    assert found.keys() == {"first", "spoilt", "last"}
    assert (found["spoilt"].get("extra"), found["spoilt"]["unreadable"]) == (None, ["extra"])
    assert "unreadable" not in found["first"]
    assert names_it(stream["degraded"])
    assert names_it(stream["degraded"], "link first|NEXT|last")

    felt = {"current_energy": 0.5, "current_emotions": {"joy": 0.9}, "query_levels": ["N1"]}
    for mode in ("find_related_unresolved", "find_what_i_was_doing"):
        assert names_it(spoilt.ask("/v1/wake", **felt, current_goal="g", query_mode=mode)["degraded"]), mode
    resonances = spoilt.ask("/v1/resonate", emotion="joy", query_levels=["N1"])
    assert len(resonances["levels"]["n1_personal"]) == 3
    assert names_it(resonances["degraded"])
    walked = spoilt.ask("/v1/associate", query_text="apple tree", query_levels=["N1"])
    assert len(walked["anchors"]) == 3
    assert names_it(walked["degraded"])


def test_neither_a_list_nor_a_history_is_spoilt_by_one_record(spoilt: Spoilt) -> None:
    memories = spoilt.get("/v1/memories")
    assert len(memories["memories"]) == 3
    assert names_it(memories["degraded"])
    links = spoilt.get("/v1/links")
    assert len(links["links"]) == 2
    assert names_it(links["degraded"], "link first|NEXT|last")
    assert names_it(spoilt.get("/v1/memories/N1/spoilt/history")["degraded"])
    assert names_it(spoilt.get("/v1/links/N1/first|NEXT|last/history")["degraded"], "link first|NEXT|last")
    assert spoilt.get("/v1/links/N1/first|NEXT|last")["unreadable"] == ["sensory_details"]
    of = f"/v1/citizens/{spoilt.citizen}"
    for path in (f"{of}/identity", f"{of}/dissonances", f"{of}/state"):
        assert spoilt.service.http.get(path).status_code == 200

    answer = spoilt.service.http.get("/v1/memories/N1/spoilt", params={"citizen_id": spoilt.citizen})
    assert answer.json()["unreadable"] == ["extra"]
    assert "extra cannot be shown" in answer.headers["Substrate-Notes"]


def test_the_tools_of_mcp_answer_too(spoilt: Spoilt) -> None:
    def call(tool: str, **arguments: Any) -> dict[str, Any]:
        params = {"name": tool, "arguments": {"citizen_id": spoilt.citizen, **arguments}}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        accepts = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
        answer = spoilt.service.http.post("/mcp", json=asked, headers=accepts)
        assert answer.status_code == 200, answer.text
        result: dict[str, Any] = answer.json()["result"]
        assert not result.get("isError"), result
        return dict(result["structuredContent"])

    recalled = call("recall", query="apple tree orchard")
    assert {one["id"] for one in recalled["memories"]} >= {"first", "spoilt", "last"}
    assert names_it(recalled["degraded"])
    assert names_it(call("wake", energy=0.5, emotions={"joy": 0.9})["degraded"])
    assert names_it(call("history", id="spoilt")["degraded"])


def test_a_sweep_finds_it_and_a_repair_mends_it_without_a_loss(spoilt: Spoilt) -> None:
    http = spoilt.service.http
    swept = spoilt.ask("/v1/upkeep/sweep", levels=["N1"])["reports"][0]
    found = {one["id"]: one for one in swept["findings"] if one["kind"] == "unreadable"}
    assert found.keys() == {"spoilt", "first|NEXT|last"}
    for one in found.values():
        answer = http.post("/v1/upkeep/repair", json={"task": one["repair"]})
        assert (answer.status_code, answer.json()["status"]) == (200, "done"), answer.text
    memory = spoilt.get("/v1/memories/N1/spoilt")
    link = spoilt.get("/v1/links/N1/first|NEXT|last")
    assert (memory["unreadable"], link["unreadable"]) == ([], [])
    assert memory["source"] == "citizen"
    for kept in (memory["extra"], link["sensory_details"]):
        whole = json.loads(kept["json"]) if "json" in kept else {**kept, "deep": json.loads(kept["deep"])}
        assert json.dumps(whole) == json.dumps({"kept": 1, "deep": nested(spoilt.levels)})
    assert spoilt.ask("/v1/retrieve", query_text="apple tree orchard", query_levels=["N1"])["degraded"] == []
    again = spoilt.ask("/v1/upkeep/sweep", levels=["N1"])["reports"][0]
    assert "unreadable" not in again["findings_by_kind"]
