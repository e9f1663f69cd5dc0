"""The findings of the plural retriever (004), each on data like its own, over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest

from tests.acceptance.conftest import Service
from tests.builders import ago

QUESTION = "identity and consciousness"


def remember_all(service: Service, citizen: str, memories: list[dict[str, Any]]) -> None:
    answer = service.http.post("/v1/memories", json=[{"citizen_id": citizen, **one} for one in memories])
    assert answer.json()["refused"] == 0


def asked(service: Service, citizen: str, text: str, **fields: Any) -> dict[str, Any]:
    body = {"citizen_id": citizen, "query_text": text, "query_levels": ["N1"], **fields}
    answer = service.http.post("/v1/retrieve", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def shown(stream: dict[str, Any]) -> list[dict[str, Any]]:
    tiers = stream["activation_tiers"]
    return [*tiers["focus"], *tiers["peripheral"], *tiers["background"]]


@pytest.fixture(scope="module")
def flooded(service: Service) -> str:
    """57 older memories that hold the words, behind 563 of the last week that hold them too."""
    citizen = f"c{uuid4().hex[:12]}"
    old = [
        {
            "id": f"old-{n}",
            "name": f"Thought {n}",
            "description": f"{QUESTION}: {QUESTION}, thought {n}",
            "valid_at": ago(8 + 3 * n),
            "importance": 0.3 if n % 2 else 0.6,
        }
        for n in range(57)
    ]
    recent = [
        {
            "id": f"new-{n}",
            "name": f"Note {n}",
            "description": f"{QUESTION} {QUESTION}, note {n}",
            "valid_at": ago(n / 100),
        }
        for n in range(563)
    ]
    remember_all(service, citizen, old + recent)
    return citizen


def test_older_matches_are_candidates_however_many_recent_ones_match(service: Service, flooded: str) -> None:
    plural = [m["node_id"] for m in shown(asked(service, flooded, QUESTION, plurality={}))]
    plain = [m["node_id"] for m in shown(asked(service, flooded, QUESTION))]
    assert sum(memory.startswith("old-") for memory in plain) < 10
    assert sum(memory.startswith("old-") for memory in plural) >= 15


def test_the_more_important_of_the_older_matches_come_before_the_rest(service: Service, flooded: str) -> None:
    only_matching = {"recent": 0, "chance": 0, "matching": 15}
    seen = shown(asked(service, flooded, QUESTION, plurality=only_matching))
    important = {f"old-{n}" for n in range(0, 57, 2)}
    assert len(important & {m["node_id"] for m in seen}) >= 15


def test_at_most_two_of_one_week_stand_in_focus(service: Service, flooded: str) -> None:
    focus = asked(service, flooded, QUESTION, plurality={})["activation_tiers"]["focus"]
    weeks = [datetime.fromisoformat(m["valid_at"]).isocalendar()[:2] for m in focus]
    assert len(focus) == 5
    assert all(weeks.count(week) <= 2 for week in weeks)


def test_the_same_request_draws_the_same_lots(service: Service, flooded: str) -> None:
    answers = [asked(service, flooded, QUESTION, plurality={"chance": 30}) for _ in range(2)]
    # The age of a memory counts from the moment of each request, so its score may differ in the last digit.
    one, other = ([memory["node_id"] for memory in shown(answer)] for answer in answers)
    assert one == other


@pytest.mark.parametrize("telling", [{"explain": True}, {"form": "full"}, {"max_tokens": 50_000}], ids=str)
def test_the_form_of_an_answer_does_not_change_the_random_draw(
    service: Service, flooded: str, telling: dict[str, Any]
) -> None:
    plain, told = (asked(service, flooded, QUESTION, plurality={"chance": 3}, **how) for how in ({}, telling))
    assert [m["node_id"] for m in shown(told)] == [m["node_id"] for m in shown(plain)]


def test_an_old_memory_without_a_common_word_still_has_a_chance(service: Service) -> None:
    citizen = "who-draws-lots"
    doves = [{"id": f"dove-{n}", "name": f"An olive branch {n}", "valid_at": ago(40 + n)} for n in range(6)]
    news = [{"id": f"n-{n}", "name": f"identity {n}", "valid_at": ago(n / 50)} for n in range(120)]
    remember_all(service, citizen, doves + news)
    plain = {m["node_id"] for m in shown(asked(service, citizen, "identity"))}
    plural = {m["node_id"] for m in shown(asked(service, citizen, "identity", plurality={"recent": 10}))}
    assert not any(one.startswith("dove-") for one in plain)
    assert any(one.startswith("dove-") for one in plural)


def test_after_thirty_days_a_memory_weighs_half(service: Service, citizen: str) -> None:
    aged = [
        {"id": f"d{days}", "name": "the same words", "valid_at": ago(days), "importance": 1.0} for days in (0, 30)
    ]
    remember_all(service, citizen, aged)
    seen = shown(asked(service, citizen, "the same words", plurality={}, explain=True))
    term = {m["node_id"]: m["score_terms"]["plurality"] for m in seen}
    assert term["d0"] == pytest.approx(0.2, abs=0.001)
    assert term["d30"] == pytest.approx(0.1, abs=0.001)


def test_memories_of_one_shape_find_each_other_without_a_word_in_common(service: Service, citizen: str) -> None:
    dormant = {"resolution_state": "resolved", "emotion_vector": {"longing": 0.8, "hope": 0.4}}
    tale = {"id": "needle", "name": "Death hidden in a needle", "valid_at": ago(300), "discovery_energy": 0.9}
    remember_all(
        service,
        citizen,
        [
            {**tale, **dormant},
            {"id": "egg", "name": "The egg breaks", "node_type": "Action", "valid_at": ago(299)},
            *({"id": f"x{n}", "name": f"Groceries {n}", "valid_at": ago(n)} for n in range(30)),
        ],
    )
    assert service.relate(citizen, ("needle", "RESOLVED_BY", "egg"), resolution_state="resolved").is_success
    state = {
        "citizen_id": citizen,
        "current_energy": 0.5,
        "current_emotions": dormant["emotion_vector"],
        "query_mode": "find_resolution_patterns",
        "temporal_scope": "all_time",
        "plurality": {},
    }
    answer = service.http.post("/v1/wake", json=state)
    assert answer.status_code == 200, answer.text
    patterns = answer.json()["resolution_patterns"]
    assert [(p["blockage_id"], p["resolution_id"]) for p in patterns] == [("needle", "egg")]


@pytest.mark.parametrize(
    "wrong",
    [{"recent": -1}, {"recent": 101}, {"per_week": 0}, {"half_life_days": 0}, {"importance_floor": 1.1}, {"x": 1}],
)
def test_numbers_that_make_no_sense_are_refused(service: Service, citizen: str, wrong: dict[str, Any]) -> None:
    body = {"citizen_id": citizen, "query_text": "x", "plurality": wrong}
    answer = service.http.post("/v1/retrieve", json=body)
    assert answer.status_code == 422
    assert next(iter(wrong)) in answer.text
