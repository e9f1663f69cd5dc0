"""Anchors, bridges, scores and budgets of the Tag-Walker (001)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.association.queries import AnchorPath, MeasuredMemory
from orchestration.features.association.scoring import (
    BOOST,
    LINK_SHARES,
    MAX_BRIDGES,
    TAG_SHARE,
    Hit,
    QueryTerms,
    TagCounts,
    TagKey,
    associate_hit,
    fill_budget,
    find_carriers,
    harvest,
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


def hit(node_id: str, words: float = 1.0, **fields: Any) -> Hit:
    paths, made = fields.pop("paths", ()), fields.pop("made", ())
    return Hit(a_node(node_id=node_id, **fields), 3, words=words, paths=paths, made=made)


def harvested(*anchors: Hit, counts: dict[TagKey, int] | None = None) -> Any:
    return harvest(anchors, find_carriers(anchors), TagCounts(counts or {}, {Level.N1: 100}), {})


def test_a_length_that_was_not_stored_is_counted_without_stop_words() -> None:
    node = a_node(name="Fruit", description="the apples of the garden")
    assert Hit.from_row(MeasuredMemory(node, None, {})).terms == 3
    assert Hit.from_row(MeasuredMemory(node, 7, {})).terms == 7


@pytest.mark.parametrize(
    "label", [{"buckets": ("apple garden",)}, {"tags": ("green_apples",)}, {"speaker": "Apple"}]
)
def test_a_word_of_the_question_in_a_label_boosts(label: dict[str, Any]) -> None:
    (scored,) = score_words([hit("m", description="apples in the garden", **label)], QUERY)
    assert scored.boosted


def test_a_boosted_score_is_doubled() -> None:
    boosted, plain = score_words(
        [hit(name, description="apples in the garden", speaker=name) for name in ("Apple", "Kai")], QUERY
    )
    assert boosted.words == pytest.approx(BOOST * plain.words)


def test_a_label_without_a_word_in_the_text_is_no_hit() -> None:
    (scored,) = score_words([hit("m", description="pears", speaker="Apple")], QUERY)
    assert (scored.words, scored.boosted) == (0.0, False)
    assert rank_anchors([scored]) == []


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


def test_a_bridge_weighs_as_much_as_its_memories_on_the_mean_and_its_specificity() -> None:
    """By hand: two of its nine memories are hits, with 1 and .5 of the best relevance."""
    garden = TagKey(Level.N1, "#garden")
    anchors = (hit("best", 4.0, tags=("garden",)), hit("next", 2.0, tags=("garden",)))
    bridge = harvested(*anchors, counts={garden: 9}).bridges[garden]
    assert (bridge.memories, bridge.weight) == (9, pytest.approx(1.5 / 9 * specificity(9, 100), abs=1e-6))


def test_a_made_tag_leads_as_a_given_one_does_and_is_shown_as_made() -> None:
    lamp = TagKey(Level.N1, "~lamp")
    anchors = (hit("best", 4.0, made=("~lamp",)),)
    found = harvest(anchors, find_carriers(anchors), TagCounts({lamp: 2}, {Level.N1: 100}), {lamp: "~lamps"})
    result = associate_hit(hit("other", 0.0, made=("~lamp",)), found)
    assert (result.bridges, result.made) == (("~lamps",), ("~lamps",))
    assert result.support == pytest.approx(TAG_SHARE * found.bridges[lamp].weight, abs=1e-6)


def test_a_tag_that_is_given_and_made_counts_once() -> None:
    assert hit("m", tags=("lamp",), made=("#lamp",)).tags == [TagKey(Level.N1, "#lamp")]


def test_only_the_strongest_bridges_stay() -> None:
    tags = tuple(f"t{number}" for number in range(MAX_BRIDGES + 5))
    counts = {TagKey(Level.N1, f"#{tag}"): number + 1 for number, tag in enumerate(tags)}
    found = harvested(hit("m", tags=tags), counts=counts)
    assert [bridge.name for bridge in found.bridges.values()] == [f"#{tag}" for tag in tags[:MAX_BRIDGES]]


def test_support_comes_over_the_shortest_link_of_each_anchor_and_over_tags_of_others() -> None:
    """By hand: .5 of the best, .3 of the next (half as relevant), and a share of the weight of the shared tag."""
    garden = TagKey(Level.N1, "#garden")
    found = harvested(hit("best", 4.0, tags=("garden",)), hit("next", 2.0), counts={garden: 2})
    paths = (AnchorPath(1, "best"), AnchorPath(2, "best"), AnchorPath(2, "next"), AnchorPath(2, "unknown"))
    result = associate_hit(hit("other", 0.0, tags=("garden",), paths=paths), found)
    weight = found.bridges[garden].weight
    expected = LINK_SHARES[0] * 1.0 + LINK_SHARES[1] * 0.5 + TAG_SHARE * weight
    assert result.support == pytest.approx(expected, abs=1e-6)
    assert result.score == result.support
    assert (result.around, result.bridges) == (("best", "next"), ("#garden",))


def test_a_memory_is_not_supported_by_its_own_tag() -> None:
    anchor = hit("best", 4.0, tags=("garden",))
    result = associate_hit(anchor, harvested(anchor), plurality=0.125)
    assert (result.support, result.bridges) == (0.0, ())
    assert result.score == 1.125


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
