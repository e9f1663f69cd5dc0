"""Score rankings against evidence: recall, all evidence and hit at k, overall and by category, with intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import CATEGORY_5, Question

CUTOFFS: Final = (5, 10, 20)
WITH_CATEGORY_5: Final = "with category 5"
RESAMPLES: Final = 10_000
"""How often whole conversations are drawn anew for an interval."""


@dataclass(frozen=True)
class Score:
    """Means over questions, by cutoff: recall, whether any of the evidence is found, and whether all is."""

    questions: int
    recall: Mapping[int, float]
    hit: Mapping[int, float]
    every: Mapping[int, float]

    def as_dict(self) -> dict[str, Any]:
        """Return the figures under keys such as "recall@5", ready for JSON."""
        return {
            "questions": self.questions,
            **{f"recall@{k}": value for k, value in self.recall.items()},
            **{f"all@{k}": value for k, value in self.every.items()},
            **{f"hit@{k}": value for k, value in self.hit.items()},
        }


@dataclass(frozen=True)
class Report:
    """The score of one method: overall, and for each category by name."""

    overall: Score
    by_category: Mapping[str, Score]

    def as_dict(self) -> dict[str, Any]:
        """Return {"overall": figures, "by_category": {name: figures}}, ready for JSON."""
        return {
            "overall": self.overall.as_dict(),
            "by_category": {name: score.as_dict() for name, score in self.by_category.items()},
        }


class Interval(NamedTuple):
    """A mean over questions, and the ends of its 95 % interval over conversations."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def short(self) -> str:
        """The interval as the pages write it: ".767 (.749 to .780)"."""
        return f"{_short(self.mean)} ({_short(self.low)} to {_short(self.high)})"


def recall_at(ranking: Sequence[str], evidence: Collection[str], k: int) -> float:
    """Return the share of the evidence ids that are among the first k of the ranking."""
    return len(set(ranking[:k]).intersection(evidence)) / len(evidence)


def hit_at(ranking: Sequence[str], evidence: Collection[str], k: int) -> float:
    """Return 1 if any evidence id is among the first k of the ranking, else 0."""
    return float(not set(ranking[:k]).isdisjoint(evidence))


def all_at(ranking: Sequence[str], evidence: Collection[str], k: int) -> float:
    """Return 1 if every evidence id is among the first k of the ranking, else 0."""
    return float(set(ranking[:k]).issuperset(evidence))


def area(answerable: Sequence[float], unanswerable: Sequence[float]) -> float:
    """The area under the ROC curve: how often an answerable question has the greater value; ties count half."""
    below = np.sort(np.asarray(unanswerable, dtype=float))
    values = np.asarray(answerable, dtype=float)
    wins = np.searchsorted(below, values, "left") + np.searchsorted(below, values, "right")
    return float(wins.mean() / (2 * len(below)))


FIGURES: Final[Mapping[str, tuple[Callable[[Sequence[str], Collection[str], int], float], int]]] = {
    **{f"rec@{k}": (recall_at, k) for k in CUTOFFS},
    f"all@{CUTOFFS[-1]}": (all_at, CUTOFFS[-1]),
}
"""The figures of one question that get an interval."""


def score(
    questions: Sequence[Question], rankings: Sequence[Sequence[str]], cutoffs: Sequence[int] = CUTOFFS
) -> Report:
    """Score the ranking of turn ids of each question.

    Every question has the same weight. Questions of several conversations may be concatenated. The overall score
    leaves category 5 of LoCoMo out; where there is any, a category of its own has the score of all. Raises
    ValueError when there are no other questions, or not as many rankings as questions.
    """
    pairs = list(zip(questions, rankings, strict=True))
    main = [pair for pair in pairs if pair[0].category != CATEGORY_5]
    if not main:
        raise ValueError("there are no questions to score")
    groups: defaultdict[str, list[tuple[Question, Sequence[str]]]] = defaultdict(list)
    for question, ranking in pairs:
        groups[question.category].append((question, ranking))
    if len(main) < len(pairs):
        groups[WITH_CATEGORY_5] = pairs
    return Report(_mean(main, cutoffs), {name: _mean(group, cutoffs) for name, group in sorted(groups.items())})


def ceiling(questions: Sequence[Question], cutoffs: Sequence[int] = CUTOFFS) -> Report:
    """Score the ranking that begins with all evidence: recall@k is at most min(k, evidence) / evidence."""
    return score(questions, [sorted(question.evidence) for question in questions], cutoffs)


def score_groups(
    questions: Sequence[Question], rankings: Sequence[Sequence[str]], groups: Sequence[str]
) -> Report:
    """Score as `score` does, with the group of each question, such as its conversation, in place of its category.

    Questions of category 5 are left out.
    """
    rows = [row for row in zip(questions, rankings, groups, strict=True) if row[0].category != CATEGORY_5]
    return score([replace(question, category=group) for question, _, group in rows], [row[1] for row in rows])


def interval(values: Sequence[float], groups: Sequence[str], seed: int = 0) -> Interval:
    """The mean of one value for each question, with its 95 % interval when whole groups are drawn anew.

    `groups`: the conversation of each question. The percentile bootstrap over clusters (Efron and Tibshirani, "An
    Introduction to the Bootstrap", 1993). Raises ValueError when there is no value.
    """
    if not values:
        raise ValueError("there are no values to resample")
    names, places = np.unique(np.asarray(groups), return_inverse=True)
    sums, sizes = np.bincount(places, weights=np.asarray(values, float)), np.bincount(places)
    drawn = np.random.default_rng(seed).integers(len(names), size=(RESAMPLES, len(names)))
    low, high = np.percentile(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), (2.5, 97.5))
    return Interval(float(sums.sum() / sizes.sum()), float(low), float(high))


