"""Published algorithms of retrieval, each with its paper. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from statistics import fmean
from typing import Final

import numpy as np

RRF_K: Final = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""
K1: Final = 1.2
B: Final = 0.75
"""The usual constants of BM25 (Robertson and Zaragoza 2009): saturation of a term, weight of the length."""
RELEVANCE_SHARE: Final = 0.7
"""λ of maximal marginal relevance; specification 002 names none."""

type Similarity = Callable[[int, Sequence[int]], Iterable[float]]
"""The similarity of one item to each of the others given, in their order."""


def jaccard[T](one: AbstractSet[T], other: AbstractSet[T]) -> float:
    """|one ∩ other| / |one ∪ other|, in [0, 1]; 0 for two empty sets (Jaccard 1901)."""
    return len(one & other) / len(one | other) if one or other else 0.0


def reciprocal_rank_fusion[T: Hashable](rankings: Iterable[Sequence[T]]) -> dict[T, float]:
    """Σ 1 / (60 + rank) over the rankings that hold an item, ranks from 1; each share in (0, 1/61].

    Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
    methods", 2009.
    """
    scores: defaultdict[T, float] = defaultdict(float)
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] += 1 / (RRF_K + rank)
    return dict(scores)


def correlation(pairs: Sequence[tuple[float, float]]) -> float:
    """Pearson's correlation of two values over all pairs, in [−1, 1]; 0 where one of them is constant."""
    one, other = (np.array(values) - fmean(values) for values in zip(*pairs, strict=True))
    spread = math.sqrt(one @ one) * math.sqrt(other @ other)
    return float(one @ other) / spread if spread else 0.0


def inverse_document_frequency(holding: int, total: int) -> float:
    """The weight of a term that `holding` of `total` texts hold: ln(1 + (N − n + ½) / (n + ½)), above 0.

    The form of Lucene, which is never negative; `total` below `holding` counts as `holding`.
    """
    return math.log(1.0 + (max(total, holding) - holding + 0.5) / (holding + 0.5))


def okapi_bm25[T](counts: Mapping[T, int], weights: Mapping[T, float], length: float, mean_length: float) -> float:
    """Okapi BM25 of one text, at least 0 (Robertson and Zaragoza, "The probabilistic relevance framework", 2009).

    `counts`: how often the text holds each term of the query, 1 or more; `weights`: the inverse document frequency
    of each of them. The unit of the two lengths does not matter; `mean_length` is above 0.
    """
    norm = K1 * (1.0 - B + B * length / mean_length)
    return sum([weights[term] * count * (K1 + 1.0) / (count + norm) for term, count in counts.items()])


def maximal_marginal_relevance(
    relevance: Sequence[float],
    similarity: Similarity,
    redundancy_weight: float,
    redundancy: Sequence[float] | None = None,
) -> Iterator[int]:
    """All places, each next one the best by relevance − weight × greatest similarity to a chosen item.

    Carbonell and Goldstein, "The use of MMR, diversity-based reranking", 1998: there the weight is 1 − λ, and
    `relevance` comes multiplied by λ. `redundancy`: the similarity of each item to those chosen before; 0 when not
    given. Of equal items the first comes first. Lazy: to take n of m items costs n × m similarities at most.
    """
    nearest = [0.0] * len(relevance) if redundancy is None else list(redundancy)
    rest = list(range(len(relevance)))
    while rest:
        best = max(rest, key=lambda item: relevance[item] - redundancy_weight * nearest[item])
        rest.remove(best)
        yield best
        for item, near in zip(rest, similarity(best, rest), strict=True):
            nearest[item] = max(nearest[item], near)
