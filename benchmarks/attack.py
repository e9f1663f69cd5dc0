"""How much one tenant's attack slows another, who asks and writes: first alone, then during each attack.

    python -m benchmarks.attack --seconds 10 --memories 3000

Starts its own service on loopback with two keys and two citizens. Each attack runs in its own process, while the
second tenant asks and writes in turn for `--seconds` and is measured: the median and the 95th percentile of its
answer times without and during the attack, their ratios, how often it was refused (429, 503) or got no answer
(599), and the peak memory of service and engine. The exit code is 1 when a ratio of 95th percentiles is above
`RATIO` or the second tenant was refused. `--only NAME` runs one attack; `--json` prints one line.

Do not compare the times of two runs: the machine may be busy. A ratio compares two measurements of one run, taken
one after the other.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import orjson

from benchmarks.attacks import ATTACKER, ATTACKS, Target, run_attack
from benchmarks.serving import Served, engine_pid

VICTIM: Final = "victim"
RATIO: Final = 3.0
FEW: Final = 200
PAUSE_S: Final = 0.02
START_S, UNDER_WAY_S = 60.0, 0.5
RATE_LIMIT: Final = "6000/minute"
"""The default of a service."""
type Figures = dict[str, Any]


@dataclass
class Measured:
    """The measurements of the second tenant: milliseconds of its answers by kind, and the refusals by status."""

    took: dict[str, list[float]] = field(default_factory=lambda: {"ask": [], "write": []})
    refused: Counter[str] = field(default_factory=Counter)

    def note(self, kind: str, status: int, seconds: float) -> None:
        """Add one answer."""
        self.took[kind].append(seconds * 1000)
        if status >= 400:
            self.refused[f"{kind} {status}"] += 1


async def victim(http: httpx.AsyncClient, seconds: float, least: int = 8) -> Measured:
    """Ask and write in turn for `seconds`, at least `least` times each."""
    measured, number = Measured(), 0
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up or number < least:
        number += 1
        question = {"citizen_id": VICTIM, "query_text": f"what about harbour {number % FEW}"}
        memory = {"citizen_id": VICTIM, "name": f"said {time.time_ns()}", "emotion_vector": {"joy": 0.5}}
        for kind, path, body in (("ask", "/v1/retrieve", question), ("write", "/v1/memories", memory)):
            begun = time.perf_counter()
            status = await _status(http, path, body)
            measured.note(kind, status, time.perf_counter() - begun)
            await asyncio.sleep(PAUSE_S)
    return measured


async def _status(http: httpx.AsyncClient, path: str, body: object) -> int:
    try:
        return (await http.post(path, json=body)).status_code
    except httpx.TransportError:
        return 599


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share (0 to 1) of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@contextlib.contextmanager
def attacked(name: str, target: Target, seconds: float) -> Iterator[None]:
    """Run the attack in its own process inside the `with` block, for at most `seconds`."""
    context = multiprocessing.get_context("spawn")
    begun = context.Event()
    process = context.Process(target=run_attack, args=(name, target, seconds, begun))
    process.start()
    try:
        if not begun.wait(START_S):
            raise RuntimeError("the attack did not start")
        yield
    finally:
        process.terminate()
        process.join()


class Peaks:
    """The peak memory of processes since this object was created, in MB. Works only on Linux."""

    def __init__(self, pids: dict[str, int]) -> None:
        self._pids = pids
        for pid in pids.values():
            with contextlib.suppress(OSError):
                Path(f"/proc/{pid}/clear_refs").write_text("5")

    def read(self) -> dict[str, float]:
        """Return the peaks by the name of the process."""
        return {f"{name}_mb": _peak_mb(pid) for name, pid in self._pids.items()}


def _peak_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [peak] = (line.split()[1] for line in lines if line.startswith("VmHWM"))
    return round(int(peak) / 1024, 1)


async def prepare(served: Served, memories: int) -> Target:
    """Fill the memory of both tenants and return the target. The attacker has people with a link to everything."""
    async with served.client() as http:
        keys = {
            name: (await http.post("/v1/keys", json={"name": name, "scopes": scopes})).json()["key"]
            for name, scopes in (
                (VICTIM, [f"citizen:{VICTIM}:*"]),
                (ATTACKER, [f"citizen:{ATTACKER}:*"]),
                ("reader", ["N3:read"]),
            )
        }
        await _store(http, "/v1/memories", [_memory(VICTIM, place) for place in range(FEW)])
        await _store(http, "/v1/memories", [_hub(place) for place in range(3)])
        await _store(http, "/v1/memories", [_memory(ATTACKER, place) for place in range(memories)])
        await _store(http, "/v1/links", [_said_by(place, hub) for hub in range(3) for place in range(memories)])
    return Target(f"http://127.0.0.1:{served.port}", keys[ATTACKER], keys["reader"], keys[VICTIM])


def _memory(citizen: str, place: int) -> Figures:
    texts = {"name": f"harbour {place}", "description": f"the harbour at dusk, boat {place}, with rope and anchor"}
    return {"citizen_id": citizen, "id": f"m{place}", "emotion_vector": {"joy": 0.5}, **texts}


def _hub(place: int) -> Figures:
    return {"citizen_id": ATTACKER, "id": f"hub{place}", "name": f"Hub{place}", "node_type": "Person"}


def _said_by(place: int, hub: int) -> Figures:
    felt = {"energy": 0.5, "confidence": 0.5, "emotion_vector": {"joy": 0.5}, "goal": "g", "mindstate": "m"}
    ends = {"source_id": f"m{place}", "target_id": f"hub{hub}", "relation_type": "SAID_BY"}
    return {"citizen_id": ATTACKER, **ends, **felt}


async def _store(http: httpx.AsyncClient, path: str, commands: Sequence[Figures]) -> None:
    for start in range(0, len(commands), 500):
        answer = await http.post(path, json=list(commands[start : start + 500]))
        answer.raise_for_status()
        if answer.json()["refused"]:
            raise RuntimeError(f"{path}: not everything was stored: {answer.text[:300]}")


async def measure(name: str, served: Served, target: Target, seconds: float) -> Figures:
    """Measure one attack."""
    headers = {"Authorization": f"Bearer {target.victim_key}"}
    engine = await engine_pid(served.data)
    pids = {"service": served.pid, **({} if engine is None else {"engine": engine})}
    async with httpx.AsyncClient(base_url=target.url, timeout=120, headers=headers) as http:
        await victim(http, 0.5, least=4)
        without = await victim(http, seconds)
        peaks = Peaks(pids)
        with attacked(name, target, 3 * seconds):
            await asyncio.sleep(UNDER_WAY_S)
            beside = await victim(http, seconds)
        await _rested(http)
    return {"attack": name, **_compared(without, beside), "refused": dict(beside.refused), **peaks.read()}


def _compared(without: Measured, beside: Measured) -> Figures:
    figures: Figures = {}
    for kind in without.took:
        for share, name in ((0.5, "p50"), (0.95, "p95")):
            alone, attacked_ms = (percentile(run.took[kind], share) for run in (without, beside))
            figures[f"{kind}_{name}_ms"] = [round(alone, 1), round(attacked_ms, 1)]
            figures[f"{kind}_{name}_ratio"] = round(attacked_ms / alone, 2)
    return figures


async def _rested(http: httpx.AsyncClient) -> None:
    """Return when the service has finished the work of the attack: after three quick answers in a row, or 60 s."""
    give_up, quick, usual = time.monotonic() + 60, 0, float("inf")
    while quick < 3 and time.monotonic() < give_up:
        begun = time.perf_counter()
        await _status(http, "/v1/retrieve", {"citizen_id": VICTIM, "query_text": "harbour"})
        took = time.perf_counter() - begun
        usual = min(usual, took)
        quick = quick + 1 if took < 2 * usual else 0
        await asyncio.sleep(0.2)


async def run(names: Sequence[str], seconds: float, memories: int) -> list[Figures]:
    """Measure these attacks one after the other on one service."""
    with tempfile.TemporaryDirectory() as directory:
        served = Served(Path(directory), rate_limit=RATE_LIMIT)
        await served.start()
        try:
            target = await prepare(served, memories)
            return [await measure(name, served, target, seconds) for name in names]
        finally:
            await served.stop()


def flaws(figures: Sequence[Figures]) -> list[str]:
    """Describe each figure that is not as it must be."""
    faults = []
    for row in figures:
        high = [kind for kind in ("ask", "write") if row[f"{kind}_p95_ratio"] > RATIO]
        faults += [
            f"{row['attack']}: the p95 of {kind} is {row[f'{kind}_p95_ratio']} times as high" for kind in high
        ]
        if row["refused"]:
            faults.append(f"{row['attack']}: the second tenant was refused: {row['refused']}")
    return faults


def main() -> int:
    """Print the figures; 0 when no attack harmed the second tenant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="how long the second tenant is measured, each way"
    )
    parser.add_argument("--memories", type=int, default=3000, help="of the attacker; each has three links to hubs")
    parser.add_argument("--only", choices=sorted(ATTACKS), action="append")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    figures = asyncio.run(run(asked.only or list(ATTACKS), asked.seconds, asked.memories))
    if asked.json:
        print(orjson.dumps(figures).decode())
    else:
        for row in figures:
            print("  ".join(f"{name} {value}" for name, value in row.items()))
    for flaw in flaws(figures):
        print(flaw, file=sys.stderr)
    return 1 if flaws(figures) else 0


if __name__ == "__main__":
    sys.exit(main())
