"""What feedback teaches: bounded, in any order, and taken back as if it had never been told."""

from __future__ import annotations

from dataclasses import fields, replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.ranking.channel_weights import CHANNEL_WEIGHTS, ChannelWeights
from orchestration.ranking.channels import CHANNELS
from orchestration.ranking.learned import (
    FAMILIES,
    GREATEST_FACTOR,
    LEAST_FACTOR,
    WRONG,
    Lesson,
    adjusted,
    learn,
    learned_until,
    use_priors,
)

WORDS = ("plum", "cake", "oven", "ferry", "ticket")
IDS = ("a", "b", "c", "d")
weights = st.dictionaries(st.sampled_from(WORDS), st.floats(0.1, 8.0), max_size=4)
pulls = st.dictionaries(st.sampled_from([family.name for family in FAMILIES]), st.floats(-1.0, 1.0))
lessons = st.builds(
    Lesson,
    words=weights,
    used=st.dictionaries(st.sampled_from(IDS), st.floats(0.1, 1.0), max_size=3),
    wrong=st.lists(st.sampled_from(IDS), max_size=2).map(tuple),
    pull=pulls,
    told_at=st.integers(1, 100),
)


def test_every_family_names_weights_and_parts_that_there_are() -> None:
    known = {field.name for field in fields(ChannelWeights)}
    parts = {channel.part for channel in CHANNELS}
    for family in FAMILIES:
        assert set(family.weights) <= known
        assert set(family.parts) <= parts


def test_each_weight_has_a_factor_or_is_left_out_on_purpose() -> None:
    learned = {name for family in FAMILIES for name in family.weights}
    left_out = {"named_apart", "instruction", "breadth", "opening", "kind", "currency", "use"}
    assert learned | left_out == {field.name for field in fields(ChannelWeights)}


@given(st.lists(lessons, max_size=30))
def test_factors_stay_within_their_bounds(told: list[Lesson]) -> None:
    factors = learn(told).factors
    assert all(LEAST_FACTOR <= factor <= GREATEST_FACTOR for factor in factors.values())


@given(st.lists(lessons, max_size=8), st.randoms(use_true_random=False), weights)
def test_the_order_in_which_lessons_were_told_changes_nothing(
    told: list[Lesson], chance: Random, words: dict[str, float]
) -> None:
    shuffled = list(told)
    chance.shuffle(shuffled)
    assert learn(shuffled).factors == learn(told).factors
    assert use_priors(shuffled, words) == use_priors(told, words)


@given(st.lists(lessons, max_size=8), lessons)
def test_without_a_lesson_it_is_as_if_it_had_never_been_told(told: list[Lesson], late: Lesson) -> None:
    late = replace(late, told_at=1000)
    assert learned_until(learn([*told, late]), 1000).factors == learn(told).factors
    assert learned_until(learn(told), 1000) == learn(told)


@given(st.lists(lessons, max_size=8), weights)
def test_what_a_memory_gains_or_loses_is_bounded(told: list[Lesson], words: dict[str, float]) -> None:
    assert all(-WRONG <= prior <= 1.0 + 1e-9 for prior in use_priors(told, words).values())


@given(st.lists(lessons, min_size=1, max_size=8))
def test_likeness_and_words_stay_shares_of_base_relevance(told: list[Lesson]) -> None:
    changed = adjusted(CHANNEL_WEIGHTS, learn(told).factors)
    assert 0.0 < changed.likeness < 1.0
    assert changed.likeness + changed.words == pytest.approx(1.0)
