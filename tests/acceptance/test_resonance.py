"""Resonance and identity through both doors: bad input in clear words, the same answer for the same request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schemas.wave_signal import CHANNELS
from tests.acceptance.conftest import Service
from tests.acceptance.test_cli import Command

AT = "2026-05-01T00:00:00Z"
ZERO = dict.fromkeys(CHANNELS, 0)
SIGNAL: dict[str, Any] = {"citizen_id": "nobody", "nodes": ["Egor"]}


@pytest.fixture(scope="module")
def kai(service: Service) -> str:
    """A citizen who was lonely once, with somebody."""
    felt: dict[str, Any] = {
        "emotion_vector": {"loneliness": 0.9},
        "rule": "Write to Egor.",
        "name": "A long evening",
    }
    service.remember("kai.door", id="egor", name="Egor", node_type="Person", valid_at="2026-01-01T00:00:00Z")
    service.remember("kai.door", id="evening", valid_at="2026-02-01T00:00:00Z", **felt)
    said = service.relate("kai.door", ("evening", "MENTIONS", "egor"), valid_at="2026-02-01T00:00:00Z")
    assert said.status_code == 201, said.text
    return "kai.door"


def test_a_window_resonates_over_http_and_says_why(service: Service, kai: str) -> None:
    body = {"citizen_id": kai, "window": ["egor is away and I feel lonely", {"text": "it rains"}]}
    answer = service.http.post("/v1/resonate", json=body)
    assert answer.status_code == 200, answer.text
    said = answer.json()
    assert (said["signal"]["nodes"], said["signal"]["emotion"]) == (["Egor"], "loneliness")
    first = said["levels"]["n1_personal"][0]
    assert first["memory"]["node_id"] == "evening"
    assert (first["channels"]["nodes"], first["channels"]["emotion"]) == (1.0, 1.0)


def test_identity_is_asked_for_by_a_moment(service: Service, kai: str) -> None:
    address = f"/v1/citizens/{kai}/identity"
    (egor,) = service.http.get(address).json()["entities"]
    assert (egor["name"], egor["appearances"], egor["emotions"]) == ("Egor", 1, {"loneliness": 1})
    assert egor["rules"] == [{"rule": "Write to Egor.", "memories": 1}]
    before = {"as_of_time": "2026-01-15T00:00:00Z", "known_at": "2100-01-01T00:00:00Z"}
    assert service.http.get(address, params=before).json()["entities"] == []
    since = {**before, "as_of_time": "2026-02-02T00:00:00Z"}
    assert [one["name"] for one in service.http.get(address, params=since).json()["entities"]] == ["Egor"]
    assert service.http.get("/v1/citizens/nobody/identity").json()["entities"] == []


@pytest.mark.parametrize("params", [{"limit": 0}, {"limit": "many"}, {"as_of_time": "soon"}, {"as_of": AT}])
def test_a_bad_question_for_identity_is_refused(service: Service, kai: str, params: dict[str, Any]) -> None:
    answer = service.http.get(f"/v1/citizens/{kai}/identity", params=params)
    assert answer.status_code == 422
    assert answer.json()["faults"]


def test_drives_are_kept_with_the_state(service: Service, citizen: str) -> None:
    address = f"/v1/citizens/{citizen}/state"
    drive = {"satisfaction": 0.1, "nodes": ["Egor"], "bias": {"emotion": 2.0}}
    said = service.http.put(address, json={"drives": {"connection": drive}})
    assert said.json()["drives"] == {"connection": drive}
    assert service.http.put(address, json={"energy": 0.4}).json()["drives"] == {"connection": drive}
    wrong = {"connection": {"bias": {"telepathy": 1}}}
    assert service.http.put(address, json={"drives": wrong}).status_code == 422
    assert service.http.get(address).json()["drives"] == {"connection": drive}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"nodes": []}, "the signal is empty"),
        ({"nodes": [], "query_text": "  ", "window": ["\n"]}, "the signal is empty"),
        ({"weights": ZERO}, "all weights are zero"),
        ({"weights": {"nodes": -0.1}}, "weights.nodes: Input should be greater than or equal to 0"),
        ({"weights": {"nodes": 1e7}}, "weights.nodes: Input should be less than or equal to 1000000"),
        ({"weights": {"smell": 1}}, "weights.smell: Extra inputs are not permitted"),
        ({"window": ["x"] * 10_000}, "window: Tuple should have at most 256 items"),
        ({"window": ["x" * 60_000] * 2}, "more than 100000 characters"),
        ({"relations": ["a|b"]}, "write a relation as `TYPE` or as `source|TYPE|target`"),
        ({"relations": ["🙂"]}, "relation_type: String should match pattern"),
        ({"query_embedding": [0, 0]}, "has no direction"),
        ({"query_embedding": [1, 2]}, "query_embedding has 2 numbers"),
        ({"max_level": 4}, "max_level"),
        ({"nodes": [" "]}, "is blank"),
        ({"known_at": "3000-01-01T00:00:00Z"}, "times must lie between"),
        ({"drive_bias": {"rest": 2}}, "drive_bias.rest"),
        ({"by": "shape", "nodes": []}, "`by: shape` needs the `id` of a memory"),
        ({"by": "shape", "id": "m"}, "`by: shape` takes no nodes"),
        ({"id": "m"}, "send it with `by: shape`"),
    ],
)
def test_a_signal_that_cannot_be_sent_is_refused_in_words(service: Service, fields: Any, said: str) -> None:
    with service.unchanged():
        answer = service.http.post("/v1/resonate", json={**SIGNAL, **fields})
    assert answer.status_code == 422, answer.text
    assert said in " ".join(answer.json()["faults"] or [answer.json()["detail"]])


@pytest.fixture
def substrate(tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]) -> Command:
    home: Path = tmp_path_factory.mktemp("resonance")
    command = Command(home / "data", capsys)
    life = home / "life.jsonl"
    life.write_text(
        '{"command": "remember", "id": "egor", "name": "Egor", "node_type": "Person"}\n'
        '{"command": "remember", "id": "evening", "name": "A long [evening]", "rule": "Write.", '
        '"emotion_vector": {"loneliness": 0.9}}\n'
        '{"command": "relate", "source_id": "evening", "target_id": "egor", "relation_type": "MENTIONS", '
        '"energy": 0.5, "confidence": 0.5, "emotion_vector": {}, "goal": "g", "mindstate": "m"}\n',
        "utf-8",
    )
    taken = command("ingest", str(life), "-f", "commands", "-c", "kai")
    assert taken.code == 0, taken.err
    return command


def test_both_commands_print_their_results_and_their_faults(substrate: Command) -> None:
    found = substrate("resonate", "-c", "kai", "--window", "egor left, I am lonely", "--weight", "recency=0")
    assert found.code == 0, found.err
    assert "signal: Egor · loneliness 1" in found.out
    assert "A long [evening]" in found.out
    assert '"resonance":' in substrate("resonate", "-c", "kai", "--json", "--emotion", "lonely").out
    who = substrate("identity", "-c", "kai")
    assert (who.code, "loneliness 1" in who.out, "rule: Write." in who.out) == (0, True, True)
    assert substrate("identity", "-c", "kay").code == 4
    assert "signal: loneliness 0.9" in substrate("resonate", "-c", "kai").out
    blank = substrate("resonate", "-c", "kai", "--window", " ")
    assert (blank.code, "the signal is empty" in blank.err) == (2, True)
    assert "--weight: 'nodes' is not NAME=X" in substrate("resonate", "-c", "kai", "--weight", "nodes").err
