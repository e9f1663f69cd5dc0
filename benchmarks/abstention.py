"""How well `answer_confidence` tells questions that a chat answers from those that it does not, kind by kind.

    python -m benchmarks.abstention [--chats DIR] [--locomo FILE] [--beam DIR]

Answerable questions are compared with what was never said, with questions of other chats, with gibberish, with
category 5 of LoCoMo and with abstention of BEAM: each kind within its own set, none pooled with another. AUROC is
the probability that an answerable question gets the greater value; the baselines are the greatest BM25 and the
greatest cosine of any message. `empty focus` is the share of questions whose focus stays empty. The weights were
fitted on these sets: for chats that they have not seen give `--chats`. `make calibrate` holds each chat out.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from benchmarks.chat import DIRECTORY, load_chats, load_plain
from benchmarks.chat_answers import ANSWERABLE, INSTRUCTION, NEVER_SAID, PAST, PRESENT, TIME, open_store
from benchmarks.datasets import load_beam, load_locomo
from benchmarks.keys import load_keys
from benchmarks.rated_questions import (
    ABSTENTION,
    CATEGORY_5,
    UNANSWERED,
    Rated,
    rate_chats,
    rate_conversations,
)
from benchmarks.scoring import area
from orchestration.ranking.confidence import Answer, rate_answer

BINS: Final = 10
"""Lines of the reliability table."""


class Paths(NamedTuple):
    """Where the chats are; a set without a path is left out."""

    chats: Path = DIRECTORY
    locomo: Path | None = None
    beam: Path | None = None


class Outcome(NamedTuple):
    """A question and how well it is answered."""

    rated: Rated
    answer: Answer


async def gather(paths: Paths) -> list[Rated]:
    """Store every set, each in a store of its own, and ask all its questions."""
    rated: list[Rated] = []
    own = paths.chats == DIRECTORY
    for group, chats in (("chats", load_chats((), paths.chats)), ("plain", load_plain() if own else [])):
        async with open_store() as rt:
            rated += await rate_chats(group, chats, rt)
    if own:
        async with open_store() as rt:
            talks = [told.conversation for told in load_keys(sealed=False)]
            rated += await rate_conversations("keys", talks, rt, unanswered=NEVER_SAID)
    if paths.locomo is not None:
        async with open_store() as rt:
            conversations = load_locomo(paths.locomo)
            rated += await rate_conversations("LoCoMo", conversations, rt, unanswered=CATEGORY_5)
    if paths.beam is not None:
        async with open_store() as rt:
            conversations = load_beam(paths.beam)
            rated += await rate_conversations("BEAM", conversations, rt, unanswered=ABSTENTION)
    return rated


def report(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The lines of the report: AUROC by set and kind, empty focus by set and kind, and reliability."""
    groups = list(dict.fromkeys(outcome.rated.group for outcome in outcomes))
    for group in groups:
        yield from _areas(group, [outcome for outcome in outcomes if outcome.rated.group == group])
    yield ""
    for group in groups:
        yield from _empty([outcome for outcome in outcomes if outcome.rated.group == group], group)
    yield ""
    yield from reliability(outcomes)


def _areas(group: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    values: dict[str, Callable[[Outcome], float]] = {
        "confidence": lambda outcome: outcome.answer.confidence,
        "BM25": lambda outcome: outcome.rated.bm25,
        "cosine": lambda outcome: outcome.rated.cosine,
    }
    answerable = [outcome for outcome in outcomes if outcome.rated.kind == ANSWERABLE]
    for kind in UNANSWERED:
        others = [outcome for outcome in outcomes if outcome.rated.kind == kind]
        if others and answerable:
            areas = (
                f"{name} {area(list(map(value, answerable)), list(map(value, others))):.3f}"
                for name, value in values.items()
            )
            yield f"{group}: {len(answerable)} answerable against {len(others)} {kind}: AUROC {', '.join(areas)}"


def _empty(outcomes: Sequence[Outcome], group: str) -> Iterator[str]:
    for kind in (ANSWERABLE, PRESENT, PAST, TIME, INSTRUCTION, *UNANSWERED):
        empty = [not outcome.answer.fits for outcome in outcomes if outcome.rated.kind == kind]
        if empty:
            yield f"{group}: {len(empty)} {kind}: empty focus {np.mean(empty):.3f}"


def reliability(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """How many of the questions with a confidence within each tenth are answerable."""
    yield "confidence   questions   answerable"
    for tenth in range(BINS):
        within = [
            outcome.rated.is_answerable
            for outcome in outcomes
            if min(BINS - 1, int(outcome.answer.confidence * BINS)) == tenth
        ]
        share = f"{np.mean(within):.3f}" if within else "–"
        yield f"{tenth / BINS:.1f} to {(tenth + 1) / BINS:.1f}   {len(within):9}   {share:>10}"


def add_paths(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the sets."""
    parser.add_argument("--chats", type=Path, default=DIRECTORY, help="the chats, with questions of each kind")
    parser.add_argument("--locomo", type=Path, help="a LoCoMo file")
    parser.add_argument("--beam", type=Path, help="a directory of BEAM chats")


async def main() -> None:
    """Ask, and print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_paths(parser)
    options = parser.parse_args()
    rated = await gather(Paths(options.chats, options.locomo, options.beam))
    print("\n".join(report([Outcome(each, rate_answer(each.evidence, each.model)) for each in rated])))


if __name__ == "__main__":
    asyncio.run(main())
