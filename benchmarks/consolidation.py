"""What generalisations do to the answers of ordinary questions, and what an answer that begins with them holds.

    python -m benchmarks.consolidation --locomo FILE --beam DIRECTORY

Each conversation becomes a citizen. Every question is asked before consolidation; then the job runs until it has
nothing left to do, and the question is asked again: as before, with the concrete first, with the general first.
`SUBSTRATE_LLM` chooses a language model for the words of the generalisations; without one they are quoted.

`rec@10` and `all@20` as in `benchmarks.recall`. A generalisation takes a place in the ranking and is evidence of
nothing: what it stands for counts only where the answer shows the memory itself. `tokens` are those of the compact
form, `in 1,000` is the share of the evidence in an answer of at most 1,000 tokens. `subjects` is how many nodes
or medoids the generalisations have of which no other has the same.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Final

import orjson

from api.runtime.runtime import Runtime, now, open_runtime
from benchmarks.datasets import Conversation, Question, add_sets, read_sets
from benchmarks.recall import answer, store
from benchmarks.scoring import Report, recall_at, score, table
from orchestration.assembly.compact import tell
from orchestration.dependencies import Deps
from orchestration.features.consolidation.feature import ConsolidationJob
from orchestration.insertion import apply
from orchestration.upkeep.job import JobContext
from schemas.intention import Prefer, RetrievalIntention
from schemas.memory import GENERALISATION, Level
from schemas.settings import Settings, StoreSettings
from schemas.stream import ConsciousnessStream
from substrate.inference import tokens

BEFORE: Final = "before"
WAYS: Final[dict[str, Prefer | None]] = {"after": None, "concrete": "concrete", "general": "general"}
BUDGET: Final = 1000


@dataclass
class Run:
    """The answers of one way of asking, question by question."""

    rankings: list[list[str]] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    budgeted: list[float] = field(default_factory=list)

    def add(
        self, stream: ConsciousnessStream, small: ConsciousnessStream, question: Question, prefix: str
    ) -> None:
        """Add the answer, and the one of the same question that has a budget."""
        count = tokens.counter()
        self.rankings.append(shown(stream, prefix))
        self.tokens.append(count(tell(stream).text))
        ranking = shown(small, prefix)
        self.budgeted.append(recall_at(ranking, question.evidence, len(ranking)))


def shown(stream: ConsciousnessStream, prefix: str) -> list[str]:
    """The turns and generalisations of a stream, best first."""
    nodes = [node for node in stream.activation_tiers.ordered() if node.node_type in ("Turn", GENERALISATION)]
    return [node.node_id.removeprefix(prefix) for node in nodes]


async def consolidate(deps: Deps, citizen: str, level: Level = Level.N1) -> int:
    """Run the job to its end; returns how many commands were stored. Raises RuntimeError when one was refused."""
    job, cursor, stored = ConsolidationJob(), None, 0
    while True:
        context = JobContext(deps, level, citizen, "benchmark", now())
        page = await job.plan(context, cursor)
        receipts = await apply(page.commands, deps, now()) if page.commands else []
        refused = [receipt.faults for receipt in receipts if receipt.status == "refused"]
        if refused:
            raise RuntimeError(f"{len(refused)} commands refused: {refused[:3]}")
        stored += sum(not receipt.duplicate for receipt in receipts)
        await job.keep(context, page)
        if page.next is None:
            return stored
        cursor = page.next


async def ask_all(conversation: Conversation, citizen: str, rt: Runtime, run: Run, prefer: Prefer | None) -> None:
    """Ask every question in one way."""
    for question in conversation.asked:
        intention = RetrievalIntention(query_text=question.text, citizen_id=citizen, prefer=prefer)
        stream = await answer(intention, rt.deps)
        small = await answer(intention.model_copy(update={"max_tokens": BUDGET}), rt.deps)
        run.add(stream, small, question, f"{conversation.id}:")


async def compare(conversations: Sequence[Conversation]) -> dict[str, Run]:
    """Ask all questions in all ways, on a new store."""
    runs = {name: Run() for name in (BEFORE, *WAYS)}
    settings = Settings()
    with tempfile.TemporaryDirectory(prefix="substrate-consolidation-") as directory:
        async with open_runtime(Settings(StoreSettings(data=Path(directory)), settings.embedding)) as rt:
            for place, conversation in enumerate(conversations):
                citizen = f"citizen-{place}"
                await store(conversation, citizen, rt)
                await ask_all(conversation, citizen, rt, runs[BEFORE], None)
                await consolidate(rt.deps, citizen)
                for name, prefer in WAYS.items():
                    await ask_all(conversation, citizen, rt, runs[name], prefer)
    return runs


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_sets(parser)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    for name, conversations in read_sets(parser, arguments).items():
        questions = [question for conversation in conversations for question in conversation.asked]
        runs = asyncio.run(compare(conversations))
        reports: dict[str, Report] = {way: score(questions, run.rankings) for way, run in runs.items()}
        costs = {
            way: {"tokens": round(fmean(run.tokens)), "in 1,000": round(fmean(run.budgeted), 4)}
            for way, run in runs.items()
        }
        if arguments.json:
            plain = {way: {**report.as_dict(), **costs[way]} for way, report in reports.items()}
            sys.stdout.write(orjson.dumps({name: plain}).decode() + "\n")
            continue
        sys.stdout.write(table(name, reports) + "\n")
        sys.stdout.write("\n".join(f"{way}: {cost}" for way, cost in costs.items()) + "\n")


if __name__ == "__main__":
    main()
