"""What a large load costs, and how the cost of a turn grows with the size of the graph.

    python -m benchmarks.loading --turns 200000
    python -m benchmarks.loading --turns 20000 --busy 4     as on a machine that does much other work
    python -m benchmarks.loading --turns 20000 --statements

Conversations of 500 turns each come in through the ordinary ingestion, all for one citizen. Their texts are those
of `benchmarks/chats` and `benchmarks/lives` again and again, each with some words of its own. Embeddings are those
of `benchmarks/sides/word_vectors.py`, 384 numbers that cost next to nothing. Every `--every` turns a line says
what those turns cost: seconds by the clock, processor time of this process, of the engine and of the processes
with which the engine rewrites its log, in milliseconds a turn; and then the memory of the engine, the size of its
log, how often that was rewritten, how many statements ran past their deadline, and how many memories a statement
takes at that moment. `--statements` adds the engine's time by statement, `--profile` where the time of
this process goes. `--minutes` ends the load early; `--json` prints one line.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import pstats
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import batched
from pathlib import Path
from typing import Any, Final

import orjson

from api.runtime.runtime import Runtime, now, open_runtime
from benchmarks import chat, life
from benchmarks.serving import engine_pid
from benchmarks.sides.side import processor_ms
from benchmarks.synthetic import World
from orchestration.ingestion.episodes import Episode, Session, Turn
from orchestration.ingestion.formats.reader import ParsedFiles
from orchestration.ingestion.pipeline import ingest
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.connection.errors import LOAD_PATIENCE_S, patient
from substrate.store.writer import NODES_PER_STATEMENT, REMEMBER

CITIZEN: Final = "loaded"
EPISODE_TURNS: Final = 500
OWN_WORDS: Final = 4
FIRST: Final = datetime(2015, 1, 1, tzinfo=UTC)
EMBEDDING: Final = "benchmarks.sides.word_vectors:WordVectors"
TICKS: Final = 100
"""Ticks a second in `/proc`, on Linux."""
SHOWN_STATEMENTS: Final = 12
type Figures = dict[str, Any]


def messages() -> list[tuple[str, str]]:
    """Return the speaker and the text of every message of the chats and lives."""
    chats = [(message.role, message.text) for talk in chat.load_chats() for message in talk.messages]
    return [*chats, *((message.role, message.text) for told in life.load_lives() for message in told.messages)]


def conversations(turns: int) -> Iterator[Episode]:
    """Yield conversations with so many turns in all, a minute between two turns."""
    said = messages()
    own = World(nodes=turns, links=0).texts(turns, 5, OWN_WORDS)
    for number, places in enumerate(batched(range(turns), EPISODE_TURNS)):
        spoken = [(place, *said[place % len(said)], next(own)) for place in places]
        utterances = tuple(
            Turn(f"t{place}", speaker, f"{text} {more}", FIRST + timedelta(minutes=place))
            for place, speaker, text, more in spoken
        )
        session = Session("session_1", "session 1", utterances[0].time, utterances)
        yield Episode(f"load-{number}", CITIZEN, (session,))


@dataclass
class Watch:
    """The statements of a connection by name: number, processor time of the engine, and those that were late."""

    engine: int
    spent_ms: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    calls: Counter[str] = field(default_factory=Counter)
    late: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def statement(self, name: str) -> Iterator[None]:
        """Note one statement. They come one after the other, so what the engine does meanwhile is its work."""
        before = processor_ms(self.engine)
        try:
            yield
        except Exception as error:
            if "timed out" in str(error):
                self.late[name] += 1
            raise
        finally:
            self.spent_ms[name] += processor_ms(self.engine) - before
            self.calls[name] += 1

    def take(self, turns: int) -> Figures:
        """Return the milliseconds of the engine a call and a turn of the costliest statements; forget them."""
        costliest = sorted(self.spent_ms.items(), key=lambda item: -item[1])[:SHOWN_STATEMENTS]
        taken = {
            name: {"ms_a_call": round(spent / self.calls[name], 2), "ms_a_turn": round(spent / turns, 3)}
            for name, spent in costliest
        }
        self.spent_ms.clear()
        self.calls.clear()
        return taken


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds so far: by the clock, and of the processor in this process, the engine and its ended children."""

    clock: float
    here: float
    engine: float
    rewriting: float

    @classmethod
    def of(cls, pid: int) -> Spent:
        """Read them; `pid` is that of the engine. Works only on Linux."""
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        own, children = (sum(map(int, fields[place : place + 2])) / TICKS for place in (11, 13))
        return cls(time.monotonic(), time.process_time(), own, children)

    def since(self, before: Spent, turns: int) -> Figures:
        """Return what so many turns cost."""
        each = 1000 / turns
        return {
            "turns_per_second": round(turns / (self.clock - before.clock), 1),
            "clock_ms": round((self.clock - before.clock) * each, 3),
            "python_ms": round((self.here - before.here) * each, 3),
            "engine_ms": round((self.engine - before.engine) * each, 3),
            "rewriting_ms": round((self.rewriting - before.rewriting) * each, 3),
        }