def intervals(
    questions: Sequence[Question],
    groups: Sequence[str],
    rankings: Mapping[str, Sequence[Sequence[str]]],
    ours: str,
) -> dict[str, dict[str, Interval]]:
    """Intervals over conversations of the figures of our method, and of its lead over each other, by name.

    `groups`: the conversation of each question. The lead is that of each question, so chats that are hard for all
    methods do not widen it. Questions of category 5 are left out.
    """
    main = [place for place, question in enumerate(questions) if question.category != CATEGORY_5]
    kept = [groups[place] for place in main]

    def values(name: str, figure: str) -> NDArray[np.float64]:
        of, k = FIGURES[figure]
        return np.array([of(rankings[name][place], questions[place].evidence, k) for place in main])

    own = {figure: values(ours, figure) for figure in FIGURES}
    rows = {ours: own}
    for name in (name for name in rankings if name != ours):
        rows[f"{ours} - {name}"] = {figure: own[figure] - values(name, figure) for figure in FIGURES}
    return {
        name: {figure: interval(leads.tolist(), kept) for figure, leads in row.items()}
        for name, row in rows.items()
    }


def table(title: str, reports: Mapping[str, Report], heading: str = "category") -> str:
    """Format reports by method name as plain text: the methods overall, then by category."""
    scores = [("overall", method, report.overall) for method, report in reports.items()]
    for category in sorted({name for report in reports.values() for name in report.by_category}):
        scores += [
            (category, method, report.by_category[category])
            for method, report in reports.items()
            if category in report.by_category
        ]
    rows = [[heading, "method", *next((_headings(figures) for _, _, figures in scores), [])]]
    rows += [[category, method, *_cells(figures)] for category, method, figures in scores]
    return format_rows(title, rows)


def print_table(title: str, reports: Mapping[str, Report]) -> None:
    """Print the reports by method name as a table."""
    print(table(title, reports))


def interval_table(title: str, rows: Mapping[str, Mapping[str, Interval]]) -> str:
    """Format intervals by row and figure as plain text."""
    figures = list(next(iter(rows.values())))
    cells = [["", "95 % interval over conversations", *figures]]
    cells += [["", name, *(str(row[figure]) for figure in figures)] for name, row in rows.items()]
    return format_rows(title, cells)


def markdown_table(
    heading: str, reports: Mapping[str, Report], groups: Sequence[str], overall: str = "all questions"
) -> str:
    """Format reports by method as a table of a page, a row for each group: @5 / @10 / @20, and all@20.

    `groups`: the categories or conversations to show below all questions.
    """
    rows = [[heading, "n", *reports], ["---"] * (len(reports) + 2)]
    for group in (None, *groups):
        scores = [each.overall if group is None else each.by_category[group] for each in reports.values()]
        shown = [" / ".join(map(_short, each.recall.values())) for each in scores]
        cells = [
            f"{cell}, {_short(each.every[max(each.every)])}" for cell, each in zip(shown, scores, strict=True)
        ]
        rows.append([group or overall, str(scores[0].questions), *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def markdown_intervals(rows: Mapping[str, Mapping[str, Interval]]) -> str:
    """Format intervals by row and figure as a table of a page."""
    figures = list(next(iter(rows.values())))
    lines = [["mean (95 % interval)", *figures], ["---"] * (len(figures) + 1)]
    lines += [[name, *(row[figure].short() for figure in figures)] for name, row in rows.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _short(value: float) -> str:
    """A share as the pages write it: .767, −.114, 1.000."""
    text = f"{abs(value):.3f}".removeprefix("0")
    return f"−{text}" if value <= -0.0005 else text


def format_rows(title: str, rows: Sequence[Sequence[str]]) -> str:
    """Format rows, the headings first, as plain text: two columns of names, then figures."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join([title, *(_line(row, widths) for row in rows)])


def _mean(pairs: Sequence[tuple[Question, Sequence[str]]], cutoffs: Sequence[int]) -> Score:
    return Score(
        questions=len(pairs),
        recall={k: fmean(recall_at(ranking, asked.evidence, k) for asked, ranking in pairs) for k in cutoffs},
        hit={k: fmean(hit_at(ranking, asked.evidence, k) for asked, ranking in pairs) for k in cutoffs},
        every={k: fmean(all_at(ranking, asked.evidence, k) for asked, ranking in pairs) for k in cutoffs},
    )


def _headings(figures: Score) -> list[str]:
    last = max(figures.every)
    return ["n", *(f"rec@{k}" for k in figures.recall), f"all@{last}", *(f"hit@{k}" for k in figures.hit)]


def _cells(figures: Score) -> list[str]:
    rates = (*figures.recall.values(), figures.every[max(figures.every)], *figures.hit.values())
    return [str(figures.questions), *(f"{rate:.3f}" for rate in rates)]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    """Align names to the left of their columns and figures to the right."""
    names = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
    figures = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
    return "  ".join([*names, *figures])
