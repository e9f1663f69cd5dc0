"""What `/metrics` says of this process, for Prometheus. Measured here, at the edge; nothing names a citizen.

Seconds throughout. The bounds of the histograms hold each alert threshold of 003's performance table, so that
the rules in `deploy/alerts.yaml` read exact shares.
"""

from __future__ import annotations

import asyncio
from collections import Counter as Tally
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from api.runtime.runtime import Runtime
from schemas.commands import WriteReceipt
from schemas.errors import SubstrateError
from schemas.stream import ConsciousnessStream
from substrate.connection.errors import GraphMissing
from substrate.engine.disk_space import free_at
from substrate.graphs.graph import Graph
from substrate.graphs.names import origin_of
from substrate.store import sizes

SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.035, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8, 1, 2.5, 5, 10)
METHODS: Final = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"))
PARALLEL_COUNTS: Final = 8
CHARACTERS_PER_TOKEN: Final = 4
"""Of English and JSON, roughly: enough to see a stream grow out of bounds."""

REGISTRY: Final = CollectorRegistry()
_requests = Histogram(
    "substrate_http_request_seconds",
    "Time until a request was answered, by route template.",
    ("method", "route", "status"),
    buckets=SECONDS,
    registry=REGISTRY,
)
_in_flight = Gauge("substrate_http_requests_in_flight", "Requests being answered.", registry=REGISTRY)
_queries_in_flight = Gauge(
    "substrate_engine_queries_in_flight", "Commands sent or waiting for a connection.", registry=REGISTRY
)
_streams = Histogram(
    "substrate_stream_seconds", "Time of a whole stream.", ("door",), buckets=SECONDS, registry=REGISTRY
)
_stages = Histogram(
    "substrate_stream_stage_seconds",
    "Time of each stage of a stream.",
    ("stage",),
    buckets=SECONDS,
    registry=REGISTRY,
)
_queries = Histogram(
    "substrate_stream_query_seconds",
    "Time of each of the six queries.",
    ("query",),
    buckets=SECONDS,
    registry=REGISTRY,
)
_rows = Histogram(
    "substrate_stream_query_rows",
    "Rows of each of the six queries.",
    ("query",),
    buckets=(0, 1, 5, 10, 20, 50, 100, 200, 500, 1000, 2000),
    registry=REGISTRY,
)
_tokens = Histogram(
    "substrate_stream_tokens",
    "Size of a stream in estimated tokens.",
    buckets=(500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 150_000),
    registry=REGISTRY,
)
_results = Histogram(
    "substrate_stream_results",
    "Memories in a stream.",
    buckets=(0, 1, 5, 10, 20, 50, 75, 100, 200),
    registry=REGISTRY,
)
_retries = Counter(
    "substrate_stream_starved_queries",
    "Queries asked again, wider, because too little was found.",
    ("query",),
    registry=REGISTRY,
)
_failures = Counter(
    "substrate_stream_failed_queries", "Queries that failed or were late.", ("query",), registry=REGISTRY
)
_degraded = Counter(
    "substrate_degraded_streams", "Streams that lack a part, by door.", ("door",), registry=REGISTRY
)
_receipts = Counter("substrate_receipts", "ReceiptList given, by status.", ("status",), registry=REGISTRY)


def record_request(method: str, route: str | None, status: int, seconds: float) -> None:
    """A request that was answered."""
    known = method if method in METHODS else "other"
    _requests.labels(known, route or "none", str(status)).observe(seconds)


@contextmanager
def in_flight() -> Iterator[None]:
    """As long as it is open, one request more is being answered."""
    with _in_flight.track_inprogress():
        yield


@contextmanager
def query_in_flight(_name: str) -> Iterator[None]:
    """As long as it is open, one command more waits for the engine."""
    with _queries_in_flight.track_inprogress():
        yield


