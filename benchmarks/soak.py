"""Does the memory of a service stay flat? Eight clients send mixed and hostile requests to `substrate serve`.

    python -m benchmarks.soak --requests 200000
    python -m benchmarks.soak --requests 20000 --upkeep off --trace

Starts a service on an empty store, with hundreds of citizens, and sends questions of all forms, wakings, writes,
changes, links, histories, lists, states, feedback and calls of tools; and, two in five, what is sent to do harm:
unknown citizens, ids and paths, any field and any script, wrong and oversize bodies, slow and broken connections.
All are drawn from a fixed seed. Prints the requests by kind with their answers (5xx and missing answers are
errors), the memory of the service and of its engine at ten points, and the slope of each over the last half by
least squares, in KB per 1,000 requests. What is stored grows in the engine; the service keeps nothing of it.

The exit code is 1 when there is an error, or when the service grows by more than `--most` KB per 1,000 requests.
`--trace` starts the service with a reporter that shows, at each point, what Python and the allocator hold, and the
cached entries; `--lines` adds the lines of code that hold the most (tracemalloc: several times slower). `--kind`
sends only the kinds named, such as `--kind strange_question --kind wake`. Works only on Linux.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

import numpy as np
import orjson

from benchmarks.scoring import format_rows
from benchmarks.serving import KEY, free_port, wait_until_ready
from benchmarks.serving import engine_pid as find_engine
from benchmarks.soak_client import FIRST_FAULT, NO_ANSWER, RawClient
from benchmarks.soak_hostile import HOSTILE, Mix
from benchmarks.soak_work import WORK, Chance, first_memories

CLIENTS: Final = 8
CITIZENS: Final = 300
POINTS: Final = 10
SAMPLES: Final = 200
MOST_KB: Final = 40.0
"""A service that grows less is called flat: 8 MB in 200,000 requests."""
SHOWN_OF_FAULT, FAULTS = 300, 5
SETTLE_S: Final = 5.0
TRACE_WAITS, TRACE_WAIT_S = 2400, 0.05
COMMAND: Final = "from api.cli.program import main; main()"


class Sample(NamedTuple):
    """The memory in KB, and the seconds of processor time so far, once so many requests were answered."""

    requests: int
    service_kb: int
    engine_kb: int
    service_s: float
    engine_s: float


@dataclass
class Tally:
    """The answers of one kind of request: how many by status, and their milliseconds."""

    statuses: Counter[int] = field(default_factory=Counter)
    unanswered: int = 0
    took: list[float] = field(default_factory=list)

    @property
    def requests(self) -> int:
        """All requests of the kind."""
        return self.statuses.total() + self.unanswered

    @property
    def errors(self) -> int:
        """Answers 5xx, and answers that did not come."""
        return self.statuses[NO_ANSWER] + self.share(500)

    def share(self, first: int) -> int:
        """How many answers have a status of that hundred."""
        return sum(count for status, count in self.statuses.items() if first <= status < first + 100)


class Service:
    """A `substrate serve` in its own process. With `trace` it reports what holds its memory; see `soak_trace`."""

    def __init__(self, directory: Path, settings: Mapping[str, str], trace: str | None) -> None:
        self.directory = directory
        self.port = free_port()
        self.report = directory / "report.json"
        own = {
            "SUBSTRATE_DATA": str(directory / "store"),
            "SUBSTRATE_ADMIN_KEY": KEY,
            "SUBSTRATE_EMBEDDING": "benchmarks.serving:Hashing",
            "SUBSTRATE_RATE_LIMIT": "off",
            **settings,
        }
        prepare = (
            ""
            if trace is None
            else f"from benchmarks.soak_trace import install; install({trace!r}, {str(self.report)!r}); "
        )
        words = [sys.executable, "-c", prepare + COMMAND, "serve", "--port", str(self.port)]
        environment = {**os.environ, **own}  # noqa: TID251 - the service inherits it
        self._process = subprocess.Popen(
            words,
            cwd=Path(__file__).parents[1],
            env=environment,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._engine: int | None = None

    async def ready(self) -> None:
        """Return when the service answers."""
        await wait_until_ready(self.port)
        self._engine = await find_engine(self.directory / "store")

    def sample(self, requests: int) -> Sample:
        """The memory now. Raises RuntimeError when the service has ended."""
        if self._process.poll() is not None or self._engine is None:
            raise RuntimeError(f"the service has ended after {requests} requests")
        pids = (self._process.pid, self._engine)
        return Sample(requests, *map(resident_kb, pids), *map(worked_s, pids))

    async def traced(self) -> dict[str, Any]:
        """What the service reports of itself."""
        self.report.unlink(missing_ok=True)
        self._process.send_signal(signal.SIGUSR1)
        for _ in range(TRACE_WAITS):
            await asyncio.sleep(TRACE_WAIT_S)
            if self.report.exists():
                break
        report: dict[str, Any] = orjson.loads(self.report.read_bytes())
        return report

    async def stop(self) -> None:
        """End the service as Ctrl-C does."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            await asyncio.to_thread(self._process.wait, 60)


