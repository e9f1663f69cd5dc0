"""What a citizen's feedback on half of its questions brings to the other half.

    python -m benchmarks.feedback --locomo FILE --beam DIRECTORY

Each conversation becomes a citizen. Its questions are cut in two halves by chance, `--cuts` times. Feedback is
told of one half: the annotated evidence among the first twenty as used. The other half is asked with it and
without; then the halves change places. Candidates do not depend on feedback, so each question is asked once, and
its ranking is computed again. The rows, each as the gain in recall at 5, 10 and 20:

- used: what was used is told, no more
- used and wrong: also the first memory that is no evidence, as wrong
- memories alone, channels alone: one of the two parts of what is learned
- asked again: feedback is told of the same questions that are asked
- noise: memories by chance among the first twenty, as many as would be right, are told as used
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

import orjson

from api.runtime.runtime import now, open_runtime
from benchmarks.datasets import Conversation, load_beam, load_locomo
from benchmarks.recall import store
from orchestration.ranking.activation import Activation, activate
from orchestration.ranking.learned import (
    NOTHING_LEARNED,
    SHOWN,
    Learned,
    Lesson,
    draw_lesson,
    learn,
    question_words,
)
from orchestration.retrieval import RankedCandidates, rank_candidates
from schemas.intention import RetrievalIntention
from schemas.settings import Settings, StoreSettings

PLACES: Final = (5, 10, 20)

type Gains = tuple[float, ...]
"""The gain in recall at each of `PLACES`."""


class Asked(NamedTuple):
    """A question with its candidates and ranking without feedback, the ids of its evidence, and recall before."""

    ranked: RankedCandidates
    evidence: frozenset[str]
    before: Gains
    shown: tuple[str, ...]
    chance: random.Random

    def turns(self, activation: Activation) -> list[str]:
        """The ids of the turns of a ranking, best first."""
        memories = self.ranked.candidates.memories
        keys = (score.key for score in activation.order)
        return list(dict.fromkeys(key[1] for key in keys if memories[key].get("node_type") == "Turn"))

    def recall(self, learned: Learned) -> Gains:
        """Recall at each place with what was learned."""
        ranked = self.ranked
        lexicons = ranked.extraction.lexicons
        found = self.turns(activate(ranked.candidates, lexicons, ranked.asker, learned=learned))
        return tuple(len(self.evidence.intersection(found[:place])) / len(self.evidence) for place in PLACES)

    def lesson(self, used: Sequence[str], wrong: Sequence[str]) -> Lesson:
        """What telling these of the question teaches."""
        activation = self.ranked.activation
        words = question_words(self.ranked.extraction.lexicons)
        return draw_lesson(activation.order, activation.parts, words, used=used, wrong=wrong)

    def right(self) -> list[str]:
        return [name for name in self.shown if name in self.evidence]


def tell_used(asked: Asked) -> Lesson | None:
    right = asked.right()
    return asked.lesson(right, ()) if right else None


def tell_wrong_too(asked: Asked) -> Lesson | None:
    wrong = [name for name in asked.shown if name not in asked.evidence][:1]
    return asked.lesson(asked.right(), wrong) if asked.right() or wrong else None


def tell_noise(asked: Asked) -> Lesson | None:
    count = min(len(asked.shown), max(1, len(asked.right())))
    return asked.lesson(asked.chance.sample(asked.shown, count), ()) if count else None


def _memories_alone(learned: Learned) -> Learned:
    return replace(learned, factors={})


def _channels_alone(learned: Learned) -> Learned:
    return replace(learned, lessons=[replace(lesson, words={}) for lesson in learned.lessons])


def _all_of_it(learned: Learned) -> Learned:
    return learned


class Row(NamedTuple):
    """A row of the table: what is told, what is left of the learned; `again`: of the questions that are asked."""

    tell: Callable[[Asked], Lesson | None]
    part: Callable[[Learned], Learned] = _all_of_it
    again: bool = False


ROWS: Final = {
    "used": Row(tell_used),
    "used and wrong": Row(tell_wrong_too),
    "memories alone": Row(tell_used, _memories_alone),
    "channels alone": Row(tell_used, _channels_alone),
    "asked again": Row(tell_used, again=True),
    "noise": Row(tell_noise),
}


async def ask_all(conversations: Sequence[Conversation]) -> list[list[Asked]]:
    """Every question of each conversation, asked without feedback on a new store."""
    asked: list[list[Asked]] = []
    settings = Settings()
    with tempfile.TemporaryDirectory(prefix="substrate-feedback-") as directory:
        async with open_runtime(Settings(StoreSettings(data=Path(directory)), settings.embedding)) as rt:
            for place, conversation in enumerate(conversations):
                citizen = f"citizen-{place}"
                await store(conversation, citizen, rt)
                asked.append([])
                for question in conversation.questions:
                    intention = RetrievalIntention(query_text=question.text, citizen_id=citizen)
                    ranked = await rank_candidates(intention, rt.deps, now(), learned=NOTHING_LEARNED)
                    evidence = frozenset(f"{conversation.id}:{name}" for name in question.evidence)
                    one = Asked(ranked, evidence, (), (), random.Random(question.text))
                    shown = tuple(one.turns(ranked.activation)[:SHOWN])
                    asked[-1].append(one._replace(before=one.recall(NOTHING_LEARNED), shown=shown))
    return asked


def gains(asked: Sequence[Asked], row: Row, cuts: int) -> Iterator[Gains]:
    """The gain of each question of one conversation, in each cut."""
    for seed in range(1 if row.again else cuts):
        for told, others in [(asked, asked)] if row.again else halves(asked, seed):
            learned = row.part(learn([lesson for lesson in map(row.tell, told) if lesson is not None]))
            for one in others:
                pairs = zip(one.recall(learned), one.before, strict=True)
                yield tuple(after - first for after, first in pairs)


def halves[T](items: Sequence[T], seed: int) -> list[tuple[Sequence[T], Sequence[T]]]:
    """Both halves of the items, drawn by chance, each once first."""
    drawn = random.Random(seed).sample(items, len(items))
    return [(drawn[::2], drawn[1::2]), (drawn[1::2], drawn[::2])]


def measure(conversations: Sequence[Conversation], cuts: int) -> dict[str, dict[str, list[float]]]:
    """By row the mean gain at each place, and the least and greatest of a conversation at 10."""
    asked = asyncio.run(ask_all(conversations))
    table: dict[str, dict[str, list[float]]] = {}
    for name, row in ROWS.items():
        per_conversation = [list(gains(questions, row, cuts)) for questions in asked]
        whole = [gain for found in per_conversation for gain in found]
        at_ten = [fmean(gain[1] for gain in found) for found in per_conversation]
        table[name] = {
            "gain": [round(fmean(gain[place] for gain in whole), 4) for place in range(len(PLACES))],
            "least and greatest": [round(min(at_ten), 4), round(max(at_ten), 4)],
        }
    return table


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--locomo", type=Path, help="a LoCoMo file")
    parser.add_argument("--beam", type=Path, help="a directory of BEAM chats")
    parser.add_argument("--cuts", type=int, default=3, help="how often the questions are cut in halves")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    given = (("LoCoMo", arguments.locomo, load_locomo), ("BEAM", arguments.beam, load_beam))
    tables = {name: measure(load(path), arguments.cuts) for name, path, load in given if path}
    if not tables:
        parser.error("give --locomo FILE, --beam DIRECTORY, or both")
    if arguments.json:
        sys.stdout.write(orjson.dumps(tables).decode() + "\n")
        return
    for name, table in tables.items():
        sys.stdout.write(f"{name}: gain @5 / @10 / @20, and of each conversation @10 from least to greatest\n")
        for label, figures in table.items():
            shown = " / ".join(f"{gain:+.4f}" for gain in figures["gain"])
            least, greatest = figures["least and greatest"]
            sys.stdout.write(f"  {label:16}{shown}   {least:+.4f} to {greatest:+.4f}\n")


if __name__ == "__main__":
    main()
