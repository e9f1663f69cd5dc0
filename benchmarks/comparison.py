"""Compares checkouts of Substrate, and other programs, in one run: used by `benchmarks.latency`.

Every checkout fills a store of its own with the same data and serves it by its own code; the same requests go to
all of them in turns, over HTTP, so that whatever else the machine does falls on all alike. A request costs time by
the clock, and processor time of the service and of the engine. A peer is a command that measures itself: it prints
milliseconds, or JSON with `p50`, and is run between the requests.

- `warm`: the question is new, after others to the same citizen: records may be kept in memory, answers cannot.
- `repeated`: the same question again, and nothing was written meanwhile.
- `cold`: the service was started anew, and has answered one question about another citizen.
- `load`: new questions by 16 clients at once, each one after the other; `load_repeated`: the same again.
- `write`: one memory.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.sides.side import Cost, Side
from substrate.inference.tokens import counter

CLIENTS: Final = 16
ROUNDS: Final = 3
SIZED: Final = 10
FORMS: Final = (None, "full", "references", "compact")
"""The forms of an answer that are weighed; None is what a request gets that names none."""
OURS: Final = "ours"
PEER_LIMIT_S: Final = 600
type Figures = dict[str, Any]


class Asked(NamedTuple):
    """A question to a citizen."""

    citizen: str
    text: str

    def body(self) -> dict[str, Any]:
        return {"query_text": self.text, "citizen_id": self.citizen}


@dataclass(frozen=True, slots=True)
class Plan:
    """The questions, all different. `warming` are not measured, `new` one by one, `at_once` by several clients.

    `cold`: after each start of the service the questions that are asked first, `other`, about another citizen,
    before them.
    """

    warming: Sequence[Asked]
    new: Sequence[Asked]
    at_once: Sequence[Asked]
    cold: Sequence[Sequence[Asked]]
    other: Asked
    peers: Sequence[str] = ()


@dataclass
class Record:
    """What was measured of each side, by the name of the phase."""

    costs: dict[str, dict[str, list[Cost]]] = field(default_factory=dict)
    rates: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    bare: dict[str, list[float]] = field(default_factory=dict)
    peers: dict[str, list[float]] = field(default_factory=dict)
    sizes: dict[str, Figures] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def note(self, phase: str, side: Side, cost: Cost) -> None:
        self.costs.setdefault(phase, {}).setdefault(side.name, []).append(cost)


def in_turns(sides: Sequence[Side], number: int) -> list[Side]:
    """Return the sides, each time another one first."""
    first = number % len(sides)
    return [*sides[first:], *sides[:first]]


async def compare(sides: Sequence[Side], plan: Plan) -> Figures:
    """Measure everything; the first side is ours, and the others are what it is compared with."""
    record = Record()
    await _ask_cold(sides, plan, record)
    for side in sides:
        await side.start_service()
        for question in plan.warming:
            await side.request("/v1/retrieve", **question.body())
    await _ask_new(sides, plan, record)
    await ask_at_once(sides, parts_of(plan.at_once), record, "load")
    for number in range(ROUNDS):
        await _ask(sides, plan.new, record, "repeated", first=number)
    await ask_at_once(sides, [plan.at_once] * ROUNDS, record, "load_repeated")
    await _write(sides, plan, record)
    await _weigh(sides, plan, record)
    for side in sides:
        record.faults += [f"{side.name}: a status {status}" for status in set(side.statuses) - {200, 201}]
    return summarize(record, [side.name for side in sides])


def parts_of(questions: Sequence[Asked]) -> list[Sequence[Asked]]:
    """The questions in as many parts as there are rounds."""
    return [questions[number::ROUNDS] for number in range(ROUNDS)]


async def _ask(
    sides: Sequence[Side], questions: Sequence[Asked], record: Record, phase: str, *, first: int = 0
) -> None:
    for place, question in enumerate(questions):
        for side in in_turns(sides, place + first):
            cost, _ = await side.request("/v1/retrieve", **question.body())
            record.note(phase, side, cost)


async def _ask_cold(sides: Sequence[Side], plan: Plan, record: Record) -> None:
    for number, questions in enumerate(plan.cold):
        for side in in_turns(sides, number):
            await side.start_service()
            await side.request("/v1/retrieve", **plan.other.body())
        await _ask(sides, questions, record, "cold", first=number)


async def _ask_new(sides: Sequence[Side], plan: Plan, record: Record) -> None:
    """Ask the new questions; in between, send their bare queries, and let the peers measure themselves."""
    for number, questions in enumerate(parts_of(plan.new)):
        await _ask(sides, questions, record, "warm", first=number)
        for place, question in enumerate(questions):
            for side in in_turns(sides, place + number):
                await _ask_bare(side, question, record)
        for command in plan.peers:
            record.peers.setdefault(command, []).append(await asyncio.to_thread(run_peer, command))


async def _ask_bare(side: Side, question: Asked, record: Record) -> None:
    """Send the bare queries of a question, unless this checkout could not do it before."""
    fault = f"{side.name}, bare queries: "
    if any(known.startswith(fault) for known in record.faults):
        return
    answer = await side.tell_worker(bare=question)
    if "ms" in answer:
        record.bare.setdefault(side.name, []).append(answer["ms"])
    else:
        record.faults.append(fault + answer["error"])


def run_peer(command: str) -> float:
    """Run a peer's command; returns its milliseconds. Raises ValueError when its last line names none."""
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=PEER_LIMIT_S, check=False)
    return read_peer(done.stdout)


