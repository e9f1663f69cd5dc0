"""SUBSTRATE_EMBEDDING=none: the whole product on words, names, links and emotions, with no model and no vector."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from redis import Redis

from substrate.engine.unix_socket import socket_path
from tests.acceptance.conftest import Service

TALK = [
    {"role": "mira", "content": "I went to the lighthouse choir yesterday, it was loud."},
    {"role": "jon", "content": "Did they sing the storm song?"},
    {"role": "mira", "content": "Twice. My brother Tomas bakes rye bread for them every Sunday."},
]
NOTE = "no embedder is configured"


@pytest.fixture(scope="module")
def service(wordless: Service) -> Service:
    return wordless


@pytest.fixture(scope="module")
def citizen(service: Service) -> str:
    """A citizen with one conversation, and one piece of work that is stuck."""
    citizen = f"c{uuid4().hex[:12]}"
    body = {"citizen_id": citizen, "messages": TALK}
    assert service.http.post("/v1/episodes", json=body).json()["refused"] == 0
    felt = {"emotion_vector": {"frustration": 0.8}, "energy": 0.7}
    service.remember(citizen, id="mast", name="The mast", goal="sail home", resolution_state="blocked", **felt)
    return citizen


def asked(service: Service, citizen: str, text: str) -> dict[str, Any]:
    answer = service.http.post("/v1/retrieve", json={"citizen_id": citizen, "query_text": text})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def woken(service: Service, citizen: str, **fields: Any) -> dict[str, Any]:
    state = {"citizen_id": citizen, "current_energy": 0.7, "current_emotions": {"frustration": 0.9}}
    answer = service.http.post("/v1/wake", json={**state, **fields})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_a_question_is_answered_by_words_and_says_once_that_no_embedder_is_there(
    service: Service, citizen: str
) -> None:
    stream = asked(service, citizen, "Who bakes rye bread?")
    assert "Tomas bakes rye bread" in stream["activation_tiers"]["focus"][0]["description"]
    assert stream["degraded"] == []
    assert [NOTE in note for note in stream["notes"]] == [True]
    assert [level["vector_results"] for level in stream["levels"].values()] == [[]] * len(stream["levels"])


@pytest.mark.parametrize("mode", ["find_related_unresolved", "find_similar_state", "find_resolution_patterns"])
def test_a_mind_wakes_by_its_emotions_and_the_words_of_its_goal(service: Service, citizen: str, mode: str) -> None:
    for goal in (None, "sail_home"):
        stream = woken(service, citizen, query_mode=mode, current_goal=goal)
        assert stream["degraded"] == []
        shown = [node["node_id"] for tier in stream["activation_tiers"].values() for node in tier]
        assert ("mast" in shown) is (mode != "find_resolution_patterns")


def test_a_changed_memory_is_found_by_its_new_words_and_in_the_past_by_its_old_ones(
    service: Service, citizen: str
) -> None:
    service.remember(citizen, id="tea", name="Tea", description="Mira drinks green tea")
    change = {"citizen_id": citizen, "description": "Mira drinks black coffee"}
    assert service.http.post("/v1/memories/N1/tea/supersede", json=change).status_code == 200
    [now] = [
        one for one in asked(service, citizen, "coffee")["activation_tiers"]["focus"] if one["node_id"] == "tea"
    ]
    assert now["description"] == "Mira drinks black coffee"
    history = service.http.get("/v1/memories/N1/tea/history", params={"citizen_id": citizen}).json()
    assert "green" in str(history)


def test_a_message_of_hundreds_of_pages_goes_in_over_rest_and_its_passage_is_shown(
    service: Service, citizen: str
) -> None:
    page = "Mira went to the harbour and Jon stayed at home. It rained, and nobody sang." * 12
    text = "\n\n".join(f"{number}. {page}" for number in range(400))
    whole = f"{text[:200_000]}\n\nThe anchor of the Seagull weighs 417 pounds.\n\n{text[200_000:]}"
    body = {"citizen_id": citizen, "episode_id": "logs", "messages": [{"role": "jon", "content": whole}]}
    told = service.http.post("/v1/episodes", json=body, timeout=600.0)
    assert (told.status_code, told.json()["refused"]) == (200, 0)
    stream = asked(service, citizen, "How many pounds does the anchor of the Seagull weigh?")
    [first, *_] = stream["activation_tiers"]["focus"]
    place = first["passage"]
    assert "The anchor of the Seagull weighs 417 pounds." in first["description"]
    assert whole[place["start"] : place["end"]] == first["description"]
    address = f"/v1/memories/N1/{first['node_id']}"
    stored = service.http.get(address, params={"citizen_id": citizen}).json()
    assert len(stored["description"]) == len(whole) == place["length"]


def test_a_signal_resonates_by_its_other_channels(service: Service, citizen: str) -> None:
    body = {"citizen_id": citizen, "window": ["tomas was frustrated about the mast"]}
    said = service.http.post("/v1/resonate", json=body).json()
    assert (said["degraded"], said["weights"]["likeness"]) == ([], 0.0)
    assert [NOTE in note for note in said["notes"]] == [True]
    assert said["levels"]["n1_personal"][0]["memory"]["node_id"] == "mast"


def test_a_walk_needs_no_vectors(service: Service, citizen: str) -> None:
    body = {"citizen_id": citizen, "query_text": "Which storm song was sung?"}
    said = service.http.post("/v1/associate", json=body).json()
    assert (said["degraded"], said["notes"]) == ([], [])
    assert "storm song" in said["anchors"][0]["memory"]["description"]
    assert "lighthouse choir" in str(said["neighbours"])


def test_a_sweep_finds_nothing_missing(service: Service, citizen: str) -> None:
    [report] = service.http.post("/v1/upkeep/sweep", json={"citizen_id": citizen, "levels": ["N1"]}).json()[
        "reports"
    ]
    assert not {"embedding_missing", "embedding_stale"} & set(report["findings_by_kind"])
    assert report["counts"]["memories"] > len(TALK)


def test_health_says_none_and_no_vector_is_stored(service: Service, citizen: str) -> None:
    ready = service.http.get("/health/ready").json()
    assert (ready["embedding"], ready["dimension"]) == ("none", 0)
    with Redis(unix_socket_path=str(socket_path(service.data)), decode_responses=True) as engine:
        query = "MATCH (t:Trace) RETURN count(t) > 0, count(t.embedding)"
        rows = engine.execute_command("GRAPH.RO_QUERY", f"citizen_{citizen}", query)[1]
    assert rows == [["true", 0]]


def test_a_signal_goes_by_names_words_and_emotions(service: Service, citizen: str) -> None:
    service.remember(citizen, id="egor", name="Egor", node_type="Person")
    assert service.relate(citizen, ("egor", "CRITICIZED", "mast")).status_code == 201
    signal = {"citizen_id": citizen, "focus": "Egor criticizes the work again", "emotion": "frustration"}
    answer = service.http.post("/v1/resonate", json=signal)
    assert answer.status_code == 200, answer.text
    said = answer.json()
    assert said["signal"]["nodes"] == ["Egor"]
    assert "CRITICIZED" in str(said["signal"]["relations"])
    assert [NOTE in note for note in said["notes"]].count(True) == 1
