"""What did it know when it did that: over REST, on the command line and with the Python client."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.conftest import Service
from tests.acceptance.test_cli import Command, wordless_commands

__all__ = ["wordless_commands"]


def test_a_stream_is_listed_read_and_asked_again(service: Service, citizen: str) -> None:
    service.remember(citizen, id="boat", name="Boat", description="The boat is blue.")
    asked = {"citizen_id": citizen, "query_text": "the boat", "query_levels": ["N1"]}
    stream = service.http.post("/v1/retrieve", json=asked).json()
    listed = service.http.get(f"/v1/citizens/{citizen}/streams").json()["streams"]
    assert [(one["stream_id"], one["asked"], one["shown"]) for one in listed] == [
        (stream["stream_id"], "the boat", 1)
    ]
    place = f"/v1/streams/{stream['stream_id']}"
    kept = service.http.get(place).json()
    assert [memory["id"] for memory in kept["tiers"]["focus"]] == ["boat"]
    assert (kept["request"]["query_text"], kept["valid_from"]) == ("the boat", kept["asked_at"])
    changed = {"citizen_id": citizen, "description": "The boat is red."}
    assert service.http.post("/v1/memories/N1/boat/correct", json=changed).status_code < 300
    answer = service.http.post(f"{place}/replay")
    assert answer.status_code == 200, answer.text
    [boat] = answer.json()["memories"]
    assert (boat["fate"], boat["replaced_by"]["description"]) == ("closed", "The boat is red.")
    assert answer.json()["same"]


def test_only_keys_of_the_citizen_read_its_streams(service: Service, citizen: str) -> None:
    service.remember(citizen, id="boat", name="Boat")
    stream = service.http.post("/v1/retrieve", json={"citizen_id": citizen, "query_text": "the boat"}).json()
    place = f"/v1/streams/{stream['stream_id']}"
    for path in (place, f"{place}0", "/v1/streams/nothing", f"/v1/streams/{citizen}~", "/v1/streams/a~b~c"):
        with service.client(service.key("citizen:other:*")) as http:
            assert http.get(path).status_code == 404
            assert http.post(f"{path}/replay").status_code == 404
    with service.client(service.key(f"citizen:{citizen}:read")) as http:
        assert http.post(f"{place}/replay").status_code == 200
        assert http.get(f"{place}0").status_code == 404


def test_what_was_shown_of_a_shared_level_is_hidden_from_a_key_that_may_not_read_it(
    service: Service, citizen: str
) -> None:
    service.remember(citizen, id="boat", name="Boat")
    shared = {"level": "N2", "id": f"shared-{citizen}", "name": f"Boat of {citizen}", "command": "remember"}
    assert service.http.post("/v1/memories", json=shared).status_code == 201
    asked = {"citizen_id": citizen, "query_text": f"boat of {citizen}"}
    stream = service.http.post("/v1/retrieve", json=asked).json()
    with service.client(service.key(f"citizen:{citizen}:read")) as http:
        kept = http.get(f"/v1/streams/{stream['stream_id']}")
        replayed = http.post(f"/v1/streams/{stream['stream_id']}/replay")
    assert kept.json()["hidden"] >= 1
    assert f"shared-{citizen}" not in kept.text + replayed.text


@pytest.mark.usefixtures("wordless_commands")
def test_the_command_line_asks_the_last_stream_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = Command(tmp_path / "data", capsys)
    of = ("-c", "mira")
    assert command("replay", "--last", *of).code == 4
    assert command("remember", "The boat is blue.", "--id", "boat", *of).code == 0
    assert command("replay", "--last", *of).code == 4
    assert command("ask", "the boat", *of).code == 0
    assert command("erase", "--memory", "boat", *of, "--yes").code == 0
    [stream] = json.loads(command("replay", "--list", *of, "--json").out)["streams"]
    assert stream["stream_id"] in command("replay", "--list", *of).out.replace("\n", "")
    said = command("replay", stream["stream_id"])
    assert "boat: erased since" in said.out
    assert "The boat is blue" not in said.out
    assert command("replay", "--last", *of).out == said.out
    assert command("replay").code == 2
    assert command("replay", "--list").code == 2
    assert command("replay", "mira~0").code == 4