def read_peer(output: str) -> float:
    """Return the milliseconds that a peer printed: its last line, a number or JSON with `p50`."""
    lines = output.split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    try:
        value = json.loads(last)
        return float(value["p50"] if isinstance(value, dict) else value)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the peer printed neither a number nor JSON with p50, but {last[:80]!r}") from error


async def ask_at_once(
    sides: Sequence[Side], rounds: Sequence[Sequence[Asked]], record: Record, phase: str
) -> None:
    """Let 16 clients ask the questions of each round, one side after the other."""
    for number, questions in enumerate(rounds):
        for side in in_turns(sides, number):
            before, begun = side.spent(), time.perf_counter()
            waits = await asyncio.gather(*(_client(side, questions, first) for first in range(CLIENTS)))
            seconds = time.perf_counter() - begun
            spent = [(now - then) / len(questions) for now, then in zip(side.spent(), before, strict=True)]
            record.rates.setdefault(phase, {}).setdefault(side.name, []).append(len(questions) / seconds)
            for wait in (wait for client in waits for wait in client):
                record.note(phase, side, Cost(wait, *spent))


async def _client(side: Side, questions: Sequence[Asked], first: int) -> list[float]:
    client = side.client()
    waits = []
    for question in islice(questions, first, None, CLIENTS):
        body = json.dumps(question.body()).encode()
        begun = time.perf_counter()
        await client.post("/v1/retrieve", body)
        waits.append((time.perf_counter() - begun) * 1000)
    await client.close()
    return waits


async def _write(sides: Sequence[Side], plan: Plan, record: Record) -> None:
    for number, question in enumerate(plan.new):
        for side in in_turns(sides, number):
            text = f"Note {number}: {question.text}"
            memory = {"citizen_id": question.citizen, "name": f"note {number}", "description": text}
            cost, _ = await side.request("/v1/memories", **memory)
            record.note("write", side, cost)


async def _weigh(sides: Sequence[Side], plan: Plan, record: Record) -> None:
    """Note the bytes and tokens of an answer in each form that a checkout has."""
    count = counter()
    for side in sides:
        sizes: Figures = {}
        for form in FORMS:
            more = {} if form is None else {"form": form}
            answers = []
            for question in plan.new[:SIZED]:
                _, answer = await side.request("/v1/retrieve", **question.body(), **more)
                if side.statuses.pop() == 200:
                    answers.append(answer)
            if answers:
                tokens = [count(answer.decode()) for answer in answers]
                weight = {
                    "bytes": round(statistics.fmean(map(len, answers))),
                    "tokens": round(statistics.fmean(tokens)),
                }
                sizes[form or "unset"] = weight
        record.sizes[side.name] = sizes


