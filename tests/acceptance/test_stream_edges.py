"""Asking and waking at the edges, over HTTP: numbers out of range, odd graphs, a hub of ten thousand links."""

from __future__ import annotations

from typing import Any

import pytest
from redis import Redis

from substrate.engine.unix_socket import socket_path
from tests.acceptance.conftest import Service

NOBODY = "nobody-was-here"
QUESTION: dict[str, Any] = {"citizen_id": NOBODY, "query_text": "What of the sea?"}
STATE: dict[str, Any] = {"citizen_id": NOBODY, "current_energy": 0.5, "current_emotions": {"joy": 0.5}}
EVOLUTION: dict[str, Any] = {**QUESTION, "temporal_mode": "evolution"}
MODES = ("find_related_unresolved", "find_similar_state", "find_what_i_was_doing", "find_resolution_patterns")
LEAVES, GROWN_AT_ONCE = 10_000, 250

REFUSED = [
    ("retrieve", {**QUESTION, "current_energy": 1.01}, "current_energy: "),
    ("retrieve", {**QUESTION, "current_energy": -0.01}, "current_energy: "),
    ("retrieve", {**QUESTION, "current_emotions": {"joy": 1.01}}, "current_emotions.joy: "),
    ("retrieve", {**QUESTION, "reality_pressure": 1.01}, "reality_pressure: "),
    ("retrieve", {**QUESTION, "min_energy": -0.01}, "min_energy: "),
    ("retrieve", {**QUESTION, "current_goal": "g" * 100_000}, "current_goal: String should have at most"),
    ("retrieve", {**QUESTION, "max_tokens": 0}, "max_tokens: "),
    ("retrieve", {**QUESTION, "form": "short"}, "form: Input should be 'full', 'compact' or 'references'"),
    (
        "retrieve",
        {**EVOLUTION, "time_range_start": "2026-02-01T00:00:00Z", "time_range_end": "2026-01-01T00:00:00Z"},
        "time_range_end must lie after time_range_start",
    ),
    (
        "retrieve",
        {**EVOLUTION, "time_range_start": "2026-02-01T00:00:00Z", "time_range_end": "2026-02-01T00:00:00Z"},
        "time_range_end must lie after time_range_start",
    ),
    ("wake", {**STATE, "current_energy": -0.01}, "current_energy: "),
    ("wake", {**STATE, "current_energy": "high"}, "current_energy: "),
    ("wake", {**STATE, "current_emotions": {"joy": -0.01}}, "current_emotions.joy: "),
    ("wake", {**STATE, "current_emotions": {f"feeling {n}": 0.1 for n in range(65)}}, "current_emotions: "),
    ("wake", {**STATE, "query_mode": "find_peace"}, "query_mode: Input should be 'find_related_unresolved'"),
    ("wake", {**STATE, "temporal_scope": "tomorrow"}, "temporal_scope: Input should be 'recent' or 'all_time'"),
    ("wake", {**STATE, "current_goal": "g" * 100_000}, "current_goal: String should have at most"),
    ("wake", {**STATE, "max_tokens": 0}, "max_tokens: "),
    ("wake", {**STATE, "max_results_per_level": 101}, "max_results_per_level: "),
]


def refused(service: Service, route: str, **sent: Any) -> list[str]:
    """The faults of a refusal, which is small, whole, and changes nothing."""
    with service.unchanged():
        answer = service.http.post(f"/v1/{route}", **sent)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert len(answer.content) < 4096
    said = answer.json()
    return [*said.get("faults", ()), said["detail"]]


@pytest.mark.parametrize(("route", "body", "words"), REFUSED)
def test_a_value_out_of_range_is_refused(service: Service, route: str, body: Any, words: str) -> None:
    assert any(words in fault for fault in refused(service, route, json=body))


@pytest.mark.parametrize("route", ["retrieve", "wake"])
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize(
    "field", ['"current_energy": %s', '"current_energy": 0.5, "current_emotions": {"joy": %s}']
)
def test_numbers_that_are_none_are_refused(service: Service, route: str, number: str, field: str) -> None:
    body = f'{{"citizen_id": "{NOBODY}", {field % number}}}'.encode()
    headers = {"Content-Type": "application/json"}
    said = " ".join(refused(service, route, content=body, headers=headers))
    assert "infinity" in said if number == "1e999" else f"{number} is no JSON number" in said


def both(service: Service, citizen: str, **fields: Any) -> list[dict[str, Any]]:
    """The streams of a question and of the four ways to wake, which none of the odd graphs may fail or delay."""
    asked = [("retrieve", {**QUESTION, "temporal_mode": "full_history"}), ("retrieve", QUESTION)]
    asked += [("wake", {**STATE, "query_mode": mode, "temporal_scope": "all_time"}) for mode in MODES]
    streams = []
    for route, body in asked:
        answer = service.http.post(f"/v1/{route}", json={**body, "citizen_id": citizen, **fields})
        assert answer.status_code == 200, answer.text
        streams.append(answer.json())
        assert streams[-1]["degraded"] == []
    return streams


def active(stream: dict[str, Any]) -> list[str]:
    return [node["node_id"] for tier in stream["activation_tiers"].values() for node in tier]


def sea(service: Service, citizen: str, *names: str) -> None:
    for name in names:
        felt: dict[str, Any] = {"emotion_vector": {"joy": 0.5}, "resolution_state": "in_progress"}
        service.remember(citizen, id=name, name=f"The sea of {name}", description="Salt water.", **felt)


