"""The tools beside the usual eight, what a correction teaches, and what a memory may be told with."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from tests.acceptance.conftest import Service
from tests.acceptance.test_cli import Command
from tests.acceptance.test_mcp import ROOT, over_http, text_of
from tests.acceptance.test_mcp_descriptions import stored_lines, told

USUAL = {"recall", "wake", "remember", "correct", "history", "identity", "hear", "resolve"}
EXTRAS = {
    "check_rules", "situation", "set_state", "feedback", "relate", "retract", "undo",
    "write_context", "imagine", "share", "contest",
}  # fmt: skip


class EveryTool(Service):
    """A service whose `/mcp` offers every tool."""

    before = 'import os; os.environ["SUBSTRATE_MCP_TOOLS"] = "all"\n'


def program(directory: Path, *options: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "api.cli", "--data", str(directory), "mcp", "--citizen", "ada", *options],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "SUBSTRATE_EMBEDDING": "none"},
    )


async def called(client: Client, tool: str, **arguments: Any) -> Any:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, text_of(answer)
    return answer


def stored(service: Service, citizen: str, memory: str) -> dict[str, Any]:
    return dict(service.http.get(f"/v1/memories/N1/{memory}", params={"citizen_id": citizen}).json())


async def test_a_memory_is_told_with_goal_state_importance_and_rule(service: Service, citizen: str) -> None:
    said = {
        "name": "Ferry", "text": "The booking does not go through.", "emotions": {"frustration": 0.7},
        "goal": "Book the ferry", "resolution_state": "blocked", "importance": 0.9, "rule": "Book by phone.",
    }  # fmt: skip
    async with over_http(service) as client:
        ferry = await told(client, citizen, **said)
        memory = stored(service, citizen, ferry)
        for field in ("goal", "resolution_state", "importance", "rule"):
            assert memory[field] == said[field]
        assert set(memory["unset"]) >= {"energy", "confidence"}
        woken = await called(client, "wake", citizen_id=citizen, emotions={"frustration": 0.7}, energy=0.5)
        assert woken.structured_content["memories"][0]["id"] == ferry


@pytest.mark.parametrize("changed", [False, True])
async def test_a_learning_moment_shows_the_reason_and_the_feeling_of_a_correction(
    service: Service, citizen: str, changed: bool
) -> None:
    async with over_http(service) as client:
        for number in range(2):
            tea = await told(client, citizen, name=f"Tea {number}", text="Tom takes it black.")
            taught = {"reason": "Tom told me", "emotions": {"surprise": 0.8, "shame": 0.2}, "changed": changed}
            await called(client, "correct", citizen_id=citizen, id=tea, text="With milk.", **taught)
        other = await told(client, citizen, name="Sugar", text="None.")
        odd = {"reason": "line\nbreaks | and bars " * 30, "energy": 0.3, "emotions": {"joy": 0.9}}
        await called(client, "correct", citizen_id=citizen, id=other, text="Two.", **odd)
    learned = service.http.get(f"/v1/citizens/{citizen}/dissonances").json()
    first, second, third = learned["dissonances"]
    for moment in (first, second):
        assert moment["correction_trigger"] == "Corrected by Tom told me"
        assert moment["discovery_energy"] == 0.8
        assert moment["discovery_emotions"] == {"surprise": 0.8, "shame": 0.2}
    assert learned["recurring"][0]["count"] == (1 if changed else 2)
    assert (third["discovery_energy"], third["correction_trigger"][:25]) == (0.3, "Corrected by line breaks ")


async def test_a_server_offers_the_usual_tools_and_names_the_others(tmp_path: Path) -> None:
    async with Client(stdio_client(program(tmp_path))) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == USUAL
        with pytest.raises(MCPError, match=r"there is no tool undo here; .*--tools"):
            await client.call_tool("undo", {"id": "x"})


async def test_a_server_offers_the_tools_that_are_chosen(tmp_path: Path) -> None:
    async with Client(stdio_client(program(tmp_path, "--tools", "relate, undo"))) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == USUAL | {"relate", "undo"}


def test_a_tool_that_there_is_not_cannot_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = Command(tmp_path, capsys)("mcp", "--tools", "undo,forget")
    assert (said.code, said.out) == (2, "")
    assert "there is no tool forget. There are" in said.err


async def test_every_tool_can_be_offered_and_works(tmp_path: Path) -> None:
    async with Client(stdio_client(program(tmp_path, "--tools", "all"))) as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == USUAL | EXTRAS
        assert len(json.dumps([tool.model_dump(exclude_none=True) for tool in tools])) < 34_000
        for tool in tools:
            for name, parameter in tool.input_schema["properties"].items():
                assert len(parameter.get("description", "")) > 10, (tool.name, name)
        felt = {"emotions": {"joy": 0.5}, "goal": "g", "mindstate": "calm", "energy": 0.5, "confidence": 0.5}
        ids = []
        for name in ("Ferry", "Booking"):
            ids.append((await called(client, "remember", name=name)).structured_content["id"])
        ends = {"source_id": ids[0], "target_id": ids[1], "relation": "NEEDS"}
        assert "related" in text_of(await called(client, "relate", **ends, **felt))
        assert text_of(await called(client, "resolve", id=ids[0], resolution_state="blocked")).startswith(
            "blocked"
        )
        no_change = [{"earlier": ids[0], "later": ids[1]}]
        told = (await called(client, "feedback", not_changed=no_change)).structured_content
        assert (told["not_changed"], told["used"]) == (no_change, [])
        await called(client, "resolve", id=ids[0])
        await called(client, "undo", id=ids[0])
        await called(client, "retract", id=ids[1])
        changed = await called(client, "retract", id=ids[0], until="2100-01-01T00:00:00Z")
        assert changed.structured_content["version"] > 1
        state = await called(client, "set_state", energy=0.9, emotions={"joy": 0.5}, goal="Sail </memories>")
        assert stored_lines(text_of(state)) == ["energy 0.9; joy 0.5; goal: Sail ‹/memories>"]
        begun = await called(client, "situation", stimuli=["Felix asks"])
        assert "- Felix asks" in stored_lines(text_of(begun))
        assert (await called(client, "identity")).structured_content["goal"] == "Sail </memories>"
        for name in sorted(EXTRAS):
            refused = await client.call_tool(name, {"citizen_id": "bo"})
            assert refused.is_error, name


async def test_the_other_tools_need_the_same_rights_as_over_rest(tmp_path: Path) -> None:
    service = EveryTool(tmp_path / "store", "none")
    try:
        service.remember("ada", id="m", name="Tea")
        async with over_http(service, service.key("citizen:ada:read")) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == USUAL | EXTRAS
            felt = {"emotions": {}, "goal": "g", "mindstate": "m", "energy": 0.5, "confidence": 0.5}
            ends = {"source_id": "m", "target_id": "m", "relation_type": "R"}
            of = {"id": "m"}
            for tool, arguments in (
                ("resolve", of), ("retract", of), ("undo", of), ("set_state", {"energy": 1.0}),
                ("relate", {**ends, **felt}), ("feedback", {"query": "Tea?", "used": ["m"]}),
            ):  # fmt: skip
                refused = await client.call_tool(tool, arguments)
                assert refused.structured_content["type"] == "/problems/forbidden", tool
        async with over_http(service, service.key("citizen:ada:*")) as client:
            quoted = await client.call_tool("resolve", {"id": "m", "quoted": True})
            assert quoted.structured_content["type"] == "/problems/not-trusted"
    finally:
        service.stop()


async def test_a_message_is_heard_in_a_shared_graph_once_by_its_author(tmp_path: Path) -> None:
    said = {"conversation": "launch", "speaker": "Kai", "text": "The pump is in.", "collective": "atlas"}
    async with Client(stdio_client(program(tmp_path / "data", "--tools", "hear"))) as client:
        assert (await called(client, "hear", **said, message_id="m1")).structured_content["status"] == "stored"
        assert (await called(client, "hear", **said, message_id="m1")).structured_content["status"] == "duplicate"
        refused = await client.call_tool("hear", {**said, "level": "N3"})
        assert refused.is_error
        assert "a collective is on level N2" in text_of(refused)


async def test_what_an_agent_stored_is_resolved_with_the_usual_tools(service: Service, citizen: str) -> None:
    async with over_http(service) as client:
        valve = await told(client, citizen, name="Valve", text="The valve leaks.", resolution_state="blocked")
        done = await client.call_tool("resolve", {"citizen_id": citizen, "memory_id": valve})
        assert not done.is_error, text_of(done)
        said = {"citizen_id": citizen, "episode_id": "talk", "role": "user", "content": "Hi, the valve is dry."}
        heard = await client.call_tool("hear", {**said, "id": "m1", "timestamp": "2025-07-20T14:30:00Z"})
        assert heard.structured_content["status"] == "stored"
        story = await client.call_tool("history", {"citizen_id": citizen, "node_id": valve})
        assert len(story.structured_content["records"]) > 1


async def test_prompts_bring_what_is_remembered_and_say_what_to_do(service: Service, citizen: str) -> None:
    async with over_http(service) as client:
        await told(client, citizen, name="Valve", text="The valve leaks </memories>.", resolution_state="blocked")
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["start", "ask", "keep"]
        asked = {"citizen_id": citizen, "query": "What leaks?"}
        for name, arguments in (("start", {"citizen_id": citizen}), ("ask", asked), ("keep", {})):
            [message] = (await client.get_prompt(name, arguments)).messages
            said = message.content.model_dump()["text"]
            assert ("The valve leaks" in said) == (name != "keep")
            assert said.count("</memories>") == (name != "keep")
        for name, wrong in (("none", {}), ("ask", {"citizen_id": citizen}), ("start", {"citizen_id": "no such!"})):
            with pytest.raises(MCPError):
                await client.get_prompt(name, wrong)
