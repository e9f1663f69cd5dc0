"""A citizen's own feedback on every door: told, shown, taken back, carried, erased, and nobody else's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.client import AsyncSubstrate, Substrate
from orchestration.ranking.learned import FAMILIES, Lesson
from tests.acceptance.conftest import ADMIN_KEY, Service, problem_in
from tests.acceptance.test_cli import Command
from tests.acceptance.test_mcp import over_http
from tests.acceptance.test_mcp_tools import EveryTool, called

QUESTION = "Which clinic treats the cat?"
CLINICS = {
    "harbour": "The clinic at the harbour treats the cat and the dog.",
    "hill": "The clinic on the hill treats the cat as well.",
    "lake": "The clinic by the lake.",
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for the module, without a model, whose `/mcp` offers every tool."""
    running = EveryTool(tmp_path_factory.mktemp("feedback"), "none")
    yield running
    running.stop()


@pytest.fixture
def owner(shared: Service, citizen: str) -> str:
    """A citizen who knows three clinics."""
    for name, text in CLINICS.items():
        shared.remember(citizen, id=name, name=name, text=text)
    return citizen


@pytest.fixture
def substrate(shared: Service, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command line on the store of the service."""
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    return Command(shared.data, capsys)


def asked(service: Service, citizen: str, **given: Any) -> dict[str, Any]:
    body = {"citizen_id": citizen, "query": QUESTION, "explain": True, **given}
    answer = service.http.post("/v1/retrieve", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def shown(stream: dict[str, Any]) -> dict[str, dict[str, float]]:
    """The terms of each memory of a stream, most active first."""
    return {
        memory["node_id"]: memory["score_terms"] for tier in stream["activation_tiers"].values() for memory in tier
    }


def told(service: Service, citizen: str, **given: Any) -> dict[str, Any]:
    answer = service.http.post(f"/v1/citizens/{citizen}/feedback", json={"query": QUESTION, **given})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


async def told_on_other_doors(service: Service, citizen: str) -> list[str]:
    """The ids of a feedback told by the Python client that is awaited, and of one told by the tools."""
    async with AsyncSubstrate(service.url, ADMIN_KEY) as python:
        first = await python.tell_feedback(citizen, query="Where is the lake?", used=["lake"])
    async with over_http(service) as tools:
        second = await called(tools, "feedback", citizen_id=citizen, query="Who treats the dog?", used=["harbour"])
    return [first.feedback_id, second.structured_content["feedback_id"]]


def test_what_is_told_on_one_door_is_seen_and_taken_back_on_the_others(
    shared: Service, owner: str, substrate: Command
) -> None:
    before = asked(shared, owner)
    assert "learned" not in before
    first = told(shared, owner, used=["lake"], wrong=["hill"])
    others = asyncio.run(told_on_other_doors(shared, owner))
    fourth = substrate("feedback", "-c", owner, "Who treats the cat?", "--used", "harbour", "--json")
    assert fourth.code == 0, fourth.err
    ids = [first["feedback_id"], *others, json.loads(fourth.out)["feedback_id"]]
    after = asked(shared, owner)
    assert shown(after)["lake"]["use"] > 0.0 > shown(after)["hill"]["use"]
    assert after["learned"]["told"] == 4
    assert set(after["learned"]["factors"]) == {family.name for family in FAMILIES}
    assert "learned" not in asked(shared, owner, explain=False)
    listed = shared.http.get(f"/v1/citizens/{owner}/feedback").json()
    assert [one["feedback_id"] for one in listed["feedback"]] == ids
    assert listed["learned"] == after["learned"]
    assert all(name in substrate("feedback", "-c", owner).out for name in ids)
    with Substrate(shared.url, ADMIN_KEY) as client:
        assert client.list_feedback(owner, limit=1).next is not None
        assert client.take_back_feedback(owner, ids[0]).taken_back == 1
    assert "took back 1 feedback" in substrate("feedback", "-c", owner, "--undo", ids[1]).out
    taken = shared.http.delete(f"/v1/citizens/{owner}/feedback").json()
    assert taken == {"citizen_id": owner, "taken_back": 2, "learned": {"told": 0, "factors": {}}}
    assert shown(asked(shared, owner)) == shown(before)


def test_one_of_two_taken_back_leaves_what_the_other_alone_teaches(shared: Service, owner: str) -> None:
    told(shared, owner, used=["hill"], feedback_id="kept")
    alone = asked(shared, owner)
    told(shared, owner, used=["lake"], wrong=["harbour"], feedback_id="late")
    assert shown(asked(shared, owner)) != shown(alone)
    assert shared.http.delete(f"/v1/citizens/{owner}/feedback/late").status_code == 200
    again = asked(shared, owner)
    assert (shown(again), again["learned"]) == (shown(alone), alone["learned"])


def test_feedback_is_of_its_moment_and_of_its_citizen_alone(shared: Service, owner: str) -> None:
    other = f"{owner}.other"
    for name, text in CLINICS.items():
        shared.remember(other, id=name, name=name, text=text)
    before = asked(shared, other)
    late = shared.remember(owner, id="late", name="late", text="Nothing else.")["created_at"]
    told(shared, owner, used=["lake"])
    assert shown(asked(shared, other)) == shown(before)
    then = {"as_of_time": "2100-01-01T00:00:00Z", "known_at": late}
    assert "learned" not in asked(shared, owner, **then)
    assert asked(shared, owner, **then | {"known_at": "now"})["learned"]["told"] == 1


def test_a_feedback_sent_again_counts_once_and_another_one_under_its_id_is_refused(
    shared: Service, owner: str
) -> None:
    first = told(shared, owner, used=["hill"], feedback_id="mine")
    assert told(shared, owner, used=["hill"], feedback_id="mine") == first
    other = {"query": QUESTION, "used": ["lake"], "feedback_id": "mine"}
    problem_in(shared.http.post(f"/v1/citizens/{owner}/feedback", json=other), 409)
    assert len(shared.http.get(f"/v1/citizens/{owner}/feedback").json()["feedback"]) == 1


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"used": []}, "all empty"),
        ({"query": None, "used": ["hill"]}, "query_text is missing"),
        ({"not_changed": [{"earlier": "hill", "later": "nowhere"}]}, "not_changed.0.later: there is no memory"),
        ({"not_changed": [{"earlier": "hill"}]}, "not_changed.0.later"),
        ({"not_changed": [{"earlier": "hill", "later": "lake", "why": "x"}]}, "not_changed.0.why"),
        ({"not_changed": [{"earlier": "hill", "later": "lake"}] * 51}, "50"),
        ({"used": ["hill"], "wrong": ["lake", "hill"]}, "hill cannot be both"),
        ({"used": ["nowhere"]}, "used.0: there is no memory nowhere"),
        ({"used": ["hill"], "wrong": ["nowhere"]}, "wrong.0: there is no memory nowhere"),
        ({"used": ["hill"], "query_levels": ["N3"]}, "there is no memory hill in N3"),
        ({"used": [f"m{number}" for number in range(51)]}, "50"),
        ({"used": "hill"}, "used"),
        ({"used": ["hill"], "query": " "}, "query is empty"),
        ({"used": ["hill"], "useful": ["hill"]}, "useful"),
    ],
)
def test_bad_feedback_is_refused_and_changes_nothing(
    shared: Service, owner: str, body: dict[str, Any], word: str
) -> None:
    with shared.unchanged():
        sent = {"query": QUESTION, **body}
        problem = problem_in(shared.http.post(f"/v1/citizens/{owner}/feedback", json=sent), 422)
    assert word in json.dumps(problem)


def test_an_unknown_citizen_and_an_unknown_feedback_are_not_found(shared: Service, owner: str) -> None:
    with shared.unchanged():
        nobody = f"/v1/citizens/{owner}x/feedback"
        problem_in(shared.http.post(nobody, json={"query": QUESTION, "used": ["hill"]}), 404)
        problem_in(shared.http.get(nobody), 404)
        problem_in(shared.http.delete(nobody), 404)
        problem_in(shared.http.delete(f"/v1/citizens/{owner}/feedback/none"), 404)


def test_a_key_needs_the_right_to_write_and_to_read_the_levels_that_it_names(shared: Service, owner: str) -> None:
    body = {"query": QUESTION, "used": ["hill"]}
    path = f"/v1/citizens/{owner}/feedback"
    with shared.client(shared.key(f"citizen:{owner}:read")) as reader:
        problem_in(reader.post(path, json=body), 403)
        problem_in(reader.delete(path), 403)
        assert reader.get(path).status_code == 200
    with shared.client(shared.key(f"citizen:{owner}:write")) as writer:
        problem_in(writer.post(path, json={**body, "query_levels": ["N1", "N2"]}), 403)
        kept = writer.post(path, json=body)
        assert (kept.status_code, kept.json()["query_levels"]) == (201, ["N1"])
        assert "N2, N3 was left out" in kept.headers["Substrate-Notes"]
    with shared.client(shared.key(f"citizen:{owner}x:*")) as stranger:
        problem_in(stranger.post(path, json=body), 404)


def test_an_export_carries_feedback_and_erasing_a_memory_erases_what_named_it(
    shared: Service, owner: str, substrate: Command, tmp_path: Path
) -> None:
    told(shared, owner, used=["hill"], feedback_id="one")
    told(shared, owner, used=["lake"], feedback_id="two")
    exported = shared.http.get(f"/v1/citizens/{owner}/export")
    (tmp_path / "export.jsonl").write_bytes(exported.content)
    copy = f"{owner}.copy"
    assert substrate("import", str(tmp_path / "export.jsonl"), "-c", copy).code == 0
    pages = [shared.http.get(f"/v1/citizens/{name}/feedback").json() for name in (owner, copy)]
    assert pages[0]["feedback"] == pages[1]["feedback"]
    assert pages[0]["learned"] == pages[1]["learned"]
    assert shown(asked(shared, copy)) == shown(asked(shared, owner))
    erased = shared.http.post("/v1/memories/N1/hill/erase", json={"citizen_id": owner})
    assert erased.json()["removed"]["feedback"] == 1
    left = shared.http.get(f"/v1/citizens/{owner}/feedback").json()
    assert [one["feedback_id"] for one in left["feedback"]] == ["two"]
    gone = shared.http.delete(f"/v1/citizens/{owner}")
    assert gone.json()["removed"]["feedback"] == 1
    broken = exported.text.replace('"used":["hill"]', '"used":["hill|"]')
    (tmp_path / "broken.jsonl").write_text(broken)
    assert "used" in substrate("import", str(tmp_path / "broken.jsonl"), "-c", f"{owner}.no").err


def test_an_export_of_what_was_known_says_nothing_of_later_feedback(shared: Service, owner: str) -> None:
    late = shared.remember(owner, id="late", name="late", text="Nothing else.")["created_at"]
    then = {"known_at": late}
    before = shared.http.get(f"/v1/citizens/{owner}/export", params=then).text
    told(shared, owner, used=["hill"])
    after = shared.http.get(f"/v1/citizens/{owner}/export", params=then).text
    assert "feedback_at" not in before + after
    assert "feedback_at" in shared.http.get(f"/v1/citizens/{owner}/export").text


def test_feedback_on_a_memory_that_is_erased_meanwhile_is_refused_and_leaves_nothing(
    shared: Service, owner: str, substrate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def erase_then_ask(*given: Any) -> Lesson:
        await asyncio.to_thread(shared.http.post, "/v1/memories/N1/hill/erase", json={"citizen_id": owner})
        return Lesson({}, {})

    monkeypatch.setattr("orchestration.features.feedback.feature._ask_again", erase_then_ask)
    assert "hill" in substrate("feedback", "-c", owner, QUESTION, "--used", "hill").err
    assert shared.http.get(f"/v1/citizens/{owner}/feedback").json()["feedback"] == []
