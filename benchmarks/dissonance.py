"""How many changes of belief a question about the past tells, where old and new share no words.

    python -m benchmarks.dissonance

A citizen believes ten things and corrects each in other words, among 300 other memories, thirty about the
subject of each belief. Ten questions, each in the words of one side, are asked in the modes `evolution` and
`full_history`. `told`: questions whose change is among the dissonances of the answer. `others`: changes told
beside it, in the mean. Times are medians of whole questions in milliseconds, `records_ms` what the other records
took of them, and `current_ms` the same questions about the present, asked in turn. Ends with 1 below ten of ten.
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
    """What was believed and what is, a question in the words of one side, and words of the subject."""

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
    """The memories that are about the same subjects and were never corrected."""
    said: list[Remember] = []
    for belief, name, form in product(BELIEFS, NAMES, OTHERS):
        one, two, three = belief.words
        text = form.format(name=name, one=one, two=two, three=three)
        said.append(Remember(citizen_id=CITIZEN, id=f"other-{len(said)}", name="note", description=text))
    return said


async def told(commands: Sequence[Command], rt: Runtime) -> None:
    """Write; raises RuntimeError when something was refused."""
    for start in range(0, len(commands), BATCH):
        for receipt in await apply(commands[start : start + BATCH], rt.deps, now()):
            if receipt.status != "stored":
                raise RuntimeError(f"refused: {receipt.faults}")


async def asked(belief: Belief, mode: TemporalMode, rt: Runtime) -> ConsciousnessStream:
    """The stream for the question; raises RuntimeError when it is not whole."""
    intention = RetrievalIntention(
        query_text=belief.question, citizen_id=CITIZEN, temporal_mode=mode, query_levels=(Level.N1,)
    )
    stream = await retrieve_consciousness_context(intention, rt.deps, now())
    if stream.degraded:
        raise RuntimeError(f"degraded: {stream.degraded}")
    return stream


async def measure() -> dict[str, Any]:
    """The figures of each mode, on a store of its own."""
    with tempfile.TemporaryDirectory(prefix="substrate-dissonance-") as directory:
        settings = Settings(StoreSettings(data=Path(directory)), EmbeddingSettings(embedding="local"))
        async with open_runtime(settings) as rt:
            beliefs = [
                Remember(citizen_id=CITIZEN, id=one.id, name=one.id, description=one.was) for one in BELIEFS
            ]
            await told([*others(), *beliefs], rt)
            await told([Correct(citizen_id=CITIZEN, id=one.id, description=one.now) for one in BELIEFS], rt)
            return {mode.value: await of_mode(mode, rt) for mode in HISTORICAL}


async def of_mode(mode: TemporalMode, rt: Runtime) -> dict[str, Any]:
    """What the ten questions tell in a mode, and what they cost, the present asked in turn."""
    found: list[list[str]] = []
    spent: dict[str, list[float]] = {"past": [], "records": [], "current": []}
    for _ in range(ROUNDS):
        for belief in BELIEFS:
            stream = await asked(belief, mode, rt)
            present = await asked(belief, TemporalMode.CURRENT, rt)
            found.append([one.node_id for one in stream.temporal_dissonances])
            spent["past"].append(stream.retrieval_latency_ms)
            spent["records"].append(stream.stage_ms.get("records", 0.0))
            spent["current"].append(present.retrieval_latency_ms)
    first = list(zip(BELIEFS, found, strict=False))
    return {
        "questions": len(BELIEFS),
        "told": sum(belief.id in ids for belief, ids in first),
        "others": round(statistics.fmean(len(set(ids) - {belief.id}) for belief, ids in first), 2),
        **{f"{name}_ms": round(statistics.median(times), 2) for name, times in spent.items()},
    }


def main() -> int:
    """Run and print; 1 when a change was missed."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args()
    figures = asyncio.run(measure())
    sys.stdout.write(orjson.dumps(figures, option=orjson.OPT_INDENT_2).decode() + "\n")
    return int(any(mode["told"] < mode["questions"] for mode in figures.values()))


if __name__ == "__main__":
    sys.exit(main())