def record_stream(given: ConsciousnessStream, door: str, characters: int) -> None:
    """A stream that is given out at `door`, with so many characters."""
    _streams.labels(door).observe(given.retrieval_latency_ms / 1000)
    for stage, spent in given.stage_ms.items():
        _stages.labels(stage).observe(spent / 1000)
    for timing in given.timings:
        _queries.labels(timing.query).observe(timing.milliseconds / 1000)
        _rows.labels(timing.query).observe(timing.rows)
        _retries.labels(timing.query).inc(timing.asked_again)
        _failures.labels(timing.query).inc(timing.failure is not None)
    _tokens.observe(characters / CHARACTERS_PER_TOKEN)
    _results.observe(given.consciousness_summary.total_results)
    _degraded.labels(door).inc(bool(given.degraded))


def record_receipts(given: Iterable[WriteReceipt]) -> None:
    """Receipts that are given out: stored, duplicate, refused."""
    tally = Tally("duplicate" if receipt.duplicate else receipt.status for receipt in given)
    for status, count in tally.items():
        _receipts.labels(status).inc(count)


def record_ingestion(stored: int, duplicates: int, refused: int) -> None:
    """What became of a conversation, command by command."""
    for status, count in (("stored", stored), ("duplicate", duplicates), ("refused", refused)):
        _receipts.labels(status).inc(count)


async def render_metrics(runtime: Runtime) -> bytes:
    """All that is known, in Prometheus' text form; the sizes are asked of the engine now.

    An engine that does not answer is said to be down; its sizes are left out.
    """
    own = CollectorRegistry()
    own.register(_CollectedMetrics(await _collect_engine(runtime)))
    return generate_latest(REGISTRY) + generate_latest(own)


class _CollectedMetrics:
    """A collector of what was gathered before."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


class EngineMetrics(NamedTuple):
    """What a scrape asks of the engine."""

    restarts: CounterMetricFamily
    up: GaugeMetricFamily
    memory: GaugeMetricFamily
    graphs: GaugeMetricFamily
    nodes: GaugeMetricFamily
    disk: GaugeMetricFamily


def make_engine_metrics() -> EngineMetrics:
    """The metrics that a scrape asks of the engine, without values yet."""
    return EngineMetrics(
        CounterMetricFamily("substrate_engine_restarts", "Starts of the embedded engine after it ended."),
        GaugeMetricFamily("substrate_engine_up", "Whether the engine answers."),
        GaugeMetricFamily("substrate_engine_memory_bytes", "Memory that the engine uses."),
        GaugeMetricFamily("substrate_graphs", "Graphs, by level.", labels=("level",)),
        GaugeMetricFamily(
            "substrate_nodes",
            "Nodes of all graphs, by level; records of the past and traces among them.",
            labels=("level",),
        ),
        GaugeMetricFamily("substrate_disk_free_bytes", "Free space on the disk of the embedded engine."),
    )


async def _collect_engine(runtime: Runtime) -> EngineMetrics:
    families = make_engine_metrics()
    if runtime.engine is not None:
        families.disk.add_metric((), free_at(runtime.engine.directory))
    families.restarts.add_metric((), 0 if runtime.engine is None else runtime.engine.restarts)
    try:
        await _add_sizes(families, runtime)
    except SubstrateError:
        families.up.add_metric((), 0)
    else:
        families.up.add_metric((), 1)
    return families


async def _add_sizes(families: EngineMetrics, runtime: Runtime) -> None:
    connection = runtime.deps.connection
    memory = await sizes.memory_bytes(connection)
    names = await runtime.deps.graphs.existing()
    room = asyncio.Semaphore(PARALLEL_COUNTS)

    async def nodes_of(name: str) -> int:
        async with room:
            try:
                return await sizes.nodes(Graph(connection, name))
            except GraphMissing:
                return 0  # erased since it was listed

    graphs, nodes = Tally[str](), Tally[str]()
    for name, count in zip(names, await asyncio.gather(*map(nodes_of, names)), strict=True):
        graphs[origin_of(name)[0].value] += 1
        nodes[origin_of(name)[0].value] += count
    families.memory.add_metric((), memory)
    for family, held in ((families.graphs, graphs), (families.nodes, nodes)):
        for level, number in held.items():
            family.add_metric((level,), number)
