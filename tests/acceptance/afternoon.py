"""The doors of a service, and the chat of sixty messages that a citizen has one afternoon."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest

from api.cli import program
from api.client import Substrate
from benchmarks.life import Life, Message, Waking
from tests.acceptance.conftest import ADMIN_KEY, Service
from tests.acceptance.test_mcp import over_http, text_of
from tests.acceptance.test_mcp_tools import EveryTool

NOOR = Life.model_validate_json((Path(__file__).parent / "data" / "afternoon.json").read_text("utf-8"))
CHAT = "afternoon"
CLOSES = "RESOLVED_BY"


class Who(NamedTuple):
    """Whom an identity names: the citizen, what it does, its people."""

    name: str | None
    role: str | None
    people: tuple[str, ...]


class Door(Protocol):
    """A way to the memory, with a citizen of its own behind it."""

    citizen: str

    def hear(self, messages: Sequence[Message]) -> list[str]:
        """Say these messages; what became of each."""

    def wake(self, probe: Waking) -> list[str]:
        """The ids of the memories that come to mind at the moment of the probe, as known now."""

    def who(self) -> Who:
        """Who the citizen is."""


def wire(message: Message) -> dict[str, str]:
    said = {"id": message.id, "role": message.role, "content": message.text}
    return {**said, "timestamp": message.time.isoformat()}


def given(probe: Waking) -> dict[str, Any]:
    """The fields that the probe has, and when it is asked."""
    state = {"goal": probe.goal, "emotions": probe.emotions, "energy": probe.energy}
    asked = {"mode": probe.mode.value, "as_of_time": probe.at.isoformat()}
    return asked | {name: value for name, value in state.items() if value is not None}


def said_in(memories: Sequence[str]) -> list[str]:
    """The ids of the messages that stand in these turns of the chat; the turn D1:7 is the seventh message."""
    return [NOOR.messages[int(memory.rpartition(":")[2]) - 1].id for memory in memories]


def known_now() -> str:
    return datetime.now(UTC).isoformat()


def shown(stream: Mapping[str, Any]) -> list[str]:
    return [memory["node_id"] for tier in stream["activation_tiers"].values() for memory in tier]


def who_is(identity: Mapping[str, Any]) -> Who:
    name, role = (identity[field] and identity[field]["value"] for field in ("name", "role"))
    return Who(name, role, tuple(person["name"] for person in identity["people"]))


class Rest:
    citizen = "noor-rest"

    def __init__(self, service: Service) -> None:
        self.http = service.http

    def hear(self, messages: Sequence[Message]) -> list[str]:
        became = []
        for message in messages:
            body = {"citizen_id": self.citizen, "messages": [wire(message)]}
            answer = self.http.post(f"/v1/episodes/{CHAT}/turns", json=body)
            assert answer.status_code == 200, answer.text
            became += [one["status"] for one in answer.json()["messages"]]
        return became

    def wake(self, probe: Waking) -> list[str]:
        body = {"citizen_id": self.citizen, "known_at": known_now(), **given(probe)}
        answer = self.http.post("/v1/wake", json=body)
        assert answer.status_code == 200, answer.text
        return shown(answer.json())

    def who(self) -> Who:
        return who_is(self.http.get(f"/v1/citizens/{self.citizen}/identity").json())


class Python:
    citizen = "noor-python"

    def __init__(self, service: Service) -> None:
        self.url = service.url

    def hear(self, messages: Sequence[Message]) -> list[str]:
        became: list[str] = []
        with Substrate(self.url, ADMIN_KEY) as memory:
            for said in messages:
                report = memory.hear(
                    CHAT, said.role, said.text, citizen_id=self.citizen, id=said.id, timestamp=said.time
                )
                became += [one.status for one in report.messages]
        return became

    def wake(self, probe: Waking) -> list[str]:
        with Substrate(self.url, ADMIN_KEY) as memory:
            stream = memory.wake(citizen_id=self.citizen, known_at=known_now(), **given(probe))
        return [node.node_id for node in stream.activation_tiers.ordered()]

    def who(self) -> Who:
        with Substrate(self.url, ADMIN_KEY) as memory:
            return who_is(memory.identity(citizen_id=self.citizen).model_dump())


class Mcp:
    citizen = "noor-mcp"

    def __init__(self, service: Service) -> None:
        self.service = service

    async def _call(self, tool: str, *arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The answers of a tool, called once with each of the arguments over one connection."""
        answers = []
        async with over_http(self.service) as tools:
            for each in arguments:
                told = await tools.call_tool(tool, {"citizen_id": self.citizen, **each})
                assert not told.is_error, text_of(told)
                answers.append(told.structured_content)
        return answers

    def hear(self, messages: Sequence[Message]) -> list[str]:
        said = [
            {"conversation": CHAT, "speaker": one.role, "text": one.text,
             "time": one.time.isoformat(), "message_id": one.id}
            for one in messages
        ]  # fmt: skip
        return [answer["status"] for answer in asyncio.run(self._call("hear", *said))]

    def wake(self, probe: Waking) -> list[str]:
        [answer] = asyncio.run(self._call("wake", {**given(probe), "max_tokens": 100_000}))
        return [memory["id"] for memory in answer["memories"]]

    def who(self) -> Who:
        [answer] = asyncio.run(self._call("identity", {}))
        return Who(answer.get("name"), answer.get("role"), tuple(person["name"] for person in answer["people"]))


