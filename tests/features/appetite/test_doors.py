"""What a citizen has to wake for, and the stream that follows from it, on every door."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.acceptance.conftest import Service, problem_in
from tests.acceptance.test_cli import Command, wordless_commands
from tests.acceptance.test_mcp import over_http, text_of

__all__ = ["wordless_commands"]

CHAT = (
    (9, "The boiler in the shop is broken again, I'm stuck: the landlord doesn't answer."),
    (8, "Tom came by with his dog, we had tea with milk."),
    (4, "I'm so frustrated, the boiler is still broken and there is no hot water."),
    (2, "I want to find a new supplier for the honey."),
    (1, "The inspector comes tomorrow at nine."),
)


def chatted(service: Service, citizen: str) -> None:
    """An ordinary chat of the last hours; no state, energy or feeling is given."""
    now = datetime.now(UTC)
    turns = [
        {"role": "user", "content": text, "timestamp": (now - timedelta(hours=hours)).isoformat()}
        for hours, text in CHAT
    ]
    report = service.http.post(
        "/v1/episodes", json={"citizen_id": citizen, "episode_id": "chat", "messages": turns}
    )
    assert report.status_code in (200, 201), report.text


def appetite_of(service: Service, citizen: str, **query: Any) -> dict[str, Any]:
    answer = service.http.get(f"/v1/citizens/{citizen}/appetite", params=query)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def amounts(appetite: dict[str, Any]) -> dict[str, float]:
    return {each["name"]: each["amount"] for each in appetite["readings"]}


def intended(service: Service, citizen: str, **fields: Any) -> dict[str, Any]:
    answer = service.http.post(f"/v1/citizens/{citizen}/intend", json=fields)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def names_in_focus(stream: dict[str, Any]) -> str:
    return " ".join(node["description"] for node in stream["activation_tiers"]["focus"])


def test_an_ordinary_chat_has_something_to_wake_for_with_no_state_ever_set(service: Service, citizen: str) -> None:
    chatted(service, citizen)
    appetite = appetite_of(service, citizen)
    found = amounts(appetite)
    assert found["context_hunger"] == 1.0
    assert found["unresolved_tension"] > 0.6
    assert found["due"] >= 0.5
    assert (appetite["pressure_from"], appetite["reality_pressure"] > 0.5) == ("due", True)
    assert "boiler" in appetite["tension_source"]
    due = next(each for each in appetite["readings"] if each["name"] == "due")
    assert "The inspector comes tomorrow" in due["reason"]

    explained = intended(service, citizen, run=False)
    assert (explained["decision"]["kind"], explained["stream"]) == ("broad", None)
    assert appetite_of(service, citizen)["last_stream"] is None
    broad = intended(service, citizen)
    assert broad["decision"]["intention"]["query_text"].startswith("Recent developments in ")
    assert "boiler" in names_in_focus(broad["stream"])

    # It asked, so it is hungry no more: what is left is what is stuck.
    fed = appetite_of(service, citizen)
    assert amounts(fed)["context_hunger"] < 0.1
    assert fed["last_stream"]["stream_id"] == broad["stream"]["stream_id"]
    similar = intended(service, citizen)
    assert similar["decision"]["kind"] == "similar"
    assert similar["decision"]["intention"]["temporal_mode"] == "evolution"
    assert similar["stream"]["activation_tiers"]["focus"]


def test_drives_pain_and_kept_pressure_count_and_the_state_keeps_the_pressure(
    service: Service, citizen: str
) -> None:
    service.remember(citizen, name="Tea with milk")
    service.http.post("/v1/retrieve", json={"citizen_id": citizen, "query_text": "tea"})
    assert intended(service, citizen)["decision"]["kind"] == "nothing"
    address = f"/v1/citizens/{citizen}/state"
    kept = {"reality_pressure": 0.9, "drives": {"connection": {"satisfaction": 0.1, "nodes": ["Tom"]}}}
    assert service.http.put(address, json=kept).json()["reality_pressure"] == 0.9
    answer = intended(service, citizen, explain=True)
    assert (answer["decision"]["kind"], answer["decision"]["reading"]) == ("state", "drives")
    assert (answer["appetite"]["reality_pressure"], answer["appetite"]["pressure_from"]) == (0.9, "kept")
    woken = service.http.post("/v1/wake", json={"citizen_id": citizen, "explain": True}).json()
    [priority] = {
        round(node["score_breakdown"]["priority"], 6)
        for level in woken["levels"].values()
        for node in level["graph_results"]
    } or {0.4 * (0.4 * 0.5 + 0.6 * 0.9)}
    assert priority == pytest.approx(0.4 * (0.4 * 0.5 + 0.6 * 0.9))
    assert service.http.put(address, json={"reality_pressure": None}).json()["reality_pressure"] is None


def test_what_others_write_makes_hungry_and_not_what_the_citizen_writes_itself(
    service: Service, citizen: str
) -> None:
    service.remember(citizen, name="Tea with milk")
    service.http.post("/v1/retrieve", json={"citizen_id": citizen, "query_text": "tea"})
    before = amounts(appetite_of(service, citizen))["context_hunger"]
    for author, count in ((citizen, 3), (f"{citizen}-other", 3)):
        with service.client(service.key(f"citizen:{author}:*", "N2:*")) as http:
            for place in range(count):
                said = {"level": "N2", "name": f"News {place} of {author}", "citizen_id": author}
                assert http.post("/v1/memories", json=said).status_code == 201
    hunger = next(each for each in appetite_of(service, citizen)["readings"] if each["name"] == "context_hunger")
    assert hunger["amount"] > before
    assert {each["name"] for each in hunger["sources"]} == {
        f"News {place} of {citizen}-other" for place in range(3)
    }
    alone = amounts(appetite_of(service, citizen, query_levels=["N1"]))["context_hunger"]
    assert alone == pytest.approx(before, abs=0.01)
    with service.client(service.key(f"citizen:{citizen}:read")) as http:
        answer = http.get(f"/v1/citizens/{citizen}/appetite").json()
        refused = http.get(f"/v1/citizens/{citizen}/appetite", params={"query_levels": ["N2"]})
        feeding = http.post(f"/v1/citizens/{citizen}/intend", json={"apply_feedback": True})
    assert any("was left out" in note for note in answer["notes"])
    assert amounts(answer)["context_hunger"] == pytest.approx(before, abs=0.01)
    assert (refused.status_code, feeding.status_code) == (403, 403)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"run": "perhaps"}, "run: "),
        ({"query_levels": ["N9"]}, "query_levels.0: "),
        ({"time_zone": "Mars/Olympus"}, "time_zone: "),
        ({"max_tokens": 0}, "max_tokens: "),
        ({"energy": 0.4}, "energy: "),
    ],
)
def test_a_bad_request_is_refused_with_its_fault(
    service: Service, citizen: str, body: dict[str, Any], words: str
) -> None:
    answer = service.http.post(f"/v1/citizens/{citizen}/intend", json=body)
    assert any(words in fault for fault in problem_in(answer, 422)["faults"])


def test_a_drive_or_a_pressure_outside_its_range_is_refused(service: Service, citizen: str) -> None:
    address = f"/v1/citizens/{citizen}/state"
    for bad in ({"reality_pressure": 1.1}, {"drives": {"play": {"satisfaction": -0.1}}}):
        assert service.http.put(address, json=bad).status_code == 422


async def test_a_model_wakes_by_itself(service: Service, citizen: str) -> None:
    chatted(service, citizen)
    async with over_http(service) as model:
        woken = await model.call_tool("wake", {"citizen_id": citizen, "mode": "auto"})
        assert not woken.is_error, text_of(woken)
        assert "broad: context_hunger is 1.00" in text_of(woken)
        assert "boiler" in text_of(woken)
        nobody = await model.call_tool("wake", {"citizen_id": f"{citizen}-none", "mode": "auto"})
        assert "\nnothing: " in text_of(nobody)
        both = await model.call_tool("wake", {"citizen_id": citizen, "mode": "auto", "energy": 0.4})
        assert both.is_error
        assert "leave out energy" in text_of(both)


@pytest.mark.usefixtures("wordless_commands")
def test_the_command_line_shows_bars_and_the_decision(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    command = Command(tmp_path / "data", capsys)
    assert command("remember", "The boiler is broken", "--state", "blocked", "-c", "ada").code == 0
    shown = command("appetite", "-c", "ada").out
    assert "context_hunger     1.00 ████████████████████ it never asked for a stream" in shown
    assert "→ broad: context_hunger is 1.00" in shown
    assert "The boiler is broken" in command("appetite", "-c", "ada", "--intend").out
    assert command("appetite", "-c", "nobody").code == 4
