"""The life of `examples/ada`, ingested over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.acceptance.conftest import Service

HOME = Path(__file__).parents[2] / "examples" / "ada"
EXPECTED: dict[str, Any] = json.loads((HOME / "expect.json").read_text("utf-8"))
FILES = ("n1_personal.jsonl", "n2_collective.jsonl", "n3_ecosystem.jsonl")
TIMES = ("valid_at", "effective_at")
ROUTES = {"remember": "/v1/memories", "relate": "/v1/links"}

type Line = dict[str, Any]


def lines(name: str) -> Iterator[Line]:
    """The commands of a file, moved by whole days so that the story ended yesterday."""
    shift = datetime.now(UTC).date() - datetime.fromisoformat(EXPECTED["now"]).date()
    for text in (HOME / name).read_text("utf-8").splitlines():
        line = json.loads(text)
        moved = {at: str(datetime.fromisoformat(line[at]) + shift) for at in TIMES if line.get(at)}
        yield {**line, **moved, **({"citizen_id": "ada"} if line.get("level", "N1") == "N1" else {})}


def take_in(service: Service, name: str) -> None:
    """Apply a file: memories and links in lists, then each revision, in their order, at its memory's address."""
    told: dict[str, list[Line]] = {}
    for line in lines(name):
        told.setdefault("revisions" if line["command"] not in ROUTES else line["command"], []).append(line)
    for kind, route in ROUTES.items():
        answer = service.http.post(route, json=[{**line, "command": kind} for line in told[kind]])
        assert answer.json()["refused"] == 0, answer.text
    for line in told["revisions"]:
        address = f"/v1/memories/{line.pop('level', 'N1')}/{line.pop('id')}/{line.pop('command')}"
        answer = service.http.post(address, json=line)
        assert answer.status_code == 200, (address, answer.text)
