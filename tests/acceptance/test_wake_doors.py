"""Waking with nothing but the citizen gives the same on every door, from a kept and from a derived state."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from api.client import Substrate
from schemas.intention import QueryMode
from tests.acceptance.conftest import ADMIN_KEY, Service
from tests.acceptance.test_cli import Command
from tests.acceptance.test_mcp import over_http, text_of

FRUSTRATED = {"frustration": 0.8}


def shown(stream: dict[str, Any]) -> list[str]:
    """The ids of the memories of a stream, most active first."""
    return [memory["node_id"] for tier in stream["activation_tiers"].values() for memory in tier]


async def woken_by_the_tools(service: Service, citizen: str, mode: QueryMode) -> list[str]:
    async with over_http(service) as tools:
        told = await tools.call_tool("wake", {"citizen_id": citizen, "mode": mode, "max_tokens": 100_000})
        assert not told.is_error, text_of(told)
        return [memory["id"] for memory in told.structured_content["memories"]]


def woken_on_every_door(
    service: Service, captured: pytest.CaptureFixture[str], citizen: str, mode: QueryMode
) -> list[list[str]]:
    """What wakes over REST, in Python, by the tools and on the command line."""
    rest = service.http.post("/v1/wake", json={"citizen_id": citizen, "mode": mode})
    assert rest.status_code == 200, rest.text
    with Substrate(service.url, ADMIN_KEY) as client:
        python = client.wake(citizen_id=citizen, mode=mode)
    said = Command(service.data, captured)("wake", "-c", citizen, "--mode", mode, "--json")
    assert said.code == 0, said.err
    return [
        shown(rest.json()),
        [memory.node_id for memory in python.activation_tiers.ordered()],
        asyncio.run(woken_by_the_tools(service, citizen, mode)),
        shown(json.loads(said.out)),
    ]


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "derived"])
@pytest.mark.parametrize("mode", [QueryMode.RELATED_UNRESOLVED, QueryMode.SIMILAR_STATE])
def test_a_citizen_wakes_the_same_on_every_door(
    wordless: Service,
    citizen: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    kept: bool,
    mode: QueryMode,
) -> None:
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    said = {"goal": "Book the ferry", "resolution_state": "blocked", "emotion_vector": FRUSTRATED, "energy": 0.9}
    wordless.remember(citizen, id="ferry", name="Ferry", text="The booking does not go through.", **said)
    wordless.remember(citizen, id="cake", name="Cake", text="There was cake at four.")
    if kept:
        state = {"emotions": FRUSTRATED, "energy": 0.9, "goal": "Book the ferry"}
        assert wordless.http.put(f"/v1/citizens/{citizen}/state", json=state).status_code == 200
    doors = woken_on_every_door(wordless, capsys, citizen, mode)
    assert doors[0][0] == "ferry"
    assert doors == [doors[0]] * 4
