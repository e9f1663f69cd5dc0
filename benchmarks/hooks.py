"""Lives a session of Claude Code of forty turns on three days through its hooks, beside an empty Python.

    python -m benchmarks.hooks [--pairs 3]

On the first day five facts are told, on the third they are asked for in other words; between them the turns are of
a chat that was written for another benchmark. Each hook is run as the host runs it, with the event that its
documentation shows and a transcript that grows. Before each hook `python -c pass` is run `--pairs` times.

`told`: of the five facts, those in the context of the prompt that asks for them. `tokens`: what a prompt brings.
`ms`: the median and the 95th percentile by the clock, `processor_ms` of processor time, for each event;
`of_an_empty_python` is the ratio of the medians.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final, NamedTuple

from api.cli.hosts.host_files import PROGRAMS
from benchmarks.serving import KEY, Served
from substrate.inference.tokens import counter

CITIZEN: Final = "hooked"
LIFE: Final = Path(__file__).parent / "lives" / "joiner.json"
DAYS: Final = ("2026-10-01", "2026-10-05", "2026-10-09")
TURNS: Final = 40
FACTS: Final = (
    ("My brother Tom lives in Bergen and drinks his tea with milk.", "How does Tom take his tea?"),
    ("The staging server is called heron and listens on port 7443.", "On which port does heron listen?"),
    ("We deploy on Tuesdays, because Ines is away on Fridays.", "On which day do we deploy?"),
    ("The invoices are signed by Mr Okafor in the second week.", "Who signs the invoices?"),
    ("My daughter Mia is allergic to walnuts.", "What is Mia allergic to?"),
)


class Spent(NamedTuple):
    """The time of a program: by the clock, and of the processor."""

    clock: float
    processor: float


class Run:
    """Programs as a host runs them, and what they took."""

    def __init__(self, url: str, state: Path, pairs: int) -> None:
        self.hook = [sys.executable, "-I", "-S", str(PROGRAMS / "hook.py"), url, CITIZEN]
        self.empty = [sys.executable, "-c", "pass"]
        self.surroundings = {"SUBSTRATE_API_KEY": KEY, "XDG_STATE_HOME": str(state), "PATH": os.defpath}
        self.pairs = pairs
        self.spent: defaultdict[str, list[Spent]] = defaultdict(list)

    def call(self, event: dict[str, Any]) -> str:
        """What reaches the model at this event."""
        for _ in range(self.pairs):
            self._run("python -c pass", self.empty, "")
        printed = self._run(event["hook_event_name"], self.hook, json.dumps(event))
        return str(json.loads(printed)["hookSpecificOutput"]["additionalContext"]) if printed else ""

    def _run(self, name: str, words: list[str], given: str) -> str:
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(
            words, input=given, capture_output=True, text=True, env=self.surroundings, check=True
        )
        clock, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.spent[name].append(Spent(1000 * clock, 1000 * worked))
        return done.stdout

    def figures(self) -> dict[str, Any]:
        """What each event took."""
        empty = median(spent.clock for spent in self.spent["python -c pass"])
        return {name: self._figures_of(spent, empty) for name, spent in sorted(self.spent.items())}

    def _figures_of(self, spent: list[Spent], empty: float) -> dict[str, Any]:
        clocks = [each.clock for each in spent]
        high = quantiles(clocks, n=20)[-1] if len(clocks) > 1 else clocks[0]
        return {
            "runs": len(spent),
            "ms": [round(median(clocks)), round(high)],
            "processor_ms": round(median(each.processor for each in spent)),
            "of_an_empty_python": round(median(clocks) / empty, 1),
        }


def turns() -> list[list[tuple[str, str]]]:
    """What is said and answered on each day."""
    messages = json.loads(LIFE.read_text("utf-8"))["messages"]
    said = [message["text"] for message in messages if message["role"] == "user"]
    chat = [(text, "I see. Go on.") for text in said[: TURNS - 2 * len(FACTS)]]
    first = [(fact, "I keep that in mind.") for fact, _ in FACTS]
    third = [(question, "Let me see.") for _, question in FACTS]
    return [first + chat[:9], chat[9:22], chat[22:] + third]


def live(run: Run, home: Path) -> dict[str, Any]:
    """Live the three days. Returns how much of the first day was told on the third, and the tokens of a prompt."""
    count, tokens, told = counter(), list[int](), 0
    answers = {question: fact for fact, question in FACTS}
    for day, conversation in zip(DAYS, turns(), strict=True):
        transcript = home / f"{day}.jsonl"
        named = {"session_id": f"s-{day}", "transcript_path": str(transcript), "cwd": str(home)}
        run.call({**named, "hook_event_name": "SessionStart", "source": "startup"})
        for number, (said, answered) in enumerate(conversation):
            context = run.call({**named, "hook_event_name": "UserPromptSubmit", "prompt": said})
            tokens.append(count(context) if context else 0)
            told += said in answers and answers[said] in context
            with transcript.open("a", encoding="utf-8") as file:
                for place, (role, text) in enumerate((("user", said), ("assistant", answered))):
                    stamp = f"{day}T10:{number:02}:{place:02}.000Z"
                    line = {"type": role, "uuid": f"{day}-{number}-{place}", "timestamp": stamp}
                    file.write(json.dumps({**line, "message": {"role": role, "content": text}}) + "\n")
            run.call({**named, "hook_event_name": "Stop"})
        run.call({**named, "hook_event_name": "SessionEnd", "reason": "exit"})
    shown = {"mean": round(sum(tokens) / len(tokens)), "most": max(tokens), "silent": tokens.count(0)}
    return {"turns": len(tokens), "told": f"{told} of {len(FACTS)}", "tokens": shown}


async def measure(pairs: int) -> dict[str, Any]:
    """The figures of a session against a service of its own."""
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        served = Served(home / "data", embedding="local")
        await served.start()
        try:
            run = Run(f"http://127.0.0.1:{served.port}", home / "state", pairs)
            return {**await asyncio.to_thread(live, run, home), "hooks": run.figures()}
        finally:
            await served.stop()


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=3, help="runs of an empty Python before each hook")
    print(json.dumps(asyncio.run(measure(parser.parse_args().pairs)), indent=2))


if __name__ == "__main__":
    main()
