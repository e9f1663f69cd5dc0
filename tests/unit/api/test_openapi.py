"""The OpenAPI document, as generators of clients read it."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import jsonschema
import pytest

from api.openapi import SUMMARIES, objects_in, operations
from api.problems import MEDIA_TYPE
from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.formats.messages import parse
from orchestration.ingestion.formats.parsed import File, FileSet
from scripts.reference.document import openapi

DOCUMENT: Final = openapi()
SCHEMAS: Final = DOCUMENT["components"]["schemas"]


def test_each_operation_has_a_name_that_is_a_word_of_every_language() -> None:
    names = [operation["operationId"] for operation in operations(DOCUMENT)]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z]+(_[a-z]+)*", name)] == []
    assert {"retrieve", "wake", "walk_tags", "get_identity", "remember"} <= set(names)


def test_the_summary_of_each_operation_says_what_it_does() -> None:
    summaries = {operation["operationId"]: operation["summary"] for operation in operations(DOCUMENT)}
    assert summaries.items() >= SUMMARIES.items()
    assert len(set(summaries.values())) == len(summaries)
    assert [text for text in summaries.values() if len(text.split()) < 2 or len(text) > 60] == []


def test_a_type_has_one_name_in_requests_and_responses() -> None:
    assert [name for name in SCHEMAS if not re.fullmatch(r"\w+", name)] == []


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


def test_optional_fields_of_a_request_are_not_required() -> None:
    assert SCHEMAS["Remember"]["required"] == ["name"]
    assert set(SCHEMAS["RetrievalIntention"]["required"]) == {"citizen_id", "query_text"}


def test_a_list_says_of_what() -> None:
    arrays = [part for part in objects_in(DOCUMENT) if part.get("type") == "array"]
    assert arrays
    assert [part for part in arrays if not part.get("items")] == []
    assert [part for part in objects_in(DOCUMENT) if {} in (part.get("anyOf") or ())] == []


def test_a_map_of_emotions_says_what_its_values_are() -> None:
    assert [part for part in objects_in(DOCUMENT) if "patternProperties" in part] == []
    [emotions, absent] = SCHEMAS["Remember"]["properties"]["emotion_vector"]["anyOf"]
    assert absent == {"type": "null"}
    assert emotions["additionalProperties"] == {"type": "number", "minimum": 0, "maximum": 1}
    assert emotions["propertyNames"]["maxLength"] == 1000


def test_a_choice_of_kinds_needs_the_field_that_tells_them_apart() -> None:
    choices = [part for part in objects_in(DOCUMENT) if "discriminator" in part]
    assert choices
    for choice in choices:
        for ref in choice["oneOf"]:
            assert choice["discriminator"]["propertyName"] in SCHEMAS[ref["$ref"].split("/")[-1]]["required"]


def test_a_problem_is_described_once() -> None:
    remedies = [part for part in objects_in(DOCUMENT) if {"remedy", "instance"} <= set(part.get("properties", ()))]
    assert remedies == [SCHEMAS["Problem"]]
    for response in DOCUMENT["components"]["responses"].values():
        assert response["content"][MEDIA_TYPE]["schema"] == {"$ref": "#/components/schemas/Problem"}


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


def test_the_document_says_whose_it_is_and_where_it_is_served() -> None:
    assert DOCUMENT["info"]["license"]["identifier"] == "Apache-2.0"
    assert DOCUMENT["info"]["contact"]["name"]
    assert DOCUMENT["servers"] == [{"url": "/", "description": "The service that serves this document"}]
    described = {tag["name"] for tag in DOCUMENT["tags"] if tag["description"]}
    assert {tag for operation in operations(DOCUMENT) for tag in operation["tags"]} == described


def test_a_message_may_be_as_long_as_a_memory() -> None:
    message = SCHEMAS["Conversation"]["properties"]["messages"]["items"]["properties"]
    for name in ("text", "content"):
        assert message[name]["anyOf"][0]["maxLength"] == 6_000_000


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
