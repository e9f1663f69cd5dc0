"""Waking, a citizen's own state and its learning moments over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from tests.acceptance.conftest import Service
from tests.builders import ago

TENSE = {"tension": 0.8, "fear": 0.2}


@pytest.fixture(scope="module")
def sailor(service: Service) -> str:
    """A citizen with work that is stuck, work in hand, and a blockage that was resolved once."""
    citizen = f"c{uuid4().hex[:12]}"
    stuck: dict[str, Any] = {"resolution_state": "blocked", "goal": "sail", "energy": 0.6, "valid_at": ago(2)}
    service.remember(citizen, id="stuck", name="The mast is split", emotion_vector=TENSE, **stuck)
    doing: dict[str, Any] = {"resolution_state": "in_progress", "goal": "bake", "energy": 0.9}
    service.remember(citizen, id="doing", name="A loaf of rye", valid_at=ago(1), **doing)
    solved: dict[str, Any] = {
        "resolution_state": "resolved",
        "goal": "sail",
        "discovery_energy": 0.9,
        "energy": 0.1,
    }
    service.remember(citizen, id="leak", name="The hull leaks", emotion_vector=TENSE, valid_at=ago(90), **solved)
    service.remember(citizen, id="tar", name="Tarred the hull", node_type="Action", valid_at=ago(89))
    link = service.relate(citizen, ("leak", "RESOLVED_BY", "tar"), id="mends", resolution_state="resolved")
    assert link.status_code == 201, link.text
    return citizen


@pytest.fixture
def unchanged(service: Service) -> Iterator[None]:
    with service.unchanged():
        yield


def woken(service: Service, citizen: str, **fields: Any) -> dict[str, Any]:
    state = {"citizen_id": citizen, "current_energy": 0.5, "current_emotions": TENSE, "query_levels": ["N1"]}
    answer = service.http.post("/v1/wake", json={**state, **fields})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def order(stream: dict[str, Any]) -> list[str]:
    return [node["node_id"] for tier in stream["activation_tiers"].values() for node in tier]


# --- waking --------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("mode", "asked", "expected"),
    [
        ("find_related_unresolved", {"current_goal": "sail"}, ["stuck"]),
        ("find_similar_state", {}, ["stuck"]),
        ("find_what_i_was_doing", {}, ["doing"]),
        ("find_resolution_patterns", {"current_goal": "sail", "temporal_scope": "all_time"}, ["leak", "tar"]),
    ],
)
def test_each_mode_brings_what_it_is_for(
    service: Service, sailor: str, mode: str, asked: dict[str, str], expected: list[str]
) -> None:
    stream = woken(service, sailor, query_mode=mode, state_id="morning", **asked)
    own = [node["node_id"] for node in stream["levels"]["n1_personal"]["graph_results"]]
    assert own == expected
    assert set(expected) <= set(order(stream))
    assert (stream["intention_id"], stream["citizen_id"]) == ("morning", sailor)
    assert (stream["degraded"], stream["query_count"]) == ([], 2)
    assert "energy_feedback" not in stream
    patterns = [(one["blockage_id"], one["resolution_id"]) for one in stream["resolution_patterns"]]
    assert patterns == ([("leak", "tar")] if mode == "find_resolution_patterns" else [])


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"current_energy": 1.2}, "current_energy: "),
        ({"current_emotions": {"joy": 1.2}}, "current_emotions.joy: "),
        ({"query_mode": "find_everything"}, "query_mode: Input should be 'find_related_unresolved'"),
        ({"current_goal": "g" * 100_000}, "current_goal: String should have at most"),
        ({"current_goal": "bell \x07"}, "current_goal: contains a control character"),
        ({"query_text": "what now?"}, "query_text: Extra inputs"),
        ({"citizen_id": "../etc"}, "citizen_id: "),
    ],
)
def test_a_bad_state_is_refused_with_its_fault(
    service: Service, citizen: str, fields: dict[str, Any], words: str
) -> None:
    state = {"citizen_id": citizen, "current_energy": 0.5, "current_emotions": {"joy": 0.5}}
    answer = service.http.post("/v1/wake", json={**state, **fields})
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert len(answer.content) < 4096
    said = answer.json()
    assert said["instance"] == "/v1/wake"
    assert any(words in fault for fault in (*said["faults"], said["detail"]))


# --- the citizen's own state ---------------------------------------------------------------------------------


def test_a_state_is_stored_as_set_and_omitted_fields_stay(service: Service, citizen: str) -> None:
    address = f"/v1/citizens/{citizen}/state"
    with service.unchanged():
        first = service.http.get(address).json()
    assert first == {
        "citizen_id": citizen, "energy": 0.5, "emotion_vector": {}, "goal": None, "last_stream_id": None,
        "drives": {}, "reality_pressure": None, "window": [], "focus": None, "senses": {}, "last_cycle_at": None,
        "valid_at": None, "updated_at": None, "derived": False, "sources": [], "baseline": 0.5,
        "writers": {},
    }  # fmt: skip
    said = {"energy": 0.8, "emotion_vector": {"joy": 0.4}, "goal": "reach 'the' \"far\" shore"}
    answer = service.http.put(address, json=said)
    assert answer.status_code == 200, answer.text
    kept = service.http.get(address).json()
    assert kept == answer.json()
    assert {name: kept[name] for name in said} == said
    assert kept["updated_at"] is not None
    service.http.put(address, json={"goal": None, "energy": 0.1})
    later = service.http.get(address).json()
    assert (later["energy"], later["emotion_vector"], later["goal"]) == (0.1, {"joy": 0.4}, None)
    assert later["updated_at"] > kept["updated_at"]


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "said",
    [
        {"energy": 1.2},
        {"energy": 0.2, "valid_at": 5},
        {"energy": 0.2, "valid_at": "3000-01-01T00:00:00Z"},
        {"emotion_vector": {"joy": -1}},
        {"goal": "g" * 100_000},
        {"mood": "fine"},
        [],
    ],
)
def test_a_bad_change_of_state_is_refused(service: Service, citizen: str, said: Any) -> None:
    answer = service.http.put(f"/v1/citizens/{citizen}/state", json=said)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")


def test_a_state_is_read_at_any_moment_of_both_axes(service: Service, citizen: str) -> None:
    address = f"/v1/citizens/{citizen}/state"

    def told(**when: str) -> tuple[float, str | None]:
        answer = service.http.get(address, params=when)
        assert answer.status_code == 200, answer.text
        return answer.json()["energy"], answer.json()["goal"]

    first = service.http.put(address, json={"energy": 0.8, "goal": "rest"}).json()["updated_at"]
    second = service.http.put(address, json={"energy": 0.1}).json()["updated_at"]
    assert told() == (0.1, "rest")
    assert told(as_of_time=first) == (0.8, "rest")
    assert told(as_of_time="2020-01-01T00:00:00Z") == (0.5, None)
    service.http.put(address, json={"goal": "work", "valid_at": "2020-01-01T00:00:00Z"})
    assert told() == (0.1, "work")
    assert told(as_of_time="2021-01-01T00:00:00Z", known_at="2100-01-01T00:00:00Z") == (0.5, "work")
    assert told(as_of_time=first, known_at="2100-01-01T00:00:00Z") == (0.8, "work")
    assert told(as_of_time=first) == (0.8, "rest")
    assert told(as_of_time=second, known_at=first) == (0.8, "rest")


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("path", "asked", "said"),
    [
        ("state", {"as_of_time": "yesterday"}, "as_of_time"),
        ("state", {"known_at": "1753000000"}, "known_at"),
        ("state", {"at": "2026-01-01T00:00:00Z"}, "at"),
        ("state/history", {"limit": "0"}, "limit"),
        ("state/history", {"cursor": "the next one"}, "cursor"),
    ],
)
def test_a_bad_question_about_the_state_is_refused(
    service: Service, citizen: str, path: str, asked: dict[str, str], said: str
) -> None:
    answer = service.http.get(f"/v1/citizens/{citizen}/{path}", params=asked)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert said in str(answer.json()["faults"])


def test_the_history_of_the_state_of_nobody_is_not_found(service: Service, citizen: str) -> None:
    answer = service.http.get(f"/v1/citizens/{citizen}/state/history")
    assert (answer.status_code, answer.json()["detail"]) == (404, f"nothing was remembered for {citizen} yet")


def test_feedback_is_read_back_from_the_state(service: Service, citizen: str) -> None:
    service.remember(citizen, id="stuck", name="Stuck", resolution_state="blocked")
    stream = woken(service, citizen, current_energy=0.4, apply_feedback=True, state_id="noon")
    assert order(stream) == ["stuck"]
    # Without links nothing wakes and nothing calms; 0.65 is what the memory tells of the ordinary energy.
    assert stream["energy_feedback"] == {"before": 0.4, "after": 0.4, "baseline": 0.65}
    kept = service.http.get(f"/v1/citizens/{citizen}/state").json()
    assert (kept["energy"], kept["baseline"]) == (pytest.approx(0.4, abs=1e-3), 0.65)
    series = service.http.get(f"/v1/citizens/{citizen}/energy").json()
    assert [(point["energy"], point["stream_id"]) for point in series["points"]] == [(0.4, "noon")]
    assert (kept["last_stream_id"], series["ordinary"]) == ("noon", 0.65)


# --- learning moments ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("noun", ["state", "dissonances"])
def test_an_impossible_citizen_is_refused(service: Service, noun: str) -> None:
    for name in ("no such", "x" * 65, "%00", "'"):
        answer = service.http.get(f"/v1/citizens/{name}/{noun}")
        assert (answer.status_code, answer.headers["content-type"]) in (
            (404, "application/problem+json"),
            (422, "application/problem+json"),
        )
