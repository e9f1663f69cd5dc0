"""Fits the weights of `orchestration.ranking.confidence` anew, and writes `confidence.toml`.

    make calibrate ARGS="--locomo FILE --beam DIR"

For every change of vectors or of channel weights, and for another embedding model: the tables of the configured
model (SUBSTRATE_EMBEDDING) and of words alone are replaced, those of other models stay. Each whole chat is held
out in turn (cross-validation); the figures printed, and kept beside the weights, are of the chats held out. Every
question is fitted a second time as a young store of a few memories hears it.
"""

from __future__ import annotations

import argparse
import asyncio
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.abstention import Outcome, Paths, add_paths, gather, report
from benchmarks.chat_answers import ANSWERABLE, INSTRUCTION, NEVER_SAID, OTHER_CHAT, PAST, PRESENT, TIME
from benchmarks.rated_questions import Rated, as_young
from orchestration.ranking import confidence
from orchestration.ranking.confidence import FEATURES, NAMED, PLAIN, WORDS_ALONE, Answer, read_features

FILE: Final = Path(confidence.__file__).with_name("confidence.toml")
PENALTY: Final = 60.0
"""L2 on the weights of the scaled features; figures change little between 30 and 100."""
COUNTS: Final = {("chats", NEVER_SAID): 0.0, ("plain", NEVER_SAID): 0.5}
"""How much the questions of a set and kind count; others 1.

What was never said in `chats` is asked in more words of the chat than what was said: to fit these questions is to
learn that words speak against an answer, which no other set bears out.
"""
OTHERS_COUNT: Final = 1.5
"""How much a question of another chat counts where it names no speaker: with 1 fewer of them find nothing."""
ROUNDS: Final = 50
YOUNG: Final = (1, 2, 4, 8, 16)
"""How many memories a young store has."""
YOUNG_SHARE: Final = 0.6
"""The weight of a question to a young store beside 1 of the whole chat."""
MOST_EMPTY: Final = 0.05
"""The share of the answerable questions of any set whose focus may stay empty."""
LINES: Final = [line / 100 for line in range(5, 50)]
"""The thresholds that are tried."""
LEAST_OF_SET: Final = 40
"""Of fewer questions the least twentieth is chance."""
APART: Final = frozenset((PRESENT, PAST, TIME, INSTRUCTION))
"""Kinds of answerable questions that the threshold does not go by: they test the order of hits, in hard chats."""
OF_NAMES: Final = frozenset(("speaker", "speaker_first", "theirs"))
OF_LIKENESS: Final = frozenset(("likeness", "likeness_of_three"))

type Numbers = NDArray[np.float64]


class Fitted(NamedTuple):
    """A logistic regression of scaled features: `weights` begin with the intercept."""

    means: Numbers
    scales: Numbers
    weights: Numbers

    def probabilities(self, features: Numbers) -> Numbers:
        """The probability of each row."""
        odds = self.weights[0] + ((features - self.means) / self.scales) @ self.weights[1:]
        return np.asarray(1.0 / (1.0 + np.exp(-odds)))


class Table(NamedTuple):
    """The fitted weights for one kind of question. `held_out`: the probability of each question of a whole chat by
    weights that did not see its chat."""

    names: tuple[str, ...]
    fitted: Fitted
    held_out: tuple[tuple[Rated, float], ...]
    threshold: float = 0.0

    @property
    def outcomes(self) -> list[Outcome]:
        """How well each question of a whole chat is answered."""
        return [Outcome(each, Answer(value, fits=value >= self.threshold)) for each, value in self.held_out]


def fit(features: Numbers, answerable: Numbers, counts: Numbers) -> Fitted:
    """Logistic regression with L2 by Newton's method; `counts`: how much each row counts."""
    means, scales = features.mean(0), features.std(0) + 1e-9
    rows = np.c_[np.ones(len(features)), (features - means) / scales]
    penalty = np.eye(rows.shape[1]) * PENALTY
    penalty[0, 0] = 1e-6
    weights = np.zeros(rows.shape[1])
    for _ in range(ROUNDS):
        probability = 1.0 / (1.0 + np.exp(-rows @ weights))
        slope = rows.T @ (counts * (probability - answerable)) + penalty @ weights
        curve = (rows * (counts * probability * (1 - probability))[:, None]).T @ rows + penalty
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-9:
            break
    return Fitted(means, scales, weights)


def cross_validate(rated: Sequence[Rated], names: Sequence[str]) -> Table:
    """The weights from all questions, and each question's probability by weights that did not see its chat."""
    features = np.array([[read_features(each.evidence)[name] for name in names] for each in rated])
    answerable = np.array([each.is_answerable for each in rated], dtype=float)
    counts, chats = _counts(rated), np.array([each.chat for each in rated])
    held_out = np.zeros(len(rated))
    for chat in dict.fromkeys(chats.tolist()):
        test = chats == chat
        held_out[test] = fit(features[~test], answerable[~test], counts[~test]).probabilities(features[test])
    whole = tuple((each, float(value)) for each, value in zip(rated, held_out, strict=True) if not each.memories)
    return Table(tuple(names), fit(features, answerable, counts), whole)


def _counts(rated: Sequence[Rated]) -> Numbers:
    """Sets and kinds of very different sizes count by the square root of their sizes."""
    groups = [(each.group, each.is_answerable or each.kind, bool(each.memories)) for each in rated]
    sizes = Counter(groups)
    counts = [10 * (YOUNG_SHARE if group[2] else 1.0) / sizes[group] ** 0.5 for group in groups]
    others = [OTHERS_COUNT if each.kind == OTHER_CHAT and not each.evidence.speakers else 1.0 for each in rated]
    return np.array(counts) * others * [COUNTS.get((each.group, each.kind), 1.0) for each in rated]


