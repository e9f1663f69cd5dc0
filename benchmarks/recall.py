"""How much of the annotated evidence a stream brings, beside BM25, exact cosine and their RRF on the same text.

    python -m benchmarks.recall --locomo FILE --beam DIRECTORY

Each conversation becomes a citizen, ingested through the same door as any other. Ranked are the turns in the order
of the activation tiers (people and sessions in a stream are no turns, and are passed over). The baselines rank
every turn of the conversation; RRF fuses their whole rankings. With SUBSTRATE_EMBEDDING=none only what needs no
vectors is compared.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import numpy as np
import orjson

from api.runtime import Runtime, now, running
from benchmarks.baselines import indexed_text, rank_bm25, rank_cosine, rrf
from benchmarks.datasets import Conversation, Question, load_beam, load_locomo
from benchmarks.scoring import Report, score, table
from orchestration.associating import associate
from orchestration.association import ordered
from orchestration.episodes import Episode, Session, Turn
from orchestration.formats import Intake
from orchestration.ingest import ingest
from orchestration.retrieval import retrieve_consciousness_context
from schemas.association import TagWalk
from schemas.intention import RetrievalIntention
from schemas.settings import Settings, StoreSettings

METHODS = ("BM25", "cosine", "RRF", "Tag-Walker", "Substrate")
WITHOUT_VECTORS = ("BM25", "Tag-Walker", "Substrate")


def episode(conversation: Conversation, citizen: str) -> Episode:
    """The conversation as it is ingested: its sessions in order, turns under their own ids."""
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


async def substrate(conversation: Conversation, citizen: str, rt: Runtime, limit: int) -> list[list[str]]:
    """The turns of each question's stream, most active first."""
    made = episode(conversation, citizen)
    report = await ingest(Intake((made,)), rt.deps, now())
    if report.refused:
        raise RuntimeError(f"{conversation.id}: {report.refused} commands refused: {report.faults[:1]}")
    prefix = f"{made.id}:"
    rankings = []
    for question in conversation.questions:
        intention = RetrievalIntention(query_text=question.text, citizen_id=citizen, max_results_per_level=limit)
        stream = await retrieve_consciousness_context(intention, rt.deps, now())
        if stream.degraded:
            raise RuntimeError(f"degraded: {stream.degraded}")
        shown = stream.activation_tiers.ordered()
        rankings.append([node.node_id.removeprefix(prefix) for node in shown if node.node_type == "Turn"])
    return rankings


async def tag_walker(conversation: Conversation, citizen: str, rt: Runtime) -> list[list[str]]:
    """The turns of each question's walk, anchors and neighbours by their scores; its citizen is there already."""
    prefix = f"{conversation.id}:"
    rankings = []
    for question in conversation.questions:
        found = await associate(TagWalk(query_text=question.text, citizen_id=citizen), rt.deps, now())
        if found.degraded:
            raise RuntimeError(f"degraded: {found.degraded}")
        shown = [one.memory for one in ordered((*found.anchors, *found.neighbours))]
        rankings.append([node.node_id.removeprefix(prefix) for node in shown if node.node_type == "Turn"])
    return rankings


async def baselines(conversation: Conversation, rt: Runtime) -> dict[str, list[list[str]]]:
    """BM25, exact cosine and RRF over the same text with the same embedder; without one, BM25."""
    if not rt.deps.embedder.dimension:
        return {"BM25": rank_bm25(conversation, conversation.questions)}
    ids = [turn.id for turn in conversation.turns]
    turns = await rt.deps.embedder.embed_texts([indexed_text(turn) for turn in conversation.turns])
    asked = [await rt.deps.embedder.embed_query(question.text) for question in conversation.questions]
    words = rank_bm25(conversation, conversation.questions)
    likeness = rank_cosine(np.array(turns), np.array(asked), ids)
    return {
        "BM25": words,
        "cosine": likeness,
        "RRF": [rrf(pair) for pair in zip(words, likeness, strict=True)],
    }


async def compare(conversations: Sequence[Conversation], limit: int) -> dict[str, Report]:
    """The report of each method over all conversations, on a store of its own."""
    questions: list[Question] = []
    settings = Settings()
    methods = WITHOUT_VECTORS if settings.embedding.choice() == "none" else METHODS
    rankings: dict[str, list[list[str]]] = {method: [] for method in methods}
    with tempfile.TemporaryDirectory(prefix="substrate-recall-") as directory:
        async with running(Settings(StoreSettings(data=Path(directory)), settings.embedding)) as rt:
            for place, conversation in enumerate(conversations):
                questions += conversation.questions
                rankings["Substrate"] += await substrate(conversation, f"citizen-{place}", rt, limit)
                rankings["Tag-Walker"] += await tag_walker(conversation, f"citizen-{place}", rt)
                for method, ranked in (await baselines(conversation, rt)).items():
                    rankings[method] += ranked
    return {method: score(questions, ranked) for method, ranked in rankings.items()}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--locomo", type=Path, help="a LoCoMo file")
    parser.add_argument("--beam", type=Path, help="a directory of BEAM chats")
    parser.add_argument("--limit", type=int, default=20, help="max_results_per_level")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    sets = {
        name: load(path)
        for name, path, load in (
            ("LoCoMo", arguments.locomo, load_locomo),
            ("BEAM", arguments.beam, load_beam),
        )
        if path
    }
    if not sets:
        parser.error("give --locomo FILE, --beam DIRECTORY, or both")
    reports = {name: asyncio.run(compare(found, arguments.limit)) for name, found in sets.items()}
    if arguments.json:
        plain = {n: {m: r.as_dict() for m, r in found.items()} for n, found in reports.items()}
        sys.stdout.write(orjson.dumps(plain).decode() + "\n")
        return
    for name, found in reports.items():
        sys.stdout.write(table(name, found) + "\n")


if __name__ == "__main__":
    main()
