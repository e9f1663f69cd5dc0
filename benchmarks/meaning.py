"""What real people mean: cues that share no word with what they should call, lists, and ordinary questions; what
changed by key, and what was never said.

    python -m benchmarks.meaning [--locomo FILE] [--beam DIRECTORY] [--keys] [--facts N] [--sealed] [--json]

The conversations of benchmarks/cues are stored as one chat, those of the sets that are named each as its own.
A cue, such as "losing a pet", shares no word, name or time with the turn that it should call; a list question,
such as "Which sports has he done?", has all turns of the list as its evidence. `retrieve` asks each as a question;
`wake` wakes with it as the goal, in the mode `find_similar_state`. Every other cue and list question is sealed: no
rule was chosen on it, and only `--sealed` asks those, alone.

All methods have the same text and the same vectors. "z-scores" adds the standard scores of BM25 and cosine, and a
third of those of the turn before and after. `rec@k` is the share of the evidence among the first k, `all@k`
whether all of it is.

`--keys` asks the conversations of benchmarks/keys instead (benchmarks/keys.py), and a generated diary of `--facts`
facts: `first` is the share of questions whose turn stands before the others of its key, `at 1` before all turns.
The rival "newest of five words" gives the newest of the turns that begin with the same five words as the best of
RRF.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from pydantic import AwareDatetime, BaseModel, ConfigDict

from api.runtime.runtime import Runtime, now
from benchmarks.baselines import BM25, COSINE, RRF, indexed_text, rank_all, rank_standard_scores
from benchmarks.chat_answers import open_store
from benchmarks.datasets import Conversation, Question, Turn, add_sets, load_sets
from benchmarks.keys import ask_all, generate_facts, load_keys
from benchmarks.keys import rows as key_rows
from benchmarks.recall import answer, store, turns_shown
from benchmarks.scoring import Report, format_rows, score
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.intention import QueryMode, RetrievalIntention, StateBasedRetrieval

DIRECTORY: Final = Path(__file__).parent / "cues"
CUES, LISTS = "cues", "lists"
Z_SCORES, RETRIEVE, WAKE = "z-scores", "retrieve", "wake"
METHODS: Final = (BM25, COSINE, RRF, Z_SCORES, RETRIEVE, WAKE)
LIMIT: Final = 20
"""`max_results_per_level` of every question and waking."""
FACTS, ASKED, SEED = 455, 100, 40
"""The facts of the diary, and how many of its keys change and are asked."""

type Rankings = dict[str, list[list[str]]]
"""By method the turns that it gives for each question, best first."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Said(_Value):
    """A turn; `id` is unique in its conversation."""

    id: str
    session: str
    time: AwareDatetime
    speaker: str
    text: str


class Call(_Value):
    """A cue or a list question, and the turns that it should call."""

    text: str
    evidence: tuple[str, ...]
    sealed: bool


class Talk(_Value):
    """A conversation of two people with its cues and list questions."""

    turns: tuple[Said, ...]
    cues: tuple[Call, ...]
    lists: tuple[Call, ...]


def load_talks(*, sealed: bool) -> Conversation:
    """Read every conversation as one, in order of time, with the cues and lists that are sealed, or that are not.

    What one conversation tells distracts from what is asked of another. Raises pydantic's ValidationError for
    another shape.
    """
    turns: list[Turn] = []
    questions: list[Question] = []
    for file in sorted(DIRECTORY.glob("*.json")):
        talk = Talk.model_validate_json(file.read_bytes())
        for turn in talk.turns:
            session = f"{file.stem}-{turn.session}"
            turns.append(Turn(f"{file.stem}-{turn.id}", turn.speaker, turn.text, turn.time, session))
        for kind, calls in ((CUES, talk.cues), (LISTS, talk.lists)):
            for call in calls:
                if call.sealed is sealed:
                    evidence = frozenset(f"{file.stem}-{key}" for key in call.evidence)
                    questions.append(Question(call.text, kind, evidence))
    in_time = sorted(turns, key=lambda turn: (turn.time is not None and turn.time.timestamp(), turn.session))
    return Conversation("people", tuple(in_time), tuple(questions))


