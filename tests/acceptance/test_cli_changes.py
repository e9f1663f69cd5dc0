"""`supersede`, `correct`, `retract`, `resolve`, `relate` and `citizens` on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.test_cli import Command, Said, wordless_commands
from tests.engine_processes import held_engine

__all__ = ["wordless_commands"]
pytestmark = pytest.mark.usefixtures("wordless_commands")
FELT = ("--goal", "g", "--mindstate", "calm", "--emotion", "joy=0.5")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with held_engine(tmp_path_factory.mktemp("changes") / "data") as data:
        yield data


@pytest.fixture
def command(home: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(home, capsys)


def good(said: Said) -> Any:
    """The JSON of a command that succeeded."""
    assert said.code == 0, said.err
    return json.loads(said.out)


def records(command: Command, memory: str, *of: str) -> list[dict[str, Any]]:
    return list(good(command("history", memory, *of, "--json")))


def test_a_memory_is_told_corrected_superseded_resolved_and_retracted(command: Command) -> None:
    of = ("-c", "mira")
    said = ("--goal", "Sail", "--state", "blocked", "--importance", "0.9", "--rule", "Book early.")
    good(command("remember", "Ferry", "--text", "Full.", "--id", "ferry", *of, *said, "--json"))
    [first] = records(command, "ferry", *of)
    assert (first["goal"], first["importance"], first["rule"]) == ("Sail", 0.9, "Book early.")
    taught = ("--reason", "misread the table", "--emotion", "surprise=0.8", "--text", "Half full.")
    assert command("correct", "ferry", *of, *taught).out == "corrected ferry; version 2\n"
    receipt = good(command("supersede", "ferry", *of, "--text", "Empty.", "--expected-version", "2", "--json"))
    assert (receipt["command"], receipt["status"]) == ("supersede", "stored")
    assert command("resolve", "ferry", *of, "--state", "in_progress").out.startswith("in progress ferry")
    assert command("resolve", "ferry", *of).out.startswith("resolved ferry; version")
    now = records(command, "ferry", *of)[-1]
    assert (now["description"], now["resolution_state"]) == ("Empty.", "resolved")
    corrected = next(one for one in records(command, "ferry", *of) if one["description"] == "Half full.")
    assert (corrected["correction_pattern_id"], corrected["discovery_energy"]) == ("misread the table", 0.8)
    assert command("retract", "ferry", *of, "--at", "2100-01-01").code == 0
    assert records(command, "ferry", *of)[-1]["invalid_at"].startswith("2100")
    assert command("retract", "ferry", *of).code == 0
    assert records(command, "ferry", *of)[-1]["closed_reason"] == "discovered_false"


def test_a_link_is_made_and_changed(command: Command) -> None:
    of = ("-c", "tom")
    for name in ("tea", "milk"):
        command("remember", name, "--id", name, *of)
    related = command("relate", "tea", "goes with", "milk", *of, *FELT)
    assert related.out.startswith("stored tea|GOES_WITH|milk in N1, holds since"), related.err
    link = "tea|GOES_WITH|milk"
    assert good(command("correct", link, *of, "--energy", "0.9", "--json"))["command"] == "correct_link"
    good(command("supersede", link, *of, "--goal", "warmth", "--json"))
    good(command("resolve", link, *of, "--json"))
    good(command("retract", link, *of, "--json"))
    assert {one["goal"] for one in records(command, link, *of)} == {"g", "warmth"}
    own = good(command("relate", "milk", "NEXT", "tea", *of, *FELT, "--id", "own", "--json"))
    assert own["id"] == "own"
    assert good(command("resolve", "own", "--link", *of, "--state", "blocked", "--json"))["version"] > 1


def test_the_citizens_are_listed(command: Command) -> None:
    for citizen in ("zoe", "ann"):
        command("remember", "Tea", "-c", citizen)
    command("remember", "Tea for all", "--level", "n2")
    listed = command("citizens").out.split()
    assert listed == sorted(listed)
    assert {"zoe", "ann"} <= set(listed)
    assert "collective_n2" not in listed
    assert good(command("citizens", "--json"))["citizens"] == listed


def test_an_empty_store_has_no_citizens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = Command(tmp_path / "data", capsys)("citizens")
    assert (said.code, said.out) == (0, "")
    assert "nothing was remembered" in said.err


@pytest.mark.parametrize(
    ("words", "code", "fault"),
    [
        (("correct", "none", "-c", "bo", "--text", "x"), 4, "none"),
        (("correct", "m", "-c", "bo"), 2, "nothing changes"),
        (("correct", "m", "-c", "bo", "--emotion", "joy"), 2, "--emotion"),
        (("correct", "m", "-c", "bo", "--energy", "7"), 2, "--energy"),
        (
            ("correct", "m", "-c", "bo", "--text", "x", "--to", "2026-01-01"),
            2,
            "valid_to must lie after valid_from",
        ),
        (("correct", "m", "--text", "x"), 2, "citizen"),
        (("correct", "m", "-c", "bo", "--text", "x", "--expected-version", "7"), 5, "version"),
        (("supersede", "m", "-c", "bo", "--at", "noon", "--text", "x"), 2, "--at"),
        (("correct", "a|B|c", "-c", "bo", "--text", "x"), 2, "--text"),
        (("resolve", "m", "-c", "bo", "--state", "done"), 2, "--state"),
        (("retract", "m", "-c", "bo", "--at", "2026-01-01", "--from", "2026-01-01"), 2, "--from"),
        (("relate", "m", "KNOWS", "none", "-c", "bo", *FELT), 4, "none"),
        (("relate", "m", "!", "m", "-c", "bo", *FELT), 2, "TYPE"),
        (("relate", "m", "KNOWS", "m", "-c", "bo"), 2, "--goal"),
    ],
)
def test_a_fault_names_the_option_and_changes_nothing(
    command: Command, words: tuple[str, ...], code: int, fault: str
) -> None:
    command("remember", "Tea", "--id", "m", "-c", "bo")
    said = command(*words)
    assert (said.code, said.out) == (code, ""), said.err
    assert fault in said.err
    assert len(records(command, "m", "-c", "bo")) == 1
