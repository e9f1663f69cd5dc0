"""Upkeep and the dry run over HTTP."""

from __future__ import annotations

from typing import Any

import httpx

from tests.acceptance.conftest import Service

SET = {"energy": 0.6, "confidence": 0.9, "emotion_vector": {"joy": 0.4}}


def swept(service: Service, citizen: str, **fields: Any) -> dict[str, Any]:
    answer = service.http.post("/v1/upkeep/sweep", json={"citizen_id": citizen, "levels": ["N1"], **fields})
    assert answer.status_code == 200, answer.text
    [report] = answer.json()["reports"]
    return dict(report)


def repaired(service: Service, task: Any) -> httpx.Response:
    return service.http.post("/v1/upkeep/repair", json={"task": task})


def test_a_sweep_finds_what_is_wrong_and_its_repairs_mend_it(service: Service, citizen: str) -> None:
    service.remember(citizen, id="tea", name="Tea", description="She drinks green tea", **SET)
    service.remember(citizen, id="tea2", name="Tea", description="She drinks green tea", **SET)
    service.remember(citizen, id="none", name="None", **SET)
    service.remember(citizen, id="plan", name="Plan of the week", description="null", goal="rest", **SET)
    assert service.relate(citizen, ("tea", "ABOUT", "tea2")).status_code == 201
    report = swept(service, citizen)
    assert report["findings_by_kind"] == {"junk": 2, "duplicate": 1}
    assert (report["scanned_nodes"], report["scanned_links"]) == (4, 1)
    for finding in report["findings"]:
        answer = repaired(service, finding["repair"])
        assert answer.status_code == 200, answer.text
        assert answer.json()["status"] == "done"
        assert repaired(service, finding["repair"]).json()["receipt"]["duplicate"]
    plan = service.http.get("/v1/memories/N1/plan", params={"citizen_id": citizen}).json()
    assert (plan["description"], plan["goal"], plan["emotion_vector"]) == ("", "rest", {"joy": 0.4})
    [left] = swept(service, citizen)["findings"]
    assert left["kind"] == "closed_end"
    assert repaired(service, left["repair"]).json()["status"] == "done"
    assert repaired(service, left["repair"]).json()["status"] == "gone"
    assert swept(service, citizen)["findings"] == []


def in_batches(service: Service, citizen: str, limit: int, **fields: Any) -> list[dict[str, Any]]:
    """The reports of a sweep over N1 in batches, each from where the one before says."""
    request = {"citizen_id": citizen, "levels": ["N1"], "limit": limit, **fields}
    reports: list[dict[str, Any]] = []
    after: dict[str, str] = {}
    while True:
        answer = service.http.post("/v1/upkeep/sweep", json={**request, **after})
        assert answer.status_code == 200, answer.text
        said = answer.json()
        reports += said["reports"]
        if said["next"] is None:
            return reports
        assert len(reports) < 50
        after = {"after": said["next"]}


def test_batches_find_together_what_the_whole_sweep_finds(service: Service, citizen: str) -> None:
    for number in range(7):
        service.remember(citizen, id=f"m{number}", name=f"Memory {number}", **SET)
    service.remember(citizen, id="none", name="None", **SET)
    service.remember(citizen, id="null", name="null", **SET)
    for number in range(6):
        assert service.relate(citizen, (f"m{number}", "NEXT", f"m{number + 1}")).status_code == 201
    whole = swept(service, citizen)
    with service.unchanged():
        for limit in (1, 2, 3, 4, 9, 10_000):
            reports = in_batches(service, citizen, limit)
            assert max(report["scanned_nodes"] for report in reports) <= limit
            for count in ("scanned_nodes", "scanned_links"):
                assert sum(report[count] for report in reports) == whole[count]
            found = [finding for report in reports for finding in report["findings"]]
            assert found == whole["findings"]
            assert sum(report["report"]["total_memories"] for report in reports) == 9


def test_a_sweep_changes_nothing_and_makes_no_graph(service: Service, citizen: str) -> None:
    with service.unchanged():
        report = swept(service, citizen)
    assert report["findings"] == []
    assert report["counts"]["memories"] == report["report"]["total_memories"] == 0