async def rank_baselines(conversation: Conversation, rt: Runtime) -> Rankings:
    """Rank all turns for each question by the methods that are not ours."""
    embedder = rt.deps.embedder
    turns = np.array(await embedder.embed_texts([indexed_text(turn) for turn in conversation.turns]))
    asked = np.array([await embedder.embed_query(question.text) for question in conversation.questions])
    ranked = rank_all(conversation, conversation.questions, turns, asked)
    standard = rank_standard_scores(conversation, conversation.questions, turns, asked)
    return {**{name: ranked[name] for name in (BM25, COSINE, RRF)}, Z_SCORES: standard}


async def rank_ours(conversation: Conversation, citizen: str, rt: Runtime) -> Rankings:
    """The turns of the stream of each question, and of the waking with it as the goal."""
    ranked: Rankings = {RETRIEVE: [], WAKE: []}
    for question in conversation.questions:
        asked = RetrievalIntention(query_text=question.text, citizen_id=citizen, max_results_per_level=LIMIT)
        ranked[RETRIEVE].append(turns_shown(await answer(asked, rt.deps), conversation))
        state = StateBasedRetrieval(
            citizen_id=citizen,
            query_mode=QueryMode.SIMILAR_STATE,
            current_goal=question.text,
            max_results_per_level=LIMIT,
        )
        woken = await retrieve_consciousness_context_from_state(state, rt.deps, now())
        ranked[WAKE].append(turns_shown(woken, conversation))
    return ranked


async def measure(sets: dict[str, list[Conversation]]) -> dict[str, dict[str, Report]]:
    """Store the conversations of each set and ask their questions: the report of each method by set."""
    reports: dict[str, dict[str, Report]] = {}
    async with open_store() as rt:
        for name, conversations in sets.items():
            rankings: defaultdict[str, list[list[str]]] = defaultdict(list)
            for conversation in conversations:
                citizen = f"{name}-{conversation.id}"
                await store(conversation, citizen, rt)
                found = {**await rank_baselines(conversation, rt), **await rank_ours(conversation, citizen, rt)}
                for method in METHODS:
                    rankings[method] += found[method]
            questions = [question for conversation in conversations for question in conversation.questions]
            reports[name] = {method: score(questions, ranked) for method, ranked in rankings.items()}
    return reports


async def measure_keys(facts: int, *, sealed: bool) -> list[list[str]]:
    """The lines of the conversations of benchmarks/keys, and of a diary of so many facts."""
    lines: list[list[str]] = []
    for name, told in (
        ("keys", load_keys(sealed=sealed)),
        (f"{facts} facts", [generate_facts(ASKED, facts, SEED)]),
    ):
        async with open_store() as rt:
            lines += key_rows(name, *await ask_all(told, rt))
    return lines


def rows(name: str, reports: dict[str, Report]) -> list[list[str]]:
    """The lines of a set: each method by kind of question, then over all."""
    lines: list[list[str]] = []
    kinds: Sequence[str | None] = (*reports[COSINE].by_category, None)
    for kind in kinds:
        for method, report in reports.items():
            each = report.overall if kind is None else report.by_category[kind]
            figures = [*(each.recall[k] for k in (5, 10, 20)), *(each.every[k] for k in (10, 20))]
            lines.append([f"{name}, {kind or 'all'}", method, *(f"{figure:.3f}" for figure in figures)])
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_sets(parser)
    parser.add_argument("--sealed", action="store_true", help="the sealed half of the cues and lists instead")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keys", action="store_true", help="what changed by key and what was never said instead")
    parser.add_argument("--facts", type=int, default=FACTS, help="the facts of the diary, beside --keys")
    arguments = parser.parse_args()
    if arguments.keys:
        lines = asyncio.run(measure_keys(arguments.facts, sealed=arguments.sealed))
        sys.stdout.write(format_rows("", [["set", "method", "", ""], *lines]) + "\n")
        return
    named = load_sets(arguments.locomo, arguments.beam)
    sets = {"people": [load_talks(sealed=arguments.sealed)], **named}
    reports = asyncio.run(measure(sets))
    if arguments.json:
        plain: dict[str, Any] = {
            name: {method: report.as_dict() for method, report in by.items()} for name, by in reports.items()
        }
        sys.stdout.write(orjson.dumps(plain).decode() + "\n")
        return
    lines = [line for name, by_method in reports.items() for line in rows(name, by_method)]
    sys.stdout.write(
        format_rows("", [["set", "method", "rec@5", "rec@10", "rec@20", "all@10", "all@20"], *lines]) + "\n"
    )


if __name__ == "__main__":
    main()
