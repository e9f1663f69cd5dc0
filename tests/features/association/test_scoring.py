"""Anchors, bridges, scores and budgets of the Tag-Walker (001)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.association.scoring import (
    AssociationHit,
    QueryTerms,
    fill_budget,
    rank,
    rank_anchors,
    score_words,
    specificity,
)
from orchestration.features.association.values import Associated
from schemas.memory import Level
from substrate.language.text import stem
from tests.builders import a_node

QUERY = QueryTerms(
    stems=frozenset({stem("apples")}),
    weights={Level.N1: {stem("apples"): 1.0}},
    mean_terms={Level.N1: 3.0},
    memory_counts={Level.N1: 100},
)


def hit(node_id: str, words: float = 1.0, **fields: Any) -> AssociationHit:
    paths, made = fields.pop("paths", ()), fields.pop("made", ())
    return AssociationHit(a_node(node_id=node_id, **fields), 3, words=words, paths=paths, made=made)


@pytest.mark.parametrize(
    "label", [{"buckets": ("apple garden",)}, {"tags": ("green_apples",)}, {"speaker": "Apple"}]
)
def test_a_word_of_the_question_in_a_label_boosts(label: dict[str, Any]) -> None:
    (scored,) = score_words([hit("m", description="apples in the garden", **label)], QUERY)
    assert scored.boosted


@given(st.lists(st.floats(0, 5), max_size=8))
def test_anchors_have_a_word_and_come_best_first(scores: list[float]) -> None:
    anchors = rank_anchors(hit(f"m{place}", words) for place, words in enumerate(scores))
    assert [anchor.words for anchor in anchors] == sorted((words for words in scores if words > 0), reverse=True)


@given(st.integers(1, 1000), st.integers(1, 1000))
def test_a_rarer_tag_is_more_specific(one: int, other: int) -> None:
    size = 1000
    assert specificity(1, size) == 1.0
    assert 0.0 < specificity(one, size) <= 1.0
    assert (one < other) == (specificity(one, size) > specificity(other, size))


def associated(node_id: str, score: float, size: int) -> Associated:
    return Associated(memory=a_node(node_id=node_id, name="n", description="x" * size), score=score)


@given(st.lists(st.tuples(st.floats(0, 2), st.integers(0, 30)), max_size=8), st.integers(0, 60))
def test_the_best_that_fit_are_shown_and_each_other_is_too_large_for_what_was_left(
    parts: list[tuple[float, int]], max_chars: int
) -> None:
    ranked = rank(associated(f"m{place}", *part) for place, part in enumerate(parts))
    filled = fill_budget(ranked, max_chars)
    assert filled.chars <= max_chars
    assert filled.omitted == len(ranked) - len(filled.memories)
    spent = 0
    for one in ranked:
        size = fill_budget([one], 10**6).chars
        assert (one in filled.memories) == (spent + size <= max_chars)
        spent += size if one in filled.memories else 0
    assert spent == filled.chars
