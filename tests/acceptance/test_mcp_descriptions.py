"""The tools of the Model Context Protocol as a model reads them: their list and their answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from jsonschema import validate
from mcp.client.client import Client
from mcp.types import CallToolResult

from orchestration.assembly.displayed_text import CLOSING, NOTICE, OPENING
from tests.acceptance.conftest import Service
from tests.acceptance.test_mcp import over_http, text_of

READING = {"recall", "wake", "history", "identity"}


def texts_within(value: Any) -> Iterator[str]:
    """Every text in a value, keys included."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from texts_within(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_within(inner)
    elif isinstance(value, str):
        yield value


def stored_lines(text: str) -> list[str]:
    """The lines of an answer that hold stored text: those between the marks."""
    notice, opening, *lines, closing = text.splitlines()
    assert (notice, opening, closing) == (NOTICE, OPENING, CLOSING)
    return lines


async def told(client: Client, citizen: str, **said: Any) -> str:
    """The id of a new memory."""
    answer = await client.call_tool("remember", {"citizen_id": citizen, **said})
    assert not answer.is_error, text_of(answer)
    return str(answer.structured_content["id"])


async def recalled(client: Client, citizen: str, **asked: Any) -> CallToolResult:
    answer = await client.call_tool("recall", {"citizen_id": citizen, **asked})
    assert isinstance(answer, CallToolResult)
    assert not answer.is_error, text_of(answer)
    return answer


async def test_every_tool_and_every_parameter_says_what_it_is(service: Service) -> None:
    async with over_http(service) as client:
        tools = (await client.list_tools()).tools
    for tool in tools:
        assert tool.title, tool.name
        assert tool.description, tool.name
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint == (tool.name in READING)
        assert tool.annotations.open_world_hint is False
        assert tool.output_schema is not None, tool.name
        assert tool.output_schema["type"] == "object"
        for name, parameter in tool.input_schema["properties"].items():
            assert len(parameter.get("description", "")) > 10, (tool.name, name)


async def test_the_list_of_tools_holds_no_patterns_of_control_characters(service: Service) -> None:
    async with over_http(service) as client:
        listed = [tool.model_dump(exclude_none=True) for tool in (await client.list_tools()).tools]
        assert not [text for text in texts_within(listed) if "\\x" in text or "$defs" in text]
        assert len(json.dumps(listed)) <= 15_500
        refused = await client.call_tool("remember", {"citizen_id": "ada", "name": "a\x00b"})
    assert refused.is_error
    assert "control character" in text_of(refused)


async def test_an_answer_is_what_the_output_schema_says_and_so_is_a_fault(service: Service, citizen: str) -> None:
    """The SDK's client checks answers; other clients check faults too, so that these must fit as well."""
    async with over_http(service) as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        tea = await told(client, citizen, name="Tea", text="Tom takes it black.", emotions={"joy": 0.5})
        for tool, arguments in (
            ("recall", {"query": "tea"}), ("wake", {}), ("remember", {"name": "x"}), ("identity", {}),
            ("correct", {"id": tea, "text": "With milk."}), ("history", {"id": tea}),
        ):  # fmt: skip
            answer = await client.call_tool(tool, {"citizen_id": citizen, **arguments})
            assert not answer.is_error, (tool, text_of(answer))
            validate(answer.structured_content, schemas[tool])
            fault = await client.call_tool(tool, {"citizen_id": "no such id!"})
            assert fault.is_error
            validate(fault.structured_content, schemas[tool])


async def test_an_answer_of_recall_names_the_ids_that_correct_and_history_take(
    service: Service, citizen: str
) -> None:
    async with over_http(service) as client:
        tea = await told(client, citizen, name="Tea", text="Tom takes it black.")
        [line] = [
            line for line in text_of(await recalled(client, citizen, query="tea")).splitlines() if "black" in line
        ]
        found = re.search(r"\bid ([^\s;)]+)", line)
        assert found is not None
        assert found[1] == tea
        corrected = {"citizen_id": citizen, "id": found[1], "text": "With milk."}
        assert not (await client.call_tool("correct", corrected)).is_error
        assert not (await client.call_tool("history", {"citizen_id": citizen, "id": found[1]})).is_error


async def test_a_past_event_recorded_today_is_found_by_valid_time_and_not_by_past_knowledge(
    service: Service, citizen: str
) -> None:
    then, before = "2024-05-01T12:00:00Z", datetime.now(UTC).isoformat()
    async with over_http(service) as client:
        await told(
            client, citizen, name="Harbour", text="Ines lived at the harbour.", valid_at="2023-01-01T00:00:00Z"
        )
        asked = {"query": "Where did Ines live?", "as_of_time": then}
        assert "harbour" in text_of(await recalled(client, citizen, **asked))
        assert "harbour" not in text_of(await recalled(client, citizen, **asked, known_at=before))
        assert "harbour" not in text_of(
            await recalled(client, citizen, query="Ines", as_of_time="2022-01-01T00:00:00Z")
        )
        assert "harbour" not in text_of(await recalled(client, citizen, query="Ines", known_at=before))
        who = await client.call_tool("identity", {"citizen_id": citizen, "as_of_time": then})
        assert who.structured_content["as_of_time"].startswith("2024-05-01")
        assert before < who.structured_content["known_at"] < "2200"


async def test_a_history_is_exact_and_says_why_a_belief_ended(service: Service, citizen: str) -> None:
    async with over_http(service) as client:
        tea = await told(client, citizen, name="Tea", text="Black.", valid_at="2025-03-01T08:09:10.5Z")
        await client.call_tool("correct", {"citizen_id": citizen, "id": tea, "text": "With milk."})
        changed = {"citizen_id": citizen, "id": tea, "text": "Coffee.", "changed": True}
        await client.call_tool("correct", changed)
        undone = {"command": "undo", "citizen_id": citizen, "id": tea}
        assert service.http.post("/v1/commands", json=undone).is_success
        story = await client.call_tool("history", {"citizen_id": citizen, "id": tea})
    said, records = text_of(story), story.structured_content["records"]
    assert "2025-03-01T08:09:10.500000Z" in said
    assert "found to be false" in said
    assert "the world changed" in said
    assert len(stored_lines(said)) == len(records)
    for record in records:
        assert record["created_at"] in said
    assert {record.get("closed_reason") for record in records} >= {"discovered_false", "undone"}
    assert {record.get("invalidation_reason") for record in records} >= {"reality_changed"}


async def test_a_fault_names_the_parameter_that_was_sent(service: Service, citizen: str) -> None:
    async with over_http(service) as client:
        for tool, arguments, name in (
            ("recall", {"query": "  "}, "query"),
            ("recall", {"query": "x", "as_of_time": 7}, "as_of_time"),
            ("remember", {"name": "x", "emotions": {"joy": 2}}, "emotions"),
            ("remember", {"name": "x", "text": "\x07"}, "text"),
        ):
            refused = await client.call_tool(tool, {"citizen_id": citizen, **arguments})
            assert refused.is_error, tool
            said = text_of(refused) + json.dumps(refused.structured_content)
            assert re.search(rf"\b{name}\b", said), said
            assert not re.search(r"query_text|emotion_vector|current_|description", said), said
