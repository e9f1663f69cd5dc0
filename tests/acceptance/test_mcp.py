"""The Model Context Protocol, through its SDK's own client: over HTTP with keys, over standard streams."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from substrate.inference.tokens import counter
from tests.acceptance.conftest import ADMIN_KEY, Service

ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def over_http(service: Service, key: str = ADMIN_KEY) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(f"{service.url}/mcp", http_client=http)) as client,
    ):
        yield client


@asynccontextmanager
async def over_streams(directory: Path) -> AsyncIterator[Client]:
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", "api.cli", "--data", str(directory), "mcp"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "SUBSTRATE_EMBEDDING": "none"},
    )
    async with Client(stdio_client(program)) as client:
        yield client


def text_of(answer: Any) -> str:
    return "\n".join(part.text for part in answer.content)


async def tools_and_their_hints(client: Client) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {"recall", "wake", "remember", "correct", "history", "identity", "hear", "resolve"}
    hints = {name: tool.annotations for name, tool in tools.items() if tool.annotations is not None}
    assert {name for name in tools if not hints[name].read_only_hint} == {"remember", "correct", "hear", "resolve"}
    assert {name for name in tools if hints[name].destructive_hint} == {"correct"}
    assert "citizen_id" in tools["recall"].input_schema["required"]


async def a_belief_is_told_and_corrected(client: Client) -> None:
    ada = f"m{uuid4().hex[:8]}"
    told = await client.call_tool(
        "remember", {"citizen_id": ada, "name": "Tea", "text": "Tom takes it black.", "emotions": {"joy": 0.5}}
    )
    tea = told.structured_content["id"]
    before = datetime.now(UTC).isoformat()
    await client.call_tool("correct", {"citizen_id": ada, "id": tea, "text": "Tom takes it with milk."})
    now = await client.call_tool("recall", {"citizen_id": ada, "query": "tea"})
    assert not now.is_error
    assert "with milk" in text_of(now)
    assert now.structured_content["memories"][0]["id"] == tea
    then = await client.call_tool("recall", {"citizen_id": ada, "query": "tea", "known_at": before})
    assert "black" in text_of(then)
    story = text_of(await client.call_tool("history", {"citizen_id": ada, "id": tea}))
    assert "black" in story
    assert "with milk" in story
    changed = {"citizen_id": ada, "id": tea, "text": "Tom drinks coffee.", "changed": True}
    assert "superseded" in text_of(await client.call_tool("correct", changed))
    woken = await client.call_tool("wake", {"citizen_id": ada, "energy": 0.5, "emotions": {"joy": 0.5}})
    assert not woken.is_error
    who = await client.call_tool("identity", {"citizen_id": ada})
    assert who.structured_content["citizen_id"] == ada
    focus = await client.read_resource(f"substrate://citizens/{ada}/focus")
    assert focus.contents[0].mime_type == "text/plain"
    replayed = await client.read_resource(f"substrate://streams/{woken.structured_content['stream_id']}")
    assert "asked again as of then and known then" in str(replayed.contents[0])


async def faults_are_errors_and_change_nothing(client: Client) -> None:
    ada = f"m{uuid4().hex[:8]}"
    for tool, arguments, said in (
        ("recall", {"citizen_id": ada}, "query: Field required"),
        ("recall", {"citizen_id": ada, "query": "x", "limit": 3}, "limit: Extra inputs are not permitted"),
        ("remember", {"citizen_id": ada, "name": "x", "energy": 7}, "energy"),
        ("remember", {}, "citizen_id: Field required"),
        ("remember", {"citizen_id": "../x", "name": "x"}, "citizen_id"),
        ("correct", {"citizen_id": ada, "id": "none", "text": "x"}, ada),
        ("history", {"citizen_id": ada, "id": "none"}, ada),
    ):
        answer = await client.call_tool(tool, arguments)
        assert answer.is_error, tool
        assert said in text_of(answer)
        assert answer.structured_content["type"].startswith("/problems/")
    with pytest.raises(MCPError, match="there is no tool forget here"):
        await client.call_tool("forget", {})
    with pytest.raises(MCPError, match="no such resource"):
        await client.read_resource("substrate://elsewhere")


async def an_answer_holds_its_tokens(client: Client) -> None:
    ada, count = f"m{uuid4().hex[:8]}", counter()
    long = "The boat lay at the quay and nobody knew whose it was. " * 40
    for n in range(6):
        await client.call_tool("remember", {"citizen_id": ada, "name": f"Boat {n}", "text": f"{n}: {long}"})
    for named, limit in (({}, 1500), *(({"max_tokens": most}, most) for most in (300, 500, 1000, 3000))):
        answer = await client.call_tool("recall", {"citizen_id": ada, "query": "whose boat", **named})
        assert answer.structured_content["memories"]
        assert limit - 100 < count(text_of(answer)) <= limit
        assert limit - 100 < answer.structured_content["tokens"] < count(text_of(answer))
        values = {name: each for name, each in answer.structured_content.items() if each is not None}
        assert count(json.dumps(values, separators=(",", ":"))) <= limit * 1.1


STORIES = [
    tools_and_their_hints,
    a_belief_is_told_and_corrected,
    faults_are_errors_and_change_nothing,
    an_answer_holds_its_tokens,
]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
async def test_a_model_uses_every_tool_over_http(
    service: Service, story: Callable[[Client], Awaitable[None]]
) -> None:
    async with over_http(service) as client:
        await story(client)


async def test_a_model_uses_every_tool_over_standard_streams(tmp_path: Path) -> None:
    async with over_streams(tmp_path / "store") as client:
        for story in STORIES:
            await story(client)


async def test_keys_count_as_they_do_over_rest(service: Service, citizen: str) -> None:
    service.remember(citizen, name="Tea")
    other = service.key(f"citizen:{citizen}x:*")
    async with over_http(service, other) as client:
        for tool, arguments in (
            ("recall", {"query": "tea"}), ("wake", {"energy": 0.5, "emotions": {"joy": 0.5}}), ("identity", {}),
            ("remember", {"name": "x"}), ("correct", {"id": "x", "name": "y"}), ("history", {"id": "x"}),
        ):  # fmt: skip
            hidden, nobody = [
                await client.call_tool(tool, {"citizen_id": whose, **arguments})
                for whose in (citizen, f"n{citizen}")
            ]
            assert (hidden.is_error, hidden.structured_content["type"]) == (True, "/problems/not-found")
            assert text_of(nobody).replace(f"n{citizen}", citizen) == text_of(hidden)
        with pytest.raises(MCPError, match="nothing was remembered"):
            await client.read_resource(f"substrate://citizens/{citizen}/focus")
    reader = service.key(f"citizen:{citizen}:read")
    async with over_http(service, reader) as client:
        assert not (await client.call_tool("recall", {"citizen_id": citizen, "query": "tea"})).is_error
        refused = await client.call_tool("remember", {"citizen_id": citizen, "name": "x"})
        assert refused.structured_content["type"] == "/problems/forbidden"


def test_without_a_key_there_is_nothing(service: Service) -> None:
    with service.client(None) as http:
        assert http.post("/mcp", json={}).status_code == 401


async def test_a_client_behind_another_name_is_answered(service: Service) -> None:
    elsewhere = {"Host": "memory.example.org", "Origin": "https://memory.example.org"}
    headers = {"Authorization": f"Bearer {ADMIN_KEY}", **elsewhere}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(f"{service.url}/mcp", http_client=http)) as client,
    ):
        assert len((await client.list_tools()).tools) == 8


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_without_sessions_there_is_nothing_to_listen_for_or_to_end(service: Service, method: str) -> None:
    answer = service.http.request(method, "/mcp", headers={"Accept": "text/event-stream"})
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    assert answer.json()["type"] == "/problems/method-not-allowed"


async def test_many_ask_at_once(service: Service, citizen: str) -> None:
    service.remember(citizen, name="Tea")
    async with over_http(service) as client:
        asked = [client.call_tool("recall", {"citizen_id": citizen, "query": "tea"}) for _ in range(8)]
        assert not any(answer.is_error for answer in await asyncio.gather(*asked))
