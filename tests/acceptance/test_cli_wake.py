"""`wake`, `validate` and `ask --compact` as their users meet them, on a small store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.test_cli import Command, run
from tests.engine_processes import held_engine

LIFE: list[dict[str, Any]] = [
    {
        "command": "remember",
        "id": "leak",
        "name": "The boat leaks",
        "description": "Water below the mast.",
        "resolution_state": "blocked",
        "goal": "sail",
        "emotion_vector": {"tension": 0.8},
    },
    {
        "command": "remember",
        "id": "hull",
        "name": "The old hull",
        "description": "It leaked as well.",
        "resolution_state": "resolved",
        "goal": "sail",
        "emotion_vector": {"tension": 0.7, "relief": 0.3},
        "discovery_energy": 0.9,
    },
    {"command": "remember", "id": "tar", "name": "Tarred the hull", "node_type": "Action"},
    {
        "command": "relate",
        "source_id": "hull",
        "target_id": "tar",
        "relation_type": "RESOLVED_BY",
        "energy": 0.7,
        "confidence": 0.8,
        "emotion_vector": {"relief": 0.9},
        "goal": "sail",
        "mindstate": "glad",
        "resolution_state": "resolved",
    },
    {"command": "remember", "id": "none", "name": "None"},
]  # fmt: skip
SET = {"energy": 0.6, "confidence": 0.9, "emotion_vector": {"calm": 0.1}}
"""So that nothing stands at a default that nobody chose."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data directory with the citizen `ines`, who has a leaking boat and one memory that says nothing."""
    home = tmp_path_factory.mktemp("wake")
    life = home / "life.jsonl"
    life.write_text("\n".join(json.dumps({**SET, **line}) for line in LIFE), "utf-8")
    with held_engine(home / "data") as data:
        taken = run("--data", str(data), "ingest", str(life), "-f", "commands", "-c", "ines")
        assert taken.code == 0, taken.err
        yield data


@pytest.fixture
def substrate(home: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(home, capsys)


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ((), "leak"),
        (("--mode", "find_similar_state", "--emotion", "tension=0.8"), "leak"),
        (("--mode", "resolution_patterns", "--emotion", "tension=0.8", "--level", "n1"), "hull"),
    ],
)
def test_waking_in_json_is_the_whole_stream_and_nothing_else(
    substrate: Command, words: tuple[str, ...], first: str
) -> None:
    said = substrate("wake", "-c", "ines", "--json", *words)
    assert (said.code, said.err) == (0, "")
    stream = json.loads(said.out)
    assert stream["citizen_id"] == "ines"
    assert stream["levels"]["n1_personal"]["graph_results"][0]["node_id"] == first
    assert "energy_feedback" not in stream


def test_feedback_is_reported_on_request_and_without_links_changes_nothing(substrate: Command) -> None:
    said = substrate("wake", "-c", "ines", "--energy", "0.4", "--feedback")
    assert said.code == 0
    assert "relative potential 0.50 · energy 0.40 → 0.40" in " ".join(said.out.split())


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("--emotion", "joy=very"), "--emotion"),
        (("--emotion", "joy"), "--emotion"),
        (("--emotion", "=0.5"), "--emotion"),
        (("--emotion", "joy=1.2"), "--emotion"),
        (("--emotion", "joy=nan"), "--emotion"),
        (("--mode", "sideways"), "--mode"),
        (("--energy", "1.2"), "--energy"),
        (("--goal", "g" * 100_000), "--goal"),
        (("--level", "N7"), "--level"),
    ],
)
def test_the_fault_of_an_invalid_state_names_the_options(
    substrate: Command, words: tuple[str, ...], option: str
) -> None:
    said = substrate("wake", "-c", "ines", *words)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: ")
    assert option in said.err
    assert all(len(line) < 500 for line in said.err.splitlines())


def test_validation_finds_junk_and_repairs_it_on_request(substrate: Command) -> None:
    found = json.loads(substrate("validate", "-c", "ines", "--level", "n1", "--json").out)
    [report] = found["reports"]
    assert (report["scanned_nodes"], report["scanned_links"]) == (4, 1)
    assert [(one["kind"], one["id"]) for one in report["findings"]] == [("junk", "none")]
    said = substrate("validate", "-c", "ines", "--level", "N1")
    assert said.code == 0
    assert "4 memories, 1 link in" in " ".join(said.out.split())
    assert "`--fix junk` repairs 1" in said.out
    mended = substrate("validate", "-c", "ines", "--level", "N1", "--fix", "junk")
    assert "repaired 1 of 1" in mended.out
    assert "Nothing to repair." in substrate("validate", "-c", "ines", "--level", "N1").out


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("--fix", "everything"), "--fix"),
        (("--limit", "-1"), "--limit"),
        (("--level", "N7"), "--level"),
        (("--level", "N1"), "--citizen"),
    ],
)
def test_the_fault_of_an_invalid_validation_names_the_options(
    substrate: Command, words: tuple[str, ...], option: str
) -> None:
    citizen = () if option == "--citizen" else ("-c", "ines")
    said = substrate("validate", *citizen, *words)
    assert (said.code, said.out) == (2, "")
    assert option in said.err


@pytest.mark.parametrize("asked", [("ask", "the boat", "-c", "ines"), ("wake", "-c", "ines")])
def test_the_graph_alone_is_printed_for_other_programs(substrate: Command, asked: tuple[str, ...]) -> None:
    linked = json.loads(substrate(*asked, "--node-link").out)
    assert "N1|leak" in {node["id"] for node in linked["nodes"]}
    assert 'node id="N1|leak"' in substrate(*asked, "--graphml").out


def test_two_forms_of_a_graph_at_once_are_refused(substrate: Command) -> None:
    said = substrate("ask", "the boat", "-c", "ines", "--graphml", "--node-link")
    assert said.code != 0
    assert "--graphml and --node-link are two forms" in said.err
