"""How much of what an assistant's reply drew on is found when the query comes, in RealMem's sessions of work.

    python -m benchmarks.realmem DIRECTORY [--json]

Each file (`*_dialogues_*.json`) becomes a citizen. Its sessions are stored in their order, and a query is asked
before its own session is stored: what came later cannot be found. The reply to a query names the memories that it
used, and each memory the words that it was extracted from: the turns with these words are the evidence, but for
those of the query's own session. Methods and figures are those of `benchmarks.meaning`, over the turns stored so
far.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import orjson

from api.runtime.runtime import Runtime
from benchmarks.baselines import BM25, COSINE, RRF, indexed_text, rank_all, rank_standard_scores
from benchmarks.chat_answers import open_store
from benchmarks.datasets import MIDNIGHT_UTC, Conversation, Question, Turn
from benchmarks.meaning import LIMIT, RETRIEVE, Z_SCORES, Rankings, rows
from benchmarks.recall import answer, store, turns_shown
from benchmarks.scoring import Report, format_rows, score
from schemas.intention import RetrievalIntention

METHODS: Final = (BM25, COSINE, RRF, Z_SCORES, RETRIEVE)
QUERY: Final = "query"
"""The one kind of question of this set."""


class Worked(NamedTuple):
    """A session of work: its turns, and the queries in it whose evidence lies in earlier sessions."""

    turns: tuple[Turn, ...]
    queries: tuple[Question, ...]


def load_realmem(file: Path) -> list[Worked]:
    """Read the sessions of a file in their order. Raises ValueError for one that is no RealMem dialogue."""
    try:
        return _read_sessions(orjson.loads(file.read_bytes())["dialogues"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file} is no RealMem dialogue: {error!r}") from error


def _read_sessions(dialogues: Sequence[Mapping[str, Any]]) -> list[Worked]:
    sessions: list[Worked] = []
    sources: dict[str, str] = {}
    for dialogue in dialogues:
        session = dialogue["session_uuid"]
        day = datetime.fromisoformat(dialogue["current_time"][:10]).replace(tzinfo=MIDNIGHT_UTC.tzinfo)
        said = dialogue["dialogue_turns"]
        turns = tuple(
            Turn(f"{session}-{place}", turn["speaker"].lower(), turn["content"], day, session)
            for place, turn in enumerate(said)
        )
        queries: list[Question] = []
        for query, reply in pairwise(said):
            used = [memory["content"] for memory in reply.get("memory_used") or ()] if query["is_query"] else []
            evidence = frozenset(sources[content] for content in used if content in sources)
            if evidence:  # of earlier sessions only: those of this one are read below
                queries.append(Question(query["content"], QUERY, evidence))
        for memory in dialogue["extracted_memory"]:
            words = memory.get("source_content_snapshot") or ""
            found = [turn.id for turn in turns if words and turn.text.startswith(words.removesuffix("..."))]
            if found:
                sources[memory["content"]] = found[0]
        sessions.append(Worked(turns, tuple(queries)))
    return sessions


async def ask_sessions(name: str, sessions: Sequence[Worked], rt: Runtime) -> tuple[list[Question], Rankings]:
    """Store the sessions one by one, each after its queries were asked: the queries, and each method's turns."""
    asked: list[Question] = []
    rankings: defaultdict[str, list[list[str]]] = defaultdict(list)
    told = Conversation(name, (), ())
    vectors: list[Sequence[float]] = []
    for session in sessions:
        for query in session.queries:
            asked.append(query)
            question = np.array([await rt.deps.embedder.embed_query(query.text)])
            ranked = rank_all(told, [query], np.array(vectors), question)
            standard = rank_standard_scores(told, [query], np.array(vectors), question)
            intention = RetrievalIntention(query_text=query.text, citizen_id=name, max_results_per_level=LIMIT)
            stream = await answer(intention, rt.deps)
            for method in (BM25, COSINE, RRF):
                rankings[method] += ranked[method]
            rankings[Z_SCORES] += standard
            rankings[RETRIEVE].append(turns_shown(stream, told))
        await store(replace(told, turns=session.turns), name, rt)
        told = replace(told, turns=(*told.turns, *session.turns))
        vectors += await rt.deps.embedder.embed_texts([indexed_text(turn) for turn in session.turns])
    return asked, rankings


async def measure(files: Sequence[Path]) -> dict[str, Report]:
    """The report of each method over the queries of all files. Raises ValueError for one of another shape."""
    questions: list[Question] = []
    rankings: defaultdict[str, list[list[str]]] = defaultdict(list)
    for file in files:
        async with open_store() as rt:
            asked, found = await ask_sessions(file.stem, load_realmem(file), rt)
        questions += asked
        for method in METHODS:
            rankings[method] += found[method]
    return {method: score(questions, ranked) for method, ranked in rankings.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    files = sorted(arguments.directory.glob("*_dialogues_*.json"))
    if not files:
        parser.error(f"no RealMem dialogue (*_dialogues_*.json) in {arguments.directory}")
    try:
        reports = asyncio.run(measure(files))
    except (OSError, ValueError) as error:
        parser.error(str(error))
    if arguments.json:
        plain = {method: report.as_dict() for method, report in reports.items()}
        sys.stdout.write(orjson.dumps(plain).decode() + "\n")
        return
    head = ["set", "method", "rec@5", "rec@10", "rec@20", "all@10", "all@20"]
    sys.stdout.write(format_rows("", [head, *rows("RealMem", reports)]) + "\n")


if __name__ == "__main__":
    main()
