"""Many processes supersede one memory at once, each with the version it saw: one may win, no change may be lost.

    python -m benchmarks.contention --processes 8 --rounds 1000

Every process has its own runtime on one store. Prints the winners, the conflicts, other answers, the winners that
are missing in the history, and the gaps and overlaps of the history on both axes. The exit code is 1 unless each
round has exactly one winner and the history is complete. `--json` prints one line.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from api.runtime.runtime import Runtime, now, open_runtime
from orchestration import insertion
from schemas.commands import Remember, Supersede, WriteReceipt
from schemas.memory import ConsciousnessNode, Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.graphs.names import graph_name
from substrate.store import reader, rows

CITIZEN, MEMORY = "contended", "memory"
BEGUN = datetime(2020, 1, 1, tzinfo=UTC)
type Figures = dict[str, Any]
type Span = tuple[datetime, datetime | None]


class Round(NamedTuple):
    """The number of a round, and the version that every process must supersede."""

    number: int
    version: int


def settings(data: Path) -> Settings:
    """Return settings without an embedding model, which this benchmark does not need."""
    return Settings(store=StoreSettings(data=data), embedding=EmbeddingSettings(embedding="none"))


def contender(data: Path, place: int, pipe: Connection) -> None:
    """Run one process: for each round read from the pipe, apply one command and send its receipt back."""
    asyncio.run(_contend(data, place, pipe))


async def _contend(data: Path, place: int, pipe: Connection) -> None:
    async with open_runtime(settings(data)) as rt:
        pipe.send("ready")
        while (round_ := await asyncio.to_thread(pipe.recv)) is not None:
            command = Supersede(
                citizen_id=CITIZEN,
                id=MEMORY,
                name=f"round {round_.number} by {place}",
                expected_version=round_.version,
            )
            [receipt] = await insertion.apply([command], rt.deps, now())
            pipe.send(receipt)


async def contend(data: Path, processes: int, rounds: int) -> Figures:
    """Run the rounds and return the figures."""
    async with open_runtime(settings(data)) as rt:
        begun = Remember(citizen_id=CITIZEN, id=MEMORY, name="begun", valid_at=BEGUN)
        [first] = await insertion.apply([begun], rt.deps, now())
        pipes, running_now = _started(data, processes)
        try:
            for pipe in pipes:
                await asyncio.to_thread(pipe.recv)
            start = time.perf_counter()
            answers = await _rounds(pipes, first.version or 1, rounds)
            seconds = time.perf_counter() - start
        finally:
            for pipe, process in zip(pipes, running_now, strict=True):
                pipe.send(None)
                process.join()
        history = await _history(rt)
    return {"processes": processes, "rounds": rounds, "seconds": round(seconds, 1), **judged(answers, history)}


def _started(data: Path, processes: int) -> tuple[list[Connection], list[Any]]:
    context = multiprocessing.get_context("spawn")
    pipes, running_now = [], []
    for place in range(processes):
        ours, theirs = context.Pipe()
        process = context.Process(target=contender, args=(data, place, theirs))
        process.start()
        theirs.close()
        pipes.append(ours)
        running_now.append(process)
    return pipes, running_now


async def _rounds(pipes: Sequence[Connection], version: int, rounds: int) -> list[list[WriteReceipt]]:
    answers = []
    for number in range(rounds):
        for pipe in pipes:
            pipe.send(Round(number, version))
        receipts = [await asyncio.to_thread(pipe.recv) for pipe in pipes]
        answers.append(receipts)
        version = max([version, *(receipt.version or 0 for receipt in receipts)])
    return answers


async def _history(rt: Runtime) -> list[ConsciousnessNode]:
    history_rows = await reader.history(rt.deps.graph(graph_name(Level.N1, CITIZEN)), MEMORY)
    return [rows.node(row, Level.N1) for row in history_rows]


def judged(answers: Sequence[Sequence[WriteReceipt]], history: Sequence[ConsciousnessNode]) -> Figures:
    """Count the outcomes of the commands, the winners missing in the history, and its gaps and overlaps.

    At each moment at which a record became known, the records known then must cover valid time from `BEGUN` on
    without gap or overlap, and no version may occur twice.
    """
    outcomes = Counter(receipt.problem or receipt.status for receipts in answers for receipt in receipts)
    versions = Counter(record.version for record in history)
    won = [receipt.version for receipts in answers for receipt in receipts if receipt.status == "stored"]
    breaks = [_breaks(history, moment) for moment in sorted({record.created_at for record in history})]
    return {
        "winners": outcomes.pop("stored", 0),
        "conflicts": outcomes.pop("conflict", 0),
        "other": sum(outcomes.values()),
        "rounds_without_one_winner": sum(
            sum(receipt.status == "stored" for receipt in receipts) != 1 for receipts in answers
        ),
        "lost": sum(version not in versions for version in won),
        "twice": sum(count > 1 for count in versions.values()),
        "gaps": sum(gaps for gaps, _ in breaks),
        "overlaps": sum(overlaps for _, overlaps in breaks),
        "records": len(history),
    }


def _breaks(history: Sequence[ConsciousnessNode], moment: datetime) -> tuple[int, int]:
    known = [
        record
        for record in history
        if record.created_at <= moment and (record.expired_at is None or moment < record.expired_at)
    ]
    known.sort(key=lambda record: record.valid_at)
    spans: list[Span] = [(record.valid_at, record.invalid_at) for record in known]
    if not spans:
        return 1, 0
    gaps = (spans[0][0] != BEGUN) + (spans[-1][1] is not None)
    overlaps = 0
    for (_, end), (start, _) in pairwise(spans):
        gaps += end is not None and end < start
        overlaps += end is None or end > start
    return gaps, overlaps


FLAWS = ("other", "rounds_without_one_winner", "lost", "twice", "gaps", "overlaps")


def main() -> int:
    """Print the figures; returns 0 when each round had one winner and the history is complete."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        figures = asyncio.run(contend(Path(directory), asked.processes, asked.rounds))
    if asked.json:
        print(orjson.dumps(figures).decode())
    else:
        for name, value in figures.items():
            print(f"{name.replace('_', ' '):28} {value}")
    return 1 if any(figures[flaw] for flaw in FLAWS) else 0


if __name__ == "__main__":
    sys.exit(main())
