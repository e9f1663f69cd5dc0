"""`/metrics` and the log as an operator meets them: numbers that move with what happened, and nobody's words."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from api.runtime.runtime import open_runtime
from api.telemetry import metrics
from api.telemetry.logs import REQUEST_STATE, JsonLineFormatter
from api.telemetry.metrics import READ_AT_ONCE
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.graphs.graph import Graph
from substrate.store import reader
from tests.acceptance.conftest import ADMIN_KEY, Service, problem_in
from tests.integration.store import remember, stored
from tests.waiting import wait_until

type Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]

FELT = {"current_energy": 0.5, "current_emotions": {"joy": 0.5}}
SECRET = "Marzipan under the third stair"


def scrape(service: Service) -> Samples:
    answer = service.http.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def grown(before: Samples, after: Samples, name: str, **labels: str) -> float:
    key = (name, tuple(sorted(labels.items())))
    return after.get(key, 0) - before.get(key, 0)


def test_a_stream_shows_in_every_histogram_of_it(service: Service, citizen: str) -> None:
    service.remember(citizen, id="m", name="a teapot")
    before = scrape(service)
    stream = service.http.post("/v1/retrieve", json={"citizen_id": citizen, "query_text": "teapot"}).json()
    assert service.http.post("/v1/wake", json={"citizen_id": citizen, **FELT}).status_code == 200
    after = scrape(service)
    assert grown(before, after, "substrate_stream_seconds_count", door="retrieve") == 1
    assert grown(before, after, "substrate_stream_seconds_count", door="wake") == 1
    sum_of = grown(before, after, "substrate_stream_seconds_sum", door="retrieve")
    assert sum_of == pytest.approx(stream["retrieval_latency_ms"] / 1000)
    for stage in stream["stage_ms"]:
        assert grown(before, after, "substrate_stream_stage_seconds_count", stage=stage) >= 1
    for timing in stream["timings"]:
        query = timing["query"]
        assert grown(before, after, "substrate_stream_query_seconds_count", query=query) >= 1
        assert grown(before, after, "substrate_stream_query_rows_sum", query=query) >= timing["rows"]
    assert grown(before, after, "substrate_stream_tokens_count") == 2
    assert grown(before, after, "substrate_degraded_streams_total", door="retrieve") == bool(stream["degraded"])


def test_receipts_are_counted_by_what_became_of_the_command(service: Service, citizen: str) -> None:
    before = scrape(service)
    good = {"citizen_id": citizen, "id": "m", "name": "n", "command_id": f"c-{citizen}"}
    service.http.post("/v1/memories", json=[good, {"citizen_id": citizen}])
    service.http.post("/v1/memories", json=good)
    messages = [{"role": "user", "content": "Hello."}]
    report = service.http.post("/v1/episodes", json={"citizen_id": citizen, "messages": messages}).json()
    after = scrape(service)
    stored = grown(before, after, "substrate_receipts_total", status="stored")
    assert stored == 1 + report["stored"]
    assert grown(before, after, "substrate_receipts_total", status="duplicate") == 1
    assert grown(before, after, "substrate_receipts_total", status="refused") == 1


def test_requests_are_counted_by_route_never_by_address(service: Service, citizen: str) -> None:
    before = scrape(service)
    path = f"/v1/citizens/{citizen}/identity"
    status = str(service.http.get(path).status_code)
    service.http.get(f"/nowhere/{citizen}")
    service.http.request("BREW", f"/v1/citizens/{citizen}")
    after = scrape(service)
    name = "substrate_http_request_seconds_count"
    assert grown(before, after, name, method="GET", route="/v1/citizens/{citizen_id}/identity", status=status) == 1
    assert grown(before, after, name, method="GET", route="none", status="404") == 1
    assert sum(
        grown(before, after, name, **dict(labels))
        for found, labels in after
        if found == name and ("method", "other") in labels
    )
    assert not any(citizen in str(key) for key in after)


@pytest.mark.parametrize("kind", ["memories/{level}/{memory_id}", "links/{level}/{link_id}"])
@pytest.mark.parametrize("action", ["supersede", "correct", "retract", "resolve", "undo"])
def test_a_revision_is_counted_under_its_whole_path(
    service: Service, citizen: str, kind: str, action: str
) -> None:
    before = scrape(service)
    path = kind.format(level="N1", memory_id="nobody", link_id="nobody")
    service.http.post(f"/v1/{path}/{action}", json={"citizen_id": citizen})
    labels = {"method": "POST", "route": f"/v1/{kind}/{action}"}
    name = "substrate_http_request_seconds_count"
    assert sum(grown(before, scrape(service), name, **labels, status=status) for status in ("404", "422")) == 1


def test_the_sizes_are_those_of_the_engine(service: Service, citizen: str) -> None:
    before = scrape(service)
    service.remember(citizen, id="m", name=SECRET)
    earlier = service.contents(notes=True)
    for _ in range(1 + len(earlier) // READ_AT_ONCE):
        after = scrape(service)  # of many graphs one scrape reads only some
    later = service.contents(notes=True)
    fewest, most = (
        [counts[0] for name, counts in held.items() if name.startswith("citizen_")] for held in (earlier, later)
    )
    assert after["substrate_graphs", (("level", "N1"),)] == len(most)
    # Notes of streams may be stored between the three readings.
    assert sum(fewest) <= after["substrate_nodes", (("level", "N1"),)] <= sum(most)
    assert grown(before, after, "substrate_graphs", level="N1") == 1
    assert after["substrate_engine_memory_bytes", ()] > 1_000_000
    assert after["substrate_engine_up", ()] == 1
    assert after["substrate_http_requests_in_flight", ()] == 1
    assert SECRET not in service.http.get("/metrics").text


async def test_of_many_graphs_a_scrape_reads_only_some_and_the_next_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "READ_AT_ONCE", 3)
    read, count_nodes = set[str](), reader.count_nodes

    async def count_and_note(graph: Graph) -> dict[str, int]:
        read.add(graph.name)
        return await count_nodes(graph)

    monkeypatch.setattr(reader, "count_nodes", count_and_note)
    settings = Settings(store=StoreSettings(data=tmp_path / "data"), embedding=EmbeddingSettings(embedding="none"))
    async with open_runtime(settings) as runtime:
        await stored(runtime.deps, *(remember(f"c{number}", "m") for number in range(6)))
        every = {f"citizen_c{number}" for number in range(6)}
        seen: list[set[str]] = []
        for _ in range(4):
            assert b'substrate_graphs{level="N1"} 6.0' in await metrics.render_metrics(runtime)
            seen.append({*read})
            read.clear()
        assert seen[0] == seen[1] | seen[2] == every
        assert (len(seen[1]), seen[3]) == (3, seen[1])


async def test_a_scrape_does_not_wait_for_all_sizes_and_later_ones_have_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "READ_WITHIN_S", 0.01)
    go_on, count_nodes = asyncio.Event(), reader.count_nodes

    async def count_later(graph: Graph) -> dict[str, int]:
        await go_on.wait()
        return await count_nodes(graph)

    monkeypatch.setattr(reader, "count_nodes", count_later)
    settings = Settings(store=StoreSettings(data=tmp_path / "data"), embedding=EmbeddingSettings(embedding="none"))
    async with open_runtime(settings) as runtime:
        await stored(runtime.deps, *(remember(f"c{number}", "m") for number in range(6)))
        for _ in range(2):
            told = await metrics.render_metrics(runtime)
            assert b'substrate_graphs{level="N1"} 6.0' in told
            assert b"substrate_nodes{" not in told
        go_on.set()
        monkeypatch.setattr(metrics, "READ_WITHIN_S", 30.0)
        assert b'substrate_nodes{level="N1"}' in await metrics.render_metrics(runtime)


def test_metrics_are_for_upkeep_and_administrators(service: Service) -> None:
    with service.client(None) as http:
        problem_in(http.get("/metrics"), 401)
    with service.client(service.key("citizen:*:*", "N2:*", "N3:*")) as http:
        problem_in(http.get("/metrics"), 403)
    with service.client(service.key("upkeep")) as http:
        assert http.get("/metrics").status_code == 200


def restarted(service: Service) -> bool:
    figures = scrape(service)
    return bool(figures["substrate_engine_up", ()] and figures["substrate_engine_restarts_total", ()])


def test_an_engine_that_was_started_again_is_counted(tmp_path: Path) -> None:
    own = Service(tmp_path, embedding="none")
    try:
        assert scrape(own)["substrate_engine_restarts_total", ()] == 0
        os.kill(own.engine_pid(), signal.SIGKILL)
        wait_until(lambda: restarted(own))
        assert scrape(own)["substrate_engine_restarts_total", ()] == 1
    finally:
        own.stop()


def test_a_line_of_the_log_says_which_request_and_which_citizens_it_is_about() -> None:
    class CallerOf:
        citizens = frozenset(("grace", "ada"))

    try:
        raise ValueError("no")
    except ValueError:
        failed = sys.exc_info()
    record = logging.LogRecord("api.x", logging.WARNING, __file__, 1, "slow %s", ("query",), failed)
    token = REQUEST_STATE.set({"request_id": "r1", "caller": CallerOf()})
    try:
        said = json.loads(JsonLineFormatter().format(record))
    finally:
        REQUEST_STATE.reset(token)
    assert (said["level"], said["logger"], said["message"]) == ("WARNING", "api.x", "slow query")
    assert (said["request_id"], said["citizens"]) == ("r1", ["ada", "grace"])
    assert said["exception"].endswith("ValueError: no")
    assert "request_id" not in json.loads(JsonLineFormatter().format(record))
    assert ADMIN_KEY not in str(said)
