"""The time of a stream, compared with a floor: the same six queries sent at once through the same driver.

    python -m benchmarks.latency --locomo FILE        one conversation per citizen
    python -m benchmarks.latency --nodes 50000 --links 250000
    python -m benchmarks.latency --locomo FILE --base DIR --peer COMMAND
    python -m benchmarks.latency --requests --locomo FILE --sizes 5000 10000 --base DIR

The first two may be given together; every figure comes from one run on one store. It also prints the memory of
this process with the embedder, and the cost of the parts of a full stream
without embedding and database (`benchmarks.stream_parts`). `--json` prints one line.

With `--base`, another checkout of Substrate, or `--peer`, any other program, nothing of that is measured. Instead
all are asked the same in turns, in one run, and the ratios are printed (`benchmarks.comparison`). LoCoMo is then
its longest conversation. `--base` may be `NAME=DIR`, and both may be given several times. A base runs its own code
with this interpreter; embeddings are those of `benchmarks/sides/word_vectors.py`, which cost next to nothing,
unless `--embedding` names others. `--stores DIR` keeps the filled stores for the next run.

With `--requests` every kind of request is measured (`benchmarks.sides.kinds`), of this checkout and the bases in
turns: in LoCoMo's longest conversation, and in memories of the given sizes, with the local embedding model.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from api.runtime.runtime import Runtime, now, open_runtime
from benchmarks import stream_parts
from benchmarks.comparison import format_table, read_bases
from benchmarks.sides.kinds import measure_requests
from benchmarks.sides.stores import measure_sides
from benchmarks.synthetic import World, build
from orchestration import retrieval
from orchestration.entity_extraction import extract
from orchestration.graph_queries import six_queries
from orchestration.graph_queries.execution import QueryRequest, find_starts
from orchestration.graph_queries.existing_graphs import open_view
from orchestration.ingestion.formats import ParsedFiles, parse
from orchestration.ingestion.formats.files import read_files
from orchestration.ingestion.pipeline import ingest
from orchestration.question.reading import read_question
from schemas.intention import RetrievalIntention
from schemas.memory import Level
from schemas.settings import Settings, StoreSettings
from schemas.temporal import to_datetime

CLIENTS = (1, 4, 16)
HUBS = ("without", "with")
type Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a citizen to some levels."""

    citizen: str
    text: str
    levels: tuple[Level, ...] = tuple(Level)

    def intention(self) -> RetrievalIntention:
        """The question as an intention."""
        return RetrievalIntention(query_text=self.text, citizen_id=self.citizen, query_levels=list(self.levels))


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Return p50 and p95 of values in milliseconds."""
    ordered = sorted(values)
    return {
        "p50": round(statistics.median(ordered), 3),
        "p95": round(ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], 3),
    }


async def prepared(question: Question, rt: Runtime) -> list[QueryRequest]:
    """Build the six queries of a question."""
    intention = question.intention()
    moment = now()
    scope = retrieval.choose_scope(intention, moment)
    view = await open_view(intention.citizen_id, intention.query_levels, scope, rt.deps, now=moment)
    asked = read_question(question.text, to_datetime(scope.moment(moment)))
    extraction = await extract(asked, view, rt.deps)
    return six_queries.prepare_queries(
        intention, asked, extraction.lexicons, view, embedding=extraction.embedding, far=rt.deps.far, fewest={}
    )


async def send_bare(asked: Sequence[QueryRequest]) -> None:
    """Send the six queries of a question at once, with the searches for what is near that they begin with."""
    await asyncio.gather(*(find_starts(one.target, one.query, one.values) for one in asked))


async def timed(call: Callable[[], Awaitable[Any]]) -> float:
    """Return the duration of a call in milliseconds."""
    begun = time.perf_counter()
    await call()
    return (time.perf_counter() - begun) * 1000


async def floor_and_whole(questions: Sequence[Question], rt: Runtime) -> Figures:
    """Measure floor and retrieve() question by question; the embeddings are cached already."""
    floor, whole = [], []
    stages: dict[str, list[float]] = {}
    for question in questions:
        asked = await prepared(question, rt)
        floor.append(await timed(partial(send_bare, asked)))
        begun = time.perf_counter()
        stream = await retrieval.retrieve_consciousness_context(question.intention(), rt.deps, now())
        whole.append((time.perf_counter() - begun) * 1000)
        for stage, spent in stream.stage_ms.items():
            stages.setdefault(stage, []).append(spent)
    floor_figures, whole_figures = percentiles(floor), percentiles(whole)
    return {
        "questions": len(questions),
        "floor_ms": floor_figures,
        "retrieve_ms": whole_figures,
        "ratio_p50": round(whole_figures["p50"] / floor_figures["p50"], 2),
        "stages_p50_ms": {stage: round(statistics.median(spent), 3) for stage, spent in stages.items()},
    }


async def under_load(questions: Sequence[Question], rt: Runtime) -> Figures:
    """Measure retrieve() with 1, 4 and 16 clients at once; each asks one question after the other."""
    figures: Figures = {}
    for clients in CLIENTS:
        spent: list[float] = []

        async def client(first: int, step: int = clients, spent: list[float] = spent) -> None:
            for question in questions[first::step]:
                intention = question.intention()
                call = lambda: retrieval.retrieve_consciousness_context(intention, rt.deps, now())  # noqa: B023, E731
                spent.append(await timed(call))

        begun = time.perf_counter()
        await asyncio.gather(*(client(first) for first in range(clients)))
        seconds = time.perf_counter() - begun
        figures[str(clients)] = {**percentiles(spent), "per_second": round(len(spent) / seconds, 1)}
    return figures


async def engine_bytes(rt: Runtime) -> int:
    """Return the bytes that the engine has allocated."""
    info: dict[str, Any] = await rt.deps.connection.command("INFO", "memory")
    return int(info["used_memory"])


async def locomo(path: Path, rt: Runtime, limit: int) -> Figures:
    """Measure the questions of LoCoMo conversations, each of which is a citizen."""
    episodes = parse("locomo", read_files(path, "locomo", None)).items
    before = await engine_bytes(rt)
    begun = time.perf_counter()
    reports = [await ingest(ParsedFiles((episode,)), rt.deps, now()) for episode in episodes]
    seconds = time.perf_counter() - begun
    turns = sum(report.turns for report in reports)
    used = await engine_bytes(rt) - before
    samples = orjson.loads(await asyncio.to_thread(path.read_bytes))
    questions = [Question(sample["sample_id"], asked["question"]) for sample in samples for asked in sample["qa"]][
        :: max(1, sum(len(sample["qa"]) for sample in samples) // limit)
    ]
    await floor_and_whole(questions[:20], rt)
    return {
        "turns": turns,
        "turns_per_second": round(turns / seconds, 1),
        "engine_kb_per_turn_with_fixed_costs": round(used / turns / 1024, 2),
        **await floor_and_whole(questions, rt),
        "clients": await under_load(questions, rt),
    }


async def synthetic(nodes: int, links: int, rt: Runtime, limit: int) -> Figures:
    """Measure three graphs of `nodes` memories and `links` links each, made from a fixed seed.

    Questions go to all three graphs, and again to the citizen's own graph alone.
    """
    world = World(nodes=nodes, links=links)
    before = await engine_bytes(rt)
    begun = time.perf_counter()
    await build(world, rt.deps, now())
    seconds = time.perf_counter() - begun
    used = await engine_bytes(rt) - before
    questions = [Question(world.citizen, text) for text in world.questions(limit)]
    await floor_and_whole(questions[:20], rt)
    return {
        "nodes_per_graph": nodes,
        "links_per_graph": links,
        "built_in_s": round(seconds, 1),
        "engine_kb_per_node_with_links": round(used / (3 * nodes) / 1024, 2),
        **await floor_and_whole(questions, rt),
        "one_graph": await floor_and_whole([replace(one, levels=(Level.N1,)) for one in questions], rt),
        "clients": await under_load(questions, rt),
    }


def process_mb() -> float:
    """Return the resident memory of this process, in MB; the peak where the system has no `/proc`."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        return round(int(line.split()[1]) / 1024, 1)
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