def with_thresholds(tables: Mapping[str, Table]) -> dict[str, Table]:
    """The tables with the thresholds that leave most of the unanswerable questions empty, each set and kind alike,
    and at most 1 in 20 of the answerable ones of any set, whichever table they are rated by."""
    sizes: Counter[tuple[str, str]] = Counter()
    empty: dict[str, defaultdict[tuple[str, str], Numbers]] = {}
    for name, table in tables.items():
        empty[name] = defaultdict(lambda: np.zeros(len(LINES)))
        for each, value in table.held_out:
            if each.kind not in APART:
                sizes[each.group, each.kind] += 1
                empty[name][each.group, each.kind] += np.array(LINES) > value
    answered = [key for key in sizes if key[1] == ANSWERABLE]
    kept = [key for key in answered if sizes[key] >= LEAST_OF_SET] or answered
    best, lines = -1.0, dict.fromkeys(tables, LINES[0])
    for places in product(range(len(LINES)), repeat=len(tables)):
        chosen = dict(zip(tables, places, strict=True))
        share = {key: sum(empty[name][key][at] for name, at in chosen.items()) / sizes[key] for key in sizes}
        silence = fmean(share[key] for key in sizes if key not in answered)
        if silence > best and all(share[key] <= MOST_EMPTY for key in kept):
            best, lines = silence, {name: LINES[at] for name, at in chosen.items()}
    return {name: table._replace(threshold=lines[name]) for name, table in tables.items()}


def without_likeness(rated: Rated) -> Rated:
    """The question as a store without an embedder hears it; its hits stay those that likeness found too."""
    hits = [hit._replace(likeness=None) for hit in rated.evidence.hits]
    return replace(rated, evidence=replace(rated.evidence, hits=hits))


def calibrate(rated: Sequence[Rated]) -> dict[str, dict[str, Table]]:
    """The tables of the model of the questions and of words alone, by the kind of question."""
    chance = Random(1)
    young = (
        as_young(each, chance.choice(YOUNG), chance) for each in rated if each.kind not in (TIME, INSTRUCTION)
    )
    whole = [each for each in rated if each.kind != INSTRUCTION and each.evidence.hits]
    both = [*whole, *(each for each in young if each is not None)]
    model = rated[0].model
    tables = {WORDS_ALONE: _tables([without_likeness(each) for each in both], OF_LIKENESS)}
    return tables if model == WORDS_ALONE else {model: _tables(both, frozenset()), **tables}


def _tables(rated: Sequence[Rated], left_out: frozenset[str]) -> dict[str, Table]:
    plain = [name for name in FEATURES if name not in OF_NAMES | left_out]
    named = [name for name in FEATURES if name not in left_out]
    return with_thresholds(
        {
            PLAIN: cross_validate([each for each in rated if not each.evidence.speakers], plain),
            NAMED: cross_validate([each for each in rated if each.evidence.speakers], named),
        }
    )


def written(tables: Mapping[str, Mapping[str, Table]], known: Mapping[str, Mapping[str, Any]]) -> str:
    """The file: the tables, and those known of other models."""
    lines = ["# The weights of `orchestration.ranking.confidence`, written by `make calibrate`.", "#"]
    lines += [
        "# `terms`: the weight of each feature, in log-odds. Beside each table what it was fitted on, and the"
    ]
    lines += ["# figures of the chats held out in turn."]
    for model, kinds in tables.items():
        for kind, table in kinds.items():
            lines += ["", *_record(table), *_table_lines(model, kind, table)]
    for model, others in known.items():
        if model not in tables:
            for kind, table in others.items():
                lines += ["", *_known_lines(model, kind, table)]
    return "\n".join(lines) + "\n"


def _record(table: Table) -> Iterator[str]:
    yield f"# L2 {PENALTY:g}"
    for line in report(table.outcomes):
        if line:
            yield f"# {line}"


def _table_lines(model: str, kind: str, table: Table) -> Iterator[str]:
    yield f'[models."{model}".{kind}]'
    means, scales, weights = table.fitted
    terms = weights[1:] / scales
    yield f"intercept = {weights[0] - terms @ means:.4f}"
    yield f"threshold = {table.threshold:.2f}"
    yield f'[models."{model}".{kind}.terms]'
    yield from (f"{name} = {weight:.4f}" for name, weight in zip(table.names, terms, strict=True))


def _known_lines(model: str, kind: str, table: Mapping[str, Any]) -> Iterator[str]:
    yield f'[models."{model}".{kind}]'
    yield f"intercept = {table['intercept']}"
    yield f"threshold = {table['threshold']}"
    yield f'[models."{model}".{kind}.terms]'
    yield from (f"{name} = {values}" for name, values in table["terms"].items())


async def main() -> None:
    """Ask, fit, write the file, and print the figures of the chats held out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_paths(parser)
    options = parser.parse_args()
    tables = calibrate(await gather(Paths(options.chats, options.locomo, options.beam)))
    FILE.write_text(written(tables, tomllib.loads(FILE.read_text(encoding="utf-8"))["models"]), encoding="utf-8")
    for model, kinds in tables.items():
        print(f"\n{model}")
        print("\n".join(report([outcome for table in kinds.values() for outcome in table.outcomes])))


if __name__ == "__main__":
    asyncio.run(main())
