"""The same request on the same store has the same answer, byte for byte but for times."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.acceptance.conftest import Service

SAID = ("Where is the boat?", "The boat lies at the lake.", "I always want short answers.", "Good night!")
THEN = {"temporal_mode": "point_in_time", "as_of_time": "2030-01-01T00:00:00Z"}
TIMES = frozenset(
    ("token_counts", "retrieval_latency_ms", "stage_ms", "milliseconds", "retrieved_at", "stream_id")
)


def without_times(value: Any) -> Any:
    """A JSON value in its own order without the times that an answer took, and when it was asked for."""
    if isinstance(value, dict):
        return {key: without_times(inner) for key, inner in value.items() if key not in TIMES}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value


@pytest.fixture
def talker(service: Service, citizen: str) -> str:
    """A citizen with much that says the same at the same time: nothing but its id tells one from the other."""
    for day in ("2024-05-01", "2024-05-09"):
        turns = [
            {"speaker": ("user", "assistant")[place % 2], "text": SAID[place % 4], "timestamp": f"{day}T10:00:00Z"}
            for place in range(24)
        ]
        answer = service.http.post(
            "/v1/episodes", json={"citizen_id": citizen, "episode_id": day, "messages": turns}
        )
        assert answer.status_code == 200, answer.text
    return citizen


COMPACT: dict[str, Any] = {"form": "compact", "parts": ["activation_tiers"]}


@pytest.mark.parametrize(
    "asked",
    [
        {"query_text": "Where is my boat?", "explain": True},
        {"query_text": "List the order in which I spoke of the boat", **COMPACT},
        {"query_text": "boat", "plurality": {}, "max_tokens": 400, **THEN},
        {"query_text": "boat in May", "rerank": "mmr"},
        {"query_text": "boat", "rerank": "rrf"},
        {"query_text": "boat", "temporal_mode": "full_history"},
        {"query_text": "boat", **THEN},
    ],
    ids=["explained", "an order", "plural", "mmr", "rrf", "history", "then"],
)
def test_the_same_request_has_the_same_answer(service: Service, talker: str, asked: dict[str, Any]) -> None:
    body = {"citizen_id": talker, "intention_id": "i", "generated_at": "2025-01-01T00:00:00Z", **asked}
    answers = [service.http.post("/v1/retrieve", json=body) for _ in range(3)]
    assert {answer.status_code for answer in answers} == {200}, answers[0].text
    assert len({json.dumps(without_times(answer.json())) for answer in answers}) == 1
    assert answers[0].json()["activation_tiers"]["focus"]
