"""Score rankings against evidence: recall and hit at k, over all questions and by category."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from benchmarks.datasets import Question

CUTOFFS: Final = (5, 10, 20)


@dataclass(frozen=True)
class Score:
    """Mean recall and hit rate by cutoff, over a number of questions."""

    questions: int
    recall: Mapping[int, float]
    hit: Mapping[int, float]

    def as_dict(self) -> dict[str, Any]:
        """Return the figures under keys such as "recall@5", ready for JSON."""
        return {
            "questions": self.questions,
            **{f"recall@{k}": value for k, value in self.recall.items()},
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


def recall_at(ranking: Sequence[str], evidence: Collection[str], k: int) -> float:
    """Return the share of the evidence ids that are among the first k of the ranking."""
    return len(set(ranking[:k]).intersection(evidence)) / len(evidence)


def hit_at(ranking: Sequence[str], evidence: Collection[str], k: int) -> float:
    """Return 1 if any evidence id is among the first k of the ranking, else 0."""
    return float(not set(ranking[:k]).isdisjoint(evidence))


def score(
    questions: Sequence[Question], rankings: Sequence[Sequence[str]], cutoffs: Sequence[int] = CUTOFFS
) -> Report:
    """Score the ranking of turn ids of each question.

    Every question has the same weight. Questions of several conversations may be concatenated. Raises ValueError
    when there are no questions, or not as many rankings as questions.
    """
    pairs = list(zip(questions, rankings, strict=True))
    if not pairs:
        raise ValueError("there are no questions to score")
    groups: defaultdict[str, list[tuple[Question, Sequence[str]]]] = defaultdict(list)
    for question, ranking in pairs:
        groups[question.category].append((question, ranking))
    return Report(_mean(pairs, cutoffs), {name: _mean(group, cutoffs) for name, group in sorted(groups.items())})


def table(title: str, reports: Mapping[str, Report]) -> str:
    """Format reports by method name as plain text: the methods overall, then by category."""
    scores = [("overall", method, report.overall) for method, report in reports.items()]
    for category in sorted({name for report in reports.values() for name in report.by_category}):
        scores += [
            (category, method, report.by_category[category])
            for method, report in reports.items()
            if category in report.by_category
        ]
    rows = [["category", "method", *next((_headings(figures) for _, _, figures in scores), [])]]
    rows += [[category, method, *_cells(figures)] for category, method, figures in scores]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join([title, *(_line(row, widths) for row in rows)])


def print_table(title: str, reports: Mapping[str, Report]) -> None:
    """Print the reports by method name as a table."""
    print(table(title, reports))


def _mean(pairs: Sequence[tuple[Question, Sequence[str]]], cutoffs: Sequence[int]) -> Score:
    return Score(
        questions=len(pairs),
        recall={k: fmean(recall_at(ranking, asked.evidence, k) for asked, ranking in pairs) for k in cutoffs},
        hit={k: fmean(hit_at(ranking, asked.evidence, k) for asked, ranking in pairs) for k in cutoffs},
    )


def _headings(figures: Score) -> list[str]:
    return ["n", *(f"rec@{k}" for k in figures.recall), *(f"hit@{k}" for k in figures.hit)]


def _cells(figures: Score) -> list[str]:
    rates = (*figures.recall.values(), *figures.hit.values())
    return [str(figures.questions), *(f"{rate:.3f}" for rate in rates)]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    """Align names to the left of their columns and figures to the right."""
    names = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
    figures = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
    return "  ".join([*names, *figures])