def resident_kb(pid: int) -> int:
    """The resident memory of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def worked_s(pid: int) -> float:
    """The processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass
class Run:
    """One run: the clients draw requests until `requests` are answered."""

    service: Service
    requests: int
    kinds: Sequence[str] = ()
    citizens: int = CITIZENS
    trace: bool = False
    tallies: defaultdict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    samples: list[Sample] = field(default_factory=list)
    reports: list[dict[str, Any]] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    answered: int = 0

    async def fill(self) -> None:
        """Let every citizen tell something. Raises RuntimeError when a write is refused."""
        chance, client = Chance(99, self.citizens), RawClient(self.service.port, KEY)
        for number in range(self.citizens):
            for sent in first_memories(number, chance):
                status = await client.send(sent)
                if not 200 <= status < 300:
                    raise RuntimeError(f"the first memories of citizen {number} were answered with {status}")
        await client.close()

    async def send_all(self) -> None:
        """Send the requests of all clients, and take the samples."""
        self.samples.append(self.service.sample(0))
        await asyncio.gather(*(self._client(number) for number in range(CLIENTS)))
        await asyncio.sleep(SETTLE_S)
        self.samples.append(self.service.sample(self.answered))

    async def _client(self, number: int) -> None:
        client, mix = RawClient(self.service.port, KEY), Mix(Chance(number, self.citizens), self.kinds)
        for _ in range(self.requests // CLIENTS):
            kind, sent = mix.draw()
            begun = time.perf_counter()
            status = await client.send(sent)
            if status >= FIRST_FAULT:
                self.faults[client.fault.decode()[:SHOWN_OF_FAULT]] += 1
            self._count(kind, status, answered=not sent.unanswered, took=time.perf_counter() - begun)
            await self._sample()
        await client.close()

    def _count(self, kind: str, status: int, *, answered: bool, took: float) -> None:
        tally = self.tallies[kind]
        if answered:
            tally.statuses[status] += 1
            tally.took.append(took * 1000)
        else:
            tally.unanswered += 1
        self.answered += 1

    async def _sample(self) -> None:
        every = max(1, self.requests // SAMPLES)
        if self.answered % every == 0:
            self.samples.append(self.service.sample(self.answered))
        if self.answered % max(1, self.requests // POINTS) == 0:
            service, engine = (kb // 1024 for kb in self.samples[-1][1:3])
            sys.stderr.write(f"{self.answered} requests, service {service} MB, engine {engine} MB\n")
        if self.trace and self.answered % max(1, self.requests // POINTS) == 0:
            report = await self.service.traced()
            self.reports.append({"requests": self.answered, **report})


def slope(samples: Sequence[Sample], part: str) -> float:
    """KB per 1,000 requests over the last half of the samples, by least squares."""
    late = samples[len(samples) // 2 :]
    if len(late) < 2:
        return 0.0
    return (
        float(np.polyfit([sample.requests for sample in late], [getattr(sample, part) for sample in late], 1)[0])
        * 1000
    )


def kind_rows(tallies: Mapping[str, Tally]) -> Iterator[list[str]]:
    """The requests by kind, the work of agents first."""
    yield ["kind", "requests", "2xx", "3xx, 4xx", "not awaited", "errors", "p50 ms"]
    for make in (*WORK, *HOSTILE):
        if (tally := tallies.get(make.__name__)) is not None:
            yield [make.__name__, *_cells([tally])]
    yield ["all", *_cells(list(tallies.values()))]


def _cells(tallies: Sequence[Tally]) -> list[str]:
    good, moved, refused = (sum(tally.share(first) for tally in tallies) for first in (200, 300, 400))
    errors, unanswered = sum(tally.errors for tally in tallies), sum(tally.unanswered for tally in tallies)
    took = [each for tally in tallies for each in tally.took]
    numbers = (sum(tally.requests for tally in tallies), good, moved + refused, unanswered, errors)
    return [*map(str, numbers), f"{median(took):.1f}" if took else ""]


def memory_rows(samples: Sequence[Sample], reports: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    """The memory at ten points, before the first and after the last request."""
    names = (
        [name for name, value in reports[0].items() if isinstance(value, int) and name != "requests"]
        if reports
        else []
    )
    yield ["requests", "service MB", "engine MB", *names]
    first, *between, last = samples
    points = [sample for place, sample in enumerate(between, 1) if place % max(1, len(between) // POINTS) == 0]
    for sample in (first, *points, last):
        report = next((one for one in reports if one["requests"] == sample.requests), {})
        megabytes = (f"{sample.service_kb / 1024:.1f}", f"{sample.engine_kb / 1024:.1f}")
        yield [str(sample.requests), *megabytes, *(str(report.get(name, "")) for name in names)]


def _describe(tallies: Mapping[str, Tally]) -> str:
    """The errors by kind and status."""
    failed = [
        f"{count} {status or 'no answer'} to {kind}"
        for kind, tally in tallies.items()
        for status, count in tally.statuses.items()
        if status == NO_ANSWER or status >= FIRST_FAULT
    ]
    return f" ({', '.join(failed)})" if failed else ""


def write_reports(reports: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The caches and lines that hold the most, at the first, the middle and the last point."""
    for place in sorted({0, len(reports) // 2, len(reports) - 1}) if reports else ():
        yield f"\nafter {reports[place]['requests']} requests"
        for name in ("entries", "types", "lines"):
            yield from (f"  {line}" for line in reports[place].get(name, ()))


async def soak(options: argparse.Namespace) -> bool:
    """Run and print; True when all went well."""
    trace = "lines" if options.lines else "totals" if options.trace else None
    with tempfile.TemporaryDirectory(prefix="substrate-soak-") as directory:
        settings = {"SUBSTRATE_UPKEEP": options.upkeep, **dict(each.split("=", 1) for each in options.set)}
        service = Service(Path(directory), settings, trace)
        run = Run(service, options.requests, options.kind, options.citizens, trace is not None)
        try:
            await service.ready()
            await run.fill()
            begun = time.monotonic()
            await run.send_all()
            seconds = time.monotonic() - begun
        finally:
            await service.stop()
    return show_run(run, seconds, options.most)


def show_run(run: Run, seconds: float, most: float) -> bool:
    """Print the tables; True when there was no error and the service is flat."""
    show = sys.stdout.write
    show(format_rows("Requests by kind", list(kind_rows(run.tallies))) + "\n")
    show(format_rows("Memory", list(memory_rows(run.samples, run.reports))) + "\n")
    errors = sum(tally.errors for tally in run.tallies.values())
    first, last = run.samples[0], run.samples[-1]
    worked = f"{last.service_s - first.service_s:.0f} and {last.engine_s - first.engine_s:.0f} s of processor"
    service, engine = (slope(run.samples, part) for part in ("service_kb", "engine_kb"))
    show(f"{run.answered} requests in {seconds:.0f} s, {worked}, {errors} errors{_describe(run.tallies)}\n")
    show(f"KB per 1,000 requests, last half: service {service:+.1f}, engine {engine:+.1f}\n")
    show("".join(f"{count} times {fault}\n" for fault, count in run.faults.most_common(FAULTS)))
    show("\n".join((*write_reports(run.reports), "")))
    return not errors and service <= most


def main() -> None:
    """Run and print; exit with 1 when memory grows or a request failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--requests", type=int, default=200_000)
    parser.add_argument("--citizens", type=int, default=CITIZENS)
    parser.add_argument(
        "--upkeep", choices=("idle", "off"), default="idle", help="the service's upkeep in idle time"
    )
    parser.add_argument("--most", type=float, default=MOST_KB, help="KB per 1,000 requests that count as flat")
    parser.add_argument("--kind", action="append", default=[], help="send only this kind; repeatable")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the service"
    )
    parser.add_argument("--trace", action="store_true", help="report what holds the memory of the service")
    parser.add_argument("--lines", action="store_true", help="report the lines of code too")
    options = parser.parse_args()
    known = {make.__name__ for make in (*WORK, *HOSTILE)}
    if unknown := sorted(set(options.kind) - known):
        parser.error(f"no kind {', '.join(unknown)}; choose among {', '.join(sorted(known))}")
    if options.requests < CLIENTS * POINTS:
        parser.error(f"at least {CLIENTS * POINTS} requests")
    sys.exit(0 if asyncio.run(soak(options)) else 1)


if __name__ == "__main__":
    main()
