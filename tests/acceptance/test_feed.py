"""The feed over REST, as events, with the client and on the command line; keys see their own graphs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.client import AsyncSubstrate
from tests.acceptance.conftest import ADMIN_KEY, Service
from tests.acceptance.test_cli import Command, wordless_commands

__all__ = ["wordless_commands"]


def events(lines: Iterator[str], most: int) -> list[dict[str, Any]]:
    """The first events of a stream that have data, each with its id."""
    found: list[dict[str, Any]] = []
    event: dict[str, str] = {}
    while len(found) < most:
        line = next(lines)
        if line:
            name, _, value = line.partition(": ")
            event[name] = value
        else:
            found += [{**event, "data": json.loads(event["data"])}] if "data" in event else []
            event = {}
    return found


def test_a_stream_begins_after_the_last_event(service: Service, citizen: str) -> None:
    for name in ("a", "b"):
        service.remember(citizen, id=name, name=name, description=f"{name} is there")
    page = service.http.get("/v1/changes", params={"citizen_id": citizen}).json()
    assert [change["id"] for change in page["changes"]] == ["a", "b"]
    with service.http.stream("GET", "/v1/changes/stream", params={"citizen_id": citizen}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        first = events(lines, 2)
        assert [(one["event"], one["data"]["id"]) for one in first] == [("change", "a"), ("change", "b")]
        service.remember(citizen, id="c", name="c", description="c is there")
        assert events(lines, 1)[0]["data"]["id"] == "c"
    headers = {"Last-Event-ID": first[0]["id"]}
    params = {"citizen_id": citizen}
    with service.http.stream("GET", "/v1/changes/stream", params=params, headers=headers) as answer:
        assert [one["data"]["id"] for one in events(answer.iter_lines(), 2)] == ["b", "c"]


@pytest.mark.parametrize("path", ["/v1/changes", "/v1/changes/stream"])
def test_bad_cursors_and_unknown_graphs_are_refused(service: Service, citizen: str, path: str) -> None:
    service.remember(citizen, id="a", name="a", description="a is there")
    for after, status in (("forged", 400), ("A" * 9000, 400)):
        answer = service.http.get(path, params={"citizen_id": citizen, "after": after})
        assert answer.status_code in (status, 422), answer.text
    assert service.http.get(path, params={"citizen_id": f"{citizen}none"}).status_code == 404
    other = service.http.get("/v1/changes", params={"citizen_id": citizen}).json()["next"]
    service.remember(f"{citizen}2", id="a", name="a", description="a is there")
    answer = service.http.get(path, params={"citizen_id": f"{citizen}2", "after": other})
    assert answer.status_code == 409


def test_a_hundred_who_never_read_stop_nobody(service: Service, citizen: str) -> None:
    for number in range(5):
        service.remember(citizen, id=f"m{number}", name="n", description=f"number {number}")

    async def hold() -> int:
        async with httpx.AsyncClient(base_url=service.url, headers=service.http.headers, timeout=30) as http:
            requests = [
                http.build_request("GET", "/v1/changes/stream", params={"citizen_id": citizen}) for _ in range(90)
            ]
            held = await asyncio.gather(*(http.send(request, stream=True) for request in requests))
            seen = await http.get("/v1/changes", params={"citizen_id": citizen})
            for answer in held:
                await answer.aclose()
            return len(seen.json()["changes"])

    assert asyncio.run(hold()) == 5


def test_the_client_watches(service: Service, citizen: str) -> None:
    service.remember(citizen, id="a", name="a", description="a is there")

    async def watch() -> list[str]:
        found: list[str] = []
        async with AsyncSubstrate(service.url, ADMIN_KEY) as client:
            async for page in client.watch(citizen):
                found += [str(change.id) for change in page.changes]
                if len(found) == 2:
                    return found
                await client.remember(citizen_id=citizen, id="b", name="b", description="b is there")
        return found

    assert asyncio.run(watch()) == ["a", "b"]


@pytest.mark.usefixtures("wordless_commands")
def test_the_command_prints_what_there_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = Command(tmp_path / "data", capsys)
    assert command("remember", "The boat is blue.", "--id", "boat", "-c", "ada").code == 0
    told = command("watch", "-c", "ada", "--after", "start", "--once")
    assert told.code == 0
    assert "remember" in told.out
    assert "Memory, citizen" in told.out
    lines = command("watch", "-c", "ada", "--after", "start", "--once", "--json").out.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["boat"]


def test_keys_follow_their_own_graphs(service: Service, citizen: str) -> None:
    service.remember(citizen, id="a", name="a", description="a is there")
    for path in ("/v1/changes", "/v1/changes/stream"):
        with service.client(service.key("citizen:other:*")) as http:
            assert http.get(path, params={"citizen_id": citizen}).status_code == 404
        with service.client(service.key(f"citizen:{citizen}:read")) as http:
            assert http.get(path, params={"level": "N2"}).status_code == 403
    with service.client(service.key(f"citizen:{citizen}:read")) as http:
        assert http.get("/v1/changes", params={"citizen_id": citizen}).status_code == 200
