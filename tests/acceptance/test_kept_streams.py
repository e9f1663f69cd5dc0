"""The same question again, as clients and operators meet it: the same answer to whoever may have it."""

from __future__ import annotations

from typing import Any

from httpx import Client

from tests.acceptance.conftest import Service, problem_in
from tests.acceptance.test_metrics import grown, scrape

OWN = {"intention_id", "stream_id", "retrieved_at", "retrieval_latency_ms", "stage_ms", "token_counts"}


def ask(http: Client, citizen: str, **how: Any) -> dict[str, Any]:
    """The answer without its own ids and times, by their names."""
    answer = http.post("/v1/retrieve", json={"citizen_id": citizen, "query_text": "Where is the teapot?", **how})
    assert answer.status_code == 200, answer.text
    assert f"open;dur={answer.json()['stage_ms']['open']:g}" in answer.headers["Server-Timing"]
    stream: dict[str, Any] = answer.json()
    return stream


def said(stream: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in stream.items() if name not in OWN}


def test_the_same_question_gets_the_same_answer_under_its_own_name_and_is_counted_as_a_hit(
    service: Service, citizen: str
) -> None:
    service.remember(citizen, id="m", name="a teapot")
    before = scrape(service)
    streams = [ask(service.http, citizen, query_levels=["N1"], form=form) for form in ("full", "references") * 2]
    after = scrape(service)
    assert [("kept" in stream["stage_ms"]) for stream in streams] == [False, True, True, True]
    assert [said(stream) for stream in streams[:2]] == [said(stream) for stream in streams[2:]]
    assert len({stream["stream_id"] for stream in streams}) == 4
    assert grown(before, after, "substrate_cache_hits_total", cache="streams") == 3
    assert grown(before, after, "substrate_cache_misses_total", cache="streams") == 1
    assert grown(before, after, "substrate_cache_bytes", cache="streams") > 0
    assert grown(before, after, "substrate_stream_seconds_count", door="retrieve") == 4
    assert grown(before, after, "substrate_stream_stage_seconds_count", stage="kept") == 3
    assert grown(before, after, "substrate_stream_query_seconds_count", query="N1_graph") == 1


def test_what_one_key_may_read_is_not_told_to_another(service: Service, citizen: str) -> None:
    secret = f"the teapot of {citizen} is under the stair"
    service.remember(citizen, id="m", name="a teapot")
    service.remember(citizen, id=f"shared-{citizen}", name="a teapot", description=secret, level="N2")
    own = f"citizen:{citizen}:read"
    wide, narrow = service.key(own, "N2:read", "N3:read"), service.key(own)
    for key, knows in ((wide, True), (narrow, False), (wide, True), (narrow, False)):
        with service.client(key) as http:
            stream = ask(http, citizen)
            assert (secret in str(stream)) == knows
            assert any("may not read" in note for note in stream["notes"]) != knows
    with service.client(service.key("citizen:somebody:read")) as http:
        asked = {"citizen_id": citizen, "query_text": "Where is the teapot?"}
        problem_in(http.post("/v1/retrieve", json=asked), 404)
