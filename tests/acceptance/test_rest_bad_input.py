"""Bad input over HTTP: a clear problem each time, nothing changed, nothing repeated back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.acceptance.conftest import Service, problem_in
from tests.builders import LINK_METADATA

NOBODY = "nobody-was-here"
MEMORY: dict[str, Any] = {"citizen_id": NOBODY, "name": "n"}
QUESTION: dict[str, Any] = {"citizen_id": NOBODY, "query_text": "what now?"}
LINK: dict[str, Any] = {
    "citizen_id": NOBODY, "source_id": "a", "target_id": "b", "relation_type": "NEXT", **LINK_METADATA,
}  # fmt: skip
EPISODE: dict[str, Any] = {"citizen_id": NOBODY, "messages": [{"speaker": "Ada", "text": "Hello."}]}

NOT_VALID = [
    ("memories", {**MEMORY, "citizen_id": "no such/id"}, "citizen_id: "),
    ("memories", {"name": "n"}, "level N1 is personal"),
    ("memories", {**MEMORY, "level": "N4"}, "level: Input should be 'N1', 'N2' or 'N3'"),
    ("memories", {**MEMORY, "energy": 1.2}, "energy: Input should be less than or equal to 1"),
    ("memories", {**MEMORY, "energy": "high"}, "energy: Input should be a valid number"),
    ("memories", {**MEMORY, "emotion_vector": {"joy": "much"}}, "emotion_vector.joy: "),
    ("memories", {**MEMORY, "emotion_vector": ["joy"]}, "emotion_vector: "),
    ("memories", {**MEMORY, "name": ["n"]}, "name: Input should be a valid string"),
    ("memories", {**MEMORY, "name": ""}, "name: "),
    ("memories", {**MEMORY, "name": "a\x00b"}, "name: contains a control character"),
    ("memories", {**MEMORY, "description": "bell \x07"}, "description: contains a control character"),
    ("memories", {**MEMORY, "goal": "\x7f"}, "goal: contains a control character"),
    ("memories", {**MEMORY, "tags": ["fine", "\x1b[31m"]}, "tags.1: contains a control character"),
    ("memories", {**MEMORY, "valid_at": "yesterday"}, "valid_at: "),
    ("memories", {**MEMORY, "valid_at": "1200-01-01T00:00:00Z"}, "valid_at: times must lie between"),
    ("memories", {**MEMORY, "description": "x" * 7_000_000}, "description: String should have at most"),
    ("memories", {**MEMORY, "emotion_vector": {"x" * 2_000_000: 0.5}}, "emotion_vector.x"),
    ("memories", {**MEMORY, "command": "retract"}, "command: "),
    ("memories", "n", "Input should be a valid dictionary"),
    ("memories", [], "a list has 1 to 1000 elements"),
    ("memories", [MEMORY] * 1001, "a list has 1 to 1000 elements"),
    ("links", {**LINK, "energy": 1.2}, "energy: REQUIRED field invalid"),
    ("links", {k: v for k, v in LINK.items() if k != "energy"}, "energy: REQUIRED field missing"),
    ("links", {k: v for k, v in LINK.items() if k != "mindstate"}, "mindstate: REQUIRED field missing"),
    ("links", {**LINK, "relation_type": "NEXT`]->() DELETE"}, "relation_type: "),
    ("memories/N1/x/correct", {"citizen_id": NOBODY, "id": "y", "name": "n"}, "id: is in the path already"),
    ("memories/N1/x/retract", ["x"], "body: is not an object"),
    ("memories/N1/x/supersede", {"citizen_id": NOBODY, "colour": "red"}, "colour: Extra inputs"),
    ("retrieve", {**QUESTION, "citizen_id": "../etc"}, "citizen_id: "),
    ("retrieve", {**QUESTION, "query_levels": ["N1", "N9"]}, "query_levels.1: Input should be 'N1'"),
    ("retrieve", {**QUESTION, "temporal_mode": "someday"}, "temporal_mode: Input should be 'current'"),
    ("retrieve", {**QUESTION, "temporal_mode": "point_in_time"}, "point_in_time needs as_of_time"),
    ("retrieve", {**QUESTION, "query_text": ""}, "query_text: the query is empty"),
    ("retrieve", {**QUESTION, "query_text": " \n"}, "query_text: the query is empty"),
    ("retrieve", {**QUESTION, "query_text": 7}, "query_text: Input should be a valid string"),
    ("retrieve", {**QUESTION, "query_text": "x" * 2_000_000}, "query_text: String should have at most"),
    ("retrieve", {**QUESTION, "min_energy": 1.2}, "min_energy: "),
    ("retrieve", {**QUESTION, "max_results_per_level": 0}, "max_results_per_level: "),
    ("retrieve", {**QUESTION, "limit": 3}, "limit: Extra inputs are not permitted"),
    ("episodes", {**EPISODE, "messages": []}, "messages: "),
    ("episodes", {**EPISODE, "messages": ["hello"]}, "messages.0: "),
    ("episodes", {**EPISODE, "messages": [{"text": "hello"}]}, "has no speaker"),
    ("episodes", {**EPISODE, "messages": [{"speaker": "Ada", "text": 1}]}, "not a text"),
    ("episodes", {**EPISODE, "messages": [{"speaker": "Ada", "text": "x" * 7_000_000}]}, "characters"),
]

NOT_JSON = [
    (b'{"name": "n",', "unexpected end of data"),
    (b"name=n", "not JSON"),
    (b"\xff\xfe", "not valid UTF-8"),
    (b'{"citizen_id": "c", "name": "n", "energy": NaN}', "NaN is no JSON number"),
    (b'{"citizen_id": "c", "name": "n", "colour": -Infinity}', "-Infinity is no JSON number"),
    (b'{"citizen_id": "c", "name": "n", "colour": 1e999}', "infinity"),
    (b'{"citizen_id": "c", "name": "n", "colour": 36893488147419103232}', "64 bits"),
    (b'{"citizen_id": "c", "name": "\\ud800"}', "surrogate"),
    (b'{"citizen_id": "c", "name": "n", "deep": ' + b"[" * 300 + b"]" * 300 + b"}", "too deeply"),
    (b"[" * 100_000, "too deeply"),
]


@pytest.fixture(autouse=True)
def _nothing_changes(service: Service) -> Iterator[None]:
    with service.unchanged():
        yield


@pytest.mark.parametrize(("route", "body", "words"), NOT_VALID)
def test_an_invalid_request_is_refused_with_its_faults(
    service: Service, route: str, body: Any, words: str
) -> None:
    said = problem_in(service.http.post(f"/v1/{route}", json=body), 422)
    assert said["instance"] == f"/v1/{route}"
    assert any(words in fault for fault in (*said["faults"], said["detail"]))


@pytest.mark.parametrize(("body", "words"), NOT_JSON)
@pytest.mark.parametrize("route", ["memories", "retrieve"])
def test_a_body_that_is_not_json_or_cannot_be_stored_is_refused(
    service: Service, route: str, body: bytes, words: str
) -> None:
    headers = {"Content-Type": "application/json"}
    said = problem_in(service.http.post(f"/v1/{route}", content=body, headers=headers), 422)
    assert words in said["detail"]


def test_every_fault_is_listed_at_once(service: Service) -> None:
    said = problem_in(service.http.post("/v1/links", json={"citizen_id": NOBODY, "energy": -1}), 422)
    fields = [fault.split(":")[0] for fault in said["faults"]]
    assert fields == [
        "source_id", "target_id", "relation_type",
        "energy", "confidence", "emotion_vector", "goal", "mindstate",
    ]  # fmt: skip


def test_faults_beyond_a_hundred_are_counted(service: Service) -> None:
    body = {**QUESTION, **{f"field_{n}": n for n in range(150)}}
    answer = service.http.post("/v1/retrieve", json=body)
    assert len(answer.json()["faults"]) == 100
    assert answer.json()["faults"][-1] == "and 51 more"


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("N1/x?citizen_id=nobody-was-here", 404, "nothing was remembered for nobody-was-here yet"),
        ("N9/x?citizen_id=nobody-was-here", 404, "nothing stored can have this address"),
        ("N1/a%00b?citizen_id=nobody-was-here", 404, "nothing stored can have this address"),
        (f"N1/{'x' * 5000}?citizen_id=nobody-was-here", 404, "nothing stored can have this address"),
        ("N1/x", 422, "citizen_id"),
        ("N1/x/history", 422, "citizen_id"),
        ("N1/x?citizen_id=a%20b", 422, "citizen_id"),
        ("N1/x?citizen_id=c&as_of_time=soon", 422, "as_of_time"),
        ("N1/x?citizen_id=c&colour=red", 422, "colour"),
    ],
)
def test_an_unknown_resource_is_not_found(service: Service, address: str, status: int, words: str) -> None:
    assert words in problem_in(service.http.get(f"/v1/memories/{address}"), status)["detail"]


@pytest.mark.parametrize("how", ["supersede", "correct", "retract"])
def test_revising_for_an_unknown_citizen_makes_no_graph(service: Service, how: str) -> None:
    change = {} if how == "retract" else {"name": "x"}
    answer = service.http.post(f"/v1/memories/N1/x/{how}", json={"citizen_id": NOBODY, **change})
    assert NOBODY in problem_in(answer, 404)["detail"]


def test_linking_for_an_unknown_citizen_makes_no_graph(service: Service) -> None:
    assert NOBODY in problem_in(service.http.post("/v1/links", json=LINK), 404)["detail"]
    said = service.http.post("/v1/links", json=[LINK, {"level": "N1"}]).json()
    assert [receipt["problem"] for receipt in said["receipts"]] == ["not-found", "invalid-request"]


def test_an_unknown_route_and_a_wrong_method_are_problems(service: Service) -> None:
    assert "/v1/nothing" in problem_in(service.http.get("/v1/nothing"), 404)["detail"]
    wrong = service.http.delete("/v1/retrieve")
    assert "DELETE" in problem_in(wrong, 405)["detail"]
    assert wrong.headers["Allow"] == "POST"


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_a_body_must_say_that_it_is_json(service: Service, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    answer = service.http.post("/v1/memories", content=json.dumps(MEMORY), headers=headers)
    assert "application/json" in problem_in(answer, 415)["detail"]


def test_a_missing_body_is_a_fault(service: Service) -> None:
    assert "body" in problem_in(service.http.post("/v1/memories"), 422)["detail"]


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_that_is_too_large_is_refused(service: Service, announced: bool) -> None:
    body = json.dumps({**MEMORY, "description": "x" * (41 << 20)}).encode()
    parts = (body[start : start + 65536] for start in range(0, len(body), 65536))
    headers = {"Content-Type": "application/json"}
    answer = service.http.post("/v1/memories", content=body if announced else parts, headers=headers)
    assert "40 MiB" in problem_in(answer, 413)["detail"]
    assert service.http.get("/health/live").status_code == 200
