"""How much of the annotated evidence a stream contains, compared with BM25, cosine and their RRF on the same text.

    python -m benchmarks.recall --locomo FILE --beam DIRECTORY --beam DIRECTORY
    python -m benchmarks.recall --locomo FILE --beam DIRECTORY --channels
    python -m benchmarks.recall --locomo FILE --beam DIRECTORY --starts

Each file of LoCoMo and each directory of BEAM is a set of its own. Each conversation becomes a citizen and is
ingested once, as any other. Our ranking is the turns of the stream in the order of the activation tiers; people
and sessions are skipped. The baselines rank every turn; RRF fuses their whole rankings, "RRF, asker" those over
the turns of the role that asks, in chats of roles.

`rec@k` is the share of the evidence among the first k, `hit@k` whether any is, `all@20` whether all is among
the first 20; "ceiling" is the most that can be reached. Figures are without category 5 of LoCoMo where a row
does not say otherwise. The intervals are of the mean over questions when whole conversations are drawn anew. A
question of which a query failed or was late is asked again, at most twice.

`--channels` asks every question again with each channel of `orchestration.ranking.channels` switched off in
turn, `--starts` with second links followed from more of the starts; `p50` is the median of their times divided
by ours. Times are for whole questions with their embedding; `tokens` are those of the compact form where no
`max_tokens` is named, and `told@k` is the share of the evidence among the first k turns that it tells. With
SUBSTRATE_EMBEDDING=none only methods without vectors are compared.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final, NamedTuple

import numpy as np
import orjson

from api.runtime.runtime import Runtime, now, open_runtime
from benchmarks.baselines import (
    ASKER_RRF,
    BM25,
    WITH_VECTORS,
    indexed_text,
    is_asker,
    rank_all,
    rank_bm25,
)
from benchmarks.datasets import Conversation, Question, add_sets, read_sets
from benchmarks.scoring import (
    Interval,
    Report,
    ceiling,
    interval_table,
    intervals,
    markdown_intervals,
    markdown_table,
    score,
    score_groups,
    table,
)
from orchestration.assembly.budget import COMPACT_TOKENS, Budget, stems_of
from orchestration.assembly.compact import tell
from orchestration.dependencies import FAR, Deps
from orchestration.features.association.flow import associate
from orchestration.features.association.scoring import rank
from orchestration.features.association.values import TagWalk
from orchestration.ingestion.episodes import Episode, Session, Turn
from orchestration.ingestion.formats import ParsedFiles
from orchestration.ingestion.pipeline import ingest
from orchestration.ranking import consciousness_score
from orchestration.ranking.candidates import Candidates
from orchestration.ranking.channel_weights import CHANNEL_WEIGHTS, ChannelWeights
from orchestration.retrieval import RankedCandidates, rank_candidates, retrieve_consciousness_context
from schemas.intention import RetrievalIntention
from schemas.memory import ConsciousnessNode
from schemas.settings import Settings, StoreSettings
from schemas.stream import ConsciousnessStream
from schemas.temporal import Instant
from substrate.inference import tokens

OURS: Final = "Substrate"
TRIES: Final = 3
"""How often a question is asked when a query is late: a busy machine says nothing of the ranking."""


class Way(NamedTuple):
    """One way of asking: the weights of the channels, and from how many starts a second link is followed."""

    channel_weights: ChannelWeights = CHANNEL_WEIGHTS
    far: int = FAR


METHODS: Final = (BM25, *WITH_VECTORS, "Tag-Walker", OURS)
WITHOUT_VECTORS: Final = (BM25, "Tag-Walker", OURS)
FARTHER: Mapping[str, Way] = {f"on from {far} starts": Way(far=far) for far in (6, 10, 16)}
SWITCHED_OFF: Mapping[str, ChannelWeights] = {
    "without likeness": replace(CHANNEL_WEIGHTS, likeness=0.0),
    "without words": replace(CHANNEL_WEIGHTS, likeness=1.0),
    "without links": replace(CHANNEL_WEIGHTS, gain=0.0, answer=0.0),
    "without answers": replace(CHANNEL_WEIGHTS, answer=0.0),
    "without sessions": replace(CHANNEL_WEIGHTS, session=0.0),
    "without speakers": replace(CHANNEL_WEIGHTS, speaker=0.0),
    "without words of oneself": replace(CHANNEL_WEIGHTS, of_self=0.0),
    "names not apart": replace(CHANNEL_WEIGHTS, named_apart=False),
    "without own and other": replace(CHANNEL_WEIGHTS, own=0.0, other=0.0),
    "without standing instructions": replace(CHANNEL_WEIGHTS, instruction=0.0),
    "without time": replace(CHANNEL_WEIGHTS, time=0.0),
    "without breadth": replace(CHANNEL_WEIGHTS, breadth=0.0),
    "without openings": replace(CHANNEL_WEIGHTS, opening=0.0),
    "without kind of answer": replace(CHANNEL_WEIGHTS, kind=0.0),
    "without currency": replace(CHANNEL_WEIGHTS, currency=0.0),
}


@dataclass
class Run:
    """The results of one way of asking, question by question."""

    rankings: list[list[str]] = field(default_factory=list)
    told: list[list[str]] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)

    def cost(self, questions: Sequence[Question]) -> dict[str, float]:
        """Return median and 95th percentile of the time of a question, and what its compact form has and takes."""
        ordered, told = sorted(self.milliseconds), score(questions, self.told).overall
        return {
            "p50 ms": round(median(ordered), 1),
            "p95 ms": round(ordered[int(0.95 * (len(ordered) - 1))], 1),
            "tokens": round(fmean(self.tokens)),
            "told@5": round(told.recall[5], 3),
            "told@10": round(told.recall[10], 3),
            "told@20": round(told.recall[20], 3),
        }


@dataclass
class Compared:
    """The reports of the methods and of other ways of asking; our cost, and the time of each way by ours.

    `ceiling`: the greatest that any ranking can reach. `conversations`: the methods by conversation. `intervals`:
    of our figures and of our lead over each method; empty for a single conversation.
    """

    methods: dict[str, Report]
    ceiling: Report
    conversations: dict[str, Report]
    intervals: dict[str, dict[str, Interval]]
    channels: dict[str, Report]
    cost: dict[str, float]
    ratios: dict[str, float]

    def as_dict(self) -> dict[str, Any]:
        """Return all figures, ready for JSON."""
        return {
            "methods": {name: report.as_dict() for name, report in self.methods.items()},
            "ceiling": self.ceiling.as_dict(),
            "conversations": {
                name: report.as_dict()["by_category"] for name, report in self.conversations.items()
            },
            "intervals": {
                name: {figure: each._asdict() for figure, each in row.items()}
                for name, row in self.intervals.items()
            },
            "channels": {name: report.as_dict() for name, report in self.channels.items()},
            "cost": self.cost,
            "p50": self.ratios,
        }


def episode(conversation: Conversation, citizen: str) -> Episode:
    """Convert a conversation to an episode: sessions in order, turns with their own ids."""
    sessions: dict[str, list[Turn]] = {}
    dates: dict[str, datetime | None] = {}
    for turn in conversation.turns:
        sessions.setdefault(turn.session, []).append(Turn(turn.id, turn.speaker, turn.text, turn.time))
        dates.setdefault(turn.session, turn.time)
    return Episode(
        id=conversation.id,
        citizen_id=citizen,
        sessions=tuple(Session(key, key, dates[key], tuple(turns)) for key, turns in sessions.items()),
    )


async def store(conversation: Conversation, citizen: str, rt: Runtime) -> None:
    """Ingest a conversation. Raises RuntimeError when a part of it was refused."""
    report = await ingest(ParsedFiles((episode(conversation, citizen),)), rt.deps, now())
    if report.refused:
        raise RuntimeError(f"{conversation.id}: {report.refused} commands refused: {report.faults[:1]}")


async def ask(
    conversation: Conversation,
    citizen: str,
    rt: Runtime,
    *,
    ways: Mapping[str, Way],
    limit: int,
    runs: Mapping[str, Run],
) -> None:
    """Ask each question in each way and add the streams to the runs; `limit` is the results per query and level.

    The first way also computes the embedding, so each way comes first in turn. Raises RuntimeError when a stream
    is degraded.
    """
    named_ways = list(ways.items())
    count = tokens.counter()
    for number, question in enumerate(conversation.asked):
        intention = RetrievalIntention(query_text=question.text, citizen_id=citizen, max_results_per_level=limit)
        first = number % len(named_ways)
        for name, way in (*named_ways[first:], *named_ways[:first]):
            deps, run = replace(rt.deps, **way._asdict()), runs[name]
            stream = await answer(intention, deps)
            told = tell(stream, Budget(COMPACT_TOKENS, count), stems_of(question.text))
            run.rankings.append(turns_shown(stream, conversation))
            run.told.append(_turns(told.memories, conversation))
            run.milliseconds.append(stream.retrieval_latency_ms)
            run.tokens.append(count(told.text))


def turns_shown(stream: ConsciousnessStream, conversation: Conversation) -> list[str]:
    """Return the turns of a stream, most active first, as the conversation names them."""
    return _turns(stream.activation_tiers.ordered(), conversation)


def _turns(nodes: Iterable[ConsciousnessNode], conversation: Conversation) -> list[str]:
    return [node.node_id.removeprefix(f"{conversation.id}:") for node in nodes if node.node_type == "Turn"]


async def answer(intention: RetrievalIntention, deps: Deps, at: Instant | None = None) -> ConsciousnessStream:
    """Return the stream of a question, asked now if not `at`. Raises RuntimeError when each try is degraded."""
    for _ in range(TRIES):
        stream = await retrieve_consciousness_context(intention, deps, now() if at is None else at)
        if not stream.degraded:
            return stream
    raise RuntimeError(f"degraded: {stream.degraded}")


async def ranked_candidates(intention: RetrievalIntention, deps: Deps) -> RankedCandidates:
    """Return the ranked candidates of a question. Raises RuntimeError when a query fails at every try."""
    for _ in range(TRIES):
        ranked = await rank_candidates(intention, deps, now())
        failures = [result.timing.failure for result in ranked.results if result.timing.failure]
        if not failures:
            return ranked
    raise RuntimeError(f"degraded: {failures}")


def turns_in_order(
    conversation: Conversation, candidates: Candidates, order: Iterable[consciousness_score.Score]
) -> list[str]:
    """Return the turns of an order as the conversation names them, each once; other memories are skipped."""
    keys = [score.key for score in order if candidates.memories[score.key].get("node_type") == "Turn"]
    return list(dict.fromkeys(key[1].removeprefix(f"{conversation.id}:") for key in keys))


async def tag_walker(conversation: Conversation, citizen: str, rt: Runtime) -> list[list[str]]:
    """Return for each question the turns of its walk, anchors and neighbours by score; the citizen must exist."""
    prefix = f"{conversation.id}:"
    rankings = []
    for question in conversation.asked:
        walk = await associate(TagWalk(query_text=question.text, citizen_id=citizen), rt.deps, now())
        if walk.degraded:
            raise RuntimeError(f"degraded: {walk.degraded}")
        shown = [hit.memory for hit in rank((*walk.anchors, *walk.neighbours))]
        rankings.append([node.node_id.removeprefix(prefix) for node in shown if node.node_type == "Turn"])
    return rankings


async def baselines(conversation: Conversation, rt: Runtime) -> dict[str, list[list[str]]]:
    """Rank by the baselines, over the same text with the same embedder; only by BM25 without embedder."""
    asked, embedder = conversation.asked, rt.deps.embedder
    if not embedder.dimension:
        return {BM25: rank_bm25(conversation, asked)}
    turns = await embedder.embed_texts([indexed_text(turn) for turn in conversation.turns])
    questions = [await embedder.embed_query(question.text) for question in asked]
    return rank_all(conversation, asked, np.array(turns), np.array(questions))


def methods_for(conversations: Iterable[Conversation], embedding: str) -> tuple[str, ...]:
    """Return the methods that can be compared: without an embedder fewer, and "RRF, asker" where a role asks."""
    turns = (turn for conversation in conversations for turn in conversation.turns)
    if embedding == "none":
        return WITHOUT_VECTORS
    return METHODS if any(map(is_asker, turns)) else tuple(name for name in METHODS if name != ASKER_RRF)


async def compare(conversations: Sequence[Conversation], limit: int, others: Mapping[str, Way]) -> Compared:
    """Compare all methods over all conversations, on a new store, and ours also in the ways `others`."""
    questions = [question for conversation in conversations for question in conversation.asked]
    groups = [f"{one.id} ({len(one.turns)} turns)" for one in conversations for _ in one.asked]
    ways = {OURS: Way(), **others}
    settings = Settings()
    methods = methods_for(conversations, settings.embedding.choice())
    runs = {name: Run() for name in (*methods, *ways)}
    with tempfile.TemporaryDirectory(prefix="substrate-recall-") as directory:
        async with open_runtime(Settings(StoreSettings(data=Path(directory)), settings.embedding)) as rt:
            for place, conversation in enumerate(conversations):
                citizen = f"citizen-{place}"
                await store(conversation, citizen, rt)
                await ask(conversation, citizen, rt, ways=ways, limit=limit, runs=runs)
                runs["Tag-Walker"].rankings += await tag_walker(conversation, citizen, rt)
                for name, ranked in (await baselines(conversation, rt)).items():
                    runs.setdefault(name, Run()).rankings += ranked
    reports = {name: score(questions, run.rankings) for name, run in runs.items()}
    rankings = {name: runs[name].rankings for name in methods}
    return Compared(
        {name: reports[name] for name in methods},
        ceiling(questions),
        {name: score_groups(questions, ranked, groups) for name, ranked in rankings.items()},
        intervals(questions, groups, rankings, OURS) if len(conversations) > 1 else {},
        {name: reports[name] for name in others},
        runs[OURS].cost(questions),
        {name: round(median(runs[name].milliseconds) / median(runs[OURS].milliseconds), 2) for name in others},
    )


def format_comparison(name: str, compared: Compared) -> str:
    """Return the tables of a set as plain text."""
    parts = [
        table(name, {**compared.methods, "ceiling": compared.ceiling}),
        table(f"{name}, by conversation", compared.conversations, "conversation"),
    ]
    if compared.intervals:
        parts.append(interval_table(f"{name}, over conversations", compared.intervals))
    if compared.channels:
        overall = {OURS: compared.methods[OURS], **compared.channels}
        parts.append(table(f"{name}, other ways", {way: Report(r.overall, {}) for way, r in overall.items()}))
    parts.append("  ".join(f"{figure} {value}" for figure, value in compared.cost.items()))
    parts += [f"p50 {way}: {ratio} of ours" for way, ratio in compared.ratios.items()]
    return "\n".join(parts)


def markdown_comparison(name: str, compared: Compared) -> str:
    """Return the tables of a set as a page shows them."""
    methods = {**compared.methods, "ceiling": compared.ceiling}
    conversations = sorted(compared.conversations[OURS].by_category)
    parts = [
        markdown_table(name, methods, list(compared.ceiling.by_category)),
        markdown_table(f"{name}, by conversation", compared.conversations, conversations),
    ]
    if compared.intervals:
        parts.append(markdown_intervals(compared.intervals))
    parts.append(", ".join(f"{figure} {value}" for figure, value in compared.cost.items()))
    return "\n\n".join(parts)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_sets(parser)
    parser.add_argument("--limit", type=int, default=20, help="max_results_per_level")
    parser.add_argument("--channels", action="store_true", help="each channel switched off as well")
    parser.add_argument("--starts", action="store_true", help="second links followed from more starts as well")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--markdown", action="store_true", help="all tables, in Markdown")
    arguments = parser.parse_args()
    sets = read_sets(parser, arguments)
    others = {name: Way(weights) for name, weights in SWITCHED_OFF.items()} if arguments.channels else {}
    others |= FARTHER if arguments.starts else {}
    results = {name: asyncio.run(compare(items, arguments.limit, others)) for name, items in sets.items()}
    if arguments.json:
        plain = {name: compared.as_dict() for name, compared in results.items()}
        sys.stdout.write(orjson.dumps(plain).decode() + "\n")
        return
    write = markdown_comparison if arguments.markdown else format_comparison
    for name, compared in results.items():
        sys.stdout.write(write(name, compared) + ("\n\n" if arguments.markdown else "\n"))


if __name__ == "__main__":
    main()
