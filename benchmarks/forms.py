"""What the forms of a stream cost, in tokens, and whether a whole one is whole; `docs/forms.md` shows it.

    python -m benchmarks.forms

The life of `examples/ada` is stored in a directory of its own, and asked over HTTP in this process. `before` is
the JSON of the stream with each null and each default.

`whole` asks 20 questions over three graphs as somebody does who names neither form nor limit: those to Ada, and
others to a citizen whose three graphs hold each a life of `benchmarks/lives`, its messages linked by NEXT. All are
asked with 20 results a query and with `MOST`. A stream is compared with the same one by reference, which is never
cut: `levels empty` found memories and show none, `entries missing` stand in a list there and not here, `not told`
are those of them of which the stream says nothing, `miscounted` levels of which the summary counts other memories
than were found. Times are medians of what a question takes in this process,
alone (`cpu_ms`) and with the engine (`ms`).
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from api.client import AsyncSubstrate
from benchmarks.life import Life, load_lives
from schemas.base import json_bytes
from substrate.inference import tokens

HOME: Final = Path(__file__).resolve().parents[1] / "examples" / "ada"
FILES: Final = ("n1_personal", "n2_collective", "n3_ecosystem")
QUESTION: Final = "How did Felix and I make up?"
FORMS: Final = ("full", "references", "compact")
LIMITS: Final = (200, 500, 1000, 2000, 5000, 20_000)
COMMANDS_AT_ONCE: Final = 200
LIVES: Final = ("joiner", "student", "nurse")
"""The lives that stand in the three graphs of the other citizen."""
QUESTIONS: Final = 20
"""So many questions: those of the example life, the others to the lives in turn."""
MOST: Final = 50
"""The most results of a query that 003 finds acceptable."""
LISTS: Final = ("vector_results", "graph_results", "relationships")


async def measure() -> dict[str, Any]:
    """The tokens of each form, without a limit and within each limit; then what whole streams show."""
    count = tokens.counter()
    ada = [
        {"citizen_id": "ada", **orjson.loads(line)}
        for name in FILES
        for line in (HOME / f"{name}.jsonl").read_bytes().splitlines()
        if line.strip()
    ]
    async with _filled(ada) as memory:
        before = await memory.retrieve(citizen_id="ada", query_text=QUESTION)
        figures: dict[str, Any] = {"before": count(json_bytes(before).decode())}
        for form in FORMS:
            figures[form] = count(await _sent(memory, form=form))
            for limit in LIMITS:
                body = await _sent(memory, form=form, max_tokens=limit)
                text = orjson.loads(body).get("text", body)
                figures[f"{form} {limit}"] = count(text)
        asked = [("ada", each["ask"]) for each in orjson.loads((HOME / "expect.json").read_bytes())["questions"]]
        seen = {limit: [await _see(memory, *one, limit) for one in asked] for limit in (20, MOST)}
    lives = load_lives(LIVES)
    rounds = zip_longest(*(life.questions for life in lives))
    mixed = [each.question for each in chain.from_iterable(rounds) if each is not None]
    async with _filled(list(_told(lives))) as memory:
        for limit, streams in seen.items():
            streams += [
                await _see(memory, "reader", question, limit) for question in mixed[: QUESTIONS - len(asked)]
            ]
            figures[f"whole, {limit} results"] = _summed(streams)
    return figures


@asynccontextmanager
async def _filled(commands: Sequence[Mapping[str, Any]]) -> AsyncIterator[AsyncSubstrate]:
    """A store of its own that carried out these commands."""
    with tempfile.TemporaryDirectory() as directory:
        async with AsyncSubstrate.embedded(directory) as memory:
            for first in range(0, len(commands), COMMANDS_AT_ONCE):
                await memory.apply(commands[first : first + COMMANDS_AT_ONCE])
            yield memory


def _told(lives: Iterable[Life]) -> Iterator[dict[str, Any]]:
    """The commands that fill the three graphs of the other citizen, a life each."""
    for level, life in zip(("N1", "N2", "N3"), lives, strict=True):
        former = None
        for message in life.messages:
            of = {"citizen_id": "reader", "level": level, "valid_at": message.time.isoformat()}
            said = {"name": message.text[:60], "description": message.text, "speaker": message.role}
            own = f"{life.id}.{message.id}"
            yield {"command": "remember", **of, "id": own, **said}
            if former is not None:
                yield {"command": "relate", **of, "source_id": former, "target_id": own, "relation_type": "NEXT"}
            former = own


async def _sent(memory: AsyncSubstrate, **how: Any) -> str:
    """The body of the answer, as it is sent."""
    answer = await memory._http.post("/v1/retrieve", json={"citizen_id": "ada", "query_text": QUESTION, **how})
    answer.raise_for_status()
    return str(answer.text)


class Seen(NamedTuple):
    """What one whole stream cost, and how its lists stand to what was found."""

    tokens: int
    ms: float
    cpu_ms: float
    empty: int
    missing: int
    untold: int
    miscounted: int


async def _see(memory: AsyncSubstrate, citizen: str, question: str, limit: int) -> Seen:
    """Ask for the whole stream, then for the same by reference, and compare."""
    how = {"citizen_id": citizen, "query_text": question, "max_results_per_level": limit}
    begun, used = time.perf_counter(), time.process_time()
    body = await _sent(memory, **how)
    ms, cpu_ms = (time.perf_counter() - begun) * 1000, (time.process_time() - used) * 1000
    whole = orjson.loads(body)
    levels, summary = whole["levels"], whole["consciousness_summary"]
    found = orjson.loads(await _sent(memory, form="references", **how))["levels"]
    empty = missing = untold = miscounted = 0
    for level, lists in found.items():
        sent = levels.get(level, {})
        distinct = {*lists["vector_results"], *lists["graph_results"]}
        miscounted += summary[f"{level[:2]}_result_count"] != len(distinct)
        empty += any(lists[name] for name in LISTS[:2]) and not any(sent.get(name) for name in LISTS[:2])
        for name in LISTS:
            lacking = len(lists[name]) - len(sent.get(name, ()))
            missing += lacking
            untold += abs(lacking - sent.get("omitted", {}).get(name, 0))
    return Seen(tokens.counter()(body), ms, cpu_ms, empty, missing, untold, miscounted)


def _summed(streams: Sequence[Seen]) -> dict[str, Any]:
    costs, walls, cpus, *counts = zip(*streams, strict=True)
    return {
        "questions": len(streams),
        **dict(zip(("levels empty", "entries missing", "not told", "miscounted"), map(sum, counts), strict=True)),
        "tokens": {"least": min(costs), "median": round(statistics.median(costs)), "most": max(costs)},
        "ms": round(statistics.median(walls), 1),
        "cpu_ms": round(statistics.median(cpus), 1),
    }


def main() -> None:
    """Run and print."""
    figures = asyncio.run(measure())
    sys.stdout.write(orjson.dumps(figures, option=orjson.OPT_INDENT_2).decode() + "\n")


if __name__ == "__main__":
    main()
