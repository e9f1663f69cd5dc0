"""All ways of asking over HTTP: 000's worked examples, plurality, strange texts, and the same answer twice."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from tests.acceptance.conftest import Service
from tests.acceptance.test_plurality import QUESTION, flooded, remember_all
from tests.builders import ago
from tests.features.contexts.identity_contexts import CONTEXTS, ENTITIES, RULE, TABLE
from tests.integration.store import moment

__all__ = ["flooded"]

BY_000 = {"nodes": 1, "emotion": 0.5, "result": 0.3, "relations": 0, "likeness": 0, "importance": 0, "recency": 0}
"""000's weights, without recency: its worked totals leave it out."""
LATER = "2100-01-01T00:00:00Z"
TAKEN = ("token_counts", "stream_id", "retrieved_at", "retrieval_latency_ms", "stage_ms", "timings")
"""What of a stream is its own: its id, and how long it took."""
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


@pytest.mark.parametrize(
    ("nodes", "emotion", "first", "total"),
    [(["Kai", "Egor"], "loneliness", "c9", 1.50), (["Kai", "v5"], "curiosity", "c7", 1.17)],
)
def test_the_worked_signals_of_000_find_what_they_found_with_the_same_totals(
    service: Service, kai: str, nodes: list[str], emotion: str, first: str, total: float
) -> None:
    signal = {"citizen_id": kai, "nodes": nodes, "emotion": emotion, "overlap": "memory", "weights": BY_000}
    best = sent(service, "resonate", signal)["levels"]["n1_personal"][0]
    assert (best["memory"]["node_id"], round(best["total"], 2)) == (first, total)


def test_the_identity_table_of_000_comes_out_of_eleven_contexts(service: Service, kai: str) -> None:
    assert len(CONTEXTS) == 11
    said = service.http.get(f"/v1/citizens/{kai}/identity", params={"limit": 5}).json()
    table = {one["name"]: (one["appearances"], set(one["emotions"])) for one in said["entities"]}
    assert list(table.items()) == list(TABLE.items())
    assert said["entities"][0]["rules"] == [{"rule": RULE, "memories": 2}]
    before = {"as_of_time": day(3.5), "known_at": LATER}
    then = service.http.get(f"/v1/citizens/{kai}/identity", params=before).json()["entities"]
    assert [(one["name"], one["appearances"]) for one in then] == [("Kai", 2), ("memory", 2), ("consciousness", 1)]


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


def test_importance_has_its_floor_and_recency_its_half_life_in_a_signal_too(
    service: Service, citizen: str
) -> None:
    aged = [{"id": f"d{days}", "name": "rain", "valid_at": ago(days), "importance": 0.1} for days in (0, 30)]
    remember_all(service, citizen, aged)
    signal = {"citizen_id": citizen, "query_text": "rain", "plurality": {"importance_floor": 0.4}}
    found = sent(service, "resonate", signal)["levels"]["n1_personal"]
    channels = {one["memory"]["node_id"]: one["channels"] for one in found}
    assert [channels[one]["importance"] for one in ("d0", "d30")] == [0.4, 0.4]
    assert [channels[one]["recency"] for one in ("d0", "d30")] == pytest.approx([1.0, 0.5], abs=0.001)


def test_a_quiet_memory_counts_as_much_as_the_floor(service: Service, citizen: str) -> None:
    """004, finding 5: what was recorded low for want of drama."""
    quiet = {"id": "quiet", "name": "Chose not to act", "valid_at": ago(0), "importance": 0.05}
    remember_all(service, citizen, [quiet])
    asked = {"citizen_id": citizen, "query_text": "not to act", "plurality": {}}
    explained = sent(service, "retrieve", {**asked, "explain": True})
    assert memories(explained)[0]["score_terms"]["plurality"] == pytest.approx(0.2 * 0.3, abs=0.001)
    walked = sent(service, "associate", asked)
    assert walked["anchors"][0]["plurality"] == pytest.approx(0.2 * 0.3, abs=0.001)


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


@pytest.mark.parametrize("plurality", [None, {"chance": 30}])
@pytest.mark.parametrize(
    ("way", "asked"),
    [
        ("retrieve", {"query_text": "Egor and loneliness", "intention_id": "i", "generated_at": LATER}),
        ("wake", {"current_energy": 0.5, "current_emotions": {"despair": 0.9}, "query_mode": "find_similar_state",
                  "state_id": "s", "generated_at": LATER}),
        ("resonate", {"window": ["egor is away, kai feels lonely"]}),
        ("associate", {"query_text": "connection drive of Kai"}),
    ],
)  # fmt: skip
def test_the_same_request_gets_the_same_bytes(
    service: Service, kai: str, way: str, asked: dict[str, Any], plurality: dict[str, Any] | None
) -> None:
    at = {"as_of_time": day(12), "known_at": LATER, **mode(way)}
    body = {"citizen_id": kai, "plurality": plurality, **at, **asked}
    answers = [service.http.post(f"/v1/{way}", json=body) for _ in range(3)]
    assert {answer.status_code for answer in answers} == {200}
    assert len({orjson.dumps(untimed(answer.json())) for answer in answers}) == 1
    assert memories(answers[0].json())


def untimed(said: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if name not in TAKEN}


def test_an_identity_of_the_past_is_answered_in_the_same_bytes(service: Service, kai: str) -> None:
    at = {"as_of_time": datetime(2026, 1, 9, tzinfo=UTC).isoformat(), "known_at": LATER}
    answers = [service.http.get(f"/v1/citizens/{kai}/identity", params=at) for _ in range(3)]
    assert len({answer.content for answer in answers}) == 1
    assert answers[0].json()["entities"]
