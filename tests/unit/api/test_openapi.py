"""The OpenAPI document, as generators of clients read it."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import jsonschema
import pytest

from api.openapi import objects_in, operations
from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.formats.messages import parse
from orchestration.ingestion.formats.reader import File, FileSet
from scripts.reference.document import openapi

DOCUMENT: Final = openapi()
SCHEMAS: Final = DOCUMENT["components"]["schemas"]


def test_each_operation_has_a_name_that_is_a_word_of_every_language() -> None:
    names = [operation["operationId"] for operation in operations(DOCUMENT)]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z]+(_[a-z]+)*", name)] == []
    assert {"retrieve", "wake", "walk_tags", "get_identity", "remember"} <= set(names)


def test_every_reference_leads_somewhere() -> None:
    for ref in {part["$ref"] for part in objects_in(DOCUMENT) if "$ref" in part}:
        _, _, room, name = ref.split("/")
        assert name in DOCUMENT["components"][room], ref


@pytest.mark.parametrize("name", ["WriteReceipt", "MemoryPage", "MemoryRecord"])
def test_fields_that_an_answer_always_has_are_required(name: str) -> None:
    assert set(SCHEMAS[name]["required"]) == set(SCHEMAS[name]["properties"])


def test_what_a_stream_may_leave_out_is_not_required() -> None:
    """A null, the default of a field of a memory, and a section that was not asked for."""
    assert {"node_id", "description", "energy"} < set(SCHEMAS["ConsciousnessNode"]["required"])
    assert not {"invalid_at", "tags", "version"} & set(SCHEMAS["ConsciousnessNode"]["required"])
    assert {"form", "stream_id", "degraded"} < set(SCHEMAS["ConsciousnessStream"]["required"])
    assert not {"levels", "text", "memories"} & set(SCHEMAS["ReferencedStream"]["required"])
    for name in ("TemporalDissonance", "QueryTiming", "CitizenState"):
        fields = SCHEMAS[name]["properties"]
        nullable = {field for field, schema in fields.items() if {"type": "null"} in schema.get("anyOf", ())}
        assert nullable, name
        assert set(SCHEMAS[name]["required"]) == fields.keys() - nullable


def test_each_link_of_an_operation_leads_to_an_operation_with_these_parameters() -> None:
    named = {operation["operationId"]: operation for operation in operations(DOCUMENT)}
    links = [
        link
        for operation in named.values()
        for response in operation["responses"].values()
        for link in response.get("links", {}).values()
    ]
    assert links
    for link in links:
        known = {parameter["name"] for parameter in named[link["operationId"]]["parameters"]}
        assert set(link["parameters"]) <= known


@pytest.mark.parametrize("content", [None, "Hello.", [{"type": "text", "text": "Hello."}, {"type": "image_url"}]])
def test_what_a_message_may_say_is_what_is_read(content: Any) -> None:
    schema = SCHEMAS["Conversation"]["properties"]["messages"]["items"]
    message = {"role": "user", "content": content}
    jsonschema.validate(message, schema)
    sent = json.dumps([{**message, "text": "Hello."}])
    read = parse(FileSet("talk", (File("talk.json", sent),), "ada"))
    [episode] = read.items
    assert isinstance(episode, Episode)
    assert [turn.text for session in episode.sessions for turn in session.turns] == ["Hello."]
