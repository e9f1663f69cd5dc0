"""The first use of the product, from an empty directory to a revoked key.

Nothing is prepared: the program is started as its users start it, and met through every door that it has.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent
from playwright.async_api import async_playwright, expect

from api.client import AsyncSubstrate
from schemas.errors import Unauthenticated
from tests.browser.conftest import ARGUMENTS, NAMES
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
SUBSTRATE = (sys.executable, "-m", "api.cli")
QUESTION = "Where does the ferry to the lighthouse leave from?"
CHAT = [
    ("ada", "The ferry to the lighthouse leaves from the north quay."),
    ("tom", "Good. I shall bring tea with milk, and the big umbrella."),
    ("ada", "Sunday then. I feel calm about it, for once."),
]


class Afternoon(NamedTuple):
    """Where the memories lie, where the service listens, and what it said when it started."""

    data: Path
    url: str
    announced: str

    def substrate(self, *words: str) -> str:
        """What the command says; it works on the same store while the service runs."""
        program = (*SUBSTRATE, "--data", str(self.data), *words)
        done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def http(self, key: str) -> httpx.Client:
        """REST with a key."""
        return httpx.Client(base_url=self.url, headers={"Authorization": f"Bearer {key}"}, timeout=300)


@contextmanager
def serving(data: Path) -> Iterator[Afternoon]:
    """`substrate serve`, until it is stopped as Ctrl-C stops it."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
    said = data.with_suffix(".log")
    program = (*SUBSTRATE, "--data", str(data), "serve", "--port", port)
    with said.open("w") as output:
        process = subprocess.Popen(program, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{port}"
    wait_until(lambda: answers(url) or process.poll() is not None)
    assert process.poll() is None, said.read_text()
    yield Afternoon(data, url, said.read_text())
    process.send_signal(signal.SIGINT)
    assert process.wait(120) == 0


def answers(url: str) -> bool:
    """Whether every request can be served yet."""
    try:
        return httpx.get(f"{url}/health/ready", timeout=300).status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture
def afternoon(tmp_path: Path) -> Iterator[Afternoon]:
    with serving(tmp_path / "memories") as served:
        yield served


def a_key_for_ada_alone(afternoon: Afternoon) -> str:
    """The first start makes an administrator's key; the stranger makes one that can do less."""
    [place] = re.findall(r"The administrator's key is in (\S+): move it", afternoon.announced)
    first = Path(place).read_text().strip()
    with afternoon.http(first) as http:
        assert http.get("/v1/keys").status_code == 200
    return afternoon.substrate("keys", "create", "afternoon", "--scope", "citizen:ada:*").strip()


def take_in_a_chat(afternoon: Afternoon) -> None:
    """A conversation as most programs keep it, one message a line."""
    chat = afternoon.data.with_suffix(".jsonl")
    lines = [
        json.dumps({"role": role, "content": content, "timestamp": f"2025-03-01T15:0{minute}:00Z"})
        for minute, (role, content) in enumerate(CHAT)
    ]
    chat.write_text("\n".join(lines))
    assert "ada: 3 turns" in afternoon.substrate("ingest", str(chat), "-f", "messages", "-c", "ada")


def ask_over_rest(afternoon: Afternoon, key: str) -> str:
    """The id of the memory that comes first."""
    with afternoon.http(key) as http:
        stream = http.post("/v1/retrieve", json={"citizen_id": "ada", "query_text": QUESTION}).json()
    [first, *_] = stream["activation_tiers"]["focus"]
    assert "north quay" in first["description"]
    assert stream["degraded"] == []
    return str(first["node_id"])


async def ask_over_mcp(afternoon: Afternoon, key: str) -> str:
    """What an agent reads."""
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=300) as http,
        Client(streamable_http_client(f"{afternoon.url}/mcp", http_client=http)) as agent,
    ):
        answer = await agent.call_tool("recall", {"citizen_id": "ada", "query": QUESTION})
        return "".join(part.text for part in answer.content if isinstance(part, TextContent))


async def ask_in_python(memory: AsyncSubstrate, **when: Any) -> str:
    """The text for a prompt."""
    stream = await memory.retrieve(citizen_id="ada", query_text=QUESTION, form="compact", **when)
    return stream.text or ""


async def wake_to_open_work(memory: AsyncSubstrate) -> list[str]:
    """What comes to mind from a feeling, when no question is asked."""
    await memory.remember(
        citizen_id="ada",
        name="Ask the keeper for the lamp room",
        resolution_state="in_progress",
        emotion_vector={"calm": 0.7},
    )
    woken = await memory.wake(citizen_id="ada", current_energy=0.6, current_emotions={"calm": 0.7})
    return [one.name for one in woken.activation_tiers.ordered()]


async def look_at_the_page(afternoon: Afternoon, key: str) -> None:
    """The page asks for the key, then shows the memory; without a browser, that it is there."""
    async with httpx.AsyncClient(base_url=afternoon.url) as http:
        assert "<title>Substrate: look into a mind</title>" in (await http.get("/")).text
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        return
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=browser, args=list(ARGUMENTS))
        page = await running.new_page()
        await page.goto(afternoon.url)
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("textbox").fill(key)
        await dialog.get_by_role("button", name="Use this key").click()
        await page.get_by_label("Citizen").fill("ada")
        await page.get_by_label("Question").fill(QUESTION)
        await page.locator("#ask").get_by_role("button", name="Ask").click()
        await expect(page.locator("body")).to_contain_text("south quay")
        await running.close()


async def test_a_strangers_first_afternoon(afternoon: Afternoon) -> None:
    key = a_key_for_ada_alone(afternoon)
    take_in_a_chat(afternoon)

    belief = ask_over_rest(afternoon, key)
    assert "north quay" in await ask_over_mcp(afternoon, key)
    async with AsyncSubstrate(afternoon.url, key) as memory:
        assert "north quay" in await ask_in_python(memory)
        assert (await wake_to_open_work(memory))[0] == "Ask the keeper for the lamp room"

        before = datetime.now(UTC)
        text = "The ferry to the lighthouse leaves from the south quay."
        corrected = await memory.correct(citizen_id="ada", id=belief, description=text)
        assert corrected.status == "stored"
        assert "south quay" in await ask_in_python(memory)
        assert "north quay" not in await ask_in_python(memory)
        assert "north quay" in await ask_in_python(memory, temporal_mode="point_in_time", as_of_time=before)

        await look_at_the_page(afternoon, key)

        key_id = key.split("-")[1]
        assert "is revoked" in afternoon.substrate("keys", "revoke", key_id)
        with pytest.raises(Unauthenticated):
            await refused(memory)


async def refused(memory: AsyncSubstrate) -> None:
    """A running service knows within a second that a key was revoked."""
    give_up = datetime.now(UTC).timestamp() + 5
    while datetime.now(UTC).timestamp() < give_up:
        await memory.state("ada")
