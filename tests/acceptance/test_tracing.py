"""Traces as a collector on loopback receives them: what was asked, what the engine was sent, nobody's words."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from redis import Redis

from substrate.engine.unix_socket import socket_path
from tests.acceptance.conftest import ADMIN_KEY, Service
from tests.loopback import serving

SECRET = "Marzipan under the third stair"
CITIZEN = "xenophilia"
"""Part of no word that we use ourselves, as `ada` is of `metadata`."""
TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


class Collector(ThreadingHTTPServer):
    """Keeps the spans that it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spans: list[Span] = []
        self.bodies: list[bytes] = []

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
        sent = ExportTraceServiceRequest.FromString(body)
        assert self.path == "/v1/traces"
        self.server.bodies.append(body)
        for resource in sent.resource_spans:
            for scope in resource.scope_spans:
                self.server.spans += scope.spans
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with serving(Collector()) as server:
        yield server


def said(span: Span) -> dict[str, object]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value") or "") for one in span.attributes}


def test_a_request_and_each_of_its_queries_are_spans(
    tmp_path: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.server_port}/")
    service = Service(tmp_path, embedding="none")
    service.remember(CITIZEN, id="m", name=SECRET)
    called = {"traceparent": f"00-{TRACE}-{CALLER}-01", "X-Request-Id": "r1"}
    question = {"citizen_id": CITIZEN, "query_text": SECRET}
    assert service.http.post("/v1/retrieve", json=question, headers=called).status_code == 200
    assert service.http.get(f"/v1/memories/N1/{SECRET}", params={"citizen_id": CITIZEN}).status_code == 404
    assert service.http.get("/health/live").status_code == 200
    service.stop()
    [asked] = collector.named("POST /v1/retrieve")
    assert (asked.trace_id.hex(), asked.parent_span_id.hex()) == (TRACE, CALLER)
    assert said(asked) == {
        "http.request.method": "POST", "http.route": "/v1/retrieve", "http.response.status_code": 200,
        "substrate.request_id": "r1",
    }  # fmt: skip
    below = [span for span in collector.spans if span.parent_span_id == asked.span_id]
    queries = {said(span)["db.operation.name"] for span in below}
    assert len(queries) > 2
    assert all(span.kind == Span.SPAN_KIND_CLIENT and span.trace_id == asked.trace_id for span in below)
    assert all(asked.start_time_unix_nano <= span.start_time_unix_nano for span in below)
    assert collector.named("GET /v1/memories/{level}/{memory_id}")
    assert not [span for span in collector.spans if "health" in span.name]
    everything = b"".join(collector.bodies)
    for kept in (SECRET, "Marzipan", CITIZEN, ADMIN_KEY):
        assert kept.encode() not in everything


def test_a_fault_of_the_engine_is_an_error_of_its_kind_without_its_words(
    tmp_path: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.server_port}")
    service = Service(tmp_path, embedding="none")
    service.remember("ada", id="m", name=SECRET)
    with Redis(unix_socket_path=str(socket_path(service.data))) as engine:
        engine.delete("citizen_ada")
        engine.set("citizen_ada", SECRET)
    answer = service.http.get("/v1/memories/N1/m", params={"citizen_id": "ada"})
    service.stop()
    [failed] = collector.named("GET /v1/memories/{level}/{memory_id}")
    assert (answer.status_code, failed.status.code) == (500, Status.STATUS_CODE_ERROR)
    [query] = [span for span in collector.spans if span.parent_span_id == failed.span_id and span.status.code]
    assert query.status.message == "ResponseError"
    assert not query.events
    assert SECRET.encode() not in b"".join(collector.bodies)


def test_without_an_address_nothing_that_traces_is_loaded() -> None:
    program = (
        "import sys; from api.app import create_app; from schemas.settings import Settings; "
        "create_app(Settings()); "
        "print({'api.telemetry.traces', 'opentelemetry.sdk.trace', 'opentelemetry.exporter'} & sys.modules.keys())"
    )
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, env={})
    assert ran.stdout.strip() == "set()"