class CommandLine:
    """The command reads the chat from its standard input: one start for all messages."""

    citizen = "noor-cli"

    def __init__(self, service: Service) -> None:
        self.data = service.data

    def _run(self, *words: str) -> dict[str, Any]:
        said = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
        with redirect_stdout(said), pytest.raises(SystemExit) as end:
            program.main(["--data", str(self.data), *words, "-c", self.citizen, "--json"])
        said.seek(0)
        assert end.value.code == 0
        return dict(json.load(said))

    def hear(self, messages: Sequence[Message]) -> list[str]:
        with pytest.MonkeyPatch.context() as streams:
            streams.setattr(sys, "stdin", io.StringIO("\n".join(json.dumps(wire(one)) for one in messages)))
            return [one["status"] for one in self._run("hear", CHAT)["messages"]]

    def wake(self, probe: Waking) -> list[str]:
        felt = [word for name, much in (probe.emotions or {}).items() for word in ("--emotion", f"{name}={much}")]
        goal = [] if probe.goal is None else ["--goal", probe.goal]
        energy = [] if probe.energy is None else ["--energy", str(probe.energy)]
        asked = ["--mode", probe.mode.value, "--as-of", probe.at.isoformat(), "--known-at", known_now()]
        return shown(self._run("wake", *asked, *felt, *goal, *energy))

    def who(self) -> Who:
        return who_is(self._run("identity"))


class Told(NamedTuple):
    """What came back through one door."""

    first: list[str]
    again: list[str]
    woken: list[list[str]]
    who: Who
    memories: dict[str, dict[str, Any]]
    resolved_by: set[tuple[str, str]]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    running = EveryTool(tmp_path_factory.mktemp("house"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def doors(house: Service) -> dict[str, Told]:
    """The chat goes in through each door, then once more; then the citizen wakes by every probe."""
    ways: list[Door] = [Rest(house), Python(house), Mcp(house), CommandLine(house)]
    return {type(door).__name__: lived(door, house) for door in ways}


@pytest.fixture(scope="module")
def told(doors: Mapping[str, Told]) -> Told:
    """What came back through the first door; the others give the same."""
    return doors["Rest"]


def lived(door: Door, house: Service) -> Told:
    first, again = door.hear(NOOR.messages), door.hear(NOOR.messages)
    woken = [said_in(door.wake(probe)) for probe in NOOR.wakings]
    asked: dict[str, str | int] = {"citizen_id": door.citizen, "limit": 500}
    memories = house.http.get("/v1/memories", params=asked).json()["memories"]
    links = house.http.get("/v1/links", params=asked).json()["links"]
    ends = [said_in((link["source_id"], link["target_id"])) for link in links if link["relation_type"] == CLOSES]
    turns = {said_in([memory["node_id"]])[0]: memory for memory in memories if memory["node_type"] == "Turn"}
    return Told(first, again, woken, door.who(), turns, {(source, target) for source, target in ends})