def test_bad_requests_are_refused_and_change_nothing(service: Service, citizen: str) -> None:
    task = {"action": "re-embed", "citizen_id": citizen, "id": "m", "version": 1}
    with service.unchanged():
        for path, body, status in [
            ("/v1/upkeep/sweep", {"levels": ["N1"]}, 422),
            ("/v1/upkeep/sweep", {"citizen_id": citizen, "levels": []}, 422),
            ("/v1/upkeep/sweep", {"citizen_id": citizen, "levels": ["N9"]}, 422),
            ("/v1/upkeep/sweep", {"citizen_id": "../x"}, 422),
            ("/v1/upkeep/sweep", {"citizen_id": citizen, "limit": 0}, 422),
            ("/v1/upkeep/sweep", {"citizen_id": citizen, "limit": 10_001}, 422),
            ("/v1/upkeep/sweep", {"citizen_id": citizen, "after": "N1:5"}, 422),
            ("/v1/upkeep/sweep", {"citizen_id": citizen, "limit": 5, "after": "N1:-5"}, 422),
            ("/v1/upkeep/sweep", {"citizen_id": citizen, "limit": 5, "after": "N4:5"}, 422),
            ("/v1/upkeep/sweep", {"citizen_id": citizen, "limit": 5, "after": "1" * 100_000}, 422),
            ("/v1/upkeep/sweep", {"citizen_id": citizen, "levels": ["N2"], "limit": 5, "after": "N1:5"}, 422),
            ("/v1/upkeep/repair", {"task": {"action": "drop-graph"}}, 422),
            ("/v1/upkeep/repair", {"task": {**task, "version": 0}}, 422),
            ("/v1/upkeep/repair", {"task": {**task, "citizen_id": None}}, 422),
            ("/v1/upkeep/repair", {"task": task}, 404),
            ("/v1/upkeep/repair", {}, 422),
        ]:
            answer = service.http.post(path, json=body)
            assert answer.status_code == status, (path, body, answer.text)
            assert answer.headers["content-type"] == "application/problem+json"


def test_the_dry_run_says_what_003_says_of_a_link(service: Service, citizen: str) -> None:
    whole = {
        "energy": 0.7,
        "confidence": 0.8,
        "emotion_vector": {},
        "goal": "g",
        "mindstate": "m",
        "energy_transfer_coefficient": 0.5,
        "resolution_state": "blocked",
        "a_field_of_tomorrow": [1, 2],
    }
    with service.unchanged():
        good = service.http.post("/v1/validation/link", json=whole).json()
        bad = service.http.post("/v1/validation/link", json={**whole, "energy": 2, "goal": None}).json()
        empty = service.http.post("/v1/validation/link", json={}).json()
        refused = service.http.post("/v1/validation/link", json=[whole])
    assert (good["valid"], good["errors"], len(good["warnings"])) == (True, [], 3)
    assert good["metadata_completeness"] == 7 / 13
    assert bad["errors"] == ["REQUIRED field invalid: energy (got int)", "REQUIRED field missing: goal"]
    assert (len(empty["errors"]), empty["metadata_completeness"]) == (7, 0.0)
    assert refused.status_code == 422


def test_each_sweep_of_a_whole_graph_adds_to_the_series_of_its_quality(service: Service, citizen: str) -> None:
    def read(**query: Any) -> httpx.Response:
        return service.http.get("/v1/upkeep/quality", params=query)

    assert read(citizen_id=citizen, level="N1").json() == {
        "series": [
            {"level": "N1", "collective": None, "citizen_id": citizen, "summaries": [], "fallen_from": None}
        ]
    }
    swept(service, citizen)
    assert read(citizen_id=citizen, level="N1").json()["series"][0]["summaries"] == []
    service.remember(citizen, id="tea", name="Tea", felt_quality="warm", goal="rest", **SET)
    first = swept(service, citizen)
    in_batches(service, citizen, 5)
    for number in range(4):
        service.remember(citizen, id=f"none{number}", name="None", emotion_vector={"joy": 0.4})
    second = swept(service, citizen)
    [series] = read(citizen_id=citizen).json()["series"][:1]
    grades = [summary["quality_grade"] for summary in series["summaries"]]
    assert grades == [report["report"]["quality_grade"] for report in (first, second)]
    assert [summary["total_memories"] for summary in series["summaries"]] == [1, 5]
    found = second["findings_by_kind"]
    assert sum(series["summaries"][1]["findings_by_severity"].values()) == sum(found.values()) > 4
    assert series["fallen_from"] == (None if grades[0] == grades[1] else grades[0])
    assert len(read(citizen_id=citizen, level="N1", limit=1).json()["series"][0]["summaries"]) == 1
    metrics = service.http.get("/metrics").text
    assert 'substrate_graphs_by_grade{grade="' in metrics
    assert 'substrate_metadata_completeness{level="N1"}' in metrics
    assert citizen not in metrics
    for query in (
        {"level": "N1"},
        {"limit": 0},
        {"limit": 501},
        {"level": "N4"},
        {"citizen_id": "../x"},
        {"x": 1},
    ):
        assert read(**query).status_code == 422, query