async def measure(arguments: argparse.Namespace) -> Figures:
    """Return the requested figures, on a new store."""
    with tempfile.TemporaryDirectory(prefix="substrate-latency-") as directory:
        settings = Settings(store=StoreSettings(data=Path(directory)))
        async with open_runtime(settings) as rt:
            figures: Figures = {}
            if arguments.locomo:
                figures["locomo"] = await locomo(arguments.locomo, rt, arguments.questions)
            if arguments.nodes:
                size = (arguments.nodes, arguments.links or 5 * arguments.nodes)
                figures["synthetic"] = await synthetic(*size, rt, arguments.questions)
            figures["stream_parts"] = stream_parts.measure()
            figures["process_mb"] = process_mb()
            return figures


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--locomo", type=Path, help="a LoCoMo file")
    parser.add_argument("--nodes", type=int, default=0, help="memories in each of three graphs")
    parser.add_argument("--links", type=int, default=0, help="links in each; default five a memory")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--base", action="append", default=[], help="another checkout, as DIR or NAME=DIR")
    parser.add_argument(
        "--peer", action="append", default=[], help="a command that prints its p50 in milliseconds"
    )
    parser.add_argument("--workers", type=int, default=1, help="with --base: the worker processes of our side")
    parser.add_argument("--embedding", help="with --base or --requests: the embedding model")
    parser.add_argument("--requests", action="store_true", help="measure every kind of request over HTTP")
    parser.add_argument("--sizes", type=int, nargs="+", default=[], help="with --requests: numbers of memories")
    parser.add_argument("--hubs", nargs="+", choices=HUBS, default=HUBS, help="with --requests: which worlds")
    parser.add_argument("--stores", type=Path, help="with --base: a directory that keeps the stores")
    arguments = parser.parse_args()
    if not arguments.locomo and not (arguments.sizes if arguments.requests else arguments.nodes):
        parser.error("give --locomo FILE, --nodes N (--sizes N with --requests), or both")
    arguments.embedding = arguments.embedding or ("local" if arguments.requests else "word_vectors:WordVectors")
    arguments.base = read_bases(arguments.base, parser.error)
    compared = bool(arguments.base or arguments.peer or arguments.requests)
    sides = measure_requests if arguments.requests else measure_sides
    figures = asyncio.run(sides(arguments) if compared else measure(arguments))
    if compared and not arguments.json:
        sys.stdout.write("\n\n".join(format_table(*item) for item in figures.items()) + "\n")
        return
    options = 0 if arguments.json else orjson.OPT_INDENT_2
    sys.stdout.write(orjson.dumps(figures, option=options).decode() + "\n")


if __name__ == "__main__":
    main()
