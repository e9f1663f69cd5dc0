"""Traces by OpenTelemetry: a span for each request, and below it one for each query to the engine.

Imported only when a collector is set. A span names the route and the query, never an address, a parameter, a
citizen or a key. The SDK reads its own variables (`OTEL_*`: headers, sampler, name of the service).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.types import ASGIApp, Receive, Scope, Send

from api.asgi.messages import ResponseHeaders, is_public
from api.telemetry import logs, metrics

SERVICE: Final = "substrate"
FIRST_ERROR_STATUS: Final = 500
_parents: Final = TraceContextTextMapPropagator()


class Traces:
    """Sends spans in batches to the collector at `endpoint`; `close` sends the rest."""

    def __init__(self, endpoint: str, version: str) -> None:
        service = Resource({"service.name": SERVICE, "service.version": version})
        resource = service.merge(OTELResourceDetector().detect())
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        exporter = OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces")
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer(SERVICE, version)

    @contextmanager
    def span(self, name: str, kind: SpanKind, parent: Context | None = None) -> Iterator[Span]:
        """A span. It records only the type of an error, because the message may contain personal data."""
        with self._tracer.start_as_current_span(
            name, parent, kind, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as error:
                span.set_status(StatusCode.ERROR, type(error).__name__)
                raise

    @contextmanager
    def query(self, name: str) -> Iterator[None]:
        """The span of a query, from its sending to its answer."""
        with metrics.query_in_flight(name), self.span(name, SpanKind.CLIENT) as span:
            span.set_attributes({"db.system.name": "falkordb", "db.operation.name": name})
            yield

    def traced(self, app: ASGIApp) -> ASGIApp:
        """Wrap the application in a `TracingMiddleware`."""
        return TracingMiddleware(app, self)

    def close(self) -> None:
        """Send the remaining spans and shut down."""
        self._provider.shutdown()


class TracingMiddleware:
    """Opens a span for each request that is not public, below the span that the caller names, if any."""

    def __init__(self, app: ASGIApp, traces: Traces) -> None:
        self.app = app
        self.traces = traces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_public(scope["path"]):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        with self.traces.span(logs.shown_method(scope), SpanKind.SERVER, _parents.extract(headers)) as span:
            response = ResponseHeaders(send, {})
            try:
                await self.app(scope, receive, response)
            finally:
                route = logs.route_template(scope)
                if route is not None:
                    span.update_name(f"{logs.shown_method(scope)} {route}")
                    span.set_attribute("http.route", route)
                span.set_attribute("http.request.method", logs.shown_method(scope))
                span.set_attribute("http.response.status_code", response.status)
                span.set_attribute("substrate.request_id", scope["state"]["request_id"])
                if response.status >= FIRST_ERROR_STATUS:
                    span.set_status(StatusCode.ERROR)