async def load(arguments: argparse.Namespace, rt: Runtime) -> list[Figures]:
    """Load, print a line for every part, and return the lines with one for the whole."""
    pid = await engine_pid(rt.settings.store.data)
    if pid is None:
        raise RuntimeError("the engine does not answer")
    watch = Watch(pid)
    rt.deps.connection.around = watch.statement
    give_up = time.monotonic() + 60 * arguments.minutes
    lines: list[Figures] = []
    begun = before = Spent.of(pid)
    done = counted = 0
    for episode in conversations(arguments.turns):
        report = await ingest(ParsedFiles((episode,)), rt.deps, now())
        if report.refused:
            raise RuntimeError(f"refused: {report.faults[:3]}")
        done += report.turns
        if done - counted >= arguments.every or done == arguments.turns or time.monotonic() > give_up:
            spent = Spent.of(pid)
            state = await engine_state(rt)
            line = {
                "turns": done,
                **spent.since(before, done - counted),
                **state,
                "late": sum(watch.late.values()),
            }
            statements = watch.take(done - counted)
            lines.append({**line, "statements": statements})
            if not arguments.json:
                show(line, statements if arguments.statements else {})
            before, counted = spent, done
        if time.monotonic() > give_up:
            break
    whole = Spent.of(pid)
    return [*lines, {"turns": done, **whole.since(begun, done), "late_statements": dict(watch.late)}]


async def engine_state(rt: Runtime) -> Figures:
    """Return the memory and the log of the engine, and the size of a statement."""
    memory: Any = await rt.deps.connection.command("INFO", "memory")
    log: Any = await rt.deps.connection.command("INFO", "persistence")
    size = rt.deps.connection.batch_sizes.of(REMEMBER.name, NODES_PER_STATEMENT).size
    return {
        "engine_mb": round(int(memory["used_memory"]) / 2**20),
        "engine_rss_mb": round(int(memory["used_memory_rss"]) / 2**20),
        "log_mb": round(int(log["aof_current_size"]) / 2**20),
        "rewrites": int(log["aof_rewrites"]),
        "memories_a_statement": size,
    }


def show(line: Figures, statements: Figures) -> None:
    """Print a line, with names the first time and then only as they are."""
    sys.stdout.write("  ".join(f"{name} {value}" for name, value in line.items()) + "\n")
    for name, spent in statements.items():
        sys.stdout.write(f"    {name}: {spent['ms_a_call']} ms a call, {spent['ms_a_turn']} ms a turn\n")
    sys.stdout.flush()


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Within the context, so many processes compute and do nothing else."""
    words = [sys.executable, "-c", "while True: pass"]
    started = [subprocess.Popen(words) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


async def run(arguments: argparse.Namespace) -> list[Figures]:
    """Load into a new store, and return the lines."""
    with tempfile.TemporaryDirectory(prefix="substrate-loading-", dir=arguments.folder) as directory:
        settings = Settings(
            store=StoreSettings(data=Path(directory)),
            embedding=EmbeddingSettings(embedding=arguments.embedding),
        )
        async with open_runtime(settings) as rt:
            with busy(arguments.busy), patient(LOAD_PATIENCE_S):
                return await load(arguments, rt)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--every", type=int, default=10_000)
    parser.add_argument("--busy", type=int, default=0, help="so many processes compute beside the load")
    parser.add_argument("--minutes", type=float, default=24 * 60.0, help="end the load after so many minutes")
    parser.add_argument(
        "--folder", type=Path, help="where the store is made; default: the system's temporary folder"
    )
    parser.add_argument("--embedding", default=EMBEDDING, help="another embedding model, or none")
    parser.add_argument("--statements", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    profile = cProfile.Profile()
    lines = profile.runcall(asyncio.run, run(arguments)) if arguments.profile else asyncio.run(run(arguments))
    if arguments.profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(40)
    if arguments.json:
        sys.stdout.write(orjson.dumps(lines).decode() + "\n")
    else:
        show(lines[-1], {})


if __name__ == "__main__":
    main()
