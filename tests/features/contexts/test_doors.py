"""Contexts in one call, what is imagined from them, and how right that was: over every door."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.client import Substrate
from schemas.errors import Conflict, NotFound
from tests.acceptance.conftest import ADMIN_KEY, Service, problem_in
from tests.acceptance.test_cli import Command, wordless_commands

__all__ = ["wordless_commands"]

PLAN: dict[str, Any] = {
    "description": "Kai showed Egor the plan, and Egor criticized it.",
    "action": "show the plan",
    "nodes": ["Kai", "Egor"],
    "edges": ["Egor|CRITICIZED|Kai"],
    "emotion": "frustration",
    "intensity": 0.6,
    "result": "negative",
    "rule": "Ask Egor what he needs first.",
    "certainty": 0.8,
    "agent_log": [{"agent": "critic", "said": "too early", "decision": "wait", "tokens": 120}],
}


def sent(service: Service, citizen: str, **fields: Any) -> httpx.Response:
    return service.http.post("/v1/contexts", json={"citizen_id": citizen, **fields})


def written(service: Service, citizen: str, **fields: Any) -> dict[str, Any]:
    answer = sent(service, citizen, **fields)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def imagined(service: Service, citizen: str, action: str, **fields: Any) -> dict[str, Any]:
    answer = service.http.post("/v1/imagine", json={"citizen_id": citizen, "action": action, **fields})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def read(service: Service, citizen: str, what: str, **params: Any) -> dict[str, Any]:
    answer = service.http.get(f"/v1/citizens/{citizen}/{what}", params=params)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def tried(service: Service, citizen: str, results: list[str]) -> None:
    """The plan was shown some times, a day apart, with these results."""
    for day, result in enumerate(results, start=1):
        told = {"description": f"Egor saw the plan on day {day}.", "action": "show the plan", "nodes": ["Egor"]}
        emotion = "relief" if result == "positive" else "frustration"
        written(service, citizen, **told, result=result, emotion=emotion, valid_at=f"2026-01-{day:02}T00:00:00Z")


def test_a_context_is_one_whole_that_resonates_by_its_names_feeling_and_result(
    wordless: Service, citizen: str
) -> None:
    receipt = written(wordless, citizen, **PLAN)
    assert [(node["name"], node["made"]) for node in receipt["nodes"]] == [("Kai", True), ("Egor", True)]
    [edge] = receipt["edges"]
    assert edge["filled"] == ["goal", "mindstate", "energy", "certainty"]
    memory = wordless.http.get(f"/v1/memories/N1/{receipt['context_id']}", params={"citizen_id": citizen}).json()
    assert (memory["name"], memory["node_type"], memory["result"]) == ("show the plan", "Context", "negative")
    assert (memory["emotion_vector"], memory["rule"], memory["confidence"]) == (
        {"frustration": 0.6}, PLAN["rule"], 0.8,
    )  # fmt: skip
    signal = {"nodes": ["Egor"], "relations": PLAN["edges"], "emotion": "frustration", "result": "negative"}
    found = wordless.http.post("/v1/resonate", json={"citizen_id": citizen, **signal}).json()
    first = found["levels"]["n1_personal"][0]
    assert first["memory"]["node_id"] == receipt["context_id"]
    assert [first["channels"][name] for name in ("nodes", "relations", "emotion", "result")] == [1.0] * 4
    later = written(wordless, citizen, description="Egor praised Kai.", nodes=["egor", "Kai"])
    assert [(node["node_id"], node["made"]) for node in later["nodes"]] == [
        ("person:egor", False), ("person:kai", False),
    ]  # fmt: skip
    text = "Egor did not praise Kai, he criticised the code. Egor broke the code."
    told = written(wordless, citizen, description=text, nodes=["Egor", "Kai", "code"])
    shown = [(edge["source"], edge["relation_type"], edge["target"], edge["found"]) for edge in told["edges"]]
    assert shown == [("Egor", "BROKE", "code", True)]


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"nodes": [f"node {place}" for place in range(500)]}, 422),
        ({"nodes": ["None"]}, 422),
        ({"edges": ["Egor"]}, 422),
        ({"rule": "r" * 50_000}, 422),
        ({"emotion": "the table stands in the corner of the room"}, 422),
        ({"nodes": [{"id": "of-somebody-else"}]}, 404),
        ({"outcome_of": "p_unknown", "result": "positive"}, 404),
        ({"description": " "}, 422),
    ],
)
def test_a_refused_context_leaves_nothing(
    wordless: Service, citizen: str, fields: dict[str, Any], status: int
) -> None:
    wordless.remember(f"{citizen}.other", id="of-somebody-else", name="Egor")
    wordless.remember(citizen, id="m", name="m")
    with wordless.unchanged():
        problem_in(sent(wordless, citizen, **{"description": "It happened.", **fields}), status)


def test_notes_of_agents_are_listed_and_go_with_their_context(wordless: Service, citizen: str) -> None:
    first = written(wordless, citizen, **PLAN)
    note = {"agent": "appraiser", "said": "it hurts", "tokens": 30}
    second = written(wordless, citizen, description="Egor left.", nodes=["Egor"], agent_log=[note])
    log = read(wordless, citizen, "agent-log")
    assert [(one["context_id"], one["agent"]) for one in log["notes"]] == [
        (second["context_id"], "appraiser"), (first["context_id"], "critic"),
    ]  # fmt: skip
    assert log["tokens"] == 150
    page = read(wordless, citizen, "agent-log", limit=1)
    rest = read(wordless, citizen, "agent-log", limit=1, cursor=page["next"])
    assert [*page["notes"], *rest["notes"]] == log["notes"]
    assert rest["next"] is None
    only = read(wordless, citizen, "agent-log", context_id=first["context_id"])
    assert [one["decision"] for one in only["notes"]] == ["wait"]
    gone = wordless.http.post(f"/v1/memories/N1/{first['context_id']}/erase", json={"citizen_id": citizen})
    assert gone.json()["removed"]["context_notes"] == 1
    links = wordless.http.get("/v1/links", params={"citizen_id": citizen}).json()["links"]
    assert not [link for link in links if link["relation_type"] == "CRITICIZED"]
    assert [one["agent"] for one in read(wordless, citizen, "agent-log")["notes"]] == ["appraiser"]
    missing = wordless.http.get(f"/v1/citizens/{citizen}/agent-log", params={"context_id": first["context_id"]})
    problem_in(missing, 404)


def test_what_came_of_an_action_before_is_told_with_the_nearest_cases(wordless: Service, citizen: str) -> None:
    tried(wordless, citizen, ["negative", "negative", "negative", "positive"])
    blank = wordless.http.post("/v1/imagine", json={"citizen_id": citizen, "action": "\u2028"})
    assert blank.status_code == 422
    told = imagined(wordless, citizen, "show Egor the plan", nodes=["Egor"])
    assert told["enough"]
    assert told["cases"] == 4
    assert list(told["results"]) == ["negative", "positive"]
    assert 0.6 < told["results"]["negative"] < 0.8
    assert list(told["emotions"]) == ["frustration", "relief"]
    assert {case["result"] for case in told["nearest"]} <= {"negative", "positive"}
    assert len(told["nearest"]) == 3
    then = imagined(wordless, citizen, "show Egor the plan", as_of_time="2026-01-02T12:00:00Z", known_at="now")
    assert (then["enough"], then["results"], then["usual"]) == (False, {}, {"negative": 1.0})
    assert "too few to say" in then["notes"][0]


def test_what_came_of_an_act_is_read_from_the_next_turn_of_the_other_side(wordless: Service, citizen: str) -> None:
    replies = ["That did not work at all.", "It is still broken.", "Thanks, it worked!", "No luck again."]
    turns = []
    for day, reply in enumerate(replies, start=1):
        turns += [
            {"role": "user", "content": "The router is down.", "timestamp": f"2026-01-0{day}T10:00:00Z"},
            {"role": "assistant", "content": "Restart the router.", "timestamp": f"2026-01-0{day}T10:01:00Z"},
            {"role": "user", "content": reply, "timestamp": f"2026-01-0{day}T10:02:00Z"},
        ]
    sent = {"citizen_id": citizen, "episode_id": "chat", "messages": turns}
    assert wordless.http.post("/v1/episodes", json=sent).status_code in (200, 201)
    told = imagined(wordless, citizen, "restart the router")
    assert (told["enough"], told["cases"]) == (True, 4)
    assert told["results"]["negative"] > told["results"]["positive"] > 0.1
    then = imagined(wordless, citizen, "restart the router", as_of_time="2026-01-02T10:01:30Z", known_at="now")
    assert (then["cases"], then["usual"]) == (1, {"negative": 1.0})


def test_over_no_past_nothing_is_imagined_and_nothing_is_made(wordless: Service, citizen: str) -> None:
    with wordless.unchanged():
        told = imagined(wordless, citizen, "show the plan", keep=True)
    assert (told["enough"], told["results"], told["nearest"], told["prediction_id"]) == (False, {}, [], None)
    assert any("not kept" in note for note in told["notes"])
    wordless.remember(citizen, name="A memory", text="The weather was mild.")
    for action in ("montrer le plan", "计划给他看", "покажи план"):
        assert not imagined(wordless, citizen, action)["enough"]


def test_a_kept_prediction_is_answered_once_and_calibrates_its_citizen(wordless: Service, citizen: str) -> None:
    tried(wordless, citizen, ["negative", "negative", "negative", "positive"])
    kept = imagined(wordless, citizen, "show the plan", keep=True)["prediction_id"]
    assert read(wordless, citizen, "calibration")["waiting"] == 1
    outcome = {"description": "Egor liked it.", "nodes": ["Egor"], "result": "positive", "emotion": "relief"}
    stranger = f"{citizen}.x"
    wordless.remember(stranger, name="m")
    problem_in(sent(wordless, stranger, **outcome, outcome_of=kept), 404)
    receipt = written(wordless, citizen, **outcome, outcome_of=kept, command_id="out")
    assert receipt["answered"] == kept
    assert written(wordless, citizen, **outcome, outcome_of=kept, command_id="out")["duplicate"]
    problem_in(sent(wordless, citizen, description="Again.", result="negative", outcome_of=kept), 409)
    [prediction] = read(wordless, citizen, "predictions")["predictions"]
    assert (prediction["result"], prediction["context_id"]) == ("positive", receipt["context_id"])
    assert read(wordless, citizen, "predictions", open=True)["predictions"] == []
    found = read(wordless, citizen, "calibration")
    assert (found["kept"], found["answered"], found["waiting"]) == (1, 1, 0)
    missed = 1.0 - prediction["results"]["positive"]
    assert found["brier"] == prediction["brier"] == pytest.approx(2 * missed**2, abs=0.001)
    assert read(wordless, citizen, "identity")["calibration"]["brier"] == found["brier"]
    gone = wordless.http.post(f"/v1/memories/N1/{receipt['context_id']}/erase", json={"citizen_id": citizen})
    assert gone.json()["removed"]["predictions"] == 1
    assert read(wordless, citizen, "calibration")["kept"] == 0


def test_an_export_carries_notes_and_predictions(
    wordless: Service,
    citizen: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    substrate = Command(wordless.data, capsys)
    first = written(wordless, citizen, **PLAN, command_id="one")
    imagined(wordless, citizen, "show the plan", keep=True)
    exported = wordless.http.get(f"/v1/citizens/{citizen}/export")
    (tmp_path / "export.jsonl").write_bytes(exported.content)
    copy = f"{citizen}.copy"
    assert substrate("import", str(tmp_path / "export.jsonl"), "-c", copy).code == 0
    for what, key in (("agent-log", "notes"), ("predictions", "predictions")):
        assert read(wordless, copy, what)[key] == read(wordless, citizen, what)[key] != []
    again = written(wordless, copy, **PLAN, command_id="one")
    assert again == {**first, "citizen_id": copy, "duplicate": True}


def test_the_client_writes_and_imagines_too(wordless: Service, citizen: str) -> None:
    with Substrate(wordless.url, ADMIN_KEY) as client:
        receipt = client.write_context(citizen_id=citizen, **PLAN)
        assert client.agent_log(citizen).notes[0].context_id == receipt.context_id
        told = client.imagine(citizen_id=citizen, action="show the plan", keep=True)
        assert told.prediction_id is not None
        answered = client.write_context(
            citizen_id=citizen, description="He said no.", result="negative", outcome_of=told.prediction_id
        )
        assert answered.answered == told.prediction_id
        assert client.calibration(citizen).unsaid == 1
        assert client.predictions(citizen).predictions[0].result == "negative"
        with pytest.raises(Conflict):
            client.write_context(citizen_id=citizen, description="No.", outcome_of=told.prediction_id)
        with pytest.raises(NotFound):
            client.write_context(citizen_id=citizen, description="No.", outcome_of="p_none")


@pytest.mark.usefixtures("wordless_commands")
def test_the_command_line_writes_imagines_and_lists(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = Command(tmp_path / "data", capsys)
    who = ("-c", "kai")
    for day in range(1, 5):
        said = command(
            "context", f"Egor saw the plan on day {day}.", *who, "--node", "Egor", "--edge", "Egor|SAW|The Plan",
            "--result", "negative", "--emotion", "frustration", "--valid-at", f"2026-01-0{day}T00:00:00Z",
        )  # fmt: skip
        assert said.code == 0, said.err
    assert "Egor: found as entity:egor" in said.out
    assert "result negative, emotion frustration" in said.out
    told = command("imagine", "show the plan", *who, "--keep")
    assert "results: negative 100%" in told.out
    assert "kept as p_" in told.out
    assert "1 prediction, 1 without an outcome yet" in command("imagine", *who).out
    kept = json.loads(command("imagine", "show the plan", *who, "--keep", "--json").out)["prediction_id"]
    assert (
        f"outcome of {kept}"
        in command("context", "He liked it.", *who, "--result", "positive", "--outcome-of", kept).out
    )
    assert "Brier 2.000 over 1" in command("imagine", *who).out
    assert command("context", *who).code == 0
    assert command("context", "x", *who, "--node", "None").code == 2
