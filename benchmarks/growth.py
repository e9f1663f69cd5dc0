"""Where the evidence of a chat's questions goes as the chat grows: found, ranked low, or never a candidate.

    python -m benchmarks.growth --beam DIRECTORY
    python -m benchmarks.growth --beam DIRECTORY --chat ID --steps 300 600 1200 2400

A chat begins with the turns that its questions need and those around them in their sessions. Its other turns
come in as distractors, evenly from the whole chat; when it has no more, turns of the other chats of the
directory follow, as episodes of the same citizen. At each step everything is stored anew for a new citizen and
the same questions are asked, of Substrate and of the baselines on the same turns. Steps count turns; without
`--chat` every chat is grown, and figures are means over all their questions. `--locomo FILE` grows the chats of
a LoCoMo file.

For evidence that stands below the 20th turn, the last table has what each part of its score (see `explain`) has
more than that of the turn at place 20, in the mean: a negative number is what keeps it below. The parts of
relevance come before they are scaled to [0, 1].
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from statistics import fmean, median
from typing import Final

import numpy as np
from numpy.typing import NDArray

from api.runtime.runtime import Runtime
from benchmarks.baselines import indexed_text, rank_all
from benchmarks.chat_answers import open_store
from benchmarks.datasets import Conversation, Question, Turn, add_sets, read_sets
from benchmarks.recall import OURS, answer, ranked_candidates, store
from benchmarks.scoring import Report, Score, format_rows, score_groups
from orchestration.ranking.activation import Activation
from orchestration.ranking.candidates import Candidates, Key
from schemas.intention import RetrievalIntention

STEPS: Final = (300, 600, 1200, 2400)
SHOWN: Final = 20
"""Evidence below this place counts as lost."""
NOTHING: Final = 0.0005
"""Parts of the score that differ less in the mean are not shown."""
RELEVANCE: Final = "relevance"
"""The term of the score that is the sum of the parts of relevance: it is shown by these."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A turn that a question needs, and where it went. `place`: in the order of turns, from 1; None: no candidate.

    `gaps`: if it stands low, what each part of its score has more than that of the turn at place 20.
    """

    category: str
    place: int | None
    gaps: Mapping[str, float] = field(default_factory=dict)

    @property
    def fate(self) -> str:
        """Whether it was found, stands low, or was no candidate."""
        if self.place is None:
            return "no candidate"
        return "found" if self.place <= SHOWN else "low"


@dataclass
class Step:
    """The results at one number of turns, over all chats: rankings by method, question by question."""

    questions: list[Question] = field(default_factory=list)
    rankings: defaultdict[str, list[list[str]]] = field(default_factory=lambda: defaultdict(list))
    pieces: list[Piece] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)

    def reports(self, name: str) -> dict[str, Report]:
        """The report of each method, with the name of the step in place of categories."""
        groups = [name] * len(self.questions)
        return {method: score_groups(self.questions, ranked, groups) for method, ranked in self.rankings.items()}


def grow(conversation: Conversation, others: Sequence[Conversation], turns: int) -> list[Conversation]:
    """Return the chat with its first turns to be added, and what is taken of the others where it has too few.

    All evidence is among them, even if it is more.
    """
    added = order_of_adding(conversation)
    needed = sum(1 for place in added if conversation.turns[place].id in evidence_of(conversation))
    kept = sorted(added[: max(needed, turns)])
    grown = [replace(conversation, turns=tuple(conversation.turns[place] for place in kept))]
    missing = turns - len(kept)
    for other in others:
        if missing > 0:
            grown.append(Conversation(other.id, other.turns[:missing], ()))
            missing -= len(grown[-1].turns)
    return grown


def evidence_of(conversation: Conversation) -> frozenset[str]:
    """Return the turns that any question of the chat needs."""
    return frozenset(turn for question in conversation.questions for turn in question.evidence)


def order_of_adding(conversation: Conversation) -> list[int]:
    """Return the places of all turns: evidence, then by distance to it in its session, then the rest by chance."""
    evidence = evidence_of(conversation)
    sessions: defaultdict[str, list[int]] = defaultdict(list)
    for place, turn in enumerate(conversation.turns):
        if turn.id in evidence:
            sessions[turn.session].append(place)
    chance = Random(0)

    def nearness(place: int) -> tuple[float, float]:
        near = sessions.get(conversation.turns[place].session, ())
        distance = min((abs(place - other) for other in near), default=float("inf"))
        return distance, chance.random()

    return sorted(range(len(conversation.turns)), key=nearness)


def merge(parts: Sequence[Conversation]) -> Conversation:
    """Return the grown chat as one conversation: turns of other chats carry the id of their chat."""
    own, *others = parts
    foreign = (replace(turn, id=f"{other.id}:{turn.id}") for other in others for turn in other.turns)
    return replace(own, turns=(*own.turns, *foreign))


def pieces_of(question: Question, prefix: str, candidates: Candidates, activation: Activation) -> Iterator[Piece]:
    """Yield where each turn that the question needs went. `prefix`: what its id has before that of the turn."""
    keys = [s.key for s in activation.order if candidates.memories[s.key].get("node_type") == "Turn"]
    places = {key[1]: place for place, key in enumerate(keys, start=1)}
    found = {key[1]: key for key in candidates.memories}
    terms = {score.key: score.terms for score in activation.order}
    parts = {key: {**activation.parts.get(key, {}), **terms.get(key, {})} for key in found.values()}
    for turn in sorted(question.evidence):
        key = found.get(prefix + turn)
        if key is None:
            yield Piece(question.category, None)
            continue
        # A turn that another with the same words stands for has no place of its own.
        place = places.get(key[1], len(keys) + 1)
        low = place > SHOWN and len(keys) >= SHOWN
        yield Piece(question.category, place, _gaps(parts, key, keys[SHOWN - 1]) if low else {})


def _gaps(parts: Mapping[Key, Mapping[str, float]], low: Key, last: Key) -> dict[str, float]:
    names = dict.fromkeys((*parts[low], *parts[last]))
    return {name: parts[low].get(name, 0.0) - parts[last].get(name, 0.0) for name in names if name != RELEVANCE}


class Vectors:
    """The vectors that the baselines compare, each text embedded once."""

    def __init__(self, rt: Runtime) -> None:
        self._embedder = rt.deps.embedder
        self._of: dict[str, Sequence[float]] = {}

    async def of_turns(self, turns: Sequence[Turn]) -> NDArray[np.float64]:
        """Return one vector a row."""
        texts = [indexed_text(turn) for turn in turns]
        new = [text for text in dict.fromkeys(texts) if text not in self._of]
        self._of.update(zip(new, await self._embedder.embed_texts(new), strict=True))
        return np.array([self._of[text] for text in texts])

    async def of_questions(self, questions: Sequence[Question]) -> NDArray[np.float64]:
        """Return one vector a row."""
        return np.array([await self._embedder.embed_query(question.text) for question in questions])


async def take_step(
    parts: Sequence[Conversation], citizen: str, rt: Runtime, *, vectors: Vectors, step: Step
) -> None:
    """Store a grown chat for a new citizen, ask its questions and add the results to the step."""
    for part in parts:
        await store(part, citizen, rt)
    chat, prefix = merge(parts), f"{parts[0].id}:"
    step.turns.append(len(chat.turns))
    for question in chat.questions:
        intention = RetrievalIntention(query_text=question.text, citizen_id=citizen)
        stream = await answer(intention, rt.deps)
        shown = [node.node_id for node in stream.activation_tiers.ordered() if node.node_type == "Turn"]
        step.rankings[OURS].append([turn.removeprefix(prefix) for turn in shown])
        step.milliseconds.append(stream.retrieval_latency_ms)
        ranked = await ranked_candidates(intention, rt.deps)
        step.pieces += pieces_of(question, prefix, ranked.candidates, ranked.activation)
    questions = chat.questions
    baselines = rank_all(
        chat, questions, await vectors.of_turns(chat.turns), await vectors.of_questions(questions)
    )
    for name, rankings in baselines.items():
        step.rankings[name] += rankings
    step.questions += questions


async def run(
    conversations: Sequence[Conversation], chats: Sequence[str], steps: Sequence[int]
) -> dict[int, Step]:
    """Grow the chats of these ids, or all where none is named; every chat is a source of distractors."""
    results = {turns: Step() for turns in sorted(set(steps))}
    async with open_store() as rt:
        vectors = Vectors(rt)
        for one in (one for one in conversations if one.id in chats or not chats):
            others = [other for other in conversations if other is not one]
            for turns, step in results.items():
                citizen = f"chat-{one.id}-{turns}"
                await take_step(grow(one, others, turns), citizen, rt, vectors=vectors, step=step)
    return results


def format_steps(name: str, steps: Mapping[int, Step]) -> str:
    """Return the three tables of a set: recall, where the evidence went, and what keeps it low."""
    recall = [["turns", "method", "n", *_headings(), "p50 ms"]]
    fates = [["turns", "category", "evidence", "found", "low", "no candidate"]]
    gaps = [["turns", "part of the score", "evidence low", "mean difference"]]
    for step in steps.values():
        label = f"{fmean(step.turns):.0f}"
        for method, report in step.reports(label).items():
            p50 = f"{median(step.milliseconds):.1f}" if method == OURS else ""
            recall.append([label, method, *_cells(report.overall), p50])
        fates += [[label, *row] for row in _fate_rows(step.pieces)]
        gaps += [[label, *row] for row in _gap_rows(step.pieces)]
    titles = (f"{name}, recall", f"{name}, where the evidence went", f"{name}, what keeps it low")
    return "\n".join(format_rows(title, rows) for title, rows in zip(titles, (recall, fates, gaps), strict=True))


def _headings() -> list[str]:
    return ["rec@5", "rec@10", "rec@20", "all@20"]


def _cells(score: Score) -> list[str]:
    rates = (*score.recall.values(), score.every[SHOWN])
    return [str(score.questions), *(f"{rate:.3f}" for rate in rates)]


def _fate_rows(pieces: Sequence[Piece]) -> Iterator[list[str]]:
    groups: defaultdict[str, list[Piece]] = defaultdict(list)
    for piece in pieces:
        groups[piece.category].append(piece)
    for category, group in (("overall", pieces), *sorted(groups.items())):
        fates = [piece.fate for piece in group]
        shares = (fates.count(fate) / len(fates) for fate in ("found", "low", "no candidate"))
        yield [category, str(len(group)), *(f"{share:.3f}" for share in shares)]


def _gap_rows(pieces: Sequence[Piece]) -> Iterator[list[str]]:
    low = [piece.gaps for piece in pieces if piece.gaps]
    names = dict.fromkeys(name for gaps in low for name in gaps)
    means = {name: fmean(gaps.get(name, 0.0) for gaps in low) for name in names}
    for name, mean in sorted(means.items(), key=lambda item: item[1]):
        if abs(mean) >= NOTHING:
            yield [name, str(len(low)), f"{mean:+.3f}"]


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_sets(parser)
    parser.add_argument("--chat", action="append", default=[], help="the id of a chat; repeatable")
    parser.add_argument("--steps", type=int, nargs="+", default=STEPS, help="numbers of turns")
    arguments = parser.parse_args()
    sets = read_sets(parser, arguments)
    missing = set(arguments.chat) - {one.id for conversations in sets.values() for one in conversations}
    if missing:
        parser.error(f"no chat {', '.join(sorted(missing))}")
    if min(arguments.steps) < 1:
        parser.error("a step has at least one turn")
    for name, conversations in sets.items():
        steps = asyncio.run(run(conversations, arguments.chat, arguments.steps))
        sys.stdout.write(format_steps(name, steps) + "\n")


if __name__ == "__main__":
    main()