def test_a_citizen_that_never_wrote_gets_an_empty_stream_with_zeros(service: Service) -> None:
    with service.unchanged():
        streams = both(service, NOBODY, explain=True, query_levels=["N1"], apply_feedback=True)
        texts = both(service, NOBODY, form="compact", query_levels=["N1"])
    for stream in streams:
        graph, summary = stream["traversal_graph"], stream["consciousness_summary"]
        assert (active(stream), graph["nodes"], graph["edges"], graph["suggested_paths"]) == ([], [], [], [])
        assert (graph["graph_density"], stream["energy_feedback_potential"]) == (0.0, 0.0)
        assert (stream["energy_shares"], stream["resolution_patterns"]) == ([], [])
        assert "energy_feedback" not in stream
        assert stream["metadata_validation"]["quality_grade"] == "poor"
        assert stream["metadata_validation"]["average_completeness"] == 0.0
        assert (summary["total_results"], summary["dominant_energy"]) == (0, 0.0)
        assert summary["active_vs_historical_ratio"] == 0.0
        assert any("not known here" in note for note in stream["notes"])
    assert all(stream["text"].startswith("No memories were found.") for stream in texts)


def test_a_graph_of_one_memory_has_no_path_and_no_density(service: Service, citizen: str) -> None:
    sea(service, citizen, "one")
    streams = both(service, citizen, query_levels=["N1"])
    assert [active(stream) for stream in streams] == [["one"]] * 5 + [[]]
    for stream in streams:
        graph = stream["traversal_graph"]
        assert (graph["edges"], graph["suggested_paths"], graph["hub_nodes"]) == ([], [], [])
        assert (graph["graph_density"], stream["energy_feedback_potential"]) == (0.0, 0.0)


def test_a_graph_that_was_emptied_again_is_like_one_that_never_was(service: Service, citizen: str) -> None:
    sea(service, citizen, "gone")
    gone = service.http.post("/v1/memories/N1/gone/retract", json={"citizen_id": citizen})
    assert gone.status_code == 200, gone.text
    history, *others = both(service, citizen, query_levels=["N1"])
    assert active(history) == ["gone"]
    assert [active(stream) for stream in others] == [[]] * 5


def test_a_budget_of_one_token_holds_the_first_memory_and_says_what_was_left_out(
    service: Service, citizen: str
) -> None:
    sea(service, citizen, "north", "south")
    for stream in both(service, citizen, query_levels=["N1"], max_tokens=1)[:5]:
        assert (len(active(stream)), stream["omitted"]) == (1, 1)
    for stream in both(service, citizen, query_levels=["N1"], max_tokens=1, form="compact")[:5]:
        assert "1 memory did not fit" in stream["text"]


def test_cycles_are_walked_once(service: Service, citizen: str) -> None:
    sea(service, citizen, "a", "b", "c")
    for ends in (("a", "NEXT", "b"), ("b", "NEXT", "c"), ("c", "NEXT", "a"), ("a", "BACK", "c")):
        assert service.relate(citizen, ends).status_code == 201
    for stream in both(service, citizen, query_levels=["N1"])[:5]:
        assert sorted(active(stream)) == ["a", "b", "c"]
        assert stream["traversal_graph"]["edge_count"] == 4
        paths = stream["traversal_graph"]["suggested_paths"]
        assert paths
        assert all(len(set(path["path_nodes"])) == len(path["path_nodes"]) for path in paths)


def test_parallel_links_are_all_shown_and_the_strongest_is_walked(service: Service, citizen: str) -> None:
    sea(service, citizen, "a", "b")
    for number, energy in enumerate((0.2, 0.9, 0.4)):
        link = service.relate(citizen, ("a", "NEXT", "b"), id=f"{citizen}-{number}", energy=energy)
        assert link.status_code == 201, link.text
    for stream in both(service, citizen, query_levels=["N1"])[:5]:
        graph = stream["traversal_graph"]
        assert sorted(edge["edge_id"] for edge in graph["edges"]) == [f"{citizen}-{n}" for n in range(3)]
        assert [path["path_edges"] for path in graph["suggested_paths"]] == [[f"{citizen}-1"]]
        assert graph["graph_density"] == 1.5


def grow_leaves(service: Service, citizen: str) -> None:
    """Ten thousand memories on the hub, copied from its first leaf, put straight into the engine.

    A piece at a time: the engine ends a query after a second, and a busy machine needs more for all of them.
    """
    grow = (
        "MATCH (h:ConsciousnessNode {id: 'hub'})-[e:LINK]->(b {id: 'leaf'}) WITH h, e, b LIMIT 1 "
        "UNWIND range($first, $last) AS n CREATE (h)-[k:LINK]->(x:ConsciousnessNode) "
        "SET x = properties(b) SET x.id = 'leaf' + n SET k = properties(e) SET k.id = 'l' + n, k.handle = n"
    )
    with Redis(unix_socket_path=str(socket_path(service.data)), socket_timeout=None) as engine:
        for first in range(1, LEAVES + 1, GROWN_AT_ONCE):
            piece = f"CYPHER first={first} last={first + GROWN_AT_ONCE - 1} {grow}"
            engine.execute_command("GRAPH.QUERY", f"citizen_{citizen}", piece)


def test_a_hub_of_ten_thousand_links_is_bounded_and_hides_nothing(service: Service, citizen: str) -> None:
    sea(service, citizen, "hub", "leaf")
    assert service.relate(citizen, ("hub", "NEXT", "leaf"), energy=0.95).status_code == 201
    grow_leaves(service, citizen)
    for stream in both(service, citizen, query_levels=["N1"])[:5]:
        graph = stream["traversal_graph"]
        assert {"hub", "leaf"} & set(active(stream))
        assert graph["node_count"] <= 60
        assert graph["edge_count"] <= 200
        assert len(graph["suggested_paths"]) <= 10
