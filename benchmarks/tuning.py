"""Choose weights of ranking on all conversations but one, and see what the choice gives on the one left out.

    python -m benchmarks.tuning --locomo FILE --beam DIRECTORY --weight own=0,0.25,0.5,1
    python -m benchmarks.tuning --locomo FILE --beam DIRECTORY --weight gain answer=0,0.3,0.6 --weight session

Each `--weight` names one family: fields of `ChannelWeights`, whose values are tried in every combination. A
field without values is tried at 0, 0.5, 0.75, 1.25, 1.5 and 2 times the shipped one; without `--weight` each
field is a family of its own. What is shipped is always among the values. Each question is sent to the store
once; then only the order of its candidates is calculated anew. A choice has the best mean over sets, each file
and each directory being one, so that a set of many questions does not outweigh the others; the shipped value
wins a tie.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from statistics import fmean, pstdev
from typing import Any, Final

from api.runtime.runtime import Runtime
from benchmarks.chat_answers import open_store
from benchmarks.datasets import Conversation, add_sets, read_sets
from benchmarks.recall import ranked_candidates, store, turns_in_order
from benchmarks.scoring import FIGURES, format_rows, interval
from orchestration.ranking.activation import activate
from orchestration.ranking.channel_weights import CHANNEL_WEIGHTS, ChannelWeights
from schemas.intention import RetrievalIntention

FACTORS: Final = (0.0, 0.5, 0.75, 1.25, 1.5, 2.0)
SHIPPED: Final = "shipped"
FIGURE: Final = "rec@10"

type Grid = Mapping[str, ChannelWeights]
"""The weights to try, by what is said of them: "own=0.25"."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The figure of one question under each of the weights that are tried."""

    group: str
    conversation: str
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What the choice on all other conversations gives on this one, and what the shipped weights give."""

    group: str
    conversation: str
    questions: int
    chosen: str
    figure: float
    shipped: float


def read_family(words: Sequence[str]) -> dict[str, ChannelWeights]:
    """Return the weights that one `--weight` names, without the shipped ones.

    Raises ValueError for a field that does not exist or a value that is no number.
    """
    columns = [_read_field(word) for word in words]
    grid = {}
    for combination in product(*columns):
        label = " ".join(f"{name}={value:g}" for name, value in combination)
        changes: dict[str, Any] = {name: _typed(name, value) for name, value in combination}
        weights = replace(CHANNEL_WEIGHTS, **changes)
        if weights != CHANNEL_WEIGHTS:
            grid[label] = weights
    return grid


def _read_field(word: str) -> list[tuple[str, float]]:
    name, _, listed = word.partition("=")
    if name not in field_names():
        raise ValueError(f"no weight {name}: there are {', '.join(field_names())}")
    shipped = float(getattr(CHANNEL_WEIGHTS, name))
    values = [float(value) for value in listed.split(",")] if listed else [shipped * each for each in FACTORS]
    return [(name, value) for value in dict.fromkeys((shipped, *values))]


def _typed(name: str, value: float) -> float | bool:
    return bool(value) if isinstance(getattr(CHANNEL_WEIGHTS, name), bool) else value


def field_names() -> list[str]:
    """Return the names of all weights."""
    return [field.name for field in fields(ChannelWeights)]


async def replay(
    group: str, conversations: Sequence[Conversation], grid: Grid, *, rt: Runtime, figure: str
) -> list[Outcome]:
    """Store the conversations, ask their questions and score each with the shipped weights and with the grid."""
    of, k = FIGURES[figure]
    outcomes = []
    for place, conversation in enumerate(conversations):
        citizen = f"{place}-of-{len(conversations)}"
        await store(conversation, citizen, rt)
        for question in conversation.questions:
            ranked = await ranked_candidates(
                RetrievalIntention(query_text=question.text, citizen_id=citizen), rt.deps
            )
            figures = {}
            for label, weights in {SHIPPED: CHANNEL_WEIGHTS, **grid}.items():
                order = activate(ranked.candidates, ranked.extraction.lexicons, ranked.asker, weights).order
                shown = turns_in_order(conversation, ranked.candidates, order)
                figures[label] = of(shown, question.evidence, k)
            outcomes.append(Outcome(group, conversation.id, figures))
    return outcomes


def mean_by_set(outcomes: Sequence[Outcome], label: str) -> dict[str, float]:
    """Return the mean over the questions of each set."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for outcome in outcomes:
        values[outcome.group].append(outcome.figures[label])
    return {group: fmean(found) for group, found in values.items()}


