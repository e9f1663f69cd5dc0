"""All ways of asking over HTTP: 000's worked examples, plurality, strange texts, and the same answer twice."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.acceptance.conftest import Service
from tests.acceptance.test_plurality import QUESTION, flooded, remember_all
from tests.builders import ago
from tests.features.contexts.identity_contexts import CONTEXTS, ENTITIES, RULE
from tests.integration.store import moment

__all__ = ["flooded"]

LATER = "2100-01-01T00:00:00Z"
STRANGE = (
    'mind-protocol.org (a|b) -c "d',
    ".org",
    "'; DROP",
    "🙂🙂",
    "the and of",
    "%x% => @y:{z} $ ~",
    "a\tb\n`c`",
)


@pytest.fixture(scope="module")
def kai(service: Service) -> str:
    """The citizen of 000's empirical test, who lived eleven contexts."""
    citizen = "kai.of.000"
    entities = [{"id": i, "name": n, "node_type": "Entity", "valid_at": day(0)} for i, n in ENTITIES.items()]
    contexts = [
        {
            "id": f"c{number}",
            "name": name,
            "node_type": "Context",
            "valid_at": day(number),
            "emotion_vector": {emotion: 0.8},
            "rule": RULE if emotion in ("loneliness", "despair") else None,
        }
        for number, name, emotion, _ in CONTEXTS
    ]
    remember_all(service, citizen, entities + contexts)
    for number, _, _, nodes in CONTEXTS:
        for entity in nodes.split():
            said = service.relate(citizen, (f"c{number}", "MENTIONS", entity), valid_at=day(number))
            assert said.status_code == 201, said.text
    return citizen


def day(number: float) -> str:
    return moment(number).isoformat()


def sent(service: Service, way: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = service.http.post(f"/v1/{way}", json={"query_levels": ["N1"], **body})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def memories(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """What an answer shows, in its order, whichever way was asked."""
    if "anchors" in answer:
        return [one["memory"] for one in answer["anchors"] + answer["neighbours"]]
    if "activation_tiers" in answer:
        tiers = answer["activation_tiers"]
        return [*tiers["focus"], *tiers["peripheral"], *tiers["background"]]
    return [one["memory"] for one in answer["levels"]["n1_personal"]]


@pytest.mark.parametrize("way", ["retrieve", "resonate", "associate"])
def test_plurality_shows_older_weeks_whichever_way_is_asked(service: Service, flooded: str, way: str) -> None:
    question: dict[str, Any] = {"citizen_id": flooded, "query_text": QUESTION}
    if way == "resonate":  # by itself it prefers older weeks to the last day
        question["suppress_recent"] = False
    plain = memories(sent(service, way, question))[:5]
    plural = memories(sent(service, way, {**question, "plurality": {}}))[:5]
    weeks = [datetime.fromisoformat(one["valid_at"]).isocalendar()[:2] for one in plural]
    assert all(weeks.count(week) <= 2 for week in weeks)
    old = [sum(one["node_id"].startswith("old-") for one in part) for part in (plain, plural)]
    assert old[0] <= old[1]
    assert old[1] >= 1


@pytest.mark.parametrize("way", ["resonate", "associate"])
def test_an_old_memory_without_the_words_of_the_question_has_a_chance_in_every_way_of_asking(
    service: Service, citizen: str, way: str
) -> None:
    doves = [{"id": f"dove-{n}", "name": f"An olive branch {n}", "valid_at": ago(40 + n)} for n in range(6)]
    news = [{"id": f"n-{n}", "name": f"identity {n}", "valid_at": ago(n / 50)} for n in range(40)]
    remember_all(service, citizen, doves + news)
    question = {"citizen_id": citizen, "query_text": "identity", "plurality": {"chance": 20}}
    assert any(one["node_id"].startswith("dove-") for one in memories(sent(service, way, question)))


@pytest.mark.parametrize("way", ["retrieve", "resonate", "associate"])
@pytest.mark.parametrize("text", STRANGE)
def test_no_text_reaches_the_parser_below(service: Service, kai: str, way: str, text: str) -> None:
    past = {"as_of_time": LATER, **mode(way)}
    whens: list[dict[str, Any]] = [{}, {"plurality": {}}, past]
    for fields in whens:
        answer = sent(service, way, {"citizen_id": kai, "query_text": text, **fields})
        assert answer["degraded"] == []


def mode(way: str) -> dict[str, str]:
    return {"temporal_mode": "point_in_time"} if way == "retrieve" else {}


@pytest.mark.parametrize("text", STRANGE)
def test_no_goal_window_or_name_does_either(service: Service, kai: str, text: str) -> None:
    state = {"citizen_id": kai, "current_energy": 0.5, "current_emotions": {"calm": 0.5}, "current_goal": text}
    assert sent(service, "wake", state)["degraded"] == []
    for signal in ({"window": [text]}, {"focus": text}, {"nodes": [text]}, {"emotion": text}, {"result": text}):
        assert sent(service, "resonate", {"citizen_id": kai, **signal})["degraded"] == []


def test_an_unknown_relation_and_an_unknown_emotion_are_named_in_the_answer(service: Service, kai: str) -> None:
    signal = {"citizen_id": kai, "relations": ["Kai|teleported|Egor"], "emotion": "saudade"}
    notes = " ".join(sent(service, "resonate", signal)["notes"])
    assert "no memory found has any of the relations" in notes
    assert "saudade is not in the vocabulary of emotions" in notes


@pytest.mark.parametrize("way", ["retrieve", "wake"])
def test_the_graph_alone_comes_in_the_form_that_is_accepted(service: Service, kai: str, way: str) -> None:
    asked: dict[str, Any] = {"query_text": "mind-protocol.org"}
    if way == "wake":
        asked = {"query_mode": "find_similar_state", "current_emotions": {"loneliness": 0.8}}
    body = {"citizen_id": kai, "query_levels": ["N1"], **asked}
    whole = service.http.post(f"/v1/{way}", json=body).json()["traversal_graph"]
    memories = {f"N1|{node['node_id']}" for node in whole["nodes"]}
    assert memories
    drawn = service.http.post(f"/v1/{way}", json=body, headers={"Accept": "application/graphml+xml"})
    assert drawn.headers["Content-Type"] == "application/graphml+xml"
    graph = ElementTree.fromstring(drawn.text)
    assert {node.attrib["id"] for node in graph.iter("{http://graphml.graphdrawing.org/xmlns}node")} == memories
    linked = service.http.post(f"/v1/{way}", json=body, headers={"Accept": "application/vnd.node-link+json"})
    assert {node["id"] for node in linked.json()["nodes"]} == memories
    assert {edge["source"] for edge in linked.json()["edges"]} <= memories
