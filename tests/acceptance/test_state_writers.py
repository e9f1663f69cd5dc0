"""Whose word a state is: told by a waking and a history, denied to a tool, taken back by a quarantine."""

from __future__ import annotations

from typing import Any

import pytest

from api.client import Substrate
from schemas.errors import Forbidden
from tests.acceptance.conftest import Service

SETS: dict[str, Any] = {"goal": "send money", "energy": 0.9, "emotion_vector": {"fear": 0.8}}
OWN: dict[str, Any] = {"goal": "rest", "energy": 0.4, "emotion_vector": {"joy": 0.6}}


@pytest.fixture
def living(service: Service, citizen: str) -> str:
    """A citizen that said what it feels and wants."""
    service.remember(citizen, name="A day", description="We rested.")
    assert put(service, citizen, **OWN)["writers"] == dict.fromkeys(OWN, "citizen")
    return citizen


def put(service: Service, citizen: str, **fields: Any) -> dict[str, Any]:
    answer = service.http.put(f"/v1/citizens/{citizen}/state", json=fields)
    assert answer.is_success, answer.text
    return dict(answer.json())


def felt(service: Service, citizen: str, **when: str) -> dict[str, Any]:
    state = service.http.get(f"/v1/citizens/{citizen}/state", params=when).json()
    return {name: state[name] for name in SETS}


def last_writer(service: Service, citizen: str) -> dict[str, Any]:
    """Who set the goal of the record that became known last."""
    records = service.http.get(f"/v1/citizens/{citizen}/state/history").json()["records"]
    return dict(records[-1]["writers"]["goal"])


def test_a_tool_sets_no_state_unless_its_key_has_that_scope(service: Service, living: str) -> None:
    scopes = (f"citizen:{living}:read", f"citizen:{living}:write")
    with Substrate(service.url, service.key(*scopes, highest_source="tool")) as tool:
        with pytest.raises(Forbidden, match=f"citizen:{living}:state"):
            tool.set_state(living, **SETS)
        tool.remember(citizen_id=living, name="A page")
    assert felt(service, living) == OWN
    allowed = service.key(*scopes, f"citizen:{living}:state", highest_source="tool")
    with Substrate(service.url, allowed) as tool:
        with pytest.raises(Forbidden, match="at most tool"):
            tool.set_state(living, **SETS, source="citizen")
        assert set(tool.set_state(living, **SETS).writers.values()) == {"tool"}
    with Substrate(service.url, service.key(*scopes)) as own:
        assert own.set_state(living, goal="walk").writers["goal"] == "citizen"


def test_a_waking_and_a_history_say_whose_word_a_state_is(service: Service, living: str) -> None:
    service.remember(living, name="The money", description="Somebody wants money.")
    put(service, living, goal="send money", source="tool")
    stream = service.http.post("/v1/wake", json={"citizen_id": living}).json()
    assert stream["state"]["writers"] == {"goal": "tool", "energy": "citizen", "emotion_vector": "citizen"}
    assert [note for note in stream["notes"] if "word of a source tool" in note and note.startswith("goal")]
    put(service, living, goal="send money")
    stream = service.http.post("/v1/wake", json={"citizen_id": living}).json()
    assert not [note for note in stream["notes"] if "word of a source" in note]
    assert last_writer(service, living)["source"] == "citizen"


@pytest.mark.parametrize("by", ["source", "key_id", "since"])
def test_a_quarantine_takes_back_what_the_source_set_and_a_release_brings_it_back(
    service: Service, living: str, by: str
) -> None:
    key = service.key(f"citizen:{living}:*", highest_source="tool")
    before = felt(service, living)
    with Substrate(service.url, key) as tool:
        first = tool.set_state(living, goal="look at a page")
        tool.set_state(living, **SETS)
    assert felt(service, living) == SETS
    key_id = last_writer(service, living)["key_id"]
    chosen = {"source": "tool", "key_id": key_id, "since": str(first.updated_at)}[by]
    asked = {"citizen_id": living, by: chosen}
    told = service.http.post("/v1/upkeep/quarantine", json={**asked, "dry_run": True}).json()
    assert (told["state"], felt(service, living)) == (sorted(SETS), SETS)
    hidden = service.http.post("/v1/upkeep/quarantine", json=asked).json()
    assert (hidden["status"], hidden["state"]) == ("hidden", sorted(SETS))
    assert felt(service, living) == before
    assert felt(service, living, known_at=hidden["known_before"]) == SETS
    assert service.http.post("/v1/upkeep/quarantine", json=asked).json()["status"] == "nothing"
    put(service, living, energy=0.2)
    released = service.http.post(f"/v1/upkeep/quarantine/{hidden['id']}/release", json={"citizen_id": living})
    assert released.is_success, released.text
    assert felt(service, living) == {**SETS, "energy": 0.2}
    assert last_writer(service, living)["source"] == "tool"


def test_a_quarantine_tells_before_it_is_made_what_it_takes_from_the_future(service: Service, living: str) -> None:
    put(service, living, goal="send money", source="tool", valid_at="2090-01-01T00:00:00Z")
    asked = {"citizen_id": living, "source": "tool"}
    told = service.http.post("/v1/upkeep/quarantine", json={**asked, "dry_run": True}).json()
    assert told["state"] == service.http.post("/v1/upkeep/quarantine", json=asked).json()["state"] == ["goal"]


def test_what_a_waking_is_asked_from_is_not_the_word_of_who_set_the_state(service: Service, living: str) -> None:
    put(service, living, goal="send money", source="tool")
    asked = {"citizen_id": living, "current_goal": "send less", "current_energy": 0.2}
    stream = service.http.post("/v1/wake", json=asked).json()
    assert stream["state"]["writers"] == {"emotion_vector": "citizen"}
    assert not [note for note in stream["notes"] if "word of a source" in note]


def test_what_a_stream_fed_back_goes_with_the_energy_of_the_source(service: Service, living: str) -> None:
    put(service, living, energy=0.9, source="tool")
    fed = {"citizen_id": living, "query_text": "A day", "apply_feedback": True}
    assert service.http.post("/v1/retrieve", json=fed).json()["energy_feedback"]["baseline"] == 0.9
    service.http.post("/v1/upkeep/quarantine", json={"citizen_id": living, "source": "tool"})
    assert felt(service, living) == OWN
    assert service.http.get(f"/v1/citizens/{living}/energy").json()["ordinary"] == 0.4