def choose(outcomes: Sequence[Outcome], labels: Sequence[str]) -> str:
    """Return the weights with the best mean over sets; the shipped ones, then the earlier ones, win a tie."""
    return max((SHIPPED, *labels), key=lambda label: fmean(mean_by_set(outcomes, label).values()))


def leave_out(outcomes: Sequence[Outcome], labels: Sequence[str]) -> Iterator[LeftOut]:
    """Yield what the choice on all other conversations gives on each. Raises ValueError when there is only one."""
    held: defaultdict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        held[outcome.group, outcome.conversation].append(outcome)
    if len(held) < 2:
        raise ValueError("there is only one conversation: none can be left out")
    for (group, conversation), own in held.items():
        others = [each for each in outcomes if (each.group, each.conversation) != (group, conversation)]
        chosen = choose(others, labels)
        yield LeftOut(
            group,
            conversation,
            len(own),
            chosen,
            fmean(each.figures[chosen] for each in own),
            fmean(each.figures[SHIPPED] for each in own),
        )


def format_family(name: str, outcomes: Sequence[Outcome], labels: Sequence[str], figure: str) -> str:
    """Return the tables of one family: each value by set, each conversation left out, the mean and spread."""
    groups = list(dict.fromkeys(outcome.group for outcome in outcomes))
    curve = [["", "weights", *groups, "mean of sets"]]
    for label in (SHIPPED, *labels):
        means = mean_by_set(outcomes, label)
        curve.append(["", label, *(f"{means[group]:.3f}" for group in groups), f"{fmean(means.values()):.3f}"])
    left = list(leave_out(outcomes, labels))
    rows = [["set", "left out", "n", "chosen", figure, "shipped", "gain"]]
    rows += [
        [one.group, one.conversation, str(one.questions), one.chosen, *_figures(one.figure, one.shipped)]
        for one in left
    ]
    gains = [one.figure - one.shipped for one in left]
    chosen = {(one.group, one.conversation): one.chosen for one in left}
    keys = [(each.group, each.conversation) for each in outcomes]
    leads = [each.figures[chosen[key]] - each.figures[SHIPPED] for key, each in zip(keys, outcomes, strict=True)]
    return "\n".join(
        (
            format_rows(f"{name}, all conversations", curve),
            format_rows(f"{name}, each conversation left out", rows),
            f"gain over conversations {fmean(gains):+.3f}, spread {pstdev(gains):.3f}, "
            f"better on {sum(gain > 0 for gain in gains)}, worse on {sum(gain < 0 for gain in gains)} "
            f"of {len(gains)}; over questions {interval(leads, ['/'.join(key) for key in keys])}",
        )
    )


def _figures(figure: float, shipped: float) -> tuple[str, str, str]:
    return f"{figure:.3f}", f"{shipped:.3f}", f"{figure - shipped:+.3f}"


async def run(sets: Mapping[str, Sequence[Conversation]], grid: Grid, figure: str) -> list[Outcome]:
    """Replay all sets, each in a new store."""
    outcomes = []
    for name, conversations in sets.items():
        async with open_store() as rt:
            outcomes += await replay(name, conversations, grid, rt=rt, figure=figure)
    return outcomes


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_sets(parser)
    parser.add_argument(
        "--weight", nargs="+", action="append", metavar="FIELD[=VALUES]", help="a family; repeatable"
    )
    parser.add_argument("--figure", choices=list(FIGURES), default=FIGURE, help="what is to be greatest")
    arguments = parser.parse_args()
    sets = read_sets(parser, arguments)
    if sum(map(len, sets.values())) < 2:
        parser.error("give at least two conversations: one is left out in turn")
    try:
        families = [(words, read_family(words)) for words in arguments.weight or [[n] for n in field_names()]]
    except ValueError as error:
        parser.error(str(error))
    grid = {label: weights for _, family in families for label, weights in family.items()}
    outcomes = asyncio.run(run(sets, grid, arguments.figure))
    for words, family in families:
        sys.stdout.write(format_family(" ".join(words), outcomes, list(family), arguments.figure) + "\n")


if __name__ == "__main__":
    main()
