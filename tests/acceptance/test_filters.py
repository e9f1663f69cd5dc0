"""Filters as their users meet them: over REST, MCP, the Python client and the command line, by the same names."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from api.client import Substrate
from tests.acceptance.conftest import Service, problem_in
from tests.acceptance.test_cli import Command
from tests.acceptance.test_mcp import over_http, text_of
from tests.acceptance.test_rest_pages import get

SAID = (
    ("t0", "Ada", "monday", "2026-03-02T10:00:00Z"),
    ("t1", "Luca", "monday", "2026-03-02T11:00:00Z"),
    ("t2", "Ada", "tuesday", "2026-03-03T10:00:00Z"),
)
FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({"speakers": ["Ada"]}, ["t0", "t2"]),
    ({"speakers": ["Ada", "Luca"], "episodes": ["monday"]}, ["t0", "t1"]),
    ({"node_types": ["Turn"], "tags": ["t2"], "buckets": ["talk"], "sources": ["citizen"]}, ["t2"]),
    ({"valid_from": "2026-03-02T11:00:00Z", "valid_to": "2026-03-03T00:00:00Z"}, ["t1"]),
    ({"sources": ["tool"]}, []),
]


@pytest.fixture
def talked(service: Service, citizen: str) -> str:
    for memory_id, speaker, episode, time in SAID:
        fields = {"speaker": speaker, "episode_id": episode, "valid_at": time, "node_type": "Turn"}
        felt = {"emotion_vector": {"joy": 0.9}, "resolution_state": "in_progress", "goal": "kettle", "energy": 0.5}
        text = {"name": "The kettle", "description": f"The kettle sings, said {memory_id}."}
        service.remember(citizen, id=memory_id, tags=[memory_id], buckets=["talk"], **text, **fields, **felt)
    return citizen


def shown(stream: Any) -> list[str]:
    tiers = stream["activation_tiers"]
    return sorted(one["node_id"] for tier in ("focus", "peripheral", "background") for one in tiers[tier])


def by_rest(service: Service, citizen: str, filters: dict[str, Any]) -> list[list[str]]:
    def post(way: str, **fields: Any) -> Any:
        asked = {"citizen_id": citizen, "query_levels": ["N1"], "filters": filters, **fields}
        answer = service.http.post(f"/v1/{way}", json=asked)
        assert answer.status_code == 200, answer.text
        return answer.json()

    resonances = post("resonate", query_text="kettle")["levels"]["n1_personal"]
    walked = post("associate", query_text="kettle")
    return [
        shown(post("retrieve", query_text="kettle")),
        shown(post("wake", current_energy=0.5, current_emotions={"joy": 0.9})),
        sorted(one["memory"]["node_id"] for one in resonances),
        sorted(one["memory"]["node_id"] for one in (*walked["anchors"], *walked["neighbours"])),
        [one["node_id"] for one in get(service, citizen, "memories", **filters)["memories"]],
    ]


def by_client(service: Service, citizen: str, filters: dict[str, Any]) -> list[list[str]]:
    with Substrate(service.url, api_key=service.key("admin")) as client:
        asked: dict[str, Any] = {"citizen_id": citizen, "query_levels": ["N1"], "filters": filters}
        stream = client.retrieve(query="kettle", **asked)
        woken = client.wake(energy=0.5, emotions={"joy": 0.9}, **asked)
        resonances = client.resonate(query="kettle", **asked).levels["n1_personal"]
        anchors = client.associate(query="kettle", **asked).anchors
        listed = client.list_memories(citizen_id=citizen, **filters).memories
    return [
        sorted(one.node_id for one in stream.activation_tiers.ordered()),
        sorted(one.node_id for one in woken.activation_tiers.ordered()),
        sorted(one.memory.node_id for one in resonances),
        sorted(one.memory.node_id for one in anchors),
        [one.node_id for one in listed],
    ]


@pytest.mark.parametrize("door", [by_rest, by_client])
@pytest.mark.parametrize(("filters", "expected"), FILTERS, ids=str)
def test_every_way_of_asking_takes_the_filters(
    service: Service,
    talked: str,
    door: Callable[[Service, str, dict[str, Any]], list[list[str]]],
    filters: dict[str, Any],
    expected: list[str],
) -> None:
    assert door(service, talked, filters) == [expected] * 5


async def test_a_model_asks_with_filters(service: Service, talked: str) -> None:
    async with over_http(service) as client:
        for filters, expected in FILTERS:
            for tool, words in (
                ("recall", {"query": "kettle"}),
                ("wake", {"energy": 0.5, "emotions": {"joy": 0.9}}),
            ):
                answer = await client.call_tool(tool, {"citizen_id": talked, "filters": filters, **words})
                assert not answer.is_error, text_of(answer)
                assert [one for one, *_ in SAID if one in text_of(answer)] == expected


def test_the_command_line_takes_the_filters(
    service: Service, talked: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = Command(service.data, capsys)
    for filters, expected in FILTERS:
        options = []
        for name, values in filters.items():
            for value in [values] if isinstance(values, str) else values:
                options += ["--filter", f"{name}={value}"]
        for words in (("ask", "kettle"), ("wake", "--energy", "0.5", "--emotion", "joy=0.9")):
            said = command(*words, "-c", talked, "--json", "--level", "N1", *options)
            assert said.code == 0, said.err
            assert shown(json.loads(said.out)) == expected
        for words in (("resonate", "kettle"), ("associate", "kettle")):
            said = command(*words, "-c", talked, "--json", *options)
            assert [one for one, *_ in SAID if f'"node_id":"{one}"' in said.out] == expected


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--filter", "speakers"], "'speakers' is not NAME=VALUE"),
        (["--filter", "speakers="], "'speakers=' is not NAME=VALUE"),
        (["--filter", "speaker=Ada"], "did you mean `speakers`"),
        (["--filter", "valid_from=soon"], "'soon' is no time"),
        (["--filter", "sources=dream"], "--filter (sources.0)"),
        (["--filter", "valid_from=2026-03-02", "--filter", "valid_to=2026-03-01"], "valid_to must lie after"),
    ],
    ids=str,
)
def test_a_filter_that_is_none_is_refused(
    service: Service, talked: str, capsys: pytest.CaptureFixture[str], options: list[str], fault: str
) -> None:
    said = Command(service.data, capsys)("ask", "kettle", "-c", talked, *options)
    assert said.code != 0
    assert fault in said.err.replace("\n", " ")


def test_a_value_that_nobody_has_is_named_in_answers_and_lists(service: Service, talked: str) -> None:
    note = "no memory has the speaker 'luca': did you mean 'Luca'?"
    asked = {"citizen_id": talked, "query_text": "kettle", "filters": {"speakers": ["luca"]}}
    assert note in service.http.post("/v1/retrieve", json=asked).json()["notes"]
    assert get(service, talked, "memories", speakers="luca")["notes"] == [note]


def test_a_list_refuses_filters_that_are_none(service: Service, talked: str) -> None:
    refused = service.http.get(
        "/v1/memories", params={"citizen_id": talked, "valid_from": "2026-03-02", "valid_to": "2026-03-01"}
    )
    assert "valid_to must lie after valid_from" in problem_in(refused, 422)["detail"]
