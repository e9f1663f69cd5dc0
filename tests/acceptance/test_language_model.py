"""A language model through the doors: chosen by the environment, reached over HTTP, counted in the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.acceptance.conftest import Service
from tests.scripted_model import KEY, document, scripted_model

TALK = [{"speaker": "Ada", "text": "I live in Porto."}]


def test_without_a_model_facts_are_refused_and_nothing_is_stored(service: Service, citizen: str) -> None:
    with service.unchanged():
        body = {"citizen_id": citizen, "messages": TALK, "extract_facts": True}
        answer = service.http.post("/v1/episodes", json=body)
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-request")
    assert "SUBSTRATE_LLM" in answer.json()["remedy"]


def said(asked: dict[str, Any]) -> str:
    shown = document(asked)
    if "question" in shown:
        return '{"entities": ["Porto"]}'
    [message] = shown["messages"]
    ends = {"subject": "Ada", "subject_type": "Person", "object": "Porto", "object_type": "Place"}
    fact = {**ends, "relation": "LIVES_IN", "confidence": 0.9, "evidence": [message["key"]]}
    return orjson.dumps({"facts": [fact]}).decode()


def test_facts_and_names_read_by_a_model_are_reported_with_their_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scripted_model() as model:
        model.otherwise = said
        environment = {
            "SUBSTRATE_LLM": "openai:scripted",
            "SUBSTRATE_LLM_INPUT_PRICE": "1",
            "SUBSTRATE_LLM_OUTPUT_PRICE": "1",
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": model.address,
            "NO_PROXY": "127.0.0.1",
        }
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        service = Service(tmp_path, "none")
        try:
            body = {"citizen_id": "ada", "messages": TALK, "extract_facts": True}
            answer = service.http.post("/v1/episodes", json=body)
            assert answer.status_code == 200, answer.text
            facts = answer.json()["facts"]
            assert facts["links"] == ["person:ada|LIVES_IN|place:porto"]
            assert facts["model_calls"][0]["cost"] == pytest.approx(128 / 1_000_000)
            asked = {"citizen_id": "ada", "query_text": "Where is home?"}
            stream = service.http.post("/v1/retrieve", json=asked).json()
            assert stream["entities"] == ["Porto"]
            assert [call["purpose"] for call in stream["model_calls"]] == ["entities"]
        finally:
            service.stop()
