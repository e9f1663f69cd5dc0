"""How many changes of belief the answers about the past report when old and new text share no words.

    python -m benchmarks.dissonance

A citizen believes ten things and corrects each in other words. There are 300 other memories, thirty about the
subject of each belief. Ten questions, each in the words of the old or the new text, are asked in the modes
`evolution` and `full_history`. `told`: questions whose change is among the dissonances of the answer. `others`:
mean number of other changes in an answer. Times are medians per question in milliseconds: `past_ms` of the whole
question, `records_ms` of its stage for other records, `current_ms` of the same question about the present. The
exit code is 1 when a change is missing.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from api.runtime.runtime import Runtime, now, open_runtime
from orchestration.insertion import apply
from orchestration.retrieval import retrieve_consciousness_context
from schemas.commands import Command, Correct, Remember
from schemas.intention import RetrievalIntention
from schemas.memory import Level
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from schemas.stream import ConsciousnessStream
from schemas.temporal import TemporalMode

CITIZEN: Final = "learner"
ROUNDS: Final = 5
BATCH: Final = 50
HISTORICAL: Final = (TemporalMode.EVOLUTION, TemporalMode.FULL_HISTORY)


class Belief(NamedTuple):
    """The old and the new text, a question in the words of one of them, and words of the subject."""

    id: str
    was: str
    now: str
    question: str
    words: tuple[str, str, str]


BELIEFS: Final = (
    Belief(
        "crossing",
        "The ferry to the island leaves at noon.",
        "A bridge was built there, all boats have stopped.",
        "When does the ferry to the island leave?",
        ("ferry", "island", "noon"),
    ),
    Belief(
        "allergy",
        "Peanuts make Ines sneeze and itch.",
        "It was the pollen of birches all along.",
        "Which birches and what pollen did we talk about?",
        ("birch", "pollen", "spring"),
    ),
    Belief(
        "outage",
        "The database crashed because its disk was full.",
        "A faulty memory module had brought the machine down.",
        "Why did the database crash, was the disk full?",
        ("database", "disk", "crash"),
    ),
    Belief(
        "painting",
        "The portrait in the hall is by a pupil of Vermeer.",
        "An expert says it is a forgery from the forties.",
        "What did the expert say about forgery?",
        ("expert", "forgery", "opinion"),
    ),
    Belief(
        "tenant",
        "Mr Kern rents the flat upstairs and pays late.",
        "His sister moved in, she is always on time.",
        "Who rents the flat upstairs and pays late?",
        ("flat", "rent", "upstairs"),
    ),
    Belief(
        "recipe",
        "Grandmother's bread needs two spoons of yeast.",
        "She used sourdough, her notebook proves it.",
        "What does the notebook say about sourdough?",
        ("notebook", "sourdough", "kitchen"),
    ),
    Belief(
        "budget",
        "Finance approved forty thousand for the new server.",
        "The board turned it down, we lease one instead.",
        "How much did finance approve for the server?",
        ("finance", "server", "approval"),
    ),
    Belief(
        "trail",
        "The path over the pass is safe until October.",
        "A landslide closed that route for years.",
        "Where was the landslide that closed a route?",
        ("landslide", "route", "valley"),
    ),
    Belief(
        "voice",
        "The choir needs another tenor before Christmas.",
        "What we lack is a deep bass, says the conductor.",
        "Does the choir need a tenor before Christmas?",
        ("choir", "tenor", "Christmas"),
    ),
    Belief(
        "engine",
        "The tractor stalls because of a clogged filter.",
        "Water in the diesel had made it stop.",
        "Where did water get into the diesel?",
        ("diesel", "water", "tank"),
    ),
)
NAMES: Final = ("Ada", "Bruno", "Clara", "Dario", "Emil", "Frida")
OTHERS: Final = (
    "{name} spoke of the {one} and the {two} on Monday.",
    "In the letter {name} asks about a {two}, the {three} and one more {one}.",
    "{name} has seen a {one} near the {three}.",
    "No {two} without {three}, says {name}, and no {one} either.",
    "{name} drew the {three} beside the {one}.",
)
"""With six names these are thirty memories about each subject."""


def others() -> list[Remember]:
    """Build the memories about the same subjects that are never corrected."""
    commands: list[Remember] = []
    for belief, name, form in product(BELIEFS, NAMES, OTHERS):
        one, two, three = belief.words
        text = form.format(name=name, one=one, two=two, three=three)
        command = Remember(citizen_id=CITIZEN, id=f"other-{len(commands)}", name="note", description=text)
        commands.append(command)
    return commands


async def store(commands: Sequence[Command], rt: Runtime) -> None:
    """Store the commands. Raises RuntimeError when one was refused."""
    for start in range(0, len(commands), BATCH):
        for receipt in await apply(commands[start : start + BATCH], rt.deps, now()):
            if receipt.status != "stored":
                raise RuntimeError(f"refused: {receipt.faults}")


async def ask(belief: Belief, mode: TemporalMode, rt: Runtime) -> ConsciousnessStream:
    """Return the stream for the question. Raises RuntimeError when it is degraded."""
    intention = RetrievalIntention(
        query_text=belief.question, citizen_id=CITIZEN, temporal_mode=mode, query_levels=(Level.N1,)
    )
    stream = await retrieve_consciousness_context(intention, rt.deps, now())
    if stream.degraded:
        raise RuntimeError(f"degraded: {stream.degraded}")
    return stream


async def measure() -> dict[str, Any]:
    """Return the figures of each mode, on a new store."""
    with tempfile.TemporaryDirectory(prefix="substrate-dissonance-") as directory:
        settings = Settings(StoreSettings(data=Path(directory)), EmbeddingSettings(embedding="local"))
        async with open_runtime(settings) as rt:
            beliefs = [
                Remember(citizen_id=CITIZEN, id=belief.id, name=belief.id, description=belief.was)
                for belief in BELIEFS
            ]
            await store([*others(), *beliefs], rt)
            corrections = [Correct(citizen_id=CITIZEN, id=belief.id, description=belief.now) for belief in BELIEFS]
            await store(corrections, rt)
            return {mode.value: await measure_mode(mode, rt) for mode in HISTORICAL}


async def measure_mode(mode: TemporalMode, rt: Runtime) -> dict[str, Any]:
    """Ask the ten questions in a mode, and about the present in turn; returns counts and times."""
    changes: list[list[str]] = []
    spent: dict[str, list[float]] = {"past": [], "records": [], "current": []}
    for _ in range(ROUNDS):
        for belief in BELIEFS:
            stream = await ask(belief, mode, rt)
            present = await ask(belief, TemporalMode.CURRENT, rt)
            changes.append([dissonance.node_id for dissonance in stream.temporal_dissonances])
            spent["past"].append(stream.retrieval_latency_ms)
            spent["records"].append(stream.stage_ms.get("records", 0.0))
            spent["current"].append(present.retrieval_latency_ms)
    first = list(zip(BELIEFS, changes, strict=False))
    return {
        "questions": len(BELIEFS),
        "told": sum(belief.id in ids for belief, ids in first),
        "others": round(statistics.fmean(len(set(ids) - {belief.id}) for belief, ids in first), 2),
        **{f"{name}_ms": round(statistics.median(times), 2) for name, times in spent.items()},
    }


def main() -> int:
    """Run and print; returns 1 when a change is missing."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args()
    figures = asyncio.run(measure())
    sys.stdout.write(orjson.dumps(figures, option=orjson.OPT_INDENT_2).decode() + "\n")
    return int(any(mode["told"] < mode["questions"] for mode in figures.values()))


if __name__ == "__main__":
    sys.exit(main())
