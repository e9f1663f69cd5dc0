"""What is written comes back as it went in, whatever it is."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.acceptance.conftest import Service

CITIZEN = "round-trip"
TRICKY = [
    'it\'s "quoted" and `ticked`',
    "'}) MATCH (n) DETACH DELETE n //",
    '"}) MATCH (n) DETACH DELETE n //',
    "$id {id: $id} %s {{}} \\u0041 \\",
    "\\' \\\" \\\\ \\n",
    "CYPHER id='x' RETURN 1; --",
    "line one\nline two\r\n\ttabbed",
    "  spaces around  ",
    "ünï 日本 🧠 \u202e\u200b\ufeff e\u0301",
]
FIELDS = ("name", "description", "goal", "felt_quality", "body_sensation", "result", "rule", "speaker")


def written_and_read(service: Service, body: dict[str, Any]) -> dict[str, Any] | None:
    """The memory as it is read back; None when it was refused as not valid."""
    raw = json.dumps({"citizen_id": CITIZEN, **body}).encode()
    answer = service.http.post("/v1/memories", content=raw, headers={"Content-Type": "application/json"})
    if answer.status_code == 422:
        return None
    assert answer.status_code == 201, answer.text
    address = f"/v1/memories/N1/{answer.json()['id']}"
    return dict(service.http.get(address, params={"citizen_id": CITIZEN}).json())


@pytest.mark.parametrize("text", TRICKY)
def test_quotes_and_cypher_are_text_like_any_other(service: Service, text: str) -> None:
    body: dict[str, Any] = {**dict.fromkeys(FIELDS, text), "node_type": text, "aliases": [text]}
    body |= {"emotion_vector": {text: 0.5}, "extra": {text: [text, {text: text}]}}
    body |= {"tags": [text], "buckets": [text]}
    memory = written_and_read(service, body)
    assert memory is not None
    assert {name: memory[name] for name in body} == body


@pytest.mark.parametrize("text", [text for text in TRICKY if "\n" not in text and "|" not in text])
def test_ids_may_be_quotes_and_cypher_too(service: Service, text: str) -> None:
    ends = [f"{text}{uuid4().hex}".strip() for _ in range(2)]
    for memory_id in ends:
        service.remember(CITIZEN, id=memory_id, name="n", episode_id=memory_id)
    felt = {"goal": text, "mindstate": text, "formation_trigger": text, "sensory_details": {text: text}}
    answer = service.relate(CITIZEN, (ends[0], "NEXT", ends[1]), **felt)
    assert answer.status_code == 201, answer.text


@pytest.mark.parametrize("text", TRICKY)
def test_a_question_may_be_quotes_and_cypher(service: Service, text: str) -> None:
    asked = {"citizen_id": CITIZEN, "query_text": text, "required_emotions": [text], "generated_by": text}
    with service.unchanged():
        answer = service.http.post("/v1/retrieve", json=asked)
    assert answer.status_code == 200, answer.text
    assert answer.json()["degraded"] == []


@pytest.mark.parametrize("memory_id", [" led", "trailed ", "a\u000b"])
def test_an_id_with_whitespace_at_an_edge_is_refused(service: Service, memory_id: str) -> None:
    with service.unchanged():
        assert written_and_read(service, {"id": memory_id, "name": "n"}) is None


@pytest.mark.parametrize("tag", ["trailed ", " ", "", "line\n"])
def test_a_tag_with_whitespace_at_an_edge_comes_back_as_it_went_in(service: Service, tag: str) -> None:
    memory = written_and_read(service, {"name": "n", "tags": [tag], "buckets": [tag]})
    assert memory is not None
    assert (memory["tags"], memory["buckets"]) == ([tag], [tag])


anything = st.text(st.characters(exclude_categories=()), max_size=60)


def storable(text: str) -> bool:
    """Whether the service promises to keep the text."""
    return not any((c < " " and c not in "\n\r\t") or c == "\x7f" or "\ud800" <= c <= "\udfff" for c in text)


@settings(max_examples=40)
@given(name=anything, description=anything, goal=anything, tags=st.lists(anything, max_size=3))
def test_arbitrary_text_comes_back_as_it_went_in_or_is_refused(
    service: Service, name: str, description: str, goal: str, tags: list[str]
) -> None:
    body = {"name": name, "description": description, "goal": goal, "tags": tags}
    # Of two texts that differ in an accent alone the second would be recognised as the first.
    memory = written_and_read(service, {**body, "restate": True})
    if memory is None:
        assert not name.strip(" \n\r\t") or not all(storable(text) for text in (name, description, goal, *tags))
    else:
        assert {field: memory[field] for field in body} == body


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | anything,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(anything, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40)
@given(extra=st.dictionaries(anything, json_values, max_size=3))
def test_unknown_fields_come_back_as_they_went_in_or_are_refused(service: Service, extra: dict[str, Any]) -> None:
    memory = written_and_read(service, {"name": "n", "extra": extra})
    if memory is None:
        raw = json.dumps(extra)
        assert "\\ud" in raw or "Infinity" in raw
    else:
        assert memory["extra"] == extra
