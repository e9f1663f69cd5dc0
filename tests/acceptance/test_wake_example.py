"""The example `examples/ada` over HTTP: ingested through the routes, and woken in four modes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Service

HOME = Path(__file__).parents[2] / "examples" / "ada"
EXPECTED: dict[str, Any] = json.loads((HOME / "expect.json").read_text("utf-8"))
FILES = ("n1_personal.jsonl", "n2_collective.jsonl", "n3_ecosystem.jsonl")
TIMES = ("valid_at", "effective_at")
ROUTES = {"remember": "/v1/memories", "relate": "/v1/links"}
WAKINGS: dict[str, dict[str, Any]] = {one["state"]["query_mode"]: one for one in EXPECTED["wake"]}

type Line = dict[str, Any]
type Stream = dict[str, Any]


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


@pytest.fixture(scope="module")
def ada(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service of its own that holds Ada's life."""
    service = Service(tmp_path_factory.mktemp("ada"))
    for name in FILES:
        take_in(service, name)
    yield service
    service.stop()


def woken(ada: Service, mode: str, **fields: Any) -> Stream:
    state = {name: said for name, said in WAKINGS[mode]["state"].items() if name != "generated_at"}
    answer = ada.http.post("/v1/wake", json={**state, **fields})
    assert answer.status_code == 200, answer.text
    stream: Stream = answer.json()
    assert stream["degraded"] == []
    return stream


def answers(stream: Stream) -> list[str]:
    """What stands in the place of the traversal, by level: the mode's own answers, then what hangs on them."""
    return [node["node_id"] for level in stream["levels"].values() for node in level["graph_results"]]


def nodes(stream: Stream) -> dict[str, dict[str, Any]]:
    """All that is active, most active first."""
    return {node["node_id"]: node for tier in stream["activation_tiers"].values() for node in tier}


def since(node: dict[str, Any]) -> timedelta:
    return datetime.now(UTC) - datetime.fromisoformat(node["valid_at"])


@pytest.mark.parametrize("mode", WAKINGS)
def test_each_waking_brings_what_a_reader_of_the_life_expects(ada: Service, mode: str) -> None:
    stream = woken(ada, mode)
    wanted = [*WAKINGS[mode]["expect"], *WAKINGS[mode].get("also", ())]
    assert set(wanted) <= set(nodes(stream))
    assert stream["query_count"] == len(stream["timings"]) == 6


def test_open_work_under_the_goal_comes_first_and_nothing_finished_comes(ada: Service) -> None:
    found = nodes(woken(ada, "find_related_unresolved"))
    assert set(list(found)[:8]) == set(WAKINGS["find_related_unresolved"]["expect"])
    assert {node.get("resolution_state") for node in found.values()} == {"in_progress", "blocked"}
    assert max(since(found[name]) for name in list(found)[:8]) < timedelta(days=31)
    assert "ada.document.phase3-draft" in found


def test_for_all_time_the_draft_from_june_counts_in_full(ada: Service) -> None:
    found = nodes(woken(ada, "find_related_unresolved", temporal_scope="all_time"))
    assert found["ada.document.phase3-draft"]["resolution_state"] == "in_progress"
    assert since(found["ada.document.phase3-draft"]) > timedelta(days=60)
    assert set(WAKINGS["find_related_unresolved"]["expect"]) < set(found)


def test_with_the_resolved_too_finished_work_under_the_goal_comes_as_well(ada: Service) -> None:
    only = answers(woken(ada, "find_related_unresolved", current_goal="design_retrieval_architecture"))
    both = woken(
        ada, "find_related_unresolved", current_goal="design_retrieval_architecture", include_only_unresolved=False
    )
    assert "ada.decision.filter-after" not in only
    assert "ada.decision.filter-after" in answers(both)
    assert "resolved" in {node.get("resolution_state") for node in nodes(both).values()}


def test_without_a_goal_open_work_comes_by_likeness_of_state(ada: Service) -> None:
    stream = woken(ada, "find_related_unresolved", current_goal=None)
    found = nodes(stream)
    assert {node.get("resolution_state") for node in found.values()} == {"in_progress", "blocked"}
    first = next(iter(found.values()))
    assert abs(first["energy"] - 0.7) <= 0.2
    assert len({node["goal"] for node in found.values()}) > 2


def test_a_like_state_brings_the_three_memories_in_the_order_that_ada_remembers(ada: Service) -> None:
    stream = woken(ada, "find_similar_state")
    wanted = WAKINGS["find_similar_state"]["expect"]
    assert list(nodes(stream))[:3] == wanted
    assert [node["node_id"] for node in stream["levels"]["n1_personal"]["vector_results"]][:3] == wanted
    for node in stream["levels"]["n1_personal"]["vector_results"]:
        assert {"joy", "calm"} & set(node["emotion_vector"])
        assert abs(node["energy"] - 0.4) <= 0.25


def test_waking_by_activity_shows_recent_memories_in_progress(ada: Service) -> None:
    stream = woken(ada, "find_what_i_was_doing")
    found = nodes(stream)
    doing = [name for name, node in found.items() if node.get("resolution_state") == "in_progress"]
    assert set(WAKINGS["find_what_i_was_doing"]["expect"]) <= set(doing[:6])
    assert list(found)[: len(doing)] == doing
    assert max(since(found[name]) for name in doing) < timedelta(days=31)
    assert answers(stream)[:4] == [
        "ada.action.path-narratives",
        "ada.action.evolution-tests",
        "ada.m.dissonance-grouping",
        "ada.action.mirror-candle",
    ]


def test_patterns_tell_what_blocked_what_resolved_it_and_what_came_of_it(ada: Service) -> None:
    patterns = woken(ada, "find_resolution_patterns")["resolution_patterns"]
    told = {one["blockage_id"]: one for one in patterns}
    assert [one["discovery_energy"] for one in patterns] == sorted(
        (one["discovery_energy"] for one in patterns), reverse=True
    )
    for blockage, resolution, step in (
        ("ada.m.starved-search", "ada.learning.k-before-where", "ada.decision.filter-after"),
        ("ada.m.slow-traversal", "ada.action.barrier", "ada.learning.planner-wrong-end"),
        ("ada.m.schema-review-blocked", "ada.action.asked-luca", "ada.decision.three-tiers"),
    ):
        assert told[blockage]["resolution_id"] == resolution
        assert step in told[blockage]["step_ids"]
        assert told[blockage]["emotional_likeness"] > 0.6


def test_of_patterns_of_equal_impact_a_recent_one_comes_before_an_old_one(ada: Service) -> None:
    recent = woken(ada, "find_resolution_patterns", temporal_scope="recent")["resolution_patterns"]
    known = {one["blockage_id"] for one in woken(ada, "find_resolution_patterns")["resolution_patterns"]}
    order = [one["blockage_id"] for one in recent]
    assert set(order) == known
    assert order.index("ada.m.starved-search") < order.index("ada.m.schema-review-blocked")


def test_a_waking_has_paths_of_thought_and_energy_to_give(ada: Service) -> None:
    stream = woken(ada, "find_resolution_patterns", explain=True)
    told = " | ".join(path["path_narrative"] for path in stream["traversal_graph"]["suggested_paths"])
    assert "Schema review blocked → Asked Luca what a mind cannot do without" in told
    assert 0.0 < stream["energy_feedback_potential"] < 1.0
    shares = {one["link_id"]: one["transfer"] for one in stream["energy_shares"]}
    assert set(shares) == {edge["edge_id"] for edge in stream["traversal_graph"]["edges"]}
    assert sum(shares.values()) / 150 == pytest.approx(stream["energy_feedback_potential"])
