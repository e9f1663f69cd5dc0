"""What met people on their first day: a missing key, an empty correction, a list in a wrapping, a kept demo."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Service
from tests.acceptance.test_cli import Command

ROOT = Path(__file__).parents[2]
FELT = {"energy": 0.7, "confidence": 0.9, "emotion_vector": {}, "goal": "g", "mindstate": "m"}


@pytest.fixture(name="substrate")
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command, in this process, on a store of its own."""
    return Command(tmp_path / "data", capsys)


@pytest.mark.parametrize("name", ["rest.py", "mcp_client.py"])
@pytest.mark.parametrize("key", ["", None])
def test_an_example_without_a_key_ends_with_a_line_that_says_what_to_do(
    service: Service, name: str, key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUBSTRATE_BASE_URL", service.url)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("SUBSTRATE_API_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("SUBSTRATE_API_KEY", key)
    program = [sys.executable, str(ROOT / "examples" / name)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "SUBSTRATE_API_KEY" in done.stderr
    assert len(done.stderr.splitlines()) <= 4


def test_a_correction_of_nothing_is_refused_and_makes_no_version(service: Service, citizen: str) -> None:
    http, owner = service.http, {"citizen_id": citizen}
    http.post("/v1/memories", json=[{**owner, "id": name, "name": name} for name in "ab"])
    ends = {"source_id": "a", "target_id": "b", "relation_type": "NEXT"}
    assert http.post("/v1/links", json={**owner, **ends, **FELT}).status_code == 201
    for address in ("memories/N1/a", "links/N1/a%7CNEXT%7Cb"):
        for change in ("correct", "supersede"):
            said = http.post(f"/v1/{address}/{change}", json=owner)
            assert said.status_code == 422
            assert "nothing changes" in said.json()["detail"]
        assert http.get(f"/v1/{address}", params=owner).json()["version"] == 1
    empty = {**owner, "command": "correct", "id": "a"}
    assert http.post("/v1/commands", json=[empty]).json()["refused"] == 1
    assert http.post("/v1/commands?atomic=true", json=[empty]).json()["refused"] == 1


@pytest.mark.parametrize(
    ("route", "name"), [("commands", "commands"), ("memories", "memories"), ("links", "links")]
)
def test_a_list_in_an_object_is_told_to_be_sent_bare(
    service: Service, citizen: str, route: str, name: str
) -> None:
    element: dict[str, Any] = {"command": "remember", "citizen_id": citizen, "name": "tea"}
    said = service.http.post(f"/v1/{route}", json={name: [element]})
    assert said.status_code == 422
    assert "send the list itself" in said.json()["detail"]


def test_a_kept_demo_refuses_a_directory_that_has_citizens_and_says_how_to_go_on(substrate: Command) -> None:
    assert substrate("remember", "Tea with Tom.", "-c", "me").code == 0
    said = substrate("demo", "--keep")
    assert (said.code, said.out) == (2, "")
    assert "holds memories already, of me: " in said.err
    assert "Name another directory: substrate --data DIRECTORY demo --keep." in said.err
    assert substrate("ask", "--citizen", "me", "Who drinks tea?").code == 0
    assert substrate("collectives").out == ""


def test_nobody_wakes_with_the_life_of_a_kept_demo(substrate: Command) -> None:
    assert substrate("demo", "--keep").code == 0
    assert substrate("collectives").out.split() == ["ada-team", "ada-world"]
    told = {"mira": "I moved to Bergen in May.", "tom": "The roof still leaks.", "kai": "I want to learn to sail."}
    for citizen, text in told.items():
        assert substrate("remember", text, "-c", citizen).code == 0

    def found(*words: str) -> set[str]:
        tiers = json.loads(substrate(*words, "--json").out)["activation_tiers"]
        return {
            memory["node_id"] if "ada" in words else memory["name"] for tier in tiers.values() for memory in tier
        }

    for citizen, text in told.items():
        assert found("wake", "-c", citizen) <= {text}
        assert found("ask", "-c", citizen, "What should be done about the schema review?") <= {text}
    question = "Where is time filtered in a vector search?"
    of_the_team = "n2.decision.temporal-filter"
    assert of_the_team not in found("ask", "-c", "ada", question)
    assert of_the_team in found("ask", "-c", "ada", "--collective", "ada-team", question)
    assert "of ada, kai, mira, …: " in substrate("demo", "--keep").err


@pytest.mark.parametrize(("memories", "linked"), [(1, False), (12, True)])
def test_the_compact_form_is_the_smaller_one_and_tells_the_same(
    service: Service, citizen: str, memories: int, linked: bool
) -> None:
    owner = {"citizen_id": citizen}
    names = [f"m{number}" for number in range(memories)]
    told = [{**owner, "id": name, "name": f"The boat {name}", "description": "It is blue."} for name in names]
    service.http.post("/v1/memories", json=told)
    if linked:
        ends = [{"source_id": "m0", "target_id": name, "relation_type": "NEXT"} for name in names[1:]]
        service.http.post("/v1/links", json=[{**owner, **FELT, **pair} for pair in ends])
    for route, asked in (("retrieve", {"query_text": "the blue boat"}), ("wake", {"current_energy": 0.5})):
        full, small = (
            service.http.post(f"/v1/{route}", json={**owner, **asked, "form": form})
            for form in ("full", "compact")
        )
        assert len(small.content) < len(full.content)
        assert "The boat m0" in small.json()["text"]
        assert not {"levels", "activation_tiers", "memories"} & small.json().keys()


@pytest.mark.parametrize("text", ["Tea.", "Tom drinks his tea with milk every morning."])
def test_what_is_remembered_twice_is_stored_once_unless_it_is_meant_again(substrate: Command, text: str) -> None:
    def stored(*options: str) -> str:
        said = substrate("remember", text, "-c", "me", "--json", *options)
        assert said.code == 0, said.err
        return str(json.loads(said.out)["id"])

    first = stored()
    assert stored() == first
    assert stored("--tag", "kitchen") == first or text == "Tea."
    assert stored("--restate") != first


def test_a_short_text_whose_memory_ended_or_changed_is_stored_anew_and_once(substrate: Command) -> None:
    def stored() -> str:
        return str(json.loads(substrate("remember", "Tea.", "-c", "me", "--json").out)["id"])

    first = stored()
    assert substrate("retract", first, "-c", "me").code == 0
    second = stored()
    assert second != first
    assert stored() == second
    assert substrate("correct", second, "-c", "me", "--name", "Coffee.").code == 0
    third = stored()
    assert third not in (first, second)
    assert stored() == third


def test_a_chat_of_which_nobody_gave_metadata_has_the_lowest_grade_of_003_and_says_why(
    service: Service, citizen: str
) -> None:
    said = [{"role": "user", "content": "We painted the boat blue, and I am so happy!"}] * 2
    service.http.post("/v1/episodes", json={"citizen_id": citizen, "messages": said})
    asked = {"citizen_id": citizen, "query_text": "Which colour has the boat?", "query_levels": ["N1"]}
    report = service.http.post("/v1/retrieve", json=asked).json()["metadata_validation"]
    assert (report["quality_grade"], report["graded_memories"]) == ("poor", 0)
    assert report["total_memories"] > 0
    assert report["inferred_fields"]["energy"] > 0
    felt = {"energy": 0.5, "confidence": 0.9, "emotion_vector": {"joy": 1}, "goal": "sail", "felt_quality": "warm"}
    full = {**felt, "body_sensation": "light", "resolution_state": "resolved"}
    service.http.post("/v1/memories", json={"citizen_id": citizen, "name": "The blue boat sails", **full})
    report = service.http.post("/v1/retrieve", json=asked).json()["metadata_validation"]
    assert (report["quality_grade"], report["graded_memories"]) == ("excellent", 1)
