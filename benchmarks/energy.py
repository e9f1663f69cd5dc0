"""A simulated year of wakes: does a citizen's energy run away or die, and does work move it the right way?

    python -m benchmarks.energy [--of NAME [NAME...]] [--days 365] [--json]

Each citizen is stored whole: `ada` of the demo, the lives of benchmarks/lives and the chats of benchmarks/chats
and benchmarks/held_back by their names. Then a year begins, a wake a day, each with feedback at its own moment. A
wake is about one piece of work, drawn by a seed: open work (blocked, in progress) is woken to by
`find_related_unresolved` of all time with its goal, finished work is asked about in its words (003's cycle).
The state of the work is the stored one: given by the writer, or read from the text. Nothing new is told meanwhile.

`up`, `down`: the share of the wakes on blocked, in progress (open) and resolved work after which the energy was
higher or lower than before. `before`: the rule of 003 without guard, return and bounds, by the potential over 150,
on the same streams: its energy after five wakes and at the end, from the same start.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, Final

import orjson

from api.cli.demo import CITIZEN, read_story
from api.client import AsyncSubstrate
from api.runtime.runtime import open_runtime
from benchmarks import chat, life
from benchmarks.waking import wire
from orchestration.dependencies import Deps
from orchestration.ingestion.pipeline import ingest_as_happened
from orchestration.mind.energy import apply_energy_feedback, bounds
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.intention import QueryMode, RetrievalIntention, StateBasedRetrieval
from schemas.memory import ConsciousnessNode, Level, ResolutionState
from schemas.settings import Settings, StoreSettings
from schemas.stream import ConsciousnessStream
from schemas.temporal import Instant, to_instant

DEFAULT: Final = ("ada", "harbour_bakery", "student", "orchard_and_visa")
DAY: Final = 86_400_000_000
STATES: Final = tuple(ResolutionState)
SEED: Final = 18
CUE: Final = 300
"""So many characters of a memory are a goal or a question."""


@dataclass
class Year:
    """What happened: by state of the work the changes of the energy, and the energies of both rules."""

    name: str
    ordinary: float
    changes: dict[ResolutionState, list[float]] = field(default_factory=dict)
    energies: list[float] = field(default_factory=list)
    by_003: list[float] = field(default_factory=list)

    def add(self, state: ResolutionState, stream: ConsciousnessStream) -> None:
        """Add one wake."""
        after = stream.energy_feedback
        if after is None:
            raise RuntimeError(f"{self.name}: no feedback: {stream.notes}")
        self.changes.setdefault(state, []).append(after.after - after.before)
        self.energies.append(after.after)
        self.ordinary = after.baseline
        had = self.by_003[-1] if self.by_003 else after.before
        self.by_003.append(apply_energy_feedback(had, stream.energy_feedback_potential))

    def share(self, state: ResolutionState, *, raised: bool) -> float | None:
        """The share of the wakes on such work that raised or lowered the energy; None without such work."""
        changes = self.changes.get(state)
        return fmean(change > 0 if raised else change < 0 for change in changes) if changes else None

    def as_dict(self) -> dict[str, Any]:
        """All figures, ready for JSON."""
        least, greatest = bounds(self.ordinary)
        shares = {
            state.value: {
                "wakes": len(self.changes.get(state, ())),
                "raised": self.share(state, raised=True),
                "lowered": self.share(state, raised=False),
            }
            for state in STATES
        }
        return {
            "citizen": self.name,
            "wakes": len(self.energies),
            "ordinary": self.ordinary,
            "bounds": [least, greatest],
            "energy": {"min": min(self.energies), "mean": fmean(self.energies), "max": max(self.energies)},
            "work": shares,
            "before": {"after five": self.by_003[:5][-1], "end": self.by_003[-1]},
        }


async def store(name: str, directory: str) -> str:
    """Store the citizen of this name; return its id. Raises FileNotFoundError for a name that nothing has."""
    now = time.time_ns() // 1000
    if name == "ada":
        async with open_runtime(settings_of(directory)) as runtime:
            await ingest_as_happened(read_story(now).life, runtime.deps, now, progress=lambda *_: None)
        return CITIZEN
    whole = _find(name)
    async with AsyncSubstrate.embedded(directory) as client:
        await client.ingest(name, [wire(message) for message in whole], episode_id=name)
    return name


def _find(name: str) -> Sequence[life.Message]:
    for directory in (life.DIRECTORY, chat.DIRECTORY, chat.HELD_BACK):
        file = directory / f"{name}.json"
        if file.exists():
            entries = orjson.loads(file.read_bytes())["messages"]
            return [life.Message.model_validate_json(orjson.dumps(entry)) for entry in entries]
    raise FileNotFoundError(f"no life and no chat has the name {name}")


def settings_of(directory: str) -> Settings:
    """The default settings with this directory."""
    return Settings(store=StoreSettings(data=Path(directory)))


async def read_work(citizen: str, directory: str) -> dict[ResolutionState, list[ConsciousnessNode]]:
    """The citizen's memories with a state of work, by it."""
    work: dict[ResolutionState, list[ConsciousnessNode]] = {}
    async with AsyncSubstrate.embedded(directory) as client:
        cursor = None
        while True:
            page = await client.list_memories(citizen_id=citizen, limit=500, cursor=cursor)
            for memory in page.memories:
                if memory.resolution_state is not None:
                    work.setdefault(memory.resolution_state, []).append(memory)
            cursor = page.next
            if cursor is None:
                return work