def summarize(record: Record, names: Sequence[str]) -> Figures:
    """Return the figures of each phase by side, and the ratios of ours to each other."""
    phases: Figures = {}
    for phase, costs in record.costs.items():
        rates = record.rates.get(phase, {})
        figures = {name: _phase(costs[name], rates.get(name)) for name in names if name in costs}
        phases[phase] = {**figures, "ratios": _ratios(figures, names)}
    bare = {name: round(statistics.median(spent), 3) for name, spent in record.bare.items()}
    peers = {command: round(statistics.median(spent), 3) for command, spent in record.peers.items()}
    ours = phases.get("warm", {}).get(OURS, {}).get("p50_ms")
    return {
        "phases": phases,
        "bare_queries_p50_ms": bare,
        "warm_to_bare_queries": {name: _ratio(ours, value) for name, value in bare.items()},
        "cold_to_warm_of": {
            name: _ratio(phases["cold"][OURS]["p50_ms"], phases["warm"][name]["p50_ms"])
            for name in names
            if "cold" in phases and "warm" in phases and name != OURS
        },
        "peers_p50_ms": peers,
        "warm_to_peers": {command: _ratio(ours, value) for command, value in peers.items()},
        "answer": record.sizes,
        "faults": record.faults,
    }


def _phase(costs: Sequence[Cost], rates: Sequence[float] | None) -> dict[str, float]:
    clock = sorted(cost.clock for cost in costs)
    service, engine = (statistics.fmean(getattr(cost, of) for cost in costs) for of in ("service", "engine"))
    figures = {
        "n": len(costs),
        "p50_ms": round(statistics.median(clock), 3),
        "p95_ms": round(clock[min(len(clock) - 1, int(0.95 * len(clock)))], 3),
        "cpu_service_ms": round(service, 3),
        "cpu_engine_ms": round(engine, 3),
        "cpu_ms": round(service + engine, 3),
    }
    return figures if rates is None else {**figures, "per_second": round(statistics.median(rates), 1)}


_COMPARED: Final = ("p50_ms", "p95_ms", "cpu_ms", "per_second")


def _ratios(figures: Mapping[str, Mapping[str, float]], names: Sequence[str]) -> Figures:
    """Ratios of ours to each other side: below 1 is quicker, except `per_second`."""
    ours = figures.get(OURS, {})
    return {
        name: {
            key: _ratio(ours[key], figures[name][key]) for key in _COMPARED if key in ours and key in figures[name]
        }
        for name in names
        if name != OURS and name in figures
    }


def _ratio(value: float | None, of: float | None) -> float | None:
    return None if not value or not of else round(value / of, 3)


def format_table(title: str, figures: Figures) -> str:
    """Return the figures of one comparison as text."""
    lines = [
        title,
        f"{'':14} {'side':10} {'p50':>9} {'p95':>9} {'service':>9} {'engine':>9} {'a second':>9}   to ours",
    ]
    for phase, values in figures["phases"].items():
        for name, row in values.items():
            if name != "ratios":
                lines.append(_line(phase, name, row, values["ratios"].get(name)))
    shown = ("bare_queries_p50_ms", "warm_to_bare_queries", "cold_to_warm_of", "peers_p50_ms", "warm_to_peers")
    lines += [f"{key}: {figures[key]}" for key in (*shown, "answer", "faults") if figures[key]]
    return "\n".join(lines)


def _line(phase: str, name: str, row: Mapping[str, float], ratios: Mapping[str, float] | None) -> str:
    keys = ("p50_ms", "p95_ms", "cpu_service_ms", "cpu_engine_ms", "per_second")
    cells = " ".join(f"{row[key]:>9.2f}" if key in row else f"{'':>9}" for key in keys)
    told = "" if ratios is None else ", ".join(f"{key} {value}" for key, value in ratios.items())
    return f"{phase:14} {name:10} {cells}   {told}"


def read_bases(words: Sequence[str], refuse: Callable[[str], None]) -> list[tuple[str, Path]]:
    """Return the name and path of each `DIR` or `NAME=DIR`; calls `refuse` for a path without Substrate."""
    bases = []
    for word in words:
        name, _, path = word.rpartition("=")
        folder = Path(path).expanduser().absolute()
        if not (folder / "benchmarks" / "latency.py").exists():
            refuse(f"{folder} has no benchmarks/latency.py")
        bases.append((name or folder.name, folder))
    return bases
