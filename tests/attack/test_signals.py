"""A signal in the middle of a write: what was answered is there, what was not is there whole or not at all."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import httpx
import pytest

from api.client import Substrate
from tests.attack.processes import Spoken, command, ended, left_alone, program
from tests.loopback import free_port
from tests.waiting import becomes

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)
MANY: Final = 50
PAIRS: Final = """
import itertools, sys
from api.client import Substrate
memory = Substrate.embedded(sys.argv[1], embedding="none")
for number in itertools.count():
    one, other = f"{sys.argv[2]}-{number}-one", f"{sys.argv[2]}-{number}-other"
    felt = {"energy": 0.5, "confidence": 0.5, "emotion_vector": {"joy": 0.5}, "goal": "g", "mindstate": "m"}
    link = {"command": "relate", "source_id": one, "target_id": other, "relation_type": "ABOUT", **felt}
    ends = [{"command": "remember", "id": id, "name": id, "description": "whole"} for id in (one, other)]
    memory.apply([{"citizen_id": "ada", **said} for said in (*ends, link)], atomic=True)
    print(one, flush=True)
"""
"""Writes pairs of memories and the link between them, each as one list, and says which it knows to be stored."""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    place = Path(tempfile.mkdtemp(prefix="signals-test-"))
    yield place
    assert left_alone(place)
    shutil.rmtree(place, ignore_errors=True)


def all_pages(ask: Callable[..., Any], noun: str) -> list[Any]:
    """All memories or links of Ada."""
    found, cursor = [], None
    while True:
        page = ask(citizen_id="ada", level="N1", limit=500, **({} if cursor is None else {"cursor": cursor}))
        found += getattr(page, noun)
        cursor = page.next
        if cursor is None:
            return found


def ids_stored(memory: Substrate) -> set[str]:
    """The ids of all memories of Ada, each of which is whole."""
    found = all_pages(memory.list_memories, "memories")
    assert {one.description for one in found} == {"whole"}
    return {one.node_id for one in found}


def test_each_list_of_a_program_that_is_ended_while_it_writes_is_stored_whole_or_not_at_all(
    home: Path, running: list[subprocess.Popen[str]]
) -> None:
    told: set[str] = set()
    for number, sign in enumerate(SIGNALS):
        running.append(program(PAIRS, home / "data", sign.name))
        said = running[-1].stdout
        assert said is not None
        told |= {said.readline().strip() for _ in range(5 + 7 * number)}
        running[-1].send_signal(sign)
        assert ended(running[-1])[0] != 0
        told |= set(said.read().split())
    with Substrate.embedded(home / "data", embedding="none") as memory:
        found = ids_stored(memory)
        links = {(link.source_id, link.target_id) for link in all_pages(memory.list_links, "links")}
    ones = {one for one in found if one.endswith("-one")}
    assert told <= ones
    assert len(ones - told) <= len(SIGNALS)
    assert found == ones | {one.replace("-one", "-other") for one in ones}
    assert links == {(one, one.replace("-one", "-other")) for one in ones}


def test_a_server_of_the_protocol_that_is_ended_while_it_writes_loses_nothing_that_it_answered(
    home: Path, running: list[subprocess.Popen[str]]
) -> None:
    running.append(command(home / "data", "mcp"))
    spoken = Spoken(running[0])
    spoken.greet()
    for number in range(MANY):
        said = {"citizen_id": "ada", "name": f"late {number}", "text": "whole"}
        spoken.ask("tools/call", {"name": "remember", "arguments": said})
    told = {id_of(spoken.heard())}
    running[0].terminate()
    told |= {
        id_of(message) for message in iter(spoken.heard, None) if "structuredContent" in message.get("result", ())
    }
    assert ended(running[0])[0] == 130
    with Substrate.embedded(home / "data", embedding="none") as memory:
        found = ids_stored(memory)
    assert told <= found
    assert len(found) <= MANY


def id_of(message: dict[str, Any] | None) -> str:
    """What was stored, by the answer to `remember`."""
    assert message is not None
    return str(message["result"]["structuredContent"]["id"])


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_a_service_that_is_ended_while_it_is_written_to_loses_nothing_that_it_answered(
    home: Path, running: list[subprocess.Popen[str]], sign: signal.Signals
) -> None:
    port = free_port()
    running.append(command(home / "data", "serve", "--open", "--port", str(port)))
    url = f"http://127.0.0.1:{port}"
    assert becomes(lambda: is_ready(url))
    told: set[str] = set()
    begun = threading.Semaphore(0)

    def write() -> None:
        with suppress(httpx.TransportError), httpx.Client(base_url=url, timeout=120) as http:
            for number in range(MANY):
                fields = {"citizen_id": "ada", "name": f"{uuid4()} {number}", "description": "whole"}
                answer = http.post("/v1/memories", json=fields)
                if answer.status_code == 201:
                    told.add(answer.json()["id"])
                begun.release()

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    for _ in range(10):
        begun.acquire()
    running[0].send_signal(sign)
    for writer in writers:
        writer.join()
    ended(running[0])
    with Substrate.embedded(home / "data", embedding="none") as memory:
        found = ids_stored(memory)
    assert told
    assert told <= found
    assert len(found - told) <= len(writers)


def is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health/ready", timeout=120).status_code == 200
    except httpx.TransportError:
        return False
