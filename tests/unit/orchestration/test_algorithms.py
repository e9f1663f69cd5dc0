"""The published algorithms, each by a worked example and by its laws."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.algorithms import (
    RRF_K,
    correlation,
    inverse_document_frequency,
    jaccard,
    maximal_marginal_relevance,
    okapi_bm25,
    reciprocal_rank_fusion,
)

SETS = st.frozensets(st.sampled_from("abcdef"))
RANKINGS = st.lists(st.lists(st.sampled_from("abcdef"), unique=True), max_size=5)
SHARES = st.floats(0.0, 1.0)
ITEMS = st.lists(st.tuples(SHARES, SETS), max_size=8)


@given(SETS, SETS)
def test_jaccard_is_symmetric_and_a_share(left: frozenset[str], right: frozenset[str]) -> None:
    assert jaccard(left, right) == jaccard(right, left)
    assert 0.0 <= jaccard(left, right) <= 1.0
    assert jaccard(left, left) == (1.0 if left else 0.0)
    assert (jaccard(left, right) == 0.0) is left.isdisjoint(right)


def test_reciprocal_rank_fusion_by_hand() -> None:
    fused = reciprocal_rank_fusion([["one", "other"], ["other"], ["third", "one"]])
    assert fused == pytest.approx({"one": 1 / 61 + 1 / 62, "other": 1 / 62 + 1 / 61, "third": 1 / 61})
    assert reciprocal_rank_fusion([]) == {}


@given(RANKINGS)
def test_every_ranking_that_holds_an_item_adds_its_reciprocal_rank(rankings: list[list[str]]) -> None:
    fused = reciprocal_rank_fusion(rankings)
    assert fused.keys() == {item for ranking in rankings for item in ranking}
    for item, score in fused.items():
        ranks = [ranking.index(item) + 1 for ranking in rankings if item in ranking]
        assert score == pytest.approx(math.fsum(1 / (RRF_K + rank) for rank in ranks))


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_a_rarer_term_never_weighs_less(holding: int, total: int) -> None:
    rarer, commoner = inverse_document_frequency(holding, total), inverse_document_frequency(holding + 1, total)
    assert 0.0 < commoner <= rarer


def test_bm25_by_hand() -> None:
    # The norm is 1.2 x (0.25 + 0.75 x 2/4) = 0.75: 0.5 x 1 x 2.2 / 1.75 + 2 x 3 x 2.2 / 3.75.
    score = okapi_bm25({"cat": 1, "dog": 3}, {"cat": 0.5, "dog": 2.0, "owl": 9.0}, 2.0, 4.0)
    assert score == pytest.approx(0.6285714 + 3.52)


@given(st.integers(1, 50), st.floats(0.01, 10.0), st.floats(1.0, 100.0), st.floats(1.0, 100.0))
def test_bm25_grows_with_a_term_but_stays_below_its_weight_times_k1_plus_one(
    count: int, weight: float, length: float, mean: float
) -> None:
    one, more = (okapi_bm25({"x": times}, {"x": weight}, length, mean) for times in (count, count + 1))
    assert 0.0 < one < more < 2.2 * weight
    assert okapi_bm25({"x": count}, {"x": weight}, length + 1.0, mean) < one


def chosen(items: Sequence[tuple[float, frozenset[str]]], weight: float) -> list[int]:
    def similarity(place: int, others: Sequence[int]) -> list[float]:
        return [jaccard(items[place][1], items[other][1]) for other in others]

    return list(maximal_marginal_relevance([relevance for relevance, _ in items], similarity, weight))


def test_maximal_marginal_relevance_by_hand() -> None:
    """The double of the first is worth 0.9 - 0.5 x 1 = 0.4; the weaker one with other members 0.6."""
    ab, c = frozenset("ab"), frozenset("c")
    assert chosen([(1.0, ab), (0.9, ab), (0.6, c)], 0.5) == [0, 2, 1]
    assert chosen([(1.0, ab), (0.9, ab), (0.6, c)], 0.2) == [0, 1, 2]


@given(ITEMS, SHARES)
def test_each_next_item_is_worth_most_beside_those_chosen(
    items: list[tuple[float, frozenset[str]]], weight: float
) -> None:
    order = chosen(items, weight)
    assert sorted(order) == list(range(len(items)))
    for done, place in enumerate(order):
        before = order[:done]

        def worth(item: int, before: Sequence[int] = before) -> float:
            nearest = max((jaccard(items[item][1], items[other][1]) for other in before), default=0.0)
            return items[item][0] - weight * nearest

        rest = sorted(order[done:])
        assert place == max(rest, key=worth)


@given(ITEMS)
def test_without_redundancy_the_order_is_that_of_relevance(items: list[tuple[float, frozenset[str]]]) -> None:
    assert chosen(items, 0.0) == sorted(range(len(items)), key=lambda place: -items[place][0])


def test_similarity_to_items_chosen_before_counts_and_nothing_is_asked_beyond_what_is_taken() -> None:
    asked: list[int] = []

    def similarity(place: int, others: Sequence[int]) -> list[float]:
        asked.append(place)
        return [0.0 for _ in others]

    order = maximal_marginal_relevance([1.0, 0.9, 0.1], similarity, 0.5, [1.0, 0.0, 0.0])
    assert list(islice(order, 2)) == [1, 0]
    assert asked == [1]


def test_the_correlation_is_that_of_the_library_and_zero_for_a_constant() -> None:
    pairs = [(0.1, 3.0), (0.4, 1.0), (0.35, 2.0), (0.8, 0.0)]
    assert correlation(pairs) == pytest.approx(statistics.correlation(*zip(*pairs, strict=True)))
    assert correlation([(1.0, 2.0), (1.0, 5.0)]) == 0.0
