"""The metrics of this process, for Prometheus. None names a citizen.

All times are in seconds. Each limit in 003's performance table is also the bound of a bucket, so that the rules in
`deploy/alerts.yaml` compute exact shares.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter as Tally
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from statistics import fmean
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from api.runtime.runtime import Runtime
from orchestration.upkeep.sweep import read_last_summary
from schemas.commands import WriteReceipt
from schemas.errors import SubstrateError
from schemas.memory import level_of
from schemas.stream import ConsciousnessStream
from schemas.upkeep.findings import QualitySummary
from substrate.connection.errors import GraphMissing
from substrate.connection.pool import Connection
from substrate.engine.data_directory import free_bytes
from substrate.graphs.graph import Graph
from substrate.graphs.names import GraphOf, origin_of
from substrate.store import lease, reader
from substrate.store.runs import RunRecord

SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.035, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8, 1, 2.5, 5, 10)
METHODS: Final = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"))
PARALLEL_COUNTS: Final = 8
READ_AT_ONCE: Final = 64
"""This many graphs are read for one scrape, those first that were read longest ago; a store may have thousands."""
READ_WITHIN_S: Final = 1.0
"""A scrape waits so long for the sizes; the rest is read beside it, for later scrapes."""
LATEST_ENERGIES: Final = 100
CHARACTERS_PER_TOKEN: Final = 4
"""A rough estimate for English and JSON, good enough to see a stream grow out of bounds."""

REGISTRY: Final = CollectorRegistry()
_histogram, _counter = partial(Histogram, registry=REGISTRY), partial(Counter, registry=REGISTRY)
_requests = _histogram(
    "substrate_http_request_seconds",
    "Time until a request was answered, by route template.",
    ("method", "route", "status"),
    buckets=SECONDS,
)


class InFlight:
    """Counts what is under way within its context. It is one gauge, whose value is read when it is asked for."""

    __slots__ = ("_count",)

    def __init__(self, name: str, documentation: str) -> None:
        self._count = 0
        Gauge(name, documentation, registry=REGISTRY).set_function(lambda: self._count)

    def __enter__(self) -> None:
        self._count += 1

    def __exit__(self, *_: object) -> None:
        self._count -= 1


_in_flight: Final = InFlight("substrate_http_requests_in_flight", "Requests being answered.")
_queries_in_flight: Final = InFlight(
    "substrate_engine_queries_in_flight", "Commands sent or waiting for a connection."
)
_streams = _histogram("substrate_stream_seconds", "Time of a whole stream.", ("door",), buckets=SECONDS)
_stages = _histogram(
    "substrate_stream_stage_seconds", "Time of each stage of a stream.", ("stage",), buckets=SECONDS
)
_queries = _histogram(
    "substrate_stream_query_seconds", "Time of each of the six queries.", ("query",), buckets=SECONDS
)
_rows = _histogram(
    "substrate_stream_query_rows",
    "Rows of each of the six queries.",
    ("query",),
    buckets=(0, 1, 5, 10, 20, 50, 100, 200, 500, 1000, 2000),
)
_tokens = _histogram(
    "substrate_stream_tokens",
    "Size of a stream in estimated tokens.",
    buckets=(500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 150_000),
)
_results = _histogram(
    "substrate_stream_results", "Memories in a stream.", buckets=(0, 1, 5, 10, 20, 50, 75, 100, 200)
)
_retries = _counter(
    "substrate_stream_starved_queries",
    "Queries repeated with wider limits, because too little was found.",
    ("query",),
)
_failures = _counter("substrate_stream_failed_queries", "Queries that failed or were late.", ("query",))
_degraded = _counter("substrate_degraded_streams", "Streams with a missing part, by door.", ("door",))
_sections = _counter(
    "substrate_stream_sections", "Sections that requests named in `parts`, by door.", ("door", "section")
)
_energies = _histogram(
    "substrate_feedback_energy",
    "Energy of a citizen after the feedback of a stream.",
    buckets=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
)
_mean_energy = Gauge(
    "substrate_feedback_energy_mean",
    f"Mean energy of citizens after the last {LATEST_ENERGIES} feedbacks; 0.5 before the first.",
    registry=REGISTRY,
)
_mean_energy.set(0.5)
_latest_energies: deque[float] = deque(maxlen=LATEST_ENERGIES)
_upkeep = _histogram(
    "substrate_upkeep_run_seconds",
    "Time of the runs of upkeep of this process, by job and by how they ended.",
    ("job", "status"),
    buckets=(0.01, 0.1, 1, 10, 60, 600, 3600),
)
_upkeep_changes = _counter(
    "substrate_upkeep_changes", "Changes that the runs of upkeep of this process stored.", ("job",)
)
_receipts = _counter("substrate_receipts", "Receipts, by status.", ("status",))


_COLLECTIVE: Final = re.compile(r"(?<=^N2):[A-Za-z0-9_.-]*?(?=_(?:event_)?[a-z]+$)")
"""The collective in the name of a query: all collectives are counted as N2."""


def record_request(method: str, route: str | None, status: int, seconds: float) -> None:
    """Count an answered request. `route` is its template, None when no route matched."""
    known = method if method in METHODS else "other"
    _requests.labels(known, route or "none", str(status)).observe(seconds)


def in_flight() -> InFlight:
    """Count a request as being answered within the context."""
    return _in_flight


def query_in_flight(_name: str) -> InFlight:
    """Count a command as waiting for the engine within the context."""
    return _queries_in_flight


class _QuerySeries(NamedTuple):
    """The series of one of the six queries."""

    seconds: Histogram
    rows: Histogram
    retries: Counter
    failures: Counter


@cache
def _series_of(query: str) -> _QuerySeries:
    return _QuerySeries(
        _queries.labels(query), _rows.labels(query), _retries.labels(query), _failures.labels(query)
    )


@cache
def _seconds_of(stage: str) -> Histogram:
    return _stages.labels(stage)


def record_stream(
    stream: ConsciousnessStream, door: str, characters: int, parts: Iterable[str], *, was_kept: bool = False
) -> None:
    """Count a stream of `characters` characters; `door` is `retrieve` or `wake`, `parts` the sections asked for.

    `was_kept`: its queries were sent for an earlier question, and are counted there.
    """
    _streams.labels(door).observe(stream.retrieval_latency_ms / 1000)
    for stage, milliseconds in stream.stage_ms.items():
        _seconds_of(stage).observe(milliseconds / 1000)
    for timing in () if was_kept else stream.timings:
        series = _series_of(_COLLECTIVE.sub("", timing.query) if ":" in timing.query else timing.query)
        series.seconds.observe(timing.milliseconds / 1000)
        series.rows.observe(timing.rows)
        if timing.asked_again:
            series.retries.inc()
        if timing.failure is not None:
            series.failures.inc()
    _tokens.observe(characters / CHARACTERS_PER_TOKEN)
    _results.observe(stream.consciousness_summary.total_results)
    _degraded.labels(door).inc(bool(stream.degraded))
    for part in parts:
        _sections.labels(door, part).inc()
    if stream.energy_feedback is not None:
        _energies.observe(stream.energy_feedback.after)
        _latest_energies.append(stream.energy_feedback.after)
        _mean_energy.set(fmean(_latest_energies))


def record_receipts(receipts: Iterable[WriteReceipt]) -> None:
    """Count receipts by status: stored, duplicate, refused."""
    tally = Tally("duplicate" if receipt.duplicate else receipt.status for receipt in receipts)
    for status, count in tally.items():
        _receipts.labels(status).inc(count)


def record_ingestion(stored: int, duplicates: int, refused: int) -> None:
    """Count the receipts of a conversation by status."""
    for status, count in (("stored", stored), ("duplicate", duplicates), ("refused", refused)):
        _receipts.labels(status).inc(count)


def record_run(_place: GraphOf, run: RunRecord, seconds: float) -> None:
    """Count a run of upkeep, or a part of one that goes on later. Its changes are counted when it has ended."""
    _upkeep.labels(run.job, run.status).observe(seconds)
    if run.status != "running":
        _upkeep_changes.labels(run.job).inc(run.changed)


async def render_metrics(runtime: Runtime) -> bytes:
    """All metrics in the text format of Prometheus; the sizes are read from the engine now.

    An engine that does not answer is shown as down, and its sizes are left out.
    """
    engine_registry = CollectorRegistry()
    engine_registry.register(await _collect_engine(runtime))
    return generate_latest(REGISTRY) + generate_latest(engine_registry)


class EngineMetrics:
    """The metrics that are read from the engine for each scrape, without values at first."""

    def __init__(self) -> None:
        self.restarts = CounterMetricFamily(
            "substrate_engine_restarts", "Starts of the embedded engine after it ended."
        )
        self.up = GaugeMetricFamily("substrate_engine_up", "1 when the engine answers, else 0.")
        self.memory = GaugeMetricFamily("substrate_engine_memory_bytes", "Memory that the engine uses.")
        self.graphs = GaugeMetricFamily("substrate_graphs", "Graphs, by level.", labels=("level",))
        self.nodes = GaugeMetricFamily(
            "substrate_nodes",
            "Nodes of all graphs, by level, including past records and traces.",
            labels=("level",),
        )
        self.moments = GaugeMetricFamily(
            "substrate_learning_moments",
            "Changes that streams inferred, and those of which citizens said that they are none.",
            labels=("verdict",),
        )
        self.disk = GaugeMetricFamily(
            "substrate_disk_free_bytes", "Free space on the disk of the embedded engine."
        )
        self.completeness = GaugeMetricFamily(
            "substrate_metadata_completeness",
            "Mean completeness of metadata over the graded memories, by level, at the last sweep of each graph.",
            labels=("level",),
        )
        self.grades = GaugeMetricFamily(
            "substrate_graphs_by_grade",
            "Graphs by level and by the grade of their metadata at their last sweep; `none`: nobody gave any.",
            labels=("level", "grade"),
        )
        self.lease = GaugeMetricFamily(
            "substrate_upkeep_lease_held", "1 while a process of the store does upkeep, else 0."
        )
        self.notes_waiting = GaugeMetricFamily(
            "substrate_stream_notes_waiting", "Notes of streams that are not stored yet."
        )
        self.notes_dropped = CounterMetricFamily(
            "substrate_stream_notes_dropped", "Notes of streams that found no room in memory."
        )
        self.kept_bytes = GaugeMetricFamily(
            "substrate_cache_bytes", "Bytes that are kept of what was read, by estimate.", labels=("cache",)
        )
        self.kept_hits = CounterMetricFamily(
            "substrate_cache_hits", "Readings that the cache answered.", labels=("cache",)
        )
        self.kept_misses = CounterMetricFamily(
            "substrate_cache_misses", "Readings that it did not answer.", labels=("cache",)
        )
        self.stale = CounterMetricFamily(
            "substrate_columns_stale", "Memories that upkeep found to be held otherwise than they are stored."
        )

    def collect(self) -> Iterable[Metric]:
        """All of them: prometheus_client calls it synchronously."""
        return vars(self).values()


async def _collect_engine(runtime: Runtime) -> EngineMetrics:
    families = EngineMetrics()
    if runtime.engine is not None:
        families.disk.add_metric((), free_bytes(runtime.engine.directory))
    families.restarts.add_metric((), 0 if runtime.engine is None else runtime.engine.restarts)
    families.notes_waiting.add_metric((), len(runtime.deps.notes))
    families.notes_dropped.add_metric((), runtime.deps.notes.dropped)
    connection = runtime.deps.connection
    caches = (("records", connection.columns), ("graphs", connection.kept), ("streams", connection.answers))
    for name, kept in caches:
        families.kept_bytes.add_metric((name,), kept.bytes)
        families.kept_hits.add_metric((name,), kept.hits)
        families.kept_misses.add_metric((name,), kept.misses)
    families.stale.add_metric((), connection.columns.stale)
    try:
        await _add_sizes(families, runtime)
    except SubstrateError:
        families.up.add_metric((), 0)
    else:
        families.up.add_metric((), 1)
    return families


class _GraphSizes(NamedTuple):
    counts: Mapping[str, int]
    quality: QualitySummary | None


def _add_quality(families: EngineMetrics, swept: Iterable[tuple[str, QualitySummary]]) -> None:
    grades = Tally[tuple[str, str]]()
    graded = Tally[str]()
    complete: defaultdict[str, float] = defaultdict(float)
    for level, summary in swept:
        grades[level, summary.quality_grade or "none"] += 1
        graded[level] += summary.graded_memories
        complete[level] += summary.average_completeness * summary.graded_memories
    for level, number in graded.items():
        if number:
            families.completeness.add_metric((level,), complete[level] / number)
    for labels, count in grades.items():
        families.grades.add_metric(labels, count)


_sizes: Final = WeakKeyDictionary[Connection, dict[str, _GraphSizes]]()
"""By store and graph what was read last, the graph that was read longest ago first."""
_reading: Final = WeakKeyDictionary[Connection, asyncio.Future[Any]]()


async def read_sizes(runtime: Runtime) -> tuple[list[str], dict[str, _GraphSizes]]:
    """The names of all graphs, and the sizes of those that were read by now. Of a store with many most are of
    earlier scrapes. All are read for the first; what that takes longer than `READ_WITHIN_S` goes on beside."""
    connection = runtime.deps.connection
    names = await runtime.deps.graphs.existing()
    kept = _sizes.setdefault(connection, {})
    for name in kept.keys() - set(names):
        kept.pop(name, None)

    async def read_each(waiting: Iterator[str]) -> None:
        for name in waiting:
            graph = Graph(connection, name)
            with suppress(GraphMissing):  # erased since it was listed
                sizes = _GraphSizes(await reader.count_nodes(graph), await read_last_summary(graph))
                kept.pop(name, None)
                kept[name] = sizes

    reading = _reading.get(connection)
    if reading is None or reading.done():
        due = iter([*(name for name in names if name not in kept), *list(kept)[:READ_AT_ONCE]])
        reading = _reading[connection] = asyncio.gather(*(read_each(due) for _ in range(PARALLEL_COUNTS)))
        reading.add_done_callback(
            lambda told: told.cancelled() or told.exception()
        )  # it may come after the scrape
    await asyncio.wait([reading], timeout=READ_WITHIN_S)
    if reading.done():
        reading.result()
    return names, dict(kept)


async def _add_sizes(families: EngineMetrics, runtime: Runtime) -> None:
    memory = await runtime.deps.connection.memory_bytes()
    families.lease.add_metric((), int((await lease.read(runtime.deps.connection)).held))
    nodes, moments = Tally[str](), Tally[str]()
    swept: list[tuple[str, QualitySummary]] = []
    names, read = await read_sizes(runtime)
    levels = {name: level_of(origin_of(name).key).value for name in names}
    graphs = Tally(levels.values())
    for name, sizes in read.items():
        if (level := levels.get(name)) is None:
            continue  # it came since they were listed
        nodes[level] += sizes.counts["nodes"]
        for kind in ("inferred", "rejected"):
            moments[kind] += sizes.counts[kind]
        if sizes.quality is not None:
            swept.append((level, sizes.quality))
    _add_quality(families, swept)
    families.memory.add_metric((), memory)
    for family, tally in ((families.graphs, graphs), (families.nodes, nodes), (families.moments, moments)):
        for label, number in tally.items():
            family.add_metric((label,), number)