async def wake(citizen: str, about: ConsciousnessNode, deps: Deps, now: Instant) -> ConsciousnessStream:
    """One wake about a piece of work, with feedback."""
    shared: dict[str, Any] = {"citizen_id": citizen, "query_levels": (Level.N1,), "apply_feedback": True}
    if about.resolution_state is ResolutionState.RESOLVED:
        words = (about.description or about.name)[:CUE]
        return await retrieve_consciousness_context(RetrievalIntention(query_text=words, **shared), deps, now)
    state = StateBasedRetrieval(
        query_mode=QueryMode.RELATED_UNRESOLVED,
        current_goal=(about.goal or about.description or about.name)[:CUE],
        current_emotions=about.emotion_vector or None,
        temporal_scope="all_time",
        **shared,
    )
    return await retrieve_consciousness_context_from_state(state, deps, now)


async def live(name: str, days: int) -> Year:
    """Store a citizen and let it wake for so many days."""
    with tempfile.TemporaryDirectory(prefix="substrate-energy-") as directory:
        citizen = await store(name, directory)
        work = await read_work(citizen, directory)
        if not work:
            raise RuntimeError(f"{name} has no work of any state")
        chance, year = Random(SEED), Year(name, 0.5)
        newest = max(to_instant(memory.valid_at) for each in work.values() for memory in each)
        begun = max(time.time_ns() // 1000, newest)
        async with open_runtime(settings_of(directory)) as runtime:
            for day in range(1, days + 1):
                state = chance.choice([state for state in STATES if state in work])
                about = chance.choice(work[state])
                now = begun + day * DAY + chance.randrange(DAY // 2)
                year.add(state, await wake(citizen, about, runtime.deps, now))
        return year


def format_years(years: Iterable[Year]) -> str:
    """All figures as a plain table."""
    lines = [
        f"{'citizen':20}{'wakes':>6}{'ordinary':>9}{'energy min mean max':>21}"
        f"{'blocked up':>12}{'open up':>9}{'resolved down':>15}{'before: 5, end':>17}"
    ]
    for year in years:
        figures = year.as_dict()
        energy, before = figures["energy"], figures["before"]
        spread = f"{energy['min']:.2f} {energy['mean']:.2f} {energy['max']:.2f}"
        up = [_percent(year.share(state, raised=True)) for state in (STATES[2], STATES[1])]
        down = _percent(year.share(ResolutionState.RESOLVED, raised=False))
        lines.append(
            f"{year.name:20}{figures['wakes']:6}{year.ordinary:9.2f}{spread:>21}{up[0]:>12}{up[1]:>9}{down:>15}"
            f"{before['after five']:11.2f}{before['end']:6.2f}"
        )
    return "\n".join(lines)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.2f}"


async def measure(names: Iterable[str], days: int) -> list[Year]:
    """The years of these citizens, one after another."""
    return [await live(name, days) for name in names]


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--of", nargs="+", default=list(DEFAULT), help="names; default: " + ", ".join(DEFAULT))
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    years = asyncio.run(measure(arguments.of, max(1, arguments.days)))
    plain = orjson.dumps([year.as_dict() for year in years], option=orjson.OPT_INDENT_2).decode()
    sys.stdout.write((plain if arguments.json else format_years(years)) + "\n")


if __name__ == "__main__":
    main()
